/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owned.c - blocks that other components own: those that GC empties, and
 * those that belong to the journal or to a log-block map.
 *
 * Knows which members of a block each of them may change, and in which states;
 * does not know why.
 */
#include "media/block-state.h"
#include "media/life.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/spare.h"
#include "ssd-internal.h"

static Block *block_of(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    return &ssd->media->block[block];
}

/* ---- any block ---------------------------------------------------------- */

void block_pend(Ssd *ssd, uint32_t block, uint32_t n)
{
    block_of(ssd, block)->pending += n;
}

void block_unpend(Ssd *ssd, uint32_t block)
{
    Block *b = block_of(ssd, block);

    invariant(b->pending > 0);
    b->pending--;
}

void block_set_stream(Ssd *ssd, uint32_t block, uint32_t stream)
{
    invariant(stream <= ssd->l.n_streams);
    block_of(ssd, block)->stream = (uint8_t)stream;
}

/* ---- victims ------------------------------------------------------------ */

void block_hold(Ssd *ssd, uint32_t block, uint64_t serial)
{
    Block *b = block_of(ssd, block);

    invariant(b->valid == 0 && b->pending == 0);
    invariant(!b->held && b->state == BLOCK_VICTIM);
    b->held = true;
    b->hold = serial;
    ssd->media->plane[block_plane(ssd, block)].n_held++;
}

void block_release(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];
    Block *b = block_of(ssd, block);

    invariant(b->state == BLOCK_VICTIM);
    invariant(b->held && p->n_held > 0);
    b->held = false;
    p->n_held--;
}

/* ---- blocks of a log-block map ------------------------------------------ */

void block_abandon(Ssd *ssd, uint32_t block)
{
    Block *b = block_of(ssd, block);

    invariant(b->pending == 0);
    invariant(b->state == BLOCK_MAPPED && !ssd->powered);
    block_set_state(ssd, block, BLOCK_ERASING);
}

void block_mapped_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (ssd->media->block[b].state == BLOCK_MAPPED) {
            ssd->media->block[b].pending = 0;
        }
    }
}

/* ---- blocks of the journal ---------------------------------------------- */

static Block *journal_block(Ssd *ssd, uint32_t block)
{
    Block *b = block_of(ssd, block);

    invariant(b->state == BLOCK_SAVED);
    return b;
}

void block_give_journal(Ssd *ssd, uint32_t block)
{
    invariant(saved_has_block(ssd, block));
    block_set_state(ssd, block, BLOCK_SAVED);
}

void block_journal_live(Ssd *ssd, uint32_t block, int by)
{
    Block *b = journal_block(ssd, block);

    invariant(by > 0 || b->live > 0);
    b->live += (uint32_t)by;
    invariant(b->live <= ssd->geo->pages_per_block);
}

void block_journal_erasing(Ssd *ssd, uint32_t block, bool erasing)
{
    Block *b = journal_block(ssd, block);

    invariant(b->erasing != erasing);
    b->erasing = erasing;
}

void block_journal_bad(Ssd *ssd, uint32_t block)
{
    invariant(ssd->media->may_fail);
    journal_block(ssd, block)->bad = true;
    ssd->media->n_grown_bad++;
}

void block_journal_retire(Ssd *ssd, uint32_t block)
{
    invariant(ssd->media->block[block].bad &&
              ssd->media->block[block].live == 0);
    invariant(journal_block(ssd, block)->state == BLOCK_SAVED);
    block_set_state(ssd, block, BLOCK_BAD);
}

void block_journal_lost(Ssd *ssd, uint32_t block)
{
    Block *b = block_of(ssd, block);

    invariant(!ssd->powered && saved_has_block(ssd, block));
    if (b->erasing) {
        spare_wipe_block(ssd, block);
    }
    b->erasing = false;
    b->pending = 0;
    b->live = 0;
}

/* ---- recovery ----------------------------------------------------------- */

void block_set_young(Ssd *ssd, uint32_t block, uint32_t page)
{
    Block *b = block_of(ssd, block);

    invariant(saves(ssd) && ssd->powered);
    invariant(b->state == BLOCK_LOST && page <= ssd->geo->pages_per_block);
    b->young = page;
}

void plane_set_last_gc(Ssd *ssd, uint32_t plane, uint32_t block)
{
    invariant(block_plane(ssd, block) == plane);
    ssd->media->plane[plane].last_gc_block = block;
}

/* ---- the drive ---------------------------------------------------------- */

void media_set_client(Ssd *ssd, const MediaClient *client)
{
    invariant(client && client->choose_free && client->plane_changed &&
              client->retired);
    ssd->media->client = client;
}

void media_set_index(Ssd *ssd, const FullIndex *index)
{
    invariant(index && index->listed && index->unlisted && index->changed &&
              index->joined && index->left);
    ssd->media->index = index;
}

void media_set_saved(Ssd *ssd, const SavedClient *saved)
{
    invariant(saved && saved->changed && saved->page_done);
    ssd->media->saved = saved;
}

void media_set_read_only(Ssd *ssd)
{
    ssd->media->read_only = true;
}

void media_give_up(Ssd *ssd)
{
    ssd->media->read_only = true;
    ssd->media->cannot_program = true;
}
