/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block-state.c - which states of a block may follow each other.
 *
 * Knows the states, and counts blocks in SLC mode; lists are block.c's.
 */
#include "media/block-state.h"
#include "media/media-internal.h"
#include "media/slc-cache.h"
#include "ssd-internal.h"

static bool is_in_use(uint8_t state)
{
    return state == BLOCK_OPEN || state == BLOCK_CLOSING ||
           state == BLOCK_FULL || state == BLOCK_VICTIM;
}

void block_set_state(Ssd *ssd, uint32_t block, BlockState state)
{
#define TO(s) (1U << BLOCK_##s)
    static const uint16_t legal[N_BLOCK_STATES] = {
        /* When the drive is made, all blocks are FREE, those of the journal and
         * the bad ones, too. */
        [BLOCK_FREE] =
            TO(FREE) | TO(OPEN) | TO(MAPPED) | TO(SAVED) | TO(BAD) | TO(LOST),
        [BLOCK_OPEN] = TO(CLOSING) | TO(FULL) | TO(LOST),
        /* Another program of it may fail. */
        [BLOCK_CLOSING] = TO(CLOSING) | TO(FULL) | TO(LOST),
        [BLOCK_FULL] = TO(VICTIM) | TO(LOST),
        [BLOCK_VICTIM] = TO(FULL) | TO(ERASING) | TO(BAD) | TO(LOST),
        /* Power that went in the middle of an erase returns. */
        [BLOCK_ERASING] = TO(ERASING) | TO(FREE) | TO(BAD) | TO(LOST),
        [BLOCK_BAD] = 0,
        [BLOCK_SAVED] = TO(SAVED) | TO(BAD),
        [BLOCK_LOST] = TO(LOST) | TO(FREE) | TO(OPEN) | TO(FULL),
        [BLOCK_MAPPED] = TO(ERASING),
    };
#undef TO
    Block *b = &ssd->media->block[block];
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    invariant(block < ssd->geo->n_blocks);
    invariant(b->state < N_BLOCK_STATES && legal[b->state] >> state & 1);
    if (nand_block_is_cache(ssd->geo, block)) {
        invariant(b->state != BLOCK_VICTIM || p->n_folding > 0);
        p->n_folding -= b->state == BLOCK_VICTIM;
        p->n_folding += state == BLOCK_VICTIM;
    } else if (nand_block_is_slc(ssd->geo, block)) {
        invariant(!is_in_use(b->state) || p->n_slc > 0);
        p->n_slc -= is_in_use(b->state);
        p->n_slc += is_in_use((uint8_t)state);
    }
    b->state = (uint8_t)state;
}
