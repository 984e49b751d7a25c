/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots.h - how a slot comes into the buffer, changes and leaves (buffer.c).
 *
 * For the write path, the read path and the policies of buffer/.
 */
#ifndef VSSD_FTL_BUFFER_SLOTS_H
#define VSSD_FTL_BUFFER_SLOTS_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ilist.h"
#include "ssd-internal.h"

/* A slot for the unit, to which the map leads from now on; there is room
 * (buffer_room()).  The caller gives it a state, then calls buffer_insert(). */
uint32_t slot_take(Ssd *ssd, uint64_t lpn, uint32_t stream);

/* The slot has come, and is in the state it starts with. */
void buffer_insert(Ssd *ssd, uint32_t slot);

/* Drop a slot without programming it, whatever lists it is in. */
void slot_free(Ssd *ssd, uint32_t slot);

/* The command has taken room for one unit. */
void buffer_took(Ssd *ssd, uint32_t cmd);

/* The slot holds data that NAND does not, from now on. */
void slot_unsafe(Ssd *ssd, uint32_t slot);

void slot_make_dirty(Ssd *ssd, uint32_t slot);

/* PROGRAMMING: its data is in the array's registers. */
void slot_sent(Ssd *ssd, uint32_t slot);

/* PROGRAMMING: the unit is in NAND, as the map entry says; it may stay. */
void slot_cleaned(Ssd *ssd, uint32_t slot, uint64_t entry);

/* A command waits for it: it is due. */
void slot_force(Ssd *ssd, uint32_t slot);

/* The policy hears of a hit by a write. */
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

/* Notify a list of waiters, and free their records. */
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

#endif
