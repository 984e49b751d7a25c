/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc.h - garbage collection, wear levelling, refresh. */
#ifndef VSSD_FTL_GC_H
#define VSSD_FTL_GC_H

#include "layers.h"
#if FTL_LAYER < FTL_GC
#error "ftl/gc is above this component: docs/architecture.md"
#endif

#include "journal/journal.h"
#include "gc/gc-internal.h"
#include "media/media.h"
#include "ssd-internal.h"

/* ---- gc.c -------------------------------------------------------------- */

/* Before block_init(), and after block_destroy(). */
void gc_init(Ssd *ssd);
void gc_destroy(Ssd *ssd);

/* Look whether the plane needs cleaning, and go on with it. */
void gc_kick(Ssd *ssd, uint32_t plane);

/* Reads of the host on the die have ended: cleaning that had yielded to them
 * goes on. */
void gc_resume(Ssd *ssd, uint32_t page);

/* Clean a block of the plane, if one gains, however many are free; nothing, as
 * long as the plane is at it. */
void gc_force(Ssd *ssd, uint32_t plane);
/* Erase the block that cleaning opened last; the plane has no free block, no
 * operation in flight, and no victim.  Sets Media.read_only if it cannot be. */
void gc_take_back(Ssd *ssd, uint32_t plane);

/* Given to the drive, unless the map empties blocks by itself. */
extern const CopyOps gc_copies;

/* An empty victim need wait no longer (saved_holds()). */
void gc_release(Ssd *ssd, uint32_t block);

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

/* Count anew who is called and what waits: blocks and planes are others now. */
void unit_count(Ssd *ssd);

/* Do copies go to whichever plane of the die is behind, so that multi-plane
 * commands can program them? */
bool unit_goes_by_die(const Ssd *ssd);

/* The plane where the next page of copies from this one goes. */
uint32_t unit_destination(const Ssd *ssd, uint32_t plane, uint32_t class);

/* For ssd_check(). */
bool unit_check(const Ssd *ssd, GError **error);

/* A job's page failed: it is programmed again elsewhere in its plane, or, if
 * the drive has given up, forgotten. */
void gc_page_failed(Ssd *ssd, uint32_t job);

/* Does the operation belong to emptying a block? */
static inline bool cause_is_cleaning(unsigned cause)
{
    return cause == NAND_CAUSE_GC || cause == NAND_CAUSE_WEAR ||
           cause == NAND_CAUSE_REFRESH || cause == NAND_CAUSE_MERGE;
}

/* ---- background.c ------------------------------------------------------ */

typedef enum BackgroundEvent {
    BACKGROUND_IDLE,
    BACKGROUND_SCAN,
} BackgroundEvent;

/* No command runs, from now on. */
void background_quiet(Ssd *ssd);

/* A command has come, or the power has gone. */
void background_stop(Ssd *ssd);
void background_power_lost(Ssd *ssd);

void background_event(Ssd *ssd, BackgroundEvent event);

/* A block of the plane to be emptied while the host is silent, and why; NONE:
 * there is none. */
uint32_t background_victim(Ssd *ssd, uint32_t plane, NandCause *cause);

void background_json(const Ssd *ssd, JsonWriter *w);

/* ---- refresh.c --------------------------------------------------------- */

/* One of ftl.refresh_... is set; else the rest does nothing, and refresh_read() and
 * refresh_needs() must not be called. */
bool refresh_is_on(const Ssd *ssd);
void refresh_init(Ssd *ssd);
void refresh_destroy(Ssd *ssd);

/* What happens to blocks: it is opened; what it holds was there when the drive
 * was made; a read of it has ended; a page of one is copied inside the array to
 * another, which is open. */
void refresh_opened(Ssd *ssd, uint32_t block);
void refresh_preloaded(Ssd *ssd, uint32_t block);
void refresh_read(Ssd *ssd, const NandOp *op);
void refresh_copied(Ssd *ssd, uint32_t from, uint32_t to);

/* Is the block, which is FULL, to be written anew? */
bool refresh_needs(const Ssd *ssd, uint32_t block);

void refresh_power_lost(Ssd *ssd);
void refresh_power_on(Ssd *ssd);

/* ---- wear.c ------------------------------------------------------------ */

void wear_init(Ssd *ssd);
void wear_destroy(Ssd *ssd);

/* Free lists and erases are others now: a state was loaded, the power was cut. */
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

/* What wear levelling moves is cold: it does not meet what cleaning copies; nor
 * does metadata. */
static inline uint32_t gc_class(const Ssd *ssd, uint32_t ppu)
{
    if (ssd->l.meta_units > 0 && unit_is_meta(ssd, ppu)) {
        return ssd->l.meta_class;
    }
    if (ssd->l.cold_class != NONE &&
        ssd->media->block[ppu_block(ssd, ppu)].cause == NAND_CAUSE_WEAR) {
        return ssd->l.cold_class;
    }
    return ssd->l.n_stream_classes > 1 ? ssd->media->spare_stream[ppu] : 0;
}

/* Are blocks chosen by their stripes? */
static inline bool gc_by_stripe(const Ssd *ssd)
{
    return ssd->media->mate && !ssd->gc->alone;
}

/* Valid units of a FULL block as a policy sees them. */
static inline double gc_valid(const Ssd *ssd, uint32_t block)
{
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
    return ssd->media->mate && unit_is_called(ssd, plane);
}

/* Does cleaning the block give back a program's pages at least? */
static inline bool gc_gains(const Ssd *ssd, uint32_t block)
{
    uint32_t most = ssd->l.units_per_block - ssd->l.units_per_program;

    return ssd->media->block[block].valid <= most &&
           (!gc_by_stripe(ssd) || gc_valid(ssd, block) <= most);
}

#endif
