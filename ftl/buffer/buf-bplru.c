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
#include "buffer/buffer-policy.h"

static size_t bplru_bytes(const VssdShape *s)
{
    return groups_bytes(s, 1);
}

static void bplru_init(void *state, const VssdShape *s)
{
    (void)s;
    groups_init(state, 1);
}

static bool bplru_ok(const void *state, const VssdShape *s)
{
    return groups_ok(state, s, 1);
}

/* How many units of the group have now been written in order. */
static uint32_t in_order(const Group *g, uint32_t offset)
{
    return offset == g->in_order ? offset + 1 : offset == 0;
}

static void bplru_written(VssdView *v, uint32_t slot)
{
    uint32_t per = v->shape->buffer_block_units;
    uint32_t number = group_of(v, slot);
    Groups *gs = v->state;
    Group *g = &groups_first(gs)[number];

    g->in_order = in_order(g, (uint32_t)(v->list->unit(v, slot) % per));
    if (g->in_order == per) {
        g->in_order = 0;
        group_to_tail(gs, number, 0);
    } else {
        group_to_head(gs, number, 0);
    }
}

static void bplru_insert(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, group_of(v, slot));
    bplru_written(v, slot);
}

static void bplru_removed(VssdView *v, uint32_t slot)
{
    Groups *gs = v->state;
    uint32_t g = group_of(v, slot);

    if (v->list->count(v, g) == 0) {
        group_unlink(gs, g);
        groups_first(gs)[g].in_order = 0;
    }
}

static uint32_t bplru_victim(VssdView *v)
{
    const Groups *gs = v->state;
    uint32_t g = gs->list[0].tail;

    return g == VSSD_NONE ? VSSD_NONE : v->list->oldest(v, g);
}

BUFFER_POLICY(bplru, "bplru",
              "a write buffer that gives up the block not written for longest, "
              "whole",
              .state_bytes = bplru_bytes, .init = bplru_init, .check = bplru_ok,
              BUFFER_PART(.slot_bytes = GROUP_OVERHEAD, .writes_only = true,
                          .lists = group_lists, .insert = bplru_insert,
                          .written = bplru_written, .removed = bplru_removed,
                          .victim = bplru_victim, .follows = group_follower,
                          .fits = groups_fit));
