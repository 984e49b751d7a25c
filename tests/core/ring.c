/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.c - places of ring.h against a queue; bits of bitmap.h against an array
 * of truth values.
 */
#include "ring.h"

#include <glib.h>

#include "bitmap.h"
#include "prng.h"

/* Values put in one after the other come out in that order, at every size. */
static void test_ring(void)
{
    for (uint32_t size = 1; size < 9; size++) {
        uint32_t value[8];
        Ring ring = {.size = size};
        uint32_t in = 0;
        uint32_t out = 0;
        Prng r;

        prng_seed(&r, size, 1);
        for (uint32_t step = 0; step < 5000; step++) {
            if (ring.n < size && prng_below(&r, 2)) {
                value[ring_push(&ring)] = in++;
            } else if (ring.n > 0) {
                g_assert_cmpuint(value[ring_pop(&ring)], ==, out++);
            }
            g_assert_cmpuint(ring.n, ==, in - out);
            for (uint32_t k = 0; k < ring.n; k++) {
                g_assert_cmpuint(value[ring_place(&ring, k)], ==, out + k);
            }
        }
    }
    g_assert_cmpuint(ring_after(6, 7), ==, 0);
    g_assert_cmpuint(ring_after(0, 1), ==, 0);
}

static void test_full(void)
{
    if (g_test_subprocess()) {
        Ring ring = {.n = 3, .size = 3};

        ring_push(&ring);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

static void test_empty(void)
{
    if (g_test_subprocess()) {
        Ring ring = {.size = 3};

        ring_pop(&ring);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

#define BITS 200

static uint64_t slow_next(const bool *bit, uint64_t from, uint64_t n)
{
    while (from < n && !bit[from]) {
        from++;
    }
    return MIN(from, n);
}

static uint64_t slow_count(const bool *bit, uint64_t from, uint64_t end)
{
    uint64_t n = 0;

    for (; from < end; from++) {
        n += bit[from];
    }
    return n;
}

static void test_bitmap(void)
{
    g_autofree uint64_t *map = g_new0(uint64_t, bitmap_words(BITS));
    bool bit[BITS + 1] = {false};
    Prng r;

    prng_seed(&r, 9, 2);
    for (uint32_t step = 0; step < 5000; step++) {
        uint64_t i = prng_below(&r, BITS);
        uint64_t from = prng_below(&r, BITS + 10);
        uint64_t n = prng_below(&r, BITS + 1);

        bit[i] = prng_below(&r, 8) == 0; /* few, so that words are empty */
        bitmap_put(map, i, bit[i]);
        for (uint64_t k = 0; k <= BITS; k++) {
            g_assert_cmpint(bitmap_test(map, k), ==, bit[k]);
        }
        g_assert_cmpuint(bitmap_next(map, from, n), ==,
                         from < n ? slow_next(bit, from, n) : n);
        g_assert_cmpuint(bitmap_count(map, from, n), ==,
                         slow_count(bit, from, n));
    }
    g_assert_cmpuint(bitmap_words(63), ==, 1);
    g_assert_cmpuint(bitmap_words(64), ==, 2);
}

static void test_mask(void)
{
    for (uint64_t from = 0; from < 3 * 64; from++) {
        for (uint64_t end = from + 1; end <= 3 * 64; end++) {
            uint64_t mask = bitmap_word_mask(from, end);

            for (uint64_t k = 0; k < 64; k++) {
                uint64_t i = from / 64 * 64 + k;

                g_assert_cmpuint(mask >> k & 1, ==, i >= from && i < end);
            }
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ring/ring", test_ring);
    g_test_add_func("/ring/full", test_full);
    g_test_add_func("/ring/empty", test_empty);
    g_test_add_func("/bitmap/bits", test_bitmap);
    g_test_add_func("/bitmap/mask", test_mask);
    return g_test_run();
}
