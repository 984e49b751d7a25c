/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid.c - log-block maps: each kind of merge worked out by hand, costs of
 * ways of writing, and refusals.
 *
 * One plane of 16 blocks of 4 pages, and a unit is a page: lpn = 4 * logical
 * block
 * + page; six logical blocks, all of them preloaded.  Times as in latency.c; a
 * write takes E = F + 4 L + B until it is in the buffer, a program P = C + X +
 * tPROG, a read R = C + tR + X, an erase Z = C + tBERS.  There is one die,
 * which is never idle while a merge goes on, so times just add up.
 */
#include <string.h>

#include "map/map.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-setup.h"

#define E (3000ULL + 4 * 1000 + 500)
#define P (200ULL + 40960 + 500000)
#define R (200ULL + 50000 + 40960)
#define Z (200ULL + 3000000)

#define TINY                                                                   \
    "nand.channels=1;nand.blocks=16;nand.pages=4;ftl.unit=16KiB;"              \
    "ftl.capacity=384KiB;buffer.size=64KiB;host.complete_at=program;"

static Ref *drive(const char *options, bool preload)
{
    g_autofree char *all = g_strconcat(TINY, options, NULL);
    Ref *r = ref_new(ref_config(all), preload);

    g_assert_cmpuint(r->n_units, ==, 24);
    g_assert_cmpuint(r->ssd->l.logical_blocks, ==, 6);
    return r;
}

/* Write one page; how long it took. */
static uint64_t put(Ref *r, uint64_t lpn)
{
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, lpn * r->unit_blocks,
                              r->unit_blocks, false);

    return c.complete_ns - c.submit_ns;
}

static void put_quietly(Ref *r, uint64_t lpn)
{
    put(r, lpn);
    ref_pass(r, NS_PER_S);
}

/* Copies and erases of merges so far; erases may have to end first. */
static void expect(Ref *r, uint64_t reads, uint64_t programs, uint64_t erases,
                   MergeStats want)
{
    const MergeStats *s = &r->ssd->map->merge_stats;
    const NandStats *n;

    ref_pass(r, NS_PER_S);
    n = nand_stats(r->ssd->nand);
    g_assert_cmpuint(n->ops[NAND_READ][NAND_CAUSE_MERGE], ==, reads);
    g_assert_cmpuint(n->ops[NAND_PROGRAM][NAND_CAUSE_MERGE], ==, programs);
    g_assert_cmpuint(n->ops[NAND_ERASE][NAND_CAUSE_MERGE], ==, erases);
    g_assert_cmpmem(s, sizeof(*s), &want, sizeof(want));
}

#define SWITCHES(n) .merges = {[MERGE_SWITCH] = (n)}

/* So many merges of a kind, and the copies of all of them. */
#define MERGES(kind, n, pages, units)                                          \
    .merges = {[kind] = (n)}, .copied_pages = {[kind] = (pages)},              \
    .copied_units = {[kind] = (units)}

/* ---- one merge at a time ------------------------------------------------- */

/* Four pages in order: the log block becomes the data block, which costs an
 * erase; the next write waits for it. */
static void test_switch(void)
{
    Ref *r = drive("ftl.map=bast;ftl.log_blocks=1", true);

    for (uint64_t lpn = 4; lpn < 8; lpn++) {
        g_assert_cmpuint(put(r, lpn), ==, E + P);
    }
    g_assert_cmpuint(put(r, 20), ==, Z + P);
    expect(r, 0, 0, 1, (MergeStats){SWITCHES(1), .logs = 2});
    ref_finish(r);
    ref_free(r);
}

/* Two in order, then another logical block wants the log block: the other two
 * are copied behind them. */
static void test_partial(void)
{
    Ref *r = drive("ftl.map=bast;ftl.log_blocks=1", true);

    put_quietly(r, 0);
    put_quietly(r, 1);
    g_assert_cmpuint(put(r, 6), ==, E + 2 * (R + P) + Z + P);
    expect(r, 2, 2, 1,
           (MergeStats){MERGES(MERGE_PARTIAL, 1, 2, 2), .logs = 2});
    ref_finish(r);
    ref_free(r);
}

/* One out of order: all four are copied to a free block; two are erased. */
static void test_full(void)
{
    Ref *r = drive("ftl.map=bast;ftl.log_blocks=1", true);

    put_quietly(r, 1);
    g_assert_cmpuint(put(r, 6), ==, E + 4 * (R + P) + 2 * Z + P);
    expect(r, 4, 4, 2,
           (MergeStats){MERGES(MERGE_FULL, 1, 4, 4), .logs = 2});
    ref_finish(r);
    ref_free(r);
}

/* A log block that its own logical block has filled, out of order. */
static void test_own_full(void)
{
    Ref *r = drive("ftl.map=bast;ftl.log_blocks=3", true);

    for (int i = 0; i < 4; i++) {
        put_quietly(r, 2);
    }
    expect(r, 0, 0, 0, (MergeStats){.logs = 1});
    put_quietly(r, 2);
    expect(r, 4, 4, 2,
           (MergeStats){MERGES(MERGE_FULL, 1, 4, 4), .logs = 2});
    ref_finish(r);
    ref_free(r);
}

/* The log block that was written least recently goes first: that of logical
 * block 1 here. */
static void test_oldest(void)
{
    Ref *r = drive("ftl.map=bast;ftl.log_blocks=2", true);

    put_quietly(r, 1);
    put_quietly(r, 5);
    put_quietly(r, 2);
    put_quietly(r, 9);
    g_assert_cmpuint(r->ssd->map->log_of[0], !=, NONE);
    g_assert_cmpuint(r->ssd->map->log_of[1], ==, NONE);
    g_assert_cmpuint(r->ssd->map->log_of[2], !=, NONE);
    ref_finish(r);
    ref_free(r);
}

/*
 * FAST: pages 2 of four logical blocks fill the random log block.  The next such
 * page merges all four of them and erases five blocks.  Logical block 0 is in the
 * sequential log block meanwhile, and is merged when another begins.
 */
static void test_fast(void)
{
    Ref *r = drive("ftl.map=fast;ftl.log_blocks=2", true);
    MergeStats want = {MERGES(MERGE_FULL, 4, 16, 16),
                       .emptied = 1,
                       .logs = 3};

    put_quietly(r, 0);
    put_quietly(r, 1);
    for (uint64_t lpn = 6; lpn <= 18; lpn += 4) {
        put_quietly(r, lpn);
    }
    expect(r, 0, 0, 0, (MergeStats){.logs = 2});
    g_assert_cmpuint(put(r, 22), ==, E + 16 * (R + P) + 5 * Z + P);
    expect(r, 16, 16, 5, want);

    g_assert_cmpuint(put(r, 8), ==, E + 2 * (R + P) + Z + P);
    want.merges[MERGE_PARTIAL] = 1;
    want.copied_pages[MERGE_PARTIAL] = 2;
    want.copied_units[MERGE_PARTIAL] = 2;
    want.logs = 4;
    expect(r, 18, 18, 6, want);

    for (uint64_t lpn = 9; lpn < 12; lpn++) {
        put_quietly(r, lpn);
    }
    want.merges[MERGE_SWITCH] = 1;
    expect(r, 18, 18, 7, want);
    ref_finish(r);
    ref_free(r);
}

/* A full merge of the logical block that has the sequential log block takes that
 * along: three blocks and the random one are erased. */
static void test_fast_both(void)
{
    Ref *r = drive("ftl.map=fast;ftl.log_blocks=2", true);

    put_quietly(r, 0);
    for (int i = 0; i < 5; i++) {
        put_quietly(r, 3);
    }
    expect(r, 4, 4, 3,
           (MergeStats){MERGES(MERGE_FULL, 1, 4, 4),
                        .emptied = 1,
                        .logs = 3});
    ref_finish(r);
    ref_free(r);
}

/* On a new drive, pages in order go to the data block itself; one that is not
 * goes to the log, and the gap before it is padded when it is merged. */
static void test_new_drive(void)
{
    Ref *r = drive("ftl.map=bast;ftl.log_blocks=1", false);

    for (uint64_t lpn = 0; lpn < 3; lpn++) {
        g_assert_cmpuint(put(r, lpn), ==, E + P);
    }
    g_assert_cmpuint(put(r, 7), ==, E + P);
    expect(r, 0, 0, 0, (MergeStats){.logs = 1});
    /* 3 is the next of the data block still; 11 needs the log block. */
    g_assert_cmpuint(put(r, 3), ==, E + P);
    g_assert_cmpuint(put(r, 11), ==, E + 3 * P + R + P + Z + P);
    expect(r, 1, 4, 1,
           (MergeStats){MERGES(MERGE_FULL, 1, 1, 1),
                        .padded_pages = 3,
                        .logs = 2});
    ref_finish(r);
    ref_free(r);
}

/* A unit that a merge cannot read stays lost in its new place, and the rest is
 * as it was. */
static void test_unreadable(void)
{
    g_autofree char *path =
        ref_faults_file("on=read cause=merge nth=1 -> uncorrectable\n");
    g_autofree char *options =
        g_strconcat("ftl.map=bast;ftl.log_blocks=1;faults=", path, NULL);
    Ref *r = drive(options, true);
    SsdCompletion c;

    r->faults = true;
    put_quietly(r, 1);
    put_quietly(r, 6); /* merges logical block 0, page 0 first */
    c = ref_one(r, SSD_OP_READ, 0, 1, false);
    g_assert_cmpint(c.status, ==, SSD_STATUS_UNRECOVERED_READ);
    c = ref_one(r, SSD_OP_READ, 2 * r->unit_blocks, 1, false);
    g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
    ref_finish(r);
    ref_free(r);
    remove(path);
}

/* Blocks without valid units after a trim are erased, and nothing is copied. */
static void trimmed(const char *map)
{
    Ref *r = drive(map, true);

    put_quietly(r, 1);
    ref_one(r, SSD_OP_TRIM, 0, 4 * r->unit_blocks, false);
    for (uint64_t lpn = 0; lpn < 4; lpn++) {
        put_quietly(r, lpn);
    }
    expect(r, 0, 0, strstr(map, "bast") ? 2 : 1, (MergeStats){.logs = 1});
    ref_finish(r);
    ref_free(r);
}

static void test_trimmed(void)
{
    trimmed("ftl.map=bast;ftl.log_blocks=2");
    trimmed("ftl.map=fast;ftl.log_blocks=2");
}

/* ---- several units in a page --------------------------------------------- */

/*
 * Four units in a page, two planes.  A whole page goes to the data block's place
 * in a log block; single units of several pages of a plane share one page of the
 * log under FAST, those of one logical block under BAST.
 */
static void units(const char *map, uint64_t programs)
{
    g_autofree char *all = g_strconcat(
        "nand.blocks=16;nand.pages=4;ftl.op_percent=100%;", map, NULL);
    Ref *r = ref_new(ref_config(all), true);
    const NandStats *n = nand_stats(r->ssd->nand);

    g_assert_cmpuint(r->ssd->l.ready_units, ==, 8);
    /* Pages 1 or 3 of logical blocks 0, 1, 3 and 4 of the first plane. */
    for (uint64_t page = 1; page < 24; page += 6) {
        ref_one(r, SSD_OP_WRITE, page * 2 * 4 * r->unit_blocks, r->unit_blocks,
                false);
    }
    g_assert_cmpuint(n->ops[NAND_PROGRAM][NAND_CAUSE_HOST], ==, 0);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(n->ops[NAND_PROGRAM][NAND_CAUSE_HOST], ==, programs);
    ref_finish(r);
    ref_free(r);
}

static void test_units(void)
{
    units("ftl.map=fast;ftl.log_blocks=3", 1);
    units("ftl.map=bast;ftl.log_blocks=4", 4);
}

/* ---- ways of writing ----------------------------------------------------- */

#define LARGER                                                                 \
    "nand.channels=2;nand.blocks=30;nand.pages=16;ftl.capacity=7MiB;"          \
    "buffer.size=256KiB;"

/* The whole drive in order, again and again: nothing is copied. */
static void in_order(const char *map)
{
    g_autofree char *all = g_strconcat(LARGER, map, NULL);
    Ref *r = ref_new(ref_config(all), true);
    const MergeStats *s = &r->ssd->map->merge_stats;

    for (int round = 0; round < 5; round++) {
        for (uint64_t lpn = 0; lpn < r->n_units; lpn += 4) {
            ref_do(r, SSD_OP_WRITE, lpn * r->unit_blocks, 4 * r->unit_blocks,
                   false);
        }
    }
    ref_finish(r);
    g_assert_cmpuint(s->merges[MERGE_SWITCH], ==,
                     5ULL * 2 * r->ssd->l.logical_blocks);
    g_assert_cmpuint(s->merges[MERGE_PARTIAL] + s->merges[MERGE_FULL], ==, 0);
    g_assert_cmpuint(r->ssd->inspect.count.gc_copied_units, ==, 0);
    ref_free(r);
}

static void test_in_order(void)
{
    in_order("ftl.map=bast");
    in_order("ftl.map=fast");
    in_order("ftl.map=bast;ftl.unit=16KiB;ftl.log_blocks=1");
}

/* Pages all over the drive; merges for each of them. */
static double merges_of_random(const char *map)
{
    g_autofree char *all = g_strconcat(
        "nand.channels=1;nand.blocks=30;nand.pages=16;ftl.unit=16KiB;"
        "ftl.capacity=4MiB;ftl.log_blocks=8;", map, NULL);
    Ref *r = ref_new(ref_config(all), true);
    const uint64_t *n = r->ssd->map->merge_stats.merges;
    double merges;
    Prng rng;

    g_assert_cmpuint(r->ssd->l.logical_blocks, ==, 16);
    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 4000; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * r->unit_blocks,
               r->unit_blocks, false);
    }
    ref_finish(r);
    g_assert_cmpuint(n[MERGE_FULL], >, 100);
    merges = (double)(n[MERGE_PARTIAL] + n[MERGE_FULL]) / 4000;
    ref_free(r);
    return merges;
}

/* Twice as many logical blocks as log blocks: BAST merges log blocks that have
 * hardly been used, FAST fills all of them first. */
static void test_thrashing(void)
{
    double bast = merges_of_random("ftl.map=bast");
    double fast = merges_of_random("ftl.map=fast");

    g_test_message("merges for each page: %.3f BAST, %.3f FAST", bast, fast);
    g_assert_cmpfloat(bast, >, 2 * fast);
}

/* One log block, no more blocks than it takes, a full drive: it goes on. */
static void scarce(const char *options)
{
    g_autofree char *all = g_strconcat(
        "nand.channels=1;nand.blocks=16;nand.pages=4;ftl.unit=8KiB;"
        "buffer.size=32KiB;", options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    Prng rng;

    g_assert_cmpuint(r->ssd->l.logical_blocks + r->ssd->l.log_blocks + 2, ==,
                     16);
    prng_seed(&rng, 2, 2);
    for (int i = 0; i < 3000; i++) {
        uint32_t n = 1 + (uint32_t)prng_below(&rng, 3 * r->unit_blocks);
        uint64_t lba = prng_below(&rng, r->info->nblocks - n);

        ref_do(r, prng_below(&rng, 9) ? SSD_OP_WRITE : SSD_OP_TRIM, lba, n,
               i % 5 == 0);
        if (i % 300 == 0) {
            ref_verify(r);
        }
    }
    ref_finish(r);
    ref_free(r);
}

static void test_scarce(void)
{
    scarce("ftl.map=bast;ftl.log_blocks=1;ftl.capacity=832KiB");
    scarce("ftl.map=fast;ftl.log_blocks=2;ftl.capacity=768KiB");
    scarce("ftl.map=bast;ftl.log_blocks=1;ftl.capacity=832KiB;nand.program=0;"
           "nand.erase=0;nand.read=0");
}

/* ---- conflicts ---------------------------------------------------------- */

static void refuse(const char *options, const char *says)
{
    SsdConfig *cfg = ref_config(options);
    GError *error = NULL;
    Ssd *ssd = ssd_create(cfg, NULL, NULL, &error);

    g_assert_null(ssd);
    if (!strstr(error->message, says) || strchr(error->message, '\n')) {
        g_error("%s: says \"%s\", not \"%s\"", options, error->message, says);
    }
    g_error_free(error);
    ssd_config_free(cfg);
}

static void test_refused(void)
{
    static const char *const not_with[] = {
        "ftl.alloc=dynamic",
        "ftl.gc=fifo",
        "superblock.width=drive",
        "ftl.gc_soft=10%",
        "ftl.gc_preempt=on",
        "ftl.wear=static",
        "streams.max=2",
        "fdp.ruhs=2",
        "nand.cell=mlc;nand.slc_blocks=2",
        "nand.copyback=on",
        "media.factory_bad=1%",
        "media.program_fail=0.1",
        "media.erase_fail=0.1",
        "media.errors=on;ftl.refresh_reads=9",
        "media.errors=on;ftl.refresh_hours=9",
    };
    g_autofree char *path = ref_faults_file("on=program nth=3 -> fail\n");
    g_autofree char *faults = g_strconcat("ftl.map=bast;faults=", path, NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(not_with); i++) {
        g_autofree char *s = g_strconcat("ftl.map=fast;", not_with[i], NULL);

        refuse(s, "ftl.map=fast: not with ");
    }
    refuse("ftl.log_blocks=3", "ftl.log_blocks=3: needs ftl.map=bast or fast");
    refuse("ftl.map=fast;ftl.log_blocks=1", "needs at least 2");
    refuse("ftl.map=bast;nand.blocks=24;ftl.op_percent=12%",
           "needs 1 log blocks and 2");
    refuse("ftl.map=bast;ftl.log_blocks=9", "needs 9 log blocks and 2");

    refuse(faults, "ftl.map=bast: not with faults=");
    remove(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hybrid/switch", test_switch);
    g_test_add_func("/hybrid/partial", test_partial);
    g_test_add_func("/hybrid/full", test_full);
    g_test_add_func("/hybrid/own-full", test_own_full);
    g_test_add_func("/hybrid/oldest", test_oldest);
    g_test_add_func("/hybrid/fast", test_fast);
    g_test_add_func("/hybrid/fast-both", test_fast_both);
    g_test_add_func("/hybrid/new-drive", test_new_drive);
    g_test_add_func("/hybrid/unreadable", test_unreadable);
    g_test_add_func("/hybrid/trimmed", test_trimmed);
    g_test_add_func("/hybrid/units", test_units);
    g_test_add_func("/hybrid/in-order", test_in_order);
    g_test_add_func("/hybrid/thrashing", test_thrashing);
    g_test_add_func("/hybrid/scarce", test_scarce);
    g_test_add_func("/hybrid/refused", test_refused);
    return g_test_run();
}
