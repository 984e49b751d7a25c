/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wear.c - wear levelling: which free block is used next, and when cold data
 * must leave a block that is hardly worn.
 *
 * Knows erase counts; knows nothing of how a block is emptied (gc.c).
 *
 * Dynamic: what the host writes is hotter than what cleaning copies, which has
 * outlived a block's other units.  So the host gets the free block that was
 * erased least, cleaning the one that was erased most.
 *
 * Static: data that is never overwritten keeps its block from wearing.  When a
 * block is erased that has ftl.wear_spread more erases than the least worn FULL
 * one of its plane, the latter is emptied: its data goes to a worn block, by the
 * rule above, and the block that it leaves to the host.  As one erase calls for
 * one move at most, there is always a worn block for what is moved.  The idea of
 * exchanging the two extremes at a threshold is that of L.-P. Chang, "On
 * efficient wear leveling for large-scale flash-memory storage systems", SAC
 * 2007 (cold-data migration); its pools are not modelled.
 */
#include "ftl.h"

/* The free list ends early where no block can be better. */
uint32_t wear_choose_free(const Ssd *ssd, const Plane *p, OpenKind kind,
                          uint32_t *before)
{
    bool worn = kind == OPEN_GC;
    uint32_t goal = worn ? p->most_erased : p->least_erased;
    uint32_t best = p->free_head;
    uint32_t best_erases = nand_erase_count(ssd->nand, best);
    uint32_t prev = best;

    *before = NONE;
    if (ssd->cfg->wear == SSD_WEAR_FIFO) {
        return best;
    }
    for (uint32_t i = 1; i < p->n_free && best_erases != goal; i++) {
        uint32_t block = ssd->block[prev].next;
        uint32_t erases = nand_erase_count(ssd->nand, block);

        if (worn ? erases > best_erases : erases < best_erases) {
            best = block;
            best_erases = erases;
            *before = prev;
        }
        prev = block;
    }
    return best;
}

void wear_erased(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->plane[block_plane(ssd, block)];
    uint32_t erases = nand_erase_count(ssd->nand, block);

    if (nand_block_is_slc(ssd->geo, block)) {
        return;
    }
    p->most_erased = MAX(p->most_erased, erases);
    if (ssd->cfg->wear == SSD_WEAR_STATIC && !ssd->read_only &&
        erases - p->least_erased > ssd->cfg->wear_spread) {
        p->wear_due = erases;
    }
}

uint32_t wear_victim(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t least = p->most_erased; /* of all blocks */
    uint32_t found_erases = p->most_erased;
    uint32_t found = NONE;
    bool apart;

    for (uint32_t b = first + ssd->geo->slc_blocks;
         b < first + ssd->geo->blocks_per_plane; b++) {
        uint32_t erases = nand_erase_count(ssd->nand, b);

        if (ssd->block[b].state == BLOCK_BAD) {
            continue;
        }
        least = MIN(least, erases);
        if (ssd->block[b].state == BLOCK_FULL && erases < found_erases) {
            found = b;
            found_erases = erases;
        }
    }
    p->least_erased = least;
    apart = p->wear_due > found_erases + ssd->cfg->wear_spread;
    p->wear_due = 0;
    return apart ? found : NONE;
}

uint32_t wear_percent_used(const Ssd *ssd, double mean_erase_count)
{
    const NandConfig *n = &ssd->cfg->nand;
    double cycles = mean_erase_count + n->start_cycles;

    return n->rated_cycles ? (uint32_t)(cycles * 100 / n->rated_cycles) : 0;
}
