/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace-args.c - values of the options about traces. */
#include "trace-args.h"

#include <stdio.h>
#include <string.h>

#include "option-number.h"
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

/* "--option=value: allowed ..."; always false. */
static bool refuse(const char *option, const char *value, const char *allowed,
                   GError **error)
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
            return refuse("action", args.action, "D, Q, C", error);
        }
    }
    return true;
}

/* "0,1,1": stream 0 stays, 1 stays, 2 becomes 1. */
static bool set_streams(TraceOptions *o, GError **error)
{
    g_auto(GStrv) part =
        args.stream_map ? g_strsplit(args.stream_map, ",", -1) : NULL;
    const OptionNumber number = {.option = "stream-map",
                                 .value = args.stream_map,
                                 .max = TRACE_MAX_STREAMS - 1,
                                 .unit = "with commas between"};
    unsigned n = part ? g_strv_length(part) : 0;
    bool ok = !part || (n > 0 && n <= TRACE_MAX_STREAMS);
    uint64_t v;

    for (unsigned i = 0; ok && i < n; i++) {
        if (!option_number(&number, part[i], &v, error)) {
            return false;
        }
        o->stream[i] = (uint16_t)v;
    }
    o->n_streams = n;
    return ok || refuse("stream-map", args.stream_map,
                        "1 to 64 numbers 0..63 with commas between", error);
}

static bool set_options(TraceOptions *o, GError **error)
{
    const OptionNumber scale = {.option = "time-scale",
                                .min = 1,
                                .max = 1000000ULL * 1000000,
                                .scale = 1000000};

    o->device = args.device;
    if (args.time_scale &&
        !option_number(&scale, args.time_scale, &o->scale_ppm, error)) {
        return false;
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
    return refuse(option, value, all->str, error);
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
    const OptionNumber from = {.option = "from",
                               .max = REQUEST_MOST_NS,
                               .scale = NS_PER_S,
                               .unit = "seconds"};
    const OptionNumber repeat = {.option = "repeat", .min = 1, .max = 1000000};
    const OptionNumber sample = {.option = "sample",
                                 .min = 1,
                                 .max = 1000000,
                                 .scale = 10000,
                                 .suffix = "%"};
    uint64_t n = 0, ppm = r->sample_ppm;

    if ((args.from && !option_number(&from, args.from, &r->from_ns, error)) ||
        (args.repeat && !option_number(&repeat, args.repeat, &n, error)) ||
        (args.sample && !option_number(&sample, args.sample, &ppm, error))) {
        return false;
    }
    r->repeat = (uint32_t)n;
    r->sample_ppm = (uint32_t)ppm;
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
    const OptionNumber runtime = {.option = "runtime",
                                  .min = NS_PER_US,
                                  .max = REQUEST_MOST_NS,
                                  .scale = NS_PER_S,
                                  .unit = "seconds"};

    *ns = 0;
    return !text || option_number(&runtime, text, ns, error);
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
    const OptionNumber retime = {
        .option = "retime", .min = 1, .max = 1000000, .prefix = "D"};
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
    if (args.retime && !option_number(&retime, args.retime, &v, error)) {
        return false;
    }
    from->cfg.retime = (uint32_t)v;
    return true;
}
