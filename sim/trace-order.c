/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-order.c - put the records of a trace into the order of their times.
 *
 * A ring by time.  A line is late by few lines as a rule, so its place is
 * sought from the newest on.
 */
#include "trace-order.h"

typedef struct Held Held;
struct Held {
    TraceRecord rec;
    uint64_t line;
    Held *older, *newer;
};

struct TraceOrder {
    TraceOrderRead read;
    void *opaque;
    uint64_t n_lines; /* read so far */
    bool ended;
    Held ring;   /* no record: between the newest and the oldest */
    unsigned n;  /* in the ring */
    Held *spare; /* not in the ring; NULL: there is none */
    Held *held;  /* TRACE_ORDER_LINES of them */
};

TraceOrder *trace_order_new(TraceOrderRead read, void *opaque)
{
    TraceOrder *o = g_new0(TraceOrder, 1);

    o->read = read;
    o->opaque = opaque;
    o->ring.older = o->ring.newer = &o->ring;
    o->held = g_new0(Held, TRACE_ORDER_LINES);
    o->spare = o->held;
    return o;
}

void trace_order_free(TraceOrder *o)
{
    if (o) {
        g_free(o->held);
        g_free(o);
    }
}

/* The spare one goes behind those that are as old. */
static void put(TraceOrder *o)
{
    Held *h = o->spare;
    Held *at = o->ring.older;

    if (o->ring.newer->rec.at_ns > h->rec.at_ns) {
        at = &o->ring; /* older than all */
    }
    while (at != &o->ring && at->rec.at_ns > h->rec.at_ns) {
        at = at->older;
    }
    h->older = at;
    h->newer = at->newer;
    at->newer->older = h;
    at->newer = h;
    o->n++;
    o->spare = o->n < TRACE_ORDER_LINES ? &o->held[o->n] : NULL;
}

/* The oldest one becomes the spare one. */
static Held *take_held(TraceOrder *o)
{
    Held *h = o->ring.newer;

    o->ring.newer = h->newer;
    h->newer->older = &o->ring;
    o->n--;
    o->spare = h;
    return h;
}

InputRead trace_order_next(TraceOrder *o, TraceRecord *out, uint64_t *line,
                           const char **reason, GError **error)
{
    const Held *oldest;

    while (!o->ended && o->n < TRACE_ORDER_LINES) {
        Held *h = o->spare;
        InputRead r;

        h->rec = (TraceRecord){0};
        r = o->read(o->opaque, &h->rec, reason, error);
        if (r == INPUT_END) {
            o->ended = true;
            break;
        }
        if (r == INPUT_ERROR) {
            return r;
        }
        *line = h->line = ++o->n_lines;
        if (*reason) {
            *out = h->rec;
            return r;
        }
        put(o);
    }
    if (o->n == 0) {
        return INPUT_END;
    }
    oldest = take_held(o);
    *out = oldest->rec;
    *line = oldest->line;
    return INPUT_OK;
}
