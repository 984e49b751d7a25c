/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-fab.c - evicts the block of which it holds the most units, as a whole.
 *
 * Source: H. Jo et al., "FAB: flash-aware buffer management policy for portable
 * media players", IEEE Transactions on Consumer Electronics 52(2), 2006: blocks
 * in order of use; the victim is the one with the largest number of pages in
 * the buffer, of several the least recently used one; its clean pages
 * are dropped and its dirty ones written.
 *
 * Blocks are kept in one list for each number of units, so that the choice
 * takes no search.  A block from which a unit is taken away without an eviction
 * (a trim) counts as used.
 */
#include "buffer/buf-group.h"
#include "buffer/buffer-internal.h"
#include "buffer/buffer-policy.h"
#include "ssd-internal.h"

static void fab_init(Ssd *ssd)
{
    groups_init(ssd, true);
}

/* The group goes to the head of the list for n units, from that of was. */
static void move(Groups *gs, uint32_t g, uint32_t was, uint32_t n)
{
    if (was > 0) {
        group_unlink(gs, was, g);
    }
    if (n > 0) {
        group_push_head(gs, n, g);
        gs->most = MAX(gs->most, n);
    }
    while (gs->most > 0 && gs->list[gs->most].head == NONE) {
        invariant(gs->most > 0);
        gs->most--;
    }
}

static void fab_insert(Ssd *ssd, uint32_t slot)
{
    Groups *gs = groups_of(ssd);
    uint32_t g = group_number(ssd, ssd->buffer->slot[slot].lpn);

    group_add(ssd, slot);
    move(gs, g, gs->group[g].unit.n - 1, gs->group[g].unit.n);
}

static void fab_hit(Ssd *ssd, uint32_t slot)
{
    Groups *gs = groups_of(ssd);
    uint32_t g = group_number(ssd, ssd->buffer->slot[slot].lpn);

    move(gs, g, gs->group[g].unit.n, gs->group[g].unit.n);
}

static void fab_remove(Ssd *ssd, uint32_t slot)
{
    Groups *gs = groups_of(ssd);
    uint32_t g = group_number(ssd, ssd->buffer->slot[slot].lpn);

    group_drop(ssd, slot);
    move(gs, g, gs->group[g].unit.n + 1, gs->group[g].unit.n);
}

static void fab_cleaned(Ssd *ssd, uint32_t slot)
{
    (void)ssd;
    (void)slot;
}

static uint32_t fab_victim(Ssd *ssd)
{
    const Groups *gs = groups_of(ssd);

    return gs->most == 0
               ? NONE
               : gs->group[gs->list[gs->most].tail].unit.tail;
}

static bool fab_sound(const Ssd *ssd)
{
    return groups_sound(ssd, true);
}

const BufferPolicy buf_fab = {
    .name = "fab",
    .help = "a cache that gives up the block of which it holds most, whole",
    .caches = true,
    .overhead = GROUP_OVERHEAD,
    .insert = fab_insert,
    .write_hit = fab_hit,
    .read_hit = fab_hit,
    .remove = fab_remove,
    .cleaned = fab_cleaned,
    .replace = group_replace,
    .victim = fab_victim,
    .in_group = group_oldest,
    .init = fab_init,
    .destroy = groups_destroy,
    .rows = &groups_struct,
    .state = groups_state,
    .sound = fab_sound,
};
