/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.c - read a trace file as a source of requests.
 *
 * Knows records, arrival times and damage; input.c knows files, the formats
 * know the fields.
 */
#include "trace.h"

#include <string.h>

#include "fields.h"
#include "simtime.h"
#include "trace-devices.h"
#include "trace-order.h"

G_STATIC_ASSERT(INPUT_SLACK >= FIELD_SLACK);

/* The byte order mark of UTF-8, which editors and tables write. */
#define BOM "\xef\xbb\xbf"

/* A trace is not sorted if more than one line in so many is older than one
 * before it, and more than a few are.  In the midst of it that shows after
 * enough lines. */
#define UNSORTED_SHARE 10
#define UNSORTED_FEW   8
#define UNSORTED_LINES 1000

#define MAX_BYTES  UINT32_MAX
#define MAX_OFFSET (1ULL << 62)

const TraceFormat *const trace_formats[] = {
#define TRACE_FORMAT_ROW(name) &trace_##name,
    TRACE_FORMATS(TRACE_FORMAT_ROW)
#undef TRACE_FORMAT_ROW
        NULL,
};

struct Trace {
    const TraceFormat *format;
    TraceOptions options;
    void *state; /* of the format */
    Input *in;
    TraceOrder *order; /* of a format whose lines come late; or NULL */
    char *path;
    uint64_t line_number; /* or number of the record */
    TraceOrigin origin;
    bool is_void;
    uint64_t first_ns;
    uint64_t newest_ns; /* as first_ns, by the trace's own clock */
    uint64_t last_ns;
    uint64_t n_disordered;
    uint64_t n_skipped;
    uint64_t n_left[TRACE_N_LEFT];
    uint64_t n_requests;
    char *header; /* the first line, if it holds no record; or NULL */
    Request held; /* behind its flush_before */
    bool holds;
    bool begun;
    char *plain; /* the last line, if its fields were written out */
    TraceDevices *devices;
};

const TraceFormat *trace_format_find(const char *name)
{
    for (unsigned i = 0; trace_formats[i]; i++) {
        if (strcmp(trace_formats[i]->name, name) == 0) {
            return trace_formats[i];
        }
    }
    return NULL;
}

/* ---- which format? ------------------------------------------------------- */

/* The state of a reading that begins; free_state(). */
static void *new_state(const TraceFormat *f, const TraceOptions *o,
                       const char *head, size_t n)
{
    void *state = g_malloc0(f->state_bytes);

    if (f->begin) {
        f->begin(state, o, head, n);
    }
    return state;
}

static void free_state(const TraceFormat *f, void *state)
{
    if (state && f->end) {
        f->end(state);
    }
    g_free(state);
}

static bool is_no_request(const char *reason)
{
    return reason == trace_skip || reason == trace_left_out;
}

/* A request, or a record of a kind that the format knows. */
static bool is_known(const TraceRecord *rec, const char *reason)
{
    return !reason ||
           (reason == trace_left_out && rec->left != TRACE_LEFT_UNKNOWN);
}

static const char *without_bom(const char *line)
{
    return line + (strncmp(line, BOM, strlen(BOM)) == 0 ? strlen(BOM) : 0);
}

/* Are at least as many of the first lines known as are damaged? */
static bool lines_fit(const TraceFormat *f, const TraceOptions *o,
                      const char *head, size_t n, const GPtrArray *lines)
{
    void *state = new_state(f, o, head, n);
    unsigned good = 0;
    unsigned bad = 0;

    for (unsigned i = 0; i < lines->len; i++) {
        TraceRecord rec = {0};
        const char *reason = f->parse(state, lines->pdata[i], &rec);

        good += is_known(&rec, reason);
        bad += reason && !is_no_request(reason);
    }
    free_state(f, state);
    return good > 0 && good >= bad;
}

static const TraceFormat *detect(const TraceOptions *o, const char *head,
                                 size_t n)
{
    g_autoptr(GPtrArray) lines = trace_sample(head);

    for (unsigned i = 0; trace_formats[i]; i++) {
        if (trace_formats[i]->detect && trace_formats[i]->detect(head, n)) {
            return trace_formats[i];
        }
    }
    for (unsigned i = 0; lines->len && trace_formats[i]; i++) {
        if (trace_formats[i]->headed &&
            trace_formats[i]->headed(lines->pdata[0])) {
            return trace_formats[i];
        }
    }
    if (o->columns) {
        return &trace_csv;
    }
    for (unsigned i = 0; trace_formats[i]; i++) {
        if (!trace_formats[i]->detect &&
            lines_fit(trace_formats[i], o, head, n, lines)) {
            return trace_formats[i];
        }
    }
    return NULL;
}

/* Text of 16 bits a letter, with its mark or as Latin letters alone? */
static bool is_utf16(const char *head, size_t n)
{
    return n >= 4 && (memcmp(head, "\xff\xfe", 2) == 0 ||
                      memcmp(head, "\xfe\xff", 2) == 0 ||
                      (head[0] && !head[1] && head[2] && !head[3]) ||
                      (!head[0] && head[1] && !head[2] && head[3]));
}

/* Files that a tool records, and prints as a trace. */
static const struct {
    const char *begin;
    const char *remedy;
} recordings[] = {
    {"\027\010Dtracing", "made by trace-cmd record: give the output of "
                         "trace-cmd report"},
    {"PERFILE2", "made by perf record: give the output of perf script"},
};

static bool no_format(const char *path, const char *head, GError **error)
{
    g_autoptr(GString) all = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(recordings); i++) {
        if (g_str_has_prefix(head, recordings[i].begin)) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", path,
                        recordings[i].remedy);
            return false;
        }
    }
    for (unsigned i = 0; trace_formats[i]; i++) {
        g_string_append_printf(all, "%s%s", i ? ", " : "",
                               trace_formats[i]->name);
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                "%s: looks like no trace format that is known; if it is one, "
                "name it: --format=%s",
                path, all->str);
    return false;
}

static bool has_units(const TraceOptions *o)
{
    return o->units.time_ns || o->units.address_bytes || o->units.size_bytes;
}

/* An option that would do nothing is refused. */
static bool options_fit(const Trace *t, GError **error)
{
    unsigned uses = t->format->uses;
    const char *unused =
        t->options.columns && !(uses & TRACE_USES_COLUMNS)     ? "columns"
        : t->options.action && !(uses & TRACE_USES_ACTION)     ? "action"
        : has_units(&t->options) && !(uses & TRACE_USES_UNITS) ? "units"
                                                               : NULL;

    if (unused) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "--%s: not for %s, of format %s", unused, t->path,
                    t->format->name);
    }
    return !unused;
}

/* Of lines with dates: by the first request of the head. */
static void find_date(Trace *t, const char *head, size_t n)
{
    const TraceFormat *f = t->format;
    g_autoptr(GPtrArray) lines = trace_sample(head);
    void *state = new_state(f, &t->options, head, n);

    for (unsigned i = 0; i < lines->len; i++) {
        g_auto(GStrv) fields = NULL;
        TraceRecord rec = {0};

        if (f->parse(state, lines->pdata[i], &rec)) {
            continue;
        }
        fields = g_strsplit(lines->pdata[i], ",", f->host_field + 2);
        t->origin.dated = rec.at_ns >= f->since_ns;
        if (f->host_field && f->host_field < g_strv_length(fields)) {
            g_strlcpy(t->origin.host, fields[f->host_field],
                      sizeof(t->origin.host));
        }
        break;
    }
    free_state(f, state);
}

static void find_origin(Trace *t, const char *head, size_t n)
{
    t->origin = (TraceOrigin){0};
    if (t->format->origin) {
        t->format->origin(head, n, &t->origin);
    } else if (t->format->since_ns) {
        find_date(t, head, n);
    }
}

/* A guess could be wrong by a factor of 512 or 10^6, and nobody would see it.
 */
static bool units_known(const Trace *t, const char *head, GError **error)
{
    g_autoptr(GPtrArray) lines = trace_sample(head);
    g_autofree char *doubt = NULL;

    if (!t->format->doubt) {
        return true;
    }
    g_ptr_array_add(lines, NULL);
    doubt = t->format->doubt(&t->options, (char *const *)lines->pdata);
    if (doubt) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "%s: %s", t->path,
                    doubt);
    }
    return !doubt;
}

static bool find_format(Trace *t, const char *head, size_t n, GError **error)
{
    t->format = t->options.format;
    if (!t->format) {
        t->format = detect(&t->options, head, n);
    }
    if ((!t->format || t->format->parse) && is_utf16(head, n)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "%s: text in UTF-16; make it UTF-8: iconv -f UTF-16 "
                    "-t UTF-8",
                    t->path);
        return false;
    }
    if (!t->format && n == 0) {
        t->format = &trace_csv; /* empty, whatever it was */
    }
    return t->format || no_format(t->path, head, error);
}

static bool has_times(const Trace *t, const char *head, GError **error)
{
    if (!t->options.may_lack_times && t->format->untimed &&
        t->format->untimed(&t->options, head)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "%s: has no times; --iodepth=N of replay needs none",
                    t->path);
        return false;
    }
    return true;
}

static InputRead read_line(void *opaque, TraceRecord *out, const char **reason,
                           GError **error);

static bool begin_lines(Trace *t, GError **error)
{
    size_t n;
    const char *head = input_head(t->in, &n, error);

    if (!head) {
        return false;
    }
    if (strncmp(head, BOM, strlen(BOM)) == 0) {
        head += strlen(BOM);
        n -= strlen(BOM);
    }
    free_state(t->format, g_steal_pointer(&t->state));
    t->is_void = n == 0;
    if (!find_format(t, head, n, error) ||
        (!t->is_void &&
         (!options_fit(t, error) || !units_known(t, head, error))) ||
        !has_times(t, head, error)) {
        return false;
    }
    t->state = new_state(t->format, &t->options, head, n);
    trace_order_free(t->order);
    t->order = t->format->ends ? trace_order_new(read_line, t) : NULL;
    trace_devices_free(t->devices);
    t->devices =
        trace_devices_new(t->options.device, t->format->kernel_devices);
    find_origin(t, head, n);
    return true;
}

static Trace *new_trace(Input *in, const char *path, const TraceOptions *o,
                        GError **error)
{
    Trace *t;

    if (!in) {
        return NULL;
    }
    t = g_new0(Trace, 1);
    t->in = in;
    t->path = g_strdup(input_path(in));
    t->options = *o;
    if (!begin_lines(t, error) ||
        (t->format == &trace_vssd &&
         !input_again(path, "a recorded trace", error))) {
        g_clear_pointer(&t, trace_close);
    }
    return t;
}

Trace *trace_open(const char *path, const TraceOptions *options, GError **error)
{
    return new_trace(input_open(path, error), path, options, error);
}

Trace *trace_from_memory(const void *data, size_t n,
                         const TraceOptions *options, GError **error)
{
    return new_trace(input_from_memory(data, n, error), "memory", options,
                     error);
}

void trace_close(Trace *t)
{
    if (t) {
        input_close(t->in);
        free_state(t->format, t->state);
        trace_order_free(t->order);
        trace_devices_free(t->devices);
        g_free(t->plain);
        g_free(t->header);
        g_free(t->path);
        g_free(t);
    }
}

const TraceFormat *trace_format(const Trace *t)
{
    return t->format;
}

bool trace_is_void(const Trace *t)
{
    return t->is_void;
}

const TraceOrigin *trace_origin(const Trace *t)
{
    return &t->origin;
}

bool trace_change(Trace *t, const TraceOptions *options, GError **error)
{
    g_assert(t->line_number == 0);
    t->options = *options;
    return begin_lines(t, error);
}

uint64_t trace_first_ns(const Trace *t)
{
    return t->first_ns;
}

uint64_t trace_newest_ns(const Trace *t)
{
    return t->newest_ns;
}

TraceUnits trace_units(const Trace *t)
{
    return t->format->taken ? t->format->taken(t->state) : t->format->units;
}

uint32_t trace_n_devices(const Trace *t)
{
    return trace_devices_n(t->devices);
}

uint64_t trace_device(const Trace *t, uint32_t space)
{
    return trace_devices_number(t->devices, space);
}

char *trace_device_name(const Trace *t, uint32_t space)
{
    return trace_devices_name(t->devices, space);
}

uint64_t trace_n_disordered(const Trace *t)
{
    return t->n_disordered;
}

uint64_t trace_n_skipped(const Trace *t)
{
    return t->n_skipped;
}

uint64_t trace_n_left(const Trace *t, TraceLeft left)
{
    return t->n_left[left];
}

/* ---- records ------------------------------------------------------------- */

/* Lines that follow it would be taken for others. */
static const char other_header[] =
    "another header than in the first line: files with other columns were put "
    "together; give them one by one";

/* REQUEST_OK: counted, go on. */
static RequestNext damaged(Trace *t, const char *reason, GError **error)
{
    bool skips = reason != other_header;

    if (t->options.skip_bad && skips) {
        t->n_skipped++;
        return REQUEST_OK;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                "%s:%" G_GUINT64_FORMAT ": %s (%s: %s%s)", t->path,
                t->line_number, reason, t->format->name, t->format->help,
                skips ? "; --skip-bad goes on" : "");
    return REQUEST_ERROR;
}

/* The same for a line with quotes or numbers such as 1.5e9, else reason. */
static const char *parse_plain(Trace *t, const char *line, const char *reason,
                               TraceRecord *out)
{
    const char *again;

    g_free(t->plain);
    t->plain = field_plain(line);
    if (!t->plain) {
        return reason;
    }
    *out = (TraceRecord){0};
    again = t->format->parse(t->state, t->plain, out);
    return again && !is_no_request(again) ? reason : again;
}

/* Is it a header as the first line was, but not the same one? */
static bool is_other_header(const Trace *t, const char *line)
{
    return t->header && t->format->headed && t->format->headed(line);
}

/* What the format makes of a line.  The header of a file comes again where
 * several were put together. */
static const char *parse(Trace *t, const char *line, TraceRecord *out)
{
    const char *reason;

    line = without_bom(line);
    if (trace_is_blank(line)) {
        return trace_skip;
    }
    reason = t->format->parse(t->state, line, out);
    if (G_LIKELY(!reason)) {
        return NULL;
    }
    if (!is_no_request(reason)) {
        reason = parse_plain(t, line, reason, out);
    }
    if (!t->n_requests && !t->header && reason == trace_skip) {
        t->header = g_strdup(line);
    }
    if (t->header && g_ascii_strcasecmp(line, t->header) == 0) {
        return trace_skip;
    }
    if (!is_no_request(reason) && is_other_header(t, line)) {
        return other_header;
    }
    return reason;
}

/* As TraceFormat.read, for lines of the Trace. */
static InputRead read_line(void *opaque, TraceRecord *out, const char **reason,
                           GError **error)
{
    Trace *t = opaque;
    char *line;
    InputRead r = input_line(t->in, &line, error);

    if (r == INPUT_BAD) {
        *reason = "the line is too long, or not text";
        return INPUT_OK;
    }
    if (r == INPUT_OK) {
        *reason = parse(t, line, out);
    }
    return r;
}

/* The next record, and its number. */
static InputRead read_record(Trace *t, TraceRecord *out, const char **reason,
                             GError **error)
{
    InputRead r;

    if (t->order) {
        return trace_order_next(t->order, out, &t->line_number, reason, error);
    }
    r = t->format->parse ? read_line(t, out, reason, error)
                         : t->format->read(t->state, t->in, out, reason, error);
    t->line_number += r == INPUT_OK || r == INPUT_BAD;
    return r;
}

/* When it arrives, by the drive's clock; false: too late for any clock. */
static bool arrival_ns(Trace *t, uint64_t own_ns, uint64_t *at_ns)
{
    uint64_t since_ns;

    if (!t->begun) {
        t->begun = true;
        t->first_ns = own_ns;
    }
    since_ns = own_ns > t->first_ns ? own_ns - t->first_ns : 0;
    if (t->options.scale_ppm != 1000000) {
        unsigned __int128 scaled =
            (unsigned __int128)since_ns * t->options.scale_ppm / 1000000;

        since_ns = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
    }
    if (since_ns > REQUEST_MOST_NS) {
        return false;
    }
    if (own_ns < t->first_ns || since_ns < t->last_ns) {
        t->n_disordered++;
        since_ns = t->last_ns;
    }
    t->newest_ns = MAX(t->newest_ns, own_ns);
    *at_ns = t->last_ns = since_ns;
    return true;
}

/* After so many lines, is their order no order? */
static bool is_unsorted(const Trace *t, uint64_t n_lines)
{
    return t->n_disordered > UNSORTED_FEW &&
           t->n_disordered * UNSORTED_SHARE > n_lines &&
           !t->options.may_be_unsorted && !t->options.skip_bad;
}

static const char unsorted[] =
    "more than a tenth of the lines are older than one before: sort the trace "
    "by time";

/* false: there is no such stream. */
static bool find_stream(const Trace *t, uint64_t n, uint16_t *stream)
{
    const TraceOptions *o = &t->options;

    if (n >= (o->n_streams ? o->n_streams : TRACE_MAX_STREAMS)) {
        return false;
    }
    *stream = o->n_streams ? o->stream[n] : (uint16_t)n;
    return true;
}

/* NULL, or the fault. */
static const char *to_request(Trace *t, const TraceRecord *rec, Request *req)
{
    /* As a factor: a branch would be mispredicted half of the time. */
    const unsigned writes = rec->op == SSD_OP_WRITE;

    if (rec->op != SSD_OP_FLUSH &&
        (rec->nbytes == 0 || rec->nbytes > MAX_BYTES)) {
        return "the size is not 1..4294967295 bytes";
    }
    if (rec->offset > MAX_OFFSET) {
        return "the address is beyond 2^62 bytes";
    }
    *req = (Request){
        .offset = rec->offset,
        .nbytes = rec->nbytes,
        .op = rec->op,
        .fua = rec->fua & writes,
    };
    if (!find_stream(t, rec->stream * writes, &req->stream)) {
        return "the stream is not 0..63, or not in --stream-map";
    }
    if (rec->op == SSD_OP_FLUSH) {
        req->offset = req->nbytes = 0;
    }
    if (!trace_devices_space(t->devices, rec, &req->space)) {
        return "more than 1048576 devices";
    }
    if (!arrival_ns(t, rec->at_ns, &req->at_ns)) {
        return "arrives more than 10 years after the first line";
    }
    if (G_UNLIKELY(t->n_disordered) && t->n_requests >= UNSORTED_LINES &&
        is_unsorted(t, t->n_requests)) {
        return unsorted;
    }
    return NULL;
}

static RequestNext ended(Trace *t, GError **error)
{
    g_autofree char *others = NULL;

    if (is_unsorted(t, t->n_requests)) {
        return damaged(t, unsorted, error);
    }
    if (t->n_requests > 0 || t->options.may_be_empty) {
        return REQUEST_END;
    }
    others = trace_devices_others(t->devices);
    if (*others) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "%s: holds no request for that --device=%s; it has %s",
                    t->path, t->options.device, others);
    } else {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "%s: holds no request (%s: %s)", t->path, t->format->name,
                    t->format->help);
    }
    return REQUEST_ERROR;
}

/* The record is *req, or a flush with *req behind it. */
static void hold_flushed(Trace *t, const TraceRecord *rec, Request *req)
{
    t->n_requests++;
    if (G_UNLIKELY(rec->flush_before)) {
        t->held = *req;
        t->holds = true;
        *req = (Request){
            .at_ns = req->at_ns, .op = SSD_OP_FLUSH, .space = req->space};
    }
}

static RequestNext trace_next(void *opaque, Request *req, GError **error)
{
    Trace *t = opaque;

    if (G_UNLIKELY(t->holds)) {
        t->holds = false;
        *req = t->held;
        return REQUEST_OK;
    }
    for (;;) {
        TraceRecord rec = {0};
        const char *reason = NULL;
        InputRead r = read_record(t, &rec, &reason, error);

        if (r == INPUT_ERROR) {
            return REQUEST_ERROR;
        }
        if (r == INPUT_END) {
            return ended(t, error);
        }
        if ((!reason || reason == trace_left_out) && t->options.device &&
            !trace_devices_want(t->devices, &rec)) {
            reason = trace_skip;
        }
        if (!reason) {
            reason = to_request(t, &rec, req);
        }
        if (!reason) {
            hold_flushed(t, &rec, req);
            return REQUEST_OK;
        }
        t->n_left[rec.left] += reason == trace_left_out;
        if (!is_no_request(reason) && damaged(t, reason, error) != REQUEST_OK) {
            return REQUEST_ERROR;
        }
        if (r == INPUT_BAD) {
            return ended(t, error);
        }
    }
}

static char *trace_where(void *opaque)
{
    Trace *t = opaque;

    return g_strdup_printf("%s:%" G_GUINT64_FORMAT, t->path, t->line_number);
}

RequestSource trace_source(Trace *t)
{
    return (RequestSource){
        .next = trace_next,
        .where = trace_where,
        .opaque = t,
    };
}
