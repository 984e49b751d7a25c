/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-variation.h - how the raw bit error rate (RBER) differs from place to
 * place; pure functions of the options and a key.  docs/reliability.md has the
 * formulas and their sources.
 */
#ifndef VSSD_NAND_VARIATION_H
#define VSSD_NAND_VARIATION_H

#include "nand.h"

/* Is one of the options set? */
bool media_varies(const NandConfig *cfg);

/* A number of the standard normal distribution that belongs to the key. */
double media_normal(uint64_t key);

/* exp(sigma z - sigma^2 / 2), z by media_normal(): log-normal with mean 1 and
 * variance exp(sigma^2) - 1. */
double media_lognormal(uint64_t key, double sigma);

/* Of n layers, the first is the best and the last the worst, in the ratio
 * media.layer_factor; steps between have the same ratio; the mean is 1. */
double media_layer_factor(const NandConfig *cfg, uint32_t layer, uint32_t n);

/* Of the page, counted in its block: its type, then of a word line its layer. A
 * block in SLC mode has one page in each word line, and only one type. */
uint32_t media_page_type(const NandConfig *cfg, bool slc, uint32_t page);
uint32_t media_word_line(const NandConfig *cfg, bool slc, uint32_t page);

/* The factor of a page's type; of the layer of a page in a block of so many
 * pages; of a block; of a die.  cells: the drive's key. */
double media_type_factor(const NandConfig *cfg, uint32_t type);
double media_layer_of_page(const NandConfig *cfg, bool slc, uint32_t pages,
                           uint32_t page);
double media_block_factor(const NandConfig *cfg, uint64_t cells,
                          uint32_t block);
double media_die_factor(const NandConfig *cfg, uint64_t cells, uint32_t die);

/* The product of the four.  page: in its block. */
double media_page_factor(const NandConfig *cfg, const NandGeometry *geo,
                         uint64_t cells, uint32_t block, uint32_t page);

#endif
