/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-unit.h - blocks of several planes that are emptied and erased together
 * (gc-unit.c).  Without superblock.width the functions do nothing.
 */
#ifndef VSSD_FTL_GC_UNIT_H
#define VSSD_FTL_GC_UNIT_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "ssd-internal.h"

void unit_init(Ssd *ssd);
void unit_destroy(Ssd *ssd);

/* Valid units, the mean over the superblock; all of a block, if not every block
 * of it is FULL. */
double unit_mean_valid(const Ssd *ssd, uint32_t block);

/* ---- victims ------------------------------------------------------------- */

/* Has a plane not yet begun with its victim of the superblock? */
bool unit_is_called(const Ssd *ssd, uint32_t plane);

/* The block is a victim: the other planes shall empty theirs of the superblock.
 */
void unit_call(Ssd *ssd, uint32_t block);

/* The block is about to be a victim, called for or not. */
void unit_taken(Ssd *ssd, uint32_t block);

/* The victim that the plane was called to take, or NONE. */
static inline bool unit_wants(const Ssd *ssd, uint32_t plane)
{
    return ssd->gc->plane[plane].next != NONE;
}
uint32_t unit_answer(Ssd *ssd, uint32_t plane);

/* Why that is: all blocks of a superblock that is whole are moved for wear. */
NandCause unit_cause(const Ssd *ssd, uint32_t block);

/* A victim is empty: true, it waits for others of its superblock; else erase
 * it, and those that have waited for it. */
bool unit_holds(Ssd *ssd, uint32_t block);
void unit_erase(Ssd *ssd, uint32_t block);

/* The plane is short of free blocks: erase its waiting blocks; none waits any
 * more. */
void unit_release(Ssd *ssd, uint32_t plane);

/* The same, but if superblock_is_whole() only of those that wait for nothing
 * any more: the others of their superblock need them. */
void unit_look_again(Ssd *ssd, uint32_t plane);

/* If superblock_is_whole(): the plane may have stopped; the same for the planes
 * that wait for it. */
void unit_stopped(Ssd *ssd, uint32_t plane);

/* The same: do all of them wait for planes that go on? */
bool unit_waits(const Ssd *ssd, uint32_t plane);

void unit_hold_none(Ssd *ssd, uint32_t plane);

/* ---- copies -------------------------------------------------------------- */

/* Do copies go to whichever plane of the die is behind, so that multi-plane
 * commands can program them? */
bool unit_goes_by_die(const Ssd *ssd);

/* Can the plane take a page of another one, of that class? */
bool unit_takes_foreign(const Ssd *ssd, uint32_t plane, uint32_t class);

/* The plane where the next page of copies from this one goes. */
uint32_t unit_destination(const Ssd *ssd, uint32_t plane, uint32_t class);

/* For ssd_check(). */
bool unit_check(const Ssd *ssd, GError **error);

#endif
