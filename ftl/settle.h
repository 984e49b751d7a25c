/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle.h - the work that is marked, and the pass that does it. */
#ifndef VSSD_FTL_SETTLE_H
#define VSSD_FTL_SETTLE_H

#include "ssd-types.h"

/* Planes or blocks, in the order in which they were marked; each once. */
typedef struct WorkQueue {
    uint32_t *next; /* by index: 0: not marked; the next one that is, + 1; or
                       LAST_MARK.  Zeroes cost no memory until they are used */
    uint32_t head, tail; /* NONE: nothing is marked */
    uint32_t n;          /* indices */
} WorkQueue;

#define LAST_MARK UINT32_MAX

typedef struct Work {
    uint32_t any; /* as bits by SsdWork: there is work of that kind */
    WorkQueue queue[WORK_HOST]; /* by SsdWork */
} Work;

/* For so many planes and blocks. */
void work_init(Work *w, uint32_t n_planes, uint32_t n_blocks);
void work_destroy(Work *w);

/* Of a plane or block; the next one that is marked, or NONE. */
void work_mark(Work *w, SsdWork work, uint32_t index);
uint32_t work_take(Work *w, SsdWork work);

/* Forget all of it: the power has gone. */
void work_forget(Work *w);

/*
 * Do the marked work, and work that is marked meanwhile, until none is left.
 * The first mark in the order of SsdWork comes first: room for the
 * drive's own pages, GC, the host's queue, the buffer.  This order defines "at
 * the same instant" in the model.
 */
void ssd_settle(Ssd *ssd);

#endif
