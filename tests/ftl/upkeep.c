/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * upkeep.c - background work of a drive: GC while the host is idle, wear
 * levelling, and refresh.  Each is shown to have its effect and its cost, and
 * to do nothing without its option.
 */
#include <string.h>

#include "gc/gc-internal.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "media/media-internal.h"
#include "ref.h"
#include "settle.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

static SsdCounters counters(const Ref *r)
{
    SsdCounters c;

    ssd_get_counters(r->ssd, &c);
    return c;
}

static uint64_t by_cause(const Ref *r, NandOpKind kind, NandCause cause)
{
    return nand_stats(r->ssd->nand)->ops[kind][cause];
}

/* ---- GC in idle time ----------------------------------------------------- */

#define BURSTS                                                                 \
    "nand.blocks=200;ftl.op_percent=40%;ftl.gc_low=1%;ftl.gc_high=1.5%;"

static uint64_t one_unit(const Ref *r, Prng *rng)
{
    return prng_below(rng, r->n_units) * r->unit_blocks;
}

static void write_burst(Ref *r, uint64_t seed)
{
    Prng rng;

    prng_seed(&rng, seed, 5);
    for (int i = 0; i < 400; i++) {
        ref_do(r, SSD_OP_WRITE, one_unit(r, &rng), r->unit_blocks, false);
    }
    ref_drain(r);
}

/* A host that writes for a while, then thinks. */
static Ref *pausing_host(const char *options, uint64_t think_ns)
{
    g_autofree char *all = g_strconcat(BURSTS, options, NULL);
    Ref *r = ref_new(ref_config(all), true);

    for (int burst = 0; burst < 150; burst++) {
        if (burst == 75) {
            ssd_reset_stats(r->ssd);
        }
        write_burst(r, (uint64_t)burst);
        ref_pass(r, think_ns);
    }
    return r;
}

#define THINK_NS 200000000 /* enough for GC after a burst */

static void test_soft(void)
{
    Ref *without = pausing_host("", THINK_NS);
    Ref *with = pausing_host("ftl.gc_soft=12%", THINK_NS);
    const Hist *a = ssd_latency(without->ssd, SSD_OP_WRITE);
    const Hist *b = ssd_latency(with->ssd, SSD_OP_WRITE);
    double waf_a = counters(without).waf;
    double waf_b = counters(with).waf;

    g_test_message("write latency mean %.0f us, p99 %.0f us, WAF %.2f; with "
                   "ftl.gc_soft %.0f us, %.0f us, %.2f",
                   hist_mean(a) / 1e3, (double)hist_quantile(a, 990000) / 1e3,
                   waf_a, hist_mean(b) / 1e3,
                   (double)hist_quantile(b, 990000) / 1e3, waf_b);
    g_assert_cmpfloat(hist_mean(b), <, 0.8 * hist_mean(a));
    g_assert_cmpuint(hist_quantile(b, 990000), <, hist_quantile(a, 990000));
    g_assert_cmpfloat(waf_b, >, waf_a);
    g_assert_cmpuint(without->ssd->gc->background_stats.soft_victims, ==, 0);
    g_assert_cmpuint(with->ssd->gc->background_stats.soft_victims, >, 100);
    ref_finish(without);
    ref_finish(with);
    ref_free(without);
    ref_free(with);
}

/* It begins after ftl.idle, not before. */
static void test_soft_begins(void)
{
    Ref *r = pausing_host("ftl.gc_soft=12%;ftl.idle=10ms", 9000000);

    g_assert_cmpuint(r->ssd->gc->background_stats.soft_victims, ==, 0);
    ref_pass(r, 100000000);
    g_assert_cmpuint(r->ssd->gc->background_stats.soft_victims, >, 0);
    ref_finish(r);
    ref_free(r);
}

/* All planes reach the mark, and then nothing more happens. */
static void test_soft_ends(void)
{
    Ref *r = pausing_host("ftl.gc_soft=12%", THINK_NS);
    uint64_t victims;

    ref_pass(r, 2000000000);
    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        g_assert_cmpuint(r->ssd->media->plane[i].free.n, >=, 24);
    }
    victims = r->ssd->gc->background_stats.soft_victims;
    ref_pass(r, 2000000000);
    g_assert_cmpuint(r->ssd->gc->background_stats.soft_victims, ==, victims);
    ref_finish(r);
    ref_free(r);
}

/* ---- GC at regular times ------------------------------------------------- */

#define PERIOD_NS 1000000000

static uint32_t least_free(const Ref *r)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        least = MIN(least, r->ssd->media->plane[i].free.n);
    }
    return least;
}

/* The clock begins at 0 again, far from a multiple of the period. */
static void set_clock_back(Ref *r)
{
    uint64_t by_ns = ssd_rebase_most_ns(r->ssd);
    bool ok = ssd_rebase(r->ssd, by_ns);

    g_assert_true(ok);
    g_assert_cmpuint(by_ns % PERIOD_NS / (PERIOD_NS / 5), ==, 2);
    r->base_ns += by_ns;
}

/* At a multiple of the period each plane is filled up to ftl.gc_high, not
 * before; and then no more events come.  The multiples are those of the clock
 * as it was never set back. */
static void test_period(const void *rebased)
{
    Ref *r =
        ref_new(ref_config(BURSTS "ftl.gc_high=12%;ftl.gc_period=1s"), true);
    uint64_t seed = 0;
    uint64_t at_ns;

    write_burst(r, seed++);
    if (rebased) {
        ref_pass(r, PERIOD_NS / 2);
        set_clock_back(r);
    }
    g_assert_false(r->ssd->gc->period_armed);
    while (!r->ssd->gc->period_armed) {
        write_burst(r, seed++);
    }
    g_assert_cmpuint(by_cause(r, NAND_ERASE, NAND_CAUSE_GC), ==, 0);
    at_ns = (r->now_ns / PERIOD_NS + 1) * PERIOD_NS;
    ref_pass(r, at_ns - r->now_ns - 1);
    g_assert_cmpuint(by_cause(r, NAND_ERASE, NAND_CAUSE_GC), ==, 0);
    ref_pass(r, PERIOD_NS / 10);
    g_assert_cmpuint(by_cause(r, NAND_ERASE, NAND_CAUSE_GC), >, 0);
    ref_pass(r, 2 * PERIOD_NS);
    for (int i = 0; i < 20; i++) {
        write_burst(r, seed++);
    }
    ref_pass(r, 4ULL * PERIOD_NS);
    g_assert_cmpuint(least_free(r), >=, r->ssd->l.gc_high_blocks);
    g_assert_false(r->ssd->gc->period_armed);
    ref_finish(r);
    ref_free(r);
}

/* Is there a block of which most is still to be read? */
static bool begun(const Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (ssd->gc->plane[i].victim != NONE && ssd->gc->plane[i].scan < 4) {
            return true;
        }
    }
    return false;
}

/* The host comes back in the middle: GC stops at once but for operations in
 * the array, and the data is where it should be. */
static void test_soft_pauses(void)
{
    Ref *r = pausing_host("ftl.gc_soft=12%", THINK_NS);
    uint64_t reads;

    write_burst(r, 77);
    while (!begun(r->ssd)) {
        ref_pass(r, 50000);
    }
    g_assert_true(r->ssd->gc->background.idle);
    for (int i = 0; i < 40; i++) {
        ref_do(r, SSD_OP_READ, 0, 1, false);
        ref_pass(r, 500000);
    }
    g_assert_cmpuint(nand_load(r->ssd->nand), ==, 0);
    g_assert_true(begun(r->ssd));
    reads = by_cause(r, NAND_READ, NAND_CAUSE_GC);
    for (int i = 0; i < 40; i++) {
        ref_do(r, SSD_OP_READ, 0, 1, false);
        ref_pass(r, 500000);
    }
    g_assert_cmpuint(by_cause(r, NAND_READ, NAND_CAUSE_GC), ==, reads);
    ref_verify(r);
    ref_pass(r, 50000000);
    g_assert_cmpuint(by_cause(r, NAND_READ, NAND_CAUSE_GC), >, reads);
    ref_finish(r);
    ref_free(r);
}

static uint32_t n_victims(const Ssd *ssd)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        n += ssd->gc->plane[i].victim != NONE;
    }
    return n;
}

/* With nand.gc_hold the block that was begun is emptied, however many commands
 * come, and no other one is begun; no two planes of a channel are at GC. */
static void test_hold(void)
{
    Ref *r = pausing_host("ftl.gc_soft=12%;nand.chips=2;nand.lock=chip;"
                          "nand.gc_hold=on",
                          THINK_NS);
    uint32_t most = 0;
    uint64_t erases;

    for (uint64_t i = 0; i < 6; i++) {
        write_burst(r, i); /* all planes need room */
    }
    for (int i = 0; i < 200 || !begun(r->ssd); i++) {
        ref_pass(r, 50000);
        most = MAX(most, n_victims(r->ssd));
    }
    g_assert_cmpuint(most, ==, r->ssd->geo->n_channels);
    erases = by_cause(r, NAND_ERASE, NAND_CAUSE_GC);
    for (int i = 0; i < 80; i++) {
        ref_do(r, SSD_OP_READ, 0, 1, false);
        ref_pass(r, 500000);
    }
    g_assert_cmpuint(n_victims(r->ssd), ==, 0);
    g_assert_cmpuint(by_cause(r, NAND_ERASE, NAND_CAUSE_GC), <=,
                     erases + 2 * most); /* and of those read before */
    ref_finish(r);
    ref_free(r);
}

/* ---- reads of the host first --------------------------------------------- */

/* Random reads and writes at a steady pace. */
static Ref *mixed_host(const char *options)
{
    g_autofree char *all = g_strconcat(BURSTS "nand.erase=1ms;"
                                       "ftl.gc_low=4%;ftl.gc_high=6%;",
                                       options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    Prng rng;

    prng_seed(&rng, 6, 6);
    for (int i = 0; i < 40000; i++) {
        if (i == 20000) {
            ssd_reset_stats(r->ssd);
        }
        ref_do(r, i % 2 ? SSD_OP_READ : SSD_OP_WRITE, one_unit(r, &rng),
               r->unit_blocks, false);
        ref_pass(r, 300000);
    }
    ref_drain(r);
    return r;
}

static void test_preempt(void)
{
    Ref *without = mixed_host("");
    Ref *with = mixed_host("ftl.gc_preempt=on");
    const Hist *a = ssd_latency(without->ssd, SSD_OP_READ);
    const Hist *b = ssd_latency(with->ssd, SSD_OP_READ);

    g_test_message("read latency mean %.0f us, p99 %.0f us; with "
                   "ftl.gc_preempt %.0f us, %.0f us; %" PRIu64 " yields",
                   hist_mean(a) / 1e3, (double)hist_quantile(a, 990000) / 1e3,
                   hist_mean(b) / 1e3, (double)hist_quantile(b, 990000) / 1e3,
                   with->ssd->gc->background_stats.yields);
    g_assert_cmpfloat(hist_mean(b), <, hist_mean(a));
    g_assert_cmpuint(with->ssd->gc->background_stats.yields, >, 100);
    g_assert_cmpuint(without->ssd->gc->background_stats.yields, ==, 0);
    ref_finish(without);
    ref_finish(with);
    ref_free(without);
    ref_free(with);
}

/* ---- wear ---------------------------------------------------------------- */

#define NO_TIME                                                                \
    "nand.channels=1;nand.page_size=4KiB;nand.read=0;nand.program=0;"          \
    "nand.erase=0;nand.command=0;nand.bus_mt_s=0;nand.bus_ns_per_byte=0;"      \
    "buffer.size=16KiB;buffer.access=0;host.firmware=0;host.link_mb_s=0;"      \
    "nand.blocks=200;nand.pages=16;ftl.op_percent=15%;ftl.gc_low=0%;"          \
    "ftl.gc_high=0%;"

typedef struct Spread {
    uint32_t least, most;
    double waf;
} Spread;

static Spread spread_of(const Ssd *ssd)
{
    Spread s = {.least = UINT32_MAX};
    SsdCounters c;

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t n = nand_erase_count(ssd->nand, b);

        s.least = MIN(s.least, n);
        s.most = MAX(s.most, n);
    }
    ssd_get_counters(ssd, &c);
    s.waf = c.waf;
    return s;
}

/* Nine writes in ten go to a tenth of the blocks; or all of them. */
static void write_hot_of(Ssd *ssd, Prng *rng, uint64_t n, uint64_t all,
                         bool cold_is_dead)
{
    for (uint64_t i = 0; i < n; i++) {
        bool hot = cold_is_dead || prng_below(rng, 10) > 0;
        uint64_t lba = prng_below(rng, hot ? all / 10 : all - all / 10);
        SsdCmd cmd = {
            .tag = i,
            .op = SSD_OP_WRITE,
            .lba = hot ? lba : lba + all / 10,
            .nblocks = 1,
        };
        SsdCompletion done;

        g_assert_cmpint(ssd_submit(ssd, 0, &cmd), ==, 0);
        g_assert_cmpuint(ssd_advance(ssd, 0, &done, 1), ==, 1);
    }
}

static void write_hot(Ssd *ssd, Prng *rng, uint64_t n, bool cold_is_dead)
{
    write_hot_of(ssd, rng, n, ssd_info(ssd)->nblocks, cold_is_dead);
}

/* The spread after one part of a long run, and after all four. */
static void wear_out(const char *options, bool cold_is_dead, Spread at[2])
{
    g_autofree char *all = g_strconcat(NO_TIME, options, NULL);
    SsdConfig *cfg = ref_config(all);
    GError *error = NULL;
    uint64_t user;
    Ssd *ssd;
    Prng rng;

    ssd_config_set_block_bytes(cfg, 4096, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    user = ssd_info(ssd)->nblocks;
    prng_seed(&rng, 7, 7);
    g_assert_cmpint(ssd_preload(ssd, 0, user), ==, 0);
    write_hot(ssd, &rng, 50 * user, cold_is_dead);
    at[0] = spread_of(ssd);
    write_hot(ssd, &rng, 150 * user, cold_is_dead);
    at[1] = spread_of(ssd);
    g_assert_true(ssd_check(ssd, NULL));
    g_test_message("%s, cold %s: erases %u..%u, then %u..%u; WAF %.3f", options,
                   cold_is_dead ? "never written" : "seldom written",
                   at[0].least, at[0].most, at[1].least, at[1].most, at[1].waf);
    ssd_destroy(ssd);
}

static uint32_t width(const Spread *s)
{
    return s->most - s->least;
}

#define SPREAD "ftl.wear_spread=16"
#define BOUND 32 /* blocks that are open, or filled of late, lag behind */

static void test_static_wear(void)
{
    Spread fifo[2], dynamic[2], level[2];

    wear_out("ftl.wear=fifo", true, fifo);
    wear_out("ftl.wear=dynamic", true, dynamic);
    wear_out("ftl.wear=static;" SPREAD, true, level);
    g_assert_cmpuint(fifo[1].least, ==, 0);
    g_assert_cmpuint(width(&fifo[1]), >, 3 * width(&fifo[0]));
    g_assert_cmpuint(width(&dynamic[1]), >, 3 * width(&dynamic[0]));
    g_assert_cmpuint(width(&level[0]), <=, BOUND);
    g_assert_cmpuint(width(&level[1]), <=, BOUND);
    g_assert_cmpfloat(level[1].waf, >, dynamic[1].waf);
}

/* Without SLC: the mean of all blocks. */
static void test_percent_used_plain(void)
{
    SsdConfig *cfg = ref_config(NO_TIME "nand.pages=24;ftl.op_percent=20%;"
                                        "media.rated_cycles=40");
    Ssd *ssd = ref_drive(cfg);
    uint64_t erases = 0;
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 9, 9);
    write_hot(ssd, &rng, 10 * ssd_info(ssd)->nblocks, false);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        erases += nand_erase_count(ssd->nand, b);
    }
    ssd_get_counters(ssd, &c);
    g_assert_cmpuint(c.percent_used, ==,
                     erases * 100 / ssd->geo->n_blocks / 40);
    g_assert_cmpuint(c.percent_used, >, 0);
    ssd_destroy(ssd);
}

/* Blocks in SLC mode take all that the host writes, and wear most; the life of the
 * drive is that of the others. */
static void test_percent_used(void)
{
    SsdConfig *cfg = ref_config(NO_TIME "nand.cell=tlc;nand.pages=24;"
                                "nand.slc_blocks=4;ftl.op_percent=20%;"
                                "nand.slc_read=0;nand.slc_program=0;"
                                "media.rated_cycles=40");
    Ssd *ssd = ref_drive(cfg);
    uint64_t user = ssd_info(ssd)->nblocks;
    uint64_t erases = 0;
    uint64_t slc_erases = 0;
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 9, 9);
    write_hot(ssd, &rng, 10 * user, false);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        uint32_t n = nand_erase_count(ssd->nand, b);

        *(nand_block_is_slc(ssd->geo, b) ? &slc_erases : &erases) += n;
    }
    ssd_get_counters(ssd, &c);
    g_assert_cmpuint(slc_erases, >, erases / 2);
    g_assert_cmpuint(c.percent_used, ==, erases * 100 / (196 * 40));
    g_assert_cmpuint(c.percent_used, >, 0);
    ssd_destroy(ssd);
}

#define CYCLES                                                                 \
    "nand.cell=tlc;nand.pages=24;nand.slc_read=0;nand.slc_program=0;"          \
    "nand.slc_erase=0;ftl.op_percent=20%;media.rated_cycles=100;"              \
    "media.slc_rated_cycles=1000;"

/* Cycles consumed, of each block that is in no static part of the cache. */
static Spread cycles_of(const Ssd *ssd, uint64_t *sum)
{
    Spread s = {.least = UINT32_MAX};

    *sum = 0;
    for (uint32_t b = ssd->geo->slc_blocks; b < ssd->geo->n_blocks; b++) {
        uint32_t slc = nand_slc_erases(ssd->nand, b);
        uint32_t n = nand_erase_count(ssd->nand, b) - slc + slc / 10;

        g_assert_cmpuint(n, ==, nand_wear_cycles(ssd->nand, b));
        s.least = MIN(s.least, n);
        s.most = MAX(s.most, n);
        *sum += n;
    }
    return s;
}

/* Erases of the blocks of nand.slc_blocks, which take turns. */
static uint64_t cache_erases(const Ssd *ssd)
{
    uint32_t first = nand_erase_count(ssd->nand, 0);
    uint64_t sum = 0;

    for (uint32_t b = 0; b < ssd->geo->slc_blocks; b++) {
        uint32_t n = nand_erase_count(ssd->nand, b);

        g_assert_cmpuint(n + 1, >=, first);
        g_assert_cmpuint(n, <=, first + 1);
        sum += n;
    }
    return sum;
}

/* Part of the drive's data is written once, a tenth of that all the time,
 * through an SLC cache in the rest; after one part of a long run, and after all
 * four. */
static void wear_cache(const char *options, Spread at[2])
{
    g_autofree char *all = g_strconcat(NO_TIME CYCLES, options, NULL);
    Ssd *ssd = ref_drive(ref_config(all));
    uint64_t data = ssd_info(ssd)->nblocks * 6 / 10;
    uint64_t blocks = ssd->geo->n_blocks - ssd->geo->slc_blocks;
    uint64_t sum;
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 7, 7);
    g_assert_cmpint(ssd_preload(ssd, 0, data), ==, 0);
    for (unsigned part = 0; part < 4; part++) {
        write_hot_of(ssd, &rng, 60 * data, data, true);
        at[part > 0] = cycles_of(ssd, &sum);
    }
    g_assert_true(ssd_check(ssd, NULL));
    ssd_get_counters(ssd, &c);
    g_test_message("%s: cycles %u..%u, then %u..%u; %" PRIu64 " erases in SLC "
                   "mode, %" PRIu64 " moves, %" PRIu64 " %% used",
                   options, at[0].least, at[0].most, at[1].least, at[1].most,
                   nand_stats(ssd->nand)->slc_erases,
                   ssd->gc->background_stats.wear_victims,
                   (uint64_t)c.percent_used);
    /* 100 rated cycles; blocks of nand.slc_blocks have 1000. */
    g_assert_cmpuint(
        c.percent_used, ==,
        MAX(sum * 100 / (blocks * 100),
            ssd->geo->slc_blocks == 0
                ? 0
                : cache_erases(ssd) * 100 / (ssd->geo->slc_blocks * 1000)));
    ssd_destroy(ssd);
}

/* Without a move of cold data the spread of consumed cycles grows with the
 * writes; with it there is a bound, though hot blocks go from mode to mode.
 * Those of the static part take turns. */
static void test_slc_wear(void)
{
    Spread fifo[2], dynamic[2], level[2], both[2];

    wear_cache("ftl.slc_dynamic=20%;ftl.wear=fifo", fifo);
    wear_cache("ftl.slc_dynamic=20%;ftl.wear=dynamic", dynamic);
    wear_cache("ftl.slc_dynamic=20%;ftl.wear=static;" SPREAD, level);
    wear_cache("nand.slc_blocks=10;ftl.slc_dynamic=20%;ftl.wear=static;" SPREAD,
               both);
    g_assert_cmpuint(fifo[1].least, ==, 0);
    g_assert_cmpuint(width(&fifo[1]), >, 3 * width(&fifo[0]));
    g_assert_cmpuint(width(&dynamic[1]), >, 3 * width(&dynamic[0]));
    g_assert_cmpuint(width(&level[0]), <=, BOUND);
    g_assert_cmpuint(width(&level[1]), <=, BOUND);
    g_assert_cmpuint(width(&both[0]), <=, BOUND + 16);
    g_assert_cmpuint(width(&both[1]), <=, BOUND + 16);
}

static void test_skewed_wear(void)
{
    Spread fifo[2], level[2];

    wear_out("ftl.wear=fifo", false, fifo);
    wear_out("ftl.wear=static;" SPREAD, false, level);
    g_assert_cmpuint(width(&level[0]), <=, BOUND);
    g_assert_cmpuint(width(&level[1]), <=, BOUND);
    g_assert_cmpuint(width(&fifo[1]), >, 2 * width(&level[1]));
}

/* A look at all blocks now and then agrees with the trees, also after power cuts and
 * with media that fail. */
static void test_wear_index(void)
{
    static const char *const options[] = {
        ("ftl.wear=static;ftl.wear_spread=3;media.program_fail=1e-4;"
         "media.erase_fail=1e-4"),
        "ftl.wear=static;ftl.wear_spread=3;ftl.gc=cost-benefit",
        "ftl.wear=dynamic;media.erase_fail=1e-3",
        "ftl.wear=static;ftl.wear_spread=3;ftl.recovery=checkpoint",
    };

    for (size_t k = 0; k < G_N_ELEMENTS(options); k++) {
        g_autofree char *all = g_strconcat(
            "nand.blocks=70;nand.pages=8;nand.erase=100us;ftl.op_percent=45%;",
            options[k], NULL);
        Ref *r = ref_new(ref_config(all), true);
        Prng rng;

        r->faults = true;
        prng_seed(&rng, 8, 8);
        for (int i = 0; i < 12000; i++) {
            uint64_t lpn = prng_below(&rng, i % 90 ? r->n_units / 8 : r->n_units);

            ref_do(r, SSD_OP_WRITE, lpn * r->unit_blocks, r->unit_blocks, false);
            if (i % 50 == 0) {
                g_autoptr(GError) error = NULL;

                ssd_check(r->ssd, &error);
                g_assert_no_error(error);
            }
            if (i % 3000 == 2999) {
                ref_power_cycle(r);
            }
        }
        g_assert_true(k == 2 || r->ssd->gc->background_stats.wear_victims > 20);
        ref_finish(r);
        ref_free(r);
    }
}

/* Moves have a cause of their own; data, streams and bad blocks get along. */
static void test_moves(void)
{
    Ref *r = ref_new(ref_config("nand.blocks=60;nand.pages=4;nand.erase=100us;"
                                "ftl.op_percent=40%;ftl.wear=static;"
                                "ftl.wear_spread=3;nand.copyback=on;"
                                "media.program_fail=1e-4"),
                     true);
    Prng rng;

    r->faults = true;
    prng_seed(&rng, 8, 8);
    for (int i = 0; i < 12000; i++) {
        uint64_t lpn = prng_below(&rng, r->n_units / 8);

        ref_do(r, SSD_OP_WRITE, lpn * r->unit_blocks, r->unit_blocks,
               i % 50 == 0);
        if (i % 3000 == 0) {
            ref_power_cycle(r);
        }
    }
    g_assert_cmpuint(r->ssd->gc->background_stats.wear_victims, >, 20);
    g_assert_cmpuint(by_cause(r, NAND_ERASE, NAND_CAUSE_WEAR), >, 20);
    g_assert_cmpuint(by_cause(r, NAND_PROGRAM, NAND_CAUSE_WEAR) +
                         by_cause(r, NAND_COPYBACK, NAND_CAUSE_WEAR),
                     >, 20);
    ref_finish(r);
    ref_free(r);
}

/* ---- refresh ------------------------------------------------------------- */

#define TENDER                                                                 \
    "nand.blocks=40;media.errors=on;media.wear=0;"             \
    "media.retry_factor=0.9;media.start_cycles=500;ftl.scan_interval=1s;"

#define OLD                                                                    \
    TENDER "media.base=4e-3;media.retention=6.28e-5;media.disturb=0;"          \
           "media.preload_hours=8000;"

static uint64_t retries_of_reading_all(Ref *r)
{
    uint64_t before = counters(r).read_retries;

    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        ref_do(r, SSD_OP_READ, lpn * r->unit_blocks, r->unit_blocks, false);
    }
    ref_drain(r);
    return counters(r).read_retries - before;
}

/* A drive of old data that the host leaves alone for ten seconds. */
static Ref *old_drive(const char *options)
{
    g_autofree char *all = g_strconcat(OLD, options, NULL);
    Ref *r = ref_new(ref_config(all), true);

    r->faults = true;
    ref_do(r, SSD_OP_READ, 0, 1, false);
    ref_drain(r);
    for (int i = 0; i < 10; i++) {
        ref_pass(r, 1000000000);
    }
    return r;
}

static void test_retention(void)
{
    Ref *without = old_drive("");
    Ref *with = old_drive("ftl.refresh_hours=4000");
    uint64_t a = retries_of_reading_all(without);
    uint64_t b = retries_of_reading_all(with);
    uint64_t moved = with->ssd->gc->background_stats.refresh_victims;

    g_test_message("%" PRIu64 " retries of reading all, after a refresh of %"
                   PRIu64 " blocks %" PRIu64, a, moved, b);
    g_assert_cmpuint(a, >, 200);
    g_assert_cmpuint(b, <, a / 10);
    g_assert_cmpuint(by_cause(without, NAND_READ, NAND_CAUSE_REFRESH), ==, 0);
    g_assert_cmpuint(moved, >, 30);
    g_assert_cmpuint(by_cause(with, NAND_READ, NAND_CAUSE_REFRESH), >, 200);
    g_assert_cmpuint(by_cause(with, NAND_PROGRAM, NAND_CAUSE_REFRESH), >, 200);
    g_assert_cmpuint(by_cause(with, NAND_ERASE, NAND_CAUSE_REFRESH), >, 30);
    /* Young data is left alone. */
    ref_pass(with, 5000000000);
    g_assert_cmpuint(with->ssd->gc->background_stats.refresh_victims, ==,
                     moved);
    ref_finish(with);
    ref_free(without);
    ref_free(with);
}

/* A copy inside the array is as old as the original: refresh does without. */
static void test_copyback(void)
{
    Ref *r = old_drive("ftl.refresh_hours=4000;nand.copyback=on");

    g_assert_cmpuint(by_cause(r, NAND_ERASE, NAND_CAUSE_REFRESH), >, 30);
    g_assert_cmpuint(by_cause(r, NAND_COPYBACK, NAND_CAUSE_REFRESH), ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* Without power for longer than ftl.refresh_hours: the drive has no clock then.
 * Read retries reveal the age, and the data of those blocks is moved. */
static void test_off(void)
{
    Ref *hours = ref_new(ref_config(OLD "media.preload_hours=0;"
                                    "media.off_hours=8000;"
                                    "ftl.refresh_hours=4000"), true);
    Ref *found = ref_new(ref_config(OLD "media.preload_hours=0;"
                                    "media.off_hours=8000;"
                                    "ftl.refresh_retries=2"), true);
    uint64_t a;
    uint64_t b;

    for (int i = 0; i < 2; i++) {
        Ref *r = i ? found : hours;

        r->faults = true;
        ref_one(r, SSD_OP_READ, 0, 1, false);
        ref_power_cycle(r);
        retries_of_reading_all(r);
        for (int k = 0; k < 10; k++) {
            ref_pass(r, NS_PER_S);
        }
    }
    g_assert_cmpuint(hours->ssd->gc->background_stats.refresh_victims, ==, 0);
    g_assert_cmpuint(found->ssd->gc->background_stats.refresh_victims, >, 5);
    a = retries_of_reading_all(hours);
    b = retries_of_reading_all(found);
    g_test_message("%" PRIu64 " retries after 8000 hours without power, %" PRIu64
                   " with ftl.refresh_retries", a, b);
    g_assert_cmpuint(b, <, a / 2);
    ref_finish(found);
    ref_free(hours);
    ref_free(found);
}

static uint64_t refreshed(const Ref *r)
{
    return r->ssd->gc->background_stats.refresh_victims;
}

/* The clock of the drive stands still while the power is off. */
static void test_clock(void)
{
    const uint64_t hour_ns = 3600 * NS_PER_S;
    Ref *r = ref_new(ref_config(TENDER "ftl.refresh_hours=2;"
                                "ftl.scan_interval=60s"), true);

    r->faults = true;
    r->polling = REF_POLL_NEVER;
    ref_one(r, SSD_OP_READ, 0, 1, false);
    ref_pass(r, hour_ns);
    ssd_power_cut(r->ssd, r->now_ns);
    r->now_ns += 5 * hour_ns;
    ssd_power_on(r->ssd, r->now_ns);
    ref_pass(r, hour_ns * 9 / 10);
    ref_one(r, SSD_OP_READ, 0, 1, false);
    g_assert_cmpuint(refreshed(r), ==, 0);
    ref_pass(r, hour_ns / 5);
    ref_one(r, SSD_OP_READ, 0, 1, false);
    g_assert_cmpuint(refreshed(r), >, 20);
    ref_free(r);
}

/* Read a unit so often, with pauses, and cut the power after each thousand. */
static uint64_t refreshed_after_cuts(const char *options)
{
    g_autofree char *all = g_strconcat(TENDER "media.base=1e-4;"
                                       "ftl.refresh_reads=200;", options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    uint64_t n;

    r->faults = true;
    for (int i = 0; i < 3000; i++) {
        ref_do(r, SSD_OP_READ, 0, 1, false);
        if (i % 1000 == 999) {
            ref_drain(r);
            ref_power_cycle(r);
        }
    }
    ref_pass(r, 2 * NS_PER_S);
    n = refreshed(r);
    ref_finish(r);
    ref_free(r);
    return n;
}

/* A block of 8 pages: 1601 reads are needed.  Only capacitors keep the count. */
static void test_counts_lost(void)
{
    g_assert_cmpuint(refreshed_after_cuts(""), ==, 1);
    g_assert_cmpuint(refreshed_after_cuts("nand.blocks=60;ftl.recovery=scan"),
                     ==, 0);
}

/* The history of a block: each read and retry counts, the read with the most
 * retries decides, and a copy of GC is a read. */
static void test_history(void)
{
    Ref *r = ref_new(ref_config(TENDER "ftl.refresh_reads=5;"
                                       "ftl.read_reclaim=3"),
                     true);
    Ssd *ssd = r->ssd;
    uint32_t block = ppu_block(ssd, ssd->nand_entry(ssd, 0) - 1);
    BlockHistory *h = &ssd->gc->history[block];
    GcPlane *g = &ssd->gc->plane[block_plane(ssd, block)];
    NandOp op = {.retries = 2};

    op.ppa.page = (uint64_t)block * ssd->geo->pages_per_block;
    refresh_read(ssd, &op);
    g_assert_cmpuint(h->reads, ==, 3);
    g_assert_false(g->reclaim);
    op.retries = 0;
    refresh_read(ssd, &op);
    g_assert_cmpuint(h->reads, ==, 4);
    g_assert_cmpuint(h->retries, ==, 2);
    refresh_copied(ssd, block, block + 1);
    g_assert_cmpuint(h->reads, ==, 5);
    op.retries = 3;
    refresh_read(ssd, &op);
    g_assert_true(g->reclaim);
    ssd_settle(ssd);
    ref_finish(r);
    ref_free(r);
}

/* Reads of one place, with a pause after each thousand. */
static Ref *reading_host(const char *options, uint64_t pause_ns)
{
    g_autofree char *all = g_strconcat(TENDER "media.base=1e-3;"
                                       "media.retention=0;media.disturb=1e-7;",
                                       options, NULL);
    Ref *r = ref_new(ref_config(all), true);

    r->faults = true;
    for (int i = 0; i < 30000; i++) {
        ref_do(r, SSD_OP_READ, (uint64_t)(i % 16) * r->unit_blocks,
               r->unit_blocks, false);
        if (i % 1000 == 999) {
            ref_drain(r);
            ref_pass(r, pause_ns);
        }
    }
    ref_drain(r);
    return r;
}

static void test_disturb(void)
{
    Ref *without = reading_host("", 1000000000);
    Ref *with = reading_host("ftl.refresh_reads=100", 1000000000);
    Ref *busy = reading_host("ftl.refresh_reads=100", 0);

    g_test_message("retries %" PRIu64 ", with refresh of %" PRIu64 " blocks %"
                   PRIu64 ", with no pauses %" PRIu64,
                   counters(without).read_retries,
                   with->ssd->gc->background_stats.refresh_victims,
                   counters(with).read_retries, counters(busy).read_retries);
    g_assert_cmpuint(counters(with).read_retries, <,
                     counters(without).read_retries / 2);
    g_assert_cmpuint(with->ssd->gc->background_stats.refresh_victims, >, 0);
    g_assert_cmpuint(busy->ssd->gc->background_stats.refresh_victims, ==, 0);
    ref_free(without);
    ref_free(with);
    ref_free(busy);
}

/* Old data that is read while the host is never idle for long: with
 * ftl.read_reclaim, what needed retries moves between the host's commands. */
static Ref *busy_reads(const char *options)
{
    g_autofree char *all = g_strconcat(OLD "ftl.idle=1h;", options, NULL);
    Ref *r = ref_new(ref_config(all), true);

    r->faults = true;
    for (int i = 0; i < 20; i++) {
        retries_of_reading_all(r);
    }
    return r;
}

static void test_reclaim(void)
{
    Ref *without = busy_reads("ftl.refresh_retries=2");
    Ref *with = busy_reads("ftl.read_reclaim=2");
    uint64_t a = retries_of_reading_all(without);
    uint64_t b = retries_of_reading_all(with);
    uint64_t moved = with->ssd->inspect.count.reclaim_victims;

    g_test_message("%" PRIu64 " retries of reading all, after %" PRIu64
                   " blocks were reclaimed %" PRIu64,
                   a, moved, b);
    g_assert_cmpuint(without->ssd->gc->background_stats.refresh_victims, ==, 0);
    g_assert_cmpuint(with->ssd->gc->background_stats.refresh_victims, ==,
                     moved);
    g_assert_cmpuint(moved, >, 5);
    g_assert_cmpuint(b, <, a / 2);
    g_assert_cmpuint(by_cause(with, NAND_PROGRAM, NAND_CAUSE_REFRESH), >, 20);
    ref_finish(with);
    ref_free(without);
    ref_free(with);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/upkeep/period", NULL, test_period);
    g_test_add_data_func("/upkeep/period/rebased", "", test_period);
    g_test_add_func("/upkeep/soft", test_soft);
    g_test_add_func("/upkeep/soft-begins", test_soft_begins);
    g_test_add_func("/upkeep/soft-ends", test_soft_ends);
    g_test_add_func("/upkeep/soft-pauses", test_soft_pauses);
    g_test_add_func("/upkeep/hold", test_hold);
    g_test_add_func("/upkeep/preempt", test_preempt);
    g_test_add_func("/upkeep/static-wear", test_static_wear);
    g_test_add_func("/upkeep/slc-wear", test_slc_wear);
    g_test_add_func("/upkeep/percent-used", test_percent_used);
    g_test_add_func("/upkeep/percent-used-plain", test_percent_used_plain);
    g_test_add_func("/upkeep/skewed-wear", test_skewed_wear);
    g_test_add_func("/upkeep/wear-index", test_wear_index);
    g_test_add_func("/upkeep/moves", test_moves);
    g_test_add_func("/upkeep/retention", test_retention);
    g_test_add_func("/upkeep/copyback", test_copyback);
    g_test_add_func("/upkeep/off", test_off);
    g_test_add_func("/upkeep/history", test_history);
    g_test_add_func("/upkeep/reclaim", test_reclaim);
    g_test_add_func("/upkeep/clock", test_clock);
    g_test_add_func("/upkeep/counts-lost", test_counts_lost);
    g_test_add_func("/upkeep/disturb", test_disturb);
    return g_test_run();
}
