/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preloaded.c - first data whose places are computed (ftl/preloaded.h): the
 * drive is the same, unit by unit and completion by completion, as one that
 * stores them; and takes memory for what is written alone.
 */
#include <string.h>
#include <sys/resource.h>

#include "busy.h"
#include "media/media.h"
#include "media/spare.h"
#include "placement/placement-internal.h"
#include "resident.h"
#include "ssd-report.h"
#include "ssd-save.h"

#define NS_PER_MS 1000000ULL

static void heard(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host = {.programmed = heard, .superseded = heard};

/* One that stores the places, and one that computes them. */
typedef struct Pair {
    SsdConfig *cfg;
    Ssd *ssd[2];
    uint64_t now_ns;
    uint64_t version;
    Prng rng;
} Pair;

static Pair *pair_new(const char *options, uint64_t first, uint64_t n)
{
    Pair *p = g_new0(Pair, 1);
    GError *error = NULL;

    prng_seed(&p->rng, 1, 9);
    p->cfg = ref_config(options);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t nblocks;

        p->ssd[i] = ssd_create(p->cfg, &host, NULL, &error);
        g_assert_no_error(error);
        g_assert_false(p->ssd[i]->preloaded.wanted);
        g_assert_cmpuint(p->ssd[i]->l.preload_programs, >, 0);
        p->ssd[i]->preloaded.wanted = i == 1;
        nblocks = ssd_info(p->ssd[i])->nblocks;
        n = n ? n : nblocks;
        g_assert_cmpint(ssd_preload(p->ssd[i], first, n), ==, 0);
        g_assert_cmpint(p->ssd[i]->preloaded.on, ==, i == 1);
    }
    return p;
}

static void pair_free(Pair *p)
{
    ssd_destroy(p->ssd[0]);
    ssd_destroy(p->ssd[1]);
    ssd_config_free(p->cfg);
    g_free(p);
}

/* ---- the same drive ------------------------------------------------------ */

static void same_units(const Ssd *a, const Ssd *b)
{
    for (uint64_t lpn = 0; lpn < a->l.user_units; lpn++) {
        g_assert_cmpuint(l2p_get(&a->l2p, lpn), ==, l2p_get(&b->l2p, lpn));
    }
    for (uint64_t ppu = 0; ppu < a->l.raw_units; ppu++) {
        g_assert_cmpuint(numtable_get(&a->media->spare_lpn, ppu), ==,
                         numtable_get(&b->media->spare_lpn, ppu));
        g_assert_cmpint(unit_is_valid(a, ppu), ==, unit_is_valid(b, ppu));
    }
    g_assert_cmpuint(a->l2p.mapped_units, ==, b->l2p.mapped_units);
}

static void same_blocks(const Ssd *a, const Ssd *b)
{
    for (uint32_t i = 0; i < a->geo->n_blocks; i++) {
        g_assert_cmpmem(&a->media->block[i], sizeof(Block), &b->media->block[i],
                        sizeof(Block));
        g_assert_cmpuint(nand_next_page(a->nand, i), ==,
                         nand_next_page(b->nand, i));
    }
    for (uint32_t i = 0; i < a->l.n_planes; i++) {
        const Plane *p = &a->media->plane[i];
        const Plane *q = &b->media->plane[i];

        g_assert_cmpmem(p->open, a->l.n_open * sizeof(Open), q->open,
                        a->l.n_open * sizeof(Open));
        g_assert_cmpuint(p->valid, ==, q->valid);
        g_assert_cmpuint(p->min_valid, ==, q->min_valid);
        g_assert_cmpuint(p->by_age.head, ==, q->by_age.head);
        g_assert_cmpint(a->placement->plane[i].accepting, ==,
                        b->placement->plane[i].accepting);
    }
}

static void same(const Pair *p)
{
    GError *error = NULL;

    same_units(p->ssd[0], p->ssd[1]);
    same_blocks(p->ssd[0], p->ssd[1]);
    for (unsigned i = 0; i < 2; i++) {
        ssd_check(p->ssd[i], &error);
        g_assert_no_error(error);
    }
}

/* ---- what happens to it -------------------------------------------------- */

/* Completions of both up to now. */
static void fetch(Pair *p)
{
    SsdCompletion done[2];

    for (;;) {
        size_t n = ssd_advance(p->ssd[0], p->now_ns, &done[0], 1);

        g_assert_cmpuint(ssd_advance(p->ssd[1], p->now_ns, &done[1], 1), ==, n);
        if (n == 0) {
            return;
        }
        g_assert_cmpuint(done[0].tag, ==, done[1].tag);
        g_assert_cmpint(done[0].status, ==, done[1].status);
        g_assert_cmpuint(done[0].complete_ns, ==, done[1].complete_ns);
    }
}

static void submit(Pair *p, uint64_t tag)
{
    const SsdInfo *info = ssd_info(p->ssd[0]);
    uint64_t draw = prng_below(&p->rng, 100);
    uint32_t nblocks = draw < 3 ? (uint32_t)MIN(4096, info->nblocks / 4) : 64;
    SsdCmd cmd = {
        .tag = tag,
        .op = draw < 3    ? SSD_OP_TRIM
              : draw < 4  ? SSD_OP_FLUSH
              : draw < 40 ? SSD_OP_READ
                          : SSD_OP_WRITE,
        .lba = prng_below(&p->rng, (info->nblocks - nblocks) / 8) * 8,
        .nblocks = nblocks,
        .version = p->version + 1,
    };
    int r = ssd_submit(p->ssd[0], p->now_ns, &cmd);

    g_assert_cmpint(ssd_submit(p->ssd[1], p->now_ns, &cmd), ==, r);
    p->version += cmd.op == SSD_OP_WRITE && r == 0;
}

static void play(Pair *p, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        p->now_ns += prng_below(&p->rng, 400000);
        fetch(p);
        submit(p, i);
    }
}

static void cut(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        ssd_power_cut(p->ssd[i], p->now_ns);
    }
    p->now_ns += 20 * NS_PER_MS;
    for (unsigned i = 0; i < 2; i++) {
        ssd_power_on(p->ssd[i], p->now_ns);
    }
    p->now_ns += 1000 * NS_PER_MS;
    fetch(p);
}

static void reload(Pair *p)
{
    p->now_ns += 10000 * NS_PER_MS;
    fetch(p);
    for (unsigned i = 0; i < 2; i++) {
        GError *error = NULL;
        FILE *f = tmpfile();

        g_assert_true(ssd_rest(p->ssd[i], 1000000 * NS_PER_MS));
        g_assert_true(ssd_save(p->ssd[i], f, &error));
        ssd_destroy(p->ssd[i]);
        rewind(f);
        p->ssd[i] = ssd_load(p->cfg, &host, NULL, f, &error);
        g_assert_no_error(error);
        g_assert_cmpint(p->ssd[i]->preloaded.on, ==, i == 1);
        fclose(f);
    }
    p->now_ns = MAX(p->now_ns, ssd_now_ns(p->ssd[0]));
}

/* Elements of the map that are stored. */
static uint64_t stored(const Ssd *ssd)
{
    const int32_t *element = ssd->l2p.entry.element;
    uint64_t n = 0;

    g_assert_false(ssd->l.wide);
    for (uint64_t lpn = 0; lpn < ssd->l.user_units; lpn++) {
        n += element[lpn] != 0;
    }
    return n;
}

static void test_same(gconstpointer options)
{
    Pair *p = pair_new(options, 0, 0);
    Ssd *ssd = p->ssd[1];

    g_test_message("%s: %" PRIu64 " of %" PRIu64
                   " units stored, %u programs a period",
                   (const char *)options, stored(ssd), ssd->l.user_units,
                   ssd->l.preload_programs);
    g_assert_cmpuint(stored(ssd), <, ssd->l.user_units / 16);
    same(p);
    play(p, 6000);
    same(p);
    reload(p);
    same(p);
    play(p, 6000);
    g_assert_cmpuint(p->ssd[1]->inspect.count.gc_copied_units, >, 100);
    cut(p);
    same(p);
    play(p, 3000);
    reload(p);
    same(p);
    pair_free(p);
}

/* Parts of a drive, in two calls; and saved in between. */
static void test_parts(void)
{
    Pair *p = pair_new("nand.channels=2;nand.dies=2;nand.planes=2;"
                       "nand.blocks=40;nand.pages=48;ftl.op_percent=30%",
                       8 * 1001, 8 * 12345);
    uint64_t nblocks = ssd_info(p->ssd[0])->nblocks;

    g_assert_cmpuint(stored(p->ssd[1]), ==, 0);
    same(p);
    reload(p);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpint(ssd_preload(p->ssd[i], 0, nblocks), ==, 0);
    }
    same(p);
    play(p, 5000);
    same(p);
    pair_free(p);
}

/* Both write the same operation log, from the preload on. */
static void test_log(void)
{
    Pair *p = g_new0(Pair, 1);
    GError *error = NULL;
    char *name[2], *text[2];
    gsize bytes[2];

    prng_seed(&p->rng, 1, 9);
    p->cfg = ref_config("nand.channels=2;nand.dies=2;nand.planes=2;"
                        "nand.blocks=40;nand.pages=48;ftl.op_percent=30%");
    for (unsigned i = 0; i < 2; i++) {
        close(g_file_open_tmp("preloaded-XXXXXX", &name[i], &error));
        p->ssd[i] = ssd_create(p->cfg, &host, NULL, &error);
        p->ssd[i]->preloaded.wanted = i == 1;
        g_assert_true(ssd_oplog_open(p->ssd[i], name[i], &error));
        ssd_preload(p->ssd[i], 0, ssd_info(p->ssd[i])->nblocks);
    }
    g_assert_true(p->ssd[1]->preloaded.on);
    play(p, 3000);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_true(ssd_oplog_close(p->ssd[i], &error));
        g_file_get_contents(name[i], &text[i], &bytes[i], &error);
        g_assert_no_error(error);
        g_assert_cmpint(unlink(name[i]), ==, 0);
        g_free(name[i]);
    }
    g_assert_cmpuint(bytes[0], >, 1000000);
    g_assert_cmpmem(text[0], bytes[0], text[1], bytes[1]);
    g_free(text[0]);
    g_free(text[1]);
    pair_free(p);
}

/* Drives with further tables by unit, or pages beside the host's. */
static void test_stored(gconstpointer options)
{
    Ssd *ssd = drive(options);

    g_assert_cmpuint(ssd->l.preload_programs, ==, 0);
    g_assert_cmpuint(ssd_info(ssd)->preload_bytes, ==,
                     ssd_info(ssd)->memory_bytes);
    g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    g_assert_false(ssd->preloaded.on);
    ssd_destroy(ssd);
}

/* ---- forged states ------------------------------------------------------- */

/* What the check of a loaded state must find. */
static void expect_fault(Ssd *ssd, const char *what)
{
    GError *error = NULL;

    g_assert_false(ssd_check(ssd, &error));
    g_test_message("%s: %s", what, error->message);
    g_clear_error(&error);
}

static void test_check(void)
{
    Pair *p = pair_new("nand.channels=2;nand.dies=2;nand.planes=2;"
                       "nand.blocks=40;nand.pages=48;ftl.op_percent=30%",
                       0, 0);
    Ssd *ssd = p->ssd[1];
    uint64_t ppu = l2p_get(&ssd->l2p, 4000) - 1;
    uint64_t other = l2p_get(&ssd->l2p, 4001) - 1;

    g_assert_true(ssd_check(ssd, NULL));
    ssd->media->valid[ppu / 64] ^= 1ULL << ppu % 64;
    expect_fault(ssd, "a unit that is not valid");
    ssd->media->valid[ppu / 64] ^= 1ULL << ppu % 64;
    numtable_set(&ssd->media->spare_lpn, ppu, 77);
    expect_fault(ssd, "a spare area of another unit");
    numtable_set(&ssd->media->spare_lpn, ppu, 4001);
    l2p_set(&ssd->l2p, 4000, other + 1);
    expect_fault(ssd, "two units in one place");
    l2p_set(&ssd->l2p, 4000, 0);
    expect_fault(ssd, "a unit that is gone");
    l2p_set(&ssd->l2p, 4000, ppu + 1);
    g_assert_true(ssd_check(ssd, NULL));
    pair_free(p);
}

/* Loading refuses members that contradict each other. */
static void test_refused(void)
{
    for (unsigned i = 0; i < 6; i++) {
        Pair *p = pair_new("nand.channels=2;nand.planes=2;nand.blocks=40;"
                           "nand.pages=48;ftl.op_percent=30%",
                           0, 0);
        Preloaded *f = &p->ssd[1]->preloaded;
        GError *error = NULL;
        FILE *file = tmpfile();
        Ssd *ssd;

        switch (i) {
        case 0:
            f->base = p->ssd[1]->l.user_units;
            break;
        case 1:
            f->place[1] = f->place[0];
            break;
        case 2:
            f->place[0].plane = f->n_planes + 1;
            break;
        case 3:
            f->filled[0] = f->block_units + 1;
            break;
        case 4:
            f->nth[1] = f->nth[0];
            break;
        default:
            f->base = 1000;
        }
        g_assert_true(ssd_save(p->ssd[1], file, &error));
        rewind(file);
        ssd = ssd_load(p->cfg, &host, NULL, file, &error);
        g_assert_null(ssd);
        g_test_message("%u: %s", i, error->message);
        g_clear_error(&error);
        fclose(file);
        pair_free(p);
    }
}

/* ---- memory and time ----------------------------------------------------- */

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* 8 TiB of old data, in blocks of a real die; units at random are read and
 * written; saved and loaded. */
static void test_large(void)
{
    uint64_t before = resident_bytes();
    double start = cpu_s();
    Ssd *ssd = drive("nand.channels=16;nand.chips=4;nand.dies=2;nand.planes=4;"
                     "nand.page_size=16KiB;nand.cell=tlc;nand.one_shot=on;"
                     "nand.multi_plane=on;superblock.row=die;"
                     "superblock.row_wait=1s;superblock.width=die;"
                     "buffer.size=16MiB;nand.blocks=1000;nand.pages=1152;"
                     "ftl.capacity=8TiB");
    uint64_t n = ssd->l.user_units;
    uint64_t full, now_ns = 0;
    FILE *file = tmpfile();
    GError *error = NULL;
    Prng rng;
    double filled;

    prng_seed(&rng, 1, 2);
    g_assert_true(ssd->preloaded.wanted);
    g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    filled = cpu_s() - start;
    full = resident_bytes() - before;
    g_test_message("8 TiB: preloaded in %.2f s, %.1f MiB; stored %.1f GiB",
                   filled, (double)full / MIB,
                   (double)ssd_info(ssd)->memory_bytes / GIB);
    /* With what an address sanitizer adds. */
    g_assert_cmpuint(full, <, 192 * MIB);
    g_assert_cmpuint(full, <, ssd_info(ssd)->preload_bytes + 128 * MIB);
    g_assert_cmpfloat(filled, <, 20);
    for (unsigned i = 0; i < 2000; i++) {
        busy_submit(ssd, now_ns, i % 4 ? SSD_OP_READ : SSD_OP_WRITE,
                    prng_below(&rng, n));
        busy_drain(ssd, &now_ns);
    }
    g_assert_cmpuint(resident_bytes() - before - full, <, 64 * MIB);
    g_assert_true(ssd_rest(ssd, 1000000 * NS_PER_MS));
    g_assert_true(ssd_save(ssd, file, &error));
    g_test_message("a state of %ld bytes", ftell(file));
    g_assert_cmpint(ftell(file), <, 128 * MIB);
    fclose(file);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/preloaded/same/stripe",
                         "nand.channels=2;nand.dies=2;nand.planes=2;"
                         "nand.blocks=40;nand.pages=48;ftl.op_percent=30%",
                         test_same);
    g_test_add_data_func("/preloaded/same/in-order",
                         "nand.channels=3;nand.dies=1;nand.planes=2;"
                         "nand.blocks=40;nand.pages=48;ftl.op_percent=30%;"
                         "ftl.alloc=in-order;superblock.width=drive",
                         test_same);
    g_test_add_data_func("/preloaded/same/dealt",
                         "nand.channels=8;nand.planes=2;nand.multi_plane=on;"
                         "nand.cell=tlc;nand.one_shot=on;nand.blocks=32;"
                         "nand.pages=72;buffer.size=2MiB;buffer.plp=on;"
                         "superblock.row=die;superblock.row_wait=1s;"
                         "superblock.width=die;ftl.op_percent=40%",
                         test_same);
    g_test_add_data_func("/preloaded/same/dealt-some",
                         "nand.channels=7;nand.planes=2;nand.multi_plane=on;"
                         "nand.cell=tlc;nand.one_shot=on;nand.blocks=32;"
                         "nand.pages=72;buffer.size=1MiB;"
                         "ftl.alloc=stripe;ftl.op_percent=40%",
                         test_same);
    g_test_add_data_func("/preloaded/same/bad-blocks",
                         "nand.channels=2;nand.dies=2;nand.planes=2;"
                         "nand.blocks=64;nand.pages=48;ftl.op_percent=35%;"
                         "media.errors=on;media.factory_bad=0.02;"
                         "media.program_fail=0.0001",
                         test_same);
    g_test_add_data_func("/preloaded/stored/scan",
                         "ftl.recovery=scan;nand.blocks=64;nand.pages=64",
                         test_stored);
    g_test_add_data_func("/preloaded/stored/dftl",
                         "ftl.map=dftl;nand.blocks=64;nand.pages=64",
                         test_stored);
    g_test_add_func("/preloaded/parts", test_parts);
    g_test_add_func("/preloaded/log", test_log);
    g_test_add_func("/preloaded/check", test_check);
    g_test_add_func("/preloaded/refused", test_refused);
    g_test_add_func("/preloaded/large", test_large);
    return g_test_run();
}
