/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream-queue.c - the DIRTY slots of each stream, and which stream goes to NAND
 * next.
 *
 * Each stream has its DIRTY slots in two lists: those that are due (something
 * waits for them: a barrier, FUA, a victim's place, early flush), which go
 * first, and the others, which fill the page up.  This file knows slots; which
 * plane takes a page is placement/'s.
 */
#include "buffer/buffer-policy.h"
#include "buffer/deal.h"
#include "buffer/flush.h"
#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "placement/placement-internal.h"
#include "ssd-internal.h"
#include "placement/placement.h"

static IlistLinks links(const Ssd *ssd)
{
    return ILIST_LINKS(ssd->buffer->slot, Slot, after, before);
}

void queue_forget_slots(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        stream_queue(ssd, i)->due = ILISTN_EMPTY;
        stream_queue(ssd, i)->fresh = ILISTN_EMPTY;
        stream_queue(ssd, i)->n_victims = 0;
        stream_queue(ssd, i)->n_unsafe = 0;
        stream_queue(ssd, i)->n_dealt = 0;
    }
    ssd->buffer->dirty_streams = 0;
}

static void note_dirty(Ssd *ssd, uint32_t stream)
{
    const StreamQueue *q = stream_queue(ssd, stream);
    uint64_t bit = 1ULL << stream;

    if (q->due.n + q->fresh.n > 0) {
        ssd->buffer->dirty_streams |= bit;
    } else {
        ssd->buffer->dirty_streams &= ~bit;
    }
}

void queue_note_slots(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        note_dirty(ssd, i);
    }
}

static SlotList *list_of(Ssd *ssd, const Slot *s)
{
    StreamQueue *q = stream_queue(ssd, s->stream);

    return slot_must(ssd, s) ? &q->due : &q->fresh;
}

/* Add (1) or subtract (-1) the slot's part of the sums. */
static void count_due(Ssd *ssd, const Slot *s, uint32_t by)
{
    if (slot_must(ssd, s)) {
        ssd->buffer->n_must += by;
        if (slot_only_victim(ssd, s)) {
            ssd->buffer->n_victims += by;
            stream_queue(ssd, s->stream)->n_victims += by;
        }
    }
}

void queue_insert(Ssd *ssd, uint32_t slot)
{
    const Slot *s = &ssd->buffer->slot[slot];

    ilistn_push_tail(links(ssd), list_of(ssd, s), slot);
    note_dirty(ssd, s->stream);
    count_due(ssd, s, 1);
}

void queue_remove(Ssd *ssd, uint32_t slot)
{
    const Slot *s = &ssd->buffer->slot[slot];

    ilistn_remove(links(ssd), list_of(ssd, s), slot);
    if (!slot_must(ssd, s)) {
        deal_left(stream_queue(ssd, s->stream));
    }
    note_dirty(ssd, s->stream);
    count_due(ssd, s, (uint32_t)-1);
}

void queue_change(Ssd *ssd, uint32_t slot, uint32_t stream)
{
    Slot *s = &ssd->buffer->slot[slot];

    invariant(slot < ssd->buffer->n_slot_records);
    invariant(stream < ssd->l.n_streams);
    if (s->stream == stream) {
        return;
    }
    if (state_is_unsafe(s->state)) {
        invariant(stream_queue(ssd, s->stream)->n_unsafe > 0);
        stream_queue(ssd, s->stream)->n_unsafe--;
        stream_queue(ssd, stream)->n_unsafe++;
    }
    if (s->state != SLOT_DIRTY) {
        s->stream = (uint8_t)stream;
        return;
    }
    queue_remove(ssd, slot);
    s->stream = (uint8_t)stream;
    queue_insert(ssd, slot);
}

void queue_make_due(Ssd *ssd, uint32_t slot, bool *flag)
{
    const Slot *s = &ssd->buffer->slot[slot];

    if (s->state != SLOT_DIRTY) {
        *flag = true;
    } else if (slot_must(ssd, s)) { /* it keeps its place */
        count_due(ssd, s, (uint32_t)-1);
        *flag = true;
        count_due(ssd, s, 1);
    } else {
        queue_remove(ssd, slot);
        *flag = true;
        queue_insert(ssd, slot);
    }
}

static void all_due(Ssd *ssd, StreamQueue *q)
{
    q->n_victims = 0;
    q->n_dealt = 0;
    ilistn_append_all(links(ssd), &q->due, &q->fresh);
    invariant(q->fresh.n == 0);
}

void queue_all_due(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        all_due(ssd, stream_queue(ssd, i));
    }
    ssd->buffer->n_must = ssd->buffer->n_dirty;
    ssd->buffer->n_victims = 0;
}

/*
 * Do so many pages of the stream go to NAND now?  Due units do; but victims
 * alone wait until they fill a page, with other dirty units if need be, unless
 * a command needs their room and nothing else will make it.
 */
static bool are_ready(const Ssd *ssd, const Stream *st, uint32_t pages)
{
    uint32_t units = st->queue.due.n + st->queue.fresh.n;

    if (!buffer_caches(ssd->buffer)) {
        return units >= pages * ssd->l.ready_units || st->queue.due.n > 0;
    }
    return st->queue.due.n > 0 &&
           (units >= ssd->l.ready_units || st->queue.due.n > st->queue.n_victims ||
            (ssd->buffer->n_evicting == ssd->buffer->n_victims &&
             ssd->buffer->n_promised > ssd->buffer->n_free_slots));
}

/* A write buffer waits until there is enough for the rest of the row. */
static bool is_ready(const Ssd *ssd, const Stream *st)
{
    uint32_t pages = st->left ? (uint32_t)__builtin_popcount(st->left)
                              : MAX(ssd->l.row_pages, 1);

    if (ssd->l.deal_waits && st->left == 0 && !deal_goes_on(ssd, &st->queue)) {
        pages = ssd->l.deal_rows * ssd->l.deal_units / ssd->l.units_per_program;
    }
    return are_ready(ssd, st, pages);
}

bool queue_goes_on(const Ssd *ssd, uint32_t stream)
{
    invariant(stream < ssd->l.n_streams);
    return are_ready(ssd, stream_at(ssd, stream), 1);
}

/* Units of this stream wait for a commit (commit.c). */
static uint64_t held_bit(const Ssd *ssd)
{
    return ssd->l.zrwa_units ? 1ULL << ssd->l.held_stream : 0;
}

/*
 * Round the streams that have something, so that each gets its turn.  A write
 * buffer that is full of units which make no page in any stream cannot wait for
 * more of them.
 */
static uint32_t next_ready(const Ssd *ssd)
{
    bool full =
        ssd->buffer->n_dirty == ssd->l.n_slots && !buffer_caches(ssd->buffer);
    uint64_t before = (1ULL << ssd->buffer->stream_cursor) - 1;
    uint64_t free = ssd->buffer->dirty_streams & ~held_bit(ssd);
    uint64_t left = free & ~before;
    uint64_t then = free & before;
    uint32_t most = NONE;

    for (; left || then; left &= left - 1) {
        uint32_t i;

        if (!left) {
            left = then;
            then = 0;
        }
        i = (uint32_t)__builtin_ctzll(left);
        if (is_ready(ssd, stream_at(ssd, i))) {
            return i;
        }
        if (full && (most == NONE || stream_at(ssd, i)->queue.fresh.n >
                                         stream_at(ssd, most)->queue.fresh.n)) {
            most = i;
        }
    }
    return most;
}

uint32_t queue_ready(Ssd *ssd)
{
    uint32_t stream;

    if (ssd->l.n_streams == 1 && ssd->l.row_planes == 0) {
        return is_ready(ssd, stream_at(ssd, 0)) ? 0 : NONE;
    }
    if (ssd->buffer->n_dirty < ssd->l.units_per_program &&
        ssd->buffer->n_must == 0 && ssd->buffer->n_dirty < ssd->l.n_slots) {
        return NONE;
    }
    stream = next_ready(ssd);
    if (stream != NONE) {
        ssd->buffer->stream_cursor = (stream + 1) % ssd->l.n_streams;
    }
    return stream;
}

bool queue_waits(const Ssd *ssd)
{
    return next_ready(ssd) != NONE;
}

uint32_t queue_pick(const Ssd *ssd, uint32_t stream)
{
    const Stream *st = stream_at(ssd, stream);

    invariant(stream < ssd->l.n_streams);
    return st->queue.due.n > 0 ? st->queue.due.head : st->queue.fresh.head;
}
