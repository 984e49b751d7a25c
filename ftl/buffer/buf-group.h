/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-group.h - units of the buffer by the range of addresses (buffer.block)
 * that they belong to, for the policies that evict whole ranges: buf-fab.c,
 * buf-bplru.c.
 *
 * The units of a group are the list of the drive with its number.  The state of
 * such a policy are lists of groups: each group that has a unit is in one.
 */
#ifndef VSSD_FTL_BUF_GROUP_H
#define VSSD_FTL_BUF_GROUP_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "ilist.h"
#include "vssd-policy.h"

/* Memory of a drive for each block, of which it may have as many as
 * units: its number, a count, two links, 4 bytes each. */
#define GROUP_OVERHEAD 16

typedef struct Group {
    uint32_t next, prev;
    uint32_t list;     /* that it is in, + 1; 0: it has no unit */
    uint32_t in_order; /* bplru: units of it written one after the other */
} Group;

typedef struct Groups {
    uint32_t most; /* fab: no list after that holds one */
    uint32_t n_lists;
    Ilist list[]; /* n_lists; then a Group for each group */
} Groups;

static inline Group *groups_first(const Groups *gs)
{
    return (Group *)(gs->list + gs->n_lists);
}

static inline uint32_t group_of(VssdView *v, uint32_t slot)
{
    return (uint32_t)(v->list->unit(v, slot) / v->shape->buffer_block_units);
}

static inline IlistLinks group_links(const Groups *gs)
{
    return ILIST_LINKS(groups_first(gs), Group, next, prev);
}

/* Out of its list, if it is in one. */
static inline void group_unlink(Groups *gs, uint32_t g)
{
    Group *x = &groups_first(gs)[g];

    if (x->list > 0) {
        ilist_remove(group_links(gs), &gs->list[x->list - 1], g);
        x->list = 0;
    }
}

/* From wherever it is to the head of a list; to its tail. */
static inline void group_to_head(Groups *gs, uint32_t g, uint32_t list)
{
    group_unlink(gs, g);
    ilist_push_head(group_links(gs), &gs->list[list], g);
    groups_first(gs)[g].list = list + 1;
}

static inline void group_to_tail(Groups *gs, uint32_t g, uint32_t list)
{
    group_unlink(gs, g);
    ilist_push_tail(group_links(gs), &gs->list[list], g);
    groups_first(gs)[g].list = list + 1;
}

/* buf-group.c: members of the policies. */
uint32_t group_lists(const VssdShape *s); /* of units */
uint32_t group_follower(VssdView *v, uint64_t unit);
size_t groups_bytes(const VssdShape *s, uint32_t n_lists);
void groups_init(Groups *gs, uint32_t n_lists);
bool groups_ok(const Groups *gs, const VssdShape *s, uint32_t n_lists);
bool groups_fit(VssdView *v);

#endif
