/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake.h - work that a component asks of one above it.
 *
 * Calls run down the list of components (ssd-internal.h).  What runs up is a
 * completion, by a table that the upper one gave (CmdOps, MetaClient, Placer), or
 * a wake-up: something has changed, and the upper component looks what it can do
 * now.
 */
#ifndef VSSD_FTL_WAKE_H
#define VSSD_FTL_WAKE_H

#include "ssd-internal.h"

/* Today the work is done within the call (ssd.c). */
static inline void ssd_wake(Ssd *ssd, SsdWork work, uint32_t index)
{
    ssd->wake(ssd, work, index);
}

#endif
