/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reasons.h - why a block of a plane is emptied next, and which (reasons.c). */
#ifndef VSSD_FTL_REASONS_H
#define VSSD_FTL_REASONS_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* May the plane have a block to empty? */
bool reasons_want(const Ssd *ssd, uint32_t plane);

/* The block to be emptied now, and why; NONE: there is none.  The cause of one
 * for which there is room alone, or the host is idle, is another one than GC.
 */
uint32_t reasons_victim(Ssd *ssd, uint32_t plane, NandCause *cause);

#endif
