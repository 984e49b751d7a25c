/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of placement/. */
#include "bitmap.h"
#include "check.h"
#include "component.h"
#include "media/jobs.h"
#include "media/media.h"
#include "media/row.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "placement/streams.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    alloc_policy_init(ssd, alloc_policies[ssd->cfg->alloc]);
    stream_init(ssd);
    chooser_init(ssd);
    alloc_init(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    alloc_destroy(ssd);
    chooser_destroy(ssd);
    stream_destroy(ssd);
}

/* Pages on their way will not be programmed, blocks not be erased. */
static void power_dropped(Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = job_at(ssd, j);

        if (job->state == JOB_PLACED && !job->meta && !job->parity) {
            stream_uncount_page(ssd, j);
        }
    }
    stream_uncount_erases(ssd);
    rows_power_lost(ssd);
}

static void power_settled(Ssd *ssd)
{
    if (saves(ssd)) {
        chooser_forget(ssd);
    }
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_PLANE_WORDS,
    N_RATE_PIECES,
    N_STREAMS,
    /* bounds only: */
    N_PLANES,
    N_ROWS,
    N_RECLAIM_BLOCKS,
    N_COUNTS,
};

static const StateRow stream_rows[] = {
    STATE_VALUE_ROW(Stream, queue), /* of buffer/ */
    STATE_INDEX_ROW(Stream, row, N_ROWS),
    STATE_INDEX_ROW(Stream, first, N_PLANES),
    STATE_NUMBER_ROW(Stream, left),
    STATE_INDEX_ROW(Stream, taken, N_RECLAIM_BLOCKS),
    STATE_VALUE_ROW(Stream, n),
    STATE_VALUE_ROW(Stream, base),
};

static const StateStruct stream_struct = STATE_STRUCT(Stream, stream_rows);

static const StateRow placement_rows[] = {
    STATE_UNSAVED_ROW(Placement, plane),
    STATE_UNSAVED_ROW(Placement, policy),
    STATE_UNSAVED_ROW(Placement, placer),
    STATE_TABLE_ROW(Placement, accepting, N_PLANE_WORDS),
    STATE_INDEX_ROW(Placement, stripe_cursor, N_PLANES),
    STATE_UNSAVED_ROW(Placement, row_blocked), /* only saves a search */
    STATE_UNSAVED_ROW(Placement, changes),
    STATE_LINK_ROW(Placement, alloc_chosen, N_PLANES),
    STATE_LINK_ROW(Placement, alloc_waits_for, N_PLANES),
    STATE_VALUE_ROW(Placement, rng),
    STATE_UNSAVED_ROW(Placement, rate_shift),
    STATE_TABLE_ROW(Placement, rate, N_RATE_PIECES),
    STATE_UNSAVED_ROW(Placement, chooses_stream),
    STATE_COUNT_ROW(Placement, n_starved, N_PLANES),
    STATE_TABLE_OF_ROW(Placement, stream, N_STREAMS, stream_struct),
};

static const StateRow load_rows[] = {
    STATE_VALUE_ROW(GcLoad, active),    STATE_NUMBER_ROW(GcLoad, reads),
    STATE_NUMBER_ROW(GcLoad, programs), STATE_NUMBER_ROW(GcLoad, away),
    STATE_NUMBER_ROW(GcLoad, foreign),  STATE_VALUE_ROW(GcLoad, credit),
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
                                             &load_struct, &stream_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_PLANE_WORDS] = bitmap_words(ssd->l.n_planes);
    n[N_RATE_PIECES] = RATE_PIECES;
    n[N_STREAMS] = ssd->l.n_streams + 1;
    n[N_PLANES] = ssd->l.n_planes;
    n[N_ROWS] = ssd->l.n_planes / MAX(ssd->l.row_planes, 1);
    n[N_RECLAIM_BLOCKS] = ssd->info.reclaim_bytes / ssd->info.block_bytes;
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

/* Where the streams are. */
static bool check_turns(const Ssd *ssd, GError **error)
{
    for (uint32_t i = 0; i < ssd->l.n_streams; i++) {
        const Stream *st = &ssd->placement->stream[i];

        CHECK((ssd->l.row_planes == 0 ||
               row_of(ssd, st->first)[0] == st->first) &&
                  st->left >> ssd->l.row_planes == 0 &&
                  (st->left == 0 ||
                   plane_group(ssd, st->first) == stream_group(ssd, i)),
              "stream %u: its row", i);
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
        CHECK(plane_at(ssd, i)->tell_gains == !plane_accepts(ssd, i),
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
