/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zeroes.c - ranges that read as zeroes while the store may still hold data.
 *
 * A TRIM or a Write Zeroes that the drive has done leaves a range here until
 * the store has zeroed it.  The ranges are disjoint and in the order of their
 * units, so every look-up takes O(log n).
 *
 *   lazy     of a TRIM: the store frees the space when it comes to it.  Nothing
 *            waits for that: the data of a read follows from the drive's map,
 * and a write to a unit takes the unit out of the range. durable  of a Write
 * Zeroes: zeroes that a Flush makes durable, as it does data.  Such a range
 * stands in Payload.due, and a write waits for it. failed   the store refused
 * it.  It still reads as zeroes, and is tried again like a failed entry.
 *
 * Knows ranges; which requests are made of them is destage.c's business.
 */
#include "payload-internal.h"

/* The two are never equal, so it does not matter where equal ones would go. */
static gint compare(gconstpointer a, gconstpointer b, gpointer key)
{
    const ZeroRange *x = a;
    const ZeroRange *y = b;

    if (x->lpn != y->lpn) {
        return x->lpn < y->lpn ? -1 : 1;
    }
    return a == key ? 1 : b == key ? -1 : 0;
}

static ZeroRange *range_at(GSequenceIter *at)
{
    return g_sequence_iter_is_end(at) ? NULL : g_sequence_get(at);
}

static uint64_t end_of(const ZeroRange *z)
{
    return z->lpn + z->nunits;
}

static ZeroRange *next_of(const ZeroRange *z)
{
    return range_at(g_sequence_iter_next(z->at));
}

static ZeroRange *previous_of(const ZeroRange *z)
{
    return g_sequence_iter_is_begin(z->at)
               ? NULL
               : range_at(g_sequence_iter_prev(z->at));
}

/* The first range that ends behind lpn, or NULL. */
static ZeroRange *first_behind(const Payload *p, uint64_t lpn)
{
    ZeroRange key = {.lpn = lpn};
    GSequenceIter *at = g_sequence_search(p->zeroes, &key, compare, &key);

    if (!g_sequence_iter_is_begin(at)) {
        ZeroRange *before = range_at(g_sequence_iter_prev(at));

        if (end_of(before) > lpn) {
            return before;
        }
    }
    return range_at(at);
}

static ZeroRange *range_insert(Payload *p, uint64_t lpn, uint64_t nunits)
{
    ZeroRange *z = g_new0(ZeroRange, 1);

    z->lpn = lpn;
    z->nunits = nunits;
    z->turn.data = z;
    z->due.link.data = &z->due;
    z->at = g_sequence_insert_sorted(p->zeroes, z, compare, z);
    p->nzeroes++;
    return z;
}

static void set_due(Payload *p, ZeroRange *z)
{
    z->is_due = true;
    g_queue_push_tail_link(&p->due_zeroes, &z->turn);
    payload_due_push(p, &z->due);
}

static void leave_due(Payload *p, ZeroRange *z)
{
    if (z->is_due) {
        z->is_due = false;
        g_queue_unlink(&p->due_zeroes, &z->turn);
        g_queue_unlink(&p->due, &z->due.link);
    }
}

static void leave_failed(Payload *p, ZeroRange *z)
{
    if (z->failed) {
        z->failed = false;
        p->nlost -= z->durable;
        g_queue_unlink(&p->failed_zeroes, &z->turn);
    }
}

static void set_failed(Payload *p, ZeroRange *z)
{
    z->failed = true;
    p->nlost += z->durable;
    g_queue_push_tail_link(&p->failed_zeroes, &z->turn);
}

static void range_remove(Payload *p, ZeroRange *z)
{
    leave_due(p, z);
    leave_failed(p, z);
    g_sequence_remove(z->at);
    p->nzeroes--;
    g_free(z);
}

void payload_zeroes_free(Payload *p)
{
    while (p->nzeroes) {
        range_remove(p, range_at(g_sequence_get_begin_iter(p->zeroes)));
    }
    g_sequence_free(p->zeroes);
}

/* A part of z at its beginning becomes a range of its own, with its fate. */
static ZeroRange *split(Payload *p, ZeroRange *z, uint64_t nunits)
{
    uint64_t lpn = z->lpn;
    ZeroRange *first;

    z->lpn += nunits;
    z->nunits -= nunits;
    first = range_insert(p, lpn, nunits);
    first->durable = z->durable;
    if (z->is_due) {
        first->is_due = true;
        first->due.seq = z->due.seq;
        g_queue_insert_before_link(&p->due_zeroes, &z->turn, &first->turn);
        g_queue_insert_before_link(&p->due, &z->due.link, &first->due.link);
    }
    if (z->failed) {
        set_failed(p, first);
    }
    return first;
}

static bool is_lazy(const ZeroRange *z)
{
    return !z->durable && !z->started;
}

/* Take [lpn, end) out of a lazy range that overlaps it. */
static void cut_out(Payload *p, ZeroRange *z, uint64_t lpn, uint64_t end)
{
    if (z->lpn < lpn) {
        split(p, z, lpn - z->lpn);
    }
    if (end_of(z) > end) {
        z = split(p, z, end - z->lpn);
    }
    range_remove(p, z);
}

/* Lazy ranges that touch become one. */
static void join(Payload *p, ZeroRange *z)
{
    ZeroRange *o;

    while ((o = previous_of(z)) && is_lazy(o) && end_of(o) == z->lpn) {
        uint64_t nunits = o->nunits;

        range_remove(p, o); /* first: no two begin at one place */
        z->lpn -= nunits;
        z->nunits += nunits;
    }
    while ((o = next_of(z)) && is_lazy(o) && end_of(z) == o->lpn) {
        z->nunits += o->nunits;
        range_remove(p, o);
    }
}

static void insert_gap(Payload *p, uint64_t lpn, uint64_t nunits, bool durable)
{
    ZeroRange *z;

    if (!durable && p->failed_zeroes.head && payload_too_many_ranges(p)) {
        return; /* the store keeps data that nobody reads */
    }
    z = range_insert(p, lpn, nunits);
    z->durable = durable;
    if (durable) {
        set_due(p, z);
    } else {
        join(p, z);
    }
}

/*
 * A durable range takes the place of lazy ranges; one that is at the store
 * becomes durable there.  A lazy range fills the gaps of existing ranges.
 */
void payload_zeroes_add(Payload *p, uint64_t lpn, uint64_t nunits, bool durable)
{
    uint64_t end = lpn + nunits;
    ZeroRange *z;

    while (lpn < end && (z = first_behind(p, lpn)) && z->lpn < end) {
        uint64_t until;

        if (durable && is_lazy(z)) {
            cut_out(p, z, lpn, end);
            continue;
        }
        if (durable && !z->is_due) {
            leave_failed(p, z);
            z->durable = true;
            set_due(p, z);
        }
        until = end_of(z);
        if (z->lpn > lpn) {
            insert_gap(p, lpn, z->lpn - lpn, durable);
        }
        lpn = until;
    }
    if (lpn < end) {
        insert_gap(p, lpn, end - lpn, durable);
    }
}

void payload_zeroes_load(Payload *p, uint64_t lpn, uint64_t nunits,
                         bool durable)
{
    ZeroRange *z = range_insert(p, lpn, nunits);

    z->durable = durable;
    if (durable) {
        set_failed(p, z);
    }
}

bool payload_zeroes_cover(const Payload *p, uint64_t first, uint64_t last)
{
    const ZeroRange *z = p->nzeroes ? first_behind(p, first) : NULL;

    return z && z->lpn <= last;
}

bool payload_zeroes_give_way(Payload *p, uint64_t lpn, bool take_out)
{
    ZeroRange *z = p->nzeroes ? first_behind(p, lpn) : NULL;

    if (!z || z->lpn > lpn) {
        return true;
    }
    if (z->started || (take_out && z->is_due)) {
        return false;
    }
    if (take_out) {
        cut_out(p, z, lpn, lpn + 1);
    }
    return true;
}

void payload_forget_zeroes(Payload *p, uint64_t lba, uint64_t nblocks)
{
    uint64_t first = lba / p->unit_blocks;
    uint64_t end = first + nblocks / p->unit_blocks;
    ZeroRange *z;

    while ((z = first_behind(p, first)) && z->lpn < end) {
        g_assert(!z->started);
        cut_out(p, z, first, end);
    }
}

/* ---- their turn ---------------------------------------------------------- */

ZeroRange *payload_zeroes_begin(Payload *p, ZeroRange *z, uint64_t most)
{
    if (z->nunits > most) {
        z = split(p, z, most);
    }
    leave_failed(p, z);
    z->started = true;
    return z;
}

ZeroRange *payload_zeroes_next_lazy(const Payload *p, uint64_t lpn)
{
    ZeroRange *z = p->nzeroes ? first_behind(p, lpn) : NULL;

    while (z && (!is_lazy(z) || z->failed)) {
        z = next_of(z);
    }
    return z;
}

void payload_zeroes_ended(Payload *p, ZeroRange *z, uint64_t done, int ret)
{
    z->started = false;
    if (ret) {
        leave_due(p, z);
        set_failed(p, z);
    } else if (done >= z->nunits) {
        range_remove(p, z);
    } else {
        z->lpn += done;
        z->nunits -= done;
        if (!z->durable) {
            join(p, z);
        }
    }
}

void payload_zeroes_retry(Payload *p)
{
    GList *l;

    while ((l = p->failed_zeroes.head)) {
        ZeroRange *z = l->data;

        leave_failed(p, z);
        if (z->durable) {
            set_due(p, z);
        }
    }
}
