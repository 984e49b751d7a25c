/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist.h - histogram of 64-bit values with bounded relative error.
 *
 * Buckets are log-linear, as in HdrHistogram (G. Tene): 64 per power of two,
 * so a quantile is off by less than 1/64 of its value; minimum, maximum, count
 * and sum are exact.  Values below 64 are exact.
 */
#ifndef VSSD_CORE_HIST_H
#define VSSD_CORE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_BUCKETS ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

typedef struct Hist {
    uint64_t n;
    uint64_t min; /* UINT64_MAX while n == 0 */
    uint64_t max;
    unsigned __int128 sum;
    uint64_t bucket[HIST_BUCKETS];
} Hist;

void hist_init(Hist *h);
/* The same for memory that is all zeroes: most of it stays untouched. */
void hist_init_zeroes(Hist *h);
/* Do count and buckets agree?  For one that comes from a file. */
bool hist_valid(const Hist *h);

void hist_merge(Hist *into, const Hist *from);

/* 0 when empty. */
double hist_mean(const Hist *h);

/*
 * The smallest bucket bound that at least ppm millionths of the values do not
 * exceed, clamped to [min, max]; 0 when empty.  ppm in 0..1000000.
 */
uint64_t hist_quantile(const Hist *h, uint32_t ppm);

/* The value that stands for those of a bucket that is not empty: its upper
 * bound, clamped to [min, max]. */
uint64_t hist_value(const Hist *h, unsigned bucket);

/*
 * Mean of the slowest ppm millionths (at least one value); 0 when empty.
 * Within a bucket the midpoint stands for each value.
 */
double hist_tail_mean(const Hist *h, uint32_t ppm);

static inline unsigned hist_index(uint64_t v)
{
    unsigned shift;

    if (v < 1U << HIST_SUB_BITS) {
        return (unsigned)v;
    }
    shift = 63 - HIST_SUB_BITS - (unsigned)__builtin_clzll(v);
    return ((shift + 1) << HIST_SUB_BITS) +
           (unsigned)((v >> shift) - (1U << HIST_SUB_BITS));
}

static inline void hist_add(Hist *h, uint64_t v)
{
    h->bucket[hist_index(v)]++;
    h->n++;
    h->sum += v;
    if (v < h->min) {
        h->min = v;
    }
    if (v > h->max) {
        h->max = v;
    }
}

#endif
