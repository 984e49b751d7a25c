/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers.c - state of blocks, now and over time: valid units, wear, free
 * blocks, and victims of GC; work of the buffer over time.
 *
 * Knows blocks and counters; knows nothing of why they are as they are.  The
 * members are in docs/results-drive.md.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/buffer-internal.h"
#include "inspect/inspect.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

#define FIRST_INTERVAL_PS (PS_PER_NS * NS_PER_MS)

/* ---- values over time ---------------------------------------------------- */

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
    invariant(s->n == SERIES_POINTS);
    s->n /= 2;
    for (uint32_t i = 0; i < s->n; i++) {
        s->point[i] = s->point[2 * i];
    }
    s->interval_ps *= 2;
}

/* A point, with room for its values. */
static SeriesPoint *series_add(const Ssd *ssd, Series *s)
{
    SeriesPoint *p;

    if (s->n == SERIES_POINTS) {
        thin_out(s);
    }
    p = &s->point[s->n++];
    p->at_ns = (uint64_t)(stats_elapsed_ps(ssd) / PS_PER_NS);
    s->next_ps = next_multiple_ps(ssd, s->interval_ps);
    return p;
}

/* ---- free blocks over time ----------------------------------------------- */

uint32_t numbers_free_blocks(const Ssd *ssd)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        n += plane_at(ssd, i)->free.n;
    }
    return n;
}

void numbers_sample(Ssd *ssd)
{
    series_add(ssd, &ssd->inspect.series)->value[0] = numbers_free_blocks(ssd);
}

/* ---- the buffer over time ------------------------------------------------ */

void numbers_sample_buffer(Ssd *ssd)
{
    const BufferStats *b = &ssd->buffer->stats;
    SeriesPoint *p = series_add(ssd, &ssd->inspect.buffer_series);

    *p = (SeriesPoint){
        .at_ns = p->at_ns,
        .value = {ssd->buffer->n_unsafe, ssd->buffer->early.threshold_ppm,
                  b->read_hits + b->write_hits,
                  b->read_misses + b->write_misses, b->clean_evictions,
                  b->dirty_evictions, b->early_flushes,
                  b->rewrites_after_flush},
    };
}

/* ---- GC ----------------------------------------------------------------- */

void numbers_victim(Ssd *ssd, uint32_t block)
{
    invariant(block_state(ssd, block) == BLOCK_FULL);
    invariant(block < ssd->geo->n_blocks);
    ssd->inspect.count.gc_victims++;
    ssd->inspect.count.gc_victim_units +=
        ssd->l.units_per_page * nand_block_pages(ssd->geo, block);
    ssd->inspect.count.gc_victim_valid += block_valid(ssd, block);
}

double numbers_victim_mean(const Ssd *ssd)
{
    const SsdCounts *c = &ssd->inspect.count;

    return c->gc_victim_units
               ? (double)c->gc_victim_valid / (double)c->gc_victim_units
               : 0;
}

void numbers_by_valid(const Ssd *ssd, uint64_t n[NUMBERS_TENTHS])
{
    memset(n, 0, NUMBERS_TENTHS * sizeof(*n));
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t units = ssd->l.units_per_page * nand_block_pages(ssd->geo, b);

        if (block_state(ssd, b) == BLOCK_FULL ||
            block_state(ssd, b) == BLOCK_MAPPED) {
            n[block_valid(ssd, b) * 10ULL / units]++;
        }
    }
}

/* ---- wear ---------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

uint32_t numbers_wear(const Ssd *ssd, uint32_t *wear)
{
    uint32_t fresh = 0; /* never erased: they come first */
    uint32_t n = ssd->geo->n_blocks;

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t erases = nand_erase_count(ssd->nand, b);

        if (block_state(ssd, b) == BLOCK_BAD) {
            continue;
        }
        if (erases == 0) {
            wear[fresh++] = 0;
        } else {
            wear[--n] = erases;
        }
    }
    invariant(fresh <= n);
    memmove(wear + fresh, wear + n, (ssd->geo->n_blocks - n) * sizeof(*wear));
    n = ssd->geo->n_blocks - n;
    qsort(wear + fresh, n, sizeof(*wear), by_value);
    return fresh + n;
}

double numbers_deviation(const uint32_t *wear, uint32_t n)
{
    double sum = 0;
    double squares = 0;
    uint32_t i = 0;

    while (i < n && wear[i] == 0) {
        i++; /* in order: most of a new drive's are 0 */
    }
    for (; i < n; i++) {
        sum += wear[i];
        squares += (double)wear[i] * wear[i];
    }
    return n ? sqrt(MAX(squares / n - sum / n * (sum / n), 0)) : 0;
}
