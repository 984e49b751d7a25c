/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deal.h - the order in which a stream's units go to NAND, so that consecutive
 * ones are on different dies (deal.c).
 */
#ifndef VSSD_FTL_BUFFER_DEAL_H
#define VSSD_FTL_BUFFER_DEAL_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* Are the units for another row in the order of rows already? */
static inline bool deal_goes_on(const Ssd *ssd, const StreamQueue *q)
{
    return q->n_dealt >= ssd->l.deal_units;
}

/* A fresh unit has left the queue. */
static inline void deal_left(StreamQueue *q)
{
    q->n_dealt -= q->n_dealt > 0;
}

/* A row of the stream begins at this page: deal out the oldest fresh units, if
 * that is not done yet.  Pages in SLC mode go out one at a time as they are. */
void deal_out(Ssd *ssd, uint32_t stream, uint64_t page);

#endif
