/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hist.c - quantiles and means of log-linear histograms. */
#include "hist.h"

#include <string.h>
#include <glib.h>

void hist_init(Hist *h)
{
    memset(h, 0, sizeof(*h));
    h->min = UINT64_MAX;
}

void hist_init_zeroes(Hist *h)
{
    h->min = UINT64_MAX;
}

bool hist_valid(const Hist *h)
{
    uint64_t left = h->n;

    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (h->bucket[i] > left) {
            return false;
        }
        left -= h->bucket[i];
    }
    return left == 0 && (h->n == 0 || h->min <= h->max);
}

void hist_merge(Hist *into, const Hist *from)
{
    into->n += from->n;
    into->sum += from->sum;
    into->min = MIN(into->min, from->min);
    into->max = MAX(into->max, from->max);
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        into->bucket[i] += from->bucket[i];
    }
}

double hist_mean(const Hist *h)
{
    return h->n ? (double)h->sum / (double)h->n : 0;
}

static uint64_t bucket_low(unsigned i)
{
    unsigned group = i >> HIST_SUB_BITS;
    uint64_t sub = i & ((1U << HIST_SUB_BITS) - 1);

    if (group == 0) {
        return sub;
    }
    return (sub + (1U << HIST_SUB_BITS)) << (group - 1);
}

static uint64_t bucket_width(unsigned i)
{
    unsigned group = i >> HIST_SUB_BITS;

    return group == 0 ? 1 : 1ULL << (group - 1);
}

uint64_t hist_value(const Hist *h, unsigned bucket)
{
    return CLAMP(bucket_low(bucket) + bucket_width(bucket) - 1, h->min, h->max);
}

uint64_t hist_quantile(const Hist *h, uint32_t ppm)
{
    unsigned __int128 want = (unsigned __int128)h->n * ppm;
    uint64_t rank = (uint64_t)((want + 999999) / 1000000);
    uint64_t seen = 0;

    if (h->n == 0) {
        return 0;
    }
    if (rank == 0) {
        return h->min;
    }
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen >= rank) {
            return hist_value(h, i);
        }
    }
    g_assert_not_reached();
}

double hist_tail_mean(const Hist *h, uint32_t ppm)
{
    unsigned __int128 want = (unsigned __int128)h->n * ppm / 1000000;
    uint64_t left = MAX((uint64_t)want, 1);
    uint64_t count = left;
    double sum = 0;

    if (h->n == 0) {
        return 0;
    }
    if (left == 1) {
        return (double)h->max;
    }
    for (unsigned i = HIST_BUCKETS; i-- > 0 && left > 0;) {
        uint64_t take = MIN(left, h->bucket[i]);
        uint64_t low = MAX(bucket_low(i), h->min);
        uint64_t high = MIN(bucket_low(i) + bucket_width(i) - 1, h->max);

        sum += (double)take * ((double)low + (double)high) / 2;
        left -= take;
    }
    return sum / (double)count;
}
