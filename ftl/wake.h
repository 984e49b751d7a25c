/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake.h - work that one component asks of another.
 *
 * Calls run down the list of components (layers.h).  Calls up are completions,
 * by a table that the upper one gave (CmdOps, MediaClient, Placer), or
 * a wake-up: something has changed, and the component checks for work.  A
 * wake-up is a mark: ssd_settle() does the work after the event.
 */
#ifndef VSSD_FTL_WAKE_H
#define VSSD_FTL_WAKE_H

#include "ssd-internal.h"

/* index: the plane or block; 0 where the work is of the drive. */
static inline void ssd_wake(Ssd *ssd, SsdWork work, uint32_t index)
{
    if (work >= WORK_HOST) {
        ssd->work.any |= 1U << work;
    } else {
        work_mark(&ssd->work, work, index);
    }
}

#endif
