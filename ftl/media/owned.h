/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owned.h - blocks that other components own (owned.c).
 *
 * Each call asserts the state that the block must be in.
 */
#ifndef VSSD_FTL_OWNED_H
#define VSSD_FTL_OWNED_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* So many programs into the block, or copies out of it, are under way more; one
 * has ended. */
void block_pend(Ssd *ssd, uint32_t block, uint32_t n);
void block_unpend(Ssd *ssd, uint32_t block);

/* It holds data of that stream; l.n_streams: of several. */
void block_set_stream(Ssd *ssd, uint32_t block, uint32_t stream);

/* ---- GC and journal: an empty VICTIM of which the erase waits ----------- */

void block_hold(Ssd *ssd, uint32_t block, uint64_t serial);
void block_release(Ssd *ssd, uint32_t block);

/* Lists of VICTIM blocks, which are in none of media/'s. */
static inline IlistLinks block_victim_links(const Ssd *ssd)
{
    return ILIST_LINKS(ssd->media->block, Block, next, prev);
}

/* ---- a log-block map: MAPPED -------------------------------------------- */

/* Without power: the block is erased when it is back. */
void block_abandon(Ssd *ssd, uint32_t block);

/* The power has gone: no program of such a block is under way. */
void block_mapped_lost(Ssd *ssd);

/* ---- the journal: SAVED ------------------------------------------------- */

void block_give_journal(Ssd *ssd, uint32_t block);

/* One more (or less) of its pages is the newest of its kind. */
void block_journal_live(Ssd *ssd, uint32_t block, int by);
void block_journal_erasing(Ssd *ssd, uint32_t block, bool erasing);

/* An operation failed: it takes no more pages; nor is it erased any more. */
void block_journal_bad(Ssd *ssd, uint32_t block);
void block_journal_retire(Ssd *ssd, uint32_t block);

/* The power has gone. */
void block_journal_lost(Ssd *ssd, uint32_t block);

/* ---- recovery: LOST ----------------------------------------------------- */

/* All pages from this one on have been read. */
void block_set_young(Ssd *ssd, uint32_t block, uint32_t page);
void plane_set_last_gc(Ssd *ssd, uint32_t plane, uint32_t block);

/* ---- the drive ---------------------------------------------------------- */

/* It takes no more writes; nor can it program the buffer. */
void media_set_read_only(Ssd *ssd);
void media_give_up(Ssd *ssd);

#endif
