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

const Component map_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = power_settled,
    .reset_stats = reset_stats,
};
