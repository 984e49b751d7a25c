/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace-args.c - values of the options about traces. */
#include "trace-args.h"

#include <stdio.h>
#include <string.h>

#include "fields.h"
#include "printable.h"
#include "simtime.h"

static struct {
    char *format;
    char *columns;
    char *units;
    char *action;
    char *device;
    gboolean skip_bad;
    char *join;
    char *remap;
    char *time_scale;
    char *retime;
    char *stream_map;
    char *from;
    char *repeat;
    char *sample;
} args;

static const GOptionEntry trace_entries[] = {
    {"format", 0, 0, G_OPTION_ARG_STRING, &args.format,
     "format of the traces (default: by the first bytes)", "NAME"},
    {"columns", 0, 0, G_OPTION_ARG_STRING, &args.columns,
     "names of the columns, for --format=csv without a header line",
     "NAME,NAME..."},
    {"units", 0, 0, G_OPTION_ARG_STRING, &args.units,
     "units of csv, disksim, ssdsim and mqsim: time=ns|100ns|us|ms|s, "
     "address=BYTES, size=BYTES",
     "NAME=UNIT,..."},
    {"action", 0, 0, G_OPTION_ARG_STRING, &args.action,
     "blktrace: which action is a request (default D if there is any, else Q)",
     "D|Q|C"},
    {"device", 0, 0, G_OPTION_ARG_STRING, &args.device,
     "play only this device of the traces: a number, 8,0 or sda", "NAME"},
    {"skip-bad", 0, 0, G_OPTION_ARG_NONE, &args.skip_bad,
     "count damaged lines of traces and continue", NULL},
    {"join", 0, 0, G_OPTION_ARG_STRING, &args.join,
     "how several traces belong together (default: as they look)", "HOW"},
    {"remap", 0, 0, G_OPTION_ARG_STRING, &args.remap,
     "change the addresses of traces", "HOW"},
    {"time-scale", 0, 0, G_OPTION_ARG_STRING, &args.time_scale,
     "multiply the times of traces: 0.5 is twice as fast", "FACTOR"},
    {"retime", 0, 0, G_OPTION_ARG_STRING, &args.retime,
     "let the writes of traces come in batches of 1..k (docs/traces.md)", "Dk"},
    {"stream-map", 0, 0, G_OPTION_ARG_STRING, &args.stream_map,
     "the streams that streams 0, 1, 2... of traces become (docs/streams.md)",
     "N,N..."},
    {"from", 0, 0, G_OPTION_ARG_STRING, &args.from,
     "begin so long after the first request of traces, by their own clock",
     "SECONDS"},
    {"repeat", 0, 0, G_OPTION_ARG_STRING, &args.repeat,
     "read the traces N times, one pass after the other", "N"},
    {"sample", 0, 0, G_OPTION_ARG_STRING, &args.sample,
     "read a part of the addresses, the same each time (docs/traces.md)", "P%"},
    {.long_name = NULL},
};

const OptionTable trace_options = {"Traces", trace_entries};

void trace_args_help(GString *out)
{
    g_string_append(out, "\nFormats of traces (gzip, xz and zstd are unpacked; "
                         "several are merged by time):\n");
    for (unsigned i = 0; trace_formats[i]; i++) {
        g_string_append_printf(out, "  %-12s %s\n", trace_formats[i]->name,
                               trace_formats[i]->help);
    }
    help_names(out, "Ways of --join", join_name, join_help);
    help_names(out, "Ways of --remap", traces_remap_name, traces_remap_help);
}

bool trace_args_refuse(const char *option, const char *value,
                       const char *allowed, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE, "--%s=%s: allowed %s",
                option, value, allowed);
    return false;
}

static bool set_format(TraceOptions *o, GError **error)
{
    const char *name = args.format ? args.format : args.columns ? "csv" : NULL;

    if (name) {
        o->format = trace_format_find(name);
        if (!o->format) {
            return command_usage(error, "--format=%s: no such trace format",
                                 name);
        }
    }
    o->columns = args.columns;
    if (args.units && !trace_units_read(args.units, &o->units, error)) {
        return false;
    }
    if (args.action) {
        o->action = g_ascii_toupper(args.action[0]);
        if (strlen(args.action) != 1 || !strchr("DQC", o->action)) {
            return trace_args_refuse("action", args.action, "D, Q, C", error);
        }
    }
    return true;
}

/* "0,1,1": stream 0 stays, 1 stays, 2 becomes 1. */
static bool set_streams(TraceOptions *o, GError **error)
{
    g_auto(GStrv) part =
        args.stream_map ? g_strsplit(args.stream_map, ",", -1) : NULL;
    unsigned n = part ? g_strv_length(part) : 0;
    bool ok = !part || (n > 0 && n <= TRACE_MAX_STREAMS);
    uint64_t v;

    for (unsigned i = 0; ok && i < n; i++) {
        ok = field_whole(part[i], "", 0, TRACE_MAX_STREAMS - 1, &v);
        o->stream[i] = (uint16_t)v;
    }
    o->n_streams = n;
    return ok || trace_args_refuse("stream-map", args.stream_map,
                                   "1 to 64 numbers 0..63 with commas between",
                                   error);
}

static bool set_options(TraceOptions *o, GError **error)
{
    uint64_t v;

    o->device = args.device;
    if (args.time_scale) {
        if (!field_whole_time(args.time_scale, 1000000, &v) || v == 0 ||
            v > 1000000ULL * 1000000) {
            return trace_args_refuse("time-scale", args.time_scale,
                                     "0.000001..1000000", error);
        }
        o->scale_ppm = v;
    }
    o->skip_bad = args.skip_bad;
    return set_streams(o, error) && set_format(o, error);
}

/* The number of the name; false: there is no such. */
static bool find_name(const char *option, const char *value,
                      const char *(*name)(unsigned i), unsigned *found,
                      GError **error)
{
    g_autoptr(GString) all = g_string_new(NULL);

    for (unsigned i = 0; name(i); i++) {
        if (strcmp(name(i), value) == 0) {
            *found = i;
            return true;
        }
        g_string_append_printf(all, "%s%s", i ? ", " : "", name(i));
    }
    return trace_args_refuse(option, value, all->str, error);
}

static bool set_layout(TracesConfig *cfg, GError **error)
{
    unsigned remap = TRACES_N_REMAPS;
    unsigned join = N_JOINS;
    bool ok;

    ok = (!args.remap ||
          find_name("remap", args.remap, traces_remap_name, &remap, error)) &&
         (!args.join || find_name("join", args.join, join_name, &join, error));
    cfg->remap = remap;
    cfg->join = join;
    return ok;
}

/* The window, the passes and the sample. */
static bool set_reading(ReadingConfig *r, GError **error)
{
    g_autofree char *part = NULL;
    uint64_t v = 0;

    if (args.from && (!field_whole_time(args.from, NS_PER_S, &r->from_ns) ||
                      r->from_ns > REQUEST_MOST_NS)) {
        return trace_args_refuse("from", args.from, "0..315360000 seconds",
                                 error);
    }
    if (args.repeat && !field_whole(args.repeat, "", 1, 1000000, &v)) {
        return trace_args_refuse("repeat", args.repeat, "1..1000000", error);
    }
    r->repeat = (uint32_t)v;
    if (!args.sample) {
        return true;
    }
    part = g_strdup(args.sample);
    if (!g_str_has_suffix(part, "%")) {
        return trace_args_refuse("sample", args.sample, "0.0001%..100%", error);
    }
    part[strlen(part) - 1] = '\0';
    if (!field_whole_time(part, 10000, &v) || v < 1 || v > 1000000) {
        return trace_args_refuse("sample", args.sample, "0.0001%..100%", error);
    }
    r->sample_ppm = (uint32_t)v;
    return true;
}

void trace_args_note(const char *note)
{
    if (note) {
        g_autofree char *text = printable(note);

        fprintf(stderr, "vssd-sim: %s\n", text);
    }
}

bool trace_args_runtime(const char *text, uint64_t *ns, GError **error)
{
    *ns = 0;
    if (text && (!field_whole_time(text, NS_PER_S, ns) || *ns < NS_PER_US ||
                 *ns > REQUEST_MOST_NS)) {
        return trace_args_refuse("runtime", text, "0.000001..315360000 seconds",
                                 error);
    }
    return true;
}

bool trace_args_paths(char **paths, GError **error)
{
    if (!paths[0]) {
        return command_usage(error, "which trace? FILE is missing");
    }
    if (g_strv_length(paths) > TRACES_MAX) {
        return command_usage(error, "%s: at most %d traces", paths[TRACES_MAX],
                             TRACES_MAX);
    }
    return true;
}

bool trace_args(char **paths, uint64_t seed, SourceTraces *from, GError **error)
{
    uint64_t v = 0;

    from->cfg = (TracesConfig){
        .paths = (const char *const *)paths,
        .options = TRACE_OPTIONS_INIT,
        .seed = seed,
    };
    from->stream_map = args.stream_map;
    if (!set_options(&from->cfg.options, error) ||
        !set_layout(&from->cfg, error) ||
        !set_reading(&from->cfg.reading, error)) {
        return false;
    }
    if (args.retime && !field_whole(args.retime, "D", 1, 1000000, &v)) {
        return trace_args_refuse("retime", args.retime, "D1..D1000000", error);
    }
    from->cfg.retime = (uint32_t)v;
    return true;
}
