/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmt-order.c - what a policy sees of the entries in the cache of dftl.c
 * (VssdListView), and the entry that it chooses.
 *
 * Knows the rules of VssdMapPolicy.  A policy that breaks one is asked no more;
 * then the entry that came first leaves.
 */
#include "map/cmt-order.h"
#include "map/dftl.h"
#include "map/map-internal.h"
#include "outside.h"

G_STATIC_ASSERT(VSSD_MAP_LISTS == CMT_LISTS);

static Cmt *cmt_of(const Outside *o)
{
    return &((Dftl *)o->ssd->map->policy_data)->cmt;
}

/* ---- what a policy sees -------------------------------------------------- */

static bool entry_ok(Outside *o, const char *function, uint32_t i)
{
    return outside_in_range(o, function, "entry", i, cmt_of(o)->n_made) &&
           (G_LIKELY(cmt_is_used(cmt_of(o), i)) ||
            outside_broke(o, "%s() with entry %u, which is not in the cache",
                          function, i));
}

static bool list_ok(Outside *o, const char *function, uint32_t list)
{
    return outside_in_range(o, function, "list", list, CMT_LISTS);
}

static void view_move(VssdView *v, uint32_t i, uint32_t list)
{
    Outside *o = outside_of(v);

    if (entry_ok(o, "move", i) && list_ok(o, "move", list)) {
        cmt_move(cmt_of(o), i, list);
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

    return entry_ok(o, "list_of", i) ? cmt_of(o)->entry[i].list : NONE;
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

void order_insert(Ssd *ssd, uint32_t entry)
{
    Outside *o = ssd->outside[VSSD_POLICY_MAP];

    if (outside_works(o) && o->policy->map->insert) {
        o->policy->map->insert(&o->view, entry);
    }
}

void order_used(Ssd *ssd, uint32_t entry)
{
    Outside *o = ssd->outside[VSSD_POLICY_MAP];

    if (outside_works(o) && o->policy->map->used) {
        o->policy->map->used(&o->view, entry);
    }
}

uint32_t order_victim(Ssd *ssd)
{
    Outside *o = ssd->outside[VSSD_POLICY_MAP];
    const Cmt *c = cmt_of(o);
    uint32_t i;

    if (outside_works(o)) {
        i = o->policy->map->victim(&o->view);
        if (cmt_is_used(c, i) && outside_works(o)) {
            return i;
        }
        outside_broke(o, "victim() said entry %u, which is not in the cache",
                      i);
    }
    return c->list[0].n > 0 ? c->list[0].tail : c->list[1].tail;
}

void order_init(Ssd *ssd)
{
    outside_listed(ssd, VSSD_POLICY_MAP, &cmt_slru)->view.list = &list_view;
}

void order_forget(Ssd *ssd)
{
    outside_reset(ssd->outside[VSSD_POLICY_MAP]);
}
