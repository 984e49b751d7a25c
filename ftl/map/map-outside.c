/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map-outside.c - the map policy of a shared object (vssd-policy.h): which
 * entry leaves the cache of a map in NAND (dftl.c, cmt.c).
 *
 * An entry that comes is in list 0 until the policy moves it.  A policy that
 * breaks a rule is asked no more; then the entry that came first leaves.
 */
#include "map/dftl.h"
#include "map/map-internal.h"
#include "map/map-outside.h"
#include "outside.h"

G_STATIC_ASSERT(VSSD_MAP_LISTS == CMT_SEGMENTS);

static Cmt *cmt_of(const Outside *o)
{
    return &((Dftl *)o->ssd->map->policy_data)->cmt;
}

/* ---- what a policy sees -------------------------------------------------- */

/* Is the entry in a list?  Those given back are not. */
static bool is_used(const Cmt *c, uint32_t i)
{
    return i < c->n_made && cmt_find(c, c->entry[i].lpn) == i;
}

static bool entry_ok(Outside *o, const char *function, uint32_t i)
{
    return outside_in_range(o, function, "entry", i, cmt_of(o)->n_made) &&
           (G_LIKELY(is_used(cmt_of(o), i)) ||
            outside_broke(o, "%s() with entry %u, which is not in the cache",
                          function, i));
}

static bool list_ok(Outside *o, const char *function, uint32_t list)
{
    return outside_in_range(o, function, "list", list, CMT_SEGMENTS);
}

static void view_move(VssdView *v, uint32_t i, uint32_t list)
{
    Outside *o = outside_of(v);

    if (entry_ok(o, "move", i) && list_ok(o, "move", list)) {
        cmt_move(cmt_of(o), i, (uint8_t)list);
    }
}

static uint32_t view_oldest(VssdView *v, uint32_t list)
{
    Outside *o = outside_of(v);

    return list_ok(o, "oldest", list) ? cmt_of(o)->list[list].tail : NONE;
}

static uint32_t view_newer(VssdView *v, uint32_t i)
{
    Outside *o = outside_of(v);

    return entry_ok(o, "newer", i) ? cmt_of(o)->entry[i].prev : NONE;
}

static uint32_t view_count(VssdView *v, uint32_t list)
{
    Outside *o = outside_of(v);

    return list_ok(o, "count", list) ? cmt_of(o)->list[list].n : 0;
}

static uint32_t view_list_of(VssdView *v, uint32_t i)
{
    Outside *o = outside_of(v);

    return entry_ok(o, "list_of", i) ? cmt_of(o)->entry[i].segment : NONE;
}

static uint64_t view_unit(VssdView *v, uint32_t i)
{
    Outside *o = outside_of(v);

    return entry_ok(o, "unit", i) ? cmt_of(o)->entry[i].lpn : NO_UNIT;
}

static bool view_clean(VssdView *v, uint32_t i)
{
    Outside *o = outside_of(v);

    return entry_ok(o, "clean", i) && !cmt_of(o)->entry[i].dirty;
}

static const VssdListView list_view = {
    .move = view_move,
    .oldest = view_oldest,
    .newer = view_newer,
    .count = view_count,
    .list_of = view_list_of,
    .unit = view_unit,
    .clean = view_clean,
};

/* ---- what it decides ----------------------------------------------------- */

static void order_insert(void *opaque, uint32_t i)
{
    Outside *o = opaque;

    if (outside_works(o)) {
        o->policy->map->insert(&o->view, i);
    }
}

static void order_used(void *opaque, uint32_t i)
{
    Outside *o = opaque;

    if (outside_works(o) && o->policy->map->used) {
        o->policy->map->used(&o->view, i);
    }
}

static uint32_t order_victim(void *opaque)
{
    Outside *o = opaque;
    const Cmt *c = cmt_of(o);
    uint32_t i;

    if (outside_works(o)) {
        i = o->policy->map->victim(&o->view);
        if (is_used(c, i) && outside_works(o)) {
            return i;
        }
        outside_broke(o, "victim() said entry %u, which is not in the cache",
                      i);
    }
    return c->list[0].n > 0 ? c->list[0].tail : c->list[1].tail;
}

void map_outside_init(Ssd *ssd)
{
    static const CmtOrder order = {
        .insert = order_insert,
        .used = order_used,
        .victim = order_victim,
    };
    Outside *o = ssd->outside[VSSD_POLICY_MAP];

    if (o) {
        o->view.list = &list_view;
        cmt_of(o)->order = &order;
        cmt_of(o)->order_opaque = o;
    }
}

void map_outside_forget(Ssd *ssd)
{
    if (ssd->outside[VSSD_POLICY_MAP]) {
        outside_reset(ssd->outside[VSSD_POLICY_MAP]);
    }
}
