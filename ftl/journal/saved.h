/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved.h - pages that NAND keeps for a return of power, and their use then.
 */
#ifndef VSSD_FTL_SAVED_H
#define VSSD_FTL_SAVED_H

#include "layers.h"
#if FTL_LAYER < FTL_JOURNAL
#error "ftl/journal is above this component: docs/architecture.md"
#endif

#include "journal/journal.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

/* ---- saved.c ------------------------------------------------------------- */

/* An entry of a saved page: where the unit is, as in the map; else a version,
 * below which all copies are trimmed. */
#define SAVED_MAPPED (1ULL << 63)

/* The index of the saved page that the page of the array holds; NONE: it holds
 * none. */
static inline uint32_t saved_index(const Ssd *ssd, uint64_t page)
{
    uint64_t spare = numtable_get(&ssd->media->spare_lpn, page_ppu(ssd, page));

    return spare > ssd->l.user_units ? (uint32_t)(spare - 1 - ssd->l.user_units)
                                     : NONE;
}

/* Units whose place saved pages hold: the user's, and translation pages. */
static inline uint64_t saved_map_units(const Ssd *ssd)
{
    return ssd->l.user_units + ssd->l.meta_units;
}

/* What was programmed up to this count has ended, and the map knows of it. */
uint64_t saved_low_seq(const Ssd *ssd);

/* Before block_init(); after it. */
void saved_create(Ssd *ssd);
void saved_destroy(Ssd *ssd);
uint64_t saved_memory(const Ssd *ssd); /* bytes of host memory */
void saved_forget(Ssd *ssd);

void saved_program_done(Ssd *ssd, const NandOp *op);
void saved_erase_done(Ssd *ssd, const NandOp *op);

/* Has the saved page a copy in NAND? */
static inline bool saved_in_nand(const SavedPage *sp)
{
    return sp->seq > 0;
}

/* Entry of the unit in the saved page in NAND; 0: none. */
static inline uint64_t saved_entry(const Ssd *ssd, uint64_t lpn)
{
    return saved_in_nand(&ssd->journal->saved_page[lpn / ssd->l.saved_units])
               ? ssd->journal->saved[lpn]
               : 0;
}

/* Does the page hold a saved page, and is that the newest of its index? */
bool saved_is_newest(const Ssd *ssd, uint64_t page);

/* The unit, so far in this version, is trimmed. */
void saved_trim(Ssd *ssd, uint64_t lpn, uint64_t version);

/* Preloaded units were saved long ago, too. */
void saved_preload(Ssd *ssd);

/* true: every trim so far is in NAND.  false: the flush ends when it is. */
bool saved_flush(Ssd *ssd, uint32_t cmd);

/* The empty victim must not be erased yet; gc_release() comes when it may. */
bool saved_holds(Ssd *ssd, uint32_t block);

/* The power has gone; results of recovery; it has ended. */
void saved_power_lost(Ssd *ssd);
void saved_found(Ssd *ssd, uint64_t page);
/* The page has been read: which versions it says are trimmed.  Returns, of the
 * anchor, how far the checkpoint goes (Saved.low); else 0. */
uint64_t saved_loaded(Ssd *ssd, uint64_t page);
/* Recovery has ended, with the value of the anchor, or 0. */
void saved_ready(Ssd *ssd, uint64_t low);

/* ---- saved-room.c -------------------------------------------------------- */

/* The blocks are as the array has them. */
void saved_find_blocks(Ssd *ssd);

/* The first block of the plane that holds saved pages; they are the last ones. */
uint32_t saved_first_block(const Ssd *ssd, uint32_t plane);

/* How many pages of the block have been taken. */
uint32_t saved_pages_taken(const Ssd *ssd, uint32_t block);

/* The plane, next in turn, that has a page; NONE: none has.  The last free block
 * is for the pages of the victim. */
uint32_t saved_find_room(const Ssd *ssd, bool for_victim);
uint64_t saved_take_page(Ssd *ssd, uint32_t plane);

/* The index of the saved page that the page holds, if it is the newest of it, or
 * NONE. */
uint32_t saved_live_index(const Ssd *ssd, uint64_t page);

/* Erase the block, if it is full and has nothing that counts. */
void saved_erase_dead(Ssd *ssd, uint32_t block);

/* Saved.victim: the full block with the fewest that count, if there is one. */
void saved_choose_victim(Ssd *ssd);

#endif
