/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist.c - quantiles and tail means against the sorted values themselves.
 */
#include "hist.h"

#include <math.h>
#include <stdlib.h>
#include <glib.h>

#include "prng.h"

#define N 50000

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The value of rank ceil(n * ppm / 1e6), counted from 1. */
static uint64_t exact_quantile(const uint64_t *v, size_t n, uint32_t ppm)
{
    uint64_t rank = ((uint64_t)n * ppm + 999999) / 1000000;

    return v[rank ? rank - 1 : 0];
}

static double exact_tail_mean(const uint64_t *v, size_t n, uint32_t ppm)
{
    size_t count = MAX((uint64_t)n * ppm / 1000000, 1);
    double sum = 0;

    for (size_t i = n - count; i < n; i++) {
        sum += (double)v[i];
    }
    return sum / (double)count;
}

static void compare_all(const Hist *h, uint64_t *v, size_t n)
{
    const uint32_t ppms[] = {0,      1,      100,    10000,  250000, 500000,
                             900000, 990000, 999000, 999900, 1000000};

    qsort(v, n, sizeof(*v), compare_u64);
    for (size_t i = 0; i < G_N_ELEMENTS(ppms); i++) {
        uint64_t want = exact_quantile(v, n, ppms[i]);
        uint64_t got = hist_quantile(h, ppms[i]);

        g_assert_cmpuint(got, >=, want);
        g_assert_true((double)(got - want) <= (double)want / 64);
        if (ppms[i] > 0) {
            double tail = exact_tail_mean(v, n, ppms[i]);

            g_assert_true(fabs(hist_tail_mean(h, ppms[i]) - tail) <= tail / 64);
        }
    }
    g_assert_cmpuint(h->n, ==, n);
    g_assert_cmpuint(h->min, ==, v[0]);
    g_assert_cmpuint(h->max, ==, v[n - 1]);
}

/* Every order of magnitude: the value's number of bits is drawn first. */
static uint64_t any_magnitude(Prng *r)
{
    return prng_u64(r) >> prng_below(r, 64);
}

static uint64_t small(Prng *r)
{
    return prng_below(r, 64);
}

static uint64_t latency_like(Prng *r)
{
    return 50000 + prng_below(r, 1000) +
           (prng_below(r, 1000) == 0 ? prng_below(r, 5000000) : 0);
}

static void fill_and_compare(uint64_t (*draw)(Prng *r), size_t n)
{
    g_autofree uint64_t *v = g_new(uint64_t, n);
    g_autofree Hist *h = g_new(Hist, 1);
    Prng r;

    prng_seed(&r, n, 9);
    hist_init(h);
    for (size_t i = 0; i < n; i++) {
        v[i] = draw(&r);
        hist_add(h, v[i]);
    }
    compare_all(h, v, n);
}

static void test_against_sorted(void)
{
    fill_and_compare(any_magnitude, N);
    fill_and_compare(small, N);
    fill_and_compare(latency_like, N);
    fill_and_compare(any_magnitude, 1);
    fill_and_compare(any_magnitude, 7);
}

static void test_merge(void)
{
    g_autofree Hist *a = g_new(Hist, 1);
    g_autofree Hist *b = g_new(Hist, 1);
    g_autofree Hist *both = g_new(Hist, 1);
    Prng r;

    prng_seed(&r, 1, 2);
    hist_init(a);
    hist_init(b);
    hist_init(both);
    for (int i = 0; i < 1000; i++) {
        uint64_t v = any_magnitude(&r);

        hist_add(i % 3 ? a : b, v);
        hist_add(both, v);
    }
    hist_merge(a, b);
    g_assert_cmpmem(a, sizeof(*a), both, sizeof(*both));
    hist_init(b);
    hist_merge(b, a); /* into an empty one */
    g_assert_cmpmem(b, sizeof(*b), both, sizeof(*both));
    hist_init(b);
    hist_merge(a, b); /* an empty one changes nothing */
    g_assert_cmpmem(a, sizeof(*a), both, sizeof(*both));
}

static void test_empty(void)
{
    g_autofree Hist *h = g_new(Hist, 1);

    hist_init(h);
    g_assert_cmpuint(hist_quantile(h, 500000), ==, 0);
    g_assert_true(hist_mean(h) == 0);
    g_assert_true(hist_tail_mean(h, 10000) == 0);
}

/* Indexes rise with the value, without gaps, up to the very last bucket. */
/* One of a file counts what its buckets count, in its range. */
static void test_valid(void)
{
    g_autofree Hist *h = g_new(Hist, 1);

    hist_init(h);
    g_assert_true(hist_valid(h));
    hist_add(h, 5);
    hist_add(h, 900);
    g_assert_true(hist_valid(h));
    h->min = h->max + 1;
    g_assert_false(hist_valid(h));
    h->min = 5;
    h->n++;
    g_assert_false(hist_valid(h));
    h->n -= 2;
    g_assert_false(hist_valid(h));
}

static void test_index(void)
{
    unsigned last = 0;

    for (uint64_t v = 0; v < 100000; v++) {
        unsigned i = hist_index(v);

        g_assert_true(i == last || i == last + 1);
        last = i;
    }
    g_assert_cmpuint(hist_index(UINT64_MAX), ==, HIST_BUCKETS - 1);
    g_assert_cmpuint(hist_index(63), ==, 63);
    g_assert_cmpuint(hist_index(64), ==, 64);
}

static void test_mean_exact(void)
{
    g_autofree Hist *h = g_new(Hist, 1);

    hist_init(h);
    hist_add(h, UINT64_MAX);
    hist_add(h, UINT64_MAX);
    hist_add(h, UINT64_MAX - 3);
    g_assert_true(h->sum == (unsigned __int128)UINT64_MAX * 3 - 3);
    g_assert_true(hist_mean(h) == (double)(UINT64_MAX - 1));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hist/against-sorted", test_against_sorted);
    g_test_add_func("/hist/merge", test_merge);
    g_test_add_func("/hist/empty", test_empty);
    g_test_add_func("/hist/valid", test_valid);
    g_test_add_func("/hist/index", test_index);
    g_test_add_func("/hist/mean-exact", test_mean_exact);
    return g_test_run();
}
