/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-replay.c - vssd-sim replay: play block traces. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "drive.h"
#include "fields.h"
#include "play.h"
#include "printable.h"
#include "raid-args.h"
#include "recorded.h"
#include "simtime.h"

#define NO_DESCRIBE "not with --describe, which needs no drive"
#define NO_PLAYING  "not with --describe, which plays nothing"
#define NO_CHECK    "not with --check, which plays a trace as it is"

/* ---- options ------------------------------------------------------------- */

static struct {
    char *format;
    char *columns;
    char *action;
    char *device;
    gboolean skip_bad;
    char *join;
    char *remap;
    gboolean wrap;
    char *time_scale;
    char *retime;
    char *iodepth;
    char *runtime;
    char *stream_map;
    gboolean check;
} args;

static const GOptionEntry trace_entries[] = {
    {"format", 0, 0, G_OPTION_ARG_STRING, &args.format,
     "format of the traces (default: by the first bytes)", "NAME"},
    {"columns", 0, 0, G_OPTION_ARG_STRING, &args.columns,
     "names of the columns, for --format=csv without a header line",
     "NAME,NAME..."},
    {"action", 0, 0, G_OPTION_ARG_STRING, &args.action,
     "blktrace: which action is a request (default D if there is any, else Q)",
     "D|Q|C"},
    {"device", 0, 0, G_OPTION_ARG_STRING, &args.device,
     "play only this device of the traces", "N"},
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
    {.long_name = NULL},
};

static const GOptionEntry way_entries[] = {
    {"wrap", 0, 0, G_OPTION_ARG_NONE, &args.wrap,
     "fold addresses beyond the drive into it", NULL},
    {"iodepth", 0, 0, G_OPTION_ARG_STRING, &args.iodepth,
     "play traces with N requests in flight, without regard to time", "N"},
    {"runtime", 0, 0, G_OPTION_ARG_STRING, &args.runtime,
     "end after this modelled time: no request starts later", "SECONDS"},
    {"check", 0, 0, G_OPTION_ARG_NONE, &args.check,
     "play a trace of vssd's own exactly, and compare each completion with the "
     "recorded one; without --profile on the recorded drive",
     NULL},
    {.long_name = NULL},
};

static const OptionTable trace_options = {"Traces", trace_entries};
static const OptionTable way_options = {"How traces are played", way_entries};

static const OptionTable *const *shown(const Command *c)
{
    static const OptionTable *const described[] = {
        &trace_options,
        &result_options,
        NULL,
    };

    return play_describes() ? described : NULL;
}

static void more(GString *out)
{
    g_string_append(out, "\nFormats of traces (gzip, xz and zstd are unpacked; "
                         "several are merged by time):\n");
    for (unsigned i = 0; trace_formats[i]; i++) {
        g_string_append_printf(out, "  %-12s %s\n", trace_formats[i]->name,
                               trace_formats[i]->help);
    }
    help_names(out, "Ways of --join", join_name, join_help);
    help_names(out, "Ways of --remap", traces_remap_name, traces_remap_help);
    if (!play_describes()) {
        drive_help_fills(out);
    }
}

/* ---- values -------------------------------------------------------------- */

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
    unsigned n = part ? g_strv_length(part) : 0;
    bool ok = !part || (n > 0 && n <= TRACE_MAX_STREAMS);
    uint64_t v;

    for (unsigned i = 0; ok && i < n; i++) {
        ok = field_whole(part[i], "", 0, TRACE_MAX_STREAMS - 1, &v);
        o->stream[i] = (uint16_t)v;
    }
    o->n_streams = n;
    return ok || refuse("stream-map", args.stream_map,
                        "1 to 64 numbers 0..63 with commas between", error);
}

static bool set_options(TraceOptions *o, GError **error)
{
    uint64_t v;

    if (args.device) {
        if (!field_whole(args.device, "", 0, INT64_MAX, &v)) {
            return refuse("device", args.device, "the number of a device",
                          error);
        }
        o->device = (int64_t)v;
    }
    if (args.time_scale) {
        if (!field_whole_time(args.time_scale, 1000000, &v) || v == 0 ||
            v > 1000000ULL * 1000000) {
            return refuse("time-scale", args.time_scale, "0.000001..1000000",
                          error);
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
    return refuse(option, value, all->str, error);
}

static bool set_layout(TracesConfig *cfg, GError **error)
{
    unsigned remap = cfg->paths[1] ? TRACES_REMAP_BESIDE : TRACES_REMAP_NONE;
    unsigned join = N_JOINS;
    bool ok;

    ok = (!args.remap ||
          find_name("remap", args.remap, traces_remap_name, &remap, error)) &&
         (!args.join || find_name("join", args.join, join_name, &join, error));
    cfg->remap = remap;
    cfg->join = join;
    return ok;
}

/* 0: no limit. */
static bool read_runtime(uint64_t *ns, GError **error)
{
    *ns = 0;
    if (args.runtime && (!field_whole_time(args.runtime, NS_PER_S, ns) ||
                         *ns < NS_PER_US || *ns > REQUEST_MOST_NS)) {
        return refuse("runtime", args.runtime, "0.000001..315360000 seconds",
                      error);
    }
    return true;
}

/* A part for the whole is no error, but nobody would expect it. */
static Source *with_note(Source *s)
{
    if (s && source_note(s)) {
        g_autofree char *note = printable(source_note(s));

        fprintf(stderr, "vssd-sim: %s\n", note);
    }
    return s;
}

static Source *open_source(char **paths, uint64_t seed, GError **error)
{
    SourceTraces from = {
        .cfg = {.paths = (const char *const *)paths,
                .options = TRACE_OPTIONS_INIT,
                .seed = seed},
        .stream_map = args.stream_map,
    };
    uint64_t v = 0;

    if (!set_options(&from.cfg.options, error) ||
        !set_layout(&from.cfg, error)) {
        return NULL;
    }
    if (args.retime && !field_whole(args.retime, "D", 1, 1000000, &v)) {
        refuse("retime", args.retime, "D1..D1000000", error);
        return NULL;
    }
    from.cfg.retime = (uint32_t)v;
    v = 0;
    if (args.iodepth && !field_whole(args.iodepth, "", 1, 65536, &v)) {
        refuse("iodepth", args.iodepth, "1..65536", error);
        return NULL;
    }
    from.iodepth = (uint32_t)v;
    if (!read_runtime(&from.runtime_ns, error)) {
        return NULL;
    }
    return with_note(source_traces(&from, error));
}

/* ---- the command --------------------------------------------------------- */

/* Of traces alone: no drive is made. */
static bool describe_traces(char **paths, GError **error)
{
    g_autoptr(Source) source = NULL;
    DriveUse use = {.recorded = NULL};

    if (!options_absent(&way_options, NULL, NO_PLAYING, error) ||
        !options_absent(&drive_options, NULL, NO_DESCRIBE, error) ||
        !options_absent(&array_options, NULL, NO_DESCRIBE, error) ||
        !play_check(&use, error)) {
        return false;
    }
    source = open_source(paths, 0, error);
    return source && play_describe(source, error);
}

/* --check plays the recording; options that would change it are refused.
 */
static bool check_alone(GError **error)
{
    return !args.check ||
           (options_absent(&trace_options, NULL, NO_CHECK, error) &&
            options_absent(&way_options, "check", NO_CHECK, error) &&
            options_absent(&start_options, "precondition,state,save-state",
                           NO_CHECK, error) &&
            options_absent(&result_options, "json", NO_CHECK, error) &&
            options_absent(&play_options,
                           "csv,series,oplog,record,histograms,timeline,"
                           "timeline-from,timeline-for,timeline-size",
                           NO_CHECK, error));
}

/* *recorded: the only trace, if it is of vssd's own; or NULL. */
static bool open_recorded(char **paths, Recorded **recorded, GError **error)
{
    if (!paths[1] && recorded_is(paths[0])) {
        *recorded = recorded_open(paths[0], error);
        return *recorded != NULL;
    }
    if (args.check) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "--check: give one trace, made by trace= of the QEMU "
                    "device or by --record");
        return false;
    }
    return true;
}

static bool check_args(char **paths, GError **error)
{
    if (!paths[0]) {
        return command_usage(error, "which trace? FILE is missing");
    }
    if (g_strv_length(paths) > TRACES_MAX) {
        return command_usage(error, "%s: at most %d traces", paths[TRACES_MAX],
                             TRACES_MAX);
    }
    if (args.iodepth && args.time_scale) {
        return command_usage(error, "--time-scale: not with --iodepth, which "
                                    "plays without regard to time");
    }
    return check_alone(error);
}

static bool run(char **words, GError **error)
{
    DriveUse use = {
        .of_one = args.check ? "--check" : NULL,
        .whole = args.check ? "--check" : NULL,
        .no_rules = args.check ? "--check" : NULL,
        .as_in_qemu = args.check,
    };
    g_autoptr(Recorded) recorded = NULL;
    g_autoptr(Drive) drive = NULL;
    g_autoptr(Source) source = NULL;
    Play what;

    if (!check_args(words, error)) {
        return false;
    }
    if (play_describes()) {
        return describe_traces(words, error);
    }
    if (!play_check(&use, error) || !open_recorded(words, &recorded, error)) {
        return false;
    }
    use.recorded = recorded;
    drive = drive_open(&use, error);
    source = drive ? open_source(words, drive->seed, error) : NULL;
    what = (Play){
        .drive = drive,
        .source = source,
        .wrap = args.wrap,
        .recorded_path = recorded ? words[0] : NULL,
        .check = args.check ? recorded : NULL,
    };
    return source && play(&what, error);
}

const Command cmd_replay = {
    .name = "replay",
    .help = "play block traces on a drive, or compare a recorded run",
    .words = "FILE...",
    .max_words = UINT_MAX,
    .tables = {&trace_options, &way_options, &drive_options, &array_options,
               &start_options, &result_options, &play_options},
    .shown = shown,
    .more = more,
    .run = run,
};
