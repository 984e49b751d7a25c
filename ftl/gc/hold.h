/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hold.h - holding back the drive's own work (hold.c). */
#ifndef VSSD_FTL_HOLD_H
#define VSSD_FTL_HOLD_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* Is GC to make room beside commands of the host? */
static inline bool hold_prepares(const Ssd *ssd)
{
    return ssd->window == SSD_WINDOW_PREPARE;
}

void hold_set(Ssd *ssd, SsdWindow window);

/* Must the plane do nothing?  If it has to, the hold ends, of all planes. */
bool hold_keeps(Ssd *ssd, uint32_t plane);

#endif
