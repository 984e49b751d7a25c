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
#include "buffer/buffer-policy.h"

/* A list for each number of units. */
static uint32_t n_lists(const VssdShape *s)
{
    return MIN(s->buffer_block_units, s->slots) + 1;
}

static size_t fab_bytes(const VssdShape *s)
{
    return groups_bytes(s, n_lists(s));
}

static void fab_init(void *state, const VssdShape *s)
{
    groups_init(state, n_lists(s));
}

static bool fab_ok(const void *state, const VssdShape *s)
{
    return groups_ok(state, s, n_lists(s));
}

/* Something was done to the group: to the head of the list for its number of
 * units. */
static void touch(VssdView *v, uint32_t g)
{
    Groups *gs = v->state;
    uint32_t n = v->list->count(v, g);

    if (n > 0) {
        n = MIN(n, gs->n_lists - 1);
        group_to_head(gs, g, n);
        gs->most = MAX(gs->most, n);
    } else {
        group_unlink(gs, g);
    }
    while (gs->most > 0 && gs->list[gs->most].head == VSSD_NONE) {
        gs->most--;
    }
}

static void fab_insert(VssdView *v, uint32_t slot)
{
    uint32_t g = group_of(v, slot);

    v->list->move(v, slot, g);
    touch(v, g);
}

static void fab_changed(VssdView *v, uint32_t slot)
{
    touch(v, group_of(v, slot));
}

static uint32_t fab_victim(VssdView *v)
{
    const Groups *gs = v->state;

    return gs->most == 0 ? VSSD_NONE
                         : v->list->oldest(v, gs->list[gs->most].tail);
}

/* No list after `most` holds a group; `most` has one. */
static bool fab_fits(VssdView *v)
{
    const Groups *gs = v->state;
    uint32_t most = gs->n_lists - 1;

    while (most > 0 && gs->list[most].head == VSSD_NONE) {
        most--;
    }
    return most == gs->most && gs->list[0].head == VSSD_NONE && groups_fit(v);
}

BUFFER_POLICY(fab, "fab",
              "a cache that gives up the block of which it holds most, whole",
              .state_bytes = fab_bytes, .init = fab_init, .check = fab_ok,
              BUFFER_PART(.slot_bytes = GROUP_OVERHEAD, .lists = group_lists,
                          .insert = fab_insert, .written = fab_changed,
                          .read = fab_changed, .removed = fab_changed,
                          .victim = fab_victim, .follows = group_follower,
                          .fits = fab_fits));
