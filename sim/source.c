/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.c - from the command line to a source of requests.
 */
#include "source.h"

#include <string.h>

#include "fields.h"
#include "fit.h"
#include "job.h"
#include "options.h"
#include "workload.h"

struct Source {
    const SourceArgs *args;
    char *name;
    GString *report; /* of the fit; or NULL */
    Workload *workload;
    Traces *traces;
    TracesConfig cfg; /* of traces */
    uint32_t iodepth;
    RequestSource requests;
};

void source_args_clear(SourceArgs *a)
{
    g_free(a->workload);
    g_free(a->fit);
    g_free(a->job);
    g_free(a->section);
    g_free(a->save);
    g_strfreev(a->traces);
    g_free(a->format);
    g_free(a->columns);
    g_free(a->action);
    g_free(a->device);
    g_free(a->remap);
    g_free(a->time_scale);
    g_free(a->retime);
    g_free(a->iodepth);
    g_free(a->stream_map);
}

/* ---- options of traces ----------------------------------------------------- */

static bool refuse(const char *option, const char *value, const char *allowed,
                   GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "--%s=%s: allowed %s",
                option, value, allowed);
    return false;
}

/* A whole number after a prefix, min..max. */
static bool number(const char *text, const char *prefix, uint64_t min,
                   uint64_t max, uint64_t *out)
{
    const char *s = text;

    if (g_ascii_strncasecmp(s, prefix, strlen(prefix)) == 0) {
        s += strlen(prefix);
    }
    return field_u64(&s, out) && *s == '\0' && *out >= min && *out <= max;
}

static bool set_format(const SourceArgs *a, TraceOptions *o, GError **error)
{
    if (a->format) {
        o->format = trace_format_find(a->format);
        if (!o->format) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                        "--format=%s: no such trace format (vssd-sim --help "
                        "lists them)",
                        a->format);
            return false;
        }
    } else if (a->columns) {
        o->format = &trace_csv;
    }
    o->columns = a->columns;
    if (a->action) {
        o->action = g_ascii_toupper(a->action[0]);
        if (strlen(a->action) != 1 || !strchr("DQC", o->action)) {
            return refuse("action", a->action, "D, Q, C", error);
        }
    }
    return true;
}

/* "0,1,1": stream 0 stays, 1 stays, 2 becomes 1. */
static bool set_streams(const SourceArgs *a, TraceOptions *o, GError **error)
{
    g_auto(GStrv) part = a->stream_map ? g_strsplit(a->stream_map, ",", -1)
                                       : NULL;
    unsigned n = part ? g_strv_length(part) : 0;
    bool ok = !part || (n > 0 && n <= TRACE_MAX_STREAMS);
    uint64_t v;

    for (unsigned i = 0; ok && i < n; i++) {
        ok = number(part[i], "", 0, TRACE_MAX_STREAMS - 1, &v);
        o->stream[i] = (uint16_t)v;
    }
    o->n_streams = n;
    return ok || refuse("stream-map", a->stream_map,
                        "1 to 64 numbers 0..63 with commas between", error);
}

static bool set_options(const SourceArgs *a, TraceOptions *o, GError **error)
{
    uint64_t v;

    if (a->device) {
        if (!number(a->device, "", 0, INT64_MAX, &v)) {
            return refuse("device", a->device, "the number of a device",
                          error);
        }
        o->device = (int64_t)v;
    }
    if (a->time_scale) {
        const char *s = a->time_scale;

        if (!field_time(&s, 1000000, &v) || *s || v == 0 ||
            v > 1000000ULL * 1000000) {
            return refuse("time-scale", a->time_scale, "0.000001..1000000",
                          error);
        }
        o->scale_ppm = v;
    }
    o->skip_bad = a->skip_bad;
    return set_streams(a, o, error) && set_format(a, o, error);
}

static bool set_remap(const SourceArgs *a, TracesConfig *cfg, GError **error)
{
    g_autoptr(GString) all = g_string_new(NULL);

    cfg->remap = a->traces[1] ? TRACES_REMAP_BESIDE : TRACES_REMAP_NONE;
    if (!a->remap) {
        return true;
    }
    for (unsigned i = 0; traces_remap_name(i); i++) {
        if (strcmp(traces_remap_name(i), a->remap) == 0) {
            cfg->remap = i;
            return true;
        }
        g_string_append_printf(all, "%s%s", i ? ", " : "",
                               traces_remap_name(i));
    }
    return refuse("remap", a->remap, all->str, error);
}

static bool open_traces(Source *s, uint64_t seed, GError **error)
{
    const SourceArgs *a = s->args;
    uint64_t v = 0;

    s->cfg = (TracesConfig){
        .paths = (const char *const *)a->traces,
        .options = TRACE_OPTIONS_INIT,
        .seed = seed,
    };
    if (g_strv_length(a->traces) > TRACES_MAX) {
        return refuse("trace", a->traces[TRACES_MAX], "64 of them", error);
    }
    if (!set_options(a, &s->cfg.options, error) ||
        !set_remap(a, &s->cfg, error)) {
        return false;
    }
    if (a->retime && !number(a->retime, "D", 1, 1000000, &v)) {
        return refuse("retime", a->retime, "D1..D1000000", error);
    }
    s->cfg.retime = (uint32_t)v;
    v = 0;
    if (a->iodepth && !number(a->iodepth, "", 1, 65536, &v)) {
        return refuse("iodepth", a->iodepth, "1..65536", error);
    }
    s->traces = traces_open(&s->cfg, error);
    if (s->traces) {
        s->requests = traces_source(s->traces);
        s->requests.iodepth = (uint32_t)v;
        s->name = g_strjoinv(" + ", a->traces);
    }
    return s->traces != NULL;
}

/* ---- the source ------------------------------------------------------------ */

/* Options of traces do nothing for a workload: say so. */
static bool only_of_traces(const SourceArgs *a, GError **error)
{
    const char *given = a->format       ? "format"
                        : a->columns    ? "columns"
                        : a->action     ? "action"
                        : a->device     ? "device"
                        : a->remap      ? "remap"
                        : a->time_scale ? "time-scale"
                        : a->retime     ? "retime"
                        : a->iodepth    ? "iodepth"
                        : a->stream_map ? "stream-map"
                        : a->skip_bad   ? "skip-bad"
                                        : NULL;

    if (given) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "--%s: only with --trace", given);
    }
    return !given;
}

/* Write the description, so that --workload @FILE makes the same requests. */
static bool save(const Source *s, GError **error)
{
    g_autofree char *line = NULL;
    GString *text;
    bool ok;

    if (!s->args->save) {
        return true;
    }
    line = workload_describe(s->workload);
    text = g_string_new("# A workload of vssd-sim: --workload @FILE\n");
    if (s->report) {
        g_auto(GStrv) lines = g_strsplit(s->report->str, "\n", -1);

        for (char **p = lines; *p && **p; p++) {
            g_string_append_printf(text, "# %s\n", *p);
        }
    }
    g_string_append(text, g_strdelimit(line, " ", '\n'));
    g_string_append_c(text, '\n');
    ok = g_file_set_contents(s->args->save, text->str, (gssize)text->len,
                             error);
    g_string_free(text, TRUE);
    return ok;
}

/* The keywords, from wherever they come. */
static char *keywords(Source *s, uint64_t capacity_bytes, uint32_t block_bytes,
                      uint64_t seed, GError **error)
{
    const SourceArgs *a = s->args;

    if (a->job) {
        return job_keywords(a->job, a->section, error);
    }
    if (a->fit) {
        s->report = g_string_new(NULL);
        return fit_workload(a->fit, capacity_bytes, block_bytes, seed,
                            s->report, error);
    }
    return workload_text(a->workload, error);
}

static bool open_workload(Source *s, uint64_t capacity_bytes,
                          uint32_t block_bytes, uint64_t seed, GError **error)
{
    if (!only_of_traces(s->args, error)) {
        return false;
    }
    s->name = keywords(s, capacity_bytes, block_bytes, seed, error);
    if (!s->name) {
        return false;
    }
    s->workload =
        workload_new(s->name, capacity_bytes, block_bytes, seed, error);
    if (!s->workload) {
        return false;
    }
    s->requests = workload_source(s->workload);
    return save(s, error);
}

/* Exactly one of them. */
static bool check_kinds(const SourceArgs *a, GError **error)
{
    if (!!a->traces + !!a->workload + !!a->job + !!a->fit != 1) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "give one of --workload or --trace, --job, --fit "
                    "(vssd-sim --help says more)");
        return false;
    }
    if (a->section && !a->job) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--section: only with --job");
        return false;
    }
    if (a->save && a->traces) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--save: not with --trace");
        return false;
    }
    return true;
}

Source *source_open(const SourceArgs *args, uint64_t capacity_bytes,
                    uint32_t block_bytes, uint64_t seed, GError **error)
{
    Source *s = g_new0(Source, 1);
    bool ok = false;

    s->args = args;
    if (check_kinds(args, error)) {
        ok = args->traces ? open_traces(s, seed, error)
                          : open_workload(s, capacity_bytes, block_bytes,
                                          seed, error);
    }
    if (!ok) {
        source_close(s);
        return NULL;
    }
    return s;
}

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
    return s->traces && s->cfg.remap == TRACES_REMAP_MODULO;
}

const char *source_name(const Source *s)
{
    return s->name;
}

const char *source_report(const Source *s)
{
    return s->report ? s->report->str : NULL;
}

/* ---- results --------------------------------------------------------------- */

static void traces_json(const Source *s, JsonWriter *w)
{
    json_string(w, "trace", s->name);
    json_string(w, "remap", traces_remap_name(s->cfg.remap));
    json_u64(w, "retime", s->cfg.retime);
    json_string(w, "stream_map",
                s->args->stream_map ? s->args->stream_map : "");
    json_double(w, "time_scale", (double)s->cfg.options.scale_ppm / 1e6);
    json_u64(w, "disordered", traces_n_disordered(s->traces));
    json_u64(w, "skipped", traces_n_skipped(s->traces));
}

void source_json(const Source *s, JsonWriter *w)
{
    if (s->traces) {
        traces_json(s, w);
    } else {
        json_string(w, "workload", s->name);
        json_bool(w, "synthetic_fit", s->report != NULL);
    }
}

void source_trouble_text(const Source *s, GString *out)
{
    uint64_t n;

    if (!s->traces) {
        return;
    }
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
}
