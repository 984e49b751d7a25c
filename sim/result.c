/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result.c - print the results of a run.
 *
 * Latencies are the player's (what the host sees); the members that describe
 * the drive come from ssd_stats_json_drive().
 */
#include "result.h"

#include "json.h"
#include "simtime.h"

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

/* ---- JSON ---------------------------------------------------------------- */

static void errors_json(JsonWriter *w, const PlayerResult *r)
{
    json_u64(w, "errors", r->n_errors);
    json_open(w, "errors_by_status", '{');
    for (SsdStatus s = SSD_STATUS_OK + 1; s < PLAYER_N_STATUS; s++) {
        json_u64(w, record_status_name(s), r->n_status[s]);
    }
    json_close(w, '}');
}

static void run_json(JsonWriter *w, const ResultRun *run, const PlayerResult *r,
                     const SsdInfo *info)
{
    json_u64(w, "schema_version", RESULT_SCHEMA_VERSION);
    json_string(w, "profile", run->profile);
    json_u64(w, "seed", run->seed);
    source_json(run->source, w);
    json_string(w, "fill", run->fill);
    json_u64(w, "block_bytes", info->block_bytes);
    json_u64(w, "capacity_bytes", info->nblocks * info->block_bytes);
    json_u64(w, "warm_up", r->n_warm_up);
    json_u64(w, "requests", r->n_requests);
    errors_json(w, r);
    json_u64(w, "waited", r->n_waited);
    json_u64(w, "wrapped", r->n_wrapped);
    json_u64(w, "power_cuts", r->n_power_cuts);
    json_bool(w, "checked", run->checked);
    json_bool(w, "stopped", run->stopped);
}

static void speed_json(JsonWriter *w, const ResultRun *run,
                       const PlayerResult *r)
{
    json_double(w, "wall_s", (double)run->wall_ns / NS_PER_S);
    json_double(w, "requests_per_s_wall",
                per_second(r->n_requests, run->wall_ns));
    json_double(w, "cpu_s", (double)run->cpu_ns / NS_PER_S);
    json_double(w, "requests_per_s_cpu",
                per_second(r->n_requests, run->cpu_ns));
    json_u64(w, "peak_rss_bytes", run->peak_rss_bytes);
    json_u64(w, "sim_ns", r->sim_ns);
    json_double(w, "iops", per_second(r->n_requests, r->sim_ns));
    json_open(w, "bytes_per_s", '{');
    json_double(w, "read", per_second(r->bytes[SSD_OP_READ], r->sim_ns));
    json_double(w, "write", per_second(r->bytes[SSD_OP_WRITE], r->sim_ns));
    json_close(w, '}');
}

/* One drive's members stand beside those of the run; of several, in a list. */
static void drives_json(JsonWriter *w, const Array *array)
{
    unsigned n = array_n_drives(array);

    if (n == 1) {
        ssd_stats_json_drive(array_drive(array, 0), w);
        return;
    }
    json_u64(w, "stripe_bytes", array_stripe_bytes(array));
    json_open(w, "drives", '[');
    for (unsigned i = 0; i < n; i++) {
        json_open(w, NULL, '{');
        ssd_stats_json_drive(array_drive(array, i), w);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void result_json(const ResultRun *run, const PlayerResult *r, GString *out)
{
    g_autofree Hist *all = merged(r);
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    run_json(&w, run, r, array_info(run->array));
    speed_json(&w, run, r);
    json_open(&w, "latency_ns", '{');
    json_hist(&w, "all", all);
    for (unsigned i = 0; i < G_N_ELEMENTS(shown); i++) {
        json_hist(&w, op_names[shown[i]], &r->latency[shown[i]]);
    }
    json_close(&w, '}');
    record_json(run->record, &w);
    drives_json(&w, run->array);
    json_close(&w, '}');
    g_string_append_c(out, '\n');
}

void result_info_json(const char *profile, const SsdInfo *info, GString *out)
{
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    json_u64(&w, "schema_version", RESULT_SCHEMA_VERSION);
    json_string(&w, "profile", profile);
    json_u64(&w, "capacity_bytes", info->nblocks * info->block_bytes);
    json_u64(&w, "block_bytes", info->block_bytes);
    json_u64(&w, "nblocks", info->nblocks);
    json_u64(&w, "unit_bytes", info->unit_bytes);
    json_u64(&w, "page_bytes", info->page_bytes);
    json_u64(&w, "erase_bytes", info->erase_bytes);
    json_u64(&w, "raw_bytes", info->raw_bytes);
    json_u64(&w, "nstreams", info->nstreams);
    json_u64(&w, "queue_depth", info->queue_depth);
    json_u64(&w, "memory_bytes", info->memory_bytes);
    json_close(&w, '}');
    g_string_append_c(out, '\n');
}

/* ---- text ---------------------------------------------------------------- */

static void latency_text(GString *out, const char *name, const Hist *h)
{
    if (h->n == 0) {
        return;
    }
    g_string_append_printf(out,
                           "  %-6s %10" G_GUINT64_FORMAT
                           " %11.1f %11.1f %11.1f %11.1f "
                           "%11.1f\n",
                           name, h->n, hist_mean(h) / NS_PER_US,
                           (double)hist_quantile(h, 500000) / NS_PER_US,
                           (double)hist_quantile(h, 990000) / NS_PER_US,
                           (double)hist_quantile(h, 999000) / NS_PER_US,
                           (double)h->max / NS_PER_US);
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

static void errors_text(const PlayerResult *r, GString *out)
{
    const char *before = ": ";

    if (r->n_errors == 0) {
        return;
    }
    g_string_append_printf(out, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                           " requests failed", r->n_errors, r->n_requests);
    for (SsdStatus s = SSD_STATUS_OK + 1; s < PLAYER_N_STATUS; s++) {
        if (r->n_status[s]) {
            g_string_append_printf(out, "%s%" G_GUINT64_FORMAT " with %s",
                                   before, r->n_status[s],
                                   record_status_name(s));
            before = ", ";
        }
    }
    g_string_append_c(out, '\n');
}

static void trouble_text(const ResultRun *run, const PlayerResult *r,
                         GString *out)
{
    errors_text(r, out);
    if (r->n_power_cuts) {
        g_string_append_printf(out,
                               "the power went %" G_GUINT64_FORMAT
                               " times, and came back at once\n",
                               r->n_power_cuts);
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

    g_string_append_printf(out, "%s, seed %" G_GUINT64_FORMAT ", fill %s: %s\n",
                           run->profile, run->seed, run->fill,
                           source_name(run->source));
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
    g_string_append_printf(out, "  %-6s %10s %11s %11s %11s %11s %11s\n", "us",
                           "n", "mean", "p50", "p99", "p99.9", "max");
    latency_text(out, "all", all);
    for (unsigned i = 0; i < G_N_ELEMENTS(shown); i++) {
        latency_text(out, op_names[shown[i]], &r->latency[shown[i]]);
    }
    for (unsigned i = 0; i < array_n_drives(run->array); i++) {
        drive_text(out, array_drive(run->array, i));
    }
    trouble_text(run, r, out);
    record_text(run->record, out);
}
