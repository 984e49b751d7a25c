/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-slc.c - which blocks are in SLC mode, and their wear.
 *
 * The mode is a state of a block: chosen while it is erased, and kept until its
 * next erase (ONFI and the vendors' data sheets: a prefix command before each
 * program, read and erase of the block).  Each erase wears the block by the
 * mode in which it was programmed.
 */
#include "nand-internal.h"

#include "lazymem.h"

void nand_allow_slc(Nand *n)
{
    const NandGeometry *g = &n->geo;

    invariant(!n->slc_mode && n->last_id == 0);
    n->slc_mode = lazy_new(uint64_t, bitmap_words(g->n_blocks));
    n->slc_erases = lazy_new(uint32_t, g->n_blocks);
    n->geo.slc_mode = n->slc_mode;
    n->geo.has_slc = true;
    for (uint32_t p = 0; p < g->n_planes; p++) {
        for (uint32_t i = 0; i < g->slc_blocks; i++) {
            bitmap_set(n->slc_mode, (uint64_t)p * g->blocks_per_plane + i);
        }
    }
}

void nand_slc_destroy(Nand *n)
{
    lazy_free(n->slc_mode, bitmap_words(n->geo.n_blocks), sizeof(uint64_t));
    lazy_free(n->slc_erases, n->geo.n_blocks, sizeof(uint32_t));
}

void nand_set_slc(Nand *n, uint32_t block, bool slc)
{
    invariant(n->slc_mode && !nand_block_is_cache(&n->geo, block));
    invariant(n->block[block].next_page == 0 && n->block[block].in_array == 0);
    bitmap_put(n->slc_mode, block, slc);
}

void nand_slc_erased(Nand *n, uint32_t block)
{
    bool slc = nand_block_is_slc(&n->geo, block);

    n->stats.slc_erases += slc;
    if (n->slc_mode && slc && !nand_block_is_cache(&n->geo, block)) {
        n->slc_erases[block]++;
        bitmap_clear(n->slc_mode, block);
    }
}

uint32_t nand_slc_erases(const Nand *n, uint32_t block)
{
    invariant(block < n->geo.n_blocks);
    return nand_block_is_cache(&n->geo, block) ? n->block[block].erase_count
           : n->slc_erases                     ? n->slc_erases[block]
                                               : 0;
}

uint64_t nand_wear_cycles(const Nand *n, uint32_t block)
{
    uint64_t slc = n->slc_erases ? n->slc_erases[block] : 0;
    uint64_t erases = n->block[block].erase_count;

    invariant(block < n->geo.n_blocks);
    if (slc == 0 || n->cfg.rated_cycles == 0 || n->cfg.slc_rated_cycles == 0) {
        return erases;
    }
    return erases - slc + slc * n->cfg.rated_cycles / n->cfg.slc_rated_cycles;
}

uint32_t nand_rated_cycles(const Nand *n, uint32_t block)
{
    bool cache = n->slc_mode ? nand_block_is_cache(&n->geo, block)
                             : nand_block_is_slc(&n->geo, block);

    return cache ? n->cfg.slc_rated_cycles : n->cfg.rated_cycles;
}

bool nand_slc_check(const Nand *n)
{
    for (uint32_t b = 0; n->slc_mode && b < n->geo.n_blocks; b++) {
        if ((nand_block_is_cache(&n->geo, b) && !bitmap_test(n->slc_mode, b)) ||
            n->slc_erases[b] > n->block[b].erase_count) {
            return false;
        }
    }
    return true;
}
