/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result.c - print the results of a run.
 *
 * Latencies are the player's (as the host sees them); the members are the rows
 * of run-stats.h, and those of the drive come from ssd_stats_json_drive().
 */
#include "result.h"
#include "hdr.h"

#include <math.h>

#include "about.h"
#include "json.h"
#include "printable.h"
#include "run-stats.h"
#include "simtime.h"
#include "ssd-report.h"
#include "ssd-sums.h"
#include "stats.h"

/* The write amplification is explained when it is so much above that of the
 * victims of GC. */
#define WAF_TOLD 1.05

static const char *const op_names[SSD_N_OPS] = {
    [SSD_OP_READ] = "read",         [SSD_OP_WRITE] = "write",
    [SSD_OP_TRIM] = "trim",         [SSD_OP_FLUSH] = "flush",
    [SSD_OP_SHUTDOWN] = "shutdown",
};

/* The kinds that results show, in the order of docs/results.md. */
static const SsdOp shown[] = {SSD_OP_READ, SSD_OP_WRITE, SSD_OP_FLUSH,
                              SSD_OP_TRIM};

static Hist *merged(const PlayerResult *r)
{
    Hist *all = g_new(Hist, 1);

    hist_init(all);
    for (unsigned i = 0; i < SSD_N_OPS; i++) {
        hist_merge(all, &r->latency[i]);
    }
    return all;
}

static double per_second(uint64_t n, uint64_t ns)
{
    return ns ? (double)n * NS_PER_S / (double)ns : 0;
}

/* ---- is it steady? ------------------------------------------------------- */

typedef enum Verdict {
    VERDICT_STEADY,
    VERDICT_FLAT,
    VERDICT_CHANGING,
    VERDICT_SHORT,
} Verdict;

static const char *const verdict_names[] = {"steady", "flat", "changing",
                                            "short"};

/* Five rounds that are not there have no values. */
static Steadiness five_rounds(const ResultRun *run, const PlayerResult *r)
{
    Steadiness s = run->wait ? rounds_last_five(run->wait->rounds)
                             : rounds_steadiness(&r->rounds);

    for (unsigned m = 0; !s.known && m < STEADY_N_METRICS; m++) {
        s.range[m] = s.slope[m] = NAN;
    }
    return s;
}

/* Of a drive write: what the load touches. */
static double span_bytes(const ResultRun *run)
{
    const SsdInfo *info = array_info(run->array);
    const Workload *w = source_workload(run->source);

    return w ? (double)workload_span(w)
             : (double)info->nblocks * info->block_bytes;
}

static Verdict verdict_of(const ResultRun *run, const Steadiness *s)
{
    if (run->wait) {
        return run->wait->reached ? VERDICT_STEADY : VERDICT_CHANGING;
    }
    if (!s->known) {
        return VERDICT_SHORT;
    }
    for (unsigned m = 0; m < STEADY_N_METRICS; m++) {
        if (!steady_in(s, m, STEADY_MOST_RANGE, STEADY_MOST_SLOPE)) {
            return VERDICT_CHANGING;
        }
    }
    return s->mean_bytes > 0 && s->mean_bytes < span_bytes(run)
               ? VERDICT_FLAT
               : VERDICT_STEADY;
}

/* ---- JSON ---------------------------------------------------------------- */

/* Source of the values of RUN_STATS. */
typedef struct RunStats {
    const ResultRun *run;
    const PlayerResult *r;
    const SsdInfo *info;
    const Hist *all;
    RaidStats raid; /* with array_raid() */
    Steadiness five;
    Verdict verdict; /* on these */
} RunStats;

typedef struct InfoStats {
    const char *profile;
    const SsdInfo *info;
} InfoStats;

static const char *error_name(unsigned i)
{
    return record_status_name(SSD_STATUS_OK + 1 + i);
}

static const char *request_name(unsigned i)
{
    return i ? op_names[shown[i - 1]] : "all";
}

static const char *judged_name(unsigned i)
{
    return steady_metric_name(i);
}

static double span_of(const RunStats *v)
{
    return span_bytes(v->run);
}

static unsigned n_drives(const void *ctx)
{
    const RunStats *v = ctx;

    return array_n_drives(v->run->array);
}

static unsigned n_rules(const void *ctx)
{
    const RunStats *v = ctx;

    return host_rules_n(v->run->rules);
}

static const CmdRule *rule_of(const RunStats *v, unsigned i)
{
    return host_rules_rule(v->run->rules, i);
}

static const StatSet sets[] = {
    {"error", "the status of a request", PLAYER_N_STATUS - SSD_STATUS_OK - 1,
     error_name, NULL},
    {"request", "the kind of a request", G_N_ELEMENTS(shown) + 1, request_name,
     NULL},
    {"judged", "a value that is judged; latency is the mean", STEADY_N_METRICS,
     judged_name, NULL},
    {"drive", "each drive", 0, NULL, n_drives},
    {"rule", "each rule about commands", 0, NULL, n_rules},
    {"update", "how a write gets the parity", RAID_N_UPDATES, raid_update_name,
     NULL},
};

static bool has_windows(const void *ctx)
{
    const RunStats *v = ctx;

    return v->run->windows != NULL;
}

/* One drive's members stand beside those of the run; of several, in a list. */
static bool is_one(const void *ctx)
{
    return n_drives(ctx) == 1 && !has_windows(ctx);
}

static bool are_several(const void *ctx)
{
    return n_drives(ctx) > 1;
}

static bool has_rules(const void *ctx)
{
    return n_rules(ctx) > 0;
}

static bool is_raid(const void *ctx)
{
    const RunStats *v = ctx;

    return array_raid(v->run->array) != NULL;
}

static const RaidLayout *layout(const RunStats *v)
{
    return raid_layout(array_raid(v->run->array));
}

static const StatWhen when_raid = {"with `--raid` of 1 or more", is_raid};
static const StatWhen when_rules = {
    "with rules about commands in the file of `faults`", has_rules};
static const StatWhen when_windows = {"with `--window`", has_windows};
static const StatWhen when_one = {"with one drive", is_one};
static const StatWhen when_several = {"with `--drives` of 2 or more",
                                      are_several};

static void source_part(const void *ctx, JsonWriter *w)
{
    source_json(ctx, w);
}

static void series_part(const void *ctx, JsonWriter *w)
{
    record_json(ctx, w);
}

static void options_part(const void *ctx, JsonWriter *w)
{
    ssd_options_json(ctx, w);
}

static void drive_part(const void *ctx, JsonWriter *w)
{
    ssd_stats_json_drive(ctx, w);
}

static void windows_part(const void *ctx, JsonWriter *w)
{
    const RunStats *v = ctx;

    ssd_stats_json_sums(array_drive(v->run->array, 0), v->run->windows->drive,
                        w);
}

static double most_times(const Windows *w)
{
    double share = windows_pass_share(w);

    return share > 0 ? 1 / share : NAN;
}

#define COUNTER_GET(id, path, unit, help)                                      \
    STAT_FUNCTION(RunStats, COUNTER, id, &v->r->id)
#define RUN_GET(type, id, path, unit, when, value, help)                       \
    STAT_FUNCTION(RunStats, type, id, value)
#define INFO_GET(type, id, path, unit, when, value, help)                      \
    STAT_FUNCTION(InfoStats, type, id, value)

RUN_STATS(COUNTER_GET, RUN_GET)
INFO_STATS(INFO_GET)

static const StatRow run_rows[] = {RUN_STATS(RUN_STATS_COUNTER, RUN_STATS_ROW)};
static const StatRow info_rows[] = {INFO_STATS(RUN_STATS_ROW)};

const StatTable result_stats = {run_rows, G_N_ELEMENTS(run_rows), sets,
                                G_N_ELEMENTS(sets)};
const StatTable result_info_stats = {info_rows, G_N_ELEMENTS(info_rows), NULL,
                                     0};

static void write_object(const StatTable *t, const void *ctx, GString *out)
{
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    stats_write(t, ctx, &w);
    json_close(&w, '}');
    g_string_append_c(out, '\n');
}

void result_json(const ResultRun *run, const PlayerResult *r, GString *out)
{
    g_autofree Hist *all = merged(r);
    RunStats v = {
        .run = run, .r = r, .info = array_info(run->array), .all = all};

    v.five = five_rounds(run, r);
    v.verdict = verdict_of(run, &v.five);

    if (array_raid(run->array)) {
        v.raid = raid_stats(array_raid(run->array));
    }
    write_object(&result_stats, &v, out);
}

void result_info_json(const char *profile, const SsdInfo *info, GString *out)
{
    InfoStats v = {profile, info};

    write_object(&result_info_stats, &v, out);
}

/* ---- text ---------------------------------------------------------------- */

/* The quantiles of the table of latencies, in millionths. */
static const struct {
    const char *name;
    uint32_t ppm;
} quantiles[] = {
    {"p50", 500000},    {"p99", 990000},     {"p99.9", 999000},
    {"p99.99", 999900}, {"p99.999", 999990}, {"p99.9999", 999999},
};

static void latency_head(GString *out)
{
    g_string_append_printf(out, "  %-6s %10s %10s", "us", "n", "mean");
    for (unsigned i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        g_string_append_printf(out, " %10s", quantiles[i].name);
    }
    g_string_append_printf(out, " %10s\n", "max");
}

static void latency_text(GString *out, const char *name, const Hist *h)
{
    if (h->n == 0) {
        return;
    }
    g_string_append_printf(out, "  %-6s %10" G_GUINT64_FORMAT " %10.1f", name,
                           h->n, hist_mean(h) / NS_PER_US);
    for (unsigned i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        g_string_append_printf(out, " %10.1f",
                               (double)hist_quantile(h, quantiles[i].ppm) /
                                   NS_PER_US);
    }
    g_string_append_printf(out, " %10.1f\n", (double)h->max / NS_PER_US);
}

static void drive_text(GString *out, const Ssd *ssd)
{
    SsdCounters c;

    ssd_get_counters(ssd, &c);
    g_string_append_printf(
        out,
        "write amplification %.3f; NAND reads %" G_GUINT64_FORMAT
        ", programs %" G_GUINT64_FORMAT ", erases %" G_GUINT64_FORMAT
        "; erase count mean %.1f, max %" G_GUINT64_FORMAT "\n",
        c.waf, c.nand_reads, c.nand_programs, c.nand_erases, c.mean_erase_count,
        c.max_erase_count);
    if (ssd_recovery_ns(ssd) > 0) {
        g_string_append_printf(out, "ready %.3f ms after the last return of "
                               "power\n", (double)ssd_recovery_ns(ssd) / 1e6);
    }
}

/* Why the write amplification of the run is not that of the writes: data that
 * is in the buffer, and blocks that GC made free for later. */
static void waf_text(const ResultRun *run, const PlayerResult *r, GString *out)
{
    SsdWritten w;
    double waf;
    double of_victims;

    array_get_written(run->array, &w);
    waf = w.host_bytes ? (double)w.nand_bytes / (double)w.host_bytes : 1;
    of_victims = w.victim_valid < 1 ? 1 / (1 - w.victim_valid) : 1;
    if (waf < 1) {
        g_string_append_printf(
            out,
            "  below 1: %.2f MB are still in the buffer; what is overwritten "
            "or trimmed there never leaves it\n",
            (double)w.dirty_bytes / 1e6);
    } else if (w.free_blocks > r->free_blocks && w.victim_valid > 0 &&
               waf > WAF_TOLD * of_victims) {
        g_string_append_printf(
            out,
            "  GC made %" G_GUINT64_FORMAT " blocks more free than the writes "
            "took; without these it is about %.2f (--until-steady=waf waits "
            "for them)\n",
            w.free_blocks - r->free_blocks, of_victims);
    }
}

static void drives_text(const ResultRun *run, const PlayerResult *r,
                        GString *out)
{
    for (unsigned i = 0; i < array_n_drives(run->array); i++) {
        drive_text(out, array_drive(run->array, i));
    }
    waf_text(run, r, out);
}

static void round_text(const ResultRun *run, const Steadiness *s, GString *out)
{
    g_string_append_printf(out, "five rounds of %.0f requests",
                           s->mean_requests);
    if (s->mean_bytes > 0) {
        g_string_append_printf(out, " (%.3g drive writes)",
                               s->mean_bytes / span_bytes(run));
    }
    for (unsigned m = 0; m < STEADY_N_METRICS; m++) {
        if (!isnan(s->range[m])) {
            g_string_append_printf(
                out, "%s %s %.1f %%, slope %.1f %%", m ? ";" : ": range of",
                steady_metric_name(m), 100 * s->range[m], 100 * s->slope[m]);
        }
    }
}

/* Is it steady? */
static void steady_text(const ResultRun *run, const PlayerResult *r,
                        GString *out)
{
    static const char *const says[] = {
        "steady: ", "flat, but too short to be called steady: ", "not steady: ",
        "too short to say whether it is steady"};
    Steadiness s = five_rounds(run, r);
    Verdict v = verdict_of(run, &s);

    if (run->wait && v != VERDICT_STEADY) {
        g_string_append_printf(out,
                               "the steady state of %s was not reached in "
                               "%u rounds; ",
                               steady_metric_name(run->wait->metric),
                               run->wait->rounds->n);
    } else if (run->wait) {
        g_string_append_printf(out, "steady in %s after %u rounds; ",
                               steady_metric_name(run->wait->metric),
                               run->wait->rounds->n);
    }
    g_string_append(out, run->wait ? "last " : says[v]);
    if (s.known) {
        round_text(run, &s, out);
    }
    g_string_append_c(out, '\n');
}

static void windows_text(const Windows *w, GString *out)
{
    g_string_append_printf(
        out,
        "write amplification %.3f, of all windows\n"
        "%" G_GUINT64_FORMAT " windows of %" G_GUINT64_FORMAT
        " requests, %u at a time; %" G_GUINT64_FORMAT
        " requests were played twice\n",
        w->host_bytes ? (double)w->nand_bytes / (double)w->host_bytes : 0, w->n,
        w->cfg.requests, w->cfg.jobs, w->n_outside);
    g_string_append_printf(
        out,
        "pass without time: %.1f %% of the processor time of a run in one "
        "piece, so at most %.1f times as fast on many cores\n",
        100 * windows_pass_share(w), most_times(w));
    if (w->seam.overlap.n) {
        g_string_append_printf(
            out,
            "at the seams, %" G_GUINT64_FORMAT " requests in both of their "
            "windows: mean %+.2f %%, p99 %+.2f %% in the later one\n",
            w->seam.overlap.n, 100 * windows_mean_error(w),
            100 * windows_quantile_error(w, 990000));
    }
}

static void errors_text(const PlayerResult *r, GString *out)
{
    const char *before = ": ";

    if (r->n_errors == 0) {
        return;
    }
    g_string_append_printf(out, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                           " requests failed", r->n_errors, r->n_requests);
    for (unsigned s = SSD_STATUS_OK + 1; s < PLAYER_N_STATUS; s++) {
        if (r->n_status[s]) {
            g_string_append_printf(out, "%s%" G_GUINT64_FORMAT " with %s",
                                   before, r->n_status[s],
                                   record_status_name(s));
            before = ", ";
        }
    }
    g_string_append_c(out, '\n');
}

static void raid_text(const Raid *raid, GString *out)
{
    RaidStats s = raid_stats(raid);

    if (s.n_failed == 0) {
        return;
    }
    g_string_append_printf(out,
                           "%" G_GUINT64_FORMAT " drives failed; rebuild "
                           "of %.2f MB in %.6f s of modelled time",
                           s.n_failed, (double)s.rebuilt_bytes / 1e6,
                           (double)s.rebuild_ns / NS_PER_S);
    if (s.unspared_chunks) {
        g_string_append_printf(
            out, "; %" G_GUINT64_FORMAT " chunks have no spare chunk",
            s.unspared_chunks);
    }
    if (s.lost || s.lost_chunks) {
        g_string_append_printf(out,
                               "; data is lost: %" G_GUINT64_FORMAT
                               " operations, %" G_GUINT64_FORMAT
                               " chunks of rebuilds",
                               s.lost, s.lost_chunks);
    }
    g_string_append_c(out, '\n');
}

static void trouble_text(const ResultRun *run, const PlayerResult *r,
                         GString *out)
{
    errors_text(r, out);
    if (array_raid(run->array)) {
        raid_text(array_raid(run->array), out);
    }
    if (r->n_power_cuts) {
        g_string_append_printf(out,
                               "the power went %" G_GUINT64_FORMAT
                               " times, and came back at once\n",
                               r->n_power_cuts);
    }
    if (r->n_dropped) {
        g_string_append_printf(out,
                               "%" G_GUINT64_FORMAT
                               " requests were dropped by rules and never "
                               "ended\n",
                               r->n_dropped);
    }
    if (r->n_waited) {
        g_string_append_printf(out,
                               "%" G_GUINT64_FORMAT
                               " requests found the drive's queue full\n",
                               r->n_waited);
    }
    if (r->n_wrapped) {
        g_string_append_printf(out,
                               "%" G_GUINT64_FORMAT
                               " requests beyond the drive were folded\n",
                               r->n_wrapped);
    }
    if (r->kept_trim_bytes) {
        g_string_append_printf(out,
                               "%" G_GUINT64_FORMAT
                               " bytes of TRIMs cover no whole block, and were "
                               "kept\n",
                               r->kept_trim_bytes);
    }
    source_trouble_text(run->source, out);
    if (run->stopped) {
        g_string_append_printf(out,
                               "stopped after %" G_GUINT64_FORMAT
                               " requests; these are the results so far\n",
                               r->n_requests);
    }
    if (run->checked) {
        g_string_append_printf(out,
                               "all %" G_GUINT64_FORMAT
                               " completions are as recorded, to the "
                               "nanosecond\n",
                               r->n_requests);
    }
}

void result_text(const ResultRun *run, const PlayerResult *r, GString *out)
{
    g_autofree Hist *all = merged(r);
    g_autofree char *profile = printable(run->profile);
    g_autofree char *source = printable(source_name(run->source));

    g_string_append_printf(out, "%s, seed %" G_GUINT64_FORMAT ", fill %s: %s\n",
                           profile, run->seed, run->fill, source);
    source_taken_text(run->source, out);
    g_string_append_printf(out,
                           "%" G_GUINT64_FORMAT
                           " requests in %.6f s of modelled time: %.1f per "
                           "second, %.2f MB/s read, %.2f MB/s written\n",
                           r->n_requests, (double)r->sim_ns / NS_PER_S,
                           per_second(r->n_requests, r->sim_ns),
                           per_second(r->bytes[SSD_OP_READ], r->sim_ns) / 1e6,
                           per_second(r->bytes[SSD_OP_WRITE], r->sim_ns) / 1e6);
    g_string_append_printf(
        out,
        "wall time %.3f s: %.0f requests per second; processor time %.3f s: "
        "%.0f per second\n",
        (double)run->wall_ns / NS_PER_S,
        per_second(r->n_requests, run->wall_ns), (double)run->cpu_ns / NS_PER_S,
        per_second(r->n_requests, run->cpu_ns));
    latency_head(out);
    latency_text(out, "all", all);
    for (unsigned i = 0; i < G_N_ELEMENTS(shown); i++) {
        latency_text(out, op_names[shown[i]], &r->latency[shown[i]]);
    }
    if (run->windows) {
        windows_text(run->windows, out);
    } else {
        drives_text(run, r, out);
    }
    steady_text(run, r, out);
    trouble_text(run, r, out);
    record_text(run->record, out);
}

void result_histograms(const PlayerResult *r, GString *out)
{
    g_autofree Hist *all = merged(r);

    hdr_log_begin(out);
    hdr_log_add(out, "all", 0, r->sim_ns, all);
    for (unsigned i = 0; i < G_N_ELEMENTS(shown); i++) {
        hdr_log_add(out, op_names[shown[i]], 0, r->sim_ns,
                    &r->latency[shown[i]]);
    }
}

void result_explain(const ResultRun *run, GString *out)
{
    unsigned n = array_n_drives(run->array);

    for (unsigned i = 0; i < n; i++) {
        if (n > 1) {
            g_string_append_printf(out, "drive %u:\n", i);
        }
        ssd_explain_text(array_drive(run->array, i), out);
    }
}
