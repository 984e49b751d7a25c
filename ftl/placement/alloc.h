/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.h - what the allocation policies share (alloc.c, alloc-rows.c).
 */
#ifndef VSSD_FTL_PLACEMENT_ALLOC_H
#define VSSD_FTL_PLACEMENT_ALLOC_H

#include "layers.h"
#if FTL_LAYER != FTL_PLACEMENT && FTL_LAYER != FTL_ALL
#error "private to ftl/placement: docs/architecture.md"
#endif

#include "media/blocks.h"
#include "media/media-internal.h"
#include "placement/placement-internal.h"
#include "ssd-internal.h"

/* Something is under way in the plane that may make it accept a page. */
static inline bool alloc_will_change(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    const GcLoad *gc = &ssd->placement->plane[plane].gc;

    return p->host_programs > 0 || p->erases > 0 || p->n_held > 0 ||
           gc->reads > 0 || gc->programs > 0 || gc->away > 0;
}

/* The plane, if it accepts a page; NONE, while something under way there may
 * change that; else the next one in the stripe that does, or NONE. */
uint32_t alloc_insist(Ssd *ssd, uint32_t plane);

/* alloc_insist() with a plane at random; a plane that it waits for stays chosen
 * until it, or another in its place, is taken. */
uint32_t alloc_draw(Ssd *ssd);

/* The plane of a unit that has no old version: in the order of ftl.stripe, by
 * logical address. */
static inline uint32_t alloc_first_plane(const Ssd *ssd, uint64_t lpn)
{
    uint64_t page = lpn >> ssd->page_units_shift;

    return ssd->media->stripe_plane[page % ssd->l.n_planes];
}

/* ---- alloc-rows.c -------------------------------------------------------- */

/* With l.row_planes. */
void rows_init(Ssd *ssd);
void rows_destroy(Ssd *ssd);

/* The power has gone: whatever stopped a stream may have, too. */
void rows_power_lost(Ssd *ssd);

/* Where a stream begins. */
uint32_t rows_first(const Ssd *ssd, uint32_t stream);

/* As alloc_pick(). */
uint32_t rows_pick(Ssd *ssd, uint32_t stream);

#endif
