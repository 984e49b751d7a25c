/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-values.c - the numbers of a picture: members of the statistics by their
 * path, with the functions that the JSON text uses.
 *
 * Only members that take no look at each block are here
 * (drive_stats_init_brief()).
 */
#include "inspect/live-values.h"

#include <string.h>

/* A counter grows but for a reset of the statistics; all else is a gauge. */
static const char *const counter_paths[] = {
    "requests",
    "host_bytes_read",
    "host_bytes_written",
    "commands_failed",
    "latency_ns.<op>",
    "nand.elapsed_ns",
    "nand.reads",
    "nand.programs",
    "nand.erases",
    "nand.by_cause.<cause>.reads",
    "nand.by_cause.<cause>.programs",
    "nand.by_cause.<cause>.erases",
    "nand.slc_programs",
    "media.read_retries",
    "media.uncorrectable_reads",
    "media.program_failures",
    "media.erase_failures",
    "media.grown_bad_blocks",
    "gc.victims",
    "gc.copied_units",
    "gc.superblocks",
    "slc.host_units",
    "slc.folded_units",
    "parity.pages",
    "background.soft_victims",
    "background.wear_victims",
    "background.refresh_victims",
    "background.yields",
    "buffer.read_hits",
    "buffer.read_misses",
    "buffer.write_hits",
    "buffer.write_misses",
    "buffer.clean_evictions",
    "buffer.dirty_evictions",
    "buffer.early_flushes",
    "buffer.padded_units",
    "controller.cores_busy_ns",
    "controller.gc_busy_ns",
    "controller.link_in_busy_ns",
    "controller.link_out_busy_ns",
    "controller.dram_busy_ns",
    "power.wake_ups",
    "thermal.throttle_1_ns",
    "thermal.throttle_2_ns",
    "recovery.count",
    "doorbell_writes",
    "fetches",
    "interrupts",
    NULL,
};

static const char *const gauge_paths[] = {
    "waf",
    "waf_by_cause.<cause>",
    "nand.bus_utilization",
    "nand.die_utilization",
    "media.spare_percent",
    "gc.free_blocks",
    "gc.mapped_units",
    "gc.victim_valid_mean",
    "slc.size_bytes",
    "slc.used_bytes",
    "slc.free_bytes",
    "buffer.units_used",
    "buffer.units_dirty",
    "buffer.threshold",
    "power.mean_w",
    "power.state",
    "thermal.celsius",
    "recovery.ready_ns",
    "explain.commands_in_flight",
    "explain.stages.<stage>.utilization",
    "explain.stages.<stage>.queueing_ns",
    "explain.work_by_cause.<cause>",
    "explain.latency_ns.<cost>",
    "lateness_ns.p50",
    "lateness_ns.p99",
    "lateness_ns.max",
    NULL,
};

typedef struct LiveValue {
    const StatRow *row;
    unsigned at[1]; /* in the set of its path, if it has one */
    bool of_host;   /* SsdLiveHost.stats */
    char *path;
} LiveValue;

struct LiveValues {
    const SsdLiveHost *front;
    LiveValue *value;
    uint32_t n;
};

/* ---- the list ------------------------------------------------------------ */

/* "nand.by_cause.<cause>.reads", with the name of the set's element. */
static char *path_of(const StatRow *r, const StatSet *set, unsigned i)
{
    const char *step = set ? strchr(r->path, '<') : NULL;
    g_autofree char *path =
        step ? g_strdup_printf("%.*s%s%s", (int)(step - r->path), r->path,
                               set->name_at(i), strchr(step, '>') + 1)
             : g_strdup(r->path);

    return r->type == STAT_HIST ? g_strconcat(path, ".count", NULL)
                                : g_steal_pointer(&path);
}

static void add_row(LiveValues *v, const StatTable *t, const StatRow *r,
                    bool of_host)
{
    const StatSet *set = stats_row_set(t, r);
    unsigned n = set ? set->n_names : 1;

    v->value = g_renew(LiveValue, v->value, v->n + n);
    for (unsigned i = 0; i < n; i++) {
        v->value[v->n++] = (LiveValue){
            .row = r,
            .at = {i},
            .of_host = of_host,
            .path = path_of(r, set, i),
        };
    }
}

/* The row of the path, in whichever table it is; none, if this drive or front
 * end has no such thing. */
static void add_path(LiveValues *v, const DriveStats *now, const char *path)
{
    const StatTable *const table[] = {&ssd_head_stats, &ssd_stats,
                                      v->front->stats};

    for (unsigned i = 0; i < G_N_ELEMENTS(table); i++) {
        const StatRow *r = table[i] ? stats_row(table[i], path) : NULL;

        if (r && (!r->when || r->when->holds(now))) {
            add_row(v, table[i], r, table[i] == v->front->stats);
            return;
        }
    }
}

LiveValues *live_values_new(const Ssd *ssd, const SsdLiveHost *host,
                            bool counters)
{
    const char *const *path = counters ? counter_paths : gauge_paths;
    LiveValues *v = g_new0(LiveValues, 1);
    DriveStats now;

    v->front = host;
    drive_stats_init_brief(&now, ssd);
    for (; *path; path++) {
        add_path(v, &now, *path);
    }
    drive_stats_clear(&now);
    return v;
}

void live_values_free(LiveValues *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        g_free(v->value[i].path);
    }
    g_free(v->value);
    g_free(v);
}

uint32_t live_values_n(const LiveValues *v)
{
    return v->n;
}

const char *live_values_path(const LiveValues *v, uint32_t i)
{
    return i < v->n ? v->value[i].path : NULL;
}

/* ---- their values -------------------------------------------------------- */

static double f64_of(const LiveValue *v, const void *ctx)
{
    switch (v->row->type) {
    case STAT_DOUBLE:
        return v->row->get.number(ctx, v->at);
    case STAT_U64:
        return (double)v->row->get.u64(ctx, v->at);
    default:
        g_assert_not_reached();
    }
}

static uint64_t u64_of(const LiveValue *v, const void *ctx)
{
    switch (v->row->type) {
    case STAT_COUNTER:
        return *v->row->get.counter(ctx, v->at);
    case STAT_U64:
        return v->row->get.u64(ctx, v->at);
    case STAT_TIME:
        return (uint64_t)v->row->get.time(ctx, v->at);
    case STAT_HIST:
        return v->row->get.hist(ctx, v->at)->n;
    default:
        g_assert_not_reached();
    }
}

static const void *context(const LiveValues *v)
{
    return v->front->stats ? v->front->stats_now(v->front->opaque) : NULL;
}

void live_values_u64(const LiveValues *v, const DriveStats *now, uint64_t *to)
{
    const void *of_host = context(v);

    for (uint32_t i = 0; i < v->n; i++) {
        to[i] = u64_of(&v->value[i], v->value[i].of_host ? of_host : now);
    }
}

void live_values_f64(const LiveValues *v, const DriveStats *now, double *to)
{
    const void *of_host = context(v);

    for (uint32_t i = 0; i < v->n; i++) {
        to[i] = f64_of(&v->value[i], v->value[i].of_host ? of_host : now);
    }
}
