/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dftl.c - the map on demand: latencies worked out by hand, the cache against a
 * slow model of it, hit ratios, writes of GC, and drives with hardly any
 * room or cache.
 *
 * Times are those of ref-times.h, but pages have one unit: U is a page, too.  A
 * translation page has 1024 entries; page 1 is on the other channel.
 */
#include <string.h>

#include "component.h"
#include "gc/gc-policy.h"
#include "journal/journal.h"
#include "map/cmt-order.h"
#include "map/dftl.h"
#include "map/map-internal.h"
#include "outside.h"
#include "ref-times.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"

#define PER_PAGE 1024

#define READ_NS    (C + TR + U)
#define PROGRAM_NS (C + U + TPROG)

#define DRIVE                                                                  \
    "nand.page_size=4KiB;nand.pages=64;nand.blocks=40;ftl.op_percent=100;"     \
    "ftl.map=dftl;"
#define EIGHT DRIVE "ftl.map_cache=64;" /* entries */

/* ---- the cache against a slow model -------------------------------------- */

#define MODEL_MOST 13

enum { PROBATION, PROTECTED };

/* Units in the order of use, the latest first, in each segment. */
typedef struct Model {
    uint32_t lpn[CMT_LISTS][MODEL_MOST + 1];
    uint32_t n[CMT_LISTS];
} Model;

static bool model_take(Model *m, int s, uint32_t lpn)
{
    for (uint32_t i = 0; i < m->n[s]; i++) {
        if (m->lpn[s][i] == lpn) {
            m->n[s]--;
            memmove(&m->lpn[s][i], &m->lpn[s][i + 1],
                    (m->n[s] - i) * sizeof(uint32_t));
            return true;
        }
    }
    return false;
}

static void model_push(Model *m, int s, uint32_t lpn)
{
    memmove(&m->lpn[s][1], &m->lpn[s][0], m->n[s] * sizeof(uint32_t));
    m->lpn[s][0] = lpn;
    m->n[s]++;
}

/* A unit is used; *gone: the victim, or CMT_NONE.  false: it was not there. */
static bool model_use(Model *m, uint32_t lpn, uint32_t *gone)
{
    *gone = CMT_NONE;
    if (model_take(m, PROBATION, lpn) || model_take(m, PROTECTED, lpn)) {
        model_push(m, PROTECTED, lpn);
        if (m->n[PROTECTED] > MODEL_MOST / 2) {
            model_push(m, PROBATION, m->lpn[PROTECTED][--m->n[PROTECTED]]);
        }
        return true;
    }
    if (m->n[PROBATION] + m->n[PROTECTED] == MODEL_MOST) {
        int s = m->n[PROBATION] > 0 ? PROBATION : PROTECTED;

        *gone = m->lpn[s][--m->n[s]];
    }
    model_push(m, PROBATION, lpn);
    return false;
}

/* The cache does as the model: a unit is used. */
static void use_cached(Ssd *ssd, Cmt *c, Model *m, uint32_t lpn)
{
    uint32_t i = cmt_find(c, lpn);
    uint32_t gone;

    g_assert_cmpint(model_use(m, lpn, &gone), ==, i != CMT_NONE);
    if (i != CMT_NONE) {
        order_used(ssd, i);
        return;
    }
    g_assert_cmpint(cmt_used(c) == MODEL_MOST, ==, gone != CMT_NONE);
    if (gone != CMT_NONE) {
        uint32_t victim = order_victim(ssd);

        g_assert_cmpuint(c->entry[victim].lpn, ==, gone);
        cmt_remove(c, victim);
    }
    order_insert(ssd, cmt_insert(c, lpn));
}

/* There is no drive: only what a policy sees of one. */
static void test_cache(void)
{
    Dftl d = {.n_waiters = 0};
    Map map = {.policy_data = &d};
    Ssd ssd = {.map = &map, .cfg = ssd_config_new()};
    NandGeometry geo = {.n_blocks = 0};
    Model m = {.n = {0}};
    Prng rng;

    ssd.geo = &geo;
    ssd.cfg->map_cache_bytes = MODEL_MOST;
    ssd.l.cache_entry_bytes = 1;
    ssd.l.n_map_pages = 1;
    ssd.l.user_units = 60;
    cmt_init(&d.cmt, MODEL_MOST);
    order_init(&ssd);
    prng_seed(&rng, 1, 1);
    for (int k = 0; k < 200000; k++) {
        use_cached(&ssd, &d.cmt, &m,
                   (uint32_t)prng_below(&rng, prng_below(&rng, 2) ? 10 : 60));
        g_assert_true(k % 1000 || cmt_check(&d.cmt, 60));
    }
    g_assert_true(outside_works(ssd.outside[VSSD_POLICY_MAP]));
    cmt_clear(&d.cmt);
    g_assert_cmpuint(cmt_find(&d.cmt, 3), ==, CMT_NONE);
    cmt_destroy(&d.cmt);
    outside_component.destroy(&ssd);
    ssd_config_free(ssd.cfg);
}

/* ---- by hand ------------------------------------------------------------- */

static uint64_t map_stat(const Ref *r, const char *name)
{
    return stat_of(r->ssd, "\"map\":{\"scheme\"", name);
}

static uint64_t map_ops(Ref *r, NandOpKind kind)
{
    return nand_stats(r->ssd->nand)->ops[kind][NAND_CAUSE_MAP];
}

static SsdCompletion read_unit(Ref *r, uint32_t lpn)
{
    SsdCompletion c = ref_one(r, SSD_OP_READ, (uint64_t)lpn * UNIT, UNIT, false);

    ref_pass(r, 10000000);
    return c;
}

static SsdCompletion write_unit(Ref *r, uint32_t lpn)
{
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, (uint64_t)lpn * UNIT, UNIT,
                              false);

    ref_pass(r, 10000000);
    return c;
}

/* A miss reads the translation page first; then it is a hit. */
static void test_read(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);
    SsdCompletion c = read_unit(r, 5);

    g_assert_cmpuint(latency(&c), ==, F + READ_NS + READ_NS + L);
    g_assert_cmpuint(c.cost.map_ns, ==, READ_NS);
    c = read_unit(r, 5);
    g_assert_cmpuint(latency(&c), ==, F + READ_NS + L);
    g_assert_cmpuint(c.cost.map_ns, ==, 0);
    g_assert_cmpuint(map_stat(r, "lookups"), ==, 2);
    g_assert_cmpuint(map_stat(r, "hits"), ==, 1);
    g_assert_cmpuint(map_stat(r, "misses"), ==, 1);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 1);
    ref_free(r);
}

/* Units without a translation page cost nothing; nor do units in the buffer. */
static void test_free_lookups(void)
{
    Ref *r = ref_new(ref_config(EIGHT "nand.page_size=16KiB;"), false);
    SsdCompletion c = read_unit(r, 5);

    g_assert_cmpuint(latency(&c), ==, F + L);
    c = write_unit(r, 5); /* a page has four units: it stays in the buffer */
    g_assert_cmpuint(latency(&c), ==, F + L + B);
    c = read_unit(r, 5);
    g_assert_cmpuint(latency(&c), ==, F + B + L);
    g_assert_cmpuint(map_stat(r, "lookups"), ==, 0);
    ref_free(r);
}

/* As long as nothing has to go, no translation page is ever written; entries are
 * found in the cache all the same. */
static void test_whole_map_cached(void)
{
    Ref *r = ref_new(ref_config("nand.blocks=40;ftl.map=dftl"), false);

    for (uint32_t lpn = 0; lpn < 100; lpn++) {
        write_unit(r, lpn);
    }
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(map_stat(r, "lookups"), ==, 0);
    for (uint32_t lpn = 0; lpn < 50; lpn++) {
        read_unit(r, lpn);
    }
    for (uint32_t lpn = 0; lpn < 10; lpn++) {
        write_unit(r, lpn);
    }
    g_assert_cmpuint(map_stat(r, "lookups"), ==, 60);
    g_assert_cmpuint(map_stat(r, "hits"), ==, 60);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 0);
    ref_free(r);
}

/* Unused entries go first, be its translation page in NAND or not. */
static void test_used_entries_stay(void)
{
    Ref *r = ref_new(ref_config(EIGHT), false);

    for (uint32_t lpn = 0; lpn < 8; lpn++) {
        write_unit(r, lpn);
    }
    read_unit(r, 0);
    write_unit(r, 100);
    write_unit(r, 101);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), >, 0);
    g_assert_cmpuint(map_stat(r, "hits"), ==, 1);
    read_unit(r, 0);
    g_assert_cmpuint(map_stat(r, "hits"), ==, 2);
    ref_free(r);
}

/* A write needs its entry, before it enters the buffer. */
static void test_write(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);
    SsdCompletion c = write_unit(r, 5);

    g_assert_cmpuint(latency(&c), ==, F + L + B + READ_NS);
    g_assert_cmpuint(c.cost.map_ns, ==, READ_NS);
    c = write_unit(r, 5);
    g_assert_cmpuint(latency(&c), ==, F + L + B);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 0);
    ref_free(r);
}

/* A clean entry goes for nothing; of a dirty one the translation page is read and
 * programmed, and the command that needs its place waits for that. */
static void test_dirty_eviction(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);
    SsdCompletion c;

    write_unit(r, 0);
    for (uint32_t i = 0; i < 7; i++) {
        c = read_unit(r, PER_PAGE + i);
        g_assert_cmpuint(latency(&c), ==, F + READ_NS + READ_NS + L);
    }
    g_assert_cmpuint(map_stat(r, "cache_used"), ==, 8);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 0);
    c = read_unit(r, PER_PAGE + 7);
    g_assert_cmpuint(c.cost.map_ns, ==, READ_NS + READ_NS + PROGRAM_NS);
    g_assert_cmpuint(latency(&c), ==,
                     F + READ_NS + (READ_NS + PROGRAM_NS) + READ_NS + L);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 1);
    c = read_unit(r, PER_PAGE + 8);
    g_assert_cmpuint(latency(&c), ==, F + READ_NS + READ_NS + L);
    g_assert_cmpuint(map_stat(r, "dirty_evictions"), ==, 1);
    g_assert_cmpuint(map_stat(r, "clean_evictions"), ==, 1);
    ref_finish(r);
    ref_free(r);
}

/* All dirty entries of a page are written with the first one that goes. */
static void test_batch(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);

    for (uint32_t i = 0; i < 8; i++) {
        write_unit(r, i);
    }
    for (uint32_t i = 0; i < 8; i++) {
        read_unit(r, PER_PAGE + i);
    }
    g_assert_cmpuint(map_stat(r, "dirty_evictions"), ==, 1);
    g_assert_cmpuint(map_stat(r, "clean_evictions"), ==, 7);
    g_assert_cmpuint(map_stat(r, "writes_for_host"), ==, 1);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 1);
    ref_free(r);
}

/* An entry used twice is protected from those that come once. */
static void test_protected(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);

    read_unit(r, 3);
    read_unit(r, 3);
    for (uint32_t i = 0; i < 30; i++) {
        read_unit(r, PER_PAGE + i);
    }
    g_assert_cmpuint(map_stat(r, "misses"), ==, 31);
    read_unit(r, 3);
    g_assert_cmpuint(map_stat(r, "misses"), ==, 31);
    ref_free(r);
}

/* Commands that miss in the same page wait for one read; and so does all that
 * one command misses. */
static void test_shared_read(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);

    for (uint32_t i = 0; i < 5; i++) {
        ref_submit(r, SSD_OP_READ, i * 10 * UNIT, UNIT, false);
    }
    ref_drain(r);
    g_assert_cmpuint(map_stat(r, "misses"), ==, 5);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 1);
    ref_do(r, SSD_OP_READ, 100 * UNIT, 20 * UNIT, false);
    ref_drain(r);
    g_assert_cmpuint(map_stat(r, "misses"), ==, 25);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 2);
    /* From both sides of a border between translation pages. */
    ref_do(r, SSD_OP_READ, (PER_PAGE - 2) * UNIT, 4 * UNIT, false);
    ref_drain(r);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 4);
    ref_free(r);
}

/* A trim costs its command nothing; the page is written afterwards, once. */
static void test_trim(void)
{
    Ref *r = ref_new(ref_config(EIGHT), true);
    SsdCompletion c = ref_one(r, SSD_OP_TRIM, 0, 500 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F);
    ref_pass(r, 10000000);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 1);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 1);
    g_assert_cmpuint(map_stat(r, "writes_for_cleaning"), ==, 1);
    g_assert_cmpuint(map_stat(r, "stale_pages"), ==, 0);
    /* There is nothing left to trim. */
    ref_one(r, SSD_OP_TRIM, 0, 500 * UNIT, false);
    ref_pass(r, 10000000);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 1);
    ref_finish(r);
    ref_free(r);
}

/* A page of the map as large as a word line's program: a lookup reads the NAND
 * page with the entry, a write all of them. */
static void test_parts(void)
{
    Ref *r = ref_new(ref_config(DRIVE "nand.cell=tlc;nand.one_shot=on;"
                                      "nand.pages=66;ftl.map_cache=64"),
                     true);

    read_unit(r, 0);
    read_unit(r, PER_PAGE);     /* of the same translation page */
    read_unit(r, 2 * PER_PAGE); /* and again */
    read_unit(r, 1);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 4);
    ref_one(r, SSD_OP_TRIM, 5 * UNIT, UNIT, false);
    ref_pass(r, 10000000);
    g_assert_cmpuint(map_ops(r, NAND_READ), ==, 7);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, 3); /* in pages */
    ref_finish(r);
    ref_free(r);
}

/* Where lookups go on, the entries behind them come with the part that was
 * read: two here, not beyond that part, nor beyond the drive. */
static void test_prefetch(void)
{
    static const struct {
        uint32_t unit;
        bool hit;
    } row[] = {
        {5, false},
        {6, false},
        {7, true},
        {8, true},
        {9, false},
        {11, true},
        {20, false},
        {21, false},
        {22, true}, /* 20 brought none */
        {PER_PAGE - 2, false},
        {PER_PAGE - 1, false},
        {PER_PAGE, false},
    };
    Ref *r = ref_new(ref_config(EIGHT "ftl.map_prefetch=2"), true);

    for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
        uint64_t hits = map_stat(r, "hits");

        read_unit(r, row[i].unit);
        g_assert_cmpuint(map_stat(r, "hits") - hits, ==, row[i].hit);
    }
    read_unit(r, (uint32_t)r->n_units - 2);
    read_unit(r, (uint32_t)r->n_units - 1);
    ref_finish(r);
    ref_free(r);
}

/* ---- hit ratios ---------------------------------------------------------- */

static double miss_ratio(Ref *r)
{
    return (double)map_stat(r, "misses") / (double)map_stat(r, "lookups");
}

static void test_sequential(void)
{
    Ref *r = ref_new(ref_config(DRIVE "ftl.map_cache=4KiB;"
                                      "ftl.map_prefetch=63"), true);

    for (uint32_t lpn = 0; lpn < r->n_units; lpn++) {
        ref_one(r, SSD_OP_READ, (uint64_t)lpn * UNIT, UNIT, false);
    }
    g_assert_cmpfloat(miss_ratio(r), <, 0.018);
    ref_free(r);
    /* As the paper: nothing is read ahead, and no unit is read twice. */
    r = ref_new(ref_config(DRIVE "ftl.map_cache=4KiB"), true);
    for (uint32_t lpn = 0; lpn < r->n_units; lpn++) {
        ref_one(r, SSD_OP_READ, (uint64_t)lpn * UNIT, UNIT, false);
    }
    g_assert_cmpfloat(miss_ratio(r), ==, 1);
    ref_free(r);
}

/* Where every unit is as likely as any other, a cache with room for a share of
 * the entries hits with that share. */
static void uniform(uint32_t percent)
{
    g_autofree char *options = NULL;
    Ref *r = ref_new(ref_config(DRIVE), true);
    uint64_t n = r->n_units;
    Prng rng;

    options = g_strdup_printf(DRIVE "ftl.map_cache=%" G_GUINT64_FORMAT,
                              n * percent / 100 * 8);
    ref_free(r);
    r = ref_new(ref_config(options), true);
    prng_seed(&rng, percent, 1);
    for (uint32_t i = 0; i < 30000; i++) {
        if (i == 10000) {
            ssd_reset_stats(r->ssd);
        }
        ref_one(r, i % 8 ? SSD_OP_READ : SSD_OP_WRITE,
                prng_below(&rng, n) * UNIT, UNIT, false);
    }
    g_assert_cmpfloat(1 - miss_ratio(r), >, percent / 100.0 - 0.015);
    g_assert_cmpfloat(1 - miss_ratio(r), <, percent / 100.0 + 0.015);
    ref_finish(r);
    ref_free(r);
}

static void test_uniform(void)
{
    uniform(10);
    uniform(25);
    uniform(60);
}

/* ---- GC ----------------------------------------------------------------- */

static void overwrite(Ref *r, unsigned times, uint64_t seed)
{
    Prng rng;

    r->n_streams = r->info->host_streams;
    prng_seed(&rng, seed, 1);
    for (uint64_t i = 0; i < times * r->n_units; i++) {
        ref_do(r, i % 16 ? SSD_OP_WRITE : SSD_OP_READ,
               prng_below(&rng, r->n_units) * r->unit_blocks, r->unit_blocks,
               false);
    }
    ref_finish(r);
}

static Ref *overwritten(const char *options, unsigned times, uint64_t seed)
{
    Ref *r = ref_new(ref_config(options), true);

    overwrite(r, times, seed);
    return r;
}

/* Entries that are all in the cache change there; else a victim costs each
 * translation page at most one write. */
static void test_cleaning(void)
{
    Ref *r = overwritten(DRIVE "nand.pages=32;ftl.op_percent=80%;"
                               "ftl.map_cache=1MiB", 1, 1);
    uint64_t programs;

    for (uint32_t lpn = 0; lpn < r->n_units; lpn++) {
        ref_do(r, SSD_OP_READ, (uint64_t)lpn * UNIT, UNIT, false);
    }
    ref_drain(r);
    programs = map_ops(r, NAND_PROGRAM);
    ssd_reset_stats(r->ssd);
    overwrite(r, 8, 1);
    g_assert_cmpuint(r->ssd->inspect.count.gc_victims, >, 50);
    g_assert_cmpuint(r->ssd->inspect.count.gc_copied_units, >, 1000);
    g_assert_cmpuint(map_stat(r, "misses"), ==, 0);
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==, programs);
    ref_free(r);

    r = overwritten(DRIVE "nand.pages=32;ftl.op_percent=80%;"
                          "ftl.map_cache=64", 8, 1);
    g_assert_true(ssd_rest(r->ssd, NS_PER_S));
    g_assert_cmpuint(map_stat(r, "writes_for_cleaning"), >, 0);
    g_assert_cmpuint(map_stat(r, "writes_for_cleaning"), <=,
                     r->ssd->inspect.count.gc_victims *
                         map_stat(r, "translation_pages"));
    g_assert_cmpuint(map_ops(r, NAND_PROGRAM), ==,
                     map_stat(r, "writes_for_cleaning") +
                         map_stat(r, "writes_for_host"));
    ref_free(r);
}

/* A full drive with as little room as is allowed, a cache of eight entries, and
 * every victim policy; all streams open; nothing stands still. */
static void test_tight(void)
{
    for (int i = 0; gc_policies[i]; i++) {
        g_autofree char *tight = g_strdup_printf(
            DRIVE "nand.channels=1;nand.blocks=2600;nand.pages=4;ftl.gc_low=0;"
            "ftl.gc_high=0;"
            "nand.page_size=1KiB;ftl.unit=1KiB;ftl.op_percent=1;"
            "nand.ecc_codeword=512;buffer.size=16KiB;ftl.map_cache=64;"
            "ftl.gc=%s", gc_policies[i]->name);
        g_autofree char *streams = g_strdup_printf(
            DRIVE "nand.pages=4;nand.page_size=1KiB;ftl.unit=512;"
            "nand.ecc_codeword=512;buffer.size=16KiB;ftl.map_cache=64;"
            "nand.blocks=160;streams.max=6;ftl.op_percent=80;"
            "ftl.wear=static;ftl.wear_spread=1;ftl.gc=%s",
            gc_policies[i]->name);

        ref_free(overwritten(tight, 3, 2));
        ref_free(overwritten(streams, 4, 3));
    }
}

/* A drive that fails more and more ends as a read-only one, and can be read. */
static void test_end_of_life(void)
{
    Ref *r = ref_new(ref_config(EIGHT "nand.pages=4;nand.page_size=1KiB;"
                                "ftl.unit=512;nand.ecc_codeword=512;"
                                "media.program_fail=0.01;buffer.size=16KiB"),
                     true);
    Prng rng;

    r->faults = true;
    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 20000; i++) {
        uint64_t lba = prng_below(&rng, r->n_units) * r->unit_blocks;

        ref_do(r, i % 3 ? SSD_OP_WRITE : SSD_OP_READ, lba, r->unit_blocks,
               false);
    }
    ref_drain(r);
    g_assert_true(ssd_read_only(r->ssd));
    ref_verify(r);
    ref_free(r);
}

/* The drive starts with the translation pages of its data, and no other. */
static void test_preload(void)
{
    Ssd *ssd = ref_drive(ref_config(DRIVE));
    uint64_t lpn[] = {0, 5, 2 * PER_PAGE};

    g_assert_cmpuint(ssd->l.n_map_pages, ==, 3);
    g_assert_cmpint(ssd_preload(ssd, PER_PAGE, 1), ==, 0);
    g_assert_true(!meta_in_nand(ssd, 0) && meta_in_nand(ssd, 1) &&
                  !meta_in_nand(ssd, 2));
    g_assert_cmpint(ssd_age(ssd, lpn, G_N_ELEMENTS(lpn)), ==, 0);
    g_assert_true(meta_in_nand(ssd, 0) && meta_in_nand(ssd, 2));
    g_assert_true(ssd_check(ssd, NULL));
    ssd_destroy(ssd);
}

/* ---- the host memory buffer --------------------------------------------- */

#define HMB    EIGHT "ftl.hmb=1KiB;ftl.hmb_latency=2us;host.link_mb_s=0;"
#define IN_HMB 128 /* entries */

static uint64_t read_ns(Ref *r, uint64_t unit)
{
    SsdCompletion c = ref_one(r, SSD_OP_READ, unit * UNIT, UNIT, false);

    return c.complete_ns - c.submit_ns;
}

/* An entry that has left the cache costs a read of host memory; the next use is
 * a hit in the cache.  After a power cut NAND alone has it. */
static void test_hmb(void)
{
    const uint64_t in_nand = F + READ_NS + READ_NS;
    const uint64_t in_hmb = F + 2000 + READ_NS;
    Ref *r = ref_new(ref_config(HMB), true);
    SsdCompletion c;

    for (uint64_t unit = 0; unit < 9; unit++) {
        g_assert_cmpuint(read_ns(r, unit), ==, in_nand);
    }
    c = ref_one(r, SSD_OP_READ, 0, UNIT, false); /* eight others have come */
    g_assert_cmpuint(c.complete_ns - c.submit_ns, ==, in_hmb);
    g_assert_cmpuint(c.cost.map_ns, ==, 2000);
    g_assert_cmpuint(read_ns(r, 0), ==, F + READ_NS);
    g_assert_cmpuint(map_stat(r, "hmb_hits"), ==, 1);
    ref_verify(r);
    ref_power_cycle(r);
    g_assert_cmpuint(read_ns(r, 1), ==, in_nand);
    ref_free(r);
}

/* Each entry is read from NAND once, if there is room for all. */
static void test_hmb_room(void)
{
    Ref *r = ref_new(ref_config(HMB), true);
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 3000; i++) {
        read_ns(r, prng_below(&rng, IN_HMB));
    }
    g_assert_cmpuint(map_stat(r, "misses") - map_stat(r, "hmb_hits"), ==,
                     IN_HMB);
    g_assert_cmpuint(map_stat(r, "lookup_reads"), ==, IN_HMB);
    ref_verify(r);
    ref_free(r);
}

/* An entry of a unit that is written or trimmed is not true there any more. */
static void test_hmb_changed(void)
{
    Ref *r = ref_new(ref_config(HMB), true);

    for (uint64_t unit = 0; unit < 20; unit++) {
        read_ns(r, unit);
    }
    ref_one(r, SSD_OP_WRITE, 0, UNIT, true);
    g_assert_cmpuint(read_ns(r, 0), ==, F + READ_NS);
    ref_one(r, SSD_OP_TRIM, 3 * UNIT, UNIT, false);
    read_ns(r, 3);
    g_assert_cmpuint(map_stat(r, "hmb_hits"), ==, 1); /* that of the write */
    read_ns(r, 4);
    g_assert_cmpuint(map_stat(r, "hmb_hits"), ==, 2);
    ref_verify(r);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dftl/cache", test_cache);
    g_test_add_func("/dftl/read", test_read);
    g_test_add_func("/dftl/free-lookups", test_free_lookups);
    g_test_add_func("/dftl/whole-map-cached", test_whole_map_cached);
    g_test_add_func("/dftl/used-entries-stay", test_used_entries_stay);
    g_test_add_func("/dftl/write", test_write);
    g_test_add_func("/dftl/dirty-eviction", test_dirty_eviction);
    g_test_add_func("/dftl/batch", test_batch);
    g_test_add_func("/dftl/protected", test_protected);
    g_test_add_func("/dftl/shared-read", test_shared_read);
    g_test_add_func("/dftl/trim", test_trim);
    g_test_add_func("/dftl/parts", test_parts);
    g_test_add_func("/dftl/prefetch", test_prefetch);
    g_test_add_func("/dftl/sequential", test_sequential);
    g_test_add_func("/dftl/uniform", test_uniform);
    g_test_add_func("/dftl/cleaning", test_cleaning);
    g_test_add_func("/dftl/tight", test_tight);
    g_test_add_func("/dftl/end-of-life", test_end_of_life);
    g_test_add_func("/dftl/preload", test_preload);
    g_test_add_func("/dftl/hmb", test_hmb);
    g_test_add_func("/dftl/hmb/room", test_hmb_room);
    g_test_add_func("/dftl/hmb/changed", test_hmb_changed);
    return g_test_run();
}
