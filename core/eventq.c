/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventq.c - implicit 4-ary heap of events, and a line beside it.
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
    *q = (EventQueue){.capacity = 64, .line_size = 64, .next_ps = SIM_NEVER};
    q->heap = g_new(Event, q->capacity);
    q->line = g_new(Event, q->line_size);
}

void eventq_destroy(EventQueue *q)
{
    g_free(q->heap);
    g_free(q->line);
    q->heap = NULL;
    q->line = NULL;
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

static void sort(EventQueue *q)
{
    qsort(q->heap, q->n, sizeof(*q->heap), by_key);
}

/* Number the events again, in their order.  All of the 2^32 numbers before
 * next_seq are older than it, and a sorted array is a heap. */
static void renumber(EventQueue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        q->heap[i].seq -= q->next_seq;
    }
    sort(q);
    for (size_t i = 0; i < q->n; i++) {
        q->heap[i].seq = (uint32_t)i;
    }
    q->next_seq = (uint32_t)q->n;
}

/* The earliest event is that of the heap or of the line. */
static inline void look_at_rest(EventQueue *q)
{
    uint64_t heap_ps = q->n ? q->heap[0].at_ps : SIM_NEVER;
    uint64_t line_ps = q->line_n ? eventq_in_line(q, 0)->at_ps : SIM_NEVER;

    q->next_ps = MIN(heap_ps, line_ps);
}

void eventq_changed(EventQueue *q)
{
    invariant(!q->has_first && q->line_n == 0);
    look_at_rest(q);
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

static void line_push(EventQueue *q, Event e)
{
    if (G_UNLIKELY(q->line_n == q->line_size)) {
        Event *longer = g_new(Event, q->line_size * 2);

        for (uint32_t i = 0; i < q->line_n; i++) {
            longer[i] = *eventq_in_line(q, i);
        }
        g_free(q->line);
        q->line = longer;
        q->line_head = 0;
        q->line_size *= 2;
    }
    *eventq_in_line(q, q->line_n++) = e;
}

/* Does the event, put in last, come after the one in the line? */
static inline bool follows(const EventQueue *q, uint32_t i, const Event *e)
{
    return e->at_ps >= eventq_in_line(q, i)->at_ps;
}

/* Those that come after it leave the line for the heap. */
static void clear_way(EventQueue *q, const Event *e)
{
    while (q->line_n > 0 && !follows(q, q->line_n - 1, e)) {
        heap_push(q, *eventq_in_line(q, --q->line_n));
    }
}

/*
 * At the end of the line, or in the heap.  A last one that is alone in the way,
 * as a timer is, leaves the line: it would keep all others out of it.  So do
 * several, when they have kept out four times as many: the line is for those
 * that come most often.
 */
static void put_behind(EventQueue *q, Event e)
{
    uint32_t most = q->passed / 4 + 1; /* that may leave the line for it */

    if (q->line_n > 0 && !follows(q, q->line_n - 1, &e)) {
        if (q->line_n > most && !follows(q, q->line_n - 1 - most, &e)) {
            q->passed++;
            heap_push(q, e);
            return;
        }
        clear_way(q, &e);
    }
    q->passed -= q->passed > 0;
    line_push(q, e);
}

/* The first one goes to the others. */
static void put_first(EventQueue *q)
{
    if (q->has_first) {
        heap_push(q, q->first);
        q->has_first = false;
    }
}

void eventq_gather(EventQueue *q)
{
    put_first(q);
    for (uint32_t i = 0; i < q->line_n; i++) {
        heap_push(q, *eventq_in_line(q, i));
    }
    q->line_n = 0;
    sort(q); /* which is a heap, and the same whatever was in the line */
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
        put_behind(q, e);
        return;
    }
    put_first(q);
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

static inline Event line_pop(EventQueue *q)
{
    Event e = *eventq_in_line(q, 0);

    q->line_head++;
    q->line_n--;
    return e;
}

Event eventq_pop(EventQueue *q)
{
    Event e;

    if (q->has_first) {
        q->has_first = false;
        e = q->first;
    } else if (q->line_n > 0 &&
               (q->n == 0 || before(eventq_in_line(q, 0), &q->heap[0]))) {
        e = line_pop(q);
    } else {
        e = heap_pop(q);
    }
    look_at_rest(q);
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
    look_at_rest(q);
}
