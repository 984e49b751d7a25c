/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers.c - what blocks look like, now and over time: valid units, wear, free
 * blocks, and what GC found; what the buffer does over time.
 *
 * Knows blocks and counters; knows nothing of why they are as they are.  The
 * members are in docs/results.md.
 */
#include <math.h>
#include <stdlib.h>

#include "buffer/buffer.h"
#include "gc/gc.h"
#include "inspect/inspect.h"
#include "media/media.h"
#include "ssd-internal.h"

#define FIRST_INTERVAL_PS (PS_PER_NS * NS_PER_MS)

/* ---- values over time ----------------------------------------------------------- */

static void series_begin(Series *s, uint64_t now_ps)
{
    *s = (Series){.interval_ps = FIRST_INTERVAL_PS, .next_ps = now_ps};
}

void numbers_reset(Ssd *ssd)
{
    series_begin(&ssd->inspect.series, ssd->now_ps);
    series_begin(&ssd->inspect.buffer_series, ssd->now_ps);
}

/* Every other point goes; from now on they come half as often. */
static void thin_out(Series *s)
{
    s->n /= 2;
    for (uint32_t i = 0; i < s->n; i++) {
        s->point[i] = s->point[2 * i];
    }
    s->interval_ps *= 2;
}

/* A point, with room for its values. */
static SeriesPoint *series_add(Series *s, uint64_t now_ps)
{
    SeriesPoint *p;

    if (s->n == SERIES_POINTS) {
        thin_out(s);
    }
    p = &s->point[s->n++];
    p->at_ps = now_ps;
    s->next_ps = (now_ps / s->interval_ps + 1) * s->interval_ps;
    return p;
}

static uint64_t since_ns(const Ssd *ssd, const SeriesPoint *p)
{
    return (p->at_ps - ssd->inspect.stats_since_ps) / PS_PER_NS;
}

/* ---- free blocks over time ---------------------------------------------------- */

static uint32_t free_blocks(const Ssd *ssd)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        n += ssd->media->plane[i].free.n;
    }
    return n;
}

void numbers_sample(Ssd *ssd)
{
    series_add(&ssd->inspect.series, ssd->now_ps)->value[0] = free_blocks(ssd);
}

static void free_blocks_json(const Ssd *ssd, JsonWriter *w)
{
    const Series *s = &ssd->inspect.series;

    json_open(w, "free_blocks_over_time", '[');
    for (uint32_t i = 0; i < s->n; i++) {
        json_open(w, NULL, '[');
        json_u64(w, NULL, since_ns(ssd, &s->point[i]));
        json_u64(w, NULL, s->point[i].value[0]);
        json_close(w, ']');
    }
    json_close(w, ']');
}

/* ---- the buffer over time ------------------------------------------------------- */

void numbers_sample_buffer(Ssd *ssd)
{
    const BufferStats *b = &ssd->buffer->stats;
    SeriesPoint *p = series_add(&ssd->inspect.buffer_series, ssd->now_ps);

    *p = (SeriesPoint){
        .at_ps = p->at_ps,
        .value = {ssd->buffer->n_unsafe, ssd->buffer->early.threshold_ppm,
                  b->read_hits + b->write_hits,
                  b->read_misses + b->write_misses, b->clean_evictions,
                  b->dirty_evictions, b->early_flushes,
                  b->rewrites_after_flush},
    };
}

/* One array for each value, in the order above. */
void numbers_buffer_json(const Ssd *ssd, JsonWriter *w)
{
    static const char *const names[SERIES_VALUES] = {
        "units_dirty", "threshold", "hits", "misses", "clean_evictions",
        "dirty_evictions", "early_flushes", "rewrites_after_flush",
    };
    const Series *s = &ssd->inspect.buffer_series;

    json_open(w, "over_time", '{');
    json_open(w, "at_ns", '[');
    for (uint32_t i = 0; i < s->n; i++) {
        json_u64(w, NULL, since_ns(ssd, &s->point[i]));
    }
    json_close(w, ']');
    for (unsigned k = 0; k < SERIES_VALUES; k++) {
        json_open(w, names[k], '[');
        for (uint32_t i = 0; i < s->n; i++) {
            if (k == 1) {
                json_double(w, NULL, (double)s->point[i].value[k] / 1e6);
            } else {
                json_u64(w, NULL, s->point[i].value[k]);
            }
        }
        json_close(w, ']');
    }
    json_close(w, '}');
}

/* ---- GC -------------------------------------------------------------------
 */

void numbers_victim(Ssd *ssd, uint32_t block)
{
    ssd->gc->n_victims++;
    ssd->gc->victim_units += ssd->l.units_per_page *
                            nand_block_pages(ssd->geo, block);
    ssd->gc->victim_valid += ssd->media->block[block].valid;
}

/* Blocks that hold something, by tenths of their units that are valid. */
static void valid_json(const Ssd *ssd, JsonWriter *w)
{
    uint64_t n[11] = {0};

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t units = ssd->l.units_per_page * nand_block_pages(ssd->geo, b);

        if (ssd->media->block[b].state == BLOCK_FULL ||
            ssd->media->block[b].state == BLOCK_MAPPED) {
            n[ssd->media->block[b].valid * 10ULL / units]++;
        }
    }
    json_open(w, "full_blocks_by_valid", '[');
    for (size_t i = 0; i < G_N_ELEMENTS(n); i++) {
        json_u64(w, NULL, n[i]);
    }
    json_close(w, ']');
}

void numbers_gc_json(const Ssd *ssd, JsonWriter *w)
{
    json_double(w, "victim_valid_mean",
                ssd->gc->victim_units ? (double)ssd->gc->victim_valid /
                                           (double)ssd->gc->victim_units
                                     : 0);
    valid_json(ssd, w);
    free_blocks_json(ssd, w);
}

/* ---- wear ------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Erase counts of the blocks that are not bad, in order; how many. */
static uint32_t sorted_wear(const Ssd *ssd, uint32_t *wear)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (ssd->media->block[b].state != BLOCK_BAD) {
            wear[n++] = nand_erase_count(ssd->nand, b);
        }
    }
    qsort(wear, n, sizeof(*wear), by_value);
    return n;
}

static double deviation(const uint32_t *wear, uint32_t n)
{
    double sum = 0;
    double squares = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += wear[i];
        squares += (double)wear[i] * wear[i];
    }
    return sqrt(MAX(squares / n - sum / n * (sum / n), 0));
}

void numbers_wear_json(const Ssd *ssd, JsonWriter *w)
{
    g_autofree uint32_t *wear = g_new(uint32_t, ssd->geo->n_blocks);
    uint32_t n = sorted_wear(ssd, wear);

    json_open(w, "erase_counts", '{');
    if (n > 0) {
        json_u64(w, "min", wear[0]);
        json_u64(w, "p10", wear[(n - 1) / 10]);
        json_u64(w, "p50", wear[(n - 1) / 2]);
        json_u64(w, "p90", wear[(uint64_t)(n - 1) * 9 / 10]);
        json_u64(w, "max", wear[n - 1]);
        json_double(w, "stddev", deviation(wear, n));
    }
    json_close(w, '}');
}
