/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-rber-tables.c - repeated parts of the error formulas, computed once.
 *
 * Knows which arguments repeat: cycles of blocks, places, orders of magnitude.
 * The formulas are in nand-rber.c and nand-variation.c.
 */
#include "nand-rber-tables.h"

#include <math.h>

#include "invariant.h"
#include "lazymem.h"
#include "nand-rber.h"
#include "nand-variation.h"

/* Blocks of a drive are worn alike, so a few numbers of cycles repeat. */
#define WEAR_ENTRIES 256

typedef struct WearEntry {
    bool known;
    double cycles;
    RberWear wear;
} WearEntry;

/* Upper bounds of the error rate: RATE_STEPS for each power of two. */
#define RATE_STEPS   8
#define RATE_OCTAVES 48
#define N_RATES      (RATE_STEPS * RATE_OCTAVES)

/* media_tail() sums thousands of terms; its error is far below this. */
#define TAIL_MARGIN 1e-6

struct RberTables {
    const NandConfig *cfg;
    const NandGeometry *geo;
    uint64_t cells;
    WearEntry wear[WEAR_ENTRIES];
    double *block;        /* by block; 0: not computed yet */
    double *die;          /* by die */
    double *layer[2];     /* by page; of blocks in SLC mode */
    double tail[N_RATES]; /* by rate_index() */
};

/* The index of the smallest bound that is not below rber. */
static unsigned rate_index(double rber)
{
    int exponent = -RATE_OCTAVES;
    double mantissa = rber > 0 ? frexp(rber, &exponent) : 0.5; /* 0.5..1 */
    int step = (int)ceil((mantissa - 0.5) * 2 * RATE_STEPS) - 1;
    int i = (exponent + RATE_OCTAVES - 1) * RATE_STEPS + step;

    return (unsigned)CLAMP(i, 0, N_RATES - 1);
}

static double rate_bound(unsigned i)
{
    int exponent = (int)(i / RATE_STEPS) - RATE_OCTAVES + 1;
    double mantissa = 0.5 + (i % RATE_STEPS + 1) * 0.5 / RATE_STEPS;

    return ldexp(mantissa, exponent);
}

static double *layers_of(const NandConfig *c, bool slc, uint32_t pages)
{
    double *factor = g_new(double, pages);

    for (uint32_t i = 0; i < pages; i++) {
        factor[i] = media_layer_of_page(c, slc, pages, i);
    }
    return factor;
}

RberTables *rber_tables_new(const NandConfig *cfg, const NandGeometry *geo,
                            uint64_t cells)
{
    RberTables *t = g_new0(RberTables, 1);

    t->cfg = cfg;
    t->geo = geo;
    t->cells = cells;
    t->block = lazy_new(double, geo->n_blocks);
    t->die = g_new(double, geo->n_dies);
    for (uint32_t i = 0; i < geo->n_dies; i++) {
        t->die[i] = media_die_factor(cfg, cells, i);
    }
    t->layer[0] = layers_of(cfg, false, geo->pages_per_block);
    t->layer[1] = layers_of(cfg, true, geo->slc_pages);
    for (unsigned i = 0; i < N_RATES; i++) {
        t->tail[i] = media_tail((uint32_t)cfg->codeword_bytes * 8,
                                cfg->ecc_bits, rate_bound(i));
    }
    return t;
}

void rber_tables_free(RberTables *t)
{
    if (!t) {
        return;
    }
    lazy_free(t->block, t->geo->n_blocks, sizeof(*t->block));
    g_free(t->die);
    g_free(t->layer[0]);
    g_free(t->layer[1]);
    g_free(t);
}

double rber_tables_rber(RberTables *t, double cycles, double age, double reads)
{
    WearEntry *e = &t->wear[(uint32_t)(int64_t)cycles % WEAR_ENTRIES];

    if (!e->known || e->cycles != cycles) {
        *e = (WearEntry){true, cycles, media_rber_wear(t->cfg, cycles)};
    }
    return media_rber_at(t->cfg, &e->wear, age, reads);
}

double rber_tables_factor(RberTables *t, uint32_t block, uint32_t page)
{
    const NandGeometry *g = t->geo;
    bool slc = nand_block_is_slc(g, block);
    uint32_t die = nand_plane_die(g, nand_block_plane(g, block));

    invariant(block < g->n_blocks && page < nand_block_pages(g, block));
    if (t->block[block] == 0) {
        t->block[block] = media_block_factor(t->cfg, t->cells, block);
    }
    return media_type_factor(t->cfg, media_page_type(t->cfg, slc, page)) *
           t->block[block] * t->die[die] * t->layer[slc][page];
}

bool rber_tables_below(const RberTables *t, double rber, double limit)
{
    return rber <= 1 && t->tail[rate_index(rber)] * (1 + TAIL_MARGIN) <= limit;
}
