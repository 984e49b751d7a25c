/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ahead.c - reading ahead of streams of reads: what is found there, what it
 * costs, and what is dropped.
 *
 * Times are those of ref-times.h.
 */
#include <string.h>

#include "ref-times.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-setup.h"

#define WINDOW 32

#define AHEAD "host.read_ahead=128KiB;"
#define PAUSE NS_PER_MS

/* Read a unit, then think: its latency. */
static uint64_t read_at(Ref *r, uint64_t unit)
{
    SsdCompletion c = ref_one(r, SSD_OP_READ, unit * UNIT, UNIT, false);
    uint64_t sum = c.cost.firmware_ns + c.cost.link_ns + c.cost.buffer_ns +
                   c.cost.bus_ns + c.cost.bus_wait_ns + c.cost.cell_ns +
                   c.cost.die_wait_ns + c.cost.map_ns;

    g_assert_cmpuint(sum, ==, latency(&c));
    ref_pass(r, PAUSE);
    return latency(&c);
}

static void expect_hit(Ref *r, uint64_t unit)
{
    g_assert_cmpuint(read_at(r, unit), ==, F + B + L);
}

static void expect_miss(Ref *r, uint64_t unit)
{
    g_assert_cmpuint(read_at(r, unit), ==, F + C + TR + U + L);
}

static const SsdCounts *counts(const Ref *r)
{
    return &r->ssd->inspect.count;
}

/* ---- hits ---------------------------------------------------------------- */

/* From the third read on: F + B + L.  Each page of four units is read once. */
static void test_stream(void)
{
    Ref *r = ref_new(ref_config(AHEAD), true);

    expect_miss(r, 0);
    expect_miss(r, 1);
    for (uint64_t i = 2; i < 100; i++) {
        expect_hit(r, i);
    }
    g_assert_cmpuint(counts(r)->read_ahead_hits, ==, 98);
    g_assert_cmpuint(counts(r)->read_ahead_wasted, ==, 0);
    g_assert_cmpuint(counts(r)->read_ahead_units, >=, 98);
    g_assert_cmpuint(counts(r)->read_ahead_units, <=, 98 + WINDOW);
    ref_verify(r);
    ref_free(r);
}

/* Blocks of a unit: each of its reads finds it. */
static void test_blocks(void)
{
    Ref *r = ref_new(ref_config(AHEAD), true);

    for (uint64_t i = 0; i < 64; i++) {
        SsdCompletion c = ref_one(r, SSD_OP_READ, i, 1, false);

        g_assert_true(i < UNIT || latency(&c) == F + B + L / 8);
        ref_pass(r, PAUSE);
    }
    ref_free(r);
}

/* Without it, and where reads are not in order, nothing changes. */
static void test_no_stream(void)
{
    Ref *r = ref_new(ref_config(AHEAD), true);

    for (uint64_t i = 0; i < 50; i++) {
        expect_miss(r, i * 37 % 400);
    }
    g_assert_cmpuint(counts(r)->read_ahead_units, ==, 0);
    ref_free(r);
    r = ref_new(ref_config(""), true);
    for (uint64_t i = 0; i < 20; i++) {
        expect_miss(r, i);
    }
    ref_free(r);
}

/* Streams are told apart, as many as the option says. */
static void test_streams(void)
{
    Ref *r = ref_new(ref_config(AHEAD "host.read_streams=3"), true);

    for (uint64_t i = 0; i < 20; i++) {
        for (uint64_t s = 0; s < 3; s++) {
            if (i < 2) {
                expect_miss(r, 200 * s + i);
            } else {
                expect_hit(r, 200 * s + i);
            }
        }
    }
    ref_free(r);
    r = ref_new(ref_config(AHEAD "host.read_streams=2"), true);
    for (uint64_t i = 0; i < 20; i++) {
        for (uint64_t s = 0; s < 3; s++) {
            expect_miss(r, 200 * s + i);
        }
    }
    ref_free(r);
}

/* What ends after a few reads has read at most a window in vain. */
static void test_wasted(void)
{
    Ref *r = ref_new(ref_config(AHEAD "host.read_streams=1"), true);

    for (uint64_t s = 0; s < 4; s++) {
        read_at(r, 100 * s);
        read_at(r, 100 * s + 1);
        expect_hit(r, 100 * s + 2);
    }
    read_at(r, 500);
    g_assert_cmpuint(counts(r)->read_ahead_hits, ==, 4);
    g_assert_cmpuint(counts(r)->read_ahead_units, <=, 4 * WINDOW);
    g_assert_cmpuint(counts(r)->read_ahead_wasted, ==,
                     counts(r)->read_ahead_units - 4);
    ref_free(r);
}

/* ---- what is dropped ----------------------------------------------------- */

static Ref *with_stream(void)
{
    Ref *r = ref_new(ref_config(AHEAD), true);

    for (uint64_t i = 0; i < 4; i++) {
        read_at(r, i);
    }
    return r;
}

static void test_write(void)
{
    Ref *r = with_stream();

    ref_one(r, SSD_OP_WRITE, 5 * UNIT, UNIT, false);
    g_assert_cmpuint(counts(r)->read_ahead_wasted, ==, 1);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_pass(r, PAUSE);
    expect_hit(r, 4);
    expect_miss(r, 5); /* NAND has the new version */
    expect_hit(r, 6);
    ref_free(r);
}

/* A write that waits for a slot, while its unit is read ahead as it was. */
static void test_waiting_write(void)
{
    Ref *r = ref_new(ref_config(AHEAD), true);

    ref_do(r, SSD_OP_WRITE, 200 * UNIT, 64 * UNIT, false);
    ref_do(r, SSD_OP_WRITE, 6 * UNIT, UNIT, false);
    ref_pass(r, 100000); /* both have begun, and the buffer is full */
    ref_do(r, SSD_OP_READ, 0, UNIT, false);
    ref_do(r, SSD_OP_READ, UNIT, UNIT, false);
    ref_pass(r, 10000);
    g_assert_cmpuint(r->n_completed[SSD_OP_WRITE], ==, 0);
    g_assert_cmpuint(counts(r)->read_ahead_units, >, 8);
    ref_drain(r);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_pass(r, 5 * PAUSE);
    expect_hit(r, 5);
    expect_miss(r, 6);
    ref_free(r);
}

static void test_trim(void)
{
    Ref *r = with_stream();

    ref_one(r, SSD_OP_TRIM, 5 * UNIT, UNIT, false);
    expect_hit(r, 4);
    g_assert_cmpuint(read_at(r, 5), ==, F + L);
    expect_hit(r, 6);
    ref_free(r);
}

static void test_power(void)
{
    Ref *r = with_stream();

    ref_power_cycle(r);
    expect_miss(r, 4);
    ref_free(r);
}

/* A map on demand: only units whose entries are cached.  A miss brings some
 * more with ftl.map_prefetch. */
static void test_dftl(void)
{
    static const char dftl[] = AHEAD "nand.blocks=60;ftl.map=dftl;"
                                     "ftl.map_cache=4KiB;";
    Ref *r = ref_new(ref_config(dftl), true);

    for (uint64_t i = 0; i < 40; i++) {
        read_at(r, i);
    }
    g_assert_cmpuint(counts(r)->read_ahead_units, ==, 0);
    ref_free(r);
    r = ref_new(
        ref_config("nand.blocks=60;ftl.map=dftl;ftl.map_cache=4KiB;" AHEAD
                   "ftl.map_prefetch=64"),
        true);
    for (uint64_t i = 0; i < 40; i++) {
        read_at(r, i);
    }
    g_assert_cmpuint(counts(r)->read_ahead_hits, >, 30);
    ref_free(r);
}

/* ---- speed --------------------------------------------------------------- */

/* 4 KiB at depth 1, without pauses: time of a read. */
static double mean_ns(const char *options, bool in_order)
{
    Ref *r = ref_new(ref_config(options), true);
    uint64_t n = r->n_units / 2;
    double mean;

    for (uint64_t i = 0; i < n; i++) {
        ref_one(r, SSD_OP_READ, (in_order ? i : i * 37 % n) * UNIT, UNIT,
                false);
    }
    mean = hist_mean(ssd_latency(r->ssd, SSD_OP_READ));
    ref_free(r);
    return mean;
}

/*
 * Half a window is 4 pages on 2 dies, two on each: 2 (C + tR + X) for 16 units.
 * The host uses the other half meanwhile, so it waits for the array: that time
 * a sixteenth for each read.  With a fast array it is F + B + L.
 */
static void test_rate(void)
{
    double random = mean_ns(AHEAD, false);
    double bound = 2.0 * (C + TR + X) / 16;

    g_assert_cmpfloat(random, ==, (double)(F + C + TR + U + L));
    g_assert_cmpfloat(mean_ns(AHEAD, true), >, bound * 0.95);
    g_assert_cmpfloat(mean_ns(AHEAD, true), <, bound * 1.2);
    g_assert_cmpfloat(mean_ns(AHEAD "nand.channels=8;nand.bus_mt_s=1600", true),
                      <, 1.1 * (F + B + L));
    /* Register hits alone: of four reads, three without tR. */
    g_assert_cmpfloat(mean_ns("nand.register_hits=on", true), ==,
                      (double)(F + C + U + L) + TR / 4.0);
}

static void test_refused(void)
{
    static const char *const options[] = {"host.read_ahead=4KiB",
                                          "host.read_ahead=10000"};

    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        SsdConfig *cfg = ref_config(options[i]);
        g_autoptr(GError) error = NULL;

        g_assert_false(ssd_config_check(cfg, &error));
        g_assert_true(g_str_has_prefix(
            error->message, options[i][16] == '4'
                                ? "host.read_ahead=4096: must be 0 or"
                                : "host.read_ahead=10000: must be 0 or"));
        ssd_config_free(cfg);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ahead/stream", test_stream);
    g_test_add_func("/ahead/blocks", test_blocks);
    g_test_add_func("/ahead/no-stream", test_no_stream);
    g_test_add_func("/ahead/streams", test_streams);
    g_test_add_func("/ahead/wasted", test_wasted);
    g_test_add_func("/ahead/write", test_write);
    g_test_add_func("/ahead/waiting-write", test_waiting_write);
    g_test_add_func("/ahead/trim", test_trim);
    g_test_add_func("/ahead/power", test_power);
    g_test_add_func("/ahead/dftl", test_dftl);
    g_test_add_func("/ahead/rate", test_rate);
    g_test_add_func("/ahead/refused", test_refused);
    return g_test_run();
}
