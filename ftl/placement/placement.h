/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placement.h - streams and allocation. */
#ifndef VSSD_FTL_PLACEMENT_H
#define VSSD_FTL_PLACEMENT_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "placement/placement-internal.h"
#include "ssd-internal.h"

/* ---- alloc.c ----------------------------------------------------------- */

/* Streams of the seed; see prng_seed(). */
#define PURPOSE_ALLOC 0x66746c2d616c6c6fULL
#define PURPOSE_GC    0x66746c2d67632d76ULL

void alloc_init(Ssd *ssd);
void alloc_destroy(Ssd *ssd);

/* The plane for the next page of a stream; see AllocPolicy.pick(). */
uint32_t alloc_pick(Ssd *ssd, uint32_t lpn, uint32_t stream);

/* Something is under way in the plane that may make it accept a page. */
static inline bool alloc_will_change(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = &ssd->media->plane[plane];
    const GcLoad *gc = &ssd->placement->plane[plane].gc;

    return p->host_programs > 0 || p->erases > 0 || p->n_held > 0 ||
           gc->reads > 0 || gc->programs > 0 || gc->away > 0;
}

/* May the plane be given a page of the host? */
static inline bool plane_accepts(const Ssd *ssd, uint32_t plane)
{
    return ssd->placement->plane[plane].accepting;
}

/* The first position of the stripe at from, or after it and round, whose plane
 * accepts a page; NONE: there is none. */
uint32_t alloc_next(const Ssd *ssd, uint32_t from);

/* The plane, if it accepts a page; NONE, while something under way there may
 * change that; else the next one in the stripe that does, or NONE. */
uint32_t alloc_insist(Ssd *ssd, uint32_t plane);

/* Placement.alloc_waits_for is not NONE: is there still something to wait for? */
void alloc_look_again(Ssd *ssd);

/* ---- accepting.c ------------------------------------------------------- */

/* Work out anew whether the plane may be given a page. */
void plane_update(Ssd *ssd, uint32_t plane);

/* The host has taken a page of the plane: GcLoad.credit pays for it. */
void plane_charge_host(Ssd *ssd, uint32_t plane);

/* A merge begins or ends, with a log-block map: the plane takes no pages of the
 * host meanwhile. */
void plane_set_starved(Ssd *ssd, uint32_t plane, bool starved);

/* ---- alloc-rows.c ------------------------------------------------------ */

/* With l.row_planes. */
void rows_init(Ssd *ssd);
void rows_destroy(Ssd *ssd);

/* Where a stream begins. */
uint32_t rows_first(const Ssd *ssd, uint32_t stream);

/* As alloc_pick().  Then: the next plane of the same row, if it accepts a page;
 * NONE: the row has no other, or it waits for that one. */
uint32_t rows_pick(Ssd *ssd, uint32_t stream);
uint32_t rows_more(Ssd *ssd, uint32_t stream);

/* ---- hot.c ------------------------------------------------------------- */

/* With ftl.hot_cold: the stream of units that are written often; the others are
 * of stream 0, and the host names none. */
#define HOT_STREAM 1

void hot_init(Ssd *ssd);
void hot_destroy(Ssd *ssd);
void hot_forget(Ssd *ssd);

/* The stream of the unit.  It has been written. */
uint32_t hot_stream(const Ssd *ssd, uint32_t lpn);
void hot_written(Ssd *ssd, uint32_t lpn);

/* ---- streams.c --------------------------------------------------------- */

void stream_init(Ssd *ssd);
void stream_destroy(Ssd *ssd);

/* The host has written so many of its blocks to the stream. */
void stream_wrote(Ssd *ssd, uint32_t stream, uint64_t nblocks);

/* ssd_stream_close(): its next page begins a reclaim unit. */
void stream_end(Ssd *ssd, uint32_t stream);

/* The same, before its blocks are closed: its next unit is the first one. */
void stream_begin_unit(Ssd *ssd, uint32_t stream);

/* The stream's open blocks take no more pages. */
void stream_close_blocks(Ssd *ssd, uint32_t stream);

/* The stream whose account pays for a copy of the unit. */
uint32_t stream_account(const Ssd *ssd, uint32_t ppu);
/* The unit is being copied: its stream's account pays. */
void stream_copied(Ssd *ssd, uint32_t ppu);
/* The erase of the block begins. */
void stream_erasing(Ssd *ssd, uint32_t block);
/* The power has gone: what NAND did not come to end, the job's page and erases,
 * goes out of the accounts again, as NAND has not counted it. */
void stream_uncount_page(Ssd *ssd, uint32_t j);
void stream_uncount_erases(Ssd *ssd);
/* A victim of GC: what is valid of it is copied. */
void stream_victim(Ssd *ssd, uint32_t block);
/* A page takes units of several streams. */
void stream_mixed(Ssd *ssd);
/* A page of the stream is programmed: so many units of the host, and padding.
 */
void stream_programmed(Ssd *ssd, uint32_t stream, uint32_t units,
                       uint32_t padded);
void stream_reset_stats(Ssd *ssd);

#endif
