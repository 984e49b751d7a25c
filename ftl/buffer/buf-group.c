/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf-group.c - see buf-group.h. */
#include "buffer/buf-group.h"

uint32_t group_lists(const VssdShape *s)
{
    return (uint32_t)(s->units / s->buffer_block_units + 1);
}

/* The unit that has been in the group of this one for longest. */
uint32_t group_follower(VssdView *v, uint64_t unit)
{
    return v->list->oldest(v, (uint32_t)(unit / v->shape->buffer_block_units));
}

size_t groups_bytes(const VssdShape *s, uint32_t n_lists)
{
    return sizeof(Groups) + n_lists * sizeof(Ilist) +
           group_lists(s) * sizeof(Group);
}

void groups_init(Groups *gs, uint32_t n_lists)
{
    gs->n_lists = n_lists;
    for (uint32_t i = 0; i < n_lists; i++) {
        gs->list[i] = ILIST_EMPTY;
    }
}

/* *seen counts groups. */
static bool list_ok(const Groups *gs, uint32_t list, uint32_t n, uint32_t *seen)
{
    const Group *group = groups_first(gs);
    uint32_t prev = ILIST_NONE;
    uint32_t g = gs->list[list].head;

    for (; g != ILIST_NONE; prev = g, g = group[g].next) {
        if (g >= n || group[g].prev != prev || group[g].list != list + 1) {
            return false;
        }
        ++*seen;
    }
    return gs->list[list].tail == prev;
}

bool groups_ok(const Groups *gs, const VssdShape *s, uint32_t n_lists)
{
    uint32_t n = group_lists(s);
    uint32_t seen = 0;
    uint32_t listed = 0;

    if (gs->n_lists != n_lists || gs->most >= n_lists) {
        return false;
    }
    for (uint32_t i = 0; i < n_lists; i++) {
        if (!list_ok(gs, i, n, &seen)) {
            return false;
        }
    }
    for (uint32_t g = 0; g < n; g++) {
        listed += groups_first(gs)[g].list > 0;
    }
    return seen == listed;
}

/* A group is in a list if the buffer has units of it. */
bool groups_fit(VssdView *v)
{
    const Groups *gs = v->state;
    uint32_t n = group_lists(v->shape);

    for (uint32_t g = 0; g < n; g++) {
        if ((groups_first(gs)[g].list > 0) != (v->list->count(v, g) > 0)) {
            return false;
        }
    }
    return true;
}
