/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of inspect/. */
#include "check.h"
#include "component.h"
#include "inspect/inspect.h"
#include "lazymem.h"
#include "ssd-stats.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    ssd->inspect.latency = lazy_new(Hist, SSD_N_OPS + 1);
    for (int i = 0; i <= SSD_N_OPS; i++) {
        hist_init_zeroes(&ssd->inspect.latency[i]);
    }
    numbers_reset(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    ssd_oplog_close(ssd, NULL);
    ssd_trace_close(ssd, NULL);
    ssd_timeline_close(ssd, NULL);
    if (ssd->inspect.live) {
        live_drop(ssd->inspect.live);
    }
    lazy_free(ssd->inspect.latency, SSD_N_OPS + 1,
              sizeof(*ssd->inspect.latency));
    g_free(ssd->inspect.busy_base);
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_HISTS,
    N_BUSY,
    N_COUNTS,
};

#define COUNTER(id, path, unit, help) STATE_VALUE_ROW(Inspect, count.id),
#define SUM(id, path, help)           STATE_VALUE_ROW(Inspect, count.id),
#define NO_COUNTER(...)

static const StateRow inspect_rows[] = {
    STATE_TABLE_ROW(Inspect, latency, N_HISTS),
    STATE_VALUE_ROW(Inspect, counters),
    STATE_VALUE_ROW(Inspect, nand_base),
    STATE_VALUE_ROW(Inspect, use_base),
    STATE_VALUE_ROW(Inspect, heat_base),
    STATE_VALUE_ROW(Inspect, costs),
    STATE_POOL_ROW(Inspect, busy_base, N_BUSY),
    STATE_VALUE_ROW(Inspect, stats_since_ps),
    STATE_VALUE_ROW(Inspect, series),
    STATE_VALUE_ROW(Inspect, buffer_series),
    /* clang-format off */
    SSD_STATS(COUNTER, SUM, NO_COUNTER, NO_COUNTER)
    /* clang-format on */
    STATE_UNSAVED_ROW(Inspect, log),
    STATE_UNSAVED_ROW(Inspect, recording),
    STATE_UNSAVED_ROW(Inspect, timeline),
    STATE_UNSAVED_ROW(Inspect, live),
    STATE_UNSAVED_ROW(Inspect, slow),
    STATE_UNSAVED_ROW(Inspect, gate),
};

static const StateStruct inspect_struct = STATE_STRUCT(Inspect, inspect_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&inspect_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static bool state(Ssd *ssd, State *s)
{
    const NandGeometry *g = ssd->geo;
    uint64_t busy = ssd->inspect.busy_base != NULL;
    uint64_t counts[N_COUNTS] = {[N_HISTS] = SSD_N_OPS + 1};

    if (!state_values(s, &inspect_struct, &ssd->inspect) ||
        !state_u64(s, &busy)) {
        return false;
    }
    counts[N_BUSY] = busy ? g->n_channels + g->n_dies + g->n_planes : 0;
    return state_tables(s, &inspect_struct, &ssd->inspect, counts);
}

/* ---- check --------------------------------------------------------------- */

static bool series_ok(const Series *s)
{
    return s->n <= SERIES_POINTS && s->interval_ps > 0 &&
           s->interval_ps <= UINT64_MAX / 4;
}

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    CHECK(series_ok(&ssd->inspect.series), "the series of free blocks");
    CHECK(series_ok(&ssd->inspect.buffer_series), "the series of the buffer");
    for (unsigned i = 0; at_rest && i <= SSD_N_OPS; i++) {
        CHECK(hist_valid(&ssd->inspect.latency[i]), "a histogram");
    }
    return ssd_check_wakes(ssd, error);
}

/* ---- the table ----------------------------------------------------------- */

const Component inspect_component = {
    .create = create,
    .destroy = destroy,
    .reset_stats = inspect_reset,
    .rows = rows,
    .state = state,
    .check = check,
};
