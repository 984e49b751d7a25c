/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prng.c - the generator gives the same numbers on every machine, and they
 * look random enough for a workload; and a pseudo-random order.
 */
#include "permute.h"
#include "prng.h"

#include <glib.h>
#include <inttypes.h>

/* xoshiro256** from the state {1, 2, 3, 4}; worked out by hand from the
 * published recurrence: result = rotl(s1 * 5, 7) * 9. */
static void test_first_values(void)
{
    Prng r = {{1, 2, 3, 4}};

    g_assert_cmpuint(prng_u64(&r), ==, 11520); /* rotl(10, 7) * 9 */
    g_assert_cmpuint(prng_u64(&r), ==, 0);     /* s1 is 1 ^ 2 ^ 3 */
    g_assert_cmpuint(prng_u64(&r), ==, 1509978240);
}

static void test_same_seed(void)
{
    Prng a, b;

    prng_seed(&a, 42, 1);
    prng_seed(&b, 42, 1);
    for (int i = 0; i < 1000; i++) {
        g_assert_cmpuint(prng_u64(&a), ==, prng_u64(&b));
    }
}

/* Neighbouring seeds and purposes must not share their streams. */
static void test_streams_differ(void)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

    for (uint64_t seed = 0; seed < 20; seed++) {
        for (uint64_t purpose = 0; purpose < 20; purpose++) {
            Prng r;

            prng_seed(&r, seed, purpose);
            for (int i = 0; i < 10; i++) {
                uint64_t v = prng_u64(&r);

                g_assert_true(g_hash_table_add(seen, g_memdup2(&v, 8)));
            }
        }
    }
}

/* 16 cells, 160,000 draws: 10,000 each, standard deviation below 100; six of
 * those would be an accident of one in a hundred million. */
static void test_below_uniform(void)
{
    unsigned cell[16] = {0};
    Prng r;

    prng_seed(&r, 3, 3);
    for (int i = 0; i < 160000; i++) {
        uint64_t v = prng_below(&r, 16);

        g_assert_cmpuint(v, <, 16);
        cell[v]++;
    }
    for (int i = 0; i < 16; i++) {
        g_assert_cmpuint(cell[i], >, 9400);
        g_assert_cmpuint(cell[i], <, 10600);
    }
}

static void test_below_one(void)
{
    Prng r;

    prng_seed(&r, 1, 1);
    for (int i = 0; i < 100; i++) {
        g_assert_cmpuint(prng_below(&r, 1), ==, 0);
    }
}

static void test_double(void)
{
    double sum = 0;
    Prng r;

    prng_seed(&r, 5, 0);
    for (int i = 0; i < 100000; i++) {
        double v = prng_double(&r);

        g_assert_true(v >= 0 && v < 1);
        sum += v;
    }
    g_assert_true(sum > 49000 && sum < 51000);
}

/* Each number comes once, and far from where it would be in order. */
static void test_permute(void)
{
    static const uint64_t n[] = {1, 2, 3, 64, 1000, 65537};

    for (size_t k = 0; k < G_N_ELEMENTS(n); k++) {
        Permutation p = permutation(n[k], 7);
        g_autofree bool *came = g_new0(bool, n[k]);
        double apart = 0;

        for (uint64_t i = 0; i < n[k]; i++) {
            uint64_t at = permute(&p, i);

            g_assert_cmpuint(at, <, n[k]);
            g_assert_false(came[at]);
            came[at] = true;
            apart += at > i ? (double)(at - i) : (double)(i - at);
        }
        if (n[k] >= 1000) { /* a third of n, on average */
            apart /= (double)n[k] * (double)n[k];
            g_assert_cmpfloat_with_epsilon(apart, 1.0 / 3, 0.02);
        }
    }
}

/* Numbers in a row, WINDOW of them, come from PARTS parts of the order, and go
 * to as many: chi-square of how many from each is PARTS - 1 on average, as if
 * they were drawn. */
#define WINDOW 128
#define PARTS  16

static double chi_square(const uint64_t *at, uint64_t n)
{
    double sum = 0;

    for (uint64_t first = 0; first + WINDOW <= n; first += WINDOW) {
        double in[PARTS] = {0};

        for (uint64_t i = first; i < first + WINDOW; i++) {
            in[at[i] * PARTS / n]++;
        }
        for (int k = 0; k < PARTS; k++) {
            double off = in[k] - (double)WINDOW / PARTS;

            sum += off * off / ((double)WINDOW / PARTS);
        }
    }
    return sum / (double)(n / WINDOW);
}

static void test_permute_spreads(void)
{
    static const uint64_t n[] = {100000, 1 << 17, 1000000};

    for (size_t k = 0; k < G_N_ELEMENTS(n); k++) {
        Permutation p = permutation(n[k], 7 + k);
        g_autofree uint64_t *to = g_new(uint64_t, n[k]);
        g_autofree uint64_t *from = g_new(uint64_t, n[k]);

        for (uint64_t i = 0; i < n[k]; i++) {
            to[i] = permute(&p, i);
            from[to[i]] = i;
        }
        g_test_message("%" PRIu64 ": %.2f, %.2f", n[k], chi_square(to, n[k]),
                       chi_square(from, n[k]));
        g_assert_cmpfloat_with_epsilon(chi_square(to, n[k]), PARTS - 1, 1.5);
        g_assert_cmpfloat_with_epsilon(chi_square(from, n[k]), PARTS - 1, 1.5);
    }
}

static void test_permute_keys(void)
{
    Permutation a = permutation(1000, 7);
    Permutation b = permutation(1000, 8);
    int same = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        same += permute(&a, i) == permute(&b, i);
    }
    g_assert_cmpint(same, <, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/prng/first-values", test_first_values);
    g_test_add_func("/prng/same-seed", test_same_seed);
    g_test_add_func("/prng/streams-differ", test_streams_differ);
    g_test_add_func("/prng/below-uniform", test_below_uniform);
    g_test_add_func("/prng/below-one", test_below_one);
    g_test_add_func("/prng/double", test_double);
    g_test_add_func("/permute/each-once", test_permute);
    g_test_add_func("/permute/spreads", test_permute_spreads);
    g_test_add_func("/permute/keys", test_permute_keys);
    return g_test_run();
}
