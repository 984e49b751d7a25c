/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-media.c - bit errors, ECC, read retry and failures against their closed
 * forms.
 *
 * Draws are seeded, so a count repeats exactly; where it is compared with a
 * probability, the tolerance is four standard deviations.
 */
#include <math.h>
#include <string.h>

#include "nand-reliability.h"
#include "rig.h"

#define C     200ULL   /* command, ns */
#define X     40960ULL /* a page over the bus */
#define U     10240ULL /* 4 KiB */
#define TR    50000ULL
#define READS 20000
#define BITS  16384 /* of a codeword of 2 KiB */

/* ---- formulas ------------------------------------------------------------ */

static void test_rber(void)
{
    NandConfig cfg = {.seed = 1};

    rig_media_config(&cfg, "1e-4");
    near(media_rber(&cfg, 5000, 3, 7), 1e-4, 1e-18);
    rig_set_all(&cfg, "media.wear=1e-9;media.wear_exp=2");
    near(media_rber(&cfg, 1000, 3, 7), 1e-4 + 1e-3, 1e-15);
    rig_set_all(&cfg, "media.retention=1e-5;media.retention_pe_exp=1;"
                      "media.retention_exp=0.5");
    near(media_rber(&cfg, 100, 4, 7), 1e-4 + 1e-5 + 2e-3, 1e-15);
    rig_set_all(&cfg, "media.disturb=1e-6;media.disturb_pe_exp=1;"
                      "media.disturb_exp=2");
    near(media_rber(&cfg, 10, 0, 3), 1e-4 + 1e-7 + 9e-5, 1e-15);
    near(media_rber(&cfg, 1e7, 1e9, 1e9), 0.5, 0);
}

/* From the other end, and in long double. */
static double slow_tail(uint32_t n, uint32_t correctable, double p)
{
    long double term = expl((long double)n * log1pl(-(long double)p));
    long double sum = 0;

    for (uint32_t k = 0; k <= n; k++) {
        sum += k > correctable ? term : 0;
        term *= (long double)(n - k) / (k + 1) * p / (1 - p);
    }
    return (double)sum;
}

static void test_tail(void)
{
    static const double p[] = {1e-4, 1e-3, 3e-3, 5e-3, 7e-3, 7.4e-3, 8e-3, 2e-2};

    near(media_tail(4, 1, 0.5), 11.0 / 16, 1e-14);
    near(media_tail(10, 0, 0.1), 1 - pow(0.9, 10), 1e-14);
    g_assert_true(media_tail(100, 5, 0) == 0);
    g_assert_true(media_tail(100, 100, 0.5) == 0);
    g_assert_true(media_tail(100, 5, 1) == 1);
    g_assert_true(media_tail(BITS, 120, 0.5) == 1);
    for (size_t i = 0; i < G_N_ELEMENTS(p); i++) {
        double want = slow_tail(BITS, 120, p[i]);

        near(media_tail(BITS, 120, p[i]), want, want * 1e-9 + 1e-300);
    }
}

static void test_fail_growth(void)
{
    NandConfig cfg = {.seed = 1};

    rig_media_config(&cfg, "0");
    rig_set(&cfg, "media.fail_exp", "3");
    near(media_fail(&cfg, 1e-3, 0, 1000), 1e-3, 1e-18);
    near(media_fail(&cfg, 1e-3, 1000, 1000), 2e-3, 1e-15);
    near(media_fail(&cfg, 1e-3, 2000, 1000), 9e-3, 1e-15);
    near(media_fail(&cfg, 1e-3, 1e6, 1000), 1, 0);
    near(media_fail(&cfg, 1e-3, 1e6, 0), 1e-3, 1e-18);
}

/* ---- draws --------------------------------------------------------------- */

#define PLANE_BLOCKS (READS / 8)

/* An array with a page of data in each of READS blocks. */
static Rig *many_pages(NandConfig *cfg)
{
    Rig *r;

    cfg->blocks = PLANE_BLOCKS;
    r = rig_new(cfg);
    for (uint32_t i = 0; i < READS; i++) {
        rig_preload(r, i / PLANE_BLOCKS, i % PLANE_BLOCKS, 1);
    }
    return r;
}

/* The page of the i-th block. */
static uint32_t page_of(const Rig *r, uint32_t i)
{
    return i * r->cfg.pages;
}

/* How many of READS reads of 4 KiB, each of another page, needed at least so many
 * retries. */
static void count_retries(NandConfig *cfg, unsigned *at_least, unsigned *bad)
{
    Rig *r = many_pages(cfg);

    *bad = 0;
    memset(at_least, 0, 5 * sizeof(*at_least));
    for (unsigned i = 0; i < READS; i++) {
        rig_submit(r, r->now_ps / PS_PER_NS + 1, NAND_READ, page_of(r, i),
                   4096);
        rig_run_all(r);
        g_assert_cmpuint(r->n_done, ==, i + 1);
        for (unsigned k = 0; k <= r->done[i].retries; k++) {
            at_least[k]++;
        }
        *bad += r->done[i].status == NAND_UNCORRECTABLE;
    }
    g_assert_cmpuint(nand_stats(r->nand)->uncorrectable, ==, *bad);
    rig_free(r);
}

static void near_share(unsigned n, double p)
{
    near(n, READS * p, 4 * sqrt(READS * p * (1 - p)));
}

/* A read decodes all 8 codewords of the page (parts = 0); it fails at retry s with
 * probability 1 - (1 - tail(rber factor^s))^8. */
static void test_retry_statistics(void)
{
    NandConfig cfg = {.seed = 1};
    unsigned n[5], again[5];
    unsigned bad, bad_again;

    rig_media_config(&cfg, "7e-3");
    rig_set_all(&cfg, "media.retry_limit=3;media.retry_factor=0.95");
    count_retries(&cfg, n, &bad);
    for (int s = 0; s <= 3; s++) {
        double cw = media_tail(BITS, 120, 7e-3 * pow(0.95, s));
        double page = 1 - pow(1 - cw, 8);

        near_share(s < 3 ? n[s + 1] : bad, page);
    }
    g_assert_cmpuint(n[1], >, 100);
    g_assert_cmpuint(bad, >, 10);
    count_retries(&cfg, again, &bad_again);
    g_assert_cmpmem(n, sizeof(n), again, sizeof(again));
    g_assert_cmpuint(bad, ==, bad_again);
    cfg.seed = 2;
    count_retries(&cfg, again, &bad_again);
    g_assert_cmpuint(n[1], !=, again[1]);
}

/* Which codewords: each is lost with the same probability. */
static void test_bad_parts(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;
    unsigned n[8] = {0};
    double cw = media_tail(BITS, 120, 7e-3);

    rig_media_config(&cfg, "7e-3");
    rig_set(&cfg, "media.retry_limit", "0");
    r = many_pages(&cfg);
    for (unsigned i = 0; i < READS; i++) {
        NandOp op = {
            .kind = NAND_READ,
            .ppa = {page_of(r, i)},
            .bytes = 4096,
            .parts = 0xffff00, /* the third and the fourth codeword */
        };

        nand_submit(r->nand, &op, r->now_ps);
        rig_run_all(r);
        g_assert_cmphex(r->done[i].bad_parts & ~op.parts, ==, 0);
        g_assert_true((r->done[i].bad_parts != 0) ==
                      (r->done[i].status == NAND_UNCORRECTABLE));
        for (unsigned k = 0; k < 8; k++) {
            uint64_t bad = r->done[i].bad_parts >> (8 * k) & 0xff;

            g_assert_true(bad == 0 || bad == 0xff);
            n[k] += bad != 0;
        }
    }
    near_share(n[1], cw);
    near_share(n[2], cw);
    g_assert_cmpuint(n[1] + n[2], >, 100);
    rig_free(r);
}

/* The parts of the page that a read of these says are lost. */
static uint64_t lost_of(Rig *r, uint32_t page, uint64_t parts)
{
    NandOp op = {
        .kind = NAND_READ, .ppa = {page}, .bytes = 16384, .parts = parts};

    nand_submit(r->nand, &op, r->now_ps);
    rig_run_all(r);
    return r->done[r->n_done - 1].bad_parts;
}

/* What cannot be read cannot be read again, however it is asked for; and the rest
 * can, until the block is erased. */
static void test_same_again(void)
{
    NandConfig cfg = {.seed = 1};
    unsigned n_lost = 0;
    unsigned n_changed = 0;
    Rig *r;

    rig_media_config(&cfg, "7e-3");
    rig_set_all(&cfg, "media.retry_limit=1;media.retry_factor=0.99");
    r = many_pages(&cfg);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t page = page_of(r, i);
        uint64_t lost = lost_of(r, page, 0);

        n_lost += lost != 0;
        for (int again = 0; again < 4; again++) {
            g_assert_cmphex(lost_of(r, page, 0), ==, lost);
        }
        for (int k = 0; k < 64; k += 8) {
            uint64_t codeword = 0xffULL << k;

            g_assert_cmphex(lost_of(r, page, codeword), ==, lost & codeword);
        }
        rig_do(r, NAND_ERASE, page);
        rig_do(r, NAND_PROGRAM, page);
        n_changed += lost_of(r, page, 0) != lost;
    }
    g_assert_cmpuint(n_lost, >, 100);
    g_assert_cmpuint(n_changed, >, 100);
    rig_free(r);
}

/* As a block is read its pages fail one after another, and stay so. */
static void test_more_and_more(void)
{
    NandConfig cfg = {.seed = 1};
    uint64_t lost[100] = {0};
    unsigned n[10] = {0};
    Rig *r;

    rig_media_config(&cfg, "6e-3");
    rig_set_all(&cfg, "media.retry_limit=0;media.disturb=4e-4;"
                      "media.disturb_pe_exp=0;media.disturb_exp=1");
    r = many_pages(&cfg);
    for (unsigned k = 0; k < 10; k++) {
        for (unsigned i = 0; i < 100; i++) {
            uint64_t now = lost_of(r, page_of(r, i), 0);

            g_assert_cmphex(lost[i] & ~now, ==, 0);
            lost[i] = now;
            n[k] += now != 0;
        }
    }
    g_assert_cmpuint(n[0], <, 20);
    g_assert_cmpuint(n[9], >, 50);
    rig_free(r);
}

/* A block in SLC mode has a rate of its own, reads are counted by its own pages,
 * and it is rated for cycles of its own. */
static void test_slc(void)
{
    NandConfig cfg = {.seed = 1};
    unsigned failed[2] = {0};
    unsigned lost[2] = {0};
    Rig *r;

    rig_media_config(&cfg, "7e-3");
    rig_set_all(&cfg, "nand.cell=tlc;nand.pages=12;nand.slc_blocks=1000;"
                      "media.retry_limit=0;media.slc_factor=0.5;"
                      "media.start_cycles=1000;media.program_fail=0.05;"
                      "media.rated_cycles=1000;media.slc_rated_cycles=0");
    cfg.blocks = PLANE_BLOCKS;
    r = rig_new(&cfg);
    for (uint32_t b = 0; b < 2000; b++) {
        bool slc = b < 1000;

        rig_submit(r, r->now_ps / PS_PER_NS + 1, NAND_PROGRAM, page_of(r, b),
                   16384);
        rig_run_all(r);
        failed[slc] += r->done[r->n_done - 1].status == NAND_FAILED;
        lost[slc] += lost_of(r, page_of(r, b), 0) != 0;
    }
    /* Half the rate: 61 wrong bits of 16384 are expected, 120 corrected. */
    g_assert_cmpuint(lost[0], >, 100);
    g_assert_cmpuint(lost[1], ==, 0);
    near(failed[0], 100, 4 * sqrt(100 * 0.9));
    near(failed[1], 50, 4 * sqrt(50 * 0.95));
    rig_free(r);
}

/* A disturb of 0.25 per read and page: with ecc_bits=0 the second read fails. */
static void test_slc_disturb(void)
{
    static const char *const factor[] = {"0", "1"};
    NandConfig cfg = {.seed = 1};

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "nand.cell=tlc;nand.pages=12;nand.slc_blocks=1;"
                      "media.ecc_bits=0;media.retry_limit=0;media.disturb=1;"
                      "media.disturb_pe_exp=0;media.disturb_exp=1");
    for (unsigned i = 0; i < 2; i++) {
        Rig *r;

        rig_set(&cfg, "media.slc_factor", factor[i]);
        r = rig_new(&cfg);
        rig_preload(r, 0, 0, 1);
        g_assert_cmphex(lost_of(r, 0, 0), ==, 0);
        g_assert_true((lost_of(r, 0, 0) != 0) == (i == 1));
        rig_free(r);
    }
    /* One read of four pages, not of twelve. */
    rig_set_all(&cfg, "media.ecc_bits=1500;media.disturb=0.5");
    {
        Rig *r = rig_new(&cfg);

        rig_preload(r, 0, 0, 1);
        g_assert_cmphex(lost_of(r, 0, 0), ==, 0);
        g_assert_cmphex(lost_of(r, 0, 0), !=, 0);
        rig_free(r);
    }
}

static void test_factory_bad(void)
{
    NandConfig cfg = {.seed = 1};
    unsigned n = 0;
    Rig *a, *b;

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "nand.blocks=5000;media.factory_bad=5%");
    a = rig_new(&cfg);
    b = rig_new(&cfg);
    for (uint32_t i = 0; i < 8 * 5000; i++) {
        n += nand_factory_bad(a->nand, i);
        g_assert_true(nand_factory_bad(a->nand, i) ==
                      nand_factory_bad(b->nand, i));
    }
    near(n, 40000 * 0.05, 4 * sqrt(40000 * 0.05 * 0.95));
    rig_free(a);
    rig_free(b);
}

/* Programs and erases, a thousand blocks of four pages. */
static void test_failures(void)
{
    NandConfig cfg = {.seed = 1};
    unsigned n[NAND_N_KINDS] = {0};
    Rig *r;

    rig_config(&cfg);
    rig_set_all(&cfg, "nand.blocks=500;media.program_fail=0.05;"
                      "media.erase_fail=0.1");
    r = rig_new(&cfg);
    for (uint32_t block = 0; block < 4000; block++) {
        for (uint32_t p = 0; p < 4; p++) {
            rig_submit(r, r->now_ps / PS_PER_NS + 1, NAND_PROGRAM,
                       block * 4 + p, 16384);
        }
        rig_run_all(r);
        rig_do(r, NAND_ERASE, block * 4);
    }
    for (unsigned i = 0; i < r->n_done; i++) {
        n[r->done[i].kind] += r->done[i].status == NAND_FAILED;
        if (r->done[i].kind == NAND_ERASE) {
            uint32_t block = r->done[i].ppa.page / 4;

            g_assert_cmpuint(nand_next_page(r->nand, block), ==,
                             r->done[i].status == NAND_FAILED ? 4 : 0);
        }
    }
    near(n[NAND_PROGRAM], 800, 4 * sqrt(800 * 0.95));
    near(n[NAND_ERASE], 400, 4 * sqrt(400 * 0.9));
    g_assert_cmpuint(nand_stats(r->nand)->program_failures, ==,
                     n[NAND_PROGRAM]);
    g_assert_cmpuint(nand_stats(r->nand)->erase_failures, ==, n[NAND_ERASE]);
    rig_free(r);
}

/* ---- time, wear, age, disturb -------------------------------------------- */

/* Every attempt: command, tR (and what a retry adds), data out. */
static void retry_latency(const char *decode, uint64_t decode_ns)
{
    NandConfig cfg = {.seed = 1};
    NandOp op = {.kind = NAND_READ, .bytes = 16384, .bad_parts = 1};
    Rig *r;

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "media.retry_limit=2;media.retry_time=7us");
    rig_set(&cfg, "nand.ecc_decode", decode);
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 2);
    rig_preload(r, 0, 1, 2);
    nand_submit(r->nand, &op, 0);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 1, 0), 16384); /* waits */
    rig_run_all(r);
    g_assert_cmpuint(r->n_done, ==, 2);
    if (decode_ns == 0) {
        g_assert_cmpuint(r->done[0].retries, ==, 2);
        g_assert_cmpuint(r->done[0].status, ==, NAND_UNCORRECTABLE);
        g_assert_cmpuint(r->done_ps[0] / PS_PER_NS, ==,
                         3 * (C + TR + X) + 2 * 7000);
        g_assert_cmpuint(r->done_ps[1] / PS_PER_NS, ==,
                         4 * (C + TR + X) + 2 * 7000);
        g_assert_cmpuint(r->done[0].time_ps[NAND_TIME_CELL] / PS_PER_NS, ==,
                         3 * TR + 2 * 7000);
        g_assert_cmpuint(r->done[0].time_ps[NAND_TIME_BUS] / PS_PER_NS, ==,
                         3 * (C + X));
        g_assert_cmpuint(r->done[0].time_ps[NAND_TIME_DIE_WAIT], ==, 0);
    } else {
        /* The other read uses the die while the page is being decoded; then
         * the two retries follow, each with its last codeword's decode. */
        g_assert_cmpuint(r->done[0].retries, ==, 0);
        g_assert_cmpuint(r->done_ps[0] / PS_PER_NS, ==,
                         2 * (C + TR + X) + decode_ns);
        g_assert_cmpuint(r->done_ps[1] / PS_PER_NS, ==,
                         4 * (C + TR + X) + 2 * 7000 + 2 * decode_ns);
    }
    g_assert_cmpuint(nand_stats(r->nand)->read_retries, ==, 2);
    g_assert_cmpuint(nand_read_count(r->nand, 0), ==, 3);
    rig_free(r);
}

static void test_retry_latency(void)
{
    retry_latency("0", 0);
    retry_latency("1us", 1000);
}

/* Nothing overtakes a read that is tried again and then erases its block. */
static void test_retry_before_erase(void)
{
    NandConfig cfg = {.seed = 1};
    NandOp op = {.kind = NAND_READ, .bytes = 16384, .bad_parts = 1};
    Rig *r;

    rig_media_config(&cfg, "0");
    rig_set(&cfg, "nand.ecc_decode", "100us");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    nand_submit(r->nand, &op, 0);
    rig_submit(r, 0, NAND_ERASE, 0, 0);
    r->check = true;
    rig_run_all(r);
    g_assert_cmpuint(r->done[0].kind, ==, NAND_READ);
    g_assert_cmpuint(r->done[0].retries, ==, 5);
    rig_free(r);
}

static uint8_t read_status(Rig *r, uint64_t now_ns)
{
    rig_submit(r, now_ns, NAND_READ, 0, 16384);
    rig_run_all(r);
    return r->done[r->n_done - 1].status;
}

/* With ecc_bits=0 a page fails for certain once RBER is 1e-3 or more. */
static void test_disturb(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "media.ecc_bits=0;media.retry_limit=0;media.disturb=0.01;"
                      "media.disturb_pe_exp=0;media.disturb_exp=1");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 4);
    g_assert_cmpuint(read_status(r, 0), ==, NAND_OK);
    g_assert_cmpuint(read_status(r, 1000000), ==, NAND_UNCORRECTABLE);
    g_assert_cmpuint(nand_read_count(r->nand, 0), ==, 2);
    rig_submit(r, 2000000, NAND_ERASE, 0, 0);
    rig_run_all(r);
    g_assert_cmpuint(nand_read_count(r->nand, 0), ==, 0);
    rig_submit(r, 9000000, NAND_PROGRAM, 0, 16384);
    rig_run_all(r);
    g_assert_cmpuint(read_status(r, 10000000), ==, NAND_OK);
    rig_free(r);
}

static void test_retention(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "media.ecc_bits=0;media.retry_limit=0;"
                      "media.retention=1e-3;media.retention_pe_exp=0;"
                      "media.retention_exp=1;media.retention_unit=1h");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(read_status(r, 1000), ==, NAND_OK);
    g_assert_cmpuint(read_status(r, 3600 * NS_PER_S), ==, NAND_UNCORRECTABLE);
    rig_free(r);
    rig_set(&cfg, "media.preload_hours", "1");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(read_status(r, 1000), ==, NAND_UNCORRECTABLE);
    rig_free(r);
    rig_set_all(&cfg, "media.preload_hours=0;media.off_hours=1");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    nand_power_cut(r->nand, 1000);
    g_assert_cmpuint(read_status(r, 1000), ==, NAND_UNCORRECTABLE);
    rig_free(r);
}

static void test_start_cycles(void)
{
    NandConfig cfg = {.seed = 1};
    Rig *r;

    rig_media_config(&cfg, "0");
    rig_set_all(&cfg, "media.ecc_bits=0;media.wear=1e-3;media.wear_exp=1");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(read_status(r, 0), ==, NAND_OK);
    rig_free(r);
    rig_set(&cfg, "media.start_cycles", "400");
    r = rig_new(&cfg);
    rig_preload(r, 0, 0, 1);
    g_assert_cmpuint(read_status(r, 0), ==, NAND_UNCORRECTABLE);
    rig_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/media/rber", test_rber);
    g_test_add_func("/media/tail", test_tail);
    g_test_add_func("/media/fail-growth", test_fail_growth);
    g_test_add_func("/media/retry-statistics", test_retry_statistics);
    g_test_add_func("/media/bad-parts", test_bad_parts);
    g_test_add_func("/media/same-again", test_same_again);
    g_test_add_func("/media/more-and-more", test_more_and_more);
    g_test_add_func("/media/slc", test_slc);
    g_test_add_func("/media/slc-disturb", test_slc_disturb);
    g_test_add_func("/media/factory-bad", test_factory_bad);
    g_test_add_func("/media/failures", test_failures);
    g_test_add_func("/media/retry-latency", test_retry_latency);
    g_test_add_func("/media/retry-before-erase", test_retry_before_erase);
    g_test_add_func("/media/disturb", test_disturb);
    g_test_add_func("/media/retention", test_retention);
    g_test_add_func("/media/start-cycles", test_start_cycles);
    return g_test_run();
}
