/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventq.c - implicit 4-ary heap of events.
 *
 * Knows order; knows nothing about the meaning of an event.
 */
#include "eventq.h"
#include "invariant.h"

#include <glib.h>
#include <stdlib.h>

#define ARITY 4

/* Without a branch: which of two events is earlier cannot be foretold.  As one
 * number of 128 bits, the instant above the sequence number. */
static inline bool before(const Event *a, const Event *b)
{
    unsigned __int128 key_a = (unsigned __int128)a->at_ps << 64 | a->seq;
    unsigned __int128 key_b = (unsigned __int128)b->at_ps << 64 | b->seq;

    return key_a < key_b;
}

void eventq_init(EventQueue *q)
{
    *q = (EventQueue){.capacity = 64, .next_ps = SIM_NEVER};
    q->heap = g_new(Event, q->capacity);
}

void eventq_destroy(EventQueue *q)
{
    g_free(q->heap);
    q->heap = NULL;
}

static void sift_up(EventQueue *q, size_t i, Event e)
{
    while (i > 0) {
        size_t parent = (i - 1) / ARITY;

        if (!before(&e, &q->heap[parent])) {
            break;
        }
        q->heap[i] = q->heap[parent];
        i = parent;
    }
    q->heap[i] = e;
}

/* Of the four children of an event, the earliest. */
static inline size_t earliest_of_four(const Event *h, size_t first)
{
    size_t left = first + before(&h[first + 1], &h[first]);
    size_t right = first + 2 + before(&h[first + 3], &h[first + 2]);

    return before(&h[right], &h[left]) ? right : left;
}

/* Of the children of i, which are there in part at least, the earliest. */
static inline size_t earliest_child(const EventQueue *q, size_t i)
{
    size_t first = i * ARITY + 1;
    size_t least = first;

    if (G_LIKELY(first + ARITY <= q->n)) {
        return earliest_of_four(q->heap, first);
    }
    for (size_t c = first + 1; c < q->n; c++) {
        least = before(&q->heap[c], &q->heap[least]) ? c : least;
    }
    return least;
}

static void sift_down(EventQueue *q, size_t i, Event e)
{
    while (i * ARITY + 1 < q->n) {
        size_t least = earliest_child(q, i);

        if (!before(&q->heap[least], &e)) {
            break;
        }
        q->heap[i] = q->heap[least];
        i = least;
    }
    q->heap[i] = e;
}

static int by_key(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

/* Number the events again, in their order.  All of the 2^32 numbers before
 * next_seq are older than it, and a sorted array is a heap. */
static void renumber(EventQueue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        q->heap[i].seq -= q->next_seq;
    }
    qsort(q->heap, q->n, sizeof(*q->heap), by_key);
    for (size_t i = 0; i < q->n; i++) {
        q->heap[i].seq = (uint32_t)i;
    }
    q->next_seq = (uint32_t)q->n;
}

/* The earliest event is that of the heap. */
static inline void look_at_heap(EventQueue *q)
{
    q->next_ps = q->n ? q->heap[0].at_ps : SIM_NEVER;
}

void eventq_changed(EventQueue *q)
{
    invariant(!q->has_first);
    look_at_heap(q);
    for (size_t i = 0; i < q->n; i++) {
        if (q->heap[i].seq >= q->next_seq) {
            renumber(q);
            return;
        }
    }
}

static void heap_push(EventQueue *q, Event e)
{
    if (G_UNLIKELY(q->n == q->capacity)) {
        q->capacity *= 2;
        q->heap = g_renew(Event, q->heap, q->capacity);
    }
    sift_up(q, q->n++, e);
}

void eventq_gather(EventQueue *q)
{
    if (q->has_first) {
        heap_push(q, q->first);
        q->has_first = false;
    }
}

void eventq_push(EventQueue *q, uint64_t at_ps, unsigned kind, uint32_t index)
{
    Event e;

    invariant(at_ps < SIM_NEVER);
    invariant(kind < 1U << EVENT_KIND_BITS && index <= EVENT_INDEX_MAX);
    if (G_UNLIKELY(q->next_seq == UINT32_MAX)) {
        eventq_gather(q);
        renumber(q);
    }
    e = (Event){
        .at_ps = at_ps,
        .seq = q->next_seq++,
        .what = index << EVENT_KIND_BITS | kind,
    };
    if (at_ps >= q->next_ps) {
        heap_push(q, e);
        return;
    }
    eventq_gather(q);
    q->first = e;
    q->has_first = true;
    q->next_ps = at_ps;
}

/*
 * The hole goes down to a leaf, and the last event up from there: it is seldom
 * among the next ones, so comparisons on the way down would be wasted (I.
 * Wegener, Bottom-up heapsort, Theoretical Computer Science 118, 1993).
 */
static Event heap_pop(EventQueue *q)
{
    Event *h = q->heap;
    Event top = h[0];
    size_t n = q->n - 1;
    size_t i = 0;
    size_t child = 1;

    invariant(q->n > 0);
    q->n = n;
    while (child + ARITY <= n) {
        size_t least = earliest_of_four(h, child);

        h[i] = h[least];
        i = least;
        child = i * ARITY + 1;
    }
    if (child < n) {
        size_t least = earliest_child(q, i);

        h[i] = h[least];
        i = least;
    }
    sift_up(q, i, h[n]);
    return top;
}

Event eventq_pop(EventQueue *q)
{
    Event e;

    if (q->has_first) {
        q->has_first = false;
        e = q->first;
    } else {
        e = heap_pop(q);
    }
    look_at_heap(q);
    return e;
}

void eventq_filter(EventQueue *q, bool (*keep)(void *opaque, const Event *e),
                   void *opaque)
{
    size_t kept = 0;

    eventq_gather(q);
    for (size_t i = 0; i < q->n; i++) {
        if (keep(opaque, &q->heap[i])) {
            q->heap[kept++] = q->heap[i];
        }
    }
    invariant(kept <= q->n && keep);
    q->n = kept;
    /* Sequence numbers kept their places, so re-heaping keeps the order. */
    for (size_t i = kept / ARITY + 1; i-- > 0;) {
        if (i < q->n) {
            sift_down(q, i, q->heap[i]);
        }
    }
    look_at_heap(q);
}
