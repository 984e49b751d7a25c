/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.h - units that GC has read, and the pages that they go to (copies.c).
 */
#ifndef VSSD_FTL_GC_COPIES_H
#define VSSD_FTL_GC_COPIES_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "gc/gc-unit.h"
#include "gc/purge.h"
#include "media/superblock.h"
#include "ssd-internal.h"

/* Do copies leave their plane? */
static inline bool copies_leave(const Ssd *ssd)
{
    return ssd->l.whole_rows || unit_goes_by_die(ssd);
}

/* ---- victims ------------------------------------------------------------- */

/* Erase the victim, if it is empty and waits for nothing; retire a bad one. */
void copies_try_erase(Ssd *ssd, uint32_t block);

/* With superblock_is_whole(), or in a purge: has the plane read its last
 * victim, for now?  Then its last units make a page with padding, since the
 * blocks where they are keep others from being erased.  A victim that gains a
 * page (gc_gains()) still does. */
bool copies_end_with_padding(const Ssd *ssd, uint32_t plane);

/* The same; false without either. */
static inline bool copies_are_last(const Ssd *ssd, uint32_t plane)
{
    return (superblock_is_whole(ssd) || purge_is_on(ssd)) &&
           copies_end_with_padding(ssd, plane);
}

/* A read or a copy of the victim's has ended. */
void copies_ended(Ssd *ssd, uint32_t block);

/* ---- staged units ------------------------------------------------------- */

/* Forget staged units that the host has overwritten or trimmed meanwhile. */
void copies_drop_stale(Ssd *ssd, uint32_t plane);

/* The class that has units for a page in memory; or, if the plane has read its
 * last victim, one whose units make a page with padding; or NONE. */
uint32_t copies_next_class(const Ssd *ssd, uint32_t plane);

/* ---- pages -------------------------------------------------------------- */

/* The next page for GC; NONE: none until something on its way ends. */
uint64_t copies_take_page(Ssd *ssd, uint32_t plane, uint32_t class);

/* The first units of the class that are staged in the plane make a page, ppa;
 * more: another plane of the same command follows. */
void copies_program(Ssd *ssd, uint32_t plane, uint64_t ppa, uint32_t class,
                    bool more);

/* A job for n units of the class; program its units to the page. */
uint32_t copies_new_job(Ssd *ssd, uint32_t plane, uint32_t n, uint32_t class);
void copies_send(Ssd *ssd, uint32_t job, uint64_t ppa, bool more);

/* The plane that a job's units come from. */
uint32_t copies_source(Ssd *ssd, uint32_t job);

/* A page of a plane's begins its way to another one, or (by -1) is there. */
void copies_count_foreign(Ssd *ssd, uint32_t from, uint32_t to, uint32_t by);

#endif
