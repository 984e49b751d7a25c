/* SPDX-License-Identifier: GPL-2.0-or-later */
/* media.h - what the other components ask of the NAND's blocks. */
#ifndef VSSD_FTL_MEDIA_H
#define VSSD_FTL_MEDIA_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "bitmap.h"
#include "media/media-internal.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/owned.h"
#include "media/spare.h"
#include "ssd-internal.h"

static inline bool unit_is_valid(const Ssd *ssd, uint32_t ppu)
{
    return bitmap_test(ssd->media->valid, ppu);
}

/* A bit for each of NAND_PAGE_PARTS that holds some of the unit. */
static inline uint64_t unit_parts(const Ssd *ssd, uint32_t ppu)
{
    uint64_t offset = ppu & (ssd->l.units_per_page - 1);

    return ssd->first_unit_parts
           << (offset * NAND_PAGE_PARTS >> ssd->page_units_shift);
}

/* Does the block hold the journal's pages, and nothing else? */
static inline bool saved_has_block(const Ssd *ssd, uint32_t block)
{
    return nand_block_in_plane(ssd->geo, block) >=
           ssd->geo->blocks_per_plane - ssd->l.saved_blocks;
}

/* Free blocks of the plane that the host leaves to GC. */
static inline uint32_t plane_reserve(const Ssd *ssd, const Plane *p)
{
    return ssd->media->free_for_gc + (p->n_folding > 0);
}

/* Is there no free block for the host? */
static inline bool plane_is_short(const Ssd *ssd, const Plane *p)
{
    return p->free.n <= plane_reserve(ssd, p);
}

/* ---- block.c ----------------------------------------------------------- */

/* Has the plane a free block for an open block of that kind? */
static inline bool block_can_open(const Ssd *ssd, const Plane *p, OpenKind kind)
{
    uint32_t reserve = kind == OPEN_GC ? 0 : plane_reserve(ssd, p);

    return p->free.n > reserve || (kind == OPEN_HOST && p->slc_free.n > 0);
}

/* Say (or no longer) plane_changed() for each unit that becomes invalid. */
void plane_tell_gains(Ssd *ssd, uint32_t plane, bool tell);

/* When the drive is made: who chooses and empties blocks, and (or NULL) who has
 * an index of the FULL ones or keeps saved pages. */
void media_set_client(Ssd *ssd, const MediaClient *client);
void media_set_index(Ssd *ssd, const FullIndex *index);
void media_set_saved(Ssd *ssd, const SavedClient *saved);

void block_init(Ssd *ssd);
void block_destroy(Ssd *ssd);

/* The drive has been loaded.  Lists of free blocks of an older build have no
 * links toward their head. */
void block_loaded(Ssd *ssd);

/* Take the next page (the pages of one program) of the plane's open block of
 * that kind and stream (OPEN_GC: class), opening a free block if need be.  NONE:
 * there is no block that this kind may take. */
uint32_t block_take_page(Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream);
/* A free block (BLOCK_MAPPED from now on), for what the host writes or for
 * copies; NONE: there is none. */
uint32_t block_take_free(Ssd *ssd, uint32_t plane, OpenKind kind);
bool block_can_take_page(const Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream);

/* Take no more pages of the block that is open there (an open_index()): it is
 * FULL once its programs have ended. */
void block_close(Ssd *ssd, uint32_t plane, uint32_t open);

static inline uint32_t open_index(const Ssd *ssd, OpenKind kind,
                                  uint32_t stream)
{
    switch (kind) {
    case OPEN_HOST:
        return stream;
    case OPEN_META:
        return ssd->l.n_streams + ssd->l.n_gc_classes;
    default:
        return ssd->l.n_streams + stream;
    }
}

/* Work out anew what Plane.n_host_open counts. */
void plane_count_open(Ssd *ssd, uint32_t plane);

/* A unit of a programmed page became current, or stopped being so. */
void block_set_valid(Ssd *ssd, uint32_t ppu);
void block_clear_valid(Ssd *ssd, uint32_t ppu);

/* A program of the block has ended. */
void block_page_done(Ssd *ssd, uint32_t block);

/* A FULL block is to be emptied, for that cause. */
void block_start_victim(Ssd *ssd, uint32_t block, NandCause cause);

/* Erase a block that is open or FULL and holds nothing valid. */
void block_discard(Ssd *ssd, uint32_t block);

/* more: another block of the die is erased next, at once, by the same command
 * if there are such. */
void block_start_erase(Ssd *ssd, uint32_t block, NandCause cause, bool more);
void block_erased(Ssd *ssd, uint32_t block);

/* The block is good for nothing any more: out of every list.  It is ERASING,
 * or VICTIM and empty. */
void block_retire(Ssd *ssd, uint32_t block);

/* The same: its erase failed. */
void block_erase_failed(Ssd *ssd, uint32_t block);

/* One block less for the capacity of its plane. */
void block_count_lost(Ssd *ssd, uint32_t block);

/* A program of the block failed: close it, and empty it when it is FULL. */
void block_mark_bad(Ssd *ssd, uint32_t block);

/* Put a block whose GC or filling was cut short back among the FULL. */
void block_make_full(Ssd *ssd, uint32_t block);

/* After a power cut: every block but bad ones and those of saved.c is LOST, and
 * in no list; one is found again, as the array has it, and filled on by open (an
 * open_index()) if that is not NONE.  Those of a plane come in the order in which
 * they were filled. */
void block_forget_all(Ssd *ssd);
void block_found(Ssd *ssd, uint32_t block, uint32_t open);

/* The power has gone: planes do nothing, and pages on their way are torn.  With
 * a map that survives, open blocks go on where the array is, and victims are
 * FULL. */
void media_power_lost(Ssd *ssd);
void media_settle_blocks(Ssd *ssd);

/* A page of the host is on its way to the plane, or has ended. */
void plane_host_program(Ssd *ssd, uint32_t plane, int by);

/* The FULL block of the plane with fewest valid units, if it has an invalid
 * one; NONE: there is none.  O(1) on average. */
uint32_t block_least_valid(Ssd *ssd, uint32_t plane);

/* A FULL block goes to the end of the list by age. */
void block_renew(Ssd *ssd, uint32_t block);

/* ---- stripe.c ---------------------------------------------------------- */

void stripe_init(Ssd *ssd);
void stripe_destroy(Ssd *ssd);

/* ---- bad-blocks.c ------------------------------------------------------ */

/* Do factory bad blocks leave every plane enough?  *error names the plane. */
bool bad_enough_left(const Ssd *ssd, GError **error);

/* How much room a plane has, with the blocks that are left. */
void plane_size(Ssd *ssd, uint32_t plane);

/* The block is good for nothing any more; true: the drive was read-only before. */
bool bad_lose_block(Ssd *ssd, uint32_t block);

#endif
