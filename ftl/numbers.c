/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbers.c - what blocks look like, now and over time: valid units, wear, free
 * blocks, and what cleaning found.
 *
 * Knows blocks; knows nothing of why they are as they are.  The members are in
 * docs/results.md.
 */
#include <math.h>
#include <stdlib.h>

#include "ftl.h"

#define FIRST_INTERVAL_PS (PS_PER_NS * NS_PER_MS)

/* ---- free blocks over time ---------------------------------------------------- */

void numbers_reset(Ssd *ssd)
{
    ssd->series = (Series){
        .interval_ps = FIRST_INTERVAL_PS,
        .next_ps = ssd->now_ps,
    };
}

static uint32_t free_blocks(const Ssd *ssd)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        n += ssd->plane[i].n_free;
    }
    return n;
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

void numbers_sample(Ssd *ssd)
{
    Series *s = &ssd->series;

    if (s->n == SERIES_POINTS) {
        thin_out(s);
    }
    s->point[s->n++] = (SeriesPoint){ssd->now_ps, free_blocks(ssd)};
    s->next_ps = (ssd->now_ps / s->interval_ps + 1) * s->interval_ps;
}

static void series_json(const Ssd *ssd, JsonWriter *w)
{
    const Series *s = &ssd->series;

    json_open(w, "free_blocks_over_time", '[');
    for (uint32_t i = 0; i < s->n; i++) {
        json_open(w, NULL, '[');
        json_u64(w, NULL,
                 (s->point[i].at_ps - ssd->stats_since_ps) / PS_PER_NS);
        json_u64(w, NULL, s->point[i].value);
        json_close(w, ']');
    }
    json_close(w, ']');
}

/* ---- cleaning ------------------------------------------------------------------- */

void numbers_victim(Ssd *ssd, uint32_t block)
{
    ssd->gc_victims++;
    ssd->gc_victim_units += ssd->l.units_per_page *
                            nand_block_pages(ssd->geo, block);
    ssd->gc_victim_valid += ssd->block[block].valid;
}

/* Blocks that hold something, by tenths of their units that are valid. */
static void valid_json(const Ssd *ssd, JsonWriter *w)
{
    uint64_t n[11] = {0};

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t units = ssd->l.units_per_page * nand_block_pages(ssd->geo, b);

        if (ssd->block[b].state == BLOCK_FULL) {
            n[ssd->block[b].valid * 10ULL / units]++;
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
                ssd->gc_victim_units ? (double)ssd->gc_victim_valid /
                                           (double)ssd->gc_victim_units
                                     : 0);
    valid_json(ssd, w);
    series_json(ssd, w);
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
        if (ssd->block[b].state != BLOCK_BAD) {
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
