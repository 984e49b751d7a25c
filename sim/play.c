/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * play.c - from options of results to a run and its outputs.
 *
 * Knows the order of a run: precondition, logs, fill, play, save, print.  Knows
 * nothing about where the requests come from.
 */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "describe.h"
#include "live.h"
#include "option-number.h"
#include "player.h"
#include "record.h"
#include "replace.h"
#include "replay.h"
#include "result.h"
#include "simtime.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "walltime.h"

/* --until-steady: a round is one write of the part of the drive that the load
 * touches.  Of a load that writes nothing: so many requests, or this many for
 * each in flight. */
#define READS_A_ROUND   10000
#define READS_IN_FLIGHT 100
#define MOST_ROUNDS     25 /* as in the SNIA's specification */

/* --precondition: rounds of a fifth of that, and limits of WAF. */
#define LEAD_PARTS     5
#define LEAD_MOST      0.05
#define LEAD_MOST_RISE 0.02

#define NO_DESCRIBE "not with --describe, which plays nothing"

/* ---- options ------------------------------------------------------------- */

static struct {
    gboolean describe;
    gboolean json;
    gboolean explain;
    char *warm_up;
    char *until_steady;
    char *csv;
    char *series;
    char *oplog;
    char *record;
    char *histograms;
    char *live;
    gboolean control;
    char *timeline;
    char *timeline_option[SSD_TIMELINE_OPTIONS];
    /* Of these texts, once play_check() has read them; 0: not given. */
    uint64_t n_warm_up;
    SteadyMetric metric;
    uint64_t series_ns;
    SsdTimelineOptions timeline_options;
} args;

static const GOptionEntry result_entries[] = {
    {"describe", 0, 0, G_OPTION_ARG_NONE, &args.describe,
     "do not play the requests, describe them; --describe --help lists the "
     "options that go with it",
     NULL},
    {"json", 0, 0, G_OPTION_ARG_NONE, &args.json,
     "print results as JSON (docs/results.md)", NULL},
    {.long_name = NULL},
};

static const GOptionEntry play_entries[] = {
    {"explain", 0, 0, G_OPTION_ARG_NONE, &args.explain,
     "show what bounds the run: how busy each stage of the drive was, and the "
     "wait for it; with --json these are the members explain.*",
     NULL},
    {"warm-up", 0, 0, G_OPTION_ARG_STRING, &args.warm_up,
     "results begin when N requests have completed", "N"},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &args.csv,
     "write a line per command, with the parts of its latency "
     "(docs/results.md)",
     "FILE"},
    {"series", 0, 0, G_OPTION_ARG_STRING, &args.series,
     "show the course of the run in intervals of this modelled time",
     "SECONDS"},
    {"oplog", 0, 0, G_OPTION_ARG_FILENAME, &args.oplog,
     "write every operation of the drive to FILE, for vssd-oplog-check "
     "(docs/oplog.md)",
     "FILE"},
    {"record", 0, 0, G_OPTION_ARG_FILENAME, &args.record,
     "write a trace of this run, as trace= of the QEMU device does "
     "(docs/traces.md)",
     "FILE"},
    {"histograms", 0, 0, G_OPTION_ARG_FILENAME, &args.histograms,
     "write the latencies to FILE, as a log of HdrHistogram "
     "(docs/timeline.md)",
     "FILE"},
    {"live", 0, 0, G_OPTION_ARG_FILENAME, &args.live,
     "write pictures of the drive to FILE while it is played, for those who "
     "read it (docs/live-format.md)",
     "FILE"},
    {"control", 0, 0, G_OPTION_ARG_NONE, &args.control,
     "take requests from the socket LIVE.control, beside the file of --live: "
     "pause, step, speed, marks, options (docs/watch.md)",
     NULL},
    {"timeline", 0, 0, G_OPTION_ARG_FILENAME, &args.timeline,
     "write commands, operations and GC of the run to FILE, for Perfetto "
     "(docs/timeline.md)",
     "FILE"},
    {"timeline-from", 0, 0, G_OPTION_ARG_STRING, &args.timeline_option[0],
     "the timeline begins after this modelled time of the run (default: 0)",
     "TIME"},
    {"timeline-for", 0, 0, G_OPTION_ARG_STRING, &args.timeline_option[1],
     "the timeline is so long (default: to the end of the run)", "TIME"},
    {"timeline-size", 0, 0, G_OPTION_ARG_STRING, &args.timeline_option[2],
     "memory for the timeline, which keeps the newest events "
     "(default: 64MiB)",
     "BYTES"},
    {.long_name = NULL},
};

static const GOptionEntry wait_entries[] = {
    {"until-steady", 0, 0, G_OPTION_ARG_STRING, &args.until_steady,
     "before the run, play its load in rounds of one drive write until METRIC "
     "(iops, waf or latency) is in its steady state, 25 rounds at most "
     "(docs/state.md)",
     "METRIC"},
    {.long_name = NULL},
};

const OptionTable result_options = {"Results", result_entries};
const OptionTable play_options = {"Results of a run", play_entries};
const OptionTable wait_options = {"Steady state", wait_entries};

static const char *const timeline_names[SSD_TIMELINE_OPTIONS] = {
    "timeline-from", "timeline-for", "timeline-size"};

static bool read_series(GError **error)
{
    const OptionNumber series = {.option = "series",
                                 .min = NS_PER_US,
                                 .max = 1000000 * NS_PER_S,
                                 .scale = NS_PER_S,
                                 .unit = "seconds"};

    return !args.series ||
           option_number(&series, args.series, &args.series_ns, error);
}

static bool read_warm_up(GError **error)
{
    const OptionNumber warm_up = {
        .option = "warm-up", .max = INT64_MAX, .unit = "requests"};

    return !args.warm_up ||
           option_number(&warm_up, args.warm_up, &args.n_warm_up, error);
}

static bool read_until_steady(GError **error)
{
    args.metric = STEADY_IOPS;
    while (args.until_steady && args.metric < STEADY_N_METRICS &&
           strcmp(args.until_steady, steady_metric_name(args.metric)) != 0) {
        args.metric++;
    }
    if (args.metric < STEADY_N_METRICS) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                "--until-steady=%s: allowed iops, waf, latency",
                args.until_steady);
    return false;
}

static bool read_timeline(GError **error)
{
    opt_set_defaults(&args.timeline_options, ssd_timeline_options,
                     SSD_TIMELINE_OPTIONS);
    for (unsigned i = 0; i < SSD_TIMELINE_OPTIONS; i++) {
        g_autofree char *key = g_strconcat("--", timeline_names[i], NULL);
        const char *value = args.timeline_option[i];
        OptDesc d = ssd_timeline_options[i];

        d.key = key;
        if (value && !args.timeline) {
            return command_usage(error, "%s needs --timeline", key);
        }
        if (value && !opt_set(&args.timeline_options, &d, value, error)) {
            return false;
        }
    }
    return true;
}

static bool outputs_fit(GError **error)
{
    if (args.control && !args.live) {
        return command_usage(error, "--control needs --live");
    }
    return output_check("timeline", args.timeline, error) &&
           output_check("live", args.live, error) &&
           output_claim("histograms", args.histograms, error) &&
           output_check("record", args.record, error) &&
           output_check("oplog", args.oplog, error) &&
           output_check("csv", args.csv, error);
}

bool play_check(DriveUse *use, GError **error)
{
    if (args.describe &&
        (!options_absent(&play_options, NULL, NO_DESCRIBE, error) ||
         !options_absent(&wait_options, NULL, NO_DESCRIBE, error) ||
         !options_absent(&start_options, NULL, NO_DESCRIBE, error))) {
        return false;
    }
    if (!use->whole) {
        use->whole = args.oplog ? "--oplog" : args.record ? "--record" : NULL;
    }
    if (!use->of_one) {
        use->of_one = args.record     ? "--record"
                      : args.oplog    ? "--oplog"
                      : args.csv      ? "--csv"
                      : args.series   ? "--series"
                      : args.timeline ? "--timeline"
                      : args.live     ? "--live"
                                      : NULL;
    }
    use->as_in_qemu |= args.record != NULL;
    return outputs_fit(error) && read_series(error) && read_warm_up(error) &&
           read_until_steady(error) && read_timeline(error);
}

/* ---- windows ------------------------------------------------------------- */

#define NO_WINDOW "not with --window, whose windows are played side by side"

bool play_check_windows(GError **error)
{
    return options_absent(&start_options, "fill,precondition,state", NO_WINDOW,
                          error) &&
           options_absent(&play_options, "histograms", NO_WINDOW, error);
}

/* Options of drives that the pass without time knows nothing about, and the
 * value with which they do nothing. */
static const char *const timeless[][2] = {
    {"faults", ""},
    {"zones.enabled", "off"},
    {"media.errors", "off"},
    {"thermal.resistance", "0"},
    {"ftl.refresh_hours", "0"},
    {"ftl.refresh_reads", "0"},
};

bool play_check_windows_drive(const Drive *d, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(timeless); i++) {
        g_autofree char *value = ssd_config_get(d->cfg, timeless[i][0]);

        if (g_strcmp0(value ? value : "", timeless[i][1]) != 0) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                        "--window: not with %s=%s, which the pass without "
                        "time leaves out (allowed %s)",
                        timeless[i][0], value,
                        *timeless[i][1] ? timeless[i][1] : "none");
            return false;
        }
    }
    if (d->fill == PLAYER_FILL_SEQ || d->fill == PLAYER_FILL_RANDOM) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--window: not with --fill=%s, which leaves data in the "
                    "buffer (--precondition, --fill=preload)",
                    player_fill_name(d->fill));
        return false;
    }
    return true;
}

/* ---- describing ---------------------------------------------------------- */

bool play_describes(void)
{
    return args.describe;
}

const OptionTable *const *play_shown(const Command *c)
{
    static const OptionTable *left[COMMAND_MAX_TABLES];
    unsigned n = 0;

    for (const OptionTable *const *t = c->tables; *t; t++) {
        if (*t != &start_options && *t != &play_options &&
            *t != &wait_options) {
            left[n++] = *t;
        }
    }
    left[n] = NULL;
    return args.describe ? left : NULL;
}

bool play_describe(const Source *source, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter w = {.out = out};
    Description d;

    if (!describe(source_requests(source), UINT64_MAX, &d, error)) {
        return false;
    }
    if (args.json) {
        json_open(&w, NULL, '{');
        describe_json(&d, &w);
        source_taken_json(source, &w);
        json_close(&w, '}');
        g_string_append_c(out, '\n');
    } else {
        source_taken_text(source, out);
        describe_text(&d, out);
        source_trouble_text(source, out);
    }
    fputs(out->str, stdout);
    return true;
}

/* ---- playing ------------------------------------------------------------- */

typedef struct Run {
    const Play *play;
    Ssd *ssd; /* the first of the drive */
    Progress progress;
    PlayerConfig cfg;
    Player *player; /* or NULL, with Play.check: */
    PlayerResult *replayed;
    Windows *windows; /* or NULL: there are none */
    Record *record;
    SimControl *control; /* or NULL */
    int64_t begun_us;
    uint64_t begun_cpu_ns;
    bool stopped; /* by a signal, while it played */
    ResultWait wait;
} Run;

static const PlayerResult *result_of(const Run *r)
{
    return r->replayed  ? r->replayed
           : r->windows ? &r->windows->result
                        : player_result(r->player);
}

static void stage_begin(Run *r, const char *stage)
{
    r->begun_us = wall_us();
    r->begun_cpu_ns = cpu_ns();
    progress_begin(&r->progress, stage, "requests");
}

/* Results of nothing, or of nothing but the warm-up, would be zeros. */
static bool has_results(const Run *r, GError **error)
{
    const PlayerResult *result = result_of(r);
    bool warm = result->n_warm_up >= r->cfg.warm_up;

    if (r->stopped || (warm && result->n_requests > 0)) {
        return true;
    }
    if (r->cfg.warm_up > 0) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--warm-up=%" G_GUINT64_FORMAT
                    ": the run ended after %" G_GUINT64_FORMAT " requests",
                    r->cfg.warm_up, result->n_warm_up + result->n_requests);
    } else {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "no request was played: the runtime ends before the first "
                    "one");
    }
    return false;
}

/* option: the one whose file the drive has opened, or not. */
static bool opened(bool ok, const char *option, GError **error)
{
    if (!ok) {
        g_prefix_error(error, "--%s: ", option);
    }
    return ok;
}

static bool begin_timeline(const Run *r, GError **error)
{
    return !args.timeline ||
           opened(ssd_timeline_open(r->ssd, args.timeline,
                                    &args.timeline_options, error),
                  "timeline", error);
}

static bool run_check(Run *r, GError **error)
{
    bool ok;

    if (!begin_timeline(r, error)) {
        return false;
    }
    r->replayed = g_new0(PlayerResult, 1);
    stage_begin(r, "checking");
    ok = replay_check(r->play->check, r->ssd, &r->cfg, r->replayed, error);
    progress_end(&r->progress);
    return ok;
}

/* ---- policies from outside ----------------------------------------------- */

static bool policy_failed; /* one has broken a rule */

static void note_policy_fault(void *opaque, const char *line)
{
    (void)opaque;
    (void)line;
    policy_failed = true;
}

static bool must_stop(void)
{
    return policy_failed || stop_wanted();
}

static void watch_policies(const Array *array)
{
    policy_failed = false;
    for (unsigned i = 0; i < array_n_drives(array); i++) {
        ssd_on_policy_fault(array_drive(array, i), note_policy_fault, NULL);
    }
}

/* A result of which a part is of another policy's is none. */
static bool policies_kept_rules(const Array *array, GError **error)
{
    for (unsigned i = 0; i < array_n_drives(array); i++) {
        if (!policy_kept_rules(array_drive(array, i), error)) {
            return false;
        }
    }
    return true;
}

/* ---- what goes before a run ---------------------------------------------- */

/* Endless requests like those of the run, until they are steady. */
static bool play_before(Run *r, WorkloadBefore what, const PlayerSettle *how,
                        bool *reached, GError **error)
{
    Workload *w = workload_before(source_workload(r->play->source), what);
    RequestSource source = workload_source(w);
    bool ok;

    stage_begin(r, "playing until the drive is steady");
    ok = player_settle(r->player, &source, how, reached, error);
    progress_end(&r->progress);
    workload_free(w);
    return ok;
}

/* --precondition: from the steady state of writes without time to that of the
 * load in its own time, in which GC may be behind. */
static bool lead(Run *r, GError **error)
{
    const Workload *load = source_workload(r->play->source);
    const SsdInfo *info = array_info(r->play->drive->array);
    PlayerSettle how = {
        .most_rounds = MOST_ROUNDS,
        .metric = STEADY_WAF,
        .most_range = LEAD_MOST,
        .most_slope = LEAD_MOST_RISE,
    };
    bool reached;

    if (!r->play->drive->preconditioned || !load || !workload_writes(load)) {
        return true;
    }
    how.round_bytes = MAX(workload_span(load) / LEAD_PARTS, 1);
    /* With few writes among them, requests are what takes time. */
    how.round_requests = MAX(how.round_bytes / info->unit_bytes, 1);
    if (!play_before(r, WORKLOAD_LEADS, &how, &reached, error)) {
        return false;
    }
    fprintf(stderr, "then WAF %.3f of the load in modelled time%s\n",
            rounds_waf(player_settled(r->player)),
            reached ? "" : " (it has not ceased to change)");
    return true;
}

/* --until-steady */
static bool wait_until_steady(Run *r, GError **error)
{
    const Workload *load = source_workload(r->play->source);
    const RequestSource *source = source_requests(r->play->source);
    PlayerSettle how = {
        .round_requests = UINT64_MAX,
        .round_bytes = UINT64_MAX,
        .most_rounds = MOST_ROUNDS,
        .metric = args.metric,
        .most_range = STEADY_MOST_RANGE,
        .most_slope = STEADY_MOST_SLOPE,
    };

    if (!args.until_steady) {
        return true;
    }
    if (workload_writes(load)) {
        how.round_bytes = workload_span(load);
    } else {
        how.round_requests =
            MAX(READS_A_ROUND, READS_IN_FLIGHT * (uint64_t)source->iodepth);
    }
    r->wait.metric = args.metric;
    if (!play_before(r, WORKLOAD_SETTLES, &how, &r->wait.reached, error)) {
        return false;
    }
    r->wait.rounds = player_settled(r->player);
    return true;
}

/* Without GC nothing has to settle; and zones of the rounds before, which end
 * anywhere, would stay active. */
static bool check_wait(const Play *p, GError **error)
{
    if (args.until_steady && p->drive->zones) {
        g_set_error(
            error, SIM_ERROR, SIM_ERROR_WORKLOAD,
            "--until-steady: not with zones.enabled=on (docs/zones.md)");
        return false;
    }
    if (args.until_steady && args.metric == STEADY_WAF &&
        !workload_writes(source_workload(p->source))) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--until-steady=waf: the workload writes nothing");
        return false;
    }
    return true;
}

static bool run_windows(Run *r, GError **error)
{
    r->windows = windows_play(r->play->windows, r->play->drive->array, &r->cfg,
                              source_requests(r->play->source), error);
    r->stopped = stop_taken();
    return r->windows != NULL;
}

static bool run_requests(Run *r, GError **error)
{
    bool ok;

    if (r->play->windows) {
        return run_windows(r, error);
    }
    ok = player_run(r->player, source_requests(r->play->source), error);
    r->stopped = stop_taken();
    return ok;
}

static bool run_player(Run *r, GError **error)
{
    const Drive *d = r->play->drive;
    bool ok;

    r->player = player_new_array(d->array, &r->cfg);
    stage_begin(r, "filling the drive");
    ok = player_fill(r->player, d->fill, d->seed, error);
    progress_end(&r->progress);
    if (!ok || !lead(r, error) || !wait_until_steady(r, error) ||
        !begin_timeline(r, error)) {
        return false;
    }
    stage_begin(r, "playing");
    stop_defer();
    ok = run_requests(r, error);
    progress_end(&r->progress);
    return ok && has_results(r, error);
}

static bool run_all(Run *r, GError **error)
{
    bool played;

    r->record = record_open(args.csv, args.series_ns, r->ssd, error);
    if (!r->record) {
        return false;
    }
    r->cfg.done = args.csv || args.series ? record_done : NULL;
    r->cfg.done_opaque = r->record;
    watch_policies(r->play->drive->array);
    played = r->play->check ? run_check(r, error) : run_player(r, error);
    return policies_kept_rules(r->play->drive->array, error) && played &&
           record_end(r->record, error);
}

static bool begin_live(Run *r, GError **error)
{
    r->cfg.live = args.live ? sim_live_new(r->ssd, args.live, error) : NULL;
    return opened(r->cfg.live || !args.live, "live", error);
}

/* Files that a run writes as it goes do not go back. */
static const char *no_marks(void)
{
    return args.csv        ? "--csv"
           : args.oplog    ? "--oplog"
           : args.record   ? "--record"
           : args.timeline ? "--timeline"
                           : NULL;
}

static bool begin_control(Run *r, GError **error)
{
    g_autofree char *path = NULL;

    if (!args.control) {
        return true;
    }
    path = g_strconcat(args.live, ".control", NULL);
    r->control = sim_control_new(r->cfg.live, path, no_marks(), error);
    return opened(r->control, "control", error);
}

static bool open_logs(Run *r, GError **error)
{
    return begin_live(r, error) && begin_control(r, error) &&
           (!args.oplog || opened(ssd_oplog_open(r->ssd, args.oplog, error),
                                  "oplog", error)) &&
           (!args.record ||
            opened(ssd_trace_open(r->ssd, args.record, r->play->drive->profile,
                                  error),
                   "record", error));
}

static void print_result(const Run *r)
{
    const Drive *d = r->play->drive;
    g_autoptr(GString) out = g_string_new(NULL);
    ResultRun run = {
        .profile = d->profile,
        .array = d->array,
        .source = r->play->source,
        .record = r->record,
        .rules = r->player ? player_rules(r->player) : NULL,
        .windows = r->windows,
        .fill = player_fill_name(d->fill),
        .seed = d->seed,
        .checked = r->play->check != NULL,
        .stopped = r->stopped,
        .wait = r->wait.rounds ? &r->wait : NULL,
        .wall_ns = (uint64_t)(wall_us() - r->begun_us) * NS_PER_US,
        .cpu_ns = cpu_ns() - r->begun_cpu_ns,
        .peak_rss_bytes = peak_rss_bytes(),
    };

    if (r->windows) {
        run.cpu_ns += r->windows->play_cpu_ns;
        run.peak_rss_bytes =
            MAX(run.peak_rss_bytes, r->windows->peak_rss_bytes);
    }

    if (args.json) {
        result_json(&run, result_of(r), out);
    } else {
        result_text(&run, result_of(r), out);
        if (args.explain) {
            result_explain(&run, out);
        }
    }
    fputs(out->str, stdout);
}

static bool write_histograms(const Run *r, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);

    if (!args.histograms) {
        return true;
    }
    result_histograms(result_of(r), out);
    return replace_text(args.histograms, out, error);
}

/* Results of a drive that takes no more writes are none to rely on; but --check
 * compares them with the recorded ones only. */
static bool ended_well(const Run *r, GError **error)
{
    const Array *array = r->play->drive->array;

    for (unsigned i = 0; i < array_n_drives(array) && !r->replayed; i++) {
        if (ssd_read_only(array_drive(array, i)) &&
            !(array_raid(array) && raid_failed(array_raid(array), i))) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                        "the drive is read-only at the end of the run: "
                        "%" G_GUINT64_FORMAT " requests failed",
                        result_of(r)->n_errors);
            return false;
        }
    }
    return true;
}

static bool run_stages(Run *r, GError **error)
{
    Drive *d = r->play->drive;

    if (!open_logs(r, error) || !drive_precondition(d, error)) {
        return false;
    }
    if (source_report(r->play->source)) {
        fputs(source_report(r->play->source), stderr);
    }
    if (!run_all(r, error) || !ssd_oplog_close(r->ssd, error) ||
        !ssd_trace_close(r->ssd, error) || !ssd_timeline_close(r->ssd, error) ||
        !drive_save(d, error) || !write_histograms(r, error)) {
        return false;
    }
    print_result(r);
    return ended_well(r, error);
}

bool play(const Play *p, GError **error)
{
    Run r = {
        .play = p,
        .ssd = p->drive->ssd[0],
        .cfg =
            {
                .wrap = p->wrap || source_wraps(p->source),
                .stopped = must_stop,
                .warm_up = args.n_warm_up,
                .recorded = p->recorded_path,
                .drive = p->drive->cfg,
                .zones = p->drive->zones,
            },
    };
    bool ok;

    if (args.describe) {
        return play_describe(p->source, error);
    }
    r.cfg.progress = &r.progress;
    ok = check_wait(p, error) && run_stages(&r, error);
    sim_control_end(r.control);
    ok = sim_live_end(r.cfg.live, ok ? error : NULL) && ok;
    record_free(r.record);
    player_free(r.player);
    windows_free(r.windows);
    g_free(r.replayed);
    return ok;
}
