/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream-queue.h - the DIRTY slots of each stream, and which stream's page goes
 * to NAND next (stream-queue.c).
 */
#ifndef VSSD_FTL_BUFFER_STREAM_QUEUE_H
#define VSSD_FTL_BUFFER_STREAM_QUEUE_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "placement/placement-internal.h"
#include "ssd-internal.h"

/* The DIRTY slots of a stream: to be written here alone. */
static inline StreamQueue *stream_queue(Ssd *ssd, uint32_t stream)
{
    return (StreamQueue *)&ssd->placement->stream[stream].queue;
}

/* Nothing is in the buffer. */
void queue_forget_slots(Ssd *ssd);

/* A slot has become DIRTY; leaves.  Whether it is due must not change between
 * the two but by queue_make_due() and queue_all_due(). */
void queue_insert(Ssd *ssd, uint32_t slot);
void queue_remove(Ssd *ssd, uint32_t slot);

/* A slot, DIRTY or not, belongs to another stream now. */
void queue_change(Ssd *ssd, uint32_t slot, uint32_t stream);

/* Set one of the slot's flags that make it due, be it DIRTY or not yet. */
void queue_make_due(Ssd *ssd, uint32_t slot, bool *flag);

/* Every DIRTY slot is of an earlier epoch now, and due. */
void queue_all_due(Ssd *ssd);

/* The lists of the streams were loaded. */
void queue_note_slots(Ssd *ssd);

/* The stream whose page goes to NAND next, or NONE. */
uint32_t queue_ready(Ssd *ssd);

/* Is there enough for another page of the row that the stream has begun? */
bool queue_goes_on(const Ssd *ssd, uint32_t stream);

/* Which DIRTY slot of the stream goes next; NONE: there is none. */
uint32_t queue_pick(const Ssd *ssd, uint32_t stream);

#endif
