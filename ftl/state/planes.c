/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planes.c - the state of each component for a plane, in a saved drive.
 */
#include "gc/gc-private.h"
#include "journal/journal.h"
#include "map/map.h"
#include "media/media-internal.h"
#include "state/planes.h"
#include "placement/placement-internal.h"

enum {
    PLANE_OPEN,
    PLANE_BUCKETS,
    PLANE_STAGED,
    PLANE_CLASSES,
    PLANE_ORIGINS,
    N_PLANE_COUNTS,
};

#define STRUCT(type, rows) {#type, rows, G_N_ELEMENTS(rows), sizeof(type)}

#define VALUE(m)    STATE_VALUE_ROW(Plane, m)
#define TABLE(m, n) STATE_TABLE_ROW(Plane, m, n)

static const StateRow media_rows[] = {
    VALUE(free),           VALUE(slc_free),
    VALUE(n_fresh),        VALUE(next_fresh),
    VALUE(slc_full),       VALUE(host_programs),
    VALUE(erases),         VALUE(valid),
    VALUE(meta_valid),     TABLE(open, PLANE_OPEN),
    VALUE(n_host_open),    VALUE(by_age),
    VALUE(clock),          TABLE(bucket, PLANE_BUCKETS),
    VALUE(min_valid),      VALUE(spare_blocks),
    VALUE(slack_units),    VALUE(gc_low_blocks),
    VALUE(gc_high_blocks), VALUE(gc_soft_blocks),
    VALUE(n_retiring),     VALUE(n_folding),
    VALUE(n_slc),          VALUE(last_gc_block),
    VALUE(n_held),         VALUE(tell_gains),
};

#undef VALUE
#undef TABLE
#define VALUE(m) STATE_VALUE_ROW(JournalPlane, m)

static const StateRow journal_rows[] = {
    VALUE(programs),
    VALUE(wait),
};

#undef VALUE
#define VALUE(m) STATE_VALUE_ROW(PlacementPlane, m)

static const StateRow placement_rows[] = {
    VALUE(accepting),
    VALUE(starved),
    VALUE(gc),
};

#undef VALUE
#define VALUE(m)    STATE_VALUE_ROW(GcPlane, m)
#define TABLE(m, n) STATE_TABLE_ROW(GcPlane, m, n)

static const StateRow gc_rows[] = {
    VALUE(forced),
    VALUE(folding),
    VALUE(background),
    VALUE(yielded),
    VALUE(reclaim),
    VALUE(victim),
    VALUE(scan),
    VALUE(n_staged),
    TABLE(staged, PLANE_STAGED),
    TABLE(staged_of, PLANE_CLASSES),
    VALUE(next),
    VALUE(held),
    VALUE(redo),
    VALUE(rate),
    VALUE(most_erased),
    VALUE(least_erased),
    VALUE(wear_due),
    VALUE(scanned),
};

#undef VALUE
#undef TABLE
#define VALUE(m)    STATE_VALUE_ROW(MapPlane, m)
#define TABLE(m, n) STATE_TABLE_ROW(MapPlane, m, n)

static const StateRow map_rows[] = {
    VALUE(logs),
    TABLE(origin, PLANE_ORIGINS),
};

#undef VALUE
#undef TABLE

const StateStruct state_media_plane = STRUCT(Plane, media_rows);
const StateStruct state_journal_plane = STRUCT(JournalPlane, journal_rows);
const StateStruct state_placement_plane =
    STRUCT(PlacementPlane, placement_rows);
const StateStruct state_gc_plane = STRUCT(GcPlane, gc_rows);
const StateStruct state_map_plane = STRUCT(MapPlane, map_rows);

/* ---- iteration ----------------------------------------------------------- */

static bool walk(State *s, const StateStruct *d, void *base,
                 const uint64_t *counts)
{
    return state_values(s, d, base) && state_tables(s, d, base, counts);
}

bool state_planes(Ssd *ssd, State *s)
{
    const uint64_t counts[N_PLANE_COUNTS] = {
        [PLANE_OPEN] = ssd->l.n_open,
        [PLANE_BUCKETS] = ssd->l.units_per_block + 1,
        [PLANE_STAGED] = gc_staged_room(ssd),
        [PLANE_CLASSES] = ssd->l.n_gc_classes,
        [PLANE_ORIGINS] = ssd->l.units_per_block,
    };

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!walk(s, &state_media_plane, &ssd->media->plane[i], counts) ||
            !walk(s, &state_journal_plane, &ssd->journal->plane[i], counts) ||
            !walk(s, &state_placement_plane, &ssd->placement->plane[i],
                  counts) ||
            !walk(s, &state_gc_plane, &ssd->gc->plane[i], counts) ||
            (ssd->map->plane &&
             !walk(s, &state_map_plane, &ssd->map->plane[i], counts))) {
            return false;
        }
    }
    return true;
}
