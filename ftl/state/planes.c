/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planes.c - the state of each component for a plane, in a saved drive.
 *
 * In version 1 of the format a plane was one struct, with the parts of all
 * components.  From version 2 on each component has its own.
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

/* ---- version 2 ---------------------------------------------------------- */

#define VALUE(m)    STATE_VALUE_ROW(Plane, m)
#define TABLE(m, n) STATE_TABLE_ROW(Plane, m, n)

static const StateRow media_rows[] = {
    VALUE(free),
    VALUE(slc_free),
    STATE_VALUE_SINCE(3, Plane, n_fresh),
    STATE_VALUE_SINCE(3, Plane, next_fresh),
    VALUE(slc_full),
    VALUE(host_programs),
    VALUE(erases),
    VALUE(valid),
    VALUE(meta_valid),
    TABLE(open, PLANE_OPEN),
    VALUE(n_host_open),
    VALUE(by_age),
    VALUE(clock),
    TABLE(bucket, PLANE_BUCKETS),
    VALUE(min_valid),
    VALUE(spare_blocks),
    VALUE(slack_units),
    VALUE(gc_low_blocks),
    VALUE(gc_high_blocks),
    VALUE(gc_soft_blocks),
    VALUE(n_retiring),
    VALUE(n_folding),
    STATE_VALUE_SINCE(3, Plane, n_slc),
    VALUE(last_gc_block),
    VALUE(n_held),
    VALUE(tell_gains),
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
    STATE_VALUE_SINCE(3, GcPlane, reclaim),
    VALUE(victim),
    VALUE(scan),
    VALUE(n_staged),
    STATE_TABLE_WIDENED(3, GcPlane, staged, PLANE_STAGED),
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
    STATE_TABLE_WIDENED(3, MapPlane, origin, PLANE_ORIGINS),
};

#undef VALUE
#undef TABLE

const StateStruct state_media_plane = STRUCT(Plane, media_rows);
const StateStruct state_journal_plane = STRUCT(JournalPlane, journal_rows);
const StateStruct state_placement_plane =
    STRUCT(PlacementPlane, placement_rows);
const StateStruct state_gc_plane = STRUCT(GcPlane, gc_rows);
const StateStruct state_map_plane = STRUCT(MapPlane, map_rows);

/* ---- version 1 ---------------------------------------------------------- */

typedef struct PlaneGcV1 {
    bool active, forced, folding, background, yielded;
    uint32_t victim, scan, reads, programs, away, guests, n_staged, next, held;
    uint32_t trims;
    uint64_t rate, credit;
    JobFifo redo;
} PlaneGcV1;

typedef struct PlaneV1 {
    IlistN free, slc_free;
    Ilist slc_full;
    uint32_t host_programs, erases;
    uint64_t valid, meta_valid;
    uint32_t meta_programs;
    JobFifo meta_wait;
    Open *open;
    uint32_t n_host_open;
    Ilist by_age;
    uint32_t clock;
    uint32_t *bucket;
    uint32_t min_valid;
    uint64_t *staged;
    uint32_t *staged_of;
    PlaneGcV1 gc;
    uint32_t spare_blocks;
    uint64_t slack_units;
    uint32_t gc_low_blocks, gc_high_blocks, gc_soft_blocks;
    uint32_t most_erased, least_erased, wear_due, scanned;
    uint32_t n_retiring, n_folding, last_gc_block;
    bool accepting, starved;
    PlaneLogs logs;
    uint64_t *origin;
} PlaneV1;

#define MEMBER(m, was)                                                         \
    .name = "Plane." #was, .offset = offsetof(PlaneV1, m),                     \
    .bytes = sizeof(((PlaneV1 *)0)->m),                                        \
    .align = __alignof__(((PlaneV1 *)0)->m)
#define VALUE_AS(m, was) {MEMBER(m, was), .kind = STATE_VALUE}
#define VALUE(m)         VALUE_AS(m, m)
#define TABLE(m, n)                                                            \
    {MEMBER(m, m), .kind = STATE_TABLE, .elem = sizeof(*((PlaneV1 *)0)->m),    \
     .count = (n)}

#define WIDENED(m, n)                                                          \
    {MEMBER(m, m),                                                             \
     .kind = STATE_TABLE,                                                      \
     .grown = 3,                                                               \
     .widened = true,                                                          \
     .elem = sizeof(*((PlaneV1 *)0)->m),                                       \
     .count = (n)}

static const StateRow v1_rows[] = {
    VALUE_AS(free.head, free_head),
    VALUE_AS(free.tail, free_tail),
    VALUE_AS(free.n, n_free),
    VALUE_AS(slc_free.head, slc_free_head),
    VALUE_AS(slc_free.tail, slc_free_tail),
    VALUE_AS(slc_free.n, n_slc_free),
    VALUE_AS(slc_full.head, slc_full_head),
    VALUE_AS(slc_full.tail, slc_full_tail),
    VALUE(host_programs),
    VALUE(erases),
    VALUE(valid),
    VALUE(meta_valid),
    VALUE(meta_programs),
    VALUE(meta_wait),
    TABLE(open, PLANE_OPEN),
    VALUE(n_host_open),
    VALUE_AS(by_age.head, oldest),
    VALUE_AS(by_age.tail, newest),
    VALUE(clock),
    TABLE(bucket, PLANE_BUCKETS),
    VALUE(min_valid),
    WIDENED(staged, PLANE_STAGED),
    TABLE(staged_of, PLANE_CLASSES),
    VALUE(gc),
    VALUE(spare_blocks),
    VALUE(slack_units),
    VALUE(gc_low_blocks),
    VALUE(gc_high_blocks),
    VALUE(gc_soft_blocks),
    VALUE(most_erased),
    VALUE(least_erased),
    VALUE(wear_due),
    VALUE(scanned),
    VALUE(n_retiring),
    VALUE(n_folding),
    VALUE(last_gc_block),
    VALUE(accepting),
    VALUE(starved),
    VALUE(logs),
    WIDENED(origin, PLANE_ORIGINS),
};

const StateStruct state_plane_v1 = {"Plane", v1_rows, G_N_ELEMENTS(v1_rows),
                                    sizeof(PlaneV1)};

static void spread_media(const PlaneV1 *from, Plane *p)
{
    p->free = from->free;
    p->slc_free = from->slc_free;
    p->slc_full = from->slc_full;
    p->host_programs = from->host_programs;
    p->erases = from->erases;
    p->valid = from->valid;
    p->meta_valid = from->meta_valid;
    p->n_host_open = from->n_host_open;
    p->by_age = from->by_age;
    p->clock = from->clock;
    p->min_valid = from->min_valid;
    p->spare_blocks = from->spare_blocks;
    p->slack_units = from->slack_units;
    p->gc_low_blocks = from->gc_low_blocks;
    p->gc_high_blocks = from->gc_high_blocks;
    p->gc_soft_blocks = from->gc_soft_blocks;
    p->n_retiring = from->n_retiring;
    p->n_folding = from->n_folding;
    p->last_gc_block = from->last_gc_block;
    p->n_held = from->gc.trims;
    p->tell_gains = !from->accepting;
}

static void spread_gc(const PlaneV1 *from, GcPlane *g, GcLoad *load)
{
    g->forced = from->gc.forced;
    g->folding = from->gc.folding;
    g->background = from->gc.background;
    g->yielded = from->gc.yielded;
    g->victim = from->gc.victim;
    g->scan = from->gc.scan;
    g->n_staged = from->gc.n_staged;
    g->next = from->gc.next;
    g->held = from->gc.held;
    g->redo = from->gc.redo;
    g->rate = from->gc.rate;
    g->most_erased = from->most_erased;
    g->least_erased = from->least_erased;
    g->wear_due = from->wear_due;
    g->scanned = from->scanned;
    load->active = from->gc.active;
    load->reads = from->gc.reads;
    load->programs = from->gc.programs;
    load->away = from->gc.away;
    load->guests = from->gc.guests;
    load->credit = from->gc.credit;
}

/* A stream may be forged: is each flag 0 or 1? */
static bool flags_ok(const PlaneV1 *v1)
{
    static const size_t at[] = {
        offsetof(PlaneV1, gc.active),
        offsetof(PlaneV1, gc.forced),
        offsetof(PlaneV1, gc.folding),
        offsetof(PlaneV1, gc.background),
        offsetof(PlaneV1, gc.yielded),
        offsetof(PlaneV1, accepting),
        offsetof(PlaneV1, starved),
        offsetof(PlaneV1, logs.merge.begun),
        offsetof(PlaneV1, logs.merge.random),
    };

    for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
        if (((const uint8_t *)v1)[at[i]] > 1) {
            return false;
        }
    }
    return true;
}

static bool load_v1(Ssd *ssd, State *s, uint32_t plane, const uint64_t *counts)
{
    PlacementPlane *own = &ssd->placement->plane[plane];
    GcPlane *g = &ssd->gc->plane[plane];
    MapPlane *m = ssd->map->plane ? &ssd->map->plane[plane] : NULL;
    PlaneV1 v1 = {
        .open = ssd->media->plane[plane].open,
        .bucket = ssd->media->plane[plane].bucket,
        .staged = g->staged,
        .staged_of = g->staged_of,
        .origin = m ? m->origin : NULL,
    };

    if (!state_values(s, &state_plane_v1, &v1) ||
        !state_tables(s, &state_plane_v1, &v1, counts)) {
        return false;
    }
    if (!flags_ok(&v1)) {
        return state_fail(s, "it is damaged: a flag is neither on nor off");
    }
    spread_media(&v1, &ssd->media->plane[plane]);
    spread_gc(&v1, g, &own->gc);
    ssd->journal->plane[plane] =
        (JournalPlane){.programs = v1.meta_programs, .wait = v1.meta_wait};
    own->accepting = v1.accepting;
    own->starved = v1.starved;
    if (m) {
        m->logs = v1.logs;
    }
    return true;
}

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
        if (s->loading && s->version == 1) {
            if (!load_v1(ssd, s, i, counts)) {
                return false;
            }
            continue;
        }
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
