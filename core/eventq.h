/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventq.h - the event queue: a heap of plain data.
 *
 * An event is an instant, a kind and an index; the owner defines their meaning
 * (one switch in ftl/ssd.c dispatches all of them).  Events leave in order of
 * instant, and events of one instant leave in the order in which they were put
 * in, so a run is a function of its inputs alone.
 *
 * Algorithm: implicit 4-ary heap (D. B. Johnson, "Priority queues with update
 * and finding minimum spanning trees", IPL 4(3), 1975); four 16-byte children
 * share a cache line.  The earliest event can be kept apart: an event that is
 * put in as the earliest one, as many are, never enters the heap.  Nor do most
 * of those that come in order of instant, as the ends of operations that take
 * equally long: they wait in a line, from which the first one leaves.
 */
#ifndef VSSD_CORE_EVENTQ_H
#define VSSD_CORE_EVENTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simtime.h"

typedef struct Event {
    uint64_t at_ps;
    uint32_t seq;  /* order of insertion: the later event has the larger one */
    uint32_t what; /* kind in the low EVENT_KIND_BITS, index above */
} Event;

#define EVENT_KIND_BITS 5
#define EVENT_INDEX_MAX ((1U << (32 - EVENT_KIND_BITS)) - 1)

typedef struct EventQueue {
    Event *heap;
    size_t n; /* in the heap */
    size_t capacity;
    Event *line; /* ring of line_size places, a power of two */
    uint32_t line_head, line_n, line_size; /* in order, from the head on */
    uint32_t
        passed; /* events that went past the line, less those that did not */
    uint32_t next_seq;
    bool has_first;
    Event first; /* with has_first: the earliest, which is not in the heap */
    uint64_t next_ps; /* of the earliest of all, or SIM_NEVER */
} EventQueue;

void eventq_init(EventQueue *q);
void eventq_destroy(EventQueue *q);

/* kind < 1 << EVENT_KIND_BITS; index <= EVENT_INDEX_MAX. */
void eventq_push(EventQueue *q, uint64_t at_ps, unsigned kind, uint32_t index);

/* Take the earliest event; the queue must not be empty. */
Event eventq_pop(EventQueue *q);

/* Drop every event whose filter(opaque, event) is false; order is kept. */
void eventq_filter(EventQueue *q, bool (*keep)(void *opaque, const Event *e),
                   void *opaque);

/* How many there are, and any of them, in no order. */
static inline size_t eventq_count(const EventQueue *q)
{
    return q->n + q->line_n + q->has_first;
}

static inline Event *eventq_in_line(const EventQueue *q, uint32_t i)
{
    return &q->line[(q->line_head + i) & (q->line_size - 1)];
}

static inline const Event *eventq_get(const EventQueue *q, size_t i)
{
    if (i < q->n) {
        return &q->heap[i];
    }
    return i - q->n < q->line_n ? eventq_in_line(q, (uint32_t)(i - q->n))
                                : &q->first;
}

/* All events are in the heap from now on, in their order, until one is put in:
 * for those who change or save it. */
void eventq_gather(EventQueue *q);

/* After eventq_gather(): the heap was changed from outside, and its order was
 * kept; or it was filled from a saved one, whose sequence numbers may be of a
 * version in which they wrapped. */
void eventq_changed(EventQueue *q);

/* The instant of the earliest event, or SIM_NEVER. */
static inline uint64_t eventq_next_ps(const EventQueue *q)
{
    return q->next_ps;
}

static inline unsigned event_kind(const Event *e)
{
    return e->what & ((1U << EVENT_KIND_BITS) - 1);
}

static inline uint32_t event_index(const Event *e)
{
    return e->what >> EVENT_KIND_BITS;
}

#endif
