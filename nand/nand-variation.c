/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-variation.c - how the raw bit error rate differs from place to place.
 *
 * Each factor belongs to a place for the life of the drive: it follows from the
 * drive's key and the place, so it is not saved.  Knows no time and no wear.
 */
#include "nand-variation.h"

#include <math.h>

#include "prng.h"

/* Keys of the drive's cells; nand-reliability.c has those of codewords. */
#define PLACE_BLOCK 0x76617279626c6f63ULL
#define PLACE_DIE   0x7661727964696521ULL

bool media_varies(const NandConfig *c)
{
    return c->block_sigma > 0 || c->die_sigma > 0 || c->layer_factor > 1 ||
           c->type2_factor != 1 || c->type3_factor != 1 || c->type4_factor != 1;
}

/* G. E. P. Box, M. E. Muller, "A Note on the Generation of Random Normal
 * Deviates", Annals of Mathematical Statistics 29(2), 1958. */
double media_normal(uint64_t key)
{
    double u = prng_to_double(prng_hash(key, 0));
    double v = prng_to_double(prng_hash(key, 1));

    return sqrt(-2 * log1p(-u)) * cos(2 * G_PI * v);
}

double media_lognormal(uint64_t key, double sigma)
{
    return exp(sigma * media_normal(key) - sigma * sigma / 2);
}

double media_layer_factor(const NandConfig *c, uint32_t layer, uint32_t n)
{
    double ratio;
    double sum;

    if (n < 2 || c->layer_factor <= 1) {
        return 1;
    }
    ratio = pow(c->layer_factor, 1.0 / (n - 1));
    sum = (pow(ratio, n) - 1) / (ratio - 1);
    return pow(ratio, layer) * n / sum;
}

static uint32_t word_line_pages(const NandConfig *c, bool slc)
{
    return slc ? 1 : c->cell + 1;
}

uint32_t media_page_type(const NandConfig *c, bool slc, uint32_t page)
{
    return page % word_line_pages(c, slc);
}

uint32_t media_word_line(const NandConfig *c, bool slc, uint32_t page)
{
    return page / word_line_pages(c, slc);
}

double media_type_factor(const NandConfig *c, uint32_t type)
{
    const double factor[] = {1, c->type2_factor, c->type3_factor,
                             c->type4_factor};

    return factor[type];
}

double media_layer_of_page(const NandConfig *c, bool slc, uint32_t pages,
                           uint32_t page)
{
    uint32_t lines = media_word_line(c, slc, pages - 1) + 1;
    uint32_t layers = c->layers ? MIN(c->layers, lines) : lines;
    uint32_t line = media_word_line(c, slc, page);

    return media_layer_factor(c, (uint32_t)((uint64_t)line * layers / lines),
                              layers);
}

double media_block_factor(const NandConfig *c, uint64_t cells, uint32_t block)
{
    return c->block_sigma > 0
               ? media_lognormal(prng_hash(cells ^ PLACE_BLOCK, block),
                                 c->block_sigma)
               : 1;
}

double media_die_factor(const NandConfig *c, uint64_t cells, uint32_t die)
{
    return c->die_sigma > 0 ? media_lognormal(prng_hash(cells ^ PLACE_DIE, die),
                                              c->die_sigma)
                            : 1;
}

double media_page_factor(const NandConfig *c, const NandGeometry *g,
                         uint64_t cells, uint32_t block, uint32_t page)
{
    bool slc = nand_block_is_slc(g, block);
    uint32_t die = nand_plane_die(g, nand_block_plane(g, block));

    return media_type_factor(c, media_page_type(c, slc, page)) *
           media_block_factor(c, cells, block) *
           media_die_factor(c, cells, die) *
           media_layer_of_page(c, slc, nand_block_pages(g, block), page);
}
