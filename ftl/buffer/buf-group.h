/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-group.h - units of the buffer by the range of addresses (buffer.block)
 * that they belong to, for the policies that evict whole ranges: buf-fab.c,
 * buf-bplru.c.
 *
 * A group is in one of the lists while it has a unit; its units are linked
 * through Slot.next and Slot.prev, newest at the head.
 */
#ifndef VSSD_FTL_BUF_GROUP_H
#define VSSD_FTL_BUF_GROUP_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buf-list.h"
#include "buffer/buffer-internal.h"
#include "lazymem.h"
#include "ssd-internal.h"

/* Memory of a drive for each block, of which it may have as many as
 * units: its number, a count, two links, 4 bytes each. */
#define GROUP_OVERHEAD 16

typedef struct Group {
    SlotList unit;
    uint32_t next, prev; /* groups */
    uint32_t in_order;   /* bplru: units of it written one after the other */
} Group;

typedef struct Groups {
    Group *group; /* by number; all zeroes while it has no unit */
    uint32_t n;
    uint32_t per; /* units in one */
    uint32_t n_lists;
    uint32_t most; /* fab: no list after that holds one */
    Ilist *list;
} Groups;

static inline Groups *groups_of(const Ssd *ssd)
{
    return ssd->buffer->policy_data;
}

static inline void groups_destroy(Ssd *ssd)
{
    Groups *gs = ssd->buffer->policy_data;

    if (gs) {
        lazy_free(gs->group, gs->n, sizeof(Group));
        g_free(gs->list);
        g_free(gs);
        ssd->buffer->policy_data = NULL;
    }
}

/* by_size: a list for each number of units; else one for all. */
static inline void groups_init(Ssd *ssd, bool by_size)
{
    Groups *gs;

    groups_destroy(ssd);
    gs = g_new0(Groups, 1);
    gs->per = ssd->cfg->group_bytes
                  ? (uint32_t)(ssd->cfg->group_bytes / ssd->cfg->unit_bytes)
                  : ssd->l.units_per_block;
    gs->n = (uint32_t)(ssd->l.user_units / gs->per + 1);
    gs->group = lazy_new(Group, gs->n);
    gs->n_lists = by_size ? MIN(gs->per, ssd->l.n_slots) + 1 : 1;
    gs->list = g_new(Ilist, gs->n_lists);
    for (uint32_t i = 0; i < gs->n_lists; i++) {
        gs->list[i] = ILIST_EMPTY;
    }
    ssd->buffer->policy_data = gs;
}

static inline uint32_t group_number(const Ssd *ssd, uint64_t lpn)
{
    return (uint32_t)(lpn / groups_of(ssd)->per);
}

static inline IlistLinks group_links(const Groups *gs)
{
    return ILIST_LINKS(gs->group, Group, next, prev);
}

static inline void group_push_head(Groups *gs, uint32_t list, uint32_t g)
{
    ilist_push_head(group_links(gs), &gs->list[list], g);
}

static inline void group_push_tail(Groups *gs, uint32_t list, uint32_t g)
{
    ilist_push_tail(group_links(gs), &gs->list[list], g);
}

static inline void group_unlink(Groups *gs, uint32_t list, uint32_t g)
{
    ilist_remove(group_links(gs), &gs->list[list], g);
}

/* A unit comes; true: it is the group's first. */
static inline bool group_add(Ssd *ssd, uint32_t slot)
{
    uint64_t lpn = ssd->buffer->slot[slot].lpn;
    Group *g = &groups_of(ssd)->group[group_number(ssd, lpn)];
    bool first = g->unit.n == 0;

    invariant(slot < ssd->buffer->n_slot_records);
    if (first) {
        *g = (Group){.unit = ILISTN_EMPTY};
    }
    ilistn_push_head(slot_links(ssd), &g->unit, slot);
    return first;
}

static inline void group_drop(Ssd *ssd, uint32_t slot)
{
    uint64_t lpn = ssd->buffer->slot[slot].lpn;

    invariant(slot < ssd->buffer->n_slot_records);
    ilistn_remove(slot_links(ssd),
                  &groups_of(ssd)->group[group_number(ssd, lpn)].unit, slot);
}

static inline void group_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    uint32_t g = group_number(ssd, ssd->buffer->slot[from].lpn);

    invariant(from < ssd->buffer->n_slot_records);
    ilist_replace(slot_links(ssd), &groups_of(ssd)->group[g].unit.ends, from,
                  to);
}

/* The unit that has been in the group of lpn for longest, or NONE. */
static inline uint32_t group_oldest(Ssd *ssd, uint64_t lpn)
{
    const Group *g = &groups_of(ssd)->group[group_number(ssd, lpn)];

    return g->unit.n > 0 ? g->unit.tail : NONE;
}

/* buf-group.c */
extern const StateStruct groups_struct;
bool groups_state(Ssd *ssd, State *s);
bool groups_sound(const Ssd *ssd, bool by_size);

#endif
