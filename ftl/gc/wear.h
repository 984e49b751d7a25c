/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wear.h - wear levelling (wear.c): which free block is opened next, and which
 * block is moved because it is little worn.
 */
#ifndef VSSD_FTL_GC_WEAR_H
#define VSSD_FTL_GC_WEAR_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

/* Wear of a block in cycles of the native mode: a cycle in SLC mode counts
 * media.rated_cycles / media.slc_rated_cycles of one.  It never falls. */
static inline uint32_t wear_cycles(const Ssd *ssd, uint32_t block)
{
    return (uint32_t)MIN(nand_wear_cycles(ssd->nand, block), UINT32_MAX - 1);
}

void wear_init(Ssd *ssd);
void wear_destroy(Ssd *ssd);

/* Free lists and erases are others now. */
void wear_forget(Ssd *ssd);

/* The free block of the plane that is to be opened next; there is one. */
uint32_t wear_choose_free(Ssd *ssd, uint32_t plane, OpenKind kind);

/* A block, not in SLC mode, has come to the end of the free list; has left it.
 */
void wear_freed(Ssd *ssd, uint32_t block);
void wear_taken(Ssd *ssd, uint32_t block);

/* A block of the plane has been erased. */
void wear_erased(Ssd *ssd, uint32_t block);

/* A FULL block of the plane that is so little worn that its data must move, or
 * NONE.  Blocks in SLC mode are folding's business. */
static inline bool wear_wants(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->plane[plane].wear_due > 0;
}
uint32_t wear_victim(Ssd *ssd, uint32_t plane);

/* For ssd_check(). */
bool wear_check(const Ssd *ssd, uint32_t plane, GError **error);

/* Share of the rated cycles (nand_wear_cycles()) that the blocks have seen on
 * average: of all but nand.slc_blocks, or of these, if it is more.  erases: the
 * sum of nand_erase_count(); without SLC no block has to be looked at. */
uint32_t wear_percent_used(const Ssd *ssd, uint64_t erases);

#endif
