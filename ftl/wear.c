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
 * block is erased that has over ftl.wear_spread more erases than the least worn
 * of its plane that has long been FULL, the latter is emptied: its data goes to a worn block, by the
 * rule above, and the block that it leaves to the host.  It does not meet what
 * cleaning copies (gc_class()), or its blocks would be cleaned time and again for
 * the few units in them that are not cold.  As one erase calls for
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

static uint32_t count_least(const Ssd *ssd, uint32_t plane)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t least = ssd->plane[plane].most_erased;

    for (uint32_t b = first + ssd->geo->slc_blocks;
         b < first + ssd->geo->blocks_per_plane; b++) {
        if (ssd->block[b].state != BLOCK_BAD) {
            least = MIN(least, nand_erase_count(ssd->nand, b));
        }
    }
    return least;
}

/*
 * Among the blocks that have been FULL longest, half of them: what was filled of
 * late may be hot, however little the block is worn, and is soon erased.
 */
uint32_t wear_victim(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->plane[plane];
    uint32_t n = ssd->geo->blocks_per_plane / 2;
    uint32_t found_erases = p->wear_due - ssd->cfg->wear_spread;
    uint32_t found = NONE;

    for (uint32_t b = p->oldest; b != NONE && n > 0; n--) {
        uint32_t erases = nand_erase_count(ssd->nand, b);

        if (erases < found_erases) {
            found = b;
            found_erases = erases;
        }
        b = ssd->block[b].newer;
    }
    p->least_erased = count_least(ssd, plane);
    p->wear_due = 0;
    return found;
}

uint32_t wear_percent_used(const Ssd *ssd, uint64_t erases)
{
    const NandConfig *n = &ssd->cfg->nand;
    uint32_t blocks = ssd->geo->n_blocks -
                      ssd->geo->slc_blocks * ssd->geo->n_planes;
    double cycles = (double)erases / blocks + n->start_cycles;

    return n->rated_cycles ? (uint32_t)(cycles * 100 / n->rated_cycles) : 0;
}
