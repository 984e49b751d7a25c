/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wide.c - drives of 2^31 units and more: numbers of units of 64 bits, time and
 * memory in proportion to what is written, with each map and each way of return
 * from a power cut; and tables of both widths alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "map/hybrid.h"
#include "media/spare.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define MIB      (1ULL << 20)
#define TIB      (1ULL << 40)
#define N_WRITES 3000

static uint64_t resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long long total, resident;

    g_assert_nonnull(f);
    g_assert_cmpint(fscanf(f, "%llu %llu", &total, &resident), ==, 2);
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A sanitizer gives memory of earlier tests back meanwhile. */
static uint64_t grown_since(uint64_t before)
{
    return MAX(resident_bytes(), before) - before;
}

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* ---- a host of a large drive --------------------------------------------- */

typedef struct Host {
    SsdConfig *cfg;
    Ssd *ssd;
    uint64_t version;
    uint64_t now_ns;
    uint64_t lpn[N_WRITES]; /* by version - 1 */
    bool durable[N_WRITES];
} Host;

static void programmed(void *opaque, uint64_t lpn, uint64_t version)
{
    Host *h = opaque;

    g_assert_cmpuint(version, <=, h->version);
    g_assert_cmpuint(h->lpn[version - 1], ==, lpn);
    h->durable[version - 1] = true;
}

static void superseded(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps ops = {.programmed = programmed,
                               .superseded = superseded};

static void submit(Host *h, SsdOp op, uint64_t lba, uint32_t nblocks)
{
    SsdCmd cmd = {.tag = 1,
                  .op = op,
                  .lba = lba,
                  .nblocks = nblocks,
                  .version = h->version};
    SsdCompletion done;

    g_assert_cmpint(ssd_submit(h->ssd, h->now_ns, &cmd), ==, 0);
    while (ssd_advance(h->ssd, h->now_ns, &done, 1) == 0) {
        h->now_ns = MAX(h->now_ns + 1, ssd_next_event_ns(h->ssd));
    }
    g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
}

static void write_units(Host *h, uint64_t n, Prng *r)
{
    uint64_t nblocks = ssd_info(h->ssd)->nblocks;

    while (n-- > 0) {
        uint64_t lpn = prng_below(r, nblocks);

        lpn = n % 3 ? lpn : nblocks - 1 - lpn % 4096; /* the end, too */
        h->lpn[h->version++] = lpn;
        submit(h, SSD_OP_WRITE, lpn, 1);
        submit(h, SSD_OP_READ, lpn, 1);
    }
}

/* Every durable unit has its newest version, and is where its spare area says.
 * Of the largest drive ssd_check() looks once: it takes seconds. */
static void check(Host *h, uint64_t from)
{
    GError *error = NULL;

    for (uint64_t v = from; v < h->version; v++) {
        bool overtaken = false;
        uint64_t version;
        uint64_t entry;

        for (uint64_t later = v + 1; later < h->version; later++) {
            overtaken = overtaken || h->lpn[later] == h->lpn[v];
        }
        if (!h->durable[v] || overtaken) {
            continue;
        }
        g_assert_true(ssd_mapped(h->ssd, h->lpn[v], &version));
        g_assert_cmpuint(version, ==, v + 1);
        entry = l2p_get(&h->ssd->l2p, h->lpn[v]);
        if (!map_is_buffered(entry)) {
            g_assert_cmpuint(spare_lpn(h->ssd, entry - 1), ==, h->lpn[v]);
        }
    }
    if (ssd_info(h->ssd)->nblocks < 100 * TIB / 4096 || from == h->version) {
        ssd_check(h->ssd, &error);
        g_assert_no_error(error);
    }
}

static void reload(Host *h)
{
    FILE *f = tmpfile();
    GError *error = NULL;

    g_assert_true(ssd_rest(h->ssd, 1000000000000));
    g_assert_true(ssd_save(h->ssd, f, &error));
    rewind(f);
    ssd_destroy(h->ssd);
    h->ssd = ssd_load(h->cfg, &ops, h, f, &error);
    g_assert_no_error(error);
    h->now_ns = ssd_now_ns(h->ssd) + 1;
    fclose(f);
}

static void trim_all(Host *h)
{
    uint64_t n = ssd_info(h->ssd)->nblocks;

    for (uint64_t lba = 0; lba < n; lba += MIN(n - lba, 1U << 31)) {
        submit(h, SSD_OP_TRIM, lba, (uint32_t)MIN(n - lba, 1U << 31));
    }
    for (uint64_t v = 0; v < h->version; v++) {
        g_assert_false(ssd_mapped(h->ssd, h->lpn[v], NULL));
    }
    g_assert_cmpuint(h->ssd->l2p.mapped_units, ==, 0);
}

/* Blocks of 64 MiB, an eighth of them spare.  Few dies, since each has tables
 * of the pages in use; those of log blocks, of which each die has some, are
 * more. */
static char *options_of(uint64_t tib, const char *more)
{
    return g_strdup_printf(
        "nand.channels=16;nand.chips=%u;nand.dies=%u;nand.planes=%u;"
        "nand.blocks=%u;nand.pages=4096;ftl.capacity=%" PRIu64 "TiB;%s",
        tib > 17 ? 2 : 8, tib == 17 ? 4 : 1, tib > 17 ? 4 : 1,
        tib == 17 ? 800 : (unsigned)tib * 144, tib, more);
}

typedef struct Large {
    unsigned tib;
    const char *options;
} Large;

static void test_size(gconstpointer data)
{
    const Large *large = data;
    uint64_t tib = large->tib;
    uint64_t before = resident_bytes();
    double start = cpu_s();
    Host *h = g_new0(Host, 1);
    GError *error = NULL;
    uint64_t empty;
    uint64_t highest = 0;
    double made;
    Prng r;
    g_autofree char *options = options_of(tib, large->options);

    prng_seed(&r, 1, tib);
    h->cfg = ref_config(options);
    ssd_config_set_block_bytes(h->cfg, 4096, &error);
    h->ssd = ssd_create(h->cfg, &ops, h, &error);
    g_assert_no_error(error);
    made = cpu_s() - start;
    empty = grown_since(before);
    g_assert_true(h->ssd->l.wide);
    g_assert_cmpuint(ssd_info(h->ssd)->nblocks, ==, tib * TIB / 4096);
    write_units(h, N_WRITES / 3, &r);
    submit(h, SSD_OP_FLUSH, 0, 0);
    check(h, 0);
    for (uint64_t v = 0; v < h->version; v++) {
        highest = MAX(highest, l2p_get(&h->ssd->l2p, h->lpn[v]));
    }
    g_assert_cmpuint(highest, >, UINT32_MAX);
    g_test_message("%" PRIu64
                   " TiB: made in %.2f s with %.1f MiB, %.1f MiB with "
                   "%u units written all over it",
                   tib, made, (double)empty / MIB,
                   (double)(grown_since(before)) / MIB, N_WRITES / 3);
    g_assert_cmpfloat(made, <, 2);
    g_assert_cmpuint(grown_since(before), <, 200 * MIB);
    reload(h);
    check(h, 0);
    write_units(h, N_WRITES / 3, &r);
    ssd_power_cut(h->ssd, h->now_ns);
    ssd_power_on(h->ssd, h->now_ns);
    check(h, 0);
    write_units(h, N_WRITES / 3, &r);
    submit(h, SSD_OP_FLUSH, 0, 0);
    check(h, 0);
    trim_all(h);
    check(h, h->version);
    g_test_message("%" PRIu64 " TiB: %.1f s and %.1f MiB in all", tib,
                   cpu_s() - start, (double)(grown_since(before)) / MIB);
    ssd_destroy(h->ssd);
    ssd_config_free(h->cfg);
    g_free(h);
}

/* ---- what a power cut leaves, with each way of return -------------------- */

#define N_CUT (N_WRITES / 3)

/* Blocks of 64 MiB. */
static Host *host_of(const char *options)
{
    Host *h = g_new0(Host, 1);
    GError *error = NULL;

    h->cfg = ref_config(options);
    ssd_config_set_block_bytes(h->cfg, 4096, &error);
    h->ssd = ssd_create(h->cfg, &ops, h, &error);
    g_assert_no_error(error);
    g_assert_true(h->ssd->l.wide);
    return h;
}

static void host_free(Host *h)
{
    ssd_destroy(h->ssd);
    ssd_config_free(h->cfg);
    g_free(h);
}

/* The power goes and comes; the first command waits until the drive is ready.
 */
static void cut(Host *h)
{
    ssd_power_cut(h->ssd, h->now_ns);
    ssd_power_on(h->ssd, h->now_ns);
    submit(h, SSD_OP_READ, 0, 1);
    g_assert_true(ssd_ready(h->ssd));
}

/* Every 16th unit that was written, for good. */
static void trim_some(Host *h)
{
    for (uint64_t v = 0; v < h->version; v += 16) {
        submit(h, SSD_OP_TRIM, h->lpn[v], 1);
    }
    submit(h, SSD_OP_FLUSH, 0, 0); /* programs under way have ended, too */
    for (uint64_t v = 0; v < h->version; v += 16) {
        for (uint64_t k = 0; k < h->version; k++) {
            h->durable[k] = h->durable[k] && h->lpn[k] != h->lpn[v];
        }
    }
}

static void check_trimmed(Host *h, uint64_t n)
{
    for (uint64_t v = 0; v < n; v += 16) {
        bool again = false;

        for (uint64_t k = n; k < h->version; k++) {
            again = again || h->lpn[k] == h->lpn[v];
        }
        g_assert_true(again || !ssd_mapped(h->ssd, h->lpn[v], NULL));
    }
}

static void test_return(gconstpointer data)
{
    const Large *large = data;
    uint64_t before = resident_bytes();
    double start = cpu_s();
    g_autofree char *options = options_of(large->tib, large->options);
    Host *h = host_of(options);
    double made = cpu_s() - start;
    uint64_t highest = 0;
    Prng r;

    prng_seed(&r, 1, 3);
    g_assert_cmpuint(h->ssd->l.user_units, >, UINT32_MAX);
    write_units(h, N_CUT, &r);
    trim_some(h);
    submit(h, SSD_OP_SHUTDOWN, 0, 0); /* with ftl.recovery=checkpoint: one */
    write_units(h, N_CUT / 2, &r);
    cut(h);
    check(h, 0);
    check_trimmed(h, N_CUT);
    write_units(h, N_CUT / 2, &r);
    reload(h);
    cut(h);
    check(h, 0);
    check_trimmed(h, N_CUT);
    for (uint64_t v = 0; v < h->version; v++) {
        highest = MAX(highest, l2p_get(&h->ssd->l2p, h->lpn[v]));
    }
    g_assert_cmpuint(highest, >, UINT32_MAX);
    g_test_message("%u TiB, %s: made in %.2f s, %.1f s and %.1f MiB in all",
                   large->tib, large->options, made, cpu_s() - start,
                   (double)(grown_since(before)) / MIB);
    g_assert_cmpfloat(made, <, 2);
    g_assert_cmpuint(grown_since(before), <, 500 * MIB);
    host_free(h);
}

/* ---- GC above 2^31 ------------------------------------------------------- */

/* GC empties blocks in which programs failed; the power goes and comes. */
static void test_gc(gconstpointer how)
{
    g_autofree char *options = g_strdup_printf(
        "nand.channels=4;nand.chips=1;nand.dies=2;nand.planes=1;"
        "nand.blocks=12800;nand.pages=16384;ftl.capacity=17TiB;"
        "media.errors=on;media.program_fail=0.05;%s",
        (const char *)how);
    Host *h = host_of(options);
    uint64_t copied;
    Prng r;

    prng_seed(&r, 1, 4);
    write_units(h, N_CUT, &r);
    submit(h, SSD_OP_FLUSH, 0, 0);
    h->now_ns += 10 * 1000000000ULL; /* GC ends */
    g_assert_cmpuint(ssd_advance(h->ssd, h->now_ns, NULL, 0), ==, 0);
    copied = h->ssd->inspect.count.gc_copied_units;
    g_assert_cmpuint(copied, >, 3);
    check(h, 0);
    cut(h);
    check(h, 0);
    write_units(h, N_CUT, &r);
    cut(h);
    check(h, 0);
    g_assert_cmpuint(h->ssd->inspect.count.gc_copied_units, >, copied);
    host_free(h);
}

static Host *merging(const char *map)
{
    g_autofree char *options = g_strdup_printf(
        "nand.channels=4;nand.chips=1;nand.dies=2;nand.planes=1;"
        "nand.blocks=51200;nand.pages=4096;ftl.capacity=17TiB;"
        "ftl.log_blocks=2;ftl.map=%s",
        map);

    return host_of(options);
}

/* Each log block is of one logical block, and two are in use: copies of full
 * merges are where they belong. */
static void test_full_merges(void)
{
    Host *h = merging("bast");
    const uint64_t *merges = h->ssd->map->merge_stats.merges;
    uint64_t before;
    Prng r;

    prng_seed(&r, 1, 6);
    write_units(h, 200, &r);
    submit(h, SSD_OP_FLUSH, 0, 0);
    before = merges[MERGE_FULL];
    g_assert_cmpuint(before, >, 20);
    check(h, 0);
    reload(h);
    merges = h->ssd->map->merge_stats.merges;
    check(h, 0);
    write_units(h, 100, &r);
    cut(h);
    check(h, 0);
    write_units(h, 100, &r);
    submit(h, SSD_OP_FLUSH, 0, 0);
    check(h, 0);
    g_assert_cmpuint(merges[MERGE_FULL], >, before);
    host_free(h);
}

static void write_page(Host *h, uint32_t logical, uint32_t page)
{
    for (uint32_t u = 0; u < h->ssd->l.units_per_program; u++) {
        h->lpn[h->version++] = logical_lpn(h->ssd, logical, page, u);
        submit(h, SSD_OP_WRITE, h->lpn[h->version - 1], 1);
    }
    submit(h, SSD_OP_FLUSH, 0, 0);
}

/* The last logical blocks: their first pages are written again, in order, and
 * the second ones are copied. */
static void test_partial_merges(void)
{
    Host *h = merging("fast");
    uint32_t last = h->ssd->l.n_planes * h->ssd->l.logical_blocks - 2;

    for (uint32_t k = 0; k < 20; k++) {
        write_page(h, last - k, 0);
        write_page(h, last - k, 1);
        write_page(h, last - k, 0);
    }
    g_assert_cmpuint(h->lpn[0], >, UINT32_MAX);
    g_assert_cmpuint(h->ssd->map->merge_stats.merges[MERGE_PARTIAL], >=, 19);
    g_assert_cmpuint(h->ssd->map->merge_stats.copied_units[MERGE_PARTIAL], >=,
                     19 * h->ssd->l.units_per_program);
    check(h, 0);
    cut(h);
    check(h, 0);
    reload(h);
    check(h, 0);
    host_free(h);
}

/* ---- aging ----------------------------------------------------------- */

/* Units that were written without modelled time are where they should be. */
static void test_age(gconstpointer map)
{
    g_autofree char *options = options_of(17, map);
    Host *h = host_of(options);
    uint64_t nblocks = ssd_info(h->ssd)->nblocks;
    Prng r;

    prng_seed(&r, 1, 7);
    while (h->version < N_CUT) {
        uint64_t *lpn = &h->lpn[h->version];

        for (unsigned i = 0; i < 10; i++) {
            lpn[i] = i % 3 ? prng_below(&r, nblocks) : nblocks - 1 - i;
            h->durable[h->version + i] = true;
        }
        g_assert_cmpint(ssd_age(h->ssd, lpn, 10), ==, 0);
        h->version += 10;
    }
    check(h, 0);
    write_units(h, N_CUT / 5, &r);
    cut(h);
    check(h, 0);
    host_free(h);
}

/* Many times the capacity: GC, too, puts every unit at the same place. */
static void test_age_widths(gconstpointer options)
{
    enum { AGED = 20000 };
    Ssd *ssd[2];
    uint64_t n;
    Prng r;

    for (int wide = 0; wide < 2; wide++) {
        SsdConfig *cfg = ref_config(options);

        cfg->wide_tables = wide;
        ssd[wide] = ref_drive(cfg);
        g_assert_true(ssd[wide]->l.wide == wide);
    }
    n = ssd[0]->l.user_units;
    prng_seed(&r, 1, 8);
    for (unsigned i = 0; i < AGED; i++) {
        uint64_t lpn = prng_below(&r, n);

        g_assert_cmpint(ssd_age(ssd[0], &lpn, 1), ==, 0);
        g_assert_cmpint(ssd_age(ssd[1], &lpn, 1), ==, 0);
    }
    for (uint64_t lpn = 0; lpn < n; lpn++) {
        g_assert_cmpuint(l2p_get(&ssd[0]->l2p, lpn), ==,
                         l2p_get(&ssd[1]->l2p, lpn));
    }
    for (int wide = 0; wide < 2; wide++) {
        GError *error = NULL;

        g_assert_cmpuint(ssd[wide]->inspect.count.gc_copied_units, >, 1000);
        ssd_check(ssd[wide], &error);
        g_assert_no_error(error);
        ssd_destroy(ssd[wide]);
    }
}

/* ---- both widths --------------------------------------------------------- */

#define SMALL                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=2;nand.blocks=40;"   \
    "nand.pages=4;ftl.op_percent=100%;"

/* Everything that a host can see of a run with GC, TRIM and power cuts. */
static char *run(const char *options, bool wide)
{
    SsdConfig *cfg = ref_config(options);
    GString *seen = g_string_new(NULL);
    Prng rng;
    Ref *r;

    cfg->wide_tables = wide;
    r = ref_new(cfg, false);
    g_assert_true(r->ssd->l.wide == wide);
    r->reports = g_string_new(NULL);
    r->log = g_array_new(false, false, sizeof(SsdCompletion));
    prng_seed(&rng, 7, 7);
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t lba = prng_below(&rng, r->info->nblocks);
        SsdOp op = i % 50 == 0   ? SSD_OP_FLUSH
                   : i % 23 == 0 ? SSD_OP_TRIM
                   : i % 4 == 0  ? SSD_OP_READ
                                 : SSD_OP_WRITE;

        ref_do(r, op, op == SSD_OP_FLUSH ? 0 : lba,
               op == SSD_OP_FLUSH ? 0
                                  : (uint32_t)MIN(16, r->info->nblocks - lba),
               false);
    }
    for (unsigned i = 0; i < r->log->len; i++) {
        const SsdCompletion *c = &g_array_index(r->log, SsdCompletion, i);

        g_string_append_printf(seen, "%" PRIu64 " %" PRIu64 " %d\n", c->tag,
                               c->complete_ns, c->status);
    }
    g_string_append(seen, r->reports->str);
    g_assert_cmpuint(r->ssd->inspect.count.gc_victims +
                         r->ssd->map->merge_stats.merges[MERGE_FULL],
                     >, 10);
    ref_free(r);
    return g_string_free(seen, FALSE);
}

static void test_widths(void)
{
    static const char *const kinds[] = {
        SMALL,
        SMALL "ftl.map=dftl;ftl.map_cache=4KiB",
        SMALL "ftl.recovery=scan",
        SMALL "ftl.recovery=checkpoint",
        SMALL "buffer.policy=lru;ftl.unit=4KiB",
        SMALL "ftl.map=bast;ftl.log_blocks=4",
        SMALL "ftl.map=fast;ftl.log_blocks=4",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *narrow = run(kinds[i], false);
        g_autofree char *wide = run(kinds[i], true);

        g_assert_cmpstr(narrow, ==, wide);
    }
}

/* 2^31 - 2^12 and 2^31 units of 4 KiB: one width each. */
static void test_boundary(void)
{
    static const struct {
        const char *blocks;
        bool wide;
    } size[] = {{"131071", false}, {"131072", true}};

    for (size_t i = 0; i < G_N_ELEMENTS(size); i++) {
        g_autofree char *options = g_strdup_printf(
            "nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=2;"
            "nand.blocks=%s;nand.pages=1024;nand.page_size=16KiB;"
            "ftl.unit=4KiB;ftl.op_percent=10%%",
            size[i].blocks);
        Ssd *ssd = ref_drive(ref_config(options));

        g_assert_true(ssd->l.wide == size[i].wide);
        g_assert_cmpuint(ssd->l.raw_units > INT32_MAX, ==, size[i].wide);
        ssd_destroy(ssd);
    }
}

/* Tables whose indices have 32 bits say how many units they allow. */
static void test_limits(void)
{
    static const struct {
        const char *options;
        const char *says;
    } wrong[] = {
        {"ftl.map=dftl", "ftl.map=dftl: with at most 137438953408 units"},
        {"ftl.recovery=scan",
         "ftl.recovery=scan: with at most 137438953408 units"},
        {"buffer.block=512", "with at most 2147483647 units"},
        {"ftl.map=dftl;nand.page_size=4KiB;nand.blocks=2048;"
         "ftl.map_cache=32GiB",
         "ftl.map_cache=more than 16GiB: with at most 2147483647 units"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *options = g_strdup_printf(
            "nand.channels=16;nand.chips=8;nand.dies=4;nand.planes=4;"
            "nand.blocks=16385;nand.pages=4096;nand.page_size=512;"
            "ftl.unit=512;nand.ecc_codeword=512;ftl.op_percent=10%%;%s",
            wrong[i].options);
        SsdConfig *cfg = ssd_config_new();
        GError *error = NULL;

        g_assert_true(ssd_config_set(cfg, options, &error));
        g_assert_false(ssd_config_check(cfg, &error));
        g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, wrong[i].says));
        g_assert_null(strchr(error->message, '\n'));
        g_error_free(error);
        ssd_config_free(cfg);
    }
}

static const Large sizes[] = {
    {16, ""},
    {64, ""},
    {64, "ftl.map=bast"},
    {64, "ftl.map=fast"},
    {256, ""},
    {256, "ftl.map=fast"},
};

#define CAPACITORS      "ftl.recovery=capacitors"
#define SCAN            "ftl.recovery=scan"
#define CHECKPOINT      "ftl.recovery=checkpoint"
#define DFTL            "ftl.map=dftl;ftl.map_cache=4KiB"
#define DFTL_CHECKPOINT DFTL ";" CHECKPOINT

static const char *const returns[] = {CAPACITORS, SCAN, CHECKPOINT, DFTL,
                                      DFTL_CHECKPOINT};

static const char *const ages[] = {CAPACITORS, CHECKPOINT, DFTL,
                                   "ftl.map=bast;ftl.log_blocks=4",
                                   "ftl.map=fast;ftl.log_blocks=4"};

/* More than 2^32 units. */
#define SMALLEST_TIB 17

static const Large cuts[] = {
    {SMALLEST_TIB, CAPACITORS},
    {SMALLEST_TIB, SCAN},
    {SMALLEST_TIB, CHECKPOINT},
    {SMALLEST_TIB, DFTL},
    {SMALLEST_TIB, DFTL_CHECKPOINT},
    {64, SCAN},
    {64, CHECKPOINT},
    {64, DFTL},
    {256, SCAN},
    {256, DFTL_CHECKPOINT},
};

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *path =
            g_strdup_printf("/wide/size/%u-tib%s%s", sizes[i].tib,
                            *sizes[i].options ? "-" : "", sizes[i].options);

        g_test_add_data_func(path, &sizes[i], test_size);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(cuts); i++) {
        if (cuts[i].tib != SMALLEST_TIB && !g_getenv("VSSD_LONG")) {
            continue; /* they take minutes */
        }
        g_autofree char *path = g_strdup_printf("/wide/return/%u-tib-%s",
                                                cuts[i].tib, cuts[i].options);

        g_test_add_data_func(path, &cuts[i], test_return);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(returns); i++) {
        g_autofree char *path = g_strdup_printf("/wide/gc/%s", returns[i]);

        g_test_add_data_func(path, returns[i], test_gc);
    }
    g_test_add_func("/wide/merges/full", test_full_merges);
    g_test_add_func("/wide/merges/partial", test_partial_merges);
    for (size_t i = 0; i < G_N_ELEMENTS(ages); i++) {
        g_autofree char *age = g_strdup_printf("/wide/age/%s", ages[i]);
        g_autofree char *small = g_strconcat(SMALL, ages[i], NULL);
        g_autofree char *widths =
            g_strdup_printf("/wide/age-widths/%s", ages[i]);

        g_test_add_data_func(age, ages[i], test_age);
        g_test_add_data_func_full(widths, g_steal_pointer(&small),
                                  test_age_widths, g_free);
    }
    g_test_add_func("/wide/widths", test_widths);
    g_test_add_func("/wide/boundary", test_boundary);
    g_test_add_func("/wide/limits", test_limits);
    return g_test_run();
}
