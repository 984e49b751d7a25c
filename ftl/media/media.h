/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * media.h - pages and units of blocks: which are valid, which to fill next.
 *
 * For all components that place, program or invalidate units.
 */
#ifndef VSSD_FTL_MEDIA_H
#define VSSD_FTL_MEDIA_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "bitmap.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "media/parity.h"
#include "ssd-internal.h"

/* ---- the drive ----------------------------------------------------------- */

/* May programs and erases fail? */
static inline bool media_may_fail(const Ssd *ssd)
{
    return ssd->media->may_fail;
}

/* Are too few good blocks left for writes of the host; even for the buffer? */
static inline bool media_is_read_only(const Ssd *ssd)
{
    return ssd->media->read_only;
}

static inline bool media_cannot_program(const Ssd *ssd)
{
    return ssd->media->cannot_program;
}

/* ---- units --------------------------------------------------------------- */

static inline bool unit_is_valid(const Ssd *ssd, uint64_t ppu)
{
    bool bit = bitmap_test(ssd->media->valid, ppu);

    if (G_UNLIKELY(ssd->preloaded.on)) {
        return bit != preloaded_has(&ssd->preloaded, ppu);
    }
    return bit;
}

/* A bit for each of NAND_PAGE_PARTS that holds some of the unit. */
static inline uint64_t unit_parts(const Ssd *ssd, uint64_t ppu)
{
    uint64_t offset = ppu & (ssd->l.units_per_page - 1);

    return ssd->first_unit_parts
           << (offset * NAND_PAGE_PARTS >> ssd->page_units_shift);
}

/* A unit of a programmed page became current, or stopped being so. */
void block_set_valid(Ssd *ssd, uint64_t ppu);

/* The same of n units in a row, all of the host's and in one block. */
void block_set_valid_run(Ssd *ssd, uint64_t ppu, uint32_t n);
void block_clear_valid(Ssd *ssd, uint64_t ppu);

/* ---- room of a plane ----------------------------------------------------- */

/* Does the block hold the journal's pages, and nothing else? */
static inline bool saved_has_block(const Ssd *ssd, uint32_t block)
{
    return nand_block_in_plane(ssd->geo, block) >=
           ssd->geo->blocks_per_plane - ssd->l.saved_blocks;
}

/* Was the block made to hold data, and was it good then? */
static inline bool block_is_good(const Ssd *ssd, uint32_t block)
{
    return !nand_factory_bad(ssd->nand, block) && !saved_has_block(ssd, block);
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

/* Has the plane a free block for an open block of that kind?  Of the host: for
 * one of any stream, even if it is not to use the SLC cache. */
static inline bool block_can_open(const Ssd *ssd, const Plane *p, OpenKind kind)
{
    uint32_t reserve = kind == OPEN_GC ? 0 : plane_reserve(ssd, p);

    return p->free.n > reserve ||
           (kind == OPEN_HOST && p->slc_free.n > 0 && !ssd->l.slc_some);
}

/* Say (or no longer) plane_changed() for each unit that becomes invalid. */
void plane_tell_gains(Ssd *ssd, uint32_t plane, bool tell);

/* ---- open blocks --------------------------------------------------------- */

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

/* The reclaim group of a plane, and of a stream; 0 without FDP. */
static inline uint32_t plane_group(const Ssd *ssd, uint32_t plane)
{
    return ssd->l.n_groups > 1 ? plane / ssd->l.group_planes : 0;
}

static inline uint32_t stream_group(const Ssd *ssd, uint32_t stream)
{
    return ssd->l.n_groups > 1 ? stream / ssd->l.n_handles : 0;
}

/* Whose units a block takes that GC opens in the plane for the class;
 * n_streams: units of several streams, or metadata. */
static inline uint32_t copies_stream(const Ssd *ssd, uint32_t plane,
                                     uint32_t class)
{
    if (class >= ssd->l.n_stream_classes ||
        ssd->l.of_class[class] == SSD_OF_SEVERAL) {
        return ssd->l.n_streams;
    }
    return plane_group(ssd, plane) * ssd->l.n_handles + ssd->l.of_class[class];
}

/* Is there an open block, with a page left that is not for parity? */
static inline bool open_takes_data(const Ssd *ssd, uint32_t plane,
                                   uint32_t open)
{
    const Open *o = &ssd->media->plane[plane].open[open];

    return o->block != NONE && (!parity_is_of(ssd, o->block) ||
                                parity_next_data(ssd, plane, o->next_page) <
                                    ssd->geo->pages_per_block);
}

/* How many such pages the open block has left. */
uint32_t open_pages_left(const Ssd *ssd, uint32_t plane, uint32_t open);

/* Take the next page (the pages of one program) of the plane's open block of
 * that kind and stream (OPEN_GC: class), opening a free block if need be. NONE:
 * there is no block that this kind may take. */
uint64_t block_take_page(Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream);

/* With superblock.parity.  The next page of the open block is for parity:
 * program it; more: another plane of the command follows. */
void block_send_parity(Ssd *ssd, uint32_t plane, uint32_t open, bool more);

/* The same: open a block, of which the first page is for parity, if there is
 * one that may be opened. */
void block_open_for_parity(Ssd *ssd, uint32_t plane, uint32_t open);

/* A free block (BLOCK_MAPPED from now on), for host data or for copies; NONE:
 * there is none. */
uint32_t block_take_free(Ssd *ssd, uint32_t plane, OpenKind kind);
bool block_can_take_page(const Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream);

/* Take no more pages of the block that is open there (an open_index()): it is
 * FULL once its programs have ended. */
void block_close(Ssd *ssd, uint32_t plane, uint32_t open);

/* A program of the block has ended. */
void block_page_done(Ssd *ssd, uint32_t block);

/* A page of the host is on its way to the plane, or has ended. */
void plane_host_program(Ssd *ssd, uint32_t plane, int by);

#endif
