/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pace.h - host writes at the pace of GC (ftl.gc_pace=even); private to
 * ftl/gc.  pace_ps() is in gc.h. */
#ifndef VSSD_FTL_GC_PACE_H
#define VSSD_FTL_GC_PACE_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* GC of the plane begins or ends (GcLoad.active); no change, no effect. */
void pace_active(Ssd *ssd, uint32_t plane, bool active);

/* The rest does nothing without ftl.gc_pace=even. */

/* An operation of GC in the plane may have ended, or begun. */
void pace_look(Ssd *ssd, uint32_t plane);

/* GC has processed a page of its victim, or all of them. */
void pace_page(Ssd *ssd, uint32_t plane);
void pace_victim(Ssd *ssd, uint32_t plane);

/* No plane is at GC: at the start, and when the power has gone.  What was
 * learned stays. */
void pace_forget(Ssd *ssd);

/* Of a loaded state: are its times and counts possible? */
bool pace_ok(const Ssd *ssd);

#endif
