/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement.h - which stream and which plane a page goes to.
 *
 * For components that place pages (buffer/, log-block maps, state/), and for
 * those that change how busy a plane is (gc/, power/).
 */
#ifndef VSSD_FTL_PLACEMENT_H
#define VSSD_FTL_PLACEMENT_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "media/blocks.h"
#include "media/lost-die.h"
#include "media/media-internal.h"
#include "placement/placement-internal.h"
#include "ssd-internal.h"

/* Streams of the seed; see prng_seed(). */
#define PURPOSE_ALLOC 0x66746c2d616c6c6fULL
#define PURPOSE_GC    0x66746c2d67632d76ULL

/* ---- for reading --------------------------------------------------------- */

static inline const Stream *stream_at(const Ssd *ssd, uint32_t stream)
{
    return &ssd->placement->stream[stream];
}

static inline const GcLoad *plane_load(const Ssd *ssd, uint32_t plane)
{
    return &ssd->placement->plane[plane].gc;
}

/* ---- the plane for a page ------------------------------------------------ */

/* The plane for the next page of a stream; see VssdAllocPolicy.pick(). */
uint32_t alloc_pick(Ssd *ssd, uint64_t lpn, uint32_t stream);

/* The group of the stream holds as much data as it may.  The stream of the same
 * handle in a group that has room; NONE: the stream's own has, or none has. */
uint32_t alloc_overflow(const Ssd *ssd, uint32_t stream);

/* The plane for a page of data without a stream, which is not in the buffer: an
 * aged or preloaded drive's.  *stream: handle 0 of its group, which the address
 * says while there is room in it. */
uint32_t alloc_pick_aged(Ssd *ssd, uint64_t lpn, uint32_t *stream);

/* The next plane of the same row, if it accepts a page; NONE: the row has no
 * other, or it waits for that one. */
uint32_t rows_more(Ssd *ssd, uint32_t stream);

/* Before a page of the host is taken of the plane: ftl.alloc=random-block draws
 * the open block that it goes to. */
void alloc_draw_block(Ssd *ssd, uint32_t plane);

/* The first position of the stripe at from, or after it and round, whose plane
 * accepts a page; NONE: there is none. */
uint32_t alloc_next(const Ssd *ssd, uint32_t from);

/* Placement.alloc_waits_for is not NONE: is there still something to wait for? */
void alloc_look_again(Ssd *ssd);

/* ---- planes that accept pages -------------------------------------------- */

/* May the plane be given a page of the host? */
static inline bool plane_accepts(const Ssd *ssd, uint32_t plane)
{
    return ssd->placement->plane[plane].accepting;
}

/* With l.slc_some.  Does the plane accept pages of the host, but of that stream
 * none before a block of the SLC cache has been folded? */
bool plane_holds_stream(const Ssd *ssd, uint32_t plane, uint32_t stream);

/* Does the plane hold its share of the drive's data, with so many units that
 * are on their way to it?  With zones.conventional: its share of that space,
 * since zones have blocks of their own. */
static inline bool plane_has_share(const Ssd *ssd, uint32_t plane,
                                   uint64_t coming)
{
    const Plane *p = plane_at(ssd, plane);

    if (G_UNLIKELY(ssd->media->plain_valid)) {
        return ssd->media->plain_valid[plane] + coming >=
               ssd->l.plain_share + p->slack_units;
    }
    return p->valid - p->meta_valid + coming >=
           plane_share(ssd) + p->slack_units;
}

/* Decide again whether the plane may be given a page. */
void plane_update(Ssd *ssd, uint32_t plane);

/* The host has taken a page of the plane: GcLoad.credit pays for it. */
void plane_charge_host(Ssd *ssd, uint32_t plane);

/* A merge begins or ends, with a log-block map: the plane takes no pages of the
 * host meanwhile. */
void plane_set_starved(Ssd *ssd, uint32_t plane, bool starved);

/* ---- streams that the drive chooses ---------------------------------------
 */

/* With Placement.chooses_stream (a policy of ftl.placement, ftl.hot_cold): the
 * stream of a unit; it has been written. */
uint32_t chooser_stream(Ssd *ssd, uint64_t lpn);
void chooser_wrote(Ssd *ssd, uint64_t lpn, uint32_t stream);

/* With Placement.rate: the host says how often it will write units [first,
 * end); an SsdWriteRate. */
void chooser_expect(Ssd *ssd, uint64_t first, uint64_t end, uint8_t rate);

extern const VssdPolicy placement_hot_cold;

#endif
