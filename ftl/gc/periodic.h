/* SPDX-License-Identifier: GPL-2.0-or-later */
/* periodic.h - GC that starts at regular times; private to ftl/gc. */
#ifndef VSSD_FTL_GC_PERIODIC_H
#define VSSD_FTL_GC_PERIODIC_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* All of these do nothing without ftl.gc_period. */

/* A free block of the plane has been taken. */
void periodic_taken(Ssd *ssd, uint32_t plane);

/* BACKGROUND_PERIOD has come. */
void periodic_event(Ssd *ssd);

/* Is that event under way?  After the events have been loaded. */
void periodic_forget(Ssd *ssd);

/* The power has gone, and the event with it. */
void periodic_power_lost(Ssd *ssd);

#endif
