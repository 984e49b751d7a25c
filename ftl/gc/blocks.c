/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.c - notifications about blocks to garbage collection.
 *
 * Knows which part of gc/ each of it concerns; does nothing itself.
 */
#include "gc/age-tree.h"
#include "gc/copy-rows.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "gc/gc.h"
#include "gc/pace.h"
#include "gc/periodic.h"
#include "gc/purge.h"
#include "gc/superblock-means.h"
#include "gc/wear.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "map/reset.h"
#include "media/blocks.h"
#include "media/life.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "ssd-internal.h"

#include <string.h>

static void opened(Ssd *ssd, uint32_t block, uint32_t open)
{
    invariant(open < ssd->l.n_open);
    invariant(block_state(ssd, block) == BLOCK_OPEN);
    refresh_opened(ssd, block);
}

static void free_taken(Ssd *ssd, uint32_t block)
{
    wear_taken(ssd, block);
    periodic_taken(ssd, block_plane(ssd, block));
}

static void erased(Ssd *ssd, uint32_t block)
{
    wear_erased(ssd, block);
    reset_block_gone(ssd, block);
}

static void torn(Ssd *ssd, uint64_t page)
{
    const OwnBlocks *own = ssd->map->policy->own_blocks;

    if (own) {
        own->torn(ssd, page);
    }
}

static const MediaClient media_client = {
    .choose_free = wear_choose_free,
    .freed = wear_freed,
    .free_taken = free_taken,
    .opened = opened,
    .taken = unit_taken,
    .retired = reset_block_gone,
    .erasing = stream_erasing,
    .plane_changed = plane_update,
    .erased = erased,
    .torn = torn,
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
    invariant(block_state(ssd, block) == BLOCK_FULL);
    invariant(!nand_block_is_slc(ssd->geo, block));
    if (ssd->gc->superblock_means) {
        superblock_means_full(ssd, block);
    }
}

static void victim(Ssd *ssd, uint32_t block)
{
    invariant(block_state(ssd, block) == BLOCK_FULL);
    if (ssd->gc->superblock_means) {
        superblock_means_victim(ssd, block);
    }
}

static void changed(Ssd *ssd, uint32_t block, int by)
{
    if (ssd->gc->age_trees) {
        age_tree_change(ssd, block_plane(ssd, block), block);
    }
    if (ssd->gc->superblock_means) {
        superblock_means_change(ssd, block, by);
    }
}

static void joined(Ssd *ssd, uint32_t block)
{
    if (ssd->gc->superblock_means) {
        superblock_means_joined(ssd, block);
    }
}

static void left(Ssd *ssd, uint32_t block, uint32_t other)
{
    if (ssd->gc->superblock_means) {
        superblock_means_left(ssd, block, other);
    }
}

static const FullIndex full_index = {
    .listed = listed,
    .unlisted = unlisted,
    .full = full,
    .victim = victim,
    .changed = changed,
    .joined = joined,
    .left = left,
};

static const SlotClient slot_client = {
    .moved = age_tree_new_slot,
    .all_moved = age_tree_new_slots,
};

static void init_planes(Ssd *ssd)
{
    invariant(!ssd->gc->plane);
    ssd->gc->plane = g_new0(GcPlane, ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        GcPlane *g = &ssd->gc->plane[i];

        g->victim = NONE;
        g->next = NONE;
        g->redo = IFIFO_EMPTY;
        g->staged = g_new0(uint64_t, gc_staged_room(ssd));
        g->staged_of = g_new0(uint32_t, ssd->l.n_gc_classes);
    }
}

static void destroy_planes(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        g_free(ssd->gc->plane[i].staged);
        g_free(ssd->gc->plane[i].staged_of);
    }
    g_free(ssd->gc->plane);
}

void gc_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        GcPlane *g = &ssd->gc->plane[i];

        *gc_load(ssd, i) = (GcLoad){.active = false};
        g->forced = false;
        g->background = false;
        g->yielded = false;
        g->reclaim = false;
        g->victim = NONE;
        g->scan = 0;
        g->n_staged = 0;
        g->next = NONE;
        g->held = 0;
        g->redo = IFIFO_EMPTY;
        g->rate = 0;
        memset(g->staged_of, 0, ssd->l.n_gc_classes * sizeof(*g->staged_of));
    }
    ssd->window = SSD_WINDOW_NONE;
    ssd->window_end = SSD_WINDOW_END_NONE;
    copy_rows_power_lost(ssd);
    purge_stop(ssd);
    periodic_power_lost(ssd);
    pace_forget(ssd);
}

void gc_init(Ssd *ssd)
{
    init_planes(ssd);
    pace_forget(ssd);
    ssd->gc->off = ssd->map->policy->own_blocks != NULL;
    ssd->gc->slot_client = &slot_client;
    media_set_client(ssd, &media_client);
    unit_init(ssd);
    copy_rows_init(ssd);
    superblock_means_init(ssd);
    age_trees_init(ssd);
    wear_init(ssd);
    if (ssd->gc->age_trees || ssd->gc->superblock_means) {
        media_set_index(ssd, &full_index);
    }
}

void gc_destroy(Ssd *ssd)
{
    purge_stop(ssd);
    wear_destroy(ssd);
    age_trees_destroy(ssd);
    superblock_means_destroy(ssd);
    copy_rows_destroy(ssd);
    unit_destroy(ssd);
    destroy_planes(ssd);
}

void gc_forget(Ssd *ssd)
{
    age_trees_forget(ssd);
    superblock_means_forget(ssd);
    wear_forget(ssd);
    periodic_forget(ssd);
}
