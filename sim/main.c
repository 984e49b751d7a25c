/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - the vssd-sim command: options, files, the wall clock, the terminal.
 *
 * The only file of the player that reads a clock or the environment.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <glib.h>

#include "convert.h"
#include "describe.h"
#include "fit.h"
#include "player.h"
#include "precondition.h"
#include "record.h"
#include "recorded.h"
#include "replay.h"
#include "result.h"
#include "simtime.h"
#include "source.h"
#include "workload.h"

#define EXIT_USAGE 2
#define PROGRESS_AFTER_US (2 * G_USEC_PER_SEC)
#define PROGRESS_EVERY_US (G_USEC_PER_SEC / 2)

typedef struct Args {
    char *profile;
    SourceArgs source;
    char **set;
    char *fill;
    char *seed;
    char *oplog;
    char *record; /* a trace of this run */
    char *convert;
    char *csv;
    char *state;
    char *save_state;
    double series_s;
    gint64 warm_up;
    int block_bytes;
    int drives;
    char *stripe;
    gboolean wrap;
    gboolean check;
    gboolean json;
    gboolean describe;
    gboolean options;
    gboolean info;
    gboolean precondition;
} Args;

typedef struct Sim {
    Args args;
    char *profile_path;
    SsdConfig *cfg;
    uint64_t seed;
    PlayerFill fill;
    Ssd *ssd; /* the first of drive[] */
    Ssd *drive[ARRAY_MAX_DRIVES];
    Array *array;
    Player *player;
    Source *source;
    Recorded *recorded; /* the only trace, if it is of vssd's own; or NULL */
    PlayerResult *replayed; /* --check; or NULL */
    Record *record;

    int64_t started_us; /* wall clock */
    uint64_t started_cpu_ns;
    int64_t shown_us; /* when progress was last shown */
    const char *stage;
    bool stopped; /* by a signal, while it played */
} Sim;

/* ---- signals --------------------------------------------------------------- */

#define STOPPED_EARLY "vssd-sim: stopped before there are results\n"

static volatile sig_atomic_t stop_signal; /* 0: none has come */
static volatile sig_atomic_t playing;     /* there are results to show */

static void on_signal(int number)
{
    if (!playing) {
        if (write(STDERR_FILENO, STOPPED_EARLY, strlen(STOPPED_EARLY)) < 0) {
            /* Nobody listens. */
        }
        _exit(128 + number);
    }
    stop_signal = number;
}

/* The first signal ends the run, the second the program.  What is ignored, as
 * in the background of a script, stays so. */
static void watch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        struct sigaction before;

        if (sigaction(numbers[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &act, NULL);
        }
    }
}

static bool is_stopped(void *opaque)
{
    return stop_signal != 0;
}

static bool usage(GError **error, const char *what)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                "%s (vssd-sim --help says more)", what);
    return false;
}

/* ---- help ---------------------------------------------------------------- */

static void help_table(GString *s, const OptDesc *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const OptDesc *d = &table[i];
        g_autofree char *range = opt_range(d);

        g_string_append_printf(s, "  %-12s %s", d->key, d->help);
        if (d->type != OPT_STRING && d->max != UINT64_MAX &&
            d->max != UINT64_MAX / 2) {
            g_string_append_printf(s, "; %s", range);
        }
        g_string_append_printf(s, "%s%s\n", d->def ? "; default " : "",
                               d->def ? d->def : "");
    }
}

static void help_keywords(GString *s)
{
    g_string_append(s, "Keywords of --workload, as in fio (sizes: 4k, 64m; "
                       "addresses may repeat):\n");
    help_table(s, workload_options, workload_n_options);
    g_string_append(s, "\nWorkloads of preset:\n");
    for (unsigned i = 0; preset_name(i); i++) {
        g_string_append_printf(s, "  %-12s %s\n", preset_name(i),
                               presets[i].help);
    }
    g_string_append(s, "\nAttributes of --fit:\n");
    help_table(s, fit_options, fit_n_options);
}

static void help_lists(GString *s)
{
    g_string_append(s, "\nFormats of --trace:\n");
    for (unsigned i = 0; trace_formats[i]; i++) {
        g_string_append_printf(s, "  %-12s %s\n", trace_formats[i]->name,
                               trace_formats[i]->help);
    }
    g_string_append(s, "\nFormats of --convert:\n");
    for (unsigned i = 0; convert_name(i); i++) {
        g_string_append_printf(s, "  %-12s %s\n", convert_name(i),
                               convert_help(i));
    }
    g_string_append(s, "\nWays of --remap:\n");
    for (unsigned i = 0; traces_remap_name(i); i++) {
        g_string_append_printf(s, "  %-12s %s\n", traces_remap_name(i),
                               traces_remap_help(i));
    }
    g_string_append(s, "\nFills, before the run that is measured:\n");
    for (unsigned i = 0; player_fill_name(i); i++) {
        g_string_append_printf(s, "  %-12s %s\n", player_fill_name(i),
                               player_fill_help(i));
    }
}

static bool parse_args(Args *a, int *argc, char ***argv, GError **error)
{
    SourceArgs *from = &a->source;
    const GOptionEntry entries[] = {
        {"profile", 0, 0, G_OPTION_ARG_FILENAME, &a->profile,
         "drive: a file, or the name of a shipped profile (a trace of vssd's "
         "own brings its drive along)",
         "PROFILE"},
        {"workload", 0, 0, G_OPTION_ARG_STRING, &from->workload,
         "generate requests; @FILE: keywords from a file, as --save writes",
         "'rw=... ...'"},
        {"job", 0, 0, G_OPTION_ARG_FILENAME, &from->job,
         "generate the requests of a fio job file", "FILE"},
        {"section", 0, 0, G_OPTION_ARG_STRING, &from->section,
         "which job of the file, if it has several", "NAME"},
        {"fit", 0, 0, G_OPTION_ARG_STRING, &from->fit,
         "generate requests with these attributes of a trace, and tell how "
         "well they fit",
         "'read_gb=... ...'"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &from->save,
         "write all keywords, with the seed, to FILE for --workload @FILE",
         "FILE"},
        {"describe", 0, 0, G_OPTION_ARG_NONE, &a->describe,
         "do not play the requests, describe them", NULL},
        {"trace", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &from->traces,
         "play a block trace (gzip, xz and zstd are unpacked); several are "
         "merged by time",
         "FILE"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &from->format,
         "format of the traces (default: by the first bytes)", "NAME"},
        {"columns", 0, 0, G_OPTION_ARG_STRING, &from->columns,
         "names of the columns, for --format=csv without a header line",
         "NAME,NAME..."},
        {"action", 0, 0, G_OPTION_ARG_STRING, &from->action,
         "blktrace: which action is a request (default D if there is any, "
         "else Q)",
         "D|Q|C"},
        {"device", 0, 0, G_OPTION_ARG_STRING, &from->device,
         "play only this device of the traces", "N"},
        {"skip-bad", 0, 0, G_OPTION_ARG_NONE, &from->skip_bad,
         "count damaged lines of traces and continue", NULL},
        {"remap", 0, 0, G_OPTION_ARG_STRING, &from->remap,
         "change the addresses of traces", "HOW"},
        {"time-scale", 0, 0, G_OPTION_ARG_STRING, &from->time_scale,
         "multiply the times of traces: 0.5 is twice as fast", "FACTOR"},
        {"retime", 0, 0, G_OPTION_ARG_STRING, &from->retime,
         "let the writes of traces come in batches of 1..k (docs/traces.md)",
         "Dk"},
        {"iodepth", 0, 0, G_OPTION_ARG_STRING, &from->iodepth,
         "play traces with N requests in flight, without regard to time", "N"},
        {"stream-map", 0, 0, G_OPTION_ARG_STRING, &from->stream_map,
         "the streams that streams 0, 1, 2... of traces become "
         "(docs/streams.md)",
         "N,N..."},
        {"check", 0, 0, G_OPTION_ARG_NONE, &a->check,
         "play a trace of vssd's own exactly, and compare each completion "
         "with the recorded one; without --profile on the recorded drive",
         NULL},
        {"convert", 0, 0, G_OPTION_ARG_STRING, &a->convert,
         "do not play a trace of vssd's own, write it in another format to "
         "standard output",
         "FORMAT"},
        {"record", 0, 0, G_OPTION_ARG_FILENAME, &a->record,
         "write a trace of this run, as trace= of the QEMU device does "
         "(docs/traces.md)",
         "FILE"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->set,
         "override an option of the profile; may be repeated", "KEY=VALUE"},
        {"fill", 0, 0, G_OPTION_ARG_STRING, &a->fill,
         "state of the drive at the start (default preload)", "HOW"},
        {"precondition", 0, 0, G_OPTION_ARG_NONE, &a->precondition,
         "write the drive at random until GC is in its steady state, "
         "without modelled time",
         NULL},
        {"state", 0, 0, G_OPTION_ARG_FILENAME, &a->state,
         "continue with the drive saved in FILE (docs/state.md)", "FILE"},
        {"save-state", 0, 0, G_OPTION_ARG_FILENAME, &a->save_state,
         "save the drive to FILE at the end", "FILE"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &a->seed,
         "seed of drive and workload (default: the profile's)", "N"},
        {"block", 0, 0, G_OPTION_ARG_INT, &a->block_bytes,
         "logical block size, 512 or 4096 (default 512)", "BYTES"},
        {"warm-up", 0, 0, G_OPTION_ARG_INT64, &a->warm_up,
         "results begin when N requests have completed", "N"},
        {"oplog", 0, 0, G_OPTION_ARG_FILENAME, &a->oplog,
         "write every operation of the drive to FILE, for vssd-oplog-check "
         "(docs/oplog.md)",
         "FILE"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &a->csv,
         "write a line per command, with the parts of its latency "
         "(docs/results.md)",
         "FILE"},
        {"series", 0, 0, G_OPTION_ARG_DOUBLE, &a->series_s,
         "show the course of the run in intervals of this modelled time",
         "SECONDS"},
        {"drives", 0, 0, G_OPTION_ARG_INT, &a->drives,
         "so many of these drives side by side, as one (RAID 0)", "N"},
        {"stripe", 0, 0, G_OPTION_ARG_STRING, &a->stripe,
         "with --drives: bytes on one drive before the next drive follows "
         "(default 64k)",
         "SIZE"},
        {"wrap", 0, 0, G_OPTION_ARG_NONE, &a->wrap,
         "fold addresses beyond the drive into it", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &a->json,
         "print results as JSON (docs/results.md)", NULL},
        {"info", 0, 0, G_OPTION_ARG_NONE, &a->info,
         "print the drive's geometry as JSON, and end", NULL},
        {"options", 0, 0, G_OPTION_ARG_NONE, &a->options,
         "print the reference of profile options (docs/options.md), and end",
         NULL},
        {.long_name = NULL},
    };
    g_autoptr(GString) more = g_string_new(NULL);
    GOptionContext *ctx = g_option_context_new("- play requests to a modelled "
                                               "SSD, without a guest");
    bool ok;

    help_keywords(more);
    help_lists(more);
    g_option_context_add_main_entries(ctx, entries, NULL);
    g_option_context_set_description(ctx, more->str);
    ok = g_option_context_parse(ctx, argc, argv, error);
    g_option_context_free(ctx);
    if (ok && *argc > 1) {
        g_autofree char *what = g_strdup_printf("what is \"%s\"?", (*argv)[1]);

        return usage(error, what);
    }
    return ok;
}

static void clear_args(Args *a)
{
    g_free(a->profile);
    source_args_clear(&a->source);
    g_strfreev(a->set);
    g_free(a->fill);
    g_free(a->seed);
    g_free(a->oplog);
    g_free(a->record);
    g_free(a->convert);
    g_free(a->csv);
    g_free(a->state);
    g_free(a->save_state);
    g_free(a->stripe);
}

/* ---- set-up -------------------------------------------------------------- */

/* A file as given, or NAME.ini among the shipped profiles. */
static char *find_profile(const char *name)
{
    g_autofree char *file = g_strconcat(name, ".ini", NULL);
    g_autofree char *shipped = g_build_filename(VSSD_PROFILE_DIR, file, NULL);

    if (!strchr(name, '/') && !g_file_test(name, G_FILE_TEST_EXISTS) &&
        g_file_test(shipped, G_FILE_TEST_EXISTS)) {
        return g_steal_pointer(&shipped);
    }
    return g_strdup(name);
}

static bool set_seed(Sim *s, GError **error)
{
    g_autofree char *seed = NULL;

    if (s->args.seed) {
        g_autofree char *set = g_strconcat("seed=", s->args.seed, NULL);

        if (!ssd_config_set(s->cfg, set, error)) {
            return false;
        }
    }
    seed = ssd_config_get(s->cfg, "seed");
    s->seed = g_ascii_strtoull(seed, NULL, 10);
    return true;
}

/* The profile, or the drive that a trace brings along. */
static bool load_config(Sim *s, GError **error)
{
    if (!s->args.profile) {
        s->args.profile = g_strdup(recorded_profile(s->recorded));
        return recorded_config(s->recorded, s->cfg, error);
    }
    s->profile_path = find_profile(s->args.profile);
    return ssd_config_load(s->cfg, s->profile_path, error) &&
           (!s->recorded ||
            ssd_config_set_block_bytes(
                s->cfg, recorded_state(s->recorded)->block_bytes, error));
}

static bool make_config(Sim *s, GError **error)
{
    int block_bytes = s->args.block_bytes;

    if (!s->args.profile && !s->recorded) {
        return usage(error, "--profile is missing: which drive?");
    }
    if (s->args.series_s != 0 &&
        !(s->args.series_s >= 1e-6 && s->args.series_s <= 1e6)) {
        return usage(error, "--series: allowed 0.000001..1000000 seconds");
    }
    if (s->args.warm_up < 0) {
        return usage(error, "--warm-up: 0 or more requests");
    }
    if (block_bytes >= 0 && block_bytes != 512 && block_bytes != 4096) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--block=%d: allowed 512, 4096", block_bytes);
        return false;
    }
    s->cfg = ssd_config_new();
    if (!load_config(s, error)) {
        return false;
    }
    for (char **set = s->args.set; set && *set; set++) {
        if (!ssd_config_set(s->cfg, *set, error)) {
            return false;
        }
    }
    return (block_bytes < 0 || ssd_config_set_block_bytes(
                                s->cfg, (uint32_t)block_bytes, error)) &&
           set_seed(s, error);
}

static bool find_fill(Sim *s, GError **error)
{
    bool made = s->args.state || s->args.precondition;
    const char *name = s->args.fill  ? s->args.fill
                       : made        ? "none"
                       : s->recorded ? "trace"
                                     : "preload";
    g_autoptr(GString) all = g_string_new(NULL);

    if (made && strcmp(name, "none") != 0) {
        return usage(error, "--fill does not go with --state and "
                            "--precondition, which say what is on the drive");
    }
    for (unsigned i = 0; player_fill_name(i); i++) {
        if (strcmp(player_fill_name(i), name) == 0) {
            s->fill = i;
            return true;
        }
        g_string_append_printf(all, "%s%s", i ? ", " : "", player_fill_name(i));
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "--fill=%s: allowed %s",
                name, all->str);
    return false;
}

static bool open_source(Sim *s, GError **error)
{
    const SsdInfo *info = array_info(s->array);

    s->source = source_open(&s->args.source,
                            info->nblocks * info->block_bytes,
                            info->block_bytes, s->seed, error);
    return s->source != NULL;
}

/* ---- running ------------------------------------------------------------- */

static void show_progress(void *opaque, uint64_t n_requests)
{
    Sim *s = opaque;
    int64_t now_us = g_get_monotonic_time();

    if (now_us - s->started_us > PROGRESS_AFTER_US &&
        now_us - s->shown_us > PROGRESS_EVERY_US) {
        s->shown_us = now_us;
        fprintf(stderr, "\r%s: %.1f million requests, %.0f s", s->stage,
                (double)n_requests / 1e6,
                (double)(now_us - s->started_us) / G_USEC_PER_SEC);
    }
}

static void end_progress(Sim *s)
{
    if (s->shown_us) {
        fprintf(stderr, "\r%60s\r", "");
        s->shown_us = 0;
    }
}

static uint64_t cpu_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NS_PER_US;
}

/* Results of nothing but the warm-up would be zeros. */
static bool warmed_up(const Sim *s, GError **error)
{
    const PlayerResult *r = player_result(s->player);

    if (s->args.warm_up && !s->stopped && r->n_warm_up < (uint64_t)s->args.warm_up) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--warm-up=%" G_GINT64_FORMAT
                    ": the run ended after %" G_GUINT64_FORMAT " requests",
                    s->args.warm_up, r->n_requests);
        return false;
    }
    return true;
}

static bool replay(Sim *s, const PlayerConfig *cfg, GError **error)
{
    bool ok;

    s->replayed = g_new0(PlayerResult, 1);
    s->stage = "checking";
    s->started_cpu_ns = cpu_ns();
    ok = replay_check(s->recorded, s->ssd, cfg, s->replayed, error);
    end_progress(s);
    return ok;
}

static bool play(Sim *s, GError **error)
{
    PlayerConfig cfg = {
        .wrap = s->args.wrap || source_wraps(s->source),
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
        .opaque = s,
        .stopped = is_stopped,
        .warm_up = (uint64_t)s->args.warm_up,
        .recorded = s->recorded ? s->args.source.traces[0] : NULL,
        .done = s->args.csv || s->args.series_s > 0 ? record_done : NULL,
    };
    bool ok;

    s->record = record_open(s->args.csv,
                            (uint64_t)(s->args.series_s * NS_PER_S), s->ssd,
                            error);
    if (!s->record) {
        return false;
    }
    cfg.done_opaque = s->record;
    s->started_us = g_get_monotonic_time();
    if (s->args.check) {
        return replay(s, &cfg, error) && record_end(s->record, error);
    }
    s->player = player_new_array(s->array, &cfg);
    s->stage = "filling the drive";
    ok = player_fill(s->player, s->fill, s->seed, error);
    end_progress(s);
    if (ok) {
        s->started_us = g_get_monotonic_time();
        s->started_cpu_ns = cpu_ns();
        s->stage = "playing";
        playing = true;
        ok = player_run(s->player, source_requests(s->source), error);
        s->stopped = stop_signal != 0;
        end_progress(s);
        ok = ok && warmed_up(s, error);
    }
    return ok && record_end(s->record, error);
}

static void print_result(Sim *s, int64_t wall_us)
{
    const PlayerResult *result =
        s->replayed ? s->replayed : player_result(s->player);
    struct rusage usage_now;
    g_autoptr(GString) out = g_string_new(NULL);
    ResultRun run = {
        .profile = s->args.profile,
        .array = s->array,
        .source = s->source,
        .record = s->record,
        .fill = player_fill_name(s->fill),
        .seed = s->seed,
        .checked = s->args.check,
        .stopped = s->stopped,
        .wall_ns = (uint64_t)wall_us * NS_PER_US,
        .cpu_ns = cpu_ns() - s->started_cpu_ns,
    };

    getrusage(RUSAGE_SELF, &usage_now);
    run.peak_rss_bytes = (uint64_t)usage_now.ru_maxrss * 1024;
    if (s->args.json) {
        result_json(&run, result, out);
    } else {
        result_text(&run, result, out);
    }
    fputs(out->str, stdout);
}

static bool tell(Sim *s, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter w = {.out = out};
    Description d;

    if (!describe(source_requests(s->source), UINT64_MAX, &d, error)) {
        return false;
    }
    if (s->args.json) {
        describe_json(&d, &w);
    } else {
        describe_text(&d, out);
        source_trouble_text(s->source, out);
    }
    fputs(out->str, stdout);
    return true;
}

/* Of traces alone; a workload needs to know the drive. */
static bool describe_traces(Sim *s, GError **error)
{
    s->source = source_open(&s->args.source, 0, 512, 1, error);
    return s->source && tell(s, error);
}

/* ---- drives that are not new ----------------------------------------------- */

/* What looks into one drive does not go with several. */
static bool check_array(const Sim *s, GError **error)
{
    const Args *a = &s->args;
    g_autofree char *faults = ssd_config_get(s->cfg, "faults");
    const char *of_one = a->check          ? "--check"
                         : a->record       ? "--record"
                         : a->oplog        ? "--oplog"
                         : a->csv          ? "--csv"
                         : a->series_s > 0 ? "--series"
                         : a->precondition ? "--precondition"
                         : a->save_state   ? "--save-state"
                         : a->info         ? "--info"
                         : s->fill == PLAYER_FILL_TRACE ? "--fill=trace"
                         : faults && *faults ? "faults"
                                             : NULL;

    if (a->drives < 1 || a->drives > ARRAY_MAX_DRIVES) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--drives=%d: allowed 1..%d", a->drives, ARRAY_MAX_DRIVES);
        return false;
    }
    if (a->drives == 1 && a->stripe) {
        return usage(error, "--stripe: only with --drives of 2 or more");
    }
    if (a->drives > 1 && of_one) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "%s: not with --drives, it is of one drive", of_one);
        return false;
    }
    return true;
}

static bool make_array(Sim *s, GError **error)
{
    const SsdInfo *info = ssd_info(s->ssd);
    uint64_t most = info->nblocks * info->block_bytes;
    uint64_t stripe = 65536;

    if (s->args.stripe && (!workload_bytes(s->args.stripe, &stripe) ||
                           stripe == 0 || stripe > most || stripe % 4096)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--stripe=%s: allowed multiples of 4096, up to a drive's "
                    "%" PRIu64 " bytes",
                    s->args.stripe, most);
        return false;
    }
    s->array = array_new(s->drive, (unsigned)s->args.drives, stripe);
    return true;
}

static bool make_drive(Sim *s, GError **error)
{
    /* A drive that is saved keeps the versions of its units, as QEMU needs
     * them; one that is recorded, or was, behaves as in QEMU. */
    bool keeps = s->args.save_state || s->args.record || s->args.check;
    const SsdHostOps *host = keeps ? &replay_host : NULL;
    const char *whole = s->args.oplog    ? "oplog"
                        : s->args.record ? "record"
                        : s->args.check  ? "check"
                                         : NULL;

    if (whole && (s->args.state || s->args.precondition)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--%s does not go with --state and --precondition: it must "
                    "tell all from the beginning",
                    whole);
        return false;
    }
    for (int i = 0; i < s->args.drives; i++) {
        s->drive[i] =
            s->args.state
                ? ssd_load_file(s->cfg, host, NULL, s->args.state, error)
                : ssd_create(s->cfg, host, NULL, error);
        if (!s->drive[i]) {
            return false;
        }
    }
    s->ssd = s->drive[0];
    return make_array(s, error);
}

static void show_units(void *opaque, uint64_t n_units)
{
    Sim *s = opaque;
    int64_t now_us = g_get_monotonic_time();

    if (now_us - s->started_us > PROGRESS_AFTER_US &&
        now_us - s->shown_us > PROGRESS_EVERY_US) {
        s->shown_us = now_us;
        fprintf(stderr, "\rpreconditioning: %.1f million units, %.0f s",
                (double)n_units / 1e6,
                (double)(now_us - s->started_us) / G_USEC_PER_SEC);
    }
}

/* One line for people, on stderr: the result is that of the run. */
static void report_precondition(const Precondition *p, uint64_t cpu)
{
    double seconds = (double)MAX(cpu, 1) / NS_PER_S;

    fprintf(stderr,
            "preconditioned: WAF %.3f after the fill and %.1f capacities at "
            "random%s; %.2f million units of the host, %.2f million NAND pages "
            "in %.2f s of processor time: %.2f million host units, %.2f million "
            "NAND units, %.2f million NAND pages per second\n",
            p->waf, p->capacities,
            p->converged ? "" : " (it has not ceased to change)",
            (double)p->host_units / 1e6, (double)p->nand_pages / 1e6, seconds,
            (double)p->host_units / 1e6 / seconds,
            (double)p->nand_units / 1e6 / seconds,
            (double)p->nand_pages / 1e6 / seconds);
}

static bool make_used(Sim *s, GError **error)
{
    uint64_t cpu = cpu_ns();
    Precondition p;

    if (!s->args.precondition) {
        return true;
    }
    s->started_us = g_get_monotonic_time();
    if (!precondition(s->ssd, s->seed, &p,
                      isatty(STDERR_FILENO) ? show_units : NULL, s, error)) {
        return false;
    }
    end_progress(s);
    report_precondition(&p, cpu_ns() - cpu);
    return true;
}

/* The run has ended; what the drive still does by itself has, too, soon. */
#define MOST_REST_NS (3600 * NS_PER_S)

static bool save(Sim *s, GError **error)
{
    if (!s->args.save_state) {
        return true;
    }
    ssd_rest(s->ssd, MOST_REST_NS);
    return ssd_save_file(s->ssd, s->args.save_state, error);
}

static bool has_source(const Sim *s)
{
    const SourceArgs *from = &s->args.source;

    return from->workload || from->fit || from->job || from->traces;
}

/* --check plays what was recorded; nothing that would change it goes with it. */
static bool check_alone(const Args *a, GError **error)
{
    const SourceArgs *from = &a->source;
    const char *given = from->device       ? "device"
                        : from->remap      ? "remap"
                        : from->time_scale ? "time-scale"
                        : from->retime     ? "retime"
                        : from->iodepth    ? "iodepth"
                        : from->skip_bad   ? "skip-bad"
                        : a->fill          ? "fill"
                        : a->warm_up       ? "warm-up"
                        : a->wrap          ? "wrap"
                                           : NULL;

    if (a->check && given) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "--%s: not with --check, which plays a trace as it is",
                    given);
        return false;
    }
    return true;
}

/* What has to do with traces of the project's own, and only with them. */
static bool open_recorded(Sim *s, GError **error)
{
    char **traces = s->args.source.traces;

    if (traces && !traces[1] && recorded_is(traces[0])) {
        s->recorded = recorded_open(traces[0], error);
        return s->recorded != NULL;
    }
    if (s->args.check || s->args.convert) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                    "--%s: give one --trace, made by trace= of the QEMU device "
                    "or by --record",
                    s->args.check ? "check" : "convert");
        return false;
    }
    return true;
}

static bool write_converted(Sim *s, GError **error)
{
    ConvertFormat format;
    uint64_t n_left_out;

    if (!convert_find(s->args.convert, &format, error) ||
        !convert(s->recorded, format, stdout, &n_left_out, error)) {
        return false;
    }
    if (n_left_out) {
        fprintf(stderr, "vssd-sim: %" PRIu64 " commands left out: %s has only "
                        "reads and writes\n",
                n_left_out, s->args.convert);
    }
    return true;
}

/* Can a file of this name be written?  The file itself is left as it is. */
static bool check_output(const char *option, const char *path, GError **error)
{
    g_autofree char *folder = NULL;
    bool there;

    if (!path) {
        return true;
    }
    folder = g_path_get_dirname(path);
    there = g_file_test(path, G_FILE_TEST_EXISTS);
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        errno = EISDIR;
    } else if (access(there ? path : folder, there ? W_OK : W_OK | X_OK) == 0) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "--%s %s: %s", option,
                path, g_strerror(errno));
    return false;
}

/* Before the run, which may take hours. */
static bool check_outputs(const Args *a, GError **error)
{
    return check_output("save", a->source.save, error) &&
           check_output("record", a->record, error) &&
           check_output("oplog", a->oplog, error) &&
           check_output("csv", a->csv, error) &&
           check_output("save-state", a->save_state, error);
}

static bool open_logs(Sim *s, GError **error)
{
    return (!s->args.oplog || ssd_oplog_open(s->ssd, s->args.oplog, error)) &&
           (!s->args.record || ssd_trace_open(s->ssd, s->args.record,
                                              s->args.profile, error));
}

/* Results of a drive that takes no more writes are none to rely on; but --check
 * asks only whether they are those of the recorded one. */
static bool ended_well(const Sim *s, GError **error)
{
    for (unsigned i = 0; i < array_n_drives(s->array) && !s->replayed;
         i++) {
        if (ssd_read_only(array_drive(s->array, i))) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_DRIVE,
                        "the drive is read-only at the end of the run: "
                        "%" G_GUINT64_FORMAT " requests failed",
                        player_result(s->player)->n_errors);
            return false;
        }
    }
    return true;
}

static bool run(Sim *s, GError **error)
{
    if (s->args.describe && s->args.source.traces && !s->args.profile) {
        return describe_traces(s, error);
    }
    if (!check_outputs(&s->args, error) || !check_alone(&s->args, error) ||
        !open_recorded(s, error)) {
        return false;
    }
    if (s->args.convert) {
        return write_converted(s, error);
    }
    if (!make_config(s, error) || !find_fill(s, error) ||
        !check_array(s, error) || !make_drive(s, error)) {
        return false;
    }
    if (s->args.info) {
        g_autoptr(GString) out = g_string_new(NULL);

        result_info_json(s->args.profile, ssd_info(s->ssd), out);
        fputs(out->str, stdout);
        return true;
    }
    if (!open_logs(s, error)) {
        return false;
    }
    if (!has_source(s) && s->args.save_state) {
        return make_used(s, error) && save(s, error);
    }
    if (!open_source(s, error)) {
        return false;
    }
    if (s->args.describe) {
        return tell(s, error);
    }
    if (!make_used(s, error)) {
        return false;
    }
    if (source_report(s->source)) {
        fputs(source_report(s->source), stderr);
    }
    if (!play(s, error) || !ssd_oplog_close(s->ssd, error) ||
        !ssd_trace_close(s->ssd, error) || !save(s, error)) {
        return false;
    }
    print_result(s, g_get_monotonic_time() - s->started_us);
    return ended_well(s, error);
}

static void clear(Sim *s)
{
    source_close(s->source);
    record_free(s->record);
    player_free(s->player);
    recorded_close(s->recorded);
    g_free(s->replayed);
    array_free(s->array);
    for (unsigned i = 0; i < ARRAY_MAX_DRIVES; i++) {
        g_clear_pointer(&s->drive[i], ssd_destroy);
    }
    g_clear_pointer(&s->cfg, ssd_config_free);
    g_free(s->profile_path);
    clear_args(&s->args);
}

int main(int argc, char **argv)
{
    Sim s = {.args = {.block_bytes = -1, .drives = 1}};
    g_autoptr(GError) error = NULL;
    bool ok = parse_args(&s.args, &argc, &argv, &error);
    int status = ok ? EXIT_SUCCESS : EXIT_USAGE;

    watch_signals();
    if (ok && s.args.options) {
        g_autoptr(GString) out = g_string_new(NULL);

        ssd_config_document(out);
        fputs(out->str, stdout);
    } else if (ok && !run(&s, &error)) {
        status = EXIT_FAILURE;
    }
    clear(&s);
    if (ok && (fflush(stdout) != 0 || ferror(stdout))) {
        fprintf(stderr, "vssd-sim: cannot write the result\n");
        status = EXIT_FAILURE;
    }
    if (error) {
        fprintf(stderr, "vssd-sim: %s\n", error->message);
    }
    return s.stopped ? 128 + (int)stop_signal : status;
}
