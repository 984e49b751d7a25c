/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.c - what garbage collection hears of blocks.
 *
 * Knows which part of gc/ each of it concerns; does nothing itself.
 */
#include "gc/age-tree.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "gc/stripe-means.h"
#include "media/media.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "placement/placement.h"
#include "ssd-internal.h"

static void opened(Ssd *ssd, uint32_t block, uint32_t open)
{
    refresh_opened(ssd, block);
    unit_opened(ssd, block, open);
}

static const MediaClient media_client = {
    .choose_free = wear_choose_free,
    .freed = wear_freed,
    .free_taken = wear_taken,
    .opened = opened,
    .taken = unit_taken,
    .left = unit_leave,
    .erasing = stream_erasing,
    .plane_changed = plane_update,
    .erased = wear_erased,
};

/* ---- the index of FULL blocks -------------------------------------------- */

static void listed(Ssd *ssd, uint32_t block)
{
    if (ssd->gc->age_trees) {
        age_tree_append(ssd, block_plane(ssd, block), block);
    }
}

static void unlisted(Ssd *ssd, uint32_t block)
{
    if (ssd->gc->age_trees) {
        age_tree_remove(ssd, block_plane(ssd, block), block);
    }
}

static void full(Ssd *ssd, uint32_t block)
{
    if (ssd->gc->stripe_means) {
        stripe_means_full(ssd, block);
    }
}

static void victim(Ssd *ssd, uint32_t block)
{
    if (ssd->gc->stripe_means) {
        stripe_means_victim(ssd, block);
    }
}

static void changed(Ssd *ssd, uint32_t block, int by)
{
    if (ssd->gc->age_trees) {
        age_tree_change(ssd, block_plane(ssd, block), block);
    }
    if (ssd->gc->stripe_means) {
        stripe_means_change(ssd, block, by);
    }
}

static const FullIndex full_index = {
    .listed = listed,
    .unlisted = unlisted,
    .full = full,
    .victim = victim,
    .changed = changed,
};

static const SlotClient slot_client = {
    .moved = age_tree_new_slot,
    .all_moved = age_tree_new_slots,
};

void gc_init(Ssd *ssd)
{
    ssd->gc->off = ssd->map->policy->own_blocks != NULL;
    ssd->gc->slot_client = &slot_client;
    ssd->media->client = &media_client;
    unit_init(ssd);
    stripe_means_init(ssd);
    age_trees_init(ssd);
    wear_init(ssd);
    if (ssd->gc->age_trees || ssd->gc->stripe_means) {
        ssd->media->index = &full_index;
    }
}

void gc_destroy(Ssd *ssd)
{
    wear_destroy(ssd);
    age_trees_destroy(ssd);
    stripe_means_destroy(ssd);
    unit_destroy(ssd);
}

void gc_forget(Ssd *ssd)
{
    age_trees_forget(ssd);
    stripe_means_forget(ssd);
    wear_forget(ssd);
}
