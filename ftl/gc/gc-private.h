/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-private.h - what the policies and the other files of gc/ share: the gain
 * of a block, and background work.
 */
#ifndef VSSD_FTL_GC_PRIVATE_H
#define VSSD_FTL_GC_PRIVATE_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "gc/hold.h"
#include "gc/gc-unit.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "media/superblock.h"
#include "placement/placement-internal.h"

/* Units that a plane may hold back: what makes no page, and with
 * superblock.row a row of each of a few classes. */
static inline uint32_t gc_most_held(const Ssd *ssd)
{
    uint32_t rows = MIN(ssd->l.n_stream_classes, 4);
    uint32_t pages = ssd->l.whole_rows ? rows * ssd->l.row_planes : 0;

    return (pages + ssd->l.n_gc_classes) * ssd->l.units_per_program;
}

/* Entries of GcPlane.staged. */
static inline uint32_t gc_staged_room(const Ssd *ssd)
{
    return gc_most_held(ssd) + GC_READS_PER_PLANE * ssd->l.units_per_program;
}

/* Do copies of the class fill rows?  Those of wear levelling only where
 * superblocks are whole, and move as one; metadata never. */
static inline bool gc_fills_rows(const Ssd *ssd, uint32_t class)
{
    return class < ssd->l.n_stream_classes ||
           (superblock_is_whole(ssd) && class != ssd->l.meta_class);
}

/* The state of GC in the plane for placement/: written here only. */
static inline GcLoad *gc_load(Ssd *ssd, uint32_t plane)
{
    return (GcLoad *)&ssd->placement->plane[plane].gc;
}

/* The FULL block of the plane that the policy chooses (VssdGcPolicy.pick). */
uint32_t gc_pick(Ssd *ssd, uint32_t plane);

/* ---- what a block gains -------------------------------------------------- */

/* Are blocks chosen by their superblocks? */
static inline bool gc_by_superblock(const Ssd *ssd)
{
    return superblocks_are_on(ssd) && !ssd->gc->alone;
}

/* Valid units of a FULL block as a policy sees them. */
static inline double gc_valid(const Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    return gc_by_superblock(ssd) ? unit_mean_valid(ssd, block)
                                 : block_valid(ssd, block);
}

/* Is there a FULL block that costs no copy, nor does its superblock? */
static inline bool gc_costs_nothing(const Ssd *ssd, const Plane *p)
{
    return p->bucket[0] != NONE && gc_valid(ssd, p->bucket[0]) == 0;
}

/* With zones: is there a FULL block to be erased at once? */
static inline bool gc_has_empty(const Ssd *ssd, const Plane *p)
{
    return ssd->l.n_zones > 0 && p->bucket[0] != NONE;
}

/* With zones alone: their data moves only if nothing else helps. */
static inline bool gc_only_zones(const Ssd *ssd)
{
    return ssd->l.n_zones > 0 && ssd->l.plain_units == 0;
}

/* With zones, blocks with data are collected only where failed programs, or
 * power cuts, have left the plane short of blocks. */
static inline bool gc_leaves_data(const Ssd *ssd, const Plane *p)
{
    return gc_only_zones(ssd) && p->free.n > ssd->l.gc_free_blocks + 1;
}

/* Other planes have not yet begun with the last superblock. */
static inline bool gc_waits_for_unit(const Ssd *ssd, uint32_t plane)
{
    return superblocks_are_on(ssd) &&
           (!ssd->l.whole_rows || superblock_is_whole(ssd)) &&
           unit_is_called(ssd, plane);
}

/* Valid units of a block that is worth collecting, at most: it gives back a
 * program's pages; with ftl.gc_pace=even a unit, to keep ftl.gc_low free. */
static inline uint32_t gc_most_valid(const Ssd *ssd)
{
    bool even = ssd->cfg->gc_pace == SSD_GC_PACE_EVEN;

    return ssd->l.data_units - (even ? 1 : ssd->l.units_per_program);
}

/* Is the block worth collecting? */
static inline bool gc_gains(const Ssd *ssd, uint32_t block)
{
    uint32_t most = gc_most_valid(ssd);

    invariant(block < ssd->geo->n_blocks);
    return block_valid(ssd, block) <= most &&
           (!gc_by_superblock(ssd) || gc_valid(ssd, block) <= most);
}

/* ---- background.c ------------------------------------------------------ */

/* Is the SLC cache emptied, as no command has run for ftl.slc_fold_delay; is
 * there time for other work of the background? */
static inline bool background_folds(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->background.folds;
}
static inline bool background_wants(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->background.idle || hold_prepares(ssd);
}

/* A block of the plane to be emptied then: of the SLC cache, for a refresh, for
 * room; NONE: there is none. */
uint32_t background_fold_victim(Ssd *ssd, uint32_t plane);
uint32_t background_refresh_victim(Ssd *ssd, uint32_t plane);
uint32_t background_victim(Ssd *ssd, uint32_t plane);

/* ---- refresh.c --------------------------------------------------------- */

/* One of ftl.refresh_... is set; else the rest does nothing, and refresh_read()
 * and refresh_needs() must not be called; refresh_read() may with
 * ftl.read_reclaim. */
bool refresh_is_on(const Ssd *ssd);

/* A block is opened; a page of one is copied inside the array to another, which
 * is open. */
void refresh_opened(Ssd *ssd, uint32_t block);
void refresh_copied(Ssd *ssd, uint32_t from, uint32_t to);

/* A FULL block of the plane of which a read needed ftl.read_reclaim retries;
 * NONE: there is none, and none is looked for. */
static inline bool reclaim_wants(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->plane[plane].reclaim;
}
uint32_t reclaim_victim(Ssd *ssd, uint32_t plane);

/* Does the block, which is FULL, need a refresh? */
bool refresh_needs(const Ssd *ssd, uint32_t block);

/* ---- check.c ------------------------------------------------------------- */

/* Component.check. */
bool gc_check(const Ssd *ssd, bool at_rest, GError **error);

#endif
