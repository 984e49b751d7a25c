/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.c - a workload or traces as a source of requests, with its part of
 * the results.
 */
#include "source.h"

#include <inttypes.h>
#include <string.h>

#include "fit.h"
#include "printable.h"
#include "replace.h"
#include "run-stats.h"
#include "workload.h"

#define MOST_DEVICES_TOLD 16

struct Source {
    char *name;
    GString *report; /* of the fit; or NULL */
    Workload *workload;
    Traces *traces;
    SourceTraces from; /* of traces */
    GString *told;     /* the last text about one of them */
    RequestSource requests;
};

/* ---- generators ---------------------------------------------------------- */

SourceDrive source_drive(const Array *array, uint64_t seed)
{
    const SsdInfo *info = array_info(array);

    return (SourceDrive){
        .capacity_bytes = info->nblocks * info->block_bytes,
        .block_bytes = info->block_bytes,
        .seed = seed,
        .zone_bytes = info->zones.capacity * info->block_bytes,
    };
}

/* With s->name, the keywords.  Closes the source if that fails. */
static Source *generate(Source *s, const SourceDrive *d, GError **error)
{
    if (s->name) {
        s->workload = workload_new(s->name, d->capacity_bytes, d->block_bytes,
                                   d->seed, error);
    }
    if (!s->workload ||
        !workload_set_zones(s->workload, d->zone_bytes, error)) {
        source_close(s);
        return NULL;
    }
    s->requests = workload_source(s->workload);
    return s;
}

Source *source_generate(char *keywords, const SourceDrive *drive,
                        GError **error)
{
    Source *s = g_new0(Source, 1);

    s->name = keywords;
    return generate(s, drive, error);
}

Source *source_fit(const char *attributes, const SourceDrive *drive,
                   GError **error)
{
    Source *s = g_new0(Source, 1);

    s->report = g_string_new(NULL);
    s->name = fit_workload(attributes, drive->capacity_bytes,
                           drive->block_bytes, drive->seed, s->report, error);
    return generate(s, drive, error);
}

bool source_save(const Source *s, const char *path, GError **error)
{
    g_autofree char *line = workload_describe(s->workload);
    g_autoptr(GString) text =
        g_string_new("# A workload of vssd-sim: --workload @FILE\n");

    if (s->report) {
        g_auto(GStrv) lines = g_strsplit(s->report->str, "\n", -1);

        for (char **p = lines; *p && **p; p++) {
            g_string_append_printf(text, "# %s\n", *p);
        }
    }
    g_string_append(text, g_strdelimit(line, " ", '\n'));
    g_string_append_c(text, '\n');
    return replace_text(path, text, error);
}

/* ---- traces -------------------------------------------------------------- */

Source *source_traces(const SourceTraces *from, GError **error)
{
    Source *s = g_new0(Source, 1);

    s->from = *from;
    s->traces = traces_open(&s->from.cfg, error);
    if (!s->traces) {
        source_close(s);
        return NULL;
    }
    s->requests = traces_source(s->traces);
    s->requests.iodepth = from->iodepth;
    s->requests.runtime_ns = from->runtime_ns;
    s->told = g_string_new(NULL);
    s->name = g_strjoinv(" + ", (char **)from->cfg.paths);
    return s;
}

/* ---- both ---------------------------------------------------------------- */

void source_close(Source *s)
{
    if (s) {
        workload_free(s->workload);
        traces_close(s->traces);
        g_free(s->name);
        if (s->report) {
            g_string_free(s->report, TRUE);
        }
        if (s->told) {
            g_string_free(s->told, TRUE);
        }
        g_free(s);
    }
}

const RequestSource *source_requests(const Source *s)
{
    return &s->requests;
}

const Workload *source_workload(const Source *s)
{
    return s->workload;
}

bool source_wraps(const Source *s)
{
    return s->traces && s->from.cfg.remap == TRACES_REMAP_MODULO;
}

const char *source_name(const Source *s)
{
    return s->name;
}

const char *source_report(const Source *s)
{
    return s->report ? s->report->str : NULL;
}

/* ---- results ------------------------------------------------------------- */

const char *source_note(const Source *s)
{
    const char *note = NULL;

    if (s->traces) {
        traces_n_missing(s->traces, &note);
    }
    return note;
}

static uint64_t source_n_missing(const Source *s)
{
    const char *note;

    return traces_n_missing(s->traces, &note);
}

static bool has_traces(const void *ctx)
{
    const Source *s = ctx;

    return s->traces != NULL;
}

static bool has_workload(const void *ctx)
{
    return !has_traces(ctx);
}

static const StatWhen when_trace = {"of `replay`", has_traces};
static const StatWhen when_workload = {"of `run` and `fit`", has_workload};

static unsigned n_traces(const void *ctx)
{
    const Source *s = ctx;

    return s->traces ? traces_n(s->traces) : 0;
}

static const Trace *taken(const Source *s, const unsigned *at)
{
    return traces_trace(s->traces, at[0]);
}

/* "0, 3", or "8,0, 8,16". */
static const char *taken_devices(const Source *s, const Trace *t)
{
    uint32_t n = trace_n_devices(t);

    g_string_truncate(s->told, 0);
    for (uint32_t i = 0; i < MIN(n, MOST_DEVICES_TOLD); i++) {
        g_autofree char *name = trace_device_name(t, i);
        g_autofree char *clean = printable(name);

        g_string_append_printf(s->told, "%s%s", i ? ", " : "", clean);
    }
    return g_string_append(s->told, n > MOST_DEVICES_TOLD ? ", ..." : "")->str;
}

static const StatSet sets[] = {
    {"trace", "each file of `trace`", 0, NULL, n_traces},
};

static void taken_part(const void *ctx, JsonWriter *w)
{
    source_taken_json(ctx, w);
}

#define SOURCE_GET(type, id, path, unit, when, value, help)                    \
    STAT_FUNCTION(Source, type, id, value)

TAKEN_STATS(SOURCE_GET)
SOURCE_STATS(SOURCE_GET)

static const StatRow taken_rows[] = {TAKEN_STATS(RUN_STATS_ROW)};
static const StatRow rows[] = {SOURCE_STATS(RUN_STATS_ROW)};

const StatTable taken_stats = {taken_rows, G_N_ELEMENTS(taken_rows), sets,
                               G_N_ELEMENTS(sets)};

const StatTable source_stats = {rows, G_N_ELEMENTS(rows), NULL, 0};

void source_json(const Source *s, JsonWriter *w)
{
    stats_write(&source_stats, s, w);
}

void source_taken_json(const Source *s, JsonWriter *w)
{
    stats_write(&taken_stats, s, w);
}

static void append_unit(const char *what, uint64_t nbytes, GString *out)
{
    if (nbytes == 1) {
        g_string_append_printf(out, ", %s in bytes", what);
    } else {
        g_string_append_printf(
            out, ", %s in units of %" G_GUINT64_FORMAT " bytes", what, nbytes);
    }
}

/* How a trace was read, but not which; g_free() it. */
static char *taken_text(const Source *s, const Trace *t)
{
    GString *out = g_string_new(NULL);
    TraceUnits u = trace_units(t);
    uint32_t n = trace_n_devices(t);

    if (trace_is_void(t)) {
        g_string_append(out, "empty");
    } else {
        g_string_append_printf(out, "%s, times in %s", trace_format(t)->name,
                               trace_units_time(u.time_ns));
        append_unit("addresses", u.address_bytes, out);
        append_unit("sizes", u.size_bytes, out);
        g_string_append_printf(out, ", %" PRIu32 " device%s: %s", n,
                               n == 1 ? "" : "s", taken_devices(s, t));
    }
    return g_string_free(out, FALSE);
}

void source_taken_text(const Source *s, GString *out)
{
    unsigned n = n_traces(s);
    unsigned i = 0;

    while (i < n) {
        const unsigned first = i;
        g_autofree char *path = printable(s->from.cfg.paths[i]);
        g_autofree char *text = taken_text(s, traces_trace(s->traces, i));
        bool same = true;

        while (same && ++i < n) {
            g_autofree char *next = taken_text(s, traces_trace(s->traces, i));

            same = strcmp(text, next) == 0;
        }
        g_string_append(out, path);
        if (i - first > 1) {
            g_string_append_printf(out, " and %u more", i - first - 1);
        }
        g_string_append_printf(out, ": %s\n", text);
    }
}

static void join_text(const Source *s, GString *out)
{
    Join join = traces_join(s->traces);

    if (join < N_JOINS) {
        g_string_append_printf(out, "%u traces, %s (--join=%s)\n",
                               g_strv_length((char **)s->from.cfg.paths),
                               join_help(join), join_name(join));
    }
}

/* Records of a trace that are not played, though somebody may miss them. */
static void left_out_text(const Source *s, GString *out)
{
#define LEFT_OUT_TEXT(upper, name, told, help)                                 \
    if ((told) && traces_n_left(s->traces, TRACE_LEFT_##upper)) {              \
        g_string_append_printf(out,                                            \
                               "%" G_GUINT64_FORMAT " trace records " help     \
                               ", were left out\n",                            \
                               traces_n_left(s->traces, TRACE_LEFT_##upper));  \
    }
    TRACE_LEFTS(LEFT_OUT_TEXT)
#undef LEFT_OUT_TEXT
}

void source_trouble_text(const Source *s, GString *out)
{
    uint64_t n;

    if (!s->traces) {
        return;
    }
    join_text(s, out);
    n = traces_n_disordered(s->traces);
    if (n) {
        g_string_append_printf(out,
                               "%" G_GUINT64_FORMAT
                               " trace lines were older than the one before\n",
                               n);
    }
    n = traces_n_skipped(s->traces);
    if (n) {
        g_string_append_printf(out,
                               "%" G_GUINT64_FORMAT
                               " damaged trace lines were passed over\n",
                               n);
    }
    left_out_text(s, out);
    if (source_note(s)) {
        g_autofree char *note = printable(source_note(s));

        g_string_append_printf(out, "%s\n", note);
    }
}
