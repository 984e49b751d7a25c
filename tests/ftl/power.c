/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - the power goes at instants at which something happens on a
 * tiny drive: each media operation, GC included, is cut at its start, in
 * each of its phases and at its end.
 *
 * The run without a cut gives the instants; then the same run is made once for
 * each, cut there, verified (ref.h has the expected data), and gone on with.
 */
#include <string.h>

#include "buffer/buffer-policy.h"
#include "gc/gc-internal.h"
#include "media/media-internal.h"
#include "power/power-internal.h"
#include "power/power.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define UNIT 8

typedef struct Script {
    const char *options;
    uint64_t seed;
    int n_commands;
    int n_after; /* after the power is back */
    bool preload;
    uint64_t min_erases; /* so many must there be to cut */
    uint64_t min_upkeep; /* so many blocks emptied for each other reason */
} Script;

static void one_command(Ref *r, Prng *rng, const Script *s)
{
    uint64_t lba = prng_below(rng, r->info->nblocks);
    uint32_t n = 1 + (uint32_t)prng_below(rng, 4 * UNIT);
    uint64_t kind = prng_below(rng, 20);
    SsdOp op = kind < 14   ? SSD_OP_WRITE
               : kind < 17 ? SSD_OP_READ
               : kind < 19 ? SSD_OP_TRIM
                           : SSD_OP_FLUSH;

    if (prng_below(rng, 2)) {
        lba -= lba % UNIT;
        n = UNIT * (1 + n / UNIT);
    }
    n = (uint32_t)MIN(n, r->info->nblocks - lba);
    ref_do(r, op, lba, n, prng_below(rng, 10) == 0);
    ref_pass(r, prng_below(rng, 150000));
}

/* Instants up to which events are run, without repeats. */
static GArray *find_instants(const Script *s)
{
    GArray *at_ns = g_array_new(false, false, sizeof(uint64_t));
    Ref *r = ref_new(ref_config(s->options), s->preload);
    SsdCounters c;
    Prng rng;

    r->instants = at_ns;
    r->polling = REF_POLL_EVENTS;
    prng_seed(&rng, s->seed, 1);
    for (int i = 0; i < s->n_commands; i++) {
        one_command(r, &rng, s);
    }
    ref_finish(r);
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(c.nand_erases, >=, s->min_erases);
    g_assert_cmpuint(r->ssd->gc->background_stats.soft_victims, >=,
                     s->min_upkeep);
    g_assert_cmpuint(r->ssd->gc->background_stats.wear_victims, >=,
                     s->min_upkeep);
    g_assert_cmpuint(r->ssd->gc->background_stats.refresh_victims, >=,
                     s->min_upkeep);
    ref_free(r);
    return at_ns;
}

/* The same run, cut at one instant.  false: it ended before. */
static void run_cut(const Script *s, uint64_t cut_ns, bool twice)
{
    Ref *r = ref_new(ref_config(s->options), s->preload);
    Prng rng;

    r->stop_ns = cut_ns;
    r->polling = REF_POLL_EVENTS;
    prng_seed(&rng, s->seed, 1);
    for (int i = 0; i < s->n_commands && !r->stopped; i++) {
        one_command(r, &rng, s);
    }
    if (!r->stopped) {
        ref_drain(r);
        r->now_ns = MAX(r->now_ns, cut_ns);
    }
    r->stop_ns = 0;
    r->stopped = false;
    ref_power_cycle(r);
    if (twice) {
        ref_pass(r, 1 + prng_below(&rng, 4000000));
        ref_power_cycle(r);
    }
    for (int i = 0; i < s->n_after; i++) {
        one_command(r, &rng, s);
    }
    ref_finish(r);
    ref_free(r);
}

#define CHECKPOINT "ftl.recovery=checkpoint;nand.blocks=24;"
#define SCAN "ftl.recovery=scan;nand.blocks=24;"

static bool want_all(void)
{
    const char *all = g_getenv("VSSD_LONG");

    return all && strcmp(all, "1") == 0;
}

/* At every third instant; with VSSD_LONG=1 in the environment at each. */
static void cut_everywhere(const Script *s)
{
    GArray *at_ns = find_instants(s);
    unsigned step = want_all() ? 1 : 3;
    unsigned n = 0;

    g_assert_cmpuint(at_ns->len, >, 100);
    for (unsigned i = 0; i < at_ns->len; i += step, n++) {
        run_cut(s, g_array_index(at_ns, uint64_t, i), n % 3 == 0);
    }
    g_test_message("%u cuts, in %u instants", n, at_ns->len);
    g_array_free(at_ns, true);
}

#define TINY                                                                   \
    "nand.channels=1;nand.blocks=18;nand.pages=4;ftl.op_percent=120;"          \
    "buffer.size=64KiB;nand.erase=1ms;"

/* A fresh drive: first pages of blocks, nothing to clean. */
static void test_fresh(void)
{
    cut_everywhere(&(Script){TINY, 1, 120, 20, false, 0, 0});
}

/* A full drive: GC all the time. */
static void test_full(void)
{
    cut_everywhere(&(Script){TINY, 2, 250, 20, true, 20, 0});
}

static void find_everywhere(const char *recovery)
{
    static const Script scripts[] = {
        {TINY, 1, 120, 20, false, 0, 0},
        {TINY, 2, 250, 20, true, 20, 0},
        {TINY "nand.dies=2;ftl.unit=8KiB;buffer.flush_interval=700us;", 3, 200,
         20, true, 5, 0},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        Script s = scripts[i];
        g_autofree char *options = g_strconcat(s.options, recovery, NULL);

        s.options = options;
        cut_everywhere(&s);
    }
}

/* The map is lost with the power, and found in spare areas. */
static void test_scan(void)
{
    find_everywhere(SCAN);
}

/* The same, and in checkpoints: rare ones, and one after the other. */
static void test_checkpoint(void)
{
    find_everywhere(CHECKPOINT "ftl.checkpoint_interval=40");
    find_everywhere(CHECKPOINT "ftl.checkpoint_interval=4");
}

/* The recovery from a cut after so many commands is cut itself: at some of its
 * instants, or all of them. */
static void cut_recovery_after(const char *options, uint64_t seed, int commands)
{
    unsigned step = want_all() ? 1 : 23;
    unsigned most = 0;
    unsigned n = 0;

    for (unsigned at = 0; at <= most; at += step, n++) {
        Ref *r = ref_new(ref_config(options), true);
        Prng rng;

        prng_seed(&rng, seed, 1);
        for (int i = 0; i < commands; i++) {
            one_command(r, &rng, &(Script){.options = options});
        }
        for (int i = 0; i < 2; i++) {
            r->recovery_looks = 0;
            r->recovery_cuts = at;
            ref_power_cycle(r);
            most = MAX(most, at ? most : r->recovery_looks);
            one_command(r, &rng, &(Script){.options = options});
        }
        ref_finish(r);
        ref_free(r);
    }
    g_assert_cmpuint(most, >, 20);
    g_test_message("after %d commands: %u cuts of recovery, in %u instants",
                   commands, n, most);
}

/* After 120 commands; with VSSD_LONG=1 in the environment after each of them. */
static void cut_recovery(const char *options, uint64_t seed)
{
    for (int commands = want_all() ? 1 : 120; commands <= 120; commands++) {
        cut_recovery_after(options, seed, commands);
    }
}

static void test_recovery_cut(void)
{
    cut_recovery(TINY SCAN, 8);
    cut_recovery(TINY SCAN "nand.dies=2;ftl.unit=8KiB", 9);
    cut_recovery(TINY CHECKPOINT "ftl.checkpoint_interval=20", 10);
    cut_recovery(TINY CHECKPOINT "nand.dies=2;ftl.unit=8KiB;"
                 "ftl.checkpoint_interval=9", 11);
}

/* Time to ready, by hand: a spare area of 4 units is 80 bytes, 200 ns on the
 * bus; with 200 ns for the command and 50 us in the array a read of it takes
 * 50.4 us.  A saved page takes 50.2 us and 40.96 us on the bus. */
static void test_scan_time(void)
{
    Ref *r = ref_new(ref_config(TINY SCAN), false);
    const uint64_t spare_ns = 50400;
    const uint64_t page_ns = 50200 + 40960;

    ref_power_cycle(r); /* each block's first page is blank */
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==, 24 * spare_ns);
    ref_one(r, SSD_OP_WRITE, 0, 8 * UNIT, false); /* two pages of a block */
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_power_cycle(r);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==, 26 * spare_ns);
    ref_one(r, SSD_OP_TRIM, 0, UNIT, false); /* and a saved page */
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_power_cycle(r);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==, 27 * spare_ns + page_ns);
    g_assert_false(ssd_mapped(r->ssd, 0, NULL));
    g_assert_true(ssd_mapped(r->ssd, UNIT, NULL));
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), <=,
                     r->info->longest_recovery_ns);
    ref_free(r);
}

/*
 * The controller looks at what was read beside the next read: 1 us for a blank
 * page, 4 for one with four units.  Where that is less than a read takes, only
 * the last page adds to the time; where it is more, only the first read does.
 */
static void cpu_time(const char *cpu, uint64_t cpu_ns)
{
    g_autofree char *options =
        g_strconcat(TINY SCAN "ftl.recovery_cpu=", cpu, NULL);
    Ref *r = ref_new(ref_config(options), false);
    const uint64_t spare_ns = 50400;
    bool fast = 4 * cpu_ns < spare_ns;

    ref_power_cycle(r);
    /* 3 blocks of the journal; then, in the next step with reads, 21 others. */
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==,
                     fast ? 24 * spare_ns + 2 * cpu_ns
                          : 2 * spare_ns + 24 * cpu_ns);
    g_assert_cmpuint(r->ssd->power->recovery.cpu_ps / PS_PER_NS, ==,
                     24 * cpu_ns);
    ref_one(r, SSD_OP_WRITE, 0, 8 * UNIT, false); /* two pages of a block */
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_power_cycle(r);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==,
                     fast ? 26 * spare_ns + 2 * cpu_ns
                          : 2 * spare_ns + (24 + 2 * 4) * cpu_ns);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), <=, r->info->longest_recovery_ns);
    ref_free(r);
}

static void test_cpu_time(void)
{
    cpu_time("1us", 1000);
    cpu_time("100us", 100000);
}

/* The open block of the host is filled on after a cut, or left. */
static void close_open(const char *options, bool closes)
{
    Ref *r = ref_new(ref_config(options), false);
    uint32_t block;

    ref_one(r, SSD_OP_WRITE, 0, 4 * UNIT, true);
    block = ppu_block(r->ssd, l2p_get(&r->ssd->l2p, 0) - 1);
    ref_power_cycle(r);
    g_assert_cmpint(r->ssd->media->block[block].state, ==,
                    closes ? BLOCK_FULL : BLOCK_OPEN);
    ref_one(r, SSD_OP_WRITE, 4 * UNIT, 4 * UNIT, true);
    g_assert_true((ppu_block(r->ssd, l2p_get(&r->ssd->l2p, 4) - 1) == block) ==
                  !closes);
    ref_finish(r);
    ref_free(r);
}

static void test_close_open(void)
{
    close_open(TINY, false);
    close_open(TINY "superblock.close_open=on", true);
    close_open(TINY SCAN, false);
    close_open(TINY SCAN "superblock.close_open=on", true);
    close_open(TINY CHECKPOINT "superblock.close_open=on", true);
    cut_everywhere(
        &(Script){TINY "superblock.close_open=on", 12, 150, 20, true, 10, 0});
    cut_everywhere(&(Script){TINY SCAN
                             "superblock.close_open=on;ftl.recovery_cpu=3us",
                             13, 120, 20, true, 5, 0});
}

/* After a clean shutdown a drive is ready soon, after a cut later, and without
 * checkpoints much later. */
static uint64_t fill_and_cut(const char *options, bool clean)
{
    Ref *r = ref_new(ref_config(options), true);
    uint64_t ns;

    for (uint32_t i = 0; i < 30; i++) {
        ref_one(r, SSD_OP_WRITE, 4ULL * i * UNIT, 4 * UNIT, true);
    }
    if (clean) {
        ref_one(r, SSD_OP_SHUTDOWN, 0, 0, false);
        ref_pass(r, 100000000);
    }
    ref_power_cycle(r);
    ns = ssd_recovery_ns(r->ssd);
    g_assert_cmpuint(ns, <=, r->info->longest_recovery_ns);
    ref_finish(r);
    ref_free(r);
    return ns;
}

static void test_ready(void)
{
    const char *checkpoint = TINY CHECKPOINT "nand.pages=64;nand.blocks=24;"
                             "ftl.checkpoint_interval=100000";
    const char *scan = TINY SCAN "nand.pages=64;nand.blocks=24";
    uint64_t clean_ns = fill_and_cut(checkpoint, true);
    uint64_t cut_ns = fill_and_cut(checkpoint, false);
    uint64_t scan_ns = fill_and_cut(scan, false);

    g_test_message("ready after %.3f ms, %.3f ms, %.3f ms", clean_ns / 1e6,
                   cut_ns / 1e6, scan_ns / 1e6);
    g_assert_cmpuint(clean_ns, <, cut_ns);
    g_assert_cmpuint(4 * cut_ns, <, scan_ns);
}

/*
 * By hand, with blocks of 4 pages: an empty block takes two reads of spare areas
 * (its last page and its first), one with two pages four (then its third, and its
 * second).  After a shutdown there are two saved pages, of units and the anchor,
 * which are found by their spare areas and read; without one there is none, and
 * the first of the two pages is read, as young as the second.
 */
static void test_checkpoint_time(void)
{
    Ref *r = ref_new(ref_config(TINY CHECKPOINT), false);
    const RecoveryTimes *times = &r->ssd->power->recovery.times;
    const uint64_t spare_ns = 50400;
    const uint64_t page_ns = 50200 + 40960;
    uint64_t steps_ps = 0;

    ref_power_cycle(r);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==, (3 + 21 * 2) * spare_ns);
    ref_one(r, SSD_OP_WRITE, 0, 8 * UNIT, false);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_power_cycle(r);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==,
                     (3 + 20 * 2 + 4 + 1) * spare_ns);
    ref_one(r, SSD_OP_SHUTDOWN, 0, 0, false);
    ref_power_cycle(r);
    g_assert_cmpuint(ssd_recovery_ns(r->ssd), ==,
                     (2 + 3 + 20 * 2 + 4) * spare_ns + 2 * page_ns);
    for (uint32_t i = 0; i < recovery_n_steps(r->ssd); i++) {
        steps_ps += times->step_ps[i];
    }
    g_assert_cmpuint(steps_ps, ==, times->ready_ps);
    g_assert_true(ssd_mapped(r->ssd, 7 * UNIT, NULL));
    ref_free(r);
}

/* Shutdowns that come while another one writes a checkpoint, each at another of
 * its instants: all end. */
static void test_shutdowns(void)
{
    Ref *r = ref_new(ref_config(TINY CHECKPOINT), false);

    for (uint64_t gap_ns = 1000; gap_ns < 2000000; gap_ns += 53000) {
        ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
        for (int i = 0; i < 5; i++) {
            ref_do(r, SSD_OP_SHUTDOWN, 0, 0, false);
            ref_pass(r, gap_ns);
        }
        ref_drain(r);
    }
    g_assert_cmpuint(r->n_completed[SSD_OP_SHUTDOWN], ==, 38 * 5);
    ref_free(r);
}

/* Superblocks are found again: over the planes of a die, and over dies. */
static void test_superblocks(void)
{
    static const char *const units[] = {
        SCAN "superblock.width=drive;",
        SCAN
        "superblock.width=die;nand.multi_plane=on;superblock.close_open=on;",
        CHECKPOINT "ftl.checkpoint_interval=10;superblock.width=drive;"
                   "nand.multi_plane=on;",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        g_autofree char *options = g_strconcat(
            TINY "nand.planes=2;ftl.alloc=in-order;ftl.op_percent=100;",
            units[i], NULL);

        cut_everywhere(&(Script){options, 14 + i, 220, 20, true, 1, 0});
    }
}

/* The map in NAND is found again: translation pages, and what they do not know.
 */
static void test_dftl_recovery(void)
{
    static const char *const recoveries[] = {
        "ftl.recovery=scan",
        "ftl.recovery=checkpoint;ftl.checkpoint_interval=9",
        "ftl.recovery=checkpoint;superblock.close_open=on",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(recoveries); i++) {
        g_autofree char *options =
            g_strconcat(TINY "nand.blocks=34;ftl.map=dftl;ftl.map_cache=128;",
                        recoveries[i], NULL);

        cut_everywhere(&(Script){options, 20 + i, 200, 20, true, 5, 0});
    }
}

static uint64_t map_programs(const Ref *r)
{
    return nand_stats(r->ssd->nand)->ops[NAND_PROGRAM][NAND_CAUSE_MAP];
}

/* A translation page is written once after a cut, if it did not know of what
 * was found: of a write, or of a TRIM that was flushed; and not again. */
static void behind(const char *recovery)
{
    g_autofree char *options =
        g_strconcat(TINY "nand.blocks=34;ftl.map=dftl;", recovery, NULL);
    Ref *r = ref_new(ref_config(options), true);

    ref_power_cycle(r); /* what was preloaded is known */
    ref_pass(r, 100000000);
    g_assert_cmpuint(map_programs(r), ==, 0);
    for (uint64_t i = 1; i <= 2; i++) {
        ref_one(r, i == 1 ? SSD_OP_WRITE : SSD_OP_TRIM, 0, UNIT, i == 1);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        g_assert_cmpuint(map_programs(r), ==, i - 1);
        for (int k = 0; k < 3; k++) {
            ref_power_cycle(r);
            ref_pass(r, 100000000);
            g_assert_cmpuint(map_programs(r), ==, i);
        }
    }
    g_assert_false(ssd_mapped(r->ssd, 0, NULL));
    ref_finish(r);
    ref_free(r);
}

static void test_dftl_behind(void)
{
    behind("ftl.recovery=scan");
    behind("ftl.recovery=checkpoint;ftl.checkpoint_interval=100000");
}

/* Blocks that were one superblock before a cut are one after it. */
static void test_superblocks_kept(void)
{
    Ref *r = ref_new(ref_config(TINY SCAN
                                "nand.planes=2;ftl.alloc=in-order;"
                                "superblock.width=drive;ftl.op_percent=160"),
                     false);
    unsigned n = 0;
    g_autofree uint32_t *was = g_new(uint32_t, r->ssd->geo->n_blocks);

    for (uint32_t i = 0; i < 12; i++) {
        ref_one(r, SSD_OP_WRITE, 8ULL * i * UNIT, 8 * UNIT, true);
    }
    memcpy(was, r->ssd->media->superblocks.next,
           r->ssd->geo->n_blocks * sizeof(*was));
    ref_power_cycle(r);
    for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
        g_assert_cmpuint(r->ssd->media->superblocks.next[b], ==, was[b]);
        n += was[b] != b;
    }
    g_assert_cmpuint(n, >=, 6);
    ref_finish(r);
    ref_free(r);
}

/* A trim that was not flushed may be lost with the power. */
static void test_trim_lost(void)
{
    Ref *r = ref_new(ref_config(TINY SCAN), false);

    ref_one(r, SSD_OP_WRITE, 0, UNIT, true);
    ref_one(r, SSD_OP_TRIM, 0, UNIT, false);
    g_assert_false(ssd_mapped(r->ssd, 0, NULL));
    ref_power_cycle(r);
    g_assert_true(ssd_mapped(r->ssd, 0, NULL));
    ref_one(r, SSD_OP_TRIM, 0, UNIT, false);
    ref_one(r, SSD_OP_SHUTDOWN, 0, 0, false);
    ref_power_cycle(r);
    g_assert_false(ssd_mapped(r->ssd, 0, NULL));
    ref_free(r);
}

/* A command that comes before the drive is ready waits for it. */
static void test_early_command(void)
{
    Ref *r = ref_new(ref_config(TINY SCAN), false);
    SsdCmd c = {.op = SSD_OP_READ, .nblocks = UNIT};
    SsdCompletion done;

    ref_one(r, SSD_OP_WRITE, 0, UNIT, true);
    ssd_power_cut(r->ssd, r->now_ns);
    ssd_power_on(r->ssd, r->now_ns);
    g_assert_false(ssd_ready(r->ssd));
    g_assert_cmpint(ssd_submit(r->ssd, r->now_ns, &c), ==, 0);
    g_assert_cmpuint(ssd_advance(r->ssd, r->now_ns + 100000000, &done, 1), ==,
                     1);
    g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
    g_assert_true(ssd_ready(r->ssd));
    g_assert_cmpuint(done.cost.firmware_ns, ==, ssd_recovery_ns(r->ssd));
    g_assert_cmpuint(done.cost.cell_ns, ==, 50000); /* it found the unit */
    ref_free(r);
}

/* Two dies, small units, a periodic flush. */
static void test_units(void)
{
    cut_everywhere(
        &(Script){TINY "nand.dies=2;ftl.unit=8KiB;buffer.flush_interval=700us",
                  3, 200, 20, true, 5, 0});
}

/* The drive moves data by itself, too. */
static void test_upkeep(void)
{
    cut_everywhere(
        &(Script){TINY "nand.blocks=28;nand.read=10us;nand.program=20us;"
                       "nand.erase=50us;ftl.gc_soft=18%;ftl.idle=5us;"
                       "ftl.gc_preempt=on;ftl.wear=static;ftl.wear_spread=1;"
                       "media.errors=on;media.base=1e-4;ftl.refresh_hours=1;"
                       "media.preload_hours=5;ftl.scan_interval=1ms",
                  4, 450, 20, true, 5, 2});
}

/* Translation pages are torn, too, and dirty entries of the map lost. */
static void test_dftl(void)
{
    cut_everywhere(
        &(Script){TINY "nand.blocks=60;nand.page_size=1KiB;ftl.unit=512;"
                       "nand.ecc_codeword=512;buffer.size=8KiB;"
                       "ftl.map=dftl;ftl.map_cache=64",
                  8, 150, 20, true, 0, 0});
    cut_everywhere(
        &(Script){TINY "nand.blocks=30;ftl.map=dftl;ftl.map_cache=128", 9, 250,
                  20, true, 10, 0});
}

/* Writes complete when they are programmed. */
static void test_at_program(void)
{
    cut_everywhere(&(Script){TINY "host.complete_at=program;host.queue_depth=4",
                             4, 150, 20, true, 5, 0});
}

/* The contents of the buffer are there: whole units, and parts whose rest was
 * being read from NAND. */
static void test_protected(void)
{
    cut_everywhere(&(Script){TINY "buffer.plp=on", 6, 150, 20, true, 5, 0});
    cut_everywhere(&(Script){TINY "buffer.plp=on;ftl.unit=16KiB;nand.read=2ms",
                             7, 100, 20, true, 0, 0});
}

/* Buffers that keep clean units, and flush early: every state of a slot. */
static void test_caches(void)
{
    for (int i = 0; buffer_policies[i]; i++) {
        g_autofree char *options = g_strconcat(
            TINY "ftl.unit=8KiB;buffer.early_threshold=10%;buffer.policy=",
            buffer_policies[i]->name, i % 2 ? ";buffer.free_at=data-in" : "",
            NULL);

        cut_everywhere(&(Script){options, 6 + (uint64_t)i, 120, 20, true, 2,
                                 0});
    }
}

/*
 * Power goes again and again while a full drive collects: each cut tears pages
 * of the block that GC fills.  The drive must go on, however often.
 */
static void storm(const char *options)
{
    g_autofree char *all = g_strconcat(TINY "ftl.op_percent=80;", options,
                                       NULL);
    Ref *r = ref_new(ref_config(all), true);
    Prng rng;

    prng_seed(&rng, 5, 1);
    for (int i = 0; i < 3000; i++) {
        for (uint64_t n = prng_below(&rng, 12); n > 0; n--) {
            uint64_t lba = prng_below(&rng, r->n_units) * r->unit_blocks;

            ref_submit(r, SSD_OP_WRITE, lba, r->unit_blocks, true);
        }
        ref_pass(r, prng_below(&rng, 6000000));
        ref_power_cycle(r);
    }
    for (int i = 0; i < 400; i++) {
        ref_do(r, SSD_OP_WRITE,
               prng_below(&rng, r->n_units) * r->unit_blocks, r->unit_blocks,
               true);
    }
    ref_finish(r);
    ref_free(r);
}

static void test_storm(void)
{
    storm("");
    storm("buffer.plp=on");
    storm("superblock.close_open=on");
    storm(
        "superblock.close_open=on;ftl.map=dftl;ftl.map_cache=64;nand.blocks=30;"
        "ftl.op_percent=110");
    storm("superblock.close_open=on;ftl.recovery=scan;nand.blocks=26;"
          "ftl.op_percent=110");
    storm("ftl.map=dftl;ftl.map_cache=64;nand.blocks=30;ftl.op_percent=110");
}

/* Log-block maps: merges of every kind are cut, too. */
static void test_logs(void)
{
    static const char *const maps[] = {
        "ftl.map=bast;ftl.log_blocks=1",
        "ftl.map=bast;ftl.log_blocks=3;ftl.unit=16KiB",
        "ftl.map=fast;ftl.log_blocks=2;ftl.unit=16KiB;nand.dies=2",
        "ftl.map=fast;ftl.log_blocks=4;buffer.plp=on",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(maps); i++) {
        g_autofree char *options = g_strconcat(TINY, maps[i], NULL);

        cut_everywhere(&(Script){options, 8 + i, 200, 20, i % 2 == 0, 10, 0});
    }
    storm("ftl.map=bast;ftl.log_blocks=2;ftl.op_percent=120");
    storm("ftl.map=fast;ftl.log_blocks=3;ftl.op_percent=120");
}

/* An array without time: everything happens at a few instants. */
static void test_zero(void)
{
    Script s = {
        "nand.blocks=18;nand.pages=4;ftl.op_percent=120;nand.read=0;"
        "nand.program=0;nand.erase=0;nand.command=0;nand.bus_ns_per_byte=0",
        5,
        400,
        50,
        true,
        20, 0};
    cut_everywhere(&s);
}

/* A drive that is cut while it is idle finds everything it had flushed. */
static void test_idle(void)
{
    Ref *r = ref_new(ref_config(TINY), false);

    for (uint32_t lpn = 0; lpn < r->n_units; lpn += 2) {
        ref_do(r, SSD_OP_WRITE, lpn * UNIT, UNIT, false);
    }
    ref_finish(r);
    ref_power_cycle(r);
    for (uint32_t lpn = 0; lpn < r->n_units; lpn++) {
        g_assert_cmpint(ssd_mapped(r->ssd, lpn * UNIT, NULL), ==, lpn % 2 == 0);
    }
    ref_free(r);
}

/*
 * A word line has three programs, and the power goes while writes are flushed
 * one by one.  Each unit is read: an error comes where a later page of its word
 * line was torn, and nowhere else.  How many of the units had been flushed.
 */
static unsigned lost_flushed(const char *options)
{
    g_autofree char *all = g_strconcat(
        TINY "nand.cell=tlc;nand.pages=12;nand.blocks=24;", options, NULL);
    unsigned n = 0;
    Prng rng;

    prng_seed(&rng, 3, 1);
    for (int i = 0; i < 150; i++) {
        Ref *r = ref_new(ref_config(all), false);
        uint64_t writes = 1 + prng_below(&rng, 60);

        r->faults = true;
        for (uint64_t k = 0; k < writes; k++) {
            SsdCompletion c = ref_one(r, SSD_OP_WRITE, k * UNIT, UNIT, false);

            g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
            c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
            g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
        }
        ref_do(r, SSD_OP_WRITE, 100 * UNIT, UNIT, true);
        ref_pass(r, prng_below(&rng, 900000));
        ref_power_cycle(r);
        for (uint64_t k = 0; k < writes; k++) {
            uint64_t entry = l2p_get(&r->ssd->l2p, k);
            bool lost = !map_is_buffered(entry) &&
                        nand_page_lost(r->ssd->nand,
                                       (NandPpa){ppu_page(r->ssd, entry - 1)});
            SsdCompletion c = ref_one(r, SSD_OP_READ, k * UNIT, UNIT, false);

            g_assert_cmpint(c.status, ==,
                            lost ? SSD_STATUS_UNRECOVERED_READ : SSD_STATUS_OK);
            n += lost;
            if (lost) { /* until it is written again */
                ref_one(r, SSD_OP_WRITE, k * UNIT, UNIT, true);
                c = ref_one(r, SSD_OP_READ, k * UNIT, UNIT, false);
                g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
            }
        }
        ref_finish(r);
        ref_free(r);
    }
    return n;
}

static void test_paired(void)
{
    static const char *const recoveries[] = {"", "ftl.recovery=scan;",
                                             "ftl.recovery=checkpoint;"};

    for (size_t i = 0; i < G_N_ELEMENTS(recoveries); i++) {
        g_autofree char *on =
            g_strconcat(recoveries[i], "media.paired_pages=on", NULL);
        g_autofree char *backup =
            g_strconcat(recoveries[i], "media.paired_pages=backup", NULL);
        unsigned n = lost_flushed(on);

        g_test_message("%s %u flushed units lost in 150 cuts", on, n);
        g_assert_cmpuint(n, >, 20);
        g_assert_cmpuint(lost_flushed(backup), ==, 0);
    }
    g_assert_cmpuint(lost_flushed("media.paired_pages=on;buffer.plp=on"), ==,
                     0);
}

/* Data that was never flushed is lost: the buffer does not survive. */
static void test_buffer_lost(void)
{
    Ref *r = ref_new(ref_config(TINY), false);

    ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
    g_assert_true(ssd_mapped(r->ssd, 0, NULL));
    ref_power_cycle(r);
    g_assert_false(ssd_mapped(r->ssd, 0, NULL));
    ref_free(r);
}

/* The same, and partial units, with a protected buffer: nothing is gone, a
 * flush takes no time, and trims hold. */
static void test_buffer_kept(void)
{
    Ref *r = ref_new(ref_config(TINY "buffer.plp=on"), true);
    uint64_t version;
    uint64_t start_ns;

    ref_one(r, SSD_OP_WRITE, 0, 2 * UNIT, false);
    ref_one(r, SSD_OP_WRITE, 5 * UNIT + 1, 2, false);
    ref_one(r, SSD_OP_TRIM, UNIT, UNIT, false);
    start_ns = r->now_ns;
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(r->now_ns - start_ns, ==, 3000); /* host.firmware */
    for (int i = 0; i < 3; i++) {
        ref_power_cycle(r);
        g_assert_true(ssd_mapped(r->ssd, 0, &version));
        g_assert_cmpuint(version, ==, 1);
        g_assert_false(ssd_mapped(r->ssd, UNIT, NULL));
        g_assert_true(ssd_mapped(r->ssd, 5 * UNIT, &version));
        g_assert_cmpuint(version, ==, 2);
    }
    ref_finish(r);
    ref_free(r);
}

/* A broken drive: data that it reported as flushed is lost. */
static void test_ignored_flush(void)
{
    Ref *r = ref_new(ref_config(TINY "buffer.ignore_flush=on"), false);
    SsdCmd c = {.op = SSD_OP_WRITE, .nblocks = UNIT, .version = 1,
                .fua = true};
    SsdCompletion done;

    g_assert_cmpint(ssd_submit(r->ssd, 0, &c), ==, 0);
    c.op = SSD_OP_FLUSH;
    g_assert_cmpint(ssd_submit(r->ssd, 0, &c), ==, 0);
    g_assert_cmpuint(ssd_advance(r->ssd, 1000000, &done, 1), ==, 1);
    g_assert_cmpuint(ssd_advance(r->ssd, 1000000, &done, 1), ==, 1);
    g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
    g_assert_true(ssd_mapped(r->ssd, 0, NULL));
    ssd_power_cut(r->ssd, 1000000);
    ssd_power_on(r->ssd, 1000000);
    g_assert_false(ssd_mapped(r->ssd, 0, NULL));
    ref_free(r);
}

/* ---- buffer.atomic --------------------------------------------------------
 */

#define WHOLE_BLOCKS 64 /* 32 KiB */
#define WHOLE_WRITES 1500

typedef struct Whole {
    Ssd *ssd;
    uint64_t at_ns[WHOLE_WRITES + 1]; /* of the first unit, by version */
    bool split[WHOLE_WRITES + 1];     /* others came at other instants */
    uint32_t nblocks[WHOLE_WRITES + 1];
    uint64_t n_running;
} Whole;

static void whole_safe(void *opaque, uint64_t lpn, uint64_t version)
{
    Whole *w = opaque;
    uint64_t now_ns = ssd_now_ns(w->ssd) + 1;

    w->split[version] |= w->at_ns[version] && w->at_ns[version] != now_ns;
    w->at_ns[version] = now_ns;
}

static void whole_lost(void *opaque, uint64_t lpn, uint64_t version)
{
    g_assert_not_reached(); /* the buffer is kept */
}

static void whole_run(Whole *w, uint64_t *now_ns)
{
    SsdCompletion done[8];
    size_t n;

    *now_ns = ssd_next_event_ns(w->ssd);
    g_assert_cmpuint(*now_ns, !=, SSD_TIME_NEVER);
    n = ssd_advance(w->ssd, *now_ns, done, G_N_ELEMENTS(done));
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpint(done[i].status, ==, SSD_STATUS_OK);
    }
    w->n_running -= n;
}

/* Writes of up to 64 KiB to a small buffer; how many of those up to 32 KiB, and
 * how many longer ones, became safe unit by unit. */
static void count_split(const char *options, unsigned split[2])
{
    static const SsdHostOps ops = {.programmed = whole_safe,
                                   .superseded = whole_lost};
    SsdConfig *cfg = ref_config(options);
    g_autofree Whole *w = g_new0(Whole, 1);
    GError *error = NULL;
    uint64_t now_ns = 0;
    Prng rng;

    prng_seed(&rng, 9, 1);
    w->ssd = ssd_create(cfg, &ops, w, &error);
    g_assert_no_error(error);
    for (uint64_t v = 1; v <= WHOLE_WRITES; v++) {
        uint32_t n = 1 + (uint32_t)prng_below(&rng, 2 * WHOLE_BLOCKS);
        SsdCmd c = {
            .tag = v % 8, .op = SSD_OP_WRITE, .version = v, .nblocks = n};

        c.lba = prng_below(&rng, ssd_info(w->ssd)->nblocks - n);
        w->nblocks[v] = n;
        while (w->n_running == 8) {
            whole_run(w, &now_ns);
        }
        c.tag = v;
        g_assert_cmpint(ssd_submit(w->ssd, now_ns, &c), ==, 0);
        w->n_running++;
    }
    while (w->n_running) {
        whole_run(w, &now_ns);
    }
    for (uint64_t v = 1; v <= WHOLE_WRITES; v++) {
        split[w->nblocks[v] > WHOLE_BLOCKS] += w->split[v];
    }
    ssd_destroy(w->ssd);
    ssd_config_free(cfg);
}

/* A power cut finds all of a write in the buffer, or nothing. */
static void test_whole(void)
{
    unsigned without[2] = {0};

    count_split(TINY "buffer.plp=on", without);
    g_assert_cmpuint(without[0], >, 100);
    for (int i = 0; buffer_policies[i]; i++) {
        g_autofree char *options =
            g_strconcat(TINY "buffer.plp=on;buffer.atomic=32KiB;"
                             "buffer.size=80KiB;buffer.policy=",
                        buffer_policies[i]->name, NULL);
        unsigned with[2] = {0};

        count_split(options, with);
        g_test_message("%s: %u of the longer ones", buffer_policies[i]->name,
                       with[1]);
        g_assert_cmpuint(with[0], ==, 0);
        g_assert_cmpuint(with[1], >, 0);
    }
}

/* A page is all of the buffer: room comes from short pages only. */
static void test_whole_pages(void)
{
    unsigned split[2] = {0};

    count_split(TINY "buffer.plp=on;buffer.atomic=32KiB;nand.page_size=64KiB",
                split);
    g_assert_cmpuint(split[0], ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/power/idle", test_idle);
    g_test_add_func("/power/buffer-lost", test_buffer_lost);
    g_test_add_func("/power/buffer-kept", test_buffer_kept);
    g_test_add_func("/power/ignored-flush", test_ignored_flush);
    g_test_add_func("/power/whole/policies", test_whole);
    g_test_add_func("/power/whole/short-pages", test_whole_pages);
    g_test_add_func("/power/paired", test_paired);
    g_test_add_func("/power/protected", test_protected);
    g_test_add_func("/power/fresh", test_fresh);
    g_test_add_func("/power/full", test_full);
    g_test_add_func("/power/scan/everywhere", test_scan);
    g_test_add_func("/power/checkpoint/everywhere", test_checkpoint);
    g_test_add_func("/power/checkpoint/ready", test_ready);
    g_test_add_func("/power/checkpoint/shutdowns", test_shutdowns);
    g_test_add_func("/power/checkpoint/time", test_checkpoint_time);
    g_test_add_func("/power/scan/time", test_scan_time);
    g_test_add_func("/power/scan/cpu-time", test_cpu_time);
    g_test_add_func("/power/close-open", test_close_open);
    g_test_add_func("/power/scan/trim-lost", test_trim_lost);
    g_test_add_func("/power/scan/early-command", test_early_command);
    g_test_add_func("/power/scan/recovery-cut", test_recovery_cut);
    g_test_add_func("/power/superblocks/everywhere", test_superblocks);
    g_test_add_func("/power/superblocks/kept", test_superblocks_kept);
    g_test_add_func("/power/units", test_units);
    g_test_add_func("/power/upkeep", test_upkeep);
    g_test_add_func("/power/caches", test_caches);
    g_test_add_func("/power/storm", test_storm);
    g_test_add_func("/power/dftl", test_dftl);
    g_test_add_func("/power/dftl-recovery", test_dftl_recovery);
    g_test_add_func("/power/dftl-behind", test_dftl_behind);
    g_test_add_func("/power/logs", test_logs);
    g_test_add_func("/power/at-program", test_at_program);
    g_test_add_func("/power/zero", test_zero);
    return g_test_run();
}
