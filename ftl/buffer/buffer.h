/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buffer.h - slots, and the way from them to a programmed page. */
#ifndef VSSD_FTL_BUFFER_H
#define VSSD_FTL_BUFFER_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-policy.h"
#include "media/media.h"
#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* ---- buffer.c ---------------------------------------------------------- */

/* Empty, with the policy's lists. */
void buffer_create(Ssd *ssd);

/* A slot for the unit, to which the map leads from now on; there is room
 * (buffer_room()).  The caller gives it a state, then calls buffer_insert(). */
uint32_t slot_take(Ssd *ssd, uint32_t lpn, uint32_t stream);

/* The slot has come, and is in the state it starts with. */
void buffer_insert(Ssd *ssd, uint32_t slot);

/* The slot holds data that NAND does not, from now on. */
void slot_unsafe(Ssd *ssd, uint32_t slot);

void slot_make_dirty(Ssd *ssd, uint32_t slot);
void slot_leave_dirty(Ssd *ssd, uint32_t slot);

/* PROGRAMMING: the unit is in NAND, as the map entry says; it may stay. */
void slot_cleaned(Ssd *ssd, uint32_t slot, uint32_t entry);

/* PROGRAMMING: its data is in the array's registers. */
void slot_sent(Ssd *ssd, uint32_t slot);

/* A command waits for it: it is due. */
void slot_force(Ssd *ssd, uint32_t slot);

/* Drop a slot without programming it, whatever lists it is in. */
void slot_free(Ssd *ssd, uint32_t slot);

/* The policy hears of a hit. */
void buffer_read_hit(Ssd *ssd, uint32_t slot);
void buffer_write_hit(Ssd *ssd, uint32_t slot);

/* newer is a later version of older, which is PROGRAMMING. */
void buffer_replace(Ssd *ssd, uint32_t older, uint32_t newer);

/* Is there room for one more unit?  A clean slot may have to go. */
bool buffer_room(Ssd *ssd);

/* The command has taken room for one unit; has all the room it needs. */
void buffer_took(Ssd *ssd, uint32_t cmd);
void buffer_settle(Ssd *ssd, uint32_t cmd);

/* The command waits for room: choose victims for all that it needs.  true:
 * there is room for a unit at once. */
bool buffer_make_room(Ssd *ssd, uint32_t cmd);

/* A read from NAND for slots (the first of them) has ended. */
void buffer_loaded(Ssd *ssd, uint32_t slot, const NandOp *op);

/* Share of the slots that may be dirty, in millionths; see early.c. */
void buffer_set_threshold(Ssd *ssd, uint32_t ppm);

/* No command is running: flush early what there is to. */
void buffer_idle(Ssd *ssd);

/* The host has written once more. */
void buffer_count_write(Ssd *ssd);

void slot_wait(Ssd *ssd, uint32_t slot, uint32_t cmd, WaitFor what);
void slot_tell_waiters(Ssd *ssd, uint32_t waiter);

static inline bool buffer_keeps_reads(const Ssd *ssd)
{
    return ssd->buffer->policy->caches && !ssd->buffer->policy->writes_only;
}

static inline bool state_is_unsafe(unsigned state)
{
    return state > SLOT_CLEAN;
}

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

/* The stream whose page goes to NAND next, or NONE; is there one? */
uint32_t queue_ready(Ssd *ssd);
bool queue_waits(const Ssd *ssd);

/* Is there enough for another page of the row that the stream has begun? */
bool queue_goes_on(const Ssd *ssd, uint32_t stream);

/* Which DIRTY slot of the stream goes next; NONE: there is none. */
uint32_t queue_pick(const Ssd *ssd, uint32_t stream);

/* ---- write.c ----------------------------------------------------------- */

/* Put as much of the command into the buffer as has room.  true: all of it. */
bool write_insert(Ssd *ssd, uint32_t cmd);

/* Power is back: a unit that the buffer has kept is in it again, dirty. */
void write_restore(Ssd *ssd, const Slot *kept);
/* Give NAND every page that is due and that a plane accepts. */
void write_pump(Ssd *ssd);

void write_page_data_in(Ssd *ssd, uint32_t job);
void write_page_done(Ssd *ssd, uint32_t job);

/* A FILLING slot has been read, or what is wanted of it. */
void write_filled(Ssd *ssd, uint32_t slot, bool bad);

/* Choose a page of the plane for a job of the host, units for it if it has none
 * yet, and program it. */
void write_send(Ssd *ssd, uint32_t job, uint32_t plane);

/* A job of the host has its units (NONE: nothing in that place) and its page:
 * program it. */
void write_submit(Ssd *ssd, uint32_t job);

/* Gather a page of what is due and program it in the plane. */
void write_send_page(Ssd *ssd, uint32_t plane, uint32_t stream);

/* Barriers, and writes that wait for slots to be durable, end in vain. */
void write_fail_waiters(Ssd *ssd);

/* The slots made so far are of an epoch that the command waits for (NONE: none
 * does); the commands that wait will do so in vain. */
void write_begin_epoch(Ssd *ssd, uint32_t cmd);
void write_fail_barriers(Ssd *ssd);

/* Start a barrier; cmd completes when it is reached.  cmd may be NONE. */
void write_barrier(Ssd *ssd, uint32_t cmd);

/* The command, a FLUSH with close, begins; and what it waited for has ended. */
void write_start_close(Ssd *ssd, uint32_t cmd);
void write_end_close(Ssd *ssd, uint32_t cmd);

/* The stream ends.  Its units belong to none from now on, rather than to the
 * next stream of that number. */
void write_disown(Ssd *ssd, uint32_t stream);

void write_flush_tick(Ssd *ssd);

/* Is what the host wrote not yet in NAND, and never will be? */
static inline bool write_flush_fails(const Ssd *ssd)
{
    return ssd->media->given_up && ssd->buffer->n_unsafe > 0;
}

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

/* ---- reports to the keeper of the payload ------------------------------ */

/* Flush and FUA have nothing to wait for, or do not care. */
static inline bool no_drain(const Ssd *ssd)
{
    return ssd->cfg->plp || ssd->cfg->ignore_flush;
}

/* With buffer.plp a unit is safe from the moment that the buffer has it, and
 * that is all that its keeper is told of it. */
static inline void tell_buffered(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && ssd->cfg->plp) {
        ssd->client->programmed(ssd->client_opaque, s->lpn, s->version);
    }
}

static inline void tell_programmed(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && !ssd->cfg->plp) {
        ssd->client->programmed(ssd->client_opaque, s->lpn, s->version);
    }
}

static inline void tell_superseded(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && !ssd->cfg->plp) {
        ssd->client->superseded(ssd->client_opaque, s->lpn, s->version);
    }
}

#endif
