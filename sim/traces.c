/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traces.c - choose requests, merge, lay out, re-time.
 *
 * A stream is one reading of one trace.  Re-timed writes may end up far from
 * the reads that they stood beside, so then a trace is read by two streams, one
 * for the writes and one for the rest.
 */
#include "traces.h"

#include <string.h>

#include "prng.h"
#include "remap.h"
#include "simtime.h"

#define DRAW_BATCHES 0xd0000

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
    bool peeked; /* next has been read, but not looked at */
    bool taken;  /* next has been passed on: read another */
    bool ended;
    uint64_t n_flushes; /* of those that may be in the sample */

    /* PART_WRITES: the batch that is under way. */
    Prng batches;
    uint64_t begin_ns;     /* of the first batch */
    uint64_t n_before;     /* writes in the batches before */
    uint32_t batch;        /* writes of this one */
    uint32_t left;         /* of those, still to come */
    uint64_t n_intervals;  /* the mean interval is span_ns / n_intervals */
    uint64_t span_ns;
} Stream;

/* A device of the traces; those of hosts and numbers that differ are others. */
typedef struct Device {
    uint64_t number;
    unsigned host;  /* number of the first trace of it */
    uint32_t space; /* of all traces */
} Device;

/* What is known of a trace before the requests of all are merged. */
typedef struct File {
    unsigned host;      /* as of Device; JOIN_APART: the trace itself */
    GArray *spaces;     /* of this trace's spaces, those of all; uint32_t */
    bool dated;         /* first_ns and newest_ns are of everybody's clock */
    uint64_t offset_ns; /* of its first request from that of all */
    /* Of a first reading: */
    bool some; /* there are requests */
    uint64_t span_ns;
    uint64_t first_ns, newest_ns; /* by its own clock */
} File;

typedef struct Counts {
    uint64_t n_disordered;
    uint64_t n_skipped;
    uint64_t n_left[TRACE_N_LEFT];
} Counts;

struct Traces {
    TracesConfig cfg;
    unsigned n_traces;
    File *file;
    GHashTable *devices; /* set of Device * */
    GArray *numbers;     /* of those, by space; uint64_t */
    unsigned n_missing;
    char *note;       /* about those; or NULL */
    uint64_t from_ns; /* by the clock of requests */
    bool some;        /* a request has been passed on */
    uint32_t pass;
    uint64_t begin_ns; /* of this pass */
    uint64_t last_ns;  /* of the last one so far, all passes */
    Counts before;     /* of the passes before this one */
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

/* Do devices go side by side only where there are several? */
static bool puts_beside(const Traces *t)
{
    return t->cfg.remap == TRACES_N_REMAPS ||
           t->cfg.remap == TRACES_REMAP_MODULO;
}

/* ---- which requests? ----------------------------------------------------- */

/* Is it in the window and in the sample?  *n_flushes counts those that the
 * sample has been asked for. */
static bool is_chosen(const Traces *t, unsigned number, const Trace *trace,
                      const Request *req, uint64_t *n_flushes)
{
    return t->file[number].offset_ns + req->at_ns >= t->from_ns &&
           reading_samples(&t->cfg.reading, trace_device(trace, req->space),
                           req, n_flushes);
}

/* No more than a little beyond what there can be, so sums do not overflow. */
static uint64_t scaled(const Traces *t, uint64_t ns)
{
    unsigned __int128 v =
        (unsigned __int128)ns * t->cfg.options.scale_ppm / 1000000;

    return v > REQUEST_MOST_NS ? REQUEST_MOST_NS + 1 : (uint64_t)v;
}

/* ---- the first reading --------------------------------------------------- */

static guint device_hash(gconstpointer p)
{
    const Device *d = p;

    return (guint)((d->number ^ d->host) * 0x9e3779b97f4a7c15ULL >> 32);
}

static gboolean device_equal(gconstpointer a, gconstpointer b)
{
    const Device *x = a;
    const Device *y = b;

    return x->number == y->number && x->host == y->host;
}

/* The space of all traces for a new one of this trace. */
static uint32_t find_device(Traces *t, unsigned host, uint64_t number)
{
    Device key = {.number = number, .host = host};
    const Device *known = g_hash_table_lookup(t->devices, &key);

    if (!known) {
        key.space = g_hash_table_size(t->devices);
        g_hash_table_add(t->devices, g_memdup2(&key, sizeof(key)));
        g_array_append_val(t->numbers, number);
        return key.space;
    }
    return known->space;
}

static uint32_t space_of(Traces *t, unsigned number, const Trace *trace,
                         const Request *req)
{
    File *f = &t->file[number];

    while (f->spaces->len <= req->space) {
        uint32_t space =
            find_device(t, f->host, trace_device(trace, f->spaces->len));

        g_array_append_val(f->spaces, space);
    }
    return g_array_index(f->spaces, uint32_t, req->space);
}

/* Behind the one before; dates of one host keep their distance. */
static void place_behind(Traces *t, unsigned number)
{
    File *f = &t->file[number];
    const File *last = NULL;

    for (unsigned i = 0; i < number; i++) {
        if (t->file[i].some) {
            last = &t->file[i];
        }
    }
    if (last) {
        f->offset_ns = last->offset_ns + last->span_ns;
        if (f->dated && last->dated && f->host == last->host &&
            f->first_ns > last->newest_ns) {
            f->offset_ns += scaled(t, f->first_ns - last->newest_ns);
        }
        f->offset_ns = MIN(f->offset_ns, REQUEST_MOST_NS + 1);
    }
}

static void note_request(Traces *t, unsigned number, const Trace *trace,
                         const Request *req, Writes *w)
{
    if (t->remap) {
        remap_note(t->remap, space_of(t, number, trace, req), req->offset,
                   req->nbytes);
    }
    if (req->op == SSD_OP_WRITE) {
        w->first_ns = w->n++ ? w->first_ns : req->at_ns;
        w->last_ns = req->at_ns;
    }
}

static bool read_once(Traces *t, unsigned number, Writes *w, GError **error)
{
    Trace *trace = trace_open(t->cfg.paths[number], &t->cfg.options, error);
    File *f = &t->file[number];
    uint64_t n_flushes = 0;
    RequestNext r;
    RequestSource s;
    Request req;

    if (!trace) {
        return false;
    }
    s = trace_source(trace);
    while ((r = s.next(s.opaque, &req, error)) == REQUEST_OK) {
        if (!f->some) {
            f->some = true;
            f->first_ns = trace_first_ns(trace);
            if (t->cfg.join == JOIN_APPEND) {
                place_behind(t, number);
            }
        }
        f->span_ns = req.at_ns;
        if (is_chosen(t, number, trace, &req, &n_flushes)) {
            note_request(t, number, trace, &req, w);
        }
    }
    f->newest_ns = trace_newest_ns(trace);
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

/* Whatever comes next in the trace. */
static bool stream_read(Stream *s, GError **error)
{
    RequestNext got = REQUEST_OK;

    if (!s->peeked) {
        got = s->source.next(s->source.opaque, &s->next, error);
    }
    s->peeked = false;
    s->ended = got == REQUEST_END;
    return got != REQUEST_ERROR;
}

/* The next request of the stream's part, if it is chosen. */
static bool stream_next(const Traces *t, Stream *s, GError **error)
{
    if (s->ended) {
        return true;
    }
    do {
        if (!stream_read(s, error)) {
            return false;
        }
        if (s->ended) {
            return true;
        }
    } while (!passes(s->part, &s->next) ||
             !is_chosen(t, s->number, s->trace, &s->next, &s->n_flushes));
    if (s->part == PART_WRITES) {
        if (s->left == 0) {
            next_batch(t, s);
        }
        s->left--;
        s->next.at_ns = batch_ns(s);
    }
    return true;
}

/* From the beginning of the trace. */
static bool stream_open(const Traces *t, Stream *s, GError **error)
{
    Trace *trace = trace_open(t->cfg.paths[s->number], &t->cfg.options, error);

    if (!trace) {
        return false;
    }
    trace_close(s->trace);
    s->trace = trace;
    s->source = trace_source(s->trace);
    s->taken = true;
    s->ended = false;
    s->n_flushes = 0;
    s->n_before = 0;
    s->batch = s->left = 0;
    return true;
}

static bool add_stream(Traces *t, unsigned number, Part part, GError **error)
{
    Stream *s = &t->stream[t->n_streams];

    *s = (Stream){.number = number, .part = part};
    if (!stream_open(t, s, error)) {
        return false;
    }
    t->n_streams++;
    prng_seed(&s->batches, t->cfg.seed, DRAW_BATCHES + number);
    return true;
}

/* What needs more than one reading of each file; NULL: nothing. */
static const char *reads_again(const Traces *t)
{
    return t->cfg.retime                ? "--retime"
           : t->cfg.join == JOIN_APPEND ? "--join=append"
           : t->cfg.reading.repeat > 1  ? "--repeat"
           : !t->remap                  ? NULL
           : puts_beside(t) ? "--remap=beside, the default of several traces,"
                            : "--remap=beside or compact";
}

/* Is it among the paths before it? */
static bool is_repeated(const Traces *t, unsigned number)
{
    for (unsigned i = 0; i < number; i++) {
        if (strcmp(t->cfg.paths[i], t->cfg.paths[number]) == 0) {
            return true;
        }
    }
    return false;
}

/* false: one reading of a pipe is not enough. */
static bool pipes_fit(const Traces *t, GError **error)
{
    for (unsigned i = 0; i < t->n_traces; i++) {
        const char *what =
            is_repeated(t, i) ? "a file that is given twice" : reads_again(t);

        if (what && !input_again(t->cfg.paths[i], what, error)) {
            return false;
        }
    }
    return true;
}

static bool add_streams(Traces *t, GError **error)
{
    for (unsigned i = 0; i < t->n_traces; i++) {
        Part first = t->cfg.retime ? PART_OTHERS : PART_ALL;

        if (!add_stream(t, i, first, error) ||
            (t->cfg.retime && !add_stream(t, i, PART_WRITES, error))) {
            return false;
        }
    }
    return true;
}

/* ---- together ------------------------------------------------------------ */

/* All parts of blktrace have the same action; idle CPUs have no request. */
static bool read_as_one(Traces *t, Trace *const *trace, GError **error)
{
    TraceOptions *o = &t->cfg.options;
    bool of_blktrace = join_of_blktrace(trace, t->n_traces);

    for (unsigned i = 0; of_blktrace && i < t->n_traces; i++) {
        o->format = &trace_blktrace;
        if (!o->action && trace_origin(trace[i])->action == 'D') {
            o->action = 'D';
        }
    }
    o->may_be_empty = of_blktrace || o->device;
    for (unsigned i = 0; i < t->n_streams; i++) {
        if (!trace_change(t->stream[i].trace, o, error)) {
            return false;
        }
    }
    return true;
}

/* How do they belong together? */
static bool join(Traces *t, GError **error)
{
    unsigned streams_each = t->n_streams / t->n_traces;
    g_autofree Trace **trace = g_new0(Trace *, t->n_traces);

    for (unsigned i = 0; i < t->n_traces; i++) {
        trace[i] = t->stream[i * streams_each].trace;
        t->file[i].dated = trace_origin(trace[i])->dated;
    }
    t->n_missing = join_missing(trace, t->cfg.paths, t->n_traces, &t->note);
    if (t->n_traces == 1) {
        t->cfg.join = JOIN_APART;
    } else if (t->cfg.join == N_JOINS &&
               !join_choose(trace, t->cfg.paths, t->n_traces, &t->cfg.join,
                            error)) {
        return false;
    }
    if (t->cfg.join != JOIN_APART && !read_as_one(t, trace, error)) {
        return false;
    }
    for (unsigned i = 0; i < t->n_traces; i++) {
        File *f = &t->file[i];

        f->host = t->cfg.join == JOIN_APART ? i : 0;
        while (f->host < i && !join_same_host(trace[i], trace[f->host])) {
            f->host++;
        }
    }
    return true;
}

static void place_by_clock(Traces *t)
{
    uint64_t begin_ns = UINT64_MAX;

    for (unsigned i = 0; i < t->n_traces; i++) {
        if (t->file[i].some) {
            begin_ns = MIN(begin_ns, t->file[i].first_ns);
        }
    }
    for (unsigned i = 0; i < t->n_traces; i++) {
        if (t->file[i].some) {
            t->file[i].offset_ns = scaled(t, t->file[i].first_ns - begin_ns);
        }
    }
}

static bool read_all(Traces *t, GError **error)
{
    for (unsigned i = 0; i < t->n_traces; i++) {
        Writes w = {0};

        if (!read_once(t, i, &w, error)) {
            return false;
        }
        if (t->cfg.retime) {
            Stream *s = &t->stream[2 * i + 1];

            s->begin_ns = w.first_ns;
            s->span_ns = w.last_ns - w.first_ns;
            s->n_intervals = w.n ? w.n - 1 : 0;
        }
    }
    return true;
}

/* The first request of each, for its time. */
static bool read_first(Traces *t, GError **error)
{
    for (unsigned i = 0; i < t->n_streams; i++) {
        Stream *s = &t->stream[i];

        if (!stream_read(s, error)) {
            return false;
        }
        s->peeked = !s->ended;
        t->file[s->number].some = !s->ended;
        t->file[s->number].first_ns = trace_first_ns(s->trace);
    }
    place_by_clock(t);
    return true;
}

static bool begin_streams(Traces *t, GError **error)
{
    const Join how = t->cfg.join;

    t->from_ns = scaled(t, t->cfg.reading.from_ns);
    if (how == JOIN_CLOCK && !read_first(t, error)) {
        return false;
    }
    return !(t->remap || t->cfg.retime || how == JOIN_APPEND) ||
           read_all(t, error);
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
    t->file = g_new0(File, t->n_traces);
    t->devices = g_hash_table_new_full(device_hash, device_equal, g_free, NULL);
    t->numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (unsigned i = 0; i < t->n_traces; i++) {
        t->file[i].spaces = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    }
    if (cfg->remap == TRACES_REMAP_COMPACT) {
        t->remap = remap_new(TRACES_CHUNK_BYTES);
    } else if (cfg->remap == TRACES_REMAP_BESIDE ||
               (puts_beside(t) && (t->n_traces > 1 || cfg->retime))) {
        t->remap = remap_new(0);
    }
    if (!pipes_fit(t, error) || !add_streams(t, error) || !join(t, error) ||
        !begin_streams(t, error)) {
        traces_close(t);
        return NULL;
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
        for (unsigned i = 0; i < t->n_traces; i++) {
            g_array_free(t->file[i].spaces, TRUE);
        }
        g_hash_table_destroy(t->devices);
        g_array_free(t->numbers, TRUE);
        remap_free(t->remap);
        g_free(t->note);
        g_free(t->file);
        g_free(t->stream);
        g_free(t);
    }
}

/* When the next request of the stream arrives, by the clock of all. */
static uint64_t arrival_ns(const Traces *t, const Stream *s)
{
    return t->file[s->number].offset_ns + s->next.at_ns;
}

/* The stream whose request comes next; NULL: all have ended, or *failed. */
static Stream *find_first(Traces *t, bool *failed, GError **error)
{
    Stream *first = NULL;

    *failed = false;
    for (unsigned i = 0; i < t->n_streams; i++) {
        Stream *s = &t->stream[i];

        if (s->taken && !stream_next(t, s, error)) {
            t->last = i;
            *failed = true;
            return NULL;
        }
        s->taken = false;
        if (!s->ended && (!first || arrival_ns(t, s) < arrival_ns(t, first))) {
            first = s;
            t->last = i;
        }
    }
    return first;
}

static void no_request(const Traces *t, GError **error)
{
    const ReadingConfig *r = &t->cfg.reading;
    const char *which = "";
    const char *remedy = "";

    if (r->from_ns) {
        which =
            r->sample_ppm ? " after --from in the --sample" : " after --from";
        remedy = "; begin earlier";
    } else if (r->sample_ppm) {
        which = " in the --sample";
        remedy = "; take a larger one";
    } else if (t->cfg.options.device) {
        which = " for that --device";
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: holds no request%s%s%s",
                t->cfg.paths[0], which,
                t->n_traces > 1 ? ", nor does any trace after it" : "", remedy);
}

static void count_lines(const Traces *t, Counts *c)
{
    *c = t->before;
    for (unsigned i = 0; i < t->n_streams; i++) {
        const Trace *trace = t->stream[i].trace;

        if (t->stream[i].part == PART_WRITES) {
            continue; /* of two streams of one trace, the first counts */
        }
        c->n_disordered += trace_n_disordered(trace);
        c->n_skipped += trace_n_skipped(trace);
        for (unsigned left = 0; left < TRACE_N_LEFT; left++) {
            c->n_left[left] += trace_n_left(trace, left);
        }
    }
}

/* All streams have ended.  REQUEST_OK: they begin again. */
static RequestNext next_pass(Traces *t, GError **error)
{
    if (!t->some) {
        no_request(t, error);
        return REQUEST_ERROR;
    }
    if (t->pass + 1 >= MAX(t->cfg.reading.repeat, 1)) {
        return REQUEST_END;
    }
    count_lines(t, &t->before);
    t->pass++;
    t->begin_ns = t->last_ns;
    for (unsigned i = 0; i < t->n_streams; i++) {
        t->last = i;
        if (!stream_open(t, &t->stream[i], error)) {
            return REQUEST_ERROR;
        }
    }
    return REQUEST_OK;
}

/* false: *error: beyond what there can be. */
static bool set_arrival(Traces *t, const Stream *s, Request *req,
                        GError **error)
{
    req->at_ns = t->last_ns = t->begin_ns + (arrival_ns(t, s) - t->from_ns);
    if (req->at_ns <= REQUEST_MOST_NS) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                "%s: arrives more than 10 years after %s",
                t->cfg.paths[s->number],
                t->pass ? "the first pass: --repeat fewer times"
                        : "the first trace: --join=apart or append lets it "
                          "begin earlier");
    return false;
}

/* With the first request of a second device.  Those before it, of the first
 * one, are where the layout has them. */
static bool begin_beside(Traces *t, GError **error)
{
    if (!input_again(t->cfg.paths[0],
                     "laying devices side by side (not with --device or "
                     "--remap=none)",
                     error)) {
        return false;
    }
    t->remap = remap_new(0);
    if (!read_all(t, error)) {
        return false;
    }
    remap_close(t->remap);
    t->some = true;
    return true;
}

/* A request goes to its place in the layout. */
static RequestNext place(Traces *t, const Stream *s, Request *req,
                         GError **error)
{
    req->space = space_of(t, s->number, s->trace, req);
    if (!t->remap && G_UNLIKELY(req->space) && puts_beside(t) &&
        !begin_beside(t, error)) {
        return REQUEST_ERROR;
    }
    if (t->remap && req->nbytes > 0) {
        req->offset = remap_offset(t->remap, req->space, req->offset);
    }
    return REQUEST_OK;
}

static RequestNext traces_next(void *opaque, Request *req, GError **error)
{
    Traces *t = opaque;
    Stream *first;
    bool failed;

    /* One trace as it is: nothing to merge, and its number is 0. */
    if (t->n_streams == 1 && !t->remap && reading_is_whole(&t->cfg.reading)) {
        const RequestSource *one = &t->stream[0].source;
        RequestNext next = one->next(one->opaque, req, error);

        return next == REQUEST_OK && G_UNLIKELY(req->space) && puts_beside(t)
                   ? place(t, &t->stream[0], req, error)
                   : next;
    }
    while (!(first = find_first(t, &failed, error))) {
        RequestNext got = failed ? REQUEST_ERROR : next_pass(t, error);

        if (got != REQUEST_OK) {
            return got;
        }
    }
    t->some = first->taken = true;
    *req = first->next;
    if (!set_arrival(t, first, req, error)) {
        return REQUEST_ERROR;
    }
    return place(t, first, req, error);
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

unsigned traces_n(const Traces *t)
{
    return t->n_traces;
}

const Trace *traces_trace(const Traces *t, unsigned number)
{
    for (unsigned i = 0; i < t->n_streams; i++) {
        if (t->stream[i].number == number) {
            return t->stream[i].trace;
        }
    }
    g_assert_not_reached();
}

bool traces_has_devices(const Traces *t)
{
    for (unsigned i = 0; i < t->n_traces; i++) {
        if (t->file[i].host != 0) {
            return false; /* equal numbers may be of different devices */
        }
    }
    return !t->remap && (t->n_traces == 1 || t->cfg.join != JOIN_APART);
}

uint64_t traces_device(const Traces *t, uint32_t space)
{
    g_assert(traces_has_devices(t));
    return t->cfg.join == JOIN_APART
               ? trace_device(t->stream[t->last].trace, space)
               : g_array_index(t->numbers, uint64_t, space);
}

TracesRemap traces_remap(const Traces *t)
{
    if (t->cfg.remap != TRACES_N_REMAPS) {
        return t->cfg.remap;
    }
    return t->n_traces > 1 || g_hash_table_size(t->devices) > 1
               ? TRACES_REMAP_BESIDE
               : TRACES_REMAP_NONE;
}

Join traces_join(const Traces *t)
{
    return t->n_traces > 1 ? t->cfg.join : N_JOINS;
}

unsigned traces_n_missing(const Traces *t, const char **note)
{
    *note = t->note;
    return t->n_missing;
}

uint64_t traces_n_disordered(const Traces *t)
{
    Counts c;

    count_lines(t, &c);
    return c.n_disordered;
}

uint64_t traces_n_skipped(const Traces *t)
{
    Counts c;

    count_lines(t, &c);
    return c.n_skipped;
}

uint64_t traces_n_left(const Traces *t, TraceLeft left)
{
    Counts c;

    count_lines(t, &c);
    return c.n_left[left];
}
