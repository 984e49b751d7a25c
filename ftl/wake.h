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

#include "ssd-types.h"

typedef enum SsdWork {
    WORK_GC,         /* of a plane: start garbage collection, or go on with it */
    WORK_GC_FORCE,   /* of a plane: collect a block, however many are free */
    WORK_GC_RELEASE, /* of a block: an empty victim may be erased now */
    WORK_BUFFER,     /* program what is due (index: 0) */
    WORK_HOST,       /* slots have become free (index: 0) */
} SsdWork;

/* Today the work is done within the call. */
void ssd_wake(Ssd *ssd, SsdWork work, uint32_t index);

#endif
