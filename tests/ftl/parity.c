/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parity.c - superblock.parity: parity across dies, against closed forms.
 *
 * With ref_config(): firmware F = 3000, command C = 200, tR = 50000, a unit
 * over the bus U = 10240 ns; a page holds four units.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "gc/gc-internal.h"
#include "journal/journal.h"
#include "media/media-internal.h"
#include "media/parity.h"
#include "nand-rber.h"
#include "ref-times.h"
#include "ssd-internal.h"
#include "ssd-purge.h"

#define MS NS_PER_MS

/* Four dies, each on a channel of its own, or on two. */
#define ARRAY                                                                  \
    "nand.chips=1;nand.blocks=40;nand.pages=16;nand.page_size=16KiB;"          \
    "ftl.op_percent=60%;buffer.size=1MiB;host.queue_depth=32;"                 \
    "superblock.width=drive;"
#define FOUR ARRAY "nand.channels=4;nand.dies=1;nand.planes=1;superblock.row=4;"
#define TWO_BY_TWO                                                             \
    ARRAY "nand.channels=2;nand.dies=2;nand.planes=1;superblock.row=4;"
#define PLANES                                                                 \
    ARRAY "nand.channels=2;nand.dies=2;nand.planes=2;nand.multi_plane=on;"     \
          "superblock.row=8;"

/* Parity in one die of a superblock. */
#define PARITY "superblock.parity=on;"

/* A drive; rules: of scripted faults, or NULL. */
static Ref *drive(const char *options, const char *rules, bool preload)
{
    g_autofree char *path = rules ? ref_faults_file(rules) : NULL;
    g_autofree char *all = rules
                               ? g_strdup_printf("%s;faults=%s", options, path)
                               : g_strdup(options);
    Ref *r = ref_new(ref_config(all), preload);

    r->faults = rules != NULL;
    if (path) {
        g_unlink(path);
    }
    return r;
}

static void fill(Ref *r)
{
    uint64_t step = 4 * UNIT;

    for (uint64_t lba = 0; lba + step <= r->n_units * UNIT; lba += step) {
        ref_do(r, SSD_OP_WRITE, lba, (uint32_t)step, false);
    }
    ref_drain(r);
    ref_pass(r, 50 * MS);
}

static void overwrite(Ref *r, unsigned n, uint64_t seed)
{
    Prng rng;

    prng_seed(&rng, seed, 7);
    for (unsigned i = 0; i < n && !r->stopped; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
               false);
    }
    ref_drain(r);
    ref_pass(r, 50 * MS);
}

static uint64_t count(const Ref *r, const char *member)
{
    return stat_of(r->ssd, "\"parity\":", member);
}

/* Where the unit is in NAND. */
static uint64_t page_of(const Ref *r, uint64_t lpn)
{
    uint64_t entry = l2p_get(&r->ssd->l2p, lpn);

    g_assert_true(entry && !map_is_buffered(entry));
    return ppu_page(r->ssd, entry - 1);
}

static uint32_t die_of(const Ref *r, uint64_t lpn)
{
    return block_plane(r->ssd, page_block(r->ssd, page_of(r, lpn))) /
           r->ssd->geo->planes_per_die;
}

/* ---- purge --------------------------------------------------------------- */

/* Every block is erased while the host writes; its data, and that of dies which
 * hold parity, moves. */
static void purge(const char *options, uint32_t writes)
{
    g_autofree char *all = g_strdup_printf("%sftl.op_percent=100", options);
    Ref *r = drive(all, NULL, false);
    unsigned ms = 0;

    fill(r);
    overwrite(r, 3000, 1);
    g_assert_true(ssd_can_purge(r->ssd));
    ssd_purge(r->ssd, r->now_ns);
    while (ssd_purge_progress(r->ssd).left > 0) {
        g_assert_cmpuint(ms++, <, 20000);
        overwrite(r, writes, ms);
        ref_pass(r, MS);
    }
    g_assert_false(ssd_purge_progress(r->ssd).failed);
    g_test_message("purged in %u ms", ms);
    ssd_purge_stop(r->ssd);
    ref_verify(r);
    ref_finish(r);
    ref_free(r);
}

static void test_purge(void)
{
    purge(FOUR PARITY, 0);
    purge(FOUR "superblock.width=2;" PARITY, 20);
    purge(PLANES PARITY, 0);
    purge(PLANES "superblock.width=4;" PARITY, 20);
    purge(TWO_BY_TWO PARITY "streams.max=1;", 100);
}

/* ---- writes -------------------------------------------------------------- */

/* Whole stripes: N / (N - 1) programs for each page of data, in whole rows. */
static void writes(const char *options, uint32_t n)
{
    g_autofree char *all = g_strconcat(options, PARITY, NULL);
    Ref *r = drive(all, NULL, false);
    uint64_t row = r->info->program_bytes / r->info->page_bytes;
    uint64_t rows = 40;

    for (uint64_t i = 0; i < rows * row; i++) {
        ref_do(r, SSD_OP_WRITE, i * 4 * UNIT, 4 * UNIT, false);
    }
    ref_drain(r);
    ref_pass(r, 50 * MS);
    g_assert_cmpuint(count(r, "pages") * (n - 1), ==, rows * row);
    g_assert_cmpuint(stat_of(r->ssd, "\"nand\":", "programs") * (n - 1), ==,
                     rows * row * n);
    g_assert_cmpuint(count(r, "short_stripes"), ==, 0);
    g_assert_cmpuint(count(r, "open_stripes"), ==, 0);
    g_assert_cmpuint(stat_of(r->ssd, "\"rows\":", "filled"), ==, rows);
    ref_finish(r);
    ref_free(r);
}

static void test_writes(void)
{
    writes(FOUR, 4);
    writes(FOUR "superblock.width=2;", 2);
    writes(TWO_BY_TWO, 4);
    writes(PLANES, 4);
    writes(PLANES "superblock.width=4;", 2);
}

/* Parity goes by one command of its die's planes, as data does. */
static void test_multi_plane(void)
{
    Ref *r = drive(PLANES PARITY, NULL, false);

    fill(r);
    g_assert_cmpuint(stat_of(r->ssd, "\"multi_plane\":", "programs"), ==,
                     stat_of(r->ssd, "\"nand\":", "programs"));
    ref_finish(r);
    ref_free(r);
}

/* The share of parity comes out of the capacity. */
static void test_capacity(void)
{
    Ref *off = drive(FOUR, NULL, false);
    Ref *on = drive(FOUR PARITY, NULL, false);
    uint64_t want = off->info->nblocks * 3 / 4;

    g_assert_cmpuint(on->info->nblocks, <=, want);
    g_assert_cmpuint(on->info->nblocks + 2 * UNIT, >=, want);
    ref_free(off);
    ref_free(on);
}

/* GC keeps stripes whole: blocks of a superblock are erased together. */
static void test_gc(void)
{
    Ref *r = drive(PLANES PARITY, NULL, true);

    overwrite(r, 12000, 1);
    g_assert_cmpuint(stat_of(r->ssd, "\"nand\":", "erases"), >, 200);
    g_assert_cmpuint(count(r, "early_erases"), ==, 0);
    g_assert_cmpuint(count(r, "unprotected_units"), ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* ---- rebuilding ---------------------------------------------------------- */

/* A read that fails takes as long as that of the other pages, at once, more. */
static void latency_of(const char *options, uint64_t more)
{
    g_autofree char *all = g_strconcat(options, PARITY, NULL);
    Ref *good = drive(all, NULL, false);
    Ref *bad = drive(all, "on=read lba=80 -> uncorrectable", false);
    SsdCompletion a, b;

    fill(good);
    fill(bad);
    a = ref_one(good, SSD_OP_READ, 80, UNIT, false);
    b = ref_one(bad, SSD_OP_READ, 80, UNIT, false);
    g_assert_cmpint(a.status, ==, SSD_STATUS_OK);
    g_assert_cmpint(b.status, ==, SSD_STATUS_OK);
    g_assert_cmpuint(latency(&b) - latency(&a), ==, more);
    g_assert_cmpuint(count(bad, "rebuild_reads"), ==, 3);
    g_assert_cmpuint(count(bad, "rebuilt_reads"), ==, 1);
    g_assert_cmpuint(count(bad, "lost_reads"), ==, 0);
    ref_free(good);
    ref_free(bad);
}

static void test_latency(void)
{
    latency_of(FOUR, C + TR + U);
    /* Two of the other dies share a channel: their data follow each other. */
    latency_of(TWO_BY_TWO, C + TR + 2 * U);
}

/* Without parity, and with it if two pages of a stripe fail, data is lost. */
static void test_lost(void)
{
    Ref *off = drive(FOUR, "on=read lba=80 -> uncorrectable", false);
    Ref *r = drive(FOUR PARITY,
                   "on=read die=0 -> uncorrectable\n"
                   "on=read die=2 -> uncorrectable\n",
                   false);
    unsigned lost = 0;

    fill(off);
    g_assert_cmpint(ref_one(off, SSD_OP_READ, 80, UNIT, false).status, ==,
                    SSD_STATUS_UNRECOVERED_READ);
    ref_free(off);
    fill(r);
    for (uint64_t lpn = 0; lpn < r->n_units / 4 * 4; lpn++) {
        uint32_t die = die_of(r, lpn);
        SsdCompletion c = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);

        g_assert_cmpint(c.status, ==,
                        die == 0 || die == 2 ? SSD_STATUS_UNRECOVERED_READ
                                             : SSD_STATUS_OK);
        lost += c.status != SSD_STATUS_OK;
    }
    g_assert_cmpuint(lost, >, 0);
    g_assert_cmpuint(count(r, "lost_reads"), ==, lost);
    ref_free(r);
}

/* What parity.c says of each unit is what a read finds when its page fails. */
static unsigned read_all(Ref *r)
{
    uint64_t other[SSD_MOST_ROW_PLANES];
    unsigned lost = 0;
    uint32_t n;

    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        uint64_t entry = l2p_get(&r->ssd->l2p, lpn);
        bool fails, covered;
        SsdCompletion c;

        if (entry == 0 || map_is_buffered(entry)) {
            continue;
        }
        fails = die_of(r, lpn) == 1;
        covered = parity_others(r->ssd, page_of(r, lpn), other, &n);
        c = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);
        g_assert_cmpint(c.status, ==,
                        fails && !covered ? SSD_STATUS_UNRECOVERED_READ
                                          : SSD_STATUS_OK);
        lost += c.status != SSD_STATUS_OK;
    }
    return lost;
}

/* All reads of a die fail: after any load, all but late pages are rebuilt. */
static void test_die(void)
{
    Ref *r = drive(PLANES PARITY,
                   "die=1 on=read time=1000s -> "
                   "uncorrectable",
                   true);

    overwrite(r, 8000, 2);
    ref_pass(r, 1100000 * MS);
    g_assert_cmpuint(read_all(r), <=, 4 * count(r, "late_pages"));
    g_assert_cmpuint(count(r, "rebuilt_reads"), >, r->n_units / 8);
    ref_free(r);
}

/* Cold data that moves for wear moves by superblocks, and stays covered. */
static void test_wear(void)
{
    Ref *r = drive(PLANES PARITY "ftl.wear=static;ftl.wear_spread=1;",
                   "die=1 on=read time=1000s -> uncorrectable", true);
    Prng rng;

    prng_seed(&rng, 3, 7);
    for (unsigned i = 0; i < 40000; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units / 16) * UNIT, UNIT,
               false);
    }
    ref_drain(r);
    g_assert_cmpuint(r->ssd->gc->background_stats.wear_victims, >, 8);
    g_assert_cmpuint(count(r, "early_erases"), ==, 0);
    g_assert_cmpuint(count(r, "unprotected_units"), ==, 0);
    g_assert_cmpuint(count(r, "late_pages"), <, 20);
    ref_pass(r, 1100000 * MS);
    g_assert_cmpuint(read_all(r), <=, 4 * count(r, "late_pages"));
    ref_free(r);
}

/* Units in blocks in SLC mode. */
static uint64_t in_cache(const Ref *r, uint32_t die)
{
    uint64_t n = 0;

    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        uint64_t entry = l2p_get(&r->ssd->l2p, lpn);

        n += entry && !map_is_buffered(entry) && die_of(r, lpn) == die &&
             nand_block_is_slc(r->ssd->geo, ppu_block(r->ssd, entry - 1));
    }
    return n;
}

/* Parity covers data once it is folded out of the SLC cache. */
static void cache_of(const char *more, bool preload, bool folds)
{
    g_autofree char *all =
        g_strconcat(PLANES PARITY "nand.cell=tlc;nand.pages=24;", more, NULL);
    Ref *r = drive(all, "die=1 on=read time=1000s -> uncorrectable", preload);
    uint64_t cached;
    unsigned lost;

    g_assert_cmpuint(in_cache(r, 1), ==, 0); /* what was there at first */
    overwrite(r, 4000, 2);
    g_assert_cmpuint(r->ssd->inspect.count.slc_host_units, >, 0);
    ref_pass(r, 1100000 * MS);
    cached = in_cache(r, 1);
    lost = read_all(r);
    g_assert_cmpuint(lost, >=, cached);
    g_assert_cmpuint(lost, <=, cached + 4 * count(r, "late_pages"));
    g_test_message("%u units lost, %" G_GUINT64_FORMAT " of them in the cache",
                   lost, cached);
    g_assert_cmpuint(count(r, "unprotected_units"), ==, 0);
    g_assert_cmpuint(count(r, "late_pages"), <, 100);
    if (!folds) {
        g_assert_cmpuint(cached, >, 100);
    } else { /* no more than the open blocks */
        g_assert_cmpuint(cached, <=, 2 * 8 * 4);
    }
    ref_free(r);
}

static void test_cache(void)
{
    cache_of("ftl.slc_dynamic=25%;ftl.slc_fold_at=0%;", false, false);
    cache_of("ftl.slc_dynamic=25%;ftl.slc_fold_delay=1ms;", false, true);
    cache_of("nand.slc_blocks=4;ftl.slc_fold_delay=1ms;", true, true);
}

static bool holds_data(const Ref *r, uint32_t die)
{
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        uint64_t entry = l2p_get(&r->ssd->l2p, lpn);

        if (entry && !map_is_buffered(entry) && die_of(r, lpn) == die) {
            return true;
        }
    }
    return false;
}

/* A die fails at 1000 s: its data is rebuilt into the others, and the drive
 * goes on. */
static void dead(const char *options, const char *more)
{
    g_autofree char *all = g_strconcat(options, more, NULL);
    Ref *r = drive(all, "time=1000s die=1 -> dead", true);
    uint64_t late;

    overwrite(r, 6000, 3);
    ref_pass(r, 1000000 * MS);
    g_assert_true(holds_data(r, 1));
    late = count(r, "late_pages") * 4;
    overwrite(r, 3000, 4);
    ref_pass(r, 10000 * MS);
    g_assert_cmpuint(count(r, "lost_dies"), ==, 1);
    g_assert_false(r->ssd->media->read_only);
    g_assert_false(holds_data(r, 1));
    g_assert_cmpuint(count(r, "lost_reads"), <=, late);
    g_assert_cmpuint(count(r, "early_erases"), ==, 0);
    g_assert_cmpuint(count(r, "die_rebuild_ns"), >, 0);
    g_test_message("%" G_GUINT64_FORMAT " reads rebuilt, %" G_GUINT64_FORMAT
                   " lost, %" G_GUINT64_FORMAT " pages programmed for %u "
                   "units of the host, die empty after %" G_GUINT64_FORMAT
                   " us",
                   count(r, "rebuilt_reads"), count(r, "lost_reads"),
                   stat_of(r->ssd, "\"nand\":", "programs"), 9000,
                   count(r, "die_rebuild_ns") / 1000);
    overwrite(r, 3000, 5);
    g_assert_cmpuint(read_all(r), <=, late);
    ref_verify(r);
    ref_free(r);
}

static void test_dead(void)
{
    dead(PLANES PARITY, "ftl.op_percent=150%");
    dead(FOUR "superblock.width=2;" PARITY, "ftl.op_percent=150%");
}

/* ---- translation pages ----------------------------------------------------
 */

#define DFTL "ftl.map=dftl;ftl.map_cache=512;ftl.op_percent=150%;"

/* Every translation page has a second copy in another die. */
static void check_mirrors(const Ref *r)
{
    const Ssd *ssd = r->ssd;
    uint32_t n = 0;

    for (uint32_t page = 0; page < ssd->l.n_map_pages; page++) {
        uint64_t a = l2p_get(&ssd->l2p, meta_lpn(ssd, page));
        uint64_t b =
            l2p_get(&ssd->l2p, meta_lpn(ssd, page + ssd->l.n_map_pages));
        uint32_t planes = ssd->geo->planes_per_die;

        g_assert_true(!a == !b);
        if (a) {
            g_assert_cmpuint(block_plane(ssd, ppu_block(ssd, a - 1)) / planes,
                             !=,
                             block_plane(ssd, ppu_block(ssd, b - 1)) / planes);
            n++;
        }
    }
    g_assert_cmpuint(n, >, 0);
}

static void test_mirrors(void)
{
    Ref *r = drive(PLANES PARITY DFTL, NULL, false);
    Ref *off = drive(PLANES DFTL, NULL, false);

    fill(r);
    check_mirrors(r);
    g_assert_cmpuint(
        nand_stats(r->ssd->nand)->ops[NAND_PROGRAM][NAND_CAUSE_MAP], ==,
        2 * (stat_of(r->ssd, "\"map\":", "writes_for_host") +
             stat_of(r->ssd, "\"map\":", "writes_for_cleaning")));
    overwrite(r, 6000, 6);
    check_mirrors(r);
    ref_verify(r);
    ref_finish(r);
    ref_free(r);
    fill(off);
    g_assert_cmpuint(off->ssd->l.n_meta_pages, ==, off->ssd->l.n_map_pages);
    ref_finish(off);
    ref_free(off);
}

/* A translation page that cannot be read is read from its second copy: the read
 * of a unit takes a read of a page more. */
static void test_map_latency(void)
{
    Ref *good = drive(FOUR PARITY DFTL, NULL, true);
    Ref *bad = drive(FOUR PARITY DFTL,
                     "on=read cause=map nth=1 -> uncorrectable once", true);
    SsdCompletion a, b;

    a = ref_one(good, SSD_OP_READ, 80, UNIT, false);
    b = ref_one(bad, SSD_OP_READ, 80, UNIT, false);
    g_assert_cmpint(b.status, ==, SSD_STATUS_OK);
    g_assert_cmpuint(latency(&b) - latency(&a), ==, C + TR + 4 * U);
    g_assert_cmpuint(count(bad, "rebuild_reads"), ==, 1);
    g_assert_cmpuint(count(bad, "rebuilt_reads"), ==, 1);
    g_assert_cmpuint(count(good, "rebuild_reads"), ==, 0);
    ref_free(good);
    ref_free(bad);
}

/* A die fails: translation pages there are found in their second copies, and
 * the drive goes on; also when the power goes then. */
static void test_map_dead(void)
{
    dead(PLANES PARITY, DFTL);
    dead(PLANES PARITY, DFTL "ftl.gc=cost-benefit;ftl.wear=dynamic");
    dead(FOUR "superblock.width=2;" PARITY, DFTL);
}

static void test_map_cut(void)
{
    static const char *const options[] = {
        "",
        "ftl.recovery=scan",
        "ftl.recovery=checkpoint;ftl.checkpoint_interval=200",
    };

    for (uint64_t seed = 1; seed <= 6; seed++) {
        g_autofree char *all =
            g_strconcat(PLANES PARITY DFTL, options[seed % 3], NULL);
        Ref *r = drive(all, "time=2s die=1 -> dead", true);
        Prng rng;

        prng_seed(&rng, seed, 9);
        for (unsigned k = 0; k < 8; k++) {
            for (unsigned i = 0; i < 800; i++) {
                ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT,
                       UNIT, false);
            }
            if (k == 3) {
                ref_pass(r, 2500 * MS);
            }
            ref_power_cycle(r);
        }
        overwrite(r, 3000, seed);
        g_assert_cmpuint(count(r, "lost_dies"), ==, 1);
        g_assert_false(r->ssd->media->read_only);
        for (uint32_t p = 0; p < r->ssd->l.n_planes; p++) {
            g_assert_true(!plane_is_lost(r->ssd, p) ||
                          r->ssd->media->plane[p].meta_valid == 0);
        }
        ref_verify(r);
        ref_free(r);
    }
}

/* The same without room for the data of the die: it is read-only. */
static void test_no_room(void)
{
    Ref *r = drive(PLANES PARITY, "time=1000s die=1 -> dead", true);
    uint64_t late;

    overwrite(r, 3000, 3);
    ref_pass(r, 1000000 * MS);
    late = count(r, "late_pages") * 4;
    for (unsigned i = 0; i < 500; i++) {
        ref_do(r, SSD_OP_WRITE, i * UNIT, UNIT, false);
    }
    ref_drain(r);
    g_assert_true(r->ssd->media->read_only);
    g_assert_true(holds_data(r, 1));
    g_assert_cmpuint(read_all(r), <=, late + 4 * count(r, "late_pages"));
    ref_free(r);
}

/* A cut takes the parity in memory: what it covered is lost with the die. */
static void test_cut(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const char *recovery = seed % 2 ? "" : ";ftl.recovery=scan";
        g_autofree char *options = g_strconcat(PLANES PARITY, recovery, NULL);
        Ref *r =
            drive(options, "die=1 on=read time=1000s -> uncorrectable", true);
        Prng rng;

        prng_seed(&rng, seed, 9);
        for (unsigned k = 0; k < 3; k++) {
            for (unsigned i = 0; i < 1500; i++) {
                ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT,
                       UNIT, false);
            }
            ref_power_cycle(r);
        }
        overwrite(r, 500, seed);
        ref_pass(r, 1100000 * MS);
        read_all(r);
        ref_free(r);
    }
}

/*
 * Errors of the medium: a codeword is lost with probability p, for good if any
 * other of its stripe is, too: p (1 - (1 - p)^(N - 1)).  A unit has four.
 */
static void test_probability(void)
{
    const uint32_t bits = 1024 * 8;
    const double rber = 6.4e-3;
    Ref *r = drive("nand.chips=1;nand.blocks=80;nand.pages=64;"
                   "nand.page_size=16KiB;ftl.op_percent=60%;buffer.size=1MiB;"
                   "superblock.width=drive;nand.channels=4;nand.dies=1;"
                   "nand.planes=1;superblock.row=4;" PARITY
                   "media.errors=on;media.base=6.4e-3;media.wear=0;"
                   "media.retention=0;media.disturb=0;media.retry_limit=0;"
                   "nand.ecc_codeword=1KiB;media.ecc_bits=64",
                   NULL, true);
    double p = media_tail(bits, 64, rber);
    double unit = 1 - pow(1 - p, 4);
    double lost = 1 - pow(1 - p * (1 - pow(1 - p, 3)), 4);
    uint64_t n = r->n_units;
    uint64_t failed;

    r->faults = true;
    for (uint64_t lpn = 0; lpn < n; lpn++) {
        ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);
    }
    failed = count(r, "lost_reads") + count(r, "rebuilt_reads");
    g_test_message("p %g: %g of units failed, %g expected; %g lost, %g", p,
                   (double)failed / n, unit, (double)count(r, "lost_reads") / n,
                   lost);
    g_assert_cmpfloat(fabs((double)failed - n * unit), <,
                      4 * sqrt(n * unit * (1 - unit)));
    g_assert_cmpfloat(fabs((double)count(r, "lost_reads") - n * lost), <,
                      /* units of a stripe are lost together */
                      8 * sqrt(n * lost * (1 - lost)));
    g_assert_cmpfloat(n * lost, >, 20);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parity/writes", test_writes);
    g_test_add_func("/parity/multi-plane", test_multi_plane);
    g_test_add_func("/parity/capacity", test_capacity);
    g_test_add_func("/parity/gc", test_gc);
    g_test_add_func("/parity/purge", test_purge);
    g_test_add_func("/parity/latency", test_latency);
    g_test_add_func("/parity/lost", test_lost);
    g_test_add_func("/parity/die", test_die);
    g_test_add_func("/parity/wear", test_wear);
    g_test_add_func("/parity/cache", test_cache);
    g_test_add_func("/parity/dead", test_dead);
    g_test_add_func("/parity/mirrors", test_mirrors);
    g_test_add_func("/parity/map-latency", test_map_latency);
    g_test_add_func("/parity/map-dead", test_map_dead);
    g_test_add_func("/parity/map-cut", test_map_cut);
    g_test_add_func("/parity/no-room", test_no_room);
    g_test_add_func("/parity/cut", test_cut);
    g_test_add_func("/parity/probability", test_probability);
    return g_test_run();
}
