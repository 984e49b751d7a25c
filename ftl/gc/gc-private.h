/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc-private.h - what the files of gc/ ask of each other. */
#ifndef VSSD_FTL_GC_PRIVATE_H
#define VSSD_FTL_GC_PRIVATE_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc.h"
#include "placement/placement-internal.h"

/* Entries of GcPlane.staged. */
static inline uint32_t gc_staged_room(const Ssd *ssd)
{
    return (GC_READS_PER_PLANE + ssd->l.n_gc_classes) *
           ssd->l.units_per_program;
}

/* What placement/ sees of GC in the plane: to be written here alone. */
static inline GcLoad *gc_load(Ssd *ssd, uint32_t plane)
{
    return (GcLoad *)&ssd->placement->plane[plane].gc;
}

/* ---- gc.c -------------------------------------------------------------- */

/* A FULL block of the plane at random that gains; NONE: many draws found none. */
uint32_t gc_draw(Ssd *ssd, uint32_t plane);

/* ---- gc-unit.c: does nothing without ftl.gc_unit ----------------------- */

void unit_init(Ssd *ssd);
void unit_destroy(Ssd *ssd);

static inline uint32_t unit_planes(const Ssd *ssd)
{
    return ssd->cfg->gc_unit == SSD_GC_UNIT_DIE ? ssd->geo->planes_per_die
                                                : ssd->l.n_planes;
}

/* The planes that clean together with this one: first..end - 1. */
static inline uint32_t unit_first_plane(const Ssd *ssd, uint32_t plane)
{
    return plane - plane % unit_planes(ssd);
}

static inline uint32_t unit_end_plane(const Ssd *ssd, uint32_t plane)
{
    return unit_first_plane(ssd, plane) + unit_planes(ssd);
}

/* The block has been opened; is erased or retired, and of no stripe any more. */
void unit_opened(Ssd *ssd, uint32_t block, uint32_t open);
void unit_leave(Ssd *ssd, uint32_t block);

/* Valid units, the mean over the stripe; all of a block, if not every block of
 * it is FULL. */
double unit_mean_valid(const Ssd *ssd, uint32_t block);

/* Has a plane not yet begun with what it was called to? */
bool unit_is_called(const Ssd *ssd, uint32_t plane);

/* The block is a victim: the other planes shall empty theirs of the stripe. */
void unit_call(Ssd *ssd, uint32_t block);

/* The block is about to be a victim, called for or not. */
void unit_taken(Ssd *ssd, uint32_t block);

/* The victim that the plane was called to take, or NONE. */
uint32_t unit_answer(Ssd *ssd, uint32_t plane);

/* A victim is empty: true, it waits for others of its stripe; else erase it, and
 * those that have waited for it. */
bool unit_holds(Ssd *ssd, uint32_t block);
void unit_erase(Ssd *ssd, uint32_t block);

/* The plane is short of room: erase what waits; nothing of it waits any more. */
void unit_release(Ssd *ssd, uint32_t plane);
void unit_hold_none(Ssd *ssd, uint32_t plane);

/* Do copies go to whichever plane of the die is behind, so that multi-plane
 * commands can program them? */
bool unit_goes_by_die(const Ssd *ssd);

/* The plane where the next page of copies from this one goes. */
uint32_t unit_destination(const Ssd *ssd, uint32_t plane, uint32_t class);

/* For ssd_check(). */
bool unit_check(const Ssd *ssd, GError **error);

/* ---- background.c ------------------------------------------------------ */

/* A block of the plane to be emptied while the host is idle, and why; NONE:
 * there is none. */
uint32_t background_victim(Ssd *ssd, uint32_t plane, NandCause *cause);


/* ---- refresh.c --------------------------------------------------------- */

/* One of ftl.refresh_... is set; else the rest does nothing, and refresh_read() and
 * refresh_needs() must not be called. */
bool refresh_is_on(const Ssd *ssd);

/* A block is opened; a page of one is copied inside the array to another, which
 * is open. */
void refresh_opened(Ssd *ssd, uint32_t block);
void refresh_copied(Ssd *ssd, uint32_t from, uint32_t to);

/* Is the block, which is FULL, to be written anew? */
bool refresh_needs(const Ssd *ssd, uint32_t block);

/* ---- wear.c ------------------------------------------------------------ */

void wear_init(Ssd *ssd);
void wear_destroy(Ssd *ssd);

/* Free lists and erases are others now. */
void wear_forget(Ssd *ssd);

/* The free block of the plane that is to be opened next; there is one. */
uint32_t wear_choose_free(Ssd *ssd, uint32_t plane, OpenKind kind);

/* A block, not in SLC mode, has come to the end of the free list; has left it. */
void wear_freed(Ssd *ssd, uint32_t block);
void wear_taken(Ssd *ssd, uint32_t block);

/* A block of the plane has been erased. */
void wear_erased(Ssd *ssd, uint32_t block);

/* A FULL block of the plane that is so little worn that what it holds is to go
 * elsewhere, or NONE. */
uint32_t wear_victim(Ssd *ssd, uint32_t plane);

/* For ssd_check(). */
bool wear_check(const Ssd *ssd, uint32_t plane, GError **error);

/* Share of the rated erases that the blocks have seen on average: erases are
 * those of all blocks but the ones in SLC mode, which are a cache. */
uint32_t wear_percent_used(const Ssd *ssd, uint64_t erases);

/* Are blocks chosen by their stripes? */
static inline bool gc_by_stripe(const Ssd *ssd)
{
    return ssd->gc->mate && !ssd->gc->alone;
}

/* Valid units of a FULL block as a policy sees them. */
static inline double gc_valid(const Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    return gc_by_stripe(ssd) ? unit_mean_valid(ssd, block)
                             : ssd->media->block[block].valid;
}

/* Is there a FULL block that costs no copy, nor does its stripe? */
static inline bool gc_costs_nothing(const Ssd *ssd, const Plane *p)
{
    return p->bucket[0] != NONE && gc_valid(ssd, p->bucket[0]) == 0;
}

/* Other planes have not yet begun with the last stripe. */
static inline bool gc_waits_for_unit(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->mate && unit_is_called(ssd, plane);
}

/* Does collecting the block give back a program's pages at least? */
static inline bool gc_gains(const Ssd *ssd, uint32_t block)
{
    uint32_t most = ssd->l.units_per_block - ssd->l.units_per_program;

    invariant(block < ssd->geo->n_blocks);
    return ssd->media->block[block].valid <= most &&
           (!gc_by_stripe(ssd) || gc_valid(ssd, block) <= most);
}

#endif
