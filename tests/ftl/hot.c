/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot.c - ftl.hot_cold: two counters of a unit have to agree, and stay in their
 * range; hints of the host decide in their place.
 */
#include "outside.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "busy.h"
#include "ssd-save.h"

#include <stdlib.h>

#define MOST       15 /* as in hot-cold.c */
#define HEAD       8  /* bytes before the counters */
#define HOT_STREAM 1

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
        chooser_wrote(ssd, 1234, 0);
    }
    for (uint64_t lpn = 0; lpn < ssd->l.user_units; lpn++) {
        n_hot += chooser_stream(ssd, lpn) != 0;
    }
    g_assert_cmpuint(chooser_stream(ssd, 1234), !=, 0);
    g_assert_cmpuint(n_hot, ==, 1);
    ssd_destroy(ssd);
}

static void test_range(void)
{
    Ssd *ssd = counting();
    const Outside *o;

    for (unsigned i = 0; i < 300; i++) {
        chooser_wrote(ssd, 7, 0);
    }
    o = ssd->outside[VSSD_POLICY_PLACEMENT];
    for (size_t i = HEAD; i < o->state_bytes; i++) {
        g_assert_cmpuint(((uint8_t *)o->view.state)[i], <=, MOST);
    }
    g_assert_cmpuint(chooser_stream(ssd, 7), !=, 0);
    ssd_destroy(ssd);
}

#define PIECE 4 /* of the drive below: 2^PIECE units */

/* What the host says goes before the counters, in whole pieces of the drive. */
static void test_hints(void)
{
    Ssd *ssd = busy_drive("ftl.hot_cold=on;nand.blocks=1000");
    uint32_t per_unit = 1U << ssd->block_shift;
    uint64_t piece = 1ULL << PIECE;
    uint64_t n = ssd->l.user_units;

    g_assert_cmpuint(ssd_info(ssd)->hint_bytes, ==, piece * 4096);
    g_assert_cmpuint(n >> PIECE, <=, RATE_PIECES);
    g_assert_cmpuint(n >> (PIECE - 1), >, RATE_PIECES);
    for (unsigned i = 0; i < 8; i++) {
        chooser_wrote(ssd, 4 * piece, 0);
    }
    /* From within piece 1 to within piece 5: 2 to 4. */
    g_assert_cmpint(ssd_expect_writes(ssd, 0, (piece + 1) * per_unit,
                                      (4 * piece) * per_unit, SSD_WRITES_OFTEN),
                    ==, 0);
    for (uint64_t lpn = 0; lpn < 8 * piece; lpn++) {
        g_assert_cmpuint(chooser_stream(ssd, lpn), ==,
                         lpn >= 2 * piece && lpn < 5 * piece ? HOT_STREAM : 0);
    }
    g_assert_cmpint(ssd_expect_writes(ssd, 0, 4 * piece * per_unit,
                                      piece * per_unit, SSD_WRITES_SELDOM),
                    ==, 0);
    g_assert_cmpuint(chooser_stream(ssd, 4 * piece - 1), ==, HOT_STREAM);
    g_assert_cmpuint(chooser_stream(ssd, 4 * piece), ==, 0);
    g_assert_cmpint(
        ssd_expect_writes(ssd, 0, 0, n * per_unit, SSD_WRITES_UNKNOWN), ==, 0);
    g_assert_cmpuint(chooser_stream(ssd, 3 * piece), ==, 0);
    g_assert_cmpuint(chooser_stream(ssd, 4 * piece), ==,
                     HOT_STREAM); /* counted */
    /* The last piece ends with the drive. */
    g_assert_cmpint(ssd_expect_writes(ssd, 0,
                                      (n - 1) / piece * piece * per_unit,
                                      (n - (n - 1) / piece * piece) * per_unit,
                                      SSD_WRITES_OFTEN),
                    ==, 0);
    g_assert_cmpuint(chooser_stream(ssd, n - 1), ==, HOT_STREAM);
    g_assert_cmpuint(chooser_stream(ssd, (n - 1) / piece * piece - 1), ==, 0);
    g_assert_cmpint(
        ssd_expect_writes(ssd, 0, n * per_unit, 1, SSD_WRITES_OFTEN), ==,
        -EINVAL);
    g_assert_cmpint(
        ssd_expect_writes(ssd, 0, 1, n * per_unit, SSD_WRITES_OFTEN), ==,
        -EINVAL);
    chooser_forget(ssd); /* as a power cut does */
    g_assert_cmpuint(chooser_stream(ssd, n - 1), ==, 0);
    ssd_destroy(ssd);
}

/* Without ftl.hot_cold there is nothing that a hint could change. */
static void test_no_hints(void)
{
    Ssd *ssd = busy_drive("");

    g_assert_cmpuint(ssd_info(ssd)->hint_bytes, ==, 0);
    g_assert_null(ssd->placement->rate);
    g_assert_cmpint(
        ssd_expect_writes(ssd, 0, 0, ssd_info(ssd)->nblocks, SSD_WRITES_OFTEN),
        ==, 0);
    ssd_destroy(ssd);
}

/* Of a new drive that the host has told of its first half, or of nothing. */
static size_t saved(const char *options, bool hinted, char **bytes)
{
    Ssd *ssd = busy_drive(options);
    GError *error = NULL;
    size_t n;
    FILE *f = open_memstream(bytes, &n);

    if (hinted) {
        ssd_expect_writes(ssd, 0, 0, ssd_info(ssd)->nblocks / 2,
                          SSD_WRITES_OFTEN);
    }
    ssd_save(ssd, f, &error);
    g_assert_no_error(error);
    fclose(f);
    ssd_destroy(ssd);
    return n;
}

/* Hints are in a saved drive, and take no room there without any. */
static void test_saved(void)
{
    char *bytes, *same;
    size_t n = saved("ftl.hot_cold=on", true, &bytes);
    size_t plain = saved("ftl.hot_cold=on", false, &same);
    Ssd *ssd = busy_drive("ftl.hot_cold=on");
    uint64_t half = ssd->l.user_units / 2;
    FILE *f = fmemopen(bytes, n, "rb");
    GError *error = NULL;
    Ssd *copy = ssd_load(ssd->cfg, NULL, NULL, f, &error);

    g_assert_no_error(error);
    fclose(f);
    g_assert_cmpuint(ssd->placement->rate_shift, ==, 0);
    g_assert_cmpuint(chooser_stream(ssd, half - 1), ==, 0);
    g_assert_cmpuint(chooser_stream(copy, half - 1), ==, HOT_STREAM);
    g_assert_cmpuint(chooser_stream(copy, half), ==, 0);
    g_assert_cmpuint(n, >=, plain + RATE_PIECES / 2);
    ssd_destroy(copy);
    ssd_destroy(ssd);
    free(bytes);
    free(same);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hot/both", test_both);
    g_test_add_func("/hot/range", test_range);
    g_test_add_func("/hot/hints", test_hints);
    g_test_add_func("/hot/no-hints", test_no_hints);
    g_test_add_func("/hot/saved", test_saved);
    return g_test_run();
}
