/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc.h - garbage collection, wear levelling, refresh. */
#ifndef VSSD_FTL_GC_H
#define VSSD_FTL_GC_H

#include "layers.h"
#if FTL_LAYER < FTL_GC
#error "ftl/gc is above this component: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "journal/journal.h"
#include "media/blocks.h"
#include "media/spare.h"
#include "ssd-internal.h"

/* ---- gc.c -------------------------------------------------------------- */

/* Before block_init(), and after block_destroy(). */
void gc_init(Ssd *ssd);
void gc_destroy(Ssd *ssd);

/* Blocks and free lists have changed: a state was loaded, the power was cut.
 * Caches of them are rebuilt on use. */
void gc_forget(Ssd *ssd);

/* The power has gone: no plane has a victim, nor anything under way. */
void gc_power_lost(Ssd *ssd);

/* Look whether the plane needs GC, and go on with it. */
void gc_pump(Ssd *ssd, uint32_t plane);

/* Reads of the host on the die have ended: GC that had yielded to them
 * goes on. */
void gc_resume(Ssd *ssd, uint64_t page);

/* Clean a block of the plane, if one gains, however many are free; nothing, as
 * long as the plane is at it. */
void gc_force(Ssd *ssd, uint32_t plane);
/* Erase the block that GC opened last; the plane has no free block, no
 * operation in flight, and no victim.  Sets Media.read_only if it cannot be. */
void gc_take_back(Ssd *ssd, uint32_t plane);

/* Does a page of copies wait for others of its row, with an event? */
bool gc_row_waits(const Ssd *ssd);

/* SSD_EVENT_ROW_WAIT of the plane has come. */
void gc_row_wait_event(Ssd *ssd, uint32_t plane);

/* Given to the drive, unless the map empties blocks by itself. */
extern const CopyOps gc_copies;

/* An empty victim need wait no longer (saved_holds()). */
void gc_release(Ssd *ssd, uint32_t block);

/* ---- gc-unit.c: does nothing without superblock.width ------------------- */

/* Count called planes and waiting blocks again: blocks and planes have changed.
 */
void unit_count(Ssd *ssd);

/* A job's page failed: it is programmed again elsewhere in its plane, or, if
 * the drive has failed, dropped. */
void gc_page_failed(Ssd *ssd, uint32_t job);

/* Does the operation belong to emptying a block? */
static inline bool cause_is_copy(unsigned cause)
{
    return cause == NAND_CAUSE_GC || cause == NAND_CAUSE_WEAR ||
           cause == NAND_CAUSE_REFRESH || cause == NAND_CAUSE_MERGE;
}

/* ---- pace.c -------------------------------------------------------------- */

/* The time from the start of a host write to that of the next, for each of its
 * units; 0: no GC runs, or ftl.gc_pace=late. */
uint64_t pace_ps(const Ssd *ssd);

/* The clock has been set back. */
void pace_rebase(Ssd *ssd, uint64_t by_ps);

/* ---- background.c ------------------------------------------------------ */

typedef enum BackgroundEvent {
    BACKGROUND_IDLE,
    BACKGROUND_SCAN,
    BACKGROUND_FOLD,
    BACKGROUND_PERIOD, /* periodic.c */
} BackgroundEvent;

/* No command runs, from now on. */
void background_quiet(Ssd *ssd);

/* ftl.gc_soft may have changed. */
void background_soft(Ssd *ssd);

/* A command has come, or the power has gone. */
void background_stop(Ssd *ssd);
void background_power_lost(Ssd *ssd);

void background_event(Ssd *ssd, BackgroundEvent event);

/* ---- refresh.c --------------------------------------------------------- */

void refresh_init(Ssd *ssd);
void refresh_destroy(Ssd *ssd);

/* A block holds preloaded data; a read of it has ended. */
void refresh_preloaded(Ssd *ssd, uint32_t block);
void refresh_read(Ssd *ssd, const NandOp *op);

void refresh_power_lost(Ssd *ssd);
void refresh_power_on(Ssd *ssd);

/* ---- classes of copies ------------------------------------------------- */

/* Units moved by wear levelling are cold: they do not share blocks with copies
 * of GC; nor does metadata. */
static inline uint32_t gc_class(const Ssd *ssd, uint64_t ppu)
{
    invariant(ppu < ssd->l.raw_units);
    if (ssd->l.meta_units > 0 && unit_is_meta(ssd, ppu)) {
        return ssd->l.meta_class;
    }
    if (ssd->l.cold_class != NONE &&
        block_cause(ssd, ppu_block(ssd, ppu)) == NAND_CAUSE_WEAR) {
        return ssd->l.cold_class;
    }
    return ssd->l.n_stream_classes > 1
               ? ssd->l.class_of[ssd->media->spare_stream[ppu]]
               : 0;
}

#endif
