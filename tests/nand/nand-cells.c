/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-cells.c - errors that belong to places and levels: variation,
 * temperature, retry levels and their memory, soft decoding, and times that
 * change with wear; all against their closed forms.
 *
 * Draws are seeded, so a count repeats exactly; where it is compared with a
 * probability, the tolerance is four standard deviations.
 */
#include <math.h>

#include "nand-rber.h"
#include "nand-retry.h"
#include "nand-timing.h"
#include "nand-variation.h"
#include "prng.h"
#include "rig.h"

#define C    200ULL   /* command, ns */
#define X    40960ULL /* a page over the bus */
#define TR   50000ULL
#define BITS 16384 /* of a codeword of 2 KiB */

/* ---- variation ----------------------------------------------------------- */

/* Log-normal with mean 1: variance exp(sigma^2) - 1. */
static void test_lognormal(void)
{
    const int n = 200000;
    const double sigma = 0.4;
    double sum = 0, squares = 0, logs = 0, log_squares = 0;

    for (int i = 0; i < n; i++) {
        double f = media_lognormal(prng_hash(7, (uint64_t)i), sigma);

        sum += f;
        squares += f * f;
        logs += log(f);
        log_squares += log(f) * log(f);
    }
    sum /= n;
    near(sum, 1, 4 * sqrt((exp(sigma * sigma) - 1) / n));
    near(squares / n - sum * sum, exp(sigma * sigma) - 1, 0.01);
    near(logs / n, -sigma * sigma / 2, 4 * sigma / sqrt(n));
    near(log_squares / n - logs * logs / n / n, sigma * sigma, 0.003);
}

static void test_layers(void)
{
    NandConfig cfg = {.seed = 1};
    double sum = 0;

    rig_media_config(&cfg, "1e-3");
    near(media_layer_factor(&cfg, 3, 8), 1, 0);
    rig_set(&cfg, "media.layer_factor", "6");
    for (uint32_t i = 0; i < 48; i++) {
        sum += media_layer_factor(&cfg, i, 48);
    }
    near(sum / 48, 1, 1e-12);
    near(media_layer_factor(&cfg, 47, 48) / media_layer_factor(&cfg, 0, 48), 6,
         1e-12);
    near(media_layer_factor(&cfg, 20, 48) / media_layer_factor(&cfg, 19, 48),
         pow(6, 1.0 / 47), 1e-12);
    near(media_layer_factor(&cfg, 0, 1), 1, 0);
}

/* A block of 12 word lines of a TLC: types by page, layers by word line. */
static void test_page_factor(void)
{
    NandConfig cfg = {.seed = 1};
    const NandGeometry *g;
    double lowest, highest;
    Rig *r;

    rig_media_config(&cfg, "1e-3");
    rig_set_all(&cfg, "nand.cell=tlc;nand.pages=36;nand.slc_blocks=1");
    g_assert_false(media_varies(&cfg));
    rig_set_all(&cfg, "media.type_2=1.5;media.type_3=3");
    g_assert_true(media_varies(&cfg));
    r = rig_new(&cfg);
    g = nand_geometry(r->nand);
    near(media_page_factor(&r->cfg, g, 5, 1, 30), 1, 0);
    near(media_page_factor(&r->cfg, g, 5, 1, 31), 1.5, 0);
    near(media_page_factor(&r->cfg, g, 5, 1, 32), 3, 0);
    near(media_page_factor(&r->cfg, g, 5, 0, 2), 1, 0); /* in SLC mode */
    rig_set(&r->cfg, "media.layer_factor", "4");
    near(media_page_factor(&r->cfg, g, 5, 1, 35) /
             media_page_factor(&r->cfg, g, 5, 1, 0),
         12, 1e-12);
    near(media_page_factor(&r->cfg, g, 5, 0, 11) /
             media_page_factor(&r->cfg, g, 5, 0, 0),
         4, 1e-12);
    rig_set(&r->cfg, "media.layers", "2"); /* of six word lines each */
    lowest = media_page_factor(&r->cfg, g, 5, 1, 0);
    highest = media_page_factor(&r->cfg, g, 5, 1, 18);
    near(media_page_factor(&r->cfg, g, 5, 1, 15), lowest, 1e-15);
    near(media_page_factor(&r->cfg, g, 5, 1, 33), highest, 1e-15);
    near(lowest, 2.0 / 5, 1e-12);
    near(highest, 8.0 / 5, 1e-12);
    rig_free(r);
}

/* Blocks differ from each other, and dies, whose blocks share a factor. */
static void test_places(void)
{
    NandConfig cfg = {.seed = 1};
    const NandGeometry *g;
    double of_die;
    Rig *r;

    rig_media_config(&cfg, "1e-3");
    rig_set(&cfg, "media.die_sigma", "0.3");
    r = rig_new(&cfg);
    g = nand_geometry(r->nand);
    of_die = media_page_factor(&r->cfg, g, 5, 0, 0);
    for (uint32_t b = 0; b < g->n_blocks; b++) {
        bool same = nand_plane_die(g, nand_block_plane(g, b)) == 0;

        g_assert_true((media_page_factor(&r->cfg, g, 5, b, 1) == of_die) ==
                      same);
    }
    rig_set(&r->cfg, "media.block_sigma", "0.3");
    g_assert_true(media_page_factor(&r->cfg, g, 5, 0, 0) !=
                  media_page_factor(&r->cfg, g, 5, 1, 0));
    g_assert_true(media_page_factor(&r->cfg, g, 5, 0, 0) !=
                  media_page_factor(&r->cfg, g, 6, 0, 0));
    rig_free(r);
}

/* Probability that a page of 8 codewords is lost, the mean over blocks:
 * Simpson's rule over the normal distribution. */
static double mean_loss(double rber, double sigma)
{
    const int n = 2000;
    const double h = 16.0 / n;
    double sum = 0;

    for (int i = 0; i <= n; i++) {
        double z = -8 + h * i;
        double p = rber * exp(sigma * z - sigma * sigma / 2);
        double lost = 1 - pow(1 - media_tail(BITS, 120, MIN(p, 0.5)), 8);

        sum += (i == 0 || i == n ? 1
                : i % 2          ? 4
                                 : 2) *
               lost * exp(-z * z / 2) / sqrt(2 * G_PI);
    }
    return sum * h / 3;
}

/* Reads of the first page of 20000 blocks. */
static unsigned count_lost(const NandConfig *base)
{
    NandConfig cfg = *base;
    unsigned lost = 0;
    Rig *r;

    cfg.blocks = 2500;
    r = rig_new(&cfg);
    for (uint32_t i = 0; i < 20000; i++) {
        rig_preload(r, i / 2500, i % 2500, 1);
        rig_submit(r, r->now_ps / PS_PER_NS + 1, NAND_READ, i * r->cfg.pages,
                   4096);
        rig_run_all(r);
        lost += r->done[i].status == NAND_UNCORRECTABLE;
    }
    rig_free(r);
    return lost;
}

static void test_block_losses(void)
{
    NandConfig cfg = {.seed = 1};
    double p;

    rig_media_config(&cfg, "5e-3");
    rig_set(&cfg, "media.retry_limit", "0");
    g_assert_cmpuint(count_lost(&cfg), <, 100);
    rig_set(&cfg, "media.block_sigma", "0.3");
    p = mean_loss(5e-3, 0.3);
    g_assert_true(p > 0.05 && p < 0.3);
    near(count_lost(&cfg), 20000 * p, 4 * sqrt(20000 * p * (1 - p)));
}

/* ---- temperature --------------------------------------------------------- */

/*
 * JEDEC JESD218 tests a year at 30 degrees (client drives) by 500 hours at 52
 * or 96 hours at 66: at 1.1 eV both are a year within 5 %.
 */
static void test_arrhenius(void)
{
    NandConfig cfg = {.seed = 1};

    rig_media_config(&cfg, "0");
    near(media_arrhenius(&cfg), 1, 0);
    rig_set_all(&cfg, "media.reference_temperature=30;media.temperature=52");
    near(media_arrhenius(&cfg) * 500 / 8760, 1, 0.05);
    rig_set(&cfg, "media.temperature", "66");
    near(media_arrhenius(&cfg) * 96 / 8760, 1, 0.05);
    near(media_arrhenius(&cfg),
         exp(1.1 / 8.617333262e-5 * (1 / 303.15 - 1 / 339.15)), 1e-9);
    rig_set(&cfg, "media.activation_energy", "0");
    near(media_arrhenius(&cfg), 1, 0);
}

/* With ecc_bits=0 a page fails for certain once RBER is 1e-3 or more: after an
 * hour at 30 degrees, or after 3600 s / 87.2 = 41.3 s at 66. */
static void test_hot(void)
{
    static const uint64_t fails_s[] = {3600, 42};

    for (int hot = 0; hot < 2; hot++) {
        NandConfig cfg = {.seed = 1};
        Rig *r;

        rig_media_config(&cfg, "0");
        rig_set_all(&cfg, "media.ecc_bits=0;media.retry_limit=0;"
                          "media.retention=1e-3;media.retention_pe_exp=0;"
                          "media.retention_exp=1;media.retention_unit=1h;"
                          "media.reference_temperature=30");
        rig_set(&cfg, "media.temperature", hot ? "66" : "30");
        r = rig_new(&cfg);
        rig_preload(r, 0, 0, 1);
        rig_submit(r, fails_s[hot] * NS_PER_S / 1000, NAND_READ, 0, 16384);
        rig_run_all(r);
        g_assert_cmpuint(r->done[0].status, ==, NAND_OK);
        rig_submit(r, fails_s[hot] * NS_PER_S, NAND_READ, 0, 16384);
        rig_run_all(r);
        g_assert_cmpuint(r->done[1].status, ==, NAND_UNCORRECTABLE);
        rig_free(r);
    }
}

/* ---- retry levels -------------------------------------------------------- */

/* Each level once, ever farther from the first. */
static void test_order(void)
{
    for (uint32_t most = 0; most < 12; most++) {
        for (uint32_t first = 0; first <= most; first++) {
            uint32_t seen = 0;
            int last = 0;

            for (uint32_t k = 0; k <= most; k++) {
                int level = (int)retry_level(first, k, most);
                int distance = abs(level - (int)first);

                g_assert_cmpint(level, >=, 0);
                g_assert_cmpint(level, <=, (int)most);
                g_assert_cmpint(distance, >=, last);
                last = distance;
                seen |= 1U << level;
            }
            g_assert_cmphex(seen, ==, (1U << (most + 1)) - 1);
        }
    }
    g_assert_cmpuint(retry_level(2, 1, 9), ==, 3);
    g_assert_cmpuint(retry_level(2, 2, 9), ==, 1);
}

static void test_level_formulas(void)
{
    NandConfig cfg = {.seed = 1};

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "media.shift_wear=3;media.shift_retention=0.5;"
                      "media.shift_sigma=0.25");
    near(retry_best_level(&cfg, 0.5, 0, 0), 1.5, 1e-15);
    near(retry_best_level(&cfg, 0, exp(2) - 1, 0), 1, 1e-15);
    near(retry_best_level(&cfg, 1, 0, 2), 3.5, 1e-15);
    near(retry_best_level(&cfg, 0, 0, -3), 0, 0);
    rig_set(&cfg, "media.shift_factor", "2");
    near(retry_level_factor(&cfg, 0, 3), 1, 0);
    near(retry_level_factor(&cfg, 3, 3), 1.0 / 512, 1e-18);
    near(retry_level_factor(&cfg, 2, 3) / retry_level_factor(&cfg, 3, 3), 2,
         1e-12);
    near(retry_level_factor(&cfg, 5, 3) / retry_level_factor(&cfg, 3, 3), 16,
         1e-12);
    g_assert_cmpuint(retry_nearest_level(&cfg, 2.4), ==, 2);
    g_assert_cmpuint(retry_nearest_level(&cfg, 60), ==, 5);
}

/*
 * RBER 0.2 at level 0; the best level is 3.  By 1.6^(l^2 - 6 l), level 1 has
 * 1.9e-2, in which no codeword can be corrected, level 2 has 4.7e-3, in which
 * all can.
 */
static void shifted(NandConfig *cfg, const char *memory)
{
    rig_media_config(cfg, "0");
    rig_set_all(cfg, "media.wear=1e-4;media.wear_exp=1;media.start_cycles=2000;"
                     "media.rated_cycles=2000;media.retry_levels=on;"
                     "media.shift_wear=3;media.shift_retention=0;"
                     "media.shift_factor=1.6;media.retry_time=7us");
    rig_set(cfg, "media.retry_memory", memory);
}

/* A level that helps is found; the page fails again without memory. */
static void test_level_found(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;

    shifted(&cfg, "off");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 4);
    for (unsigned i = 1; i <= 3; i++) {
        const NandOp *op = rig_read(r, 0);

        g_assert_cmpuint(op->status, ==, NAND_OK);
        g_assert_cmpuint(op->retries, ==, 2);
        g_assert_cmpuint((r->done_ps[r->n_done - 1] - op->submit_ps) /
                             PS_PER_NS,
                         ==, 3 * (C + TR + X) + 2 * 7000);
        g_assert_cmpuint(nand_stats(r->nand)->reads_by_retries[1], ==, i);
    }
    g_assert_cmpuint(nand_stats(r->nand)->level_hits, ==, 0);
    rig_free(r);
    rig_set(&cfg, "media.retry_limit", "1"); /* level 2 is not among them */
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(rig_read(r, 0)->status, ==, NAND_UNCORRECTABLE);
    rig_free(r);
}

/* What helped is tried first: in the block, or in all of the die; until an
 * erase of the block, or a loss of power. */
static void remembered(const char *memory, unsigned others)
{
    NandConfig cfg = {.seed = 1};
    bool by_block = others == 2;
    const NandOp *op;
    Rig *r;

    shifted(&cfg, memory);
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 4);
    rig_preload(r, 1, 0, 4); /* the same die */
    rig_preload(r, 2, 0, 4); /* another */
    g_assert_cmpuint(rig_read(r, 0)->retries, ==, 2);
    op = rig_read(r, 1);
    g_assert_cmpuint(op->retries, ==, 0);
    g_assert_cmpuint(op->first_level, ==, 2);
    g_assert_cmpuint((r->done_ps[r->n_done - 1] - op->submit_ps) / PS_PER_NS,
                     ==, C + TR + X);
    g_assert_cmpuint(nand_stats(r->nand)->level_hits, ==, 1);
    g_assert_cmpuint(rig_read(r, rig_page(r, 1, 0, 0))->retries, ==, others);
    g_assert_cmpuint(rig_read(r, rig_page(r, 2, 0, 0))->retries, ==, 2);
    rig_do(r, NAND_ERASE, 0);
    rig_do(r, NAND_PROGRAM, 0);
    g_assert_cmpuint(rig_read(r, 0)->retries, ==, by_block ? 2 : 0);
    nand_power_cut(r->nand, r->now_ps);
    g_assert_cmpuint(rig_read(r, 0)->retries, ==, 2);
    g_assert_cmpuint(nand_stats(r->nand)->level_misses, ==, 0);
    rig_free(r);
}

static void test_level_remembered(void)
{
    remembered("block", 2);
    remembered("die", 0);
}

/* Word lines whose best level differs: a recorded level fails for some, and the
 * search goes on around it. */
static void test_level_misses(void)
{
    NandConfig cfg = {.seed = 1};
    unsigned misses = 0;
    Rig *r;

    shifted(&cfg, "block");
    rig_set_all(&cfg, "media.shift_sigma=1.5;media.retry_limit=12;"
                      "nand.pages=256");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 256);
    for (uint32_t p = 0; p < 256; p++) {
        const NandOp *op = rig_read(r, p);

        misses += op->first_level && op->retries;
        if (op->status == NAND_OK) {
            uint32_t level =
                retry_level((uint32_t)op->first_level, op->retries, 12);

            op = rig_read(r, p); /* now it is known */
            g_assert_cmpuint(op->first_level, ==, level);
            g_assert_cmpuint(op->retries, ==, 0);
        }
    }
    g_assert_cmpuint(misses, >, 20);
    g_assert_cmpuint(nand_stats(r->nand)->level_misses, ==, misses);
    rig_free(r);
}

/* A level does no better than a new block: media.base is the least. */
static void test_level_floor(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;

    shifted(&cfg, "off");
    rig_set(&cfg, "media.base", "0.02"); /* in which nothing can be corrected */
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(rig_read(r, 0)->status, ==, NAND_UNCORRECTABLE);
    rig_free(r);
}

/* ---- soft decoding ------------------------------------------------------- */

/* A retry in vain, three senses, and the decoder: closed form, with and without
 * a time for each codeword, which senses alone do not take. */
static void soft(const char *decode, uint64_t decode_ns)
{
    NandConfig cfg = {.seed = 1};
    const NandOp *op;
    Rig *r;

    rig_media_config(&cfg, "0.02");
    rig_set_all(&cfg, "media.retry_limit=1;media.retry_factor=1;"
                      "media.retry_time=7us;media.soft_reads=3;"
                      "media.soft_time=20us;media.soft_factor=0.1");
    rig_set(&cfg, "nand.ecc_decode", decode);
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    op = rig_read(r, 0);
    g_assert_cmpuint(op->status, ==, NAND_OK);
    g_assert_cmpuint(op->retries, ==, 4);
    g_assert_cmpuint((r->done_ps[0] - op->submit_ps) / PS_PER_NS, ==,
                     5 * (C + TR + X) + 4 * 7000 + 20000 + 3 * decode_ns);
    g_assert_cmpuint(nand_read_count(r->nand, 0), ==, 5);
    g_assert_cmpuint(nand_stats(r->nand)->soft_decodes, ==, 1);
    g_assert_cmpuint(nand_stats(r->nand)->read_retries, ==, 4);
    g_assert_cmpuint(nand_stats(r->nand)->reads_by_retries[3], ==, 1);
    rig_free(r);
    rig_set(&cfg, "media.soft_factor", "0.9");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(rig_read(r, 0)->status, ==, NAND_UNCORRECTABLE);
    g_assert_cmpuint(r->done[0].retries, ==, 4);
    rig_free(r);
}

static void test_soft(void)
{
    soft("0", 0);
    soft("1us", 1000);
}

/* ---- paired pages -------------------------------------------------------- */

/* A TLC; blocks 0 and 1 of each plane have pages as if programmed before. */
static Rig *paired(const char *value, const char *more)
{
    NandConfig cfg = {.seed = 1};

    rig_config(&cfg);
    rig_set_all(&cfg, "nand.cell=tlc;nand.pages=12;nand.slc_program=100us");
    rig_set(&cfg, "media.paired_pages", value);
    if (more) {
        rig_set(&cfg, more, "on");
    }
    return rig_new(&cfg);
}

/* The power goes so long after the program of a page of block 1: which pages
 * are lost, as bits. */
static uint32_t lost_by(Rig *r, uint32_t page, uint64_t after_ns)
{
    uint32_t first = rig_page(r, 0, 1, 0);
    uint64_t now_ns = r->now_ps / PS_PER_NS + 1;
    uint32_t lost = 0;

    while (nand_next_page(r->nand, 1) < page) {
        uint32_t next = first + nand_next_page(r->nand, 1);

        nand_preload_page(r->nand, (NandPpa){next});
    }
    rig_submit(r, now_ns, NAND_PROGRAM, first + page, 16384);
    rig_run(r, now_ns + after_ns);
    nand_power_cut(r->nand, (now_ns + after_ns) * PS_PER_NS);
    eventq_destroy(&r->q);
    eventq_init(&r->q);
    for (uint32_t p = 0; p < 12; p++) {
        lost |= (uint32_t)nand_page_lost(r->nand, (NandPpa){first + p}) << p;
    }
    return lost;
}

static uint32_t lost_in(const char *value, uint32_t page, uint64_t after_ns)
{
    Rig *r = paired(value, NULL);
    uint32_t lost = lost_by(r, page, after_ns);

    g_assert_cmpuint(nand_stats(r->nand)->lost_pages, ==,
                     (unsigned)__builtin_popcount(lost));
    rig_free(r);
    return lost;
}

/* Page p of a word line takes the p pages before it along, if its program has
 * reached the array: after the command and 41 us of data, before 541 us. */
static void test_paired_sets(void)
{
    static const uint32_t lost[] = {0, 1, 3, 0, 1 << 3, 3 << 3, 0, 1 << 6};

    for (uint32_t page = 0; page < G_N_ELEMENTS(lost); page++) {
        g_assert_cmphex(lost_in("on", page, 300000), ==, lost[page]);
        g_assert_cmphex(lost_in("on", page, 30000), ==, 0);
        g_assert_cmphex(lost_in("on", page, 600000), ==, 0);
        g_assert_cmphex(lost_in("off", page, 300000), ==, 0);
        g_assert_cmphex(lost_in("backup", page, 300000), ==, 0);
    }
}

/* Lost pages cannot be read, until the block is erased; `strong` reads can. */
static void test_paired_reads(void)
{
    Rig *r = paired("on", NULL);
    uint32_t first = rig_page(r, 0, 1, 0);
    NandOp strong = {
        .kind = NAND_READ, .ppa = {first + 4}, .bytes = 80, .strong = true};

    g_assert_cmphex(lost_by(r, 5, 300000), ==, 3 << 3);
    r->now_ps = 400000 * PS_PER_NS;
    g_assert_cmpuint(rig_read(r, first + 2)->status, ==, NAND_OK);
    g_assert_cmpuint(rig_read(r, first + 3)->status, ==, NAND_UNCORRECTABLE);
    g_assert_cmphex(rig_read(r, first + 4)->bad_parts, ==, UINT64_MAX);
    nand_submit(r->nand, &strong, r->now_ps);
    rig_run_all(r);
    g_assert_cmpuint(r->done[r->n_done - 1].status, ==, NAND_OK);
    rig_do(r, NAND_ERASE, first);
    for (uint32_t p = 0; p < 4; p++) {
        rig_submit(r, r->now_ps / PS_PER_NS + 1, NAND_PROGRAM, first + p,
                   16384);
        rig_run_all(r);
        g_assert_cmpuint(rig_read(r, first + p)->status, ==, NAND_OK);
    }
    rig_free(r);
}

/* A copyback copies what is lost. */
static void test_paired_copyback(void)
{
    Rig *r = paired("on", "nand.copyback");
    NandOp copy = {.kind = NAND_COPYBACK};

    g_assert_cmphex(lost_by(r, 2, 300000), ==, 3);
    r->now_ps = 400000 * PS_PER_NS;
    copy.ppa.page = rig_page(r, 0, 2, 0);
    copy.from.page = rig_page(r, 0, 1, 1);
    nand_submit(r->nand, &copy, r->now_ps);
    rig_run_all(r);
    g_assert_cmpuint(rig_read(r, copy.ppa.page)->status, ==,
                     NAND_UNCORRECTABLE);
    rig_free(r);
}

/* Capacitors: nothing is lost.  And a block in SLC mode has no paired pages. */
static void test_paired_safe(void)
{
    Rig *r = paired("on", NULL);

    nand_set_protected(r->nand, true);
    g_assert_cmphex(lost_by(r, 5, 300000), ==, 0);
    rig_free(r);
    {
        NandConfig cfg = {.seed = 1};

        rig_config(&cfg);
        rig_set_all(&cfg, "nand.cell=tlc;nand.pages=36;nand.slc_blocks=2;"
                          "media.paired_pages=on");
        r = rig_new(&cfg);
        g_assert_cmphex(lost_by(r, 5, 60000), ==, 0);
        g_assert_cmpuint(nand_next_page(r->nand, 1), ==, 6); /* it was torn */
        rig_free(r);
    }
}

/* With backups a program of the second or third page takes tR of the page
 * before it, and a program in SLC mode, longer. */
static void test_paired_backup(void)
{
    Rig *r = paired("backup", NULL);

    for (uint32_t p = 0; p < 6; p++) {
        rig_do(r, NAND_PROGRAM, p);
        g_assert_cmpuint(r->done[p].time_ps[NAND_TIME_CELL] / PS_PER_NS, ==,
                         p % 3 ? 500000 + TR + 100000 : 500000);
    }
    g_assert_cmpuint(nand_stats(r->nand)->backups, ==, 4);
    rig_free(r);
}

/* ---- times that change with wear ----------------------------------------- */

static void test_worn(void)
{
    NandConfig cfg = {.seed = 1};
    const NandConfig *c = &cfg;

    rig_config(&cfg);
    rig_set_all(&cfg, "nand.program_wear=20%;nand.erase_wear=50%");
    g_assert_cmpuint(nand_worn_ps(c, true, 1000000, 0, 3000), ==, 1000000);
    g_assert_cmpuint(nand_worn_ps(c, true, 1000000, 1500, 3000), ==, 900000);
    g_assert_cmpuint(nand_worn_ps(c, true, 1000000, 3000, 3000), ==, 800000);
    g_assert_cmpuint(nand_worn_ps(c, true, 1000000, 9000, 3000), ==, 800000);
    g_assert_cmpuint(nand_worn_ps(c, false, 1000000, 1500, 3000), ==, 1250000);
    g_assert_cmpuint(nand_worn_ps(c, false, 1000000, 9000, 3000), ==, 1500000);
    g_assert_cmpuint(nand_worn_ps(c, false, 1000000, 9000, 0), ==, 1000000);
    g_assert_cmpuint(nand_worn_ps(c, false, 1000000000000, 1, 1), ==,
                     1500000000000);
    g_assert_cmpuint(nand_worn_ps(c, true, 7, 1500, 3000), ==, 7); /* 6.3 */
}

/* Erase by erase: tPROG 500 us - 20 % PE / 10, tBERS 3 ms + 50 % PE / 10. */
static void test_worn_block(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;

    rig_config(&cfg);
    rig_set_all(&cfg, "nand.program_wear=20%;nand.erase_wear=50%;"
                      "media.rated_cycles=10;media.start_cycles=4");
    r = rig_new(&cfg);
    for (uint64_t pe = 4; pe < 14; pe++) {
        uint64_t worn = MIN(pe, 10);
        unsigned i = r->n_done;

        rig_do(r, NAND_PROGRAM, 0);
        rig_submit(r, r->now_ps / PS_PER_NS + 1, NAND_READ, 0, 16384);
        rig_run_all(r);
        rig_do(r, NAND_ERASE, 0);
        g_assert_cmpuint(r->done[i].time_ps[NAND_TIME_CELL] / PS_PER_NS, ==,
                         500000 - 10000 * worn);
        g_assert_cmpuint(r->done[i + 1].time_ps[NAND_TIME_CELL] / PS_PER_NS, ==,
                         TR);
        g_assert_cmpuint(r->done[i + 2].time_ps[NAND_TIME_CELL] / PS_PER_NS, ==,
                         3000000 + 150000 * worn);
    }
    rig_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cells/lognormal", test_lognormal);
    g_test_add_func("/cells/layers", test_layers);
    g_test_add_func("/cells/page-factor", test_page_factor);
    g_test_add_func("/cells/places", test_places);
    g_test_add_func("/cells/block-losses", test_block_losses);
    g_test_add_func("/cells/arrhenius", test_arrhenius);
    g_test_add_func("/cells/hot", test_hot);
    g_test_add_func("/cells/order", test_order);
    g_test_add_func("/cells/level-formulas", test_level_formulas);
    g_test_add_func("/cells/level-found", test_level_found);
    g_test_add_func("/cells/level-remembered", test_level_remembered);
    g_test_add_func("/cells/level-misses", test_level_misses);
    g_test_add_func("/cells/level-floor", test_level_floor);
    g_test_add_func("/cells/soft", test_soft);
    g_test_add_func("/cells/paired/sets", test_paired_sets);
    g_test_add_func("/cells/paired/reads", test_paired_reads);
    g_test_add_func("/cells/paired/copyback", test_paired_copyback);
    g_test_add_func("/cells/paired/safe", test_paired_safe);
    g_test_add_func("/cells/paired/backup", test_paired_backup);
    g_test_add_func("/cells/worn", test_worn);
    g_test_add_func("/cells/worn-block", test_worn_block);
    return g_test_run();
}
