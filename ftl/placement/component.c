/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of placement/. */
#include "bitmap.h"
#include "check.h"
#include "component.h"
#include "media/media.h"
#include "media/row.h"
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

/* ---- check --------------------------------------------------------------- */

/* Where the streams are, and who took their turn. */
static bool check_turns(const Ssd *ssd, GError **error)
{
    const Placement *p = ssd->placement;
    uint32_t n = ssd->l.n_planes;
    uint32_t row = MAX(ssd->l.row_planes, 1);

    CHECK(p->stripe_cursor < n && none_or(p->alloc_chosen, n) &&
              none_or(p->alloc_waits_for, n),
          "a turn");
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        const Stream *st = &p->stream[i];

        CHECK(st->row < n / row && st->first < n &&
                  (ssd->l.row_planes == 0 ||
                   row_of(ssd, st->first)[0] == st->first) &&
                  st->left >> ssd->l.row_planes == 0 &&
                  (st->left == 0 ||
                   plane_group(ssd, st->first) == stream_group(ssd, i)),
              "a turn");
        CHECK(st->taken < ssd->info.reclaim_bytes / ssd->info.block_bytes,
              "a reclaim unit");
    }
    return true;
}

static bool check(const Ssd *ssd, bool at_rest, GError **error)
{
    uint32_t n = ssd->l.n_planes;
    uint32_t starved = 0;

    for (uint32_t pos = 0; pos < bitmap_words(n) * BITMAP_WORD; pos++) {
        bool bit = bitmap_test(ssd->placement->accepting, pos);

        CHECK(bit == (pos < n &&
                      plane_accepts(ssd, ssd->media->stripe_plane[pos])),
              "planes that accept a page");
    }
    for (uint32_t i = 0; i < n; i++) {
        const PlacementPlane *p = &ssd->placement->plane[i];

        CHECK(!at_rest || (p->gc.reads == 0 && p->gc.programs == 0 &&
                           p->gc.away == 0 && p->gc.foreign == 0),
              "operations are in flight");
        CHECK(ssd->media->plane[i].tell_gains == !plane_accepts(ssd, i),
              "a plane's pages");
        starved += p->starved;
    }
    CHECK(starved == ssd->placement->n_starved, "planes without room");
    return check_turns(ssd, error);
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
    .check = check,
};
