/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slc-cache.c - the dynamic SLC cache against closed forms: its size by how
 * full the drive is, the rates before and after, its recovery in idle time, and
 * wear by mode.
 *
 * One plane for each die, TLC with one-shot programs: a block has WL word lines
 * of three pages, in SLC mode WL pages.  Blocks are of 512 bytes.
 */
#include <math.h>
#include <string.h>

#include "media/slc-cache.h"
#include "ref.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#define WL      8
#define PAGE    16384ULL
#define UNITS   4ULL /* of a page */
#define DIES    4
#define BLOCKS  200
#define GC_HIGH 3 /* 1.5 % */
#define MS      NS_PER_MS
#define SEC     NS_PER_S

/* Nothing but the array takes time that counts. */
#define DRIVE                                                                  \
    "nand.channels=4;nand.chips=1;nand.dies=1;nand.planes=1;nand.blocks=200;"  \
    "nand.cell=tlc;nand.pages=24;nand.page_size=16KiB;nand.one_shot=on;"       \
    "nand.bus_ns_per_byte=0;nand.command=0;nand.read=50us;nand.program=900us;" \
    "nand.slc_program=100us;nand.slc_read=20us;nand.erase=0;"                  \
    "ftl.op_percent=20%;buffer.size=768KiB;host.link_mb_s=0;host.firmware=0;"  \
    "buffer.access=0;host.queue_depth=32;ftl.slc_dynamic=30%;"                 \
    "ftl.slc_fold_at=0%;"

static Ref *drive(const char *more)
{
    g_autofree char *options = g_strconcat(DRIVE, more, NULL);

    return ref_new(ref_config(options), false);
}

/* Units [from, to), a page at a time; the time that it took. */
static uint64_t fill(Ref *r, uint64_t from, uint64_t to)
{
    uint64_t begin_ns = r->now_ns;

    for (uint64_t i = from; i < to; i += UNITS) {
        ref_do(r, SSD_OP_WRITE, i * r->unit_blocks,
               (uint32_t)(MIN(UNITS, to - i) * r->unit_blocks), false);
    }
    ref_drain(r);
    return r->now_ns - begin_ns;
}

/* Blocks of each plane that the dynamic part may have beside so many in the
 * native mode, which are `mapped` of the capacity: the definition, in floating
 * point.  GC_HIGH stay free. */
static uint32_t limit(double native, double mapped, double dynamic,
                      double share)
{
    return (uint32_t)fmin(fmin(floor(dynamic * BLOCKS),
                               floor((BLOCKS - native - GC_HIGH) * share)),
                          floor(BLOCKS * (1 - mapped) + 1e-9));
}

/* Units that the cache takes then. */
static uint64_t cache_units(double native, double mapped, double dynamic,
                            double share)
{
    return (uint64_t)limit(native, mapped, dynamic, share) * DIES * WL * UNITS;
}

/* Fast for the cache's size, smaller on a fuller drive, then direct. */
static void test_size(void)
{
    static const struct {
        const char *options;
        double dynamic, share, mapped;
    } rows[] = {
        {"", .3, 1, 0},
        {"", .3, 1, .5},
        {"", .3, 1, .9},
        {"ftl.slc_share=50%;", .3, .5, .5},
        {"ftl.slc_share=20%;", .3, .2, 0},
        {"ftl.slc_dynamic=100%;ftl.slc_share=30%;", 1, .3, .25},
        {"ftl.slc_dynamic=100%;ftl.slc_share=30%;", 1, .3, .75},
        {"ftl.slc_dynamic=5%;", .05, 1, .5},
        /* A third of all TLC, and of what is left of it. */
        {"ftl.slc_dynamic=100%;ftl.op_percent=7%;", 1, 1, 0},
        {"ftl.slc_dynamic=100%;ftl.op_percent=7%;", 1, 1, .4},
        {"ftl.slc_dynamic=93%;ftl.op_percent=7%;", .93, 1, 0},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        Ref *r = drive(rows[i].options);
        uint64_t from = (uint64_t)((double)r->n_units * rows[i].mapped);
        double native;
        uint64_t expect;

        from -= from % (DIES * WL * 3 * UNITS);
        native = (double)from / (DIES * WL * 3 * UNITS);
        for (uint64_t lpn = 0; lpn < from; lpn += UNITS) {
            g_assert_cmpint(ssd_preload(r->ssd, lpn * r->unit_blocks,
                                        UNITS * r->unit_blocks),
                            ==, 0);
        }
        expect = cache_units(native, (double)from / (double)r->n_units,
                             rows[i].dynamic, rows[i].share);
        g_assert_cmpuint(expect, >, 0);
        g_assert_cmpuint(slc_size(r->ssd).size, ==, expect / UNITS * PAGE);
        g_assert_cmpuint(slc_size(r->ssd).left, ==, expect / UNITS * PAGE);
        fill(r, from, MIN(r->n_units, from + expect + expect / 4));
        g_test_message("%s %.0f %% mapped: %" PRIu64 " units in the cache",
                       rows[i].options, rows[i].mapped * 100,
                       r->ssd->inspect.count.slc_host_units);
        g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, ==, expect);
        g_assert_true(ssd_check(r->ssd, NULL));
        ref_free(r); /* which does not know what was preloaded */
    }
}

/* The first unit of the cache that is still in it; all before are not, and all
 * behind up to `to` are. */
static uint64_t first_cached(const Ref *r, uint64_t to)
{
    uint64_t first = to;

    for (uint64_t lpn = to; lpn-- > 0;) {
        uint64_t entry = l2p_get(&r->ssd->l2p, lpn);
        bool slc = entry && !map_is_buffered(entry) &&
                   nand_block_is_slc(r->ssd->geo, ppu_block(r->ssd, entry - 1));

        if (slc) {
            g_assert_cmpuint(first, ==, lpn + 1);
            first = lpn;
        }
    }
    return first;
}

/*
 * A drive that is written from end to end: the cache, then direct, both without
 * folding; then folding as far as the room is needed.  n blocks in SLC mode and
 * (data of a plane / block - n / 3) others are all but those that GC keeps
 * free, so when all of the capacity is written
 *
 *     n = (blocks - free - data / block) * 3 / 2
 *
 * blocks of the cache are left, the newest ones.
 */
static void test_shrinks(void)
{
    Ref *r = drive("ftl.op_percent=7%;");
    uint64_t cache = cache_units(0, 0, .3, 1);
    double blocks = (double)r->n_units / DIES / (WL * 3 * UNITS);
    uint64_t direct = cache + (uint64_t)(BLOCKS - GC_HIGH - .3 * BLOCKS) *
                                  DIES * WL * 3 * UNITS;
    double left = (BLOCKS - GC_HIGH - blocks) * 1.5;

    fill(r, 0, direct);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folds_demand, ==, 0);
    g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, ==, cache);
    g_assert_cmpuint(first_cached(r, cache), ==, 0);
    fill(r, direct, r->n_units);
    g_test_message("%u blocks of plane 0 in SLC mode of %.0f, %.1f expected",
                   r->ssd->media->plane[0].n_slc, .3 * BLOCKS, left);
    for (uint32_t i = 0; i < DIES; i++) {
        g_assert_cmpfloat(fabs(r->ssd->media->plane[i].n_slc - left), <, 3);
    }
    g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, ==, cache);
    g_assert_cmpuint(first_cached(r, cache), >, 0);
    g_assert_true(ssd_check(r->ssd, NULL));
    ref_finish(r);
    ref_free(r);
}

/*
 * Folding under pressure: three blocks of the cache give two to the host, and
 * take one.  So for each word line of the host half a one is folded.
 */
static void test_pressure(void)
{
    Ref *r = drive("ftl.op_percent=7%;ftl.slc_dynamic=93%;");
    uint64_t cache = cache_units(0, 0, .93, 1);
    const uint64_t lines = 3000;
    double expect = (double)lines / DIES * (900e3 + (3 * 20e3 + 900e3) / 2);
    uint64_t from = cache + 4 * DIES * WL * 3 * UNITS * GC_HIGH;
    uint64_t ns;

    fill(r, 0, from);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folds_demand, >, 0);
    ns = fill(r, from, from + lines * 3 * UNITS);
    g_test_message("under pressure %.3f ms, expected %.3f", (double)ns / 1e6,
                   expect / 1e6);
    g_assert_cmpfloat(fabs((double)ns - expect), <, expect * .05);
    g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, ==, cache);
    ref_finish(r);
    ref_free(r);
}

/* A read of data in the cache takes tR of SLC mode, and that of the other mode
 * when it has been folded. */
static void test_read(void)
{
    Ref *r = drive("ftl.slc_fold_delay=1ms;");
    uint64_t begin_ns;

    r->polling = REF_POLL_EVENTS;
    fill(r, 0, 3 * DIES * WL * UNITS);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    begin_ns = r->now_ns;
    ref_one(r, SSD_OP_READ, 0, (uint32_t)r->unit_blocks, false);
    g_assert_cmpuint(r->now_ns - begin_ns, ==, 20 * NS_PER_US);
    ref_pass(r, SEC);
    g_assert_cmpuint(slc_size(r->ssd).used, ==, 0);
    begin_ns = r->now_ns;
    ref_one(r, SSD_OP_READ, 0, (uint32_t)r->unit_blocks, false);
    g_assert_cmpuint(r->now_ns - begin_ns, ==, 50 * NS_PER_US);
    ref_finish(r);
    ref_free(r);
}

/* SLC programs before, one-shot programs after: each die is always busy. */
static void test_rate(void)
{
    Ref *r = drive("");
    uint64_t cache = cache_units(0, 0, .3, 1);
    uint64_t ns = fill(r, 0, cache);
    double expect = (double)(cache / UNITS / DIES) * 100e3;

    g_test_message("in the cache %.3f ms, expected %.3f", (double)ns / 1e6,
                   expect / 1e6);
    /* Completion is at the buffer, so the last 48 pages are not in it. */
    g_assert_cmpfloat(fabs((double)ns + 12 * 100e3 - expect), <, expect * .03);
    ns = fill(r, cache, cache + 3 * 600 * UNITS);
    expect = 600.0 / DIES * 900e3;
    g_test_message("after it %.3f ms, expected %.3f", (double)ns / 1e6,
                   expect / 1e6);
    g_assert_cmpfloat(fabs((double)ns - expect), <, expect * .03);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folds_demand, ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* The host waits for folding while a drive without room is written: a word
 * line takes three SLC programs, and those that are folded are half as many
 * again, as three blocks of the cache give two to the host. */
static void test_fold_pressure(void)
{
    Ref *r = drive("ftl.op_percent=7%;ftl.slc_dynamic=93%;ftl.slc_fold_at=10%;"
                   "ftl.slc_when_full=fold;");
    uint64_t cache = cache_units(0, 0, .93, 1);
    const uint64_t lines = 3000;
    double expect =
        (double)lines / DIES * (3 * 100e3 + 1.5 * (3 * 20e3 + 900e3));
    uint64_t from = cache + 1000 * UNITS;
    uint64_t ns;

    fill(r, 0, from);
    ns = fill(r, from, from + lines * 3 * UNITS);
    g_test_message("folding without room %.3f ms, expected %.3f",
                   (double)ns / 1e6, expect / 1e6);
    g_assert_cmpfloat(fabs((double)ns - expect), <, expect * .05);
    g_assert_cmpuint(r->ssd->inspect.count.slc_direct_units, ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* Folding on demand ends where it began: the share of ftl.slc_fold_at is
 * left, whatever the host has written. */
static void test_fold_at(void)
{
    Ref *r = drive("ftl.slc_fold_at=25%;");
    uint64_t cache = cache_units(0, 0, .3, 1);
    SlcSize s;

    fill(r, 0, cache * 3 / 4 - 40 * UNITS);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folds_demand, ==, 0);
    for (int i = 0; i < 4; i++) {
        fill(r, i * cache, (i + 1) * cache);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        ref_pass(r, SEC);
        s = slc_size(r->ssd);
        g_test_message("%" PRIu64 " of %" PRIu64 " left", s.left, s.size);
        g_assert_cmpfloat(fabs((double)s.left / (double)s.size - .25), <, .03);
    }
    g_assert_cmpuint(r->ssd->inspect.count.slc_direct_units, ==, 0);
    ref_finish(r);
    ref_free(r);
}

/*
 * ftl.slc_when_full=fold: each unit is programmed in SLC mode, read and
 * programmed again: per word line of three pages three SLC programs, three SLC
 * reads and a one-shot program, one after the other on its die.
 */
static void test_fold_rate(void)
{
    Ref *r = drive("ftl.slc_fold_at=30%;ftl.slc_when_full=fold;");
    const uint64_t lines = 1500;
    double expect = (double)lines / DIES * (3 * 100e3 + 3 * 20e3 + 900e3);
    uint64_t cache = cache_units(0, 0, .3, 1);
    uint64_t ns;

    fill(r, 0, 2 * cache);
    ns = fill(r, 2 * cache, 2 * cache + lines * 3 * UNITS);
    g_test_message("folding %.3f ms, expected %.3f", (double)ns / 1e6,
                   expect / 1e6);
    g_assert_cmpfloat(fabs((double)ns - expect), <, expect * .1);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folds_demand, >, 100);
    g_assert_cmpuint(r->ssd->inspect.count.slc_direct_units, ==, 0);
    ref_finish(r);
    ref_free(r);
}

static uint64_t folded(const Ref *r)
{
    return r->ssd->inspect.count.slc_folds_idle;
}

/* The cache is whole again after the time that its word lines take; half of it
 * after half of that.  The data is read while another page is programmed. */
static void recovery(const char *options, uint64_t delay_ms, uint64_t part)
{
    Ref *r = drive(options);
    uint64_t cache = cache_units(0, 0, .3, 1) / part;
    uint64_t blocks = cache / UNITS / WL;
    double all = (double)(cache / UNITS / 3 / DIES) * (900e3 + 3 * 20e3);
    SlcSize s;

    r->polling = REF_POLL_EVENTS;
    fill(r, 0, cache);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(r->ssd->media->plane[0].n_slc, ==, blocks / DIES);
    ref_pass(r, (delay_ms - 1) * MS);
    g_assert_cmpuint(folded(r), ==, 0);
    ref_pass(r, 1 * MS + (uint64_t)(all / 2));
    g_test_message("half of %.1f ms: %" PRIu64 " of %" PRIu64 " blocks",
                   all / 1e6, folded(r), blocks);
    g_assert_cmpfloat(fabs((double)folded(r) - (double)blocks / 2), <,
                      (double)blocks * .05);
    ref_pass(r, (uint64_t)(all * .53));
    g_assert_cmpuint(folded(r), ==, blocks);
    s = slc_size(r->ssd);
    g_assert_cmpuint(s.used, ==, 0);
    g_assert_cmpuint(s.left, ==, s.size);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folded_units, ==, cache);
    ref_finish(r);
    ref_free(r);
}

/* A drive of a quarter of the blocks, with all dies and a quarter of the delay:
 * the same share of its cache is folded in a quarter of the time. */
static void test_recovery(void)
{
    recovery("ftl.slc_fold_delay=20ms;", 20, 1);
    recovery("ftl.slc_fold_delay=5ms;nand.blocks=50;", 5, 4);
}

/* Idle time gives back the cache of a drive that was written from end to end
 * and trimmed: blocks without data become free. */
static void test_trim(void)
{
    Ref *r = drive("ftl.slc_fold_delay=5ms;ftl.op_percent=7%;");
    SlcSize s;

    r->polling = REF_POLL_EVENTS;
    fill(r, 0, r->n_units);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_one(r, SSD_OP_TRIM, 0, (uint32_t)(r->n_units * r->unit_blocks), false);
    ref_pass(r, 4 * MS);
    g_assert_cmpuint(slc_size(r->ssd).left, <, PAGE * WL * DIES * 3);
    ref_pass(r, SEC);
    s = slc_size(r->ssd);
    g_assert_cmpuint(s.size, ==, cache_units(1, 0, .3, 1) / UNITS * PAGE);
    /* A block of each plane may wait for others, whose units fill its page. */
    g_assert_cmpuint(s.used, <=, DIES * WL * PAGE);
    g_assert_cmpuint(s.left + s.used, ==, s.size);
    g_assert_true(ssd_check(r->ssd, NULL));
    ref_finish(r);
    ref_free(r);
}

/* A host that comes back stops the work, and the cache is used as far as it is
 * free. */
static void test_pause(void)
{
    Ref *r = drive("ftl.slc_fold_delay=5ms;");
    uint64_t cache = cache_units(0, 0, .3, 1);
    uint64_t done;

    r->polling = REF_POLL_EVENTS;
    fill(r, 0, cache);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_pass(r, 50 * MS);
    done = folded(r);
    g_assert_cmpuint(done, >, 0);
    for (int i = 0; i < 50; i++) {
        ref_one(r, SSD_OP_READ, 0, 8, false);
        ref_pass(r, 4 * MS);
    }
    /* What had been begun. */
    g_assert_cmpuint(folded(r), <=, done + DIES);
    ref_pass(r, 20 * MS);
    g_assert_cmpuint(folded(r), >, done + DIES);
    ref_finish(r);
    ref_free(r);
}

/* Erases by mode, and what percent_used makes of them. */
static void test_wear(void)
{
    Ref *r = drive("media.rated_cycles=30;media.slc_rated_cycles=60;"
                   "ftl.slc_fold_delay=1ms;");
    double cycles = 0;
    SsdCounters c;
    uint64_t slc = 0;

    r->polling = REF_POLL_EVENTS;
    for (int round = 0; round < 40; round++) {
        fill(r, 0, 400 * UNITS);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        ref_pass(r, SEC);
    }
    for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
        uint32_t n = nand_slc_erases(r->ssd->nand, b);

        slc += n;
        g_assert_cmpuint(nand_wear_cycles(r->ssd->nand, b), ==,
                         nand_erase_count(r->ssd->nand, b) - n + n / 2);
        cycles += nand_erase_count(r->ssd->nand, b) - n + n / 2;
    }
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(slc, >, 100);
    g_assert_cmpuint(slc, ==, nand_stats(r->ssd->nand)->slc_erases);
    g_assert_cmpuint(c.percent_used, ==,
                     (uint64_t)(cycles / r->ssd->geo->n_blocks * 100 / 30));
    ref_finish(r);
    ref_free(r);
}

/* ---- ftl.slc_streams ----------------------------------------------------- */

/* Of the units of each stream those that are in blocks in SLC mode; all are in
 * NAND. */
static void count_modes(const Ref *r, uint32_t streams, uint64_t *slc,
                        uint64_t *all)
{
    memset(slc, 0, streams * sizeof(*slc));
    memset(all, 0, streams * sizeof(*all));
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        uint64_t entry = l2p_get(&r->ssd->l2p, lpn);

        if (entry) {
            uint32_t stream = (uint32_t)(lpn / UNITS % streams);

            g_assert_false(map_is_buffered(entry));
            all[stream]++;
            slc[stream] +=
                nand_block_is_slc(r->ssd->geo, ppu_block(r->ssd, entry - 1));
        }
    }
}

/* So many pages of each stream, by turns. */
static void fill_streams(Ref *r, uint32_t streams, uint64_t pages)
{
    for (uint64_t i = 0; i < pages * streams; i++) {
        r->stream = (uint16_t)(i % streams);
        ref_do(r, SSD_OP_WRITE, i * UNITS * r->unit_blocks,
               (uint32_t)(UNITS * r->unit_blocks), false);
    }
    r->stream = 0;
    ref_drain(r);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
}

/* Streams go where the option says, to the unit. */
static void test_streams(void)
{
    static const struct {
        const char *options;
        uint32_t streams;
        uint32_t mask;
    } rows[] = {
        {"streams.max=3;ftl.slc_streams=all;", 4, 0xf},
        {"streams.max=3;ftl.slc_streams=none;", 4, 0},
        {"streams.max=3;ftl.slc_streams=default;", 4, 1},
        {"streams.max=3;ftl.slc_streams=0/2-3;", 4, 0xd},
        {"streams.max=3;ftl.slc_streams=1;nand.slc_blocks=20;"
         "ftl.slc_dynamic=0;",
         4, 2},
        {"fdp.ruhs=3;ftl.slc_streams=2;", 3, 4},
        {"fdp.ruhs=2;fdp.groups=2;ftl.slc_streams=1;", 2, 2},
        {"streams.max=1;ftl.slc_streams=default;nand.planes=2;"
         "nand.channels=2;nand.multi_plane=on;superblock.row=die;",
         2, 1},
    };
    const uint64_t pages = 3 * WL * DIES * 2;

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *options =
            g_strconcat(rows[i].options, "ftl.op_percent=40%", NULL);
        Ref *r = drive(options);
        uint64_t slc[4], all[4];
        uint64_t cached = 0;

        fill_streams(r, rows[i].streams, pages);
        count_modes(r, rows[i].streams, slc, all);
        for (uint32_t k = 0; k < rows[i].streams; k++) {
            g_assert_cmpuint(all[k], ==, pages * UNITS);
            g_assert_cmpuint(slc[k], ==,
                             rows[i].mask >> k & 1 ? pages * UNITS : 0);
            cached += slc[k];
        }
        g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, ==, cached);
        g_assert_cmpuint(r->ssd->inspect.count.slc_direct_units, ==,
                         rows[i].streams * pages * UNITS - cached);
        ref_finish(r);
        ref_free(r);
    }
}

/* With ftl.hot_cold the cache can be for the hot stream alone. */
static void test_hot(void)
{
    Ref *r = drive("ftl.hot_cold=on;ftl.slc_streams=1;ftl.op_percent=40%;");
    const uint64_t cold = 2000 * UNITS;
    uint64_t slc, all, hot;

    fill(r, 0, cold);
    hot = r->ssd->inspect.count.slc_host_units;
    for (int i = 0; i < 50; i++) {
        fill(r, 0, 40 * UNITS);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    }
    g_assert_cmpuint(hot, ==, 0);
    g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, >,
                     40ULL * 40 * UNITS);
    g_assert_cmpuint(r->ssd->inspect.count.slc_direct_units, <,
                     cold + 10 * 40 * UNITS);
    count_modes(r, 1, &slc, &all);
    g_assert_cmpuint(slc, ==, 40 * UNITS);
    ref_finish(r);
    ref_free(r);
}

/* Only streams that use the cache wait for folding: the others write at the
 * rate of one-shot programs, and not a unit of the first goes past the cache.
 */
static void stream_fold(const char *options)
{
    g_autofree char *all =
        g_strconcat("streams.max=1;ftl.slc_streams=0;ftl.slc_fold_at=30%;"
                    "ftl.slc_when_full=fold;ftl.op_percent=40%;",
                    options, NULL);
    Ref *r = drive(all);
    uint64_t cache = cache_units(0, 0, .3, 1);
    uint64_t half = 2 * cache + cache % UNITS;

    fill(r, 0, half);
    r->stream = 1;
    fill(r, half, half + cache / 2);
    for (uint64_t i = 0; i < cache / UNITS; i++) {
        r->stream = (uint16_t)(i % 2);
        ref_do(r, SSD_OP_WRITE,
               ((i % 2) * half + i / 2 * UNITS) * r->unit_blocks,
               (uint32_t)(UNITS * r->unit_blocks), false);
    }
    ref_drain(r);
    r->stream = 0;
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(r->ssd->inspect.count.slc_folds_demand, >, 0);
    g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, ==,
                     half + cache / UNITS / 2 * UNITS);
    g_assert_cmpuint(r->ssd->inspect.count.slc_direct_units, ==,
                     cache / 2 / UNITS * UNITS + cache / UNITS / 2 * UNITS);
    ref_finish(r);
    ref_free(r);
}

static void test_stream_fold(void)
{
    stream_fold("");
    stream_fold("ftl.alloc=in-order;");
    stream_fold("nand.planes=2;nand.channels=2;nand.multi_plane=on;"
                "superblock.row=die;");
}

/* Random writes, trims and power cuts over a drive whose cache comes and goes;
 * the map found in three ways. */
static void test_cuts(void)
{
    static const char *const options[] = {
        "ftl.slc_fold_delay=3ms;",
        "ftl.recovery=scan;ftl.slc_fold_delay=3ms;",
        "ftl.recovery=checkpoint;ftl.slc_when_full=fold;ftl.slc_fold_at=40%;",
        "nand.slc_blocks=6;ftl.slc_fold_delay=3ms;media.errors=on;",
        "nand.planes=2;nand.channels=2;nand.multi_plane=on;superblock.row=die;"
        "ftl.slc_fold_delay=3ms;nand.slc_blocks=3;",
        "ftl.slc_dynamic=80%;superblock.width=die;nand.planes=2;nand.channels="
        "2;"
        "nand.multi_plane=on;streams.max=2;ftl.op_percent=40%;",
        "streams.max=2;ftl.slc_streams=0/2;ftl.op_percent=40%;"
        "nand.slc_blocks=3;ftl.slc_fold_delay=3ms;",
        "streams.max=2;ftl.slc_streams=default;ftl.op_percent=40%;"
        "ftl.slc_when_full=fold;ftl.slc_fold_at=40%;ftl.recovery=scan;",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        Ref *r = drive(options[i]);
        uint64_t opened = 0;
        Prng rng;

        prng_seed(&rng, i, 9);
        for (int cut = 0; cut < 12; cut++) {
            for (int k = 0; k < 600; k++) {
                uint64_t unit = prng_below(&rng, r->n_units - UNITS);

                r->stream = (uint16_t)(unit % r->info->nstreams);
                ref_do(r, prng_below(&rng, 20) ? SSD_OP_WRITE : SSD_OP_TRIM,
                       unit * r->unit_blocks, 4 * r->unit_blocks, false);
            }
            if (cut % 3 == 0) {
                ref_drain(r);
            }
            ref_pass(r, prng_below(&rng, 30 * MS));
            ref_power_cycle(r);
        }
        opened = r->ssd->inspect.count.slc_host_units;
        g_assert_cmpuint(opened, >, 1000);
        ref_finish(r);
        ref_free(r);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/slc/size", test_size);
    g_test_add_func("/slc/shrinks", test_shrinks);
    g_test_add_func("/slc/rate", test_rate);
    g_test_add_func("/slc/pressure", test_pressure);
    g_test_add_func("/slc/read", test_read);
    g_test_add_func("/slc/fold-rate", test_fold_rate);
    g_test_add_func("/slc/fold-pressure", test_fold_pressure);
    g_test_add_func("/slc/fold-at", test_fold_at);
    g_test_add_func("/slc/recovery", test_recovery);
    g_test_add_func("/slc/trim", test_trim);
    g_test_add_func("/slc/pause", test_pause);
    g_test_add_func("/slc/wear", test_wear);
    g_test_add_func("/slc/streams", test_streams);
    g_test_add_func("/slc/streams-hot", test_hot);
    g_test_add_func("/slc/streams-fold", test_stream_fold);
    g_test_add_func("/slc/cuts", test_cuts);
    return g_test_run();
}
