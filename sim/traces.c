/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traces.c - merge, lay out, re-time.
 *
 * A stream is one reading of one trace.  Re-timed writes may end up far from
 * the reads that they stood beside, so then a trace is read by two streams, one
 * for the writes and one for the rest.
 */
#include "traces.h"

#include "prng.h"
#include "remap.h"
#include "simtime.h"

#define DRAW_BATCHES 0xd0000

#define SPACE_SHIFT 12 /* TRACE_MAX_DEVICES */

G_STATIC_ASSERT(1 << SPACE_SHIFT == TRACE_MAX_DEVICES);

/* Requests of one stream. */
typedef enum Part {
    PART_ALL,
    PART_WRITES,
    PART_OTHERS,
} Part;

typedef struct Stream {
    Trace *trace;
    RequestSource source;
    unsigned number; /* of the trace */
    Part part;
    Request next;
    bool taken; /* next has been passed on: read another */
    bool ended;

    /* PART_WRITES: the batch that is under way. */
    Prng batches;
    uint64_t begin_ns;     /* of the first batch */
    uint64_t n_before;     /* writes in the batches before */
    uint32_t batch;        /* writes of this one */
    uint32_t left;         /* of those, still to come */
    uint64_t n_intervals;  /* the mean interval is span_ns / n_intervals */
    uint64_t span_ns;
} Stream;

struct Traces {
    TracesConfig cfg;
    unsigned n_traces;
    Stream *stream;
    unsigned n_streams;
    unsigned last; /* stream of the last request */
    Remap *remap;
};

/* Results of a first reading about the writes of a trace. */
typedef struct Writes {
    uint64_t n;
    uint64_t first_ns, last_ns;
} Writes;

static const struct {
    const char *name;
    const char *help;
} remaps[] = {
#define TRACES_REMAP_ROW(upper, name, help) {name, help},
    TRACES_REMAPS(TRACES_REMAP_ROW)
#undef TRACES_REMAP_ROW
};

const char *traces_remap_name(unsigned i)
{
    return i < TRACES_N_REMAPS ? remaps[i].name : NULL;
}

const char *traces_remap_help(unsigned i)
{
    return remaps[i].help;
}

/* ---- the first reading --------------------------------------------------- */

static uint32_t space_of(unsigned trace, const Request *req)
{
    return trace << SPACE_SHIFT | req->space;
}

static bool read_once(Traces *t, unsigned number, Writes *w, GError **error)
{
    Trace *trace = trace_open(t->cfg.paths[number], &t->cfg.options, error);
    RequestNext r;
    RequestSource s;
    Request req;

    if (!trace) {
        return false;
    }
    s = trace_source(trace);
    while ((r = s.next(s.opaque, &req, error)) == REQUEST_OK) {
        if (t->remap) {
            remap_note(t->remap, space_of(number, &req), req.offset,
                       req.nbytes);
        }
        if (req.op == SSD_OP_WRITE) {
            w->first_ns = w->n++ ? w->first_ns : req.at_ns;
            w->last_ns = req.at_ns;
        }
    }
    trace_close(trace);
    return r == REQUEST_END;
}

/* ---- streams ------------------------------------------------------------- */

/* k uniform in 1..retime writes at once; begin with the first. */
static void next_batch(const Traces *t, Stream *s)
{
    s->n_before += s->batch;
    s->batch = s->left =
        1 + (uint32_t)prng_below(&s->batches, t->cfg.retime);
}

/* N mean intervals after begin_ns, N the writes before the batch. */
static uint64_t batch_ns(const Stream *s)
{
    unsigned __int128 since = (unsigned __int128)s->n_before * s->span_ns;

    return s->begin_ns + (uint64_t)(since / MAX(s->n_intervals, 1));
}

static bool passes(Part part, const Request *req)
{
    return part == PART_ALL ||
           (req->op == SSD_OP_WRITE) == (part == PART_WRITES);
}

static bool stream_next(const Traces *t, Stream *s, GError **error)
{
    if (s->ended) {
        return true;
    }
    do {
        switch (s->source.next(s->source.opaque, &s->next, error)) {
        case REQUEST_ERROR:
            return false;
        case REQUEST_END:
            s->ended = true;
            return true;
        case REQUEST_OK:
            break;
        }
    } while (!passes(s->part, &s->next));
    if (s->part == PART_WRITES) {
        if (s->left == 0) {
            next_batch(t, s);
        }
        s->left--;
        s->next.at_ns = batch_ns(s);
    }
    return true;
}

static bool add_stream(Traces *t, unsigned number, Part part, const Writes *w,
                       GError **error)
{
    Stream *s = &t->stream[t->n_streams];

    *s = (Stream){
        .number = number,
        .part = part,
        .begin_ns = w->first_ns,
        .span_ns = w->last_ns - w->first_ns,
        .n_intervals = w->n ? w->n - 1 : 0,
    };
    s->trace = trace_open(t->cfg.paths[number], &t->cfg.options, error);
    if (!s->trace) {
        return false;
    }
    t->n_streams++;
    s->source = trace_source(s->trace);
    s->taken = true;
    prng_seed(&s->batches, t->cfg.seed, DRAW_BATCHES + number);
    return true;
}

static bool add_trace(Traces *t, unsigned number, GError **error)
{
    Writes w = {0};

    if ((t->remap || t->cfg.retime) && !read_once(t, number, &w, error)) {
        return false;
    }
    if (!t->cfg.retime) {
        return add_stream(t, number, PART_ALL, &w, error);
    }
    return add_stream(t, number, PART_OTHERS, &w, error) &&
           add_stream(t, number, PART_WRITES, &w, error);
}

Traces *traces_open(const TracesConfig *cfg, GError **error)
{
    Traces *t = g_new0(Traces, 1);

    t->cfg = *cfg;
    while (cfg->paths[t->n_traces]) {
        t->n_traces++;
    }
    g_assert(t->n_traces > 0 && t->n_traces <= TRACES_MAX);
    t->stream = g_new0(Stream, 2 * t->n_traces);
    if (cfg->remap == TRACES_REMAP_BESIDE) {
        t->remap = remap_new(0);
    } else if (cfg->remap == TRACES_REMAP_COMPACT) {
        t->remap = remap_new(TRACES_CHUNK_BYTES);
    }
    for (unsigned i = 0; i < t->n_traces; i++) {
        if (!add_trace(t, i, error)) {
            traces_close(t);
            return NULL;
        }
    }
    if (t->remap) {
        remap_close(t->remap);
    }
    return t;
}

void traces_close(Traces *t)
{
    if (t) {
        for (unsigned i = 0; i < t->n_streams; i++) {
            trace_close(t->stream[i].trace);
        }
        remap_free(t->remap);
        g_free(t->stream);
        g_free(t);
    }
}

static RequestNext traces_next(void *opaque, Request *req, GError **error)
{
    Traces *t = opaque;
    Stream *first = NULL;

    /* One trace as it is: nothing to merge, and its number is 0. */
    if (t->n_streams == 1 && !t->remap) {
        return t->stream[0].source.next(t->stream[0].source.opaque, req, error);
    }
    for (unsigned i = 0; i < t->n_streams; i++) {
        Stream *s = &t->stream[i];

        if (s->taken && !stream_next(t, s, error)) {
            t->last = i;
            return REQUEST_ERROR;
        }
        s->taken = false;
        if (!s->ended && (!first || s->next.at_ns < first->next.at_ns)) {
            first = s;
            t->last = i;
        }
    }
    if (!first) {
        return REQUEST_END;
    }
    first->taken = true;
    *req = first->next;
    req->space = space_of(first->number, req);
    if (t->remap && req->nbytes > 0) {
        req->offset = remap_offset(t->remap, req->space, req->offset);
    }
    return REQUEST_OK;
}

static char *traces_where(void *opaque)
{
    Traces *t = opaque;
    const RequestSource *s = &t->stream[t->last].source;

    return s->where(s->opaque);
}

RequestSource traces_source(Traces *t)
{
    return (RequestSource){
        .next = traces_next,
        .where = traces_where,
        .opaque = t,
    };
}

/* Of two streams of one trace, the first counts. */
static uint64_t sum(const Traces *t, uint64_t (*count)(const Trace *trace))
{
    uint64_t n = 0;

    for (unsigned i = 0; i < t->n_streams; i++) {
        if (t->stream[i].part != PART_WRITES) {
            n += count(t->stream[i].trace);
        }
    }
    return n;
}

uint64_t traces_n_disordered(const Traces *t)
{
    return sum(t, trace_n_disordered);
}

uint64_t traces_n_skipped(const Traces *t)
{
    return sum(t, trace_n_skipped);
}

uint64_t traces_n_left(const Traces *t, TraceLeft left)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < t->n_streams; i++) {
        if (t->stream[i].part != PART_WRITES) {
            n += trace_n_left(t->stream[i].trace, left);
        }
    }
    return n;
}
