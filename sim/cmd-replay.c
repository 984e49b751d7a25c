/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-replay.c - vssd-sim replay: play block traces. */
#include <limits.h>

#include "command.h"
#include "drive.h"
#include "option-number.h"
#include "play.h"
#include "raid-args.h"
#include "recorded.h"
#include "trace-args.h"

#define NO_DESCRIBE "not with --describe, which needs no drive"
#define NO_PLAYING  "not with --describe, which plays nothing"
#define NO_CHECK    "not with --check, which plays a trace as it is"

/* ---- options ------------------------------------------------------------- */

static struct {
    gboolean wrap;
    char *iodepth;
    char *runtime;
    gboolean check;
    char *window;
    char *overlap;
    char *jobs;
    WindowsConfig windows; /* of these three, once they have been read */
} args;

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
    {"window", 0, 0, G_OPTION_ARG_STRING, &args.window,
     "play windows of N requests side by side, from a drive that a pass "
     "without time has made (docs/traces.md)",
     "N"},
    {"overlap", 0, 0, G_OPTION_ARG_STRING, &args.overlap,
     "requests that a window plays before those that count (default: 40000, "
     "at most a quarter of --window)",
     "N"},
    {"jobs", 0, 0, G_OPTION_ARG_STRING, &args.jobs,
     "windows that are played at a time (default: the processors)", "N"},
    {.long_name = NULL},
};

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
    trace_args_help(out);
    if (!play_describes()) {
        drive_help_fills(out);
    }
}

/* ---- values -------------------------------------------------------------- */

static Source *open_source(char **paths, uint64_t seed, GError **error)
{
    SourceTraces from = {.iodepth = 0};
    const OptionNumber iodepth = {.option = "iodepth", .min = 1, .max = 65536};
    uint64_t v = 0;
    Source *s;

    if (!trace_args(paths, seed, &from, error) ||
        !trace_args_runtime(args.runtime, &from.runtime_ns, error)) {
        return NULL;
    }
    if (args.iodepth && !option_number(&iodepth, args.iodepth, &v, error)) {
        return NULL;
    }
    from.iodepth = (uint32_t)v;
    from.cfg.options.may_lack_times = args.iodepth || play_describes();
    from.cfg.options.may_be_unsorted = args.iodepth;
    s = source_traces(&from, error);
    if (s) {
        trace_args_note(source_note(s));
    }
    return s;
}

/* ---- windows ------------------------------------------------------------- */

#define MOST_WINDOW 100000000
#define MOST_JOBS   1024
#define OVERLAP     40000 /* if it is not given, and a quarter of a window */

static bool read_windows(GError **error)
{
    WindowsConfig *w = &args.windows;
    const OptionNumber window = {
        .option = "window", .min = 32, .max = MOST_WINDOW, .unit = "requests"};
    const OptionNumber jobs = {.option = "jobs", .min = 1, .max = MOST_JOBS};
    OptionNumber overlap = {.option = "overlap", .min = 2, .unit = "requests"};
    uint64_t n = MIN(g_get_num_processors(), MOST_JOBS);

    if (!option_number(&window, args.window, &w->requests, error) ||
        (args.jobs && !option_number(&jobs, args.jobs, &n, error))) {
        return false;
    }
    overlap.max = w->requests;
    w->overlap = MIN(OVERLAP, w->requests / 4);
    w->jobs = (unsigned)n;
    return !args.overlap ||
           option_number(&overlap, args.overlap, &w->overlap, error);
}

static bool check_windows(GError **error)
{
    const char *alone = args.overlap ? "overlap" : args.jobs ? "jobs" : NULL;

    if (!args.window) {
        return !alone || command_usage(error, "--%s needs --window", alone);
    }
    return options_absent(&way_options, "wrap,runtime,window,overlap,jobs",
                          "not with --window, which plays by the times of the "
                          "trace",
                          error) &&
           options_absent(&array_options, NULL,
                          "not with --window, which is of one drive", error) &&
           play_check_windows(error) && read_windows(error);
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
                    "--check: give one trace, no pipe, made by trace= of the "
                    "QEMU device or by --record");
        return false;
    }
    return true;
}

static bool check_args(char **paths, GError **error)
{
    if (!trace_args_paths(paths, error)) {
        return false;
    }
    if (args.iodepth && option_given(&trace_options, "time-scale")) {
        return command_usage(error, "--time-scale: not with --iodepth, which "
                                    "plays without regard to time");
    }
    return check_alone(error) && check_windows(error);
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
    if (drive && args.window && !play_check_windows_drive(drive, error)) {
        return false;
    }
    source = drive ? open_source(words, drive->seed, error) : NULL;
    what = (Play){
        .drive = drive,
        .source = source,
        .wrap = args.wrap,
        .recorded_path = recorded ? words[0] : NULL,
        .check = args.check ? recorded : NULL,
        .windows = args.window ? &args.windows : NULL,
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
