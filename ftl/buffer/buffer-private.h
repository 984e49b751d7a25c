/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffer-private.h - what the files of buffer/ ask of each other. */
#ifndef VSSD_FTL_BUFFER_PRIVATE_H
#define VSSD_FTL_BUFFER_PRIVATE_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer.h"
#include "buffer/slot-state.h"
#include "media/jobs.h"
#include "placement/placement-internal.h"

/* The DIRTY slots of a stream: to be written here alone. */
static inline StreamQueue *stream_queue(Ssd *ssd, uint32_t stream)
{
    return (StreamQueue *)&ssd->placement->stream[stream].queue;
}

/* ---- buffer.c ---------------------------------------------------------- */

/* The slot holds data that NAND does not, from now on. */
void slot_unsafe(Ssd *ssd, uint32_t slot);

void slot_make_dirty(Ssd *ssd, uint32_t slot);

/* PROGRAMMING: the unit is in NAND, as the map entry says; it may stay. */
void slot_cleaned(Ssd *ssd, uint32_t slot, uint32_t entry);

/* PROGRAMMING: its data is in the array's registers. */
void slot_sent(Ssd *ssd, uint32_t slot);

/* A command waits for it: it is due. */
void slot_force(Ssd *ssd, uint32_t slot);

void buffer_write_hit(Ssd *ssd, uint32_t slot);

/* newer is a later version of older, which is PROGRAMMING. */
void buffer_replace(Ssd *ssd, uint32_t older, uint32_t newer);

/* Share of the slots that may be dirty, in millionths; see early.c. */
void buffer_set_threshold(Ssd *ssd, uint32_t ppm);

/* Waiters of a slot; free ones. */
static inline IlistLinks waiter_chain(const Ssd *ssd)
{
    return ILIST_CHAIN(ssd->buffer->waiter, Waiter, next);
}

/* Tell a list of waiters, and free their records. */
void slot_tell_waiters(Ssd *ssd, uint32_t waiter);

/* For a policy: nothing more need be done to give it up. */
static inline bool slot_is_clean(const Slot *s)
{
    return s->state == SLOT_CLEAN || s->state == SLOT_LOADING ||
           s->state == SLOT_PROGRAMMING;
}

static inline bool slot_must(const Ssd *ssd, const Slot *s)
{
    return s->force || s->evict || s->epoch != ssd->buffer->cur_epoch;
}

/* Due as a victim and for no other reason: it may wait for others. */
static inline bool slot_only_victim(const Ssd *ssd, const Slot *s)
{
    return s->evict && !s->force && s->epoch == ssd->buffer->cur_epoch;
}

/* ---- stream-queue.c ---------------------------------------------------- */

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

/* ---- write.c ----------------------------------------------------------- */

/* A FILLING slot has been read, or what is wanted of it. */
void write_filled(Ssd *ssd, uint32_t slot, bool bad);

/* Choose a page of the plane for a job of the host, units for it if it has none
 * yet, and program it. */
void write_send(Ssd *ssd, uint32_t job, uint32_t plane);

/* Gather a page of what is due and program it in the plane. */
void write_send_page(Ssd *ssd, uint32_t plane, uint32_t stream);

/* The slots made so far are of an epoch that the command waits for (NONE: none
 * does); the commands that wait will do so in vain. */
void write_begin_epoch(Ssd *ssd, uint32_t cmd);
void write_fail_barriers(Ssd *ssd);

/* The slot begins, and ceases, to count for the current barrier. */
void write_join_epoch(Ssd *ssd, Slot *s);
void write_leave_epoch(Ssd *ssd, Slot *s);

/* Complete the barriers that have been reached. */
void write_epochs_advance(Ssd *ssd);

/* The slot of unit k of a page of the host; NULL: the page is empty there. */
static inline Slot *job_slot(Ssd *ssd, uint32_t job, uint32_t k)
{
    uint32_t i = job_units(ssd, job)[k];

    return i == NONE ? NULL : &ssd->buffer->slot[i];
}

#endif
