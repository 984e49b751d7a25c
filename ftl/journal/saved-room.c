/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved-room.c - the blocks of saved pages: which takes the next one, which can
 * be erased, and which is to be emptied.
 *
 * Knows the last saved_blocks of each plane, from the array and the list of
 * newest pages.  Knows nothing of the contents of saved pages, or of waiting
 * commands (saved.c).
 */
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/blocks.h"
#include "media/faulty.h"
#include "media/owned.h"
#include "ssd-internal.h"

/* ---- blocks -------------------------------------------------------------- */

uint32_t saved_first_block(const Ssd *ssd, uint32_t plane)
{
    invariant(ssd->l.saved_blocks > 0);
    invariant(plane < ssd->l.n_planes);
    return (plane + 1) * ssd->geo->blocks_per_plane - ssd->l.saved_blocks;
}

/* How many pages of the block have been taken. */
uint32_t saved_pages_taken(const Ssd *ssd, uint32_t block)
{
    const Open *o = &ssd->journal->saved_open[block_plane(ssd, block)];

    invariant(block < ssd->geo->n_blocks);
    return o->block == block ? o->next_page : nand_next_page(ssd->nand, block);
}

static bool is_free(const Ssd *ssd, uint32_t block)
{
    const Block *b = block_at(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    return b->state == BLOCK_SAVED && !b->erasing && !b->bad &&
           b->pending == 0 && saved_pages_taken(ssd, block) == 0;
}

/* Takes no more pages, and all that it took are there. */
static bool is_full(const Ssd *ssd, uint32_t block)
{
    const Block *b = block_at(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    return b->state == BLOCK_SAVED && !b->erasing && b->pending == 0 &&
           ssd->journal->saved_open[block_plane(ssd, block)].block != block &&
           saved_pages_taken(ssd, block) > 0;
}

/* Begin with blocks as the array has them: one that is partly filled goes on to
 * be, in each plane. */
void saved_find_blocks(Ssd *ssd)
{
    ssd->journal->saved_queue.n_free = 0;
    for (uint32_t i = 0; saves(ssd) && i < ssd->l.n_planes; i++) {
        for (uint32_t k = 0; k < ssd->l.saved_blocks; k++) {
            uint32_t block = saved_first_block(ssd, i) + k;
            uint32_t next = nand_next_page(ssd->nand, block);

            if (block_state(ssd, block) == BLOCK_BAD) {
                continue;
            }
            invariant(next <= ssd->geo->pages_per_block);
            block_give_journal(ssd, block);
            ssd->journal->saved_queue.n_free +=
                next == 0 && !block_has_failed(ssd, block);
            if (next > 0 && next < ssd->geo->pages_per_block &&
                !block_has_failed(ssd, block) &&
                ssd->journal->saved_open[i].block == NONE) {
                ssd->journal->saved_open[i] = (Open){block, next};
            }
        }
    }
}

/* ---- room ---------------------------------------------------------------- */

static uint32_t free_block_of(const Ssd *ssd, uint32_t plane)
{
    for (uint32_t k = 0; k < ssd->l.saved_blocks; k++) {
        if (is_free(ssd, saved_first_block(ssd, plane) + k)) {
            return saved_first_block(ssd, plane) + k;
        }
    }
    return NONE;
}

/* The plane, next in turn, that has a page; NONE: none has.  The last free block
 * is for the pages of the victim. */
uint32_t saved_find_room(const Ssd *ssd, bool for_victim)
{
    const Saved *q = &ssd->journal->saved_queue;
    bool may_open = q->n_free > (for_victim ? 0 : 1);

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        uint32_t plane = (q->cursor + i) % ssd->l.n_planes;

        if (ssd->journal->saved_open[plane].block != NONE ||
            (may_open && free_block_of(ssd, plane) != NONE)) {
            return plane;
        }
    }
    return NONE;
}

uint64_t saved_take_page(Ssd *ssd, uint32_t plane)
{
    Open *o = &ssd->journal->saved_open[plane];
    uint64_t page;

    invariant(plane < ssd->l.n_planes);
    ssd->journal->saved_queue.cursor = (plane + 1) % ssd->l.n_planes;
    if (o->block == NONE) {
        *o = (Open){free_block_of(ssd, plane), 0};
        invariant(ssd->journal->saved_queue.n_free > 0);
        ssd->journal->saved_queue.n_free--;
    }
    invariant(o->block != NONE && o->next_page < ssd->geo->pages_per_block);
    invariant(block_state(ssd, o->block) == BLOCK_SAVED);
    page = nand_block_page(ssd->geo, o->block) + o->next_page;
    o->next_page += ssd->l.pages_per_program;
    block_pend(ssd, o->block, 1);
    if (o->next_page == ssd->geo->pages_per_block) {
        o->block = NONE;
    }
    return page;
}

uint32_t saved_live_index(const Ssd *ssd, uint64_t page)
{
    uint32_t index = saved_index(ssd, page);
    const SavedPage *sp;

    if (index == NONE) {
        return NONE;
    }
    sp = &ssd->journal->saved_page[index];
    return saved_in_nand(sp) && sp->page == page ? index : NONE;
}

bool saved_is_newest(const Ssd *ssd, uint64_t page)
{
    return saved_live_index(ssd, page) != NONE;
}

/* A block that is full and has nothing that counts. */
void saved_erase_dead(Ssd *ssd, uint32_t block)
{
    Saved *q = &ssd->journal->saved_queue;
    NandOp op = {
        .kind = NAND_ERASE,
        .cause = NAND_CAUSE_META,
        .ppa = {nand_block_page(ssd->geo, block)},
    };

    invariant(block < ssd->geo->n_blocks);
    if (!is_full(ssd, block) || block_at(ssd, block)->live > 0) {
        return;
    }
    if (q->victim == block) {
        q->victim = NONE;
    }
    if (block_has_failed(ssd, block)) {
        block_journal_retire(ssd, block);
        return;
    }
    block_journal_erasing(ssd, block, true);
    q->n_erasing++;
    faulty_submit(ssd, &op);
}

void saved_choose_victim(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        for (uint32_t k = 0; k < ssd->l.saved_blocks; k++) {
            uint32_t block = saved_first_block(ssd, i) + k;

            if (is_full(ssd, block) &&
                (q->victim == NONE ||
                 block_at(ssd, block)->live < block_at(ssd, q->victim)->live)) {
                q->victim = block;
            }
        }
    }
}
