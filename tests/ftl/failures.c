/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failures.c - a drive whose NAND fails: nothing is lost that need not be,
 * lost data is reported with its address, and the end of life is read-only.
 *
 * The reference model (ref.h) knows the data that a host may find.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "gc/gc-internal.h"
#include "media/media-internal.h"
#include "media/spare.h"
#include "placement/placement-internal.h"
#include "power/power.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define UNIT 8 /* blocks of 512 bytes */

/* ---- set-up -------------------------------------------------------------- */

/* A drive with scripted faults. */
static Ref *faulty(const char *options, const char *rules, bool preload)
{
    g_autofree char *path = ref_faults_file(rules);
    g_autofree char *all = g_strdup_printf("nand.blocks=36;%s;faults=%s",
                                           options, path);
    Ref *r = ref_new(ref_config(all), preload);

    r->faults = true;
    g_unlink(path);
    return r;
}

static SsdCounters counters(const Ref *r)
{
    SsdCounters c;

    ssd_get_counters(r->ssd, &c);
    return c;
}

/* Writes, reads, trims and flushes; enough to clean. */
static void load(Ref *r, unsigned n, uint64_t seed)
{
    Prng rng;

    prng_seed(&rng, seed, 5);
    for (unsigned i = 0; i < n && !r->stopped; i++) {
        uint64_t lba = prng_below(&rng, r->n_units) * UNIT;
        unsigned kind = (unsigned)prng_below(&rng, 32);

        if (kind == 0) {
            ref_do(r, SSD_OP_FLUSH, 0, 0, false);
        } else if (kind == 1) {
            ref_do(r, SSD_OP_TRIM, lba, UNIT, false);
        } else if (kind < 4) {
            ref_do(r, SSD_OP_READ, lba, UNIT, false);
        } else if (kind < 6) {
            ref_do(r, SSD_OP_WRITE, lba + prng_below(&rng, UNIT), 1, kind == 4);
        } else {
            ref_do(r, SSD_OP_WRITE, lba, UNIT, false);
        }
    }
}

/* ---- failures at every operation ----------------------------------------- */

#define LOAD      4000
#define ONE_PLANE "nand.channels=1;"

static const char *const drives[] = {
    "",
    ONE_PLANE "nand.copyback=on;ftl.unit=16KiB",
    ONE_PLANE "nand.cell=tlc;nand.one_shot=on;nand.pages=24;buffer.size=256KiB",
    ONE_PLANE "nand.cell=tlc;nand.one_shot=on;nand.pages=24;nand.slc_blocks=4;"
              "buffer.size=256KiB",
    "nand.planes=2;nand.multi_plane=on;nand.cache_program=on",
    "nand.planes=2;nand.multi_plane=on;superblock.row=die",
};

/* GC has stopped: each copy that has not ended waits for more units. */
static void no_copy_lost(const Ref *r)
{
    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        const GcPlane *g = &r->ssd->gc->plane[i];
        uint32_t first = i * r->ssd->geo->blocks_per_plane;
        uint32_t pending = 0;

        for (uint32_t b = 0; b < r->ssd->geo->blocks_per_plane; b++) {
            const Block *block = &r->ssd->media->block[first + b];

            pending += block->state == BLOCK_VICTIM ? block->pending : 0;
        }
        g_assert_cmpuint(pending, ==, g->n_staged);
        g_assert_cmpuint(g->redo.head, ==, NONE);
        g_assert_cmpuint(r->ssd->placement->plane[i].gc.programs, ==, 0);
    }
}

/* The block that failed is out of use, or on its way. */
static uint32_t blocks_out_of_use(const Ref *r)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
        const Block *block = &r->ssd->media->block[b];

        g_assert_true(block->state != BLOCK_BAD || block->bad);
        n += block->bad && block->state != BLOCK_FREE &&
             block->state != BLOCK_OPEN;
    }
    return n;
}

/* The drive again and again, with the n-th program or erase failing. */
static void fail_at(const char *options, const char *on, uint64_t nth,
                    bool cut)
{
    g_autofree char *rule = g_strdup_printf("on=%s nth=%" G_GUINT64_FORMAT
                                            " -> fail", on, nth);
    Ref *r = faulty(options, rule, true);

    load(r, LOAD, 1);
    if (cut) {
        ref_drain(r);
        ref_power_cycle(r);
    }
    load(r, 200, 2);
    ref_finish(r);
    g_assert_cmpuint(counters(r).program_failures + counters(r).erase_failures,
                     ==, 1);
    g_assert_cmpuint(counters(r).grown_bad_blocks, ==, 1);
    g_assert_false(counters(r).read_only);
    ref_pass(r, NS_PER_S);
    no_copy_lost(r);
    g_assert_cmpuint(blocks_out_of_use(r), ==, 1);
    ref_power_cycle(r);
    ref_free(r);
}

static uint64_t operations(const char *options, bool erases)
{
    Ref *r = faulty(options, "op=1000000000 -> fail", true);
    const NandStats *s = nand_stats(r->ssd->nand);
    uint64_t n = 0;

    load(r, LOAD, 1);
    for (int cause = 0; cause < NAND_N_CAUSES; cause++) {
        n += erases ? s->ops[NAND_ERASE][cause]
                    : s->ops[NAND_COPYBACK][cause] +
                          s->ops[NAND_PROGRAM][cause] /
                              r->ssd->l.pages_per_program;
    }
    ref_free(r);
    return n;
}

static void test_every_program(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        uint64_t n = operations(drives[i], false);

        g_assert_cmpuint(n, >, 100);
        for (uint64_t nth = 1; nth < n; nth += 1 + n / 80) {
            fail_at(drives[i], "program", nth, nth % 3 == 0);
        }
    }
}

static void test_every_erase(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        uint64_t n = operations(drives[i], true);

        g_assert_cmpuint(n, >, 2);
        for (uint64_t nth = 1; nth <= n; nth += 1 + n / 40) {
            fail_at(drives[i], "erase", nth, nth % 3 == 0);
        }
    }
}

/* The data of a block that failed is copied elsewhere at once, in a drive that
 * needs no GC, and the block is out of use. */
static void test_emptied_when_idle(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        Ref *r =
            faulty(drives[i], "on=program cause=host nth=6 -> fail", false);
        uint32_t bad = 0;

        for (uint64_t lpn = 0; lpn < 256; lpn++) {
            ref_do(r, SSD_OP_WRITE, lpn * UNIT, UNIT, false);
        }
        ref_do(r, SSD_OP_FLUSH, 0, 0, false);
        ref_drain(r);
        ref_pass(r, r->now_ns + NS_PER_S);
        g_assert_cmpuint(counters(r).grown_bad_blocks, ==, 1);
        for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
            const Block *block = &r->ssd->media->block[b];

            bad += block->bad;
            g_assert_true(!block->bad ||
                          (block->state == BLOCK_BAD && block->valid == 0));
        }
        g_assert_cmpuint(bad, ==, 1);
        ref_finish(r);
        ref_free(r);
    }
}

/* The failed page is programmed again at once: C + X + tPROG twice. */
static void test_redo_latency(void)
{
    Ref *r = faulty("", "on=program nth=1 -> fail", true);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, true);

    g_assert_cmpuint(c.cost.flush_ns, ==, 2 * (200 + 40960 + 500000));
    ref_free(r);
}

/* ---- end of life --------------------------------------------------------- */

/* Write until the drive refuses; then all that it took is there. */
static void wear_out(const char *options, const char *rules, uint64_t seed)
{
    Ref *r = faulty(options, rules, true);
    Prng rng;
    SsdCompletion c = {.status = SSD_STATUS_OK};

    prng_seed(&rng, seed, 6);
    for (unsigned i = 0; i < 60000 && c.status != SSD_STATUS_READ_ONLY; i++) {
        c = ref_one(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
                    prng_below(&rng, 8) == 0);
        g_assert_true(c.status == SSD_STATUS_OK ||
                      c.status == SSD_STATUS_READ_ONLY ||
                      c.status == SSD_STATUS_WRITE_FAULT);
    }
    g_assert_cmpint(c.status, ==, SSD_STATUS_READ_ONLY);
    g_assert_true(counters(r).read_only);
    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        /* One too few, and one more after it failed. */
        g_assert_cmpuint(r->ssd->media->plane[i].spare_blocks, >=,
                         r->ssd->l.min_spare_blocks - 2);
    }
    c = ref_one(r, SSD_OP_TRIM, 0, UNIT, false);
    g_assert_cmpint(c.status, ==, SSD_STATUS_READ_ONLY);
    ref_verify(r);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        c = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);
        g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
    }
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_true(c.status == SSD_STATUS_OK ||
                  c.status == SSD_STATUS_WRITE_FAULT);
    ref_power_cycle(r);
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
    c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
    g_assert_cmpint(c.status, ==, SSD_STATUS_READ_ONLY);
    ref_verify(r);
    ref_free(r);
}

static void test_end_of_life(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        g_autofree char *both = g_strconcat(
            drives[i], ";media.program_fail=0.004;media.erase_fail=0.02", NULL);

        wear_out(drives[i], "on=program nth=300 -> fail always", i);
        wear_out(drives[i], "on=erase nth=10 -> fail always", i);
        wear_out(drives[i], "on=program cause=gc -> fail always", i);
        wear_out(drives[i], "on=erase die=0 plane=0 nth=2 -> fail always", i);
        wear_out(both, "", i);
    }
}

/* Blocks in which data of the host and translation pages were programmed. */
static uint32_t mixed_blocks(const Ref *r)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
        bool holds[2] = {false, false};

        for (uint32_t i = 0;
             i < nand_next_page(r->ssd->nand, b) * r->ssd->l.units_per_page;
             i++) {
            uint64_t lpn = spare_lpn(r->ssd, block_ppu(r->ssd, b) + i);

            if (lpn != NO_UNIT) {
                holds[lpn >= r->ssd->l.user_units] = true;
            }
        }
        n += holds[0] && holds[1];
    }
    return n;
}

/* A plane whose erases fail runs out of blocks between power cuts: GC puts
 * pages that are kept apart otherwise into the same block, and counts them. */
static void test_mixed(void)
{
    Ref *r = faulty("nand.blocks=60;ftl.op_percent=100%;ftl.map=dftl;"
                    "ftl.map_cache=1KiB",
                    "on=erase die=0 plane=0 nth=2 -> fail always", false);
    SsdCompletion c = {.status = SSD_STATUS_OK};
    uint32_t mixed = 0;
    Prng rng;

    prng_seed(&rng, 3, 6);
    for (unsigned i = 0; i < 40000 && c.status != SSD_STATUS_READ_ONLY; i++) {
        g_assert_true(mixed || r->ssd->inspect.count.mixed_pages == 0);
        c = ref_one(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
                    prng_below(&rng, 8) == 0);
        if (prng_below(&rng, 50) == 0) {
            ref_drain(r);
            ref_power_cycle(r);
        }
        mixed = MAX(mixed, mixed_blocks(r));
    }
    g_test_message("%u mixed blocks, %" PRIu64 " pages", mixed,
                   r->ssd->inspect.count.mixed_pages);
    g_assert_cmpuint(mixed, >, 0);
    g_assert_cmpuint(r->ssd->inspect.count.mixed_pages, >=, mixed);
    ref_verify(r);
    ref_free(r);
}

/* ---- uncorrectable reads ------------------------------------------------- */

static void reads(Ref *r, uint64_t lba, uint32_t n, int64_t bad_lba)
{
    SsdCompletion c = ref_one(r, SSD_OP_READ, lba, n, false);

    if (bad_lba < 0) {
        g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
    } else {
        g_assert_cmpint(c.status, ==, SSD_STATUS_UNRECOVERED_READ);
        g_assert_cmpuint(c.bad_lba, ==, (uint64_t)bad_lba);
    }
}

static void test_bad_lba(void)
{
    Ref *r = faulty("", "on=read lba=1003..1020 -> uncorrectable\n"
                        "on=read lba=1500 -> uncorrectable once", true);

    reads(r, 1000, 8, 1003);
    reads(r, 1000, 3, -1);
    reads(r, 1002, 1, -1);
    reads(r, 1005, 1, 1005);
    reads(r, 900, 200, 1003);
    reads(r, 1016, 8, 1016);
    reads(r, 1021, 3, -1);
    reads(r, 1024, 64, -1);
    reads(r, 1500, 1, 1500);
    reads(r, 1500, 1, -1);
    ref_one(r, SSD_OP_WRITE, 1000, 8, false);
    reads(r, 1000, 8, -1); /* from the buffer */
    g_assert_cmpuint(counters(r).uncorrectable_reads, >, 4);
    ref_free(r);
}

/* GC that cannot read a unit moves it as lost, until it is rewritten. */
static void test_lost_by_cleaning(void)
{
    Ref *r = faulty("", "on=read cause=gc lba=1000..1003 -> uncorrectable once",
                    true);
    Prng rng;

    prng_seed(&rng, 1, 7);
    for (unsigned i = 0; counters(r).uncorrectable_reads == 0; i++) {
        uint64_t lpn = prng_below(&rng, r->n_units);

        g_assert_cmpuint(i, <, 20000);
        if (lpn != 1000 / UNIT) {
            ref_do(r, SSD_OP_WRITE, lpn * UNIT, UNIT, false);
        }
    }
    ref_finish(r);
    reads(r, 1000, 8, 1000);
    reads(r, 1006, 1, 1006);
    reads(r, 992, 8, -1);
    ref_power_cycle(r);
    reads(r, 1000, 8, 1000);
    for (unsigned i = 0; i < 8000; i++) { /* GC moves it on */
        uint64_t lpn = prng_below(&rng, r->n_units);

        if (lpn != 1000 / UNIT) {
            ref_do(r, SSD_OP_WRITE, lpn * UNIT, UNIT, false);
        }
    }
    ref_finish(r);
    reads(r, 1000, 8, 1000);
    ref_one(r, SSD_OP_WRITE, 1002, 1, true); /* the rest is still lost */
    reads(r, 1000, 8, 1000);
    ref_one(r, SSD_OP_WRITE, 1000, 8, true);
    reads(r, 1000, 8, -1);
    ref_finish(r);
    ref_free(r);
}

/* A part of a unit is written whose rest cannot be read. */
static void test_lost_by_filling(void)
{
    Ref *r = faulty("", "on=read lba=1007 -> uncorrectable once", true);

    ref_one(r, SSD_OP_WRITE, 1000, 2, false);
    ref_pass(r, NS_PER_MS);
    reads(r, 1000, 8, 1000); /* from the buffer */
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    reads(r, 1000, 8, 1000); /* from NAND */
    ref_one(r, SSD_OP_TRIM, 1000, 8, false);
    reads(r, 1000, 8, -1);
    ref_one(r, SSD_OP_WRITE, 1000, 2, true);
    reads(r, 1000, 8, -1);
    ref_free(r);
}

/* Written whole while the rest is being read: nothing is lost. */
static void test_fill_overtaken(void)
{
    Ref *r = faulty("", "on=read lba=1007 -> uncorrectable once", true);

    ref_do(r, SSD_OP_WRITE, 1000, 2, false);
    ref_do(r, SSD_OP_WRITE, 1000, 8, false);
    ref_drain(r);
    ref_pass(r, NS_PER_MS);
    g_assert_cmpuint(counters(r).uncorrectable_reads, ==, 1);
    reads(r, 1000, 8, -1);
    ref_free(r);
}

static void test_program_of_lba(void)
{
    Ref *r = faulty("", "on=program lba=1001 nth=2 -> fail", true);

    ref_one(r, SSD_OP_WRITE, 1000, 8, true);
    ref_one(r, SSD_OP_WRITE, 2000, 8, true);
    g_assert_cmpuint(counters(r).program_failures, ==, 0);
    ref_one(r, SSD_OP_WRITE, 1000, 8, true);
    g_assert_cmpuint(counters(r).program_failures, ==, 1);
    ref_finish(r);
    ref_free(r);
}

/* ---- a drive that nothing ails ------------------------------------------- */

#define HEALTHY                                                                \
    "nand.channels=1;nand.planes=2;nand.blocks=36;nand.pages=12;"              \
    "buffer.size=256KiB;"
#define SLC "nand.cell=mlc;nand.slc_blocks=1;"
#define UNLIKELY "media.program_fail=1e-12;media.erase_fail=1e-12;"

/* As large as these options allow: the least spare blocks. */
static SsdConfig *largest(const char *options)
{
    g_autofree char *all = g_strconcat(HEALTHY, options, NULL);
    SsdConfig *cfg = ref_config(all);

    for (unsigned blocks = 72; blocks > 0; blocks--) {
        g_autofree char *room = g_strdup_printf("ftl.capacity=%uKiB",
                                                blocks * 192);

        g_assert_true(ssd_config_set(cfg, room, NULL));
        if (ssd_config_check(cfg, NULL)) {
            return cfg;
        }
    }
    g_error("%s: fits no drive", all);
}

/* Nothing fails, so nothing may be refused, however little room there is. */
static void stay_writable(const char *options, uint64_t seed, bool age)
{
    Ref *r = ref_new(largest(options), false);
    Prng rng;
    SsdCounters c;

    prng_seed(&rng, seed, 7);
    for (uint64_t i = 0; age && i < 8 * r->n_units; i++) {
        uint64_t lpn = prng_below(&rng, r->n_units);

        if (ssd_age(r->ssd, &lpn, 1) != 0) {
            g_error("%s: refused when aged, after %" G_GUINT64_FORMAT " units",
                    options, i);
        }
    }
    for (uint64_t i = 0; !age && i < 5 * r->n_units; i++) {
        uint64_t lpn = i < r->n_units ? i : prng_below(&rng, r->n_units);

        ref_do(r, SSD_OP_WRITE, lpn * UNIT, UNIT, prng_below(&rng, 64) == 0);
        if (prng_below(&rng, 2000) == 0) {
            ref_power_cycle(r);
        }
    }
    c = counters(r);
    if (c.read_only || c.grown_bad_blocks > 0) {
        g_error("%s: read-only, or blocks went bad", options);
    }
    if (age) {
        g_assert_true(ssd_check(r->ssd, NULL));
    } else {
        ref_finish(r);
    }
    ref_free(r);
}

static void test_healthy(void)
{
    static const char *const may[] = {
        UNLIKELY, "media.erase_fail=1e-12;", "",
    };
    static const char *const with[] = {
        "",
        "ftl.wear=static;ftl.wear_spread=2;",
        "ftl.map=dftl;",
        "ftl.recovery=scan;",
        "ftl.recovery=checkpoint;",
        "streams.max=2;",
        "superblock.width=die;nand.multi_plane=on;",
        "nand.copyback=on;",
        "nand.multi_plane=on;superblock.row=die;",
        "nand.one_shot=on;",
        "ftl.gc_preempt=on;",
        "ftl.gc=cost-benefit;",
    };
    static const char *const slc[] = {"", SLC, SLC "nand.slc_blocks=4;"};

    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        for (size_t k = 0; k < G_N_ELEMENTS(may); k++) {
            for (size_t j = 0; j < G_N_ELEMENTS(slc); j++) {
                g_autofree char *all = g_strconcat(slc[j], may[k], with[i],
                                                   NULL);

                stay_writable(all, i + j, true);
                stay_writable(all, i + j, false);
            }
        }
    }
}

/* ---- errors are in the cells --------------------------------------------- */

/* The host's retry has the same result, and a write repairs the unit. */
static void test_host_retries(void)
{
    Ref *r = ref_new(ref_config("nand.blocks=60;media.errors=on;media.base=7e-3;"
                                "media.disturb=0;media.retention=0;"
                                "media.retry_factor=0.999"), true);
    unsigned n_bad = 0;

    r->faults = true;
    for (uint64_t lpn = 0; lpn < 2000; lpn++) {
        SsdCompletion a = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);
        uint64_t bad = a.bad_lba;

        n_bad += a.status != SSD_STATUS_OK;
        for (unsigned i = 0; i < 3; i++) {
            SsdCompletion b = ref_one(r, SSD_OP_READ, lpn * UNIT, UNIT, false);

            g_assert_cmpint(b.status, ==, a.status);
            g_assert_cmpuint(b.bad_lba, ==, bad);
        }
    }
    g_assert_cmpuint(n_bad, >, 20);
    ref_free(r);
}

#define N_READS 1000

/* Which of the first units can be read. */
static void look(Ssd *ssd, bool *good)
{
    uint64_t now_ns = ssd_now_ns(ssd);

    for (uint64_t lba = 0; lba < N_READS; lba++) {
        SsdCmd c = {.tag = lba, .op = SSD_OP_READ, .lba = lba, .nblocks = 1};
        SsdCompletion done;

        g_assert_cmpint(ssd_submit(ssd, now_ns, &c), ==, 0);
        now_ns += NS_PER_S;
        g_assert_cmpuint(ssd_advance(ssd, now_ns, &done, 1), ==, 1);
        good[lba] = done.status == SSD_STATUS_OK;
    }
}

/* A saved drive has its cells with it: another seed does not change them. */
static void test_cells_saved(void)
{
    static const char options[] =
        "nand.blocks=60;media.errors=on;media.base=7e-3;media.disturb=0;"
        "media.retention=0;media.retry_limit=0;seed=";
    g_autofree char *one = g_strconcat(options, "1", NULL);
    g_autofree char *two = g_strconcat(options, "2", NULL);
    SsdConfig *cfg = ref_config(two);
    Ssd *ssd = ref_drive(ref_config(one));
    bool before[N_READS];
    bool after[N_READS];
    GError *error = NULL;
    FILE *file = tmpfile();
    unsigned bad = 0;
    Ssd *loaded;

    g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    look(ssd, before);
    ssd_save(ssd, file, &error);
    g_assert_no_error(error);
    rewind(file);
    g_assert_true(ssd_config_set_block_bytes(cfg, 4096, NULL));
    loaded = ssd_load(cfg, NULL, NULL, file, &error);
    g_assert_no_error(error);
    look(loaded, after);
    for (unsigned i = 0; i < N_READS; i++) {
        g_assert_true(before[i] == after[i]);
        bad += !after[i];
    }
    g_assert_cmpuint(bad, >, 20);
    fclose(file);
    ssd_config_free(cfg);
    ssd_destroy(loaded);
    ssd_destroy(ssd);
}

/* ---- factory bad blocks -------------------------------------------------- */

static void test_factory_bad(void)
{
    Ref *r = faulty("media.factory_bad=4%;nand.blocks=100", "", false);
    g_autoptr(GError) error = NULL;
    SsdConfig *cfg;
    uint32_t bad = 0;

    for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
        bad += nand_factory_bad(r->ssd->nand, b);
    }
    g_assert_cmpuint(bad, >, 0);
    g_assert_cmpuint(counters(r).factory_bad_blocks, ==, bad);
    load(r, 20000, 1);
    ref_finish(r);
    for (uint32_t b = 0; b < r->ssd->geo->n_blocks; b++) {
        g_assert_true(!nand_factory_bad(r->ssd->nand, b) ||
                      nand_next_page(r->ssd->nand, b) == 0);
    }
    ref_free(r);
    cfg = ref_config("media.factory_bad=50%");
    g_assert_null(ssd_create(cfg, NULL, NULL, &error));
    g_assert_true(g_str_has_prefix(error->message, "media.factory_bad=50%: "));
    ssd_config_free(cfg);
}

/* ---- the power, cut by rules --------------------------------------------- */

static unsigned n_cut;

static void cut_by(const char *rule)
{
    Ref *r = faulty("", rule, true);

    load(r, 600, 1);
    ref_drain(r);
    if (!r->stopped) {
        ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    }
    ref_drain(r);
    r->now_ns += NS_PER_S; /* GC ends */
    ref_collect(r);
    if (!ssd_powered(r->ssd)) {
        n_cut++;
        ref_power_cycle(r);
        r->stopped = false;
        r->now_ns += 20 * NS_PER_S; /* later rules by the clock are over */
        load(r, 300, 2);
    }
    ref_finish(r);
    ref_free(r);
}

static void test_cut_at_every_operation(void)
{
    n_cut = 0;
    for (unsigned n = 1; n <= 280; n++) {
        g_autofree char *rule = g_strdup_printf("op=%u -> cut power", n);

        cut_by(rule);
    }
    g_assert_cmpuint(n_cut, >, 200);
}

static void test_cut_kinds(void)
{
    n_cut = 0;
    cut_by("on=read nth=2 -> cut power");
    cut_by("on=program lba=1000..1100 -> cut power");
    cut_by("time=10ms -> cut power\ntime=15ms -> cut power");
    cut_by("cmd=100 -> cut power");
    g_assert_cmpuint(n_cut, ==, 4);
}

static unsigned n_lost;

static void note_lost(void *opaque)
{
    (void)opaque;
    n_lost++;
}

static void note_unit(void *opaque, uint64_t lpn, uint64_t version)
{
    (void)opaque;
    (void)lpn;
    (void)version;
}

/* The host is told, and the command in flight ends at that instant. */
static void test_power_lost(void)
{
    static const SsdHostOps ops = {
        .programmed = note_unit,
        .superseded = note_unit,
        .power_lost = note_lost,
    };
    g_autofree char *path = ref_faults_file("time=5ms -> cut power\n"
                                        "cmd=2 -> cut power\n");
    g_autofree char *options = g_strdup_printf("faults=%s", path);
    SsdConfig *cfg = ref_config(options);
    Ssd *ssd = ssd_create(cfg, &ops, NULL, NULL);
    SsdCmd c = {.op = SSD_OP_WRITE, .version = 1, .nblocks = 8, .fua = true};
    SsdCompletion done[4];

    n_lost = 0;
    g_assert_cmpint(ssd_submit(ssd, 4999000, &c), ==, 0);
    g_assert_cmpuint(ssd_advance(ssd, 4999999, done, 4), ==, 0);
    g_assert_cmpuint(ssd_advance(ssd, 9000000, done, 4), ==, 1);
    g_assert_cmpint(done[0].status, ==, SSD_STATUS_POWER_LOSS);
    g_assert_cmpuint(done[0].complete_ns, ==, 5000000);
    g_assert_cmpuint(n_lost, ==, 1);
    g_assert_cmpint(ssd_submit(ssd, 9000000, &c), ==, -ENODEV);
    ssd_power_cut(ssd, 9000000); /* nothing happens */
    g_assert_cmpuint(n_lost, ==, 1);
    ssd_power_on(ssd, 9000000);
    c.version = 2;
    g_assert_cmpint(ssd_submit(ssd, 9000000, &c), ==, 0);
    g_assert_cmpuint(n_lost, ==, 2);
    g_assert_false(ssd_powered(ssd));
    g_assert_cmpuint(ssd_advance(ssd, 9000000, done, 4), ==, 1);
    g_assert_cmpint(done[0].status, ==, SSD_STATUS_POWER_LOSS);
    ssd_power_on(ssd, 9000000);
    ssd_power_cut(ssd, 9000000);
    g_assert_cmpuint(n_lost, ==, 3);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
    g_unlink(path);
}

/* ---- one seed, one history ----------------------------------------------- */

static char *history(const char *options)
{
    Ref *r = faulty(options, "time=20ms on=read -> latency x3 for 10ms", true);
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    r->log = g_array_new(false, false, sizeof(SsdCompletion));
    load(r, 4000, 3);
    ref_finish(r);
    for (unsigned i = 0; i < r->log->len; i++) {
        const SsdCompletion *c = &g_array_index(r->log, SsdCompletion, i);

        g_string_append_printf(s, "%" G_GUINT64_FORMAT " %d ", c->complete_ns,
                               (int)c->status);
    }
    ssd_stats_json(r->ssd, &w, NULL);
    g_assert_nonnull(strstr(s->str, "\"media\":{\"read_retries\":"));
    ref_free(r);
    return g_string_free(s, FALSE);
}

static void test_one_history(void)
{
    static const char errors[] =
        "nand.blocks=60;media.errors=on;media.base=7e-3;"
        "media.retry_factor=0.97;media.program_fail=0.002;"
        "media.erase_fail=0.002;media.factory_bad=1%;seed=";
    g_autofree char *one = g_strconcat(errors, "1", NULL);
    g_autofree char *two = g_strconcat(errors, "2", NULL);
    g_autofree char *a = history(one);
    g_autofree char *b = history(one);
    g_autofree char *c = history(two);

    g_assert_cmpstr(a, ==, b);
    g_assert_cmpstr(a, !=, c);
    g_assert_null(strstr(a, "\"read_retries\":0,"));
    g_assert_null(strstr(a, "\"program_failures\":0,"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/failures/every-program", test_every_program);
    g_test_add_func("/failures/every-erase", test_every_erase);
    g_test_add_func("/failures/healthy", test_healthy);
    g_test_add_func("/failures/emptied-when-idle", test_emptied_when_idle);
    g_test_add_func("/failures/redo-latency", test_redo_latency);
    g_test_add_func("/failures/end-of-life", test_end_of_life);
    g_test_add_func("/failures/mixed", test_mixed);
    g_test_add_func("/failures/bad-lba", test_bad_lba);
    g_test_add_func("/failures/lost-by-cleaning", test_lost_by_cleaning);
    g_test_add_func("/failures/lost-by-filling", test_lost_by_filling);
    g_test_add_func("/failures/fill-overtaken", test_fill_overtaken);
    g_test_add_func("/failures/host-retries", test_host_retries);
    g_test_add_func("/failures/cells-saved", test_cells_saved);
    g_test_add_func("/failures/program-of-lba", test_program_of_lba);
    g_test_add_func("/failures/factory-bad", test_factory_bad);
    g_test_add_func("/failures/cut-at-every-operation",
                    test_cut_at_every_operation);
    g_test_add_func("/failures/cut-kinds", test_cut_kinds);
    g_test_add_func("/failures/power-lost", test_power_lost);
    g_test_add_func("/failures/one-history", test_one_history);
    return g_test_run();
}
