/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rules.c - the rules of the medium: a broken one aborts and says which;
 * power cuts; impossible geometries.
 */
#include "rig.h"

#include <string.h>

#define PAGE 16384

/* The test must abort with a message that matches. */
#define EXPECT_ABORT(pattern)                                                  \
    do {                                                                       \
        if (!g_test_subprocess()) {                                            \
            g_test_trap_subprocess(NULL, 0, 0);                                \
            g_test_trap_assert_failed();                                       \
            g_test_trap_assert_stderr(pattern);                                \
            return;                                                            \
        }                                                                      \
    } while (0)

static void test_program_out_of_order(void)
{
    EXPECT_ABORT("*program of page 1, block 0*in order*");
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 1), PAGE);
}

static void test_program_twice(void)
{
    EXPECT_ABORT("*program of page 0, block 0*programmed once*");
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    rig_submit(r, 600000, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
}

/* With nand.history, what the block went through is told. */
static void test_history(void)
{
    NandConfig cfg;
    Rig *r;

    EXPECT_ABORT("*programmed once*block 0 of late:\n"
                 "*0.000 ns: operation 1, program of page 0 (host) submitted\n"
                 "*ns: operation 1, program of page 0 (host) done\n"
                 "*ns: operation 3, read of page 0 (host) submitted\n"
                 "*ns: operation 3, read of page 0 (host) done\n"
                 "*ns: operation 4, program of page 0 (host) submitted*");
    rig_config(&cfg);
    cfg.history = 8;
    r = rig_new(&cfg);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 1, 0), PAGE);
    rig_run_all(r);
    rig_submit(r, 2000000, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    rig_submit(r, 3000000, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
}

static void test_program_full(void)
{
    EXPECT_ABORT("*program of page 3, block 17*programmed once*");
    Rig *r = rig_new(NULL);

    rig_preload(r, 1, 1, 4);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 1, 1, 3), PAGE);
}

static void test_read_unprogrammed(void)
{
    EXPECT_ABORT("*read of page 2, block 0*not programmed*");
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 2);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 2), PAGE);
}

static void test_read_erased(void)
{
    EXPECT_ABORT("*read of page 0, block 0*not programmed*");
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 4);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 0, 0), 0);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
}

static void test_erase_busy(void)
{
    EXPECT_ABORT("*erase of page 0, block 0*have not finished*");
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 0, 0), 0);
}

static void test_beyond_array(void)
{
    EXPECT_ABORT("*n_pages*");
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_ERASE, rig_page(r, 8, 0, 0), 0);
}

static void test_beyond_page(void)
{
    EXPECT_ABORT("*page_bytes*");
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE + 1);
}

static void test_preload_out_of_order(void)
{
    EXPECT_ABORT("*next_page*");
    Rig *r = rig_new(NULL);

    nand_preload_page(r->nand, (NandPpa){rig_page(r, 0, 0, 1)});
}

/* Erased and programmed again and again, blocks count their cycles. */
static void test_cycles(void)
{
    Rig *r = rig_new(NULL);

    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmpuint(nand_next_page(r->nand, 5), ==, 0);
        for (uint32_t p = 0; p < 4; p++) {
            rig_submit(r, i * 10000000, NAND_PROGRAM, rig_page(r, 0, 5, p),
                       PAGE);
            g_assert_cmpuint(nand_next_page(r->nand, 5), ==, p + 1);
        }
        rig_run_all(r);
        rig_submit(r, i * 10000000 + 5000000, NAND_ERASE, rig_page(r, 0, 5, 2),
                   0);
        rig_run_all(r);
        g_assert_cmpuint(nand_erase_count(r->nand, 5), ==, i + 1);
    }
    g_assert_cmpuint(nand_erase_count(r->nand, 4), ==, 0);
    rig_free(r);
}

/* ---- power cuts --------------------------------------------------------- */

static void cut(Rig *r, uint64_t now_ns)
{
    GError *error = NULL;

    rig_run(r, now_ns);
    nand_power_cut(r->nand, now_ns * PS_PER_NS);
    while (eventq_count(&r->q) > 0) {
        eventq_pop(&r->q);
    }
    nand_check(r->nand, &error);
    g_assert_no_error(error);
}

/* C + X = 41160 ns on the bus, then in the array until 541160. */
static void test_cut_program(void)
{
    static const struct {
        uint64_t at_ns;
        uint32_t next_page; /* of the block with pages 0 and 1 on their way */
        unsigned n_done;
    } t[] = {
        {0, 0, 0},      /* on the bus: never reached the array */
        {41159, 0, 0},  /* the same, to the end */
        {41160, 1, 0},  /* in the array: torn, counts as programmed */
        {541159, 1, 0}, /* the same, to the end */
        {541160, 1, 1}, /* done; page 1 on the bus */
        {600000, 2, 1}, /* page 1 torn */
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        Rig *r = rig_new(NULL);

        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 1), PAGE);
        cut(r, t[i].at_ns);
        g_assert_cmpuint(nand_next_page(r->nand, 0), ==, t[i].next_page);
        g_assert_cmpuint(r->n_done, ==, t[i].n_done);
        g_assert_cmpuint(nand_die_load(r->nand, 0), ==, 0);

        /* The array goes on from there. */
        rig_submit(r, 700000, NAND_PROGRAM, rig_page(r, 0, 0, t[i].next_page),
                   PAGE);
        rig_run_all(r);
        g_assert_cmpuint(r->n_done, ==, t[i].n_done + 1);
        rig_free(r);
    }
}

/* Queued or running, an erase that was cut leaves a block to erase again. */
static void test_cut_erase(void)
{
    for (uint64_t at_ns = 0; at_ns < 3000200; at_ns += 500000) {
        Rig *r = rig_new(NULL);

        rig_preload(r, 0, 0, 4);
        rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 0, 0), 0);
        cut(r, at_ns);
        g_assert_cmpuint(nand_next_page(r->nand, 0), ==, 4);
        g_assert_cmpuint(nand_erase_count(r->nand, 0), ==, 0);
        rig_submit(r, at_ns, NAND_ERASE, rig_page(r, 0, 0, 0), 0);
        rig_run_all(r);
        g_assert_cmpuint(nand_erase_count(r->nand, 0), ==, 1);
        rig_free(r);
    }
}

/* A program queued behind an erase of its block: neither has happened. */
static void test_cut_erase_and_program(void)
{
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 4);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 0, 0), 0);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    cut(r, 1000);
    g_assert_cmpuint(nand_next_page(r->nand, 0), ==, 4);
    rig_free(r);
}

/* ---- configurations ----------------------------------------------------- */

static void refuse(const char *key, const char *value, const char *says)
{
    g_autoptr(GError) error = NULL;
    NandConfig cfg;
    const OptDesc *d = opt_find(nand_options, nand_n_options, key);

    rig_config(&cfg);
    g_assert_true(opt_set(&cfg, d, value, NULL));
    g_assert_false(nand_config_check(&cfg, &error));
    g_assert_error(error, OPT_ERROR, OPT_ERROR_COMBINATION);
    g_assert_nonnull(strstr(error->message, says));
    g_assert_null(strchr(error->message, '\n'));
}

static void test_config(void)
{
    NandConfig cfg;

    rig_config(&cfg);
    g_assert_true(nand_config_check(&cfg, NULL));
    refuse("nand.page_size", "12KiB", "nand.page_size=12288");
    refuse("nand.page_size", "1000", "power of two");
    rig_config(&cfg);
    cfg.channels = cfg.chips = cfg.dies = 64;
    g_assert_false(nand_config_check(&cfg, NULL));
    rig_config(&cfg);
    cfg.channels = 64;
    cfg.blocks = 1048576;
    cfg.pages = 16384;
    g_assert_false(nand_config_check(&cfg, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nand/rules/program-out-of-order",
                    test_program_out_of_order);
    g_test_add_func("/nand/rules/program-twice", test_program_twice);
    g_test_add_func("/nand/rules/program-full", test_program_full);
    g_test_add_func("/nand/rules/history", test_history);
    g_test_add_func("/nand/rules/read-unprogrammed", test_read_unprogrammed);
    g_test_add_func("/nand/rules/read-erased", test_read_erased);
    g_test_add_func("/nand/rules/erase-busy", test_erase_busy);
    g_test_add_func("/nand/rules/beyond-array", test_beyond_array);
    g_test_add_func("/nand/rules/beyond-page", test_beyond_page);
    g_test_add_func("/nand/rules/preload-out-of-order",
                    test_preload_out_of_order);
    g_test_add_func("/nand/rules/cycles", test_cycles);
    g_test_add_func("/nand/power/program", test_cut_program);
    g_test_add_func("/nand/power/erase", test_cut_erase);
    g_test_add_func("/nand/power/erase-and-program",
                    test_cut_erase_and_program);
    g_test_add_func("/nand/config", test_config);
    return g_test_run();
}
