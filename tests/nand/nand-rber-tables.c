/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rber-tables.c - the tables of nand-rber-tables.h give the formulas'
 * answers: equal rates and factors, and no bound that the formula contradicts.
 */
#include <math.h>

#include "nand-rber-tables.h"
#include "nand-rber.h"
#include "nand-variation.h"
#include "prng.h"
#include "rig.h"

#define KEY 77

#define OPTIONS                                                                \
    "nand.cell=tlc;nand.pages=12;nand.slc_blocks=1;media.errors=on;"           \
    "media.block_sigma=0.3;media.die_sigma=0.2;media.layer_factor=2.5;"        \
    "media.layers=3;media.type_2=1.5;media.type_3=2"

/* Also when entries of the tables are used again. */
static void test_rates(void)
{
    Rig *rg = rig_with(OPTIONS);
    const NandConfig *cfg = &rg->cfg;
    const NandGeometry *geo = nand_geometry(rg->nand);
    RberTables *t = rber_tables_new(cfg, geo, KEY);
    Prng r;

    prng_seed(&r, 1, 1);
    for (unsigned i = 0; i < 100000; i++) {
        double cycles = (double)prng_below(&r, 2000);
        double age = prng_double(&r) * 100;
        double reads = (double)prng_below(&r, 100000);
        double want = media_rber(cfg, cycles, age, reads);

        g_assert_true(rber_tables_rber(t, cycles, age, reads) == want);
    }
    rber_tables_free(t);
    rig_free(rg);
}

static void test_factors(void)
{
    Rig *rg = rig_with(OPTIONS);
    const NandConfig *cfg = &rg->cfg;
    const NandGeometry *geo = nand_geometry(rg->nand);
    RberTables *t = rber_tables_new(cfg, geo, KEY);

    for (unsigned k = 0; k < 2; k++) {
        for (uint32_t b = 0; b < geo->n_blocks; b++) {
            for (uint32_t i = 0; i < nand_block_pages(geo, b); i++) {
                g_assert_true(rber_tables_factor(t, b, i) ==
                              media_page_factor(cfg, geo, KEY, b, i));
            }
        }
    }
    rber_tables_free(t);
    rig_free(rg);
}

/* Limits close to the probability, on both sides; most of those that are well
 * above it are recognised. */
static void test_bounds(void)
{
    Rig *rg = rig_with(OPTIONS);
    const NandConfig *cfg = &rg->cfg;
    const NandGeometry *geo = nand_geometry(rg->nand);
    RberTables *t = rber_tables_new(cfg, geo, KEY);
    Prng r;
    unsigned found = 0;
    unsigned above = 0;

    prng_seed(&r, 2, 2);
    for (unsigned i = 0; i < 20000; i++) {
        double rber = exp(-prng_double(&r) * 12);
        double p =
            media_tail((uint32_t)cfg->codeword_bytes * 8, cfg->ecc_bits, rber);
        double limit = p * exp(prng_double(&r) * 40 - 20);
        bool below = rber_tables_below(t, rber, limit);

        g_assert_true(!below || p <= limit);
        above += limit > p * exp(15) && p > 0;
        found += below && limit > p * exp(15) && p > 0;
    }
    g_assert_cmpuint(above, >, 1000);
    g_assert_cmpuint(found, >, above * 9 / 10);
    g_assert_true(rber_tables_below(t, 0, 1));
    g_assert_false(rber_tables_below(t, 1, 0.5));
    g_assert_false(rber_tables_below(t, 1.5, 1));
    rber_tables_free(t);
    rig_free(rg);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rber-tables/rates", test_rates);
    g_test_add_func("/rber-tables/factors", test_factors);
    g_test_add_func("/rber-tables/bounds", test_bounds);
    return g_test_run();
}
