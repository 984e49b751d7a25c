/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * purge.h - erasing every block that holds something (purge.c).
 */
#ifndef VSSD_FTL_GC_PURGE_H
#define VSSD_FTL_GC_PURGE_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "ssd-internal.h"

static inline bool purge_is_on(const Ssd *ssd)
{
    return ssd->gc->purge.mark != NULL;
}

/* Begin, or begin again; end early.  The drive is ready; purge_is_possible().
 */
void purge_begin(Ssd *ssd);
void purge_stop(Ssd *ssd);

/* Log-block maps empty their blocks by themselves. */
bool purge_is_possible(const Ssd *ssd);

/* Modelled time of an erase of every block, of an idle drive. */
uint64_t purge_estimate_ps(const Ssd *ssd);

/* A FULL block of the plane that is to be emptied now, or NONE. */
static inline bool purge_wants(const Ssd *ssd, uint32_t plane)
{
    return purge_is_on(ssd);
}
uint32_t purge_victim(Ssd *ssd, uint32_t plane);

/* Has the plane no block left whose units could join those staged? */
bool purge_is_last(const Ssd *ssd, uint32_t plane);

/* The erase of a block has ended; a block was retired without one. */
void purge_erased(Ssd *ssd, uint32_t block, bool ok);

#endif
