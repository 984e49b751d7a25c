/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of placement/. */
#include "component.h"
#include "media/media.h"
#include "placement/alloc-policy.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "placement/streams.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    alloc_policy_init(ssd, alloc_policies[ssd->cfg->alloc]);
    stream_init(ssd);
    hot_init(ssd);
    outside_streams_init(ssd); /* it may choose streams, as hot units do */
    alloc_init(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    alloc_destroy(ssd);
    hot_destroy(ssd);
    stream_destroy(ssd);
}

/* Pages on their way will not be programmed, blocks not be erased. */
static void power_dropped(Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state == JOB_PLACED && !job->meta && !job->parity) {
            stream_uncount_page(ssd, j);
        }
    }
    stream_uncount_erases(ssd);
}

static void power_settled(Ssd *ssd)
{
    if (saves(ssd)) {
        hot_forget(ssd);
        outside_streams_forget(ssd);
    }
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_PLANE_WORDS,
    N_HOT,
    N_HOT_PIECES,
    N_STREAMS,
    N_COUNTS,
};

static const StateRow placement_rows[] = {
    STATE_KEPT_ROW(Placement, plane),
    STATE_KEPT_ROW(Placement, policy),
    STATE_KEPT_ROW(Placement, placer),
    STATE_TABLE_ROW(Placement, accepting, N_PLANE_WORDS),
    STATE_VALUE_ROW(Placement, stripe_cursor),
    STATE_KEPT_ROW(Placement, row_blocked), /* only saves a search */
    STATE_KEPT_ROW(Placement, changes),
    STATE_VALUE_ROW(Placement, alloc_chosen),
    STATE_VALUE_ROW(Placement, alloc_waits_for),
    STATE_VALUE_ROW(Placement, rng),
    STATE_TABLE_ROW(Placement, hot_count, N_HOT),
    STATE_VALUE_ROW(Placement, hot_writes),
    STATE_KEPT_ROW(Placement, hot_shift),
    STATE_TABLE_ROW(Placement, hot_rate, N_HOT_PIECES),
    STATE_KEPT_ROW(Placement, chooses_stream),
    STATE_VALUE_ROW(Placement, n_starved),
    STATE_TABLE_ROW(Placement, stream, N_STREAMS),
};

static const StateRow load_rows[] = {
    STATE_VALUE_ROW(GcLoad, active),   STATE_VALUE_ROW(GcLoad, reads),
    STATE_VALUE_ROW(GcLoad, programs), STATE_VALUE_ROW(GcLoad, away),
    STATE_VALUE_ROW(GcLoad, foreign),  STATE_VALUE_ROW(GcLoad, credit),
};

static const StateStruct load_struct = STATE_STRUCT(GcLoad, load_rows);

static const StateRow plane_rows[] = {
    STATE_VALUE_ROW(PlacementPlane, accepting),
    STATE_VALUE_ROW(PlacementPlane, starved),
    STATE_VALUE_OF_ROW(PlacementPlane, gc, load_struct),
};

static const StateStruct plane_struct =
    STATE_STRUCT(PlacementPlane, plane_rows);
static const StateStruct placement_struct =
    STATE_STRUCT(Placement, placement_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&placement_struct, &plane_struct,
                                             &load_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_PLANE_WORDS] = bitmap_words(ssd->l.n_planes);
    n[N_HOT] = ssd->l.n_hot;
    n[N_HOT_PIECES] = HOT_PIECES;
    n[N_STREAMS] = ssd->l.n_streams + 1;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &placement_struct, ssd->placement)) {
        return false;
    }
    count(ssd, counts);
    return state_tables(s, &placement_struct, ssd->placement, counts) &&
           state_each(s, &plane_struct, ssd->placement->plane, ssd->l.n_planes,
                      NULL);
}

/* ---- the table ----------------------------------------------------------- */

const Component placement_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = power_settled,
    .reset_stats = stream_reset_stats,
    .rows = rows,
    .state = state,
};
