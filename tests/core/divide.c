/* SPDX-License-Identifier: GPL-2.0-or-later */
/* divide.c - division by multiplication against the machine's own. */
#include <glib.h>

#include "divide.h"
#include "prng.h"

static void check(uint32_t d, uint32_t n)
{
    Divider by = divider(d);

    g_assert_cmpuint(divide(by, n), ==, n / d);
    g_assert_cmpuint(divide_rest(by, n), ==, n % d);
}

/* Around each multiple the quotient changes: there it is wrong, if anywhere. */
static void test_edges(void)
{
    static const uint32_t far[] = {0, 1, 2, 3, 1000, 0x7fffffff, 0xfffffffe};

    for (uint32_t d = 1; d < 5000; d++) {
        for (size_t i = 0; i < G_N_ELEMENTS(far); i++) {
            uint32_t q = far[i] % (UINT32_MAX / d);

            check(d, q * d);
            check(d, q * d + d - 1);
            check(d, q * d - (q > 0));
        }
        check(d, UINT32_MAX);
        check(UINT32_MAX - d + 1, UINT32_MAX - d);
        check(UINT32_MAX - d + 1, UINT32_MAX);
    }
}

static void test_random(void)
{
    Prng r;

    prng_seed(&r, 1, 1);
    for (int i = 0; i < 2000000; i++) {
        uint32_t d = (uint32_t)prng_below(&r, 1ULL << (1 + i % 32));
        uint32_t n = (uint32_t)prng_below(&r, 1ULL << 32);

        check(MAX(d, 1), n);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/divide/edges", test_edges);
    g_test_add_func("/divide/random", test_random);
    return g_test_run();
}
