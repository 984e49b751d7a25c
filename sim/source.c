/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.c - a workload or traces as a source of requests, with its part of
 * the results.
 */
#include "source.h"

#include "fit.h"
#include "printable.h"
#include "replace.h"
#include "run-stats.h"
#include "workload.h"

struct Source {
    char *name;
    GString *report; /* of the fit; or NULL */
    Workload *workload;
    Traces *traces;
    SourceTraces from; /* of traces */
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
    };
}

/* With s->name, the keywords.  Closes the source if that fails. */
static Source *generate(Source *s, const SourceDrive *d, GError **error)
{
    if (s->name) {
        s->workload = workload_new(s->name, d->capacity_bytes, d->block_bytes,
                                   d->seed, error);
    }
    if (!s->workload) {
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
        g_free(s);
    }
}

const RequestSource *source_requests(const Source *s)
{
    return &s->requests;
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

#define SOURCE_GET(type, id, path, unit, when, value, help)                    \
    STAT_FUNCTION(Source, type, id, value)

SOURCE_STATS(SOURCE_GET)

static const StatRow rows[] = {SOURCE_STATS(RUN_STATS_ROW)};

const StatTable source_stats = {rows, G_N_ELEMENTS(rows), NULL, 0};

void source_json(const Source *s, JsonWriter *w)
{
    stats_write(&source_stats, s, w);
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
