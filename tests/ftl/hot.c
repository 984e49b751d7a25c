/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot.c - ftl.hot_cold: two counters of a unit have to agree, and stay in their
 * range.
 */
#include "placement/placement.h"
#include "busy.h"

#define MOST 15 /* as in hot.c */

static Ssd *counting(void)
{
    return busy_drive("ftl.hot_cold=on");
}

/* Units that share one counter with a hot unit are cold; those that share both
 * are one of many thousands. */
static void test_both(void)
{
    Ssd *ssd = counting();
    uint64_t n_hot = 0;

    for (unsigned i = 0; i < 8; i++) {
        hot_written(ssd, 1234);
    }
    for (uint64_t lpn = 0; lpn < ssd->l.user_units; lpn++) {
        n_hot += hot_stream(ssd, lpn) != 0;
    }
    g_assert_cmpuint(hot_stream(ssd, 1234), !=, 0);
    g_assert_cmpuint(n_hot, ==, 1);
    ssd_destroy(ssd);
}

static void test_range(void)
{
    Ssd *ssd = counting();

    g_assert_cmpuint(ssd->l.n_hot, >, 300);
    for (unsigned i = 0; i < 300; i++) {
        hot_written(ssd, 7);
    }
    for (uint32_t i = 0; i < ssd->l.n_hot; i++) {
        g_assert_cmpuint(ssd->placement->hot_count[i], <=, MOST);
    }
    g_assert_cmpuint(hot_stream(ssd, 7), !=, 0);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hot/both", test_both);
    g_test_add_func("/hot/range", test_range);
    return g_test_run();
}
