/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numtable.c - tables of numbers of both widths; walks over what was touched.
 */
#include <glib.h>

#include "numtable.h"

#define N 3000000ULL

static void test_values(void)
{
    for (int wide = 0; wide < 2; wide++) {
        NumTable t = numtable_new(N, wide);
        const uint64_t values[] = {
            0,       1,           NUMTABLE_NARROW_MOST,      t.mask,
            ~t.mask, ~t.mask | 5, ~NUMTABLE_NARROW_MOST | 5, UINT64_MAX,
        };

        g_assert_cmpuint(numtable_bytes(&t), ==, wide ? 8 : 4);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
            g_assert_cmpuint(numtable_get(&t, N - 1 - i), ==, 0);
            numtable_set(&t, N - 1 - i, values[i]);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
            g_assert_cmpuint(numtable_get(&t, N - 1 - i), ==, values[i]);
        }
        g_assert_cmpuint((~t.mask | 5) & t.mask, ==, 5);
        numtable_clear_first(&t, N);
        g_assert_cmpuint(numtable_get(&t, N - 2), ==, 0);
        numtable_free(&t);
    }
}

static uint64_t triple(const void *of, uint64_t i)
{
    return i < 100 ? 0 : 3 * i + *(const uint64_t *)of;
}

/* Elements that begin as what a function says: read, changed, and back again,
 * in any form; those that are not written are not touched. */
static void test_first(void)
{
    for (int wide = 0; wide < 2; wide++) {
        const uint64_t five = 5;
        NumTable t = numtable_new(N, wide);
        const uint64_t values[] = {0, t.mask, ~t.mask, ~t.mask | 5, UINT64_MAX};
        LazyWalk w;

        numtable_set_first(&t, triple, &five);
        for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
            uint64_t i = 1000 + k;

            g_assert_cmpuint(numtable_get(&t, i), ==, 3 * i + 5);
            numtable_set(&t, i, values[k]);
            g_assert_cmpuint(numtable_get(&t, i), ==, values[k]);
        }
        g_assert_cmpuint(numtable_zeroes(&t, 0, N), ==, 100);
        numtable_fill(&t, 200, 50, 7);
        g_assert_cmpuint(numtable_get(&t, 249), ==, 7);
        numtable_count_up(&t, 200, 50, 605);
        numtable_count_up(&t, 1000, 5, 3005);
        for (uint64_t i = 200; i < 250; i++) {
            g_assert_cmpuint(numtable_get(&t, i), ==, i + 405);
        }
        numtable_set(&t, 1001, 3008);
        g_assert_cmpuint(wide ? (uint64_t)((int64_t *)t.element)[1001]
                              : (uint64_t)((int32_t *)t.element)[1001],
                         ==, 0);
        numtable_walk(&t, &w);
        g_assert_true(w.fd < 0 || numtable_next(&t, &w, N / 2) == N);
        lazy_walk_end(&w);
        numtable_free(&t);
    }
}

/* A walk passes over what was never touched, and over nothing else. */
static void test_walk(void)
{
    static const uint64_t set[] = {0, 5000, 5001, 1000000, N - 1};

    for (int wide = 0; wide < 2; wide++) {
        NumTable t = numtable_new(N, wide);
        uint64_t visited = 0;
        uint64_t found = 0;
        LazyWalk w;

        for (size_t i = 0; i < G_N_ELEMENTS(set); i++) {
            numtable_set(&t, set[i], i + 1);
        }
        numtable_walk(&t, &w);
        for (uint64_t i = numtable_next(&t, &w, 0); i < N;
             i = numtable_next(&t, &w, i + 1)) {
            visited++;
            found += numtable_get(&t, i);
        }
        g_test_message("%" G_GUINT64_FORMAT " of %llu visited%s", visited, N,
                       w.fd < 0 ? " (no pagemap)" : "");
        g_assert_cmpuint(found, ==, 1 + 2 + 3 + 4 + 5);
        if (w.fd >= 0) {
            g_assert_cmpuint(visited, <, N);
        }
        lazy_walk_end(&w);
        numtable_free(&t);
    }
}

/* Both ways in which the system tells what was touched, over more ranges than
 * it lists at a time: the same elements, also when the walk begins again. */
static void test_ranges(void)
{
    const uint64_t step = 1700000;
    const uint64_t n = 5000 * step; /* 63 GiB of addresses */
    NumTable t = numtable_new(n, true);

    for (uint64_t k = 0; k < 5000; k++) {
        numtable_set(&t, k * step + k % 7, k + 1);
        g_assert_cmpuint(numtable_get(&t, k * step + step / 2), ==, 0);
    }
    for (int scans = 1; scans >= 0; scans--) {
        LazyWalk w;

        numtable_walk(&t, &w);
        if (w.fd < 0) {
            lazy_walk_end(&w);
            g_test_skip("no pagemap");
            break;
        }
        w.scans = scans;
        for (unsigned again = 0; again < 2; again++) {
            uint64_t last = again ? n / 2 : n;
            uint64_t found = 0;
            uint64_t visited = 0;

            for (uint64_t i = numtable_next(&t, &w, 0); i < last;
                 i = numtable_next(&t, &w, i + 1)) {
                found += numtable_get(&t, i) != 0;
                visited++;
            }
            g_assert_cmpuint(found, ==, again ? 2500 : 5000);
            /* Pages that were read alone are passed over, if that is known. */
            g_assert_cmpuint(visited, <=, (w.scans ? 1 : 2) * 5000 * 512);
        }
        g_test_message("%s", w.scans ? "ranges" : "page by page");
        lazy_walk_end(&w);
    }
    numtable_free(&t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/numtable/values", test_values);
    g_test_add_func("/numtable/first", test_first);
    g_test_add_func("/numtable/walk", test_walk);
    g_test_add_func("/numtable/ranges", test_ranges);
    return g_test_run();
}
