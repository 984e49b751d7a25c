/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of map/. */
#include "buffer/life.h"
#include "component.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "map/reset.h"
#include "placement/life.h"

static bool create(Ssd *ssd, GError **error)
{
    const MapPolicy *p = map_policies[ssd->cfg->mapper];

    (void)error;
    ssd->map->policy = p;
    ssd->nand_entry = map_nand_entry;
    if (p->own_blocks) {
        ssd->copies = &p->own_blocks->copies;
        placement_set_placer(ssd, p->own_blocks->placer);
    }
    if (p->changed) {
        buffer_set_client(ssd, &map_buffer_client);
    }
    trim_init(ssd);
    reset_init(ssd);
    if (p->init) {
        p->init(ssd);
    }
    return true;
}

static void destroy(Ssd *ssd)
{
    if (ssd->map->policy->destroy) {
        ssd->map->policy->destroy(ssd);
    }
    reset_destroy(ssd);
    trim_destroy(ssd);
}

static void reset_stats(Ssd *ssd)
{
    if (ssd->map->policy->stats) {
        stats_reset(ssd->map->policy->stats, ssd);
    }
    if (ssd->map->policy->reset_stats) {
        ssd->map->policy->reset_stats(ssd);
    }
}

static void power_dropped(Ssd *ssd)
{
    trim_power_lost(ssd);
    reset_power_lost(ssd);
    if (ssd->map->policy->power_lost) {
        ssd->map->policy->power_lost(ssd);
    }
}

static void power_settled(Ssd *ssd)
{
    if (saves(ssd)) {
        numtable_clear_first(&ssd->l2p.entry, saved_map_units(ssd));
        ssd->l2p.mapped_units = 0;
    }
    if (ssd->map->policy->own_blocks) {
        ssd->map->policy->own_blocks->planes_lost(ssd);
    }
}

/* ---- saved state --------------------------------------------------------- */

enum {
    N_GROUP_WORDS,
    N_LOGICAL_BLOCKS,
    N_LOG_BLOCKS,
    N_BLOCKS,
    N_PLANES,
    N_COUNTS,
};

static const StateRow log_rows[] = {
    STATE_LINK_ROW(LogBlock, block, N_BLOCKS),
    STATE_LINK_ROW(LogBlock, logical, N_LOGICAL_BLOCKS),
    STATE_LINK_ROW(LogBlock, older, N_LOG_BLOCKS),
    STATE_LINK_ROW(LogBlock, newer, N_LOG_BLOCKS),
    STATE_VALUE_ROW(LogBlock, in_order),
};

static const StateStruct log_struct = STATE_STRUCT(LogBlock, log_rows);

static const StateRow map_rows[] = {
    STATE_UNSAVED_ROW(Map, policy),
    STATE_TABLE_ROW(Map, trim_left, N_GROUP_WORDS),
    STATE_NUMBER_ROW(Map, n_trim_left),
    STATE_VALUE_ROW(Map, trims),
    STATE_TABLE_ROW(Map, reset_of, N_BLOCKS),
    STATE_TABLE_ROW(Map, resets, N_PLANES),
    STATE_UNSAVED_ROW(Map, policy_data), /* MapPolicy.state */
    STATE_UNSAVED_ROW(Map, policy_bytes),
    STATE_TABLE_ROW(Map, data_block, N_LOGICAL_BLOCKS),
    STATE_TABLE_ROW(Map, log_of, N_LOGICAL_BLOCKS),
    STATE_TABLE_OF_ROW(Map, log_block, N_LOG_BLOCKS, log_struct),
    STATE_UNSAVED_ROW(Map, plane),
    STATE_UNSAVED_ROW(Map, origins), /* MapPlane.origin */
    STATE_VALUE_ROW(Map, merge_stats),
};

enum {
    PLANE_ORIGINS,
    /* bounds only: */
    PLANE_LOGS,
    PLANE_LOGICAL,
    PLANE_BLOCKS,
    PLANE_KINDS,
};

static const StateRow plane_rows[] = {
    STATE_VALUE_ROW(MapPlane, logs.list),
    STATE_LINK_ROW(MapPlane, logs.free, PLANE_LOGS),
    STATE_LINK_ROW(MapPlane, logs.sequential, PLANE_LOGS),
    STATE_VALUE_ROW(MapPlane, logs.n_ended),
    STATE_LINK_ROW(MapPlane, logs.merge.log, PLANE_LOGS),
    STATE_LINK_ROW(MapPlane, logs.merge.logical, PLANE_LOGICAL),
    STATE_LINK_ROW(MapPlane, logs.merge.to, PLANE_BLOCKS),
    STATE_NUMBER_ROW(MapPlane, logs.merge.scan),
    STATE_NUMBER_ROW(MapPlane, logs.merge.end),
    STATE_NUMBER_ROW(MapPlane, logs.merge.read),
    STATE_NUMBER_ROW(MapPlane, logs.merge.read_unit),
    STATE_NUMBER_ROW(MapPlane, logs.merge.program),
    STATE_VALUE_ROW(MapPlane, logs.merge.left),
    STATE_NUMBER_ROW(MapPlane, logs.merge.reads),
    STATE_NUMBER_ROW(MapPlane, logs.merge.programs),
    STATE_INDEX_ROW(MapPlane, logs.merge.kind, PLANE_KINDS),
    STATE_VALUE_ROW(MapPlane, logs.merge.begun),
    STATE_VALUE_ROW(MapPlane, logs.merge.random),
    STATE_TABLE_ROW(MapPlane, origin, PLANE_ORIGINS),
};

static const StateStruct plane_struct = STATE_STRUCT(MapPlane, plane_rows);
static const StateStruct map_struct = STATE_STRUCT(Map, map_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&map_struct,       &plane_struct,
                                             &log_struct,       &dftl_struct,
                                             &dftl_page_struct, &cmt_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_GROUP_WORDS] = trim_words(ssd);
    n[N_LOGICAL_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.logical_blocks;
    n[N_LOG_BLOCKS] = (uint64_t)ssd->l.n_planes * ssd->l.log_blocks;
    n[N_BLOCKS] = ssd->geo->n_blocks;
    n[N_PLANES] = ssd->l.n_planes;
}

static bool planes_state(Ssd *ssd, State *s)
{
    const uint64_t counts[] = {
        [PLANE_ORIGINS] = ssd->l.units_per_block,
        [PLANE_LOGS] = (uint64_t)ssd->l.n_planes * ssd->l.log_blocks,
        [PLANE_LOGICAL] = (uint64_t)ssd->l.n_planes * ssd->l.logical_blocks,
        [PLANE_BLOCKS] = ssd->geo->n_blocks,
        [PLANE_KINDS] = N_MERGE_KINDS,
    };

    return state_each(s, &plane_struct, ssd->map->plane,
                      ssd->map->plane ? ssd->l.n_planes : 0, counts);
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &map_struct, ssd->map)) {
        return false;
    }
    count(ssd, counts);
    return state_tables(s, &map_struct, ssd->map, counts) &&
           planes_state(ssd, s) &&
           (!ssd->map->policy->state || ssd->map->policy->state(ssd, s));
}

/* ---- the table ----------------------------------------------------------- */

const Component map_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = power_settled,
    .reset_stats = reset_stats,
    .rows = rows,
    .state = state,
    .check = map_check,
};
