/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.c - a drive that was laid out from a small one is as one that was
 * played: its tables are right, and GC goes on as there.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "aged.h"
#include "media/blocks.h"
#include "media/superblock.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

/* 2 GiB: its model has an eighth of the dies. */
#define DRIVE                                                                  \
    "nand.channels=4;nand.chips=1;nand.dies=2;nand.planes=2;nand.blocks=128;"  \
    "nand.pages=64;nand.page_size=16KiB;buffer.size=1MiB;"

#define TOLERANCE 0.02
#define QUANTILES 8

/* Of one drive write, and of the blocks behind it. */
typedef struct Steady {
    double waf[2]; /* of its halves */
    double free;   /* blocks of a plane */
    double
        valid[QUANTILES + 1]; /* parts of a block: of blocks that hold data */
    double erases;            /* of a block: mean, and standard deviation */
    double spread;
} Steady;

static Ssd *drive(const char *options)
{
    g_autofree char *all = g_strconcat(DRIVE, options, NULL);
    SsdConfig *cfg = ref_config(all);
    GError *error = NULL;
    Ssd *ssd = ssd_create(cfg, NULL, NULL, &error);

    g_assert_no_error(error);
    ssd_config_free(cfg);
    return ssd;
}

static void play(Ssd *ssd, Prng *rng)
{
    aged_fill(ssd);
    aged_overwrite(ssd, 6 * ssd->l.user_units, rng);
}

static void check(const Ssd *ssd)
{
    GError *error = NULL;

    ssd_check(ssd, &error);
    g_assert_no_error(error);
    g_assert_true(ssd_at_rest(ssd));
    g_assert_cmpuint(ssd->l2p.mapped_units, ==, ssd->l.user_units);
}

static Ssd *laid_out(const char *options, Prng *rng)
{
    Ssd *ssd = drive(options);
    Ssd *model = ssd_model(ssd);

    g_assert_nonnull(model);
    g_assert_cmpuint(model->l.raw_units * 8, <=, ssd->l.raw_units);
    play(model, rng);
    g_assert_cmpint(ssd_age_as(ssd, model), ==, 0);
    ssd_destroy(model);
    check(ssd);
    return ssd;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void look_at_blocks(const Ssd *ssd, Steady *s)
{
    uint32_t n = ssd->geo->n_blocks;
    g_autofree double *valid = g_new(double, n);
    double sum = 0;
    double squares = 0;
    uint32_t n_full = 0;

    for (uint32_t b = 0; b < n; b++) {
        double erases = nand_erase_count(ssd->nand, b);

        sum += erases;
        squares += erases * erases;
        s->free += block_state(ssd, b) == BLOCK_FREE;
        if (block_state(ssd, b) == BLOCK_FULL) {
            valid[n_full++] =
                (double)block_valid(ssd, b) / ssd->l.units_per_block;
        }
    }
    qsort(valid, n_full, sizeof(*valid), by_value);
    for (uint32_t i = 0; i <= QUANTILES; i++) {
        s->valid[i] = valid[(uint64_t)(n_full - 1) * i / QUANTILES];
    }
    s->free /= ssd->l.n_planes;
    s->erases = sum / n;
    s->spread = sqrt(squares / n - s->erases * s->erases);
}

static Steady write_once(Ssd *ssd, Prng *rng)
{
    Steady s = {.free = 0};
    SsdCounters c;

    look_at_blocks(ssd, &s);
    for (int i = 0; i < 2; i++) {
        ssd_reset_stats(ssd);
        aged_overwrite(ssd, ssd->l.user_units / 2, rng);
        ssd_get_counters(ssd, &c);
        s.waf[i] = c.waf;
    }
    return s;
}

static void print(const char *which, const Steady *s)
{
    g_autoptr(GString) line = g_string_new(which);

    g_string_append_printf(line,
                           ": WAF %.3f %.3f, free %.2f, erases %.2f "
                           "+-%.2f, valid",
                           s->waf[0], s->waf[1], s->free, s->erases, s->spread);
    for (int i = 0; i <= QUANTILES; i++) {
        g_string_append_printf(line, " %.3f", s->valid[i]);
    }
    g_test_message("%s", line->str);
}

/* A difference, in parts of the second. */
static double part(double a, double b)
{
    return fabs(a - b) / b;
}

static void same(const char *options)
{
    Prng rng;
    Ssd *played = drive(options);
    Ssd *laid;
    Steady a;
    Steady b;

    prng_seed(&rng, 5, 5);
    play(played, &rng);
    a = write_once(played, &rng);
    ssd_destroy(played);
    laid = laid_out(options, &rng);
    aged_overwrite(laid, laid->l.user_units * 2 / 100, &rng);
    b = write_once(laid, &rng);
    check(laid);
    ssd_destroy(laid);
    g_test_message("%s", options);
    print("played  ", &a);
    print("laid out", &b);
    g_assert_cmpfloat(part(b.waf[0] + b.waf[1], a.waf[0] + a.waf[1]), <,
                      TOLERANCE);
    for (int i = 1; i < QUANTILES; i++) {
        g_assert_cmpfloat(fabs(b.valid[i] - a.valid[i]), <, TOLERANCE);
    }
    g_assert_cmpfloat(fabs(b.free - a.free), <, 1);
    g_assert_cmpfloat(part(b.erases, a.erases), <, 0.06);
    g_assert_cmpfloat(fabs(b.spread - a.spread), <, 1);
}

static void test_same(void)
{
    same("ftl.op_percent=28%");
}

static void test_scaled_pages(void)
{
    same("nand.dies=1;nand.pages=256;ftl.op_percent=28%");
}

/* 4 GiB, whose model has a quarter of the dies and blocks of half as many
 * pages, or fewer. */
#define LARGE "nand.dies=1;nand.blocks=256;nand.pages=128;"

static void test_all(void)
{
    static const char *const with[] = {
        "ftl.op_percent=7%",
        "ftl.op_percent=14%",
        "ftl.op_percent=28%",
        "ftl.op_percent=14%;ftl.gc=d-choices",
        "ftl.op_percent=14%;ftl.gc=fifo",
        "ftl.op_percent=14%;ftl.gc=windowed-greedy",
        "ftl.op_percent=14%;ftl.gc=cost-benefit",
        "ftl.op_percent=14%;ftl.gc=random",
        "ftl.op_percent=14%;superblock.width=die",
        "ftl.op_percent=14%;superblock.width=drive",
        "ftl.op_percent=14%;superblock.width=drive;superblock.row=drive",
        "ftl.op_percent=28%;superblock.width=drive;ftl.gc=d-choices",
        "ftl.op_percent=14%;ftl.unit=8KiB;nand.pages=256",
        "ftl.op_percent=14%;ftl.unit=16KiB;nand.pages=512",
        "ftl.op_percent=14%;ftl.wear=static",
        "ftl.op_percent=14%;ftl.alloc=dynamic",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        g_autofree char *all = g_strconcat(LARGE, with[i], NULL);

        same(all);
    }
}

/* Blocks that are of a superblock with others. */
static uint32_t in_superblocks(const Ssd *ssd)
{
    uint32_t n = 0;

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        n += superblock_next(ssd, b) != b;
    }
    return n;
}

/* But for those that are free, or alone in theirs. */
static void test_superblocks(void)
{
    Prng rng;
    Ssd *ssd;

    prng_seed(&rng, 5, 5);
    ssd = laid_out("ftl.op_percent=28%;superblock.width=drive", &rng);
    g_assert_cmpuint(in_superblocks(ssd), >, ssd->geo->n_blocks * 9 / 10);
    ssd_destroy(ssd);
}

/* With whatever GC of the model has under way, and blocks of its own kinds. */
static void test_whole(void)
{
    static const char *const with[] = {
        "superblock.width=die;superblock.row=die;nand.multi_plane=on",
        "superblock.width=drive;ftl.gc=cost-benefit;ftl.unit=16KiB;"
        "nand.blocks=512",
        "ftl.wear=static;nand.cell=tlc;nand.one_shot=on;nand.pages=66",
        "ftl.alloc=dynamic;ftl.gc=fifo;ftl.wear=dynamic",
        "media.errors=on;ftl.refresh_reads=100000",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        g_autofree char *all =
            g_strconcat("ftl.op_percent=28%;", with[i], NULL);
        Prng rng;
        Ssd *ssd;
        Ssd *copy;

        prng_seed(&rng, 5, 5);
        ssd = laid_out(all, &rng);
        copy = ssd_clone(ssd, NULL, NULL, NULL);
        check(copy);
        aged_overwrite(copy, copy->l.user_units / 2, &rng);
        check(copy);
        ssd_destroy(copy);
        ssd_destroy(ssd);
    }
}

/* What a part of the drive does not show. */
static void test_no_model(void)
{
    static const char *const with[] = {
        "nand.blocks=64",
        "ftl.alloc=static",
        "ftl.map=dftl",
        "ftl.map=bast",
        "ftl.recovery=scan",
        "nand.slc_blocks=8;nand.cell=tlc",
        "streams.max=2",
        "media.factory_bad=1%",
        "media.errors=on;media.program_fail=0.001",
        "superblock.width=drive;superblock.row=drive;superblock.parity=on;"
        "media.errors=on",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        g_autofree char *all =
            g_strconcat("ftl.op_percent=40%;", with[i], NULL);
        Ssd *ssd = drive(all);

        g_assert_null(ssd_model(ssd));
        ssd_destroy(ssd);
    }
}

static void test_refused(void)
{
    Ssd *ssd = drive("ftl.op_percent=28%");
    Ssd *other = drive("ftl.op_percent=14%");
    Ssd *model = ssd_model(ssd);
    Prng rng;

    prng_seed(&rng, 5, 5);
    g_assert_cmpint(ssd_age_as(ssd, model), ==, -EINVAL); /* it is empty */
    play(model, &rng);
    g_assert_cmpint(ssd_age_as(other, model), ==, -EINVAL);
    g_assert_cmpint(ssd_age_as(ssd, model), ==, 0);
    g_assert_cmpint(ssd_age_as(ssd, model), ==, -EINVAL); /* ssd is not */
    ssd_destroy(model);
    ssd_destroy(other);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/same", test_same);
    g_test_add_func("/model/scaled-pages", test_scaled_pages);
    if (getenv("VSSD_LONG")) {
        g_test_add_func("/model/all", test_all);
    }
    g_test_add_func("/model/superblocks", test_superblocks);
    g_test_add_func("/model/whole", test_whole);
    g_test_add_func("/model/no-model", test_no_model);
    g_test_add_func("/model/refused", test_refused);
    return g_test_run();
}
