/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of gc/. */
#include "component.h"
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "gc/gc.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "placement/placement.h"
#include "wake.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    gc_policy_init(ssd, gc_policies[ssd->cfg->gc]);
    prng_seed(&ssd->gc->rng, ssd->cfg->seed, PURPOSE_GC);
    if (!ssd->map->policy->own_blocks) {
        ssd->copies = &gc_copies;
    }
    refresh_init(ssd);
    gc_init(ssd);
    /* It hears of planes from here on: of their blocks not before. */
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        plane_update(ssd, i);
    }
    background_quiet(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    gc_destroy(ssd);
    refresh_destroy(ssd);
}

static void power_dropped(Ssd *ssd)
{
    background_power_lost(ssd);
    refresh_power_lost(ssd);
    gc_forget(ssd);
    gc_power_lost(ssd);
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_PLANES,
    N_BLOCKS,
    N_COUNTS,
};

static const StateRow background_rows[] = {
    STATE_VALUE_ROW(Background, idle),
    STATE_VALUE_ROW(Background, idle_armed),
    STATE_VALUE_ROW(Background, scan_armed),
    STATE_VALUE_ROW(Background, quiet_ps),
    STATE_VALUE_ROW(Background, scan_ps),
    STATE_VALUE_ROW(Background, folds),
    STATE_VALUE_ROW(Background, fold_armed),
};

static const StateStruct background_struct =
    STATE_STRUCT(Background, background_rows);

static const StateRow pace_rows[] = {
    STATE_VALUE_ROW(GcPace, unit_ps),
    STATE_VALUE_ROW(GcPace, distance_ps),
    STATE_NUMBER_ROW(GcPace, n_active),
};

static const StateStruct pace_struct = STATE_STRUCT(GcPace, pace_rows);

static const StateRow gc_rows[] = {
    STATE_UNSAVED_ROW(Gc, plane),
    STATE_UNSAVED_ROW(Gc, off),
    STATE_UNSAVED_ROW(Gc,
                      age_trees), /* derived again, and so are the next five */
    STATE_UNSAVED_ROW(Gc, superblock_means),
    STATE_UNSAVED_ROW(Gc, slot_client),
    STATE_UNSAVED_ROW(Gc, wear),
    STATE_UNSAVED_ROW(Gc, wear_order),
    STATE_UNSAVED_ROW(Gc, wear_size),
    STATE_VALUE_ROW(Gc, rng),
    STATE_UNSAVED_ROW(Gc, unit_called), /* counted again, and so is the next */
    STATE_UNSAVED_ROW(Gc, held_first),
    STATE_TABLE_ROW(Gc, row_wait, N_PLANES),
    STATE_UNSAVED_ROW(Gc, called), /* these two are false, but during a call */
    STATE_UNSAVED_ROW(Gc, alone),
    STATE_VALUE_OF_ROW(Gc, background, background_struct),
    STATE_VALUE_OF_ROW(Gc, pace, pace_struct),
    STATE_UNSAVED_ROW(Gc, period_armed), /* derived from the events */
    STATE_TABLE_ROW(Gc, history, N_BLOCKS),
    STATE_VALUE_ROW(Gc, background_stats),
    STATE_UNSAVED_ROW(Gc, purge), /* begins again (ssd_purge()) */
};

enum {
    PLANE_STAGED,
    PLANE_CLASSES,
    /* bounds only: */
    PLANE_PAGES,
    PLANE_BLOCKS,
    PLANE_ALL_BLOCKS,
};

static const StateRow plane_rows[] = {
    STATE_VALUE_ROW(GcPlane, forced),
    STATE_VALUE_ROW(GcPlane, background),
    STATE_VALUE_ROW(GcPlane, yielded),
    STATE_VALUE_ROW(GcPlane, reclaim),
    STATE_LINK_ROW(GcPlane, victim, PLANE_ALL_BLOCKS),
    STATE_COUNT_ROW(GcPlane, scan, PLANE_PAGES),
    STATE_COUNT_ROW(GcPlane, n_staged, PLANE_STAGED),
    STATE_TABLE_ROW(GcPlane, staged, PLANE_STAGED),
    STATE_TABLE_ROW(GcPlane, staged_of, PLANE_CLASSES),
    STATE_LINK_ROW(GcPlane, next, PLANE_ALL_BLOCKS),
    STATE_COUNT_ROW(GcPlane, held, PLANE_BLOCKS),
    STATE_VALUE_ROW(GcPlane, redo),
    STATE_VALUE_ROW(GcPlane, rate),
    STATE_VALUE_ROW(GcPlane, pace_from_ps),
    STATE_VALUE_ROW(GcPlane, pace_busy_ps),
    STATE_VALUE_ROW(GcPlane, pace_earned),
    STATE_NUMBER_ROW(GcPlane, most_erased),
    STATE_NUMBER_ROW(GcPlane, least_erased),
    STATE_NUMBER_ROW(GcPlane, wear_due),
    STATE_COUNT_ROW(GcPlane, scanned, PLANE_BLOCKS),
};

static const StateStruct plane_struct = STATE_STRUCT(GcPlane, plane_rows);
static const StateStruct gc_struct = STATE_STRUCT(Gc, gc_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&gc_struct, &plane_struct,
                                             &background_struct, &pace_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_PLANES] = ssd->l.n_planes;
    n[N_BLOCKS] = ssd->geo->n_blocks;
}

static bool planes_state(Ssd *ssd, State *s)
{
    const uint64_t counts[] = {
        [PLANE_STAGED] = gc_staged_room(ssd),
        [PLANE_CLASSES] = ssd->l.n_gc_classes,
        [PLANE_PAGES] = ssd->geo->pages_per_block,
        [PLANE_BLOCKS] = ssd->geo->blocks_per_plane,
        [PLANE_ALL_BLOCKS] = ssd->geo->n_blocks,
    };

    return state_each(s, &plane_struct, ssd->gc->plane, ssd->l.n_planes,
                      counts);
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &gc_struct, ssd->gc)) {
        return false;
    }
    count(ssd, counts);
    if (!state_tables(s, &gc_struct, ssd->gc, counts) ||
        !planes_state(ssd, s)) {
        return false;
    }
    if (s->loading) {
        gc_forget(ssd);
        unit_count(ssd);
    }
    return true;
}

/* ---- the table ----------------------------------------------------------- */

/* A plane may be below its marks now. */
static void options_changed(Ssd *ssd, const SsdConfig *before)
{
    (void)before;
    background_soft(ssd);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd_wake(ssd, WORK_GC, i);
    }
}

const Component gc_component = {
    .create = create,
    .destroy = destroy,
    .options_changed = options_changed,
    .power_dropped = power_dropped,
    .power_settled = unit_count,
    .power_on = refresh_power_on,
    .rows = rows,
    .state = state,
    .check = gc_check,
};
