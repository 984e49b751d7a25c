/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-bplru.c - a write buffer that evicts whole blocks, the least recently
 * written one first.
 *
 * Source: H. Kim and S. Ahn, "BPLRU: a buffer management scheme for improving
 * random writes in flash storage", FAST 2008: blocks in order of their last
 * write ("block-level LRU"); a block that has been written from its first page
 * to its last is the next to go ("LRU compensation"); data that is read is not
 * kept, and a read changes no order.
 *
 * Left out: page padding, which reads the pages of the victim that the buffer
 * does not have and writes the block in full.  It lets a log-block map switch
 * blocks instead of merging them; a page map has no use for it, and would pay
 * the reads and writes.  Units that a flush of the host has written out stay,
 * as clean ones, until their block goes.
 */
#include "buffer/buf-group.h"
#include "buffer/buffer-internal.h"
#include "buffer/buffer-policy.h"
#include "ssd-internal.h"

static void bplru_init(Ssd *ssd)
{
    groups_init(ssd, false);
}

/* How many units of the group have now been written in order. */
static uint32_t in_order(const Groups *gs, const Group *g, uint64_t lpn)
{
    uint32_t offset = lpn % gs->per;

    return offset == g->in_order ? offset + 1 : offset == 0;
}

static void written(Ssd *ssd, uint32_t slot, bool first)
{
    Groups *gs = groups_of(ssd);
    uint64_t lpn = ssd->buffer->slot[slot].lpn;
    uint32_t number = group_number(ssd, lpn);
    Group *g = &gs->group[number];

    if (!first) {
        group_unlink(gs, 0, number);
    }
    g->in_order = in_order(gs, g, lpn);
    if (g->in_order == gs->per) {
        g->in_order = 0;
        group_push_tail(gs, 0, number);
    } else {
        group_push_head(gs, 0, number);
    }
}

static void bplru_insert(Ssd *ssd, uint32_t slot)
{
    bool first = group_add(ssd, slot);

    written(ssd, slot, first);
}

static void bplru_write_hit(Ssd *ssd, uint32_t slot)
{
    written(ssd, slot, false);
}

static void bplru_nothing(Ssd *ssd, uint32_t slot)
{
    (void)ssd;
    (void)slot;
}

static void bplru_remove(Ssd *ssd, uint32_t slot)
{
    Groups *gs = groups_of(ssd);
    uint32_t number = group_number(ssd, ssd->buffer->slot[slot].lpn);

    group_drop(ssd, slot);
    if (gs->group[number].unit.n == 0) {
        group_unlink(gs, 0, number);
    }
}

static uint32_t bplru_victim(Ssd *ssd)
{
    const Groups *gs = groups_of(ssd);
    uint32_t number = gs->list[0].tail;

    return number == NONE ? NONE : gs->group[number].unit.tail;
}

static bool bplru_sound(const Ssd *ssd)
{
    return groups_sound(ssd, false);
}

const BufferPolicy buf_bplru = {
    .name = "bplru",
    .help = "a write buffer that gives up the block not written for longest, "
            "whole",
    .caches = true,
    .writes_only = true,
    .overhead = GROUP_OVERHEAD,
    .insert = bplru_insert,
    .write_hit = bplru_write_hit,
    .read_hit = bplru_nothing,
    .remove = bplru_remove,
    .cleaned = bplru_nothing,
    .replace = group_replace,
    .victim = bplru_victim,
    .in_group = group_oldest,
    .init = bplru_init,
    .destroy = groups_destroy,
    .rows = &groups_struct,
    .state = groups_state,
    .sound = bplru_sound,
};
