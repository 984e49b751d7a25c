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

const Component gc_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = unit_count,
    .power_on = refresh_power_on,
};
