/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-outside.c - the allocation policy of a shared object (vssd-policy.h).
 *
 * Knows the rules of VssdAllocPolicy.pick().  A policy that breaks one is asked
 * no more, and pages go round the planes that accept one.
 */
#include "media/media-internal.h"
#include "outside.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/placement.h"

/* ---- what a policy sees -------------------------------------------------- */

static bool plane_ok(Outside *o, const char *function, uint32_t plane)
{
    return outside_in_range(o, function, "plane", plane, o->ssd->l.n_planes);
}

static bool view_accepts(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "accepts", plane) && plane_accepts(o->ssd, plane);
}

static uint32_t view_stripe_plane(VssdView *v, uint32_t position)
{
    Outside *o = outside_of(v);

    return outside_in_range(o, "stripe_plane", "position", position,
                            o->ssd->l.n_planes)
               ? o->ssd->media->stripe_plane[position]
               : NONE;
}

static uint32_t view_stripe_position(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "stripe_position", plane)
               ? o->ssd->media->stripe_pos[plane]
               : NONE;
}

static uint32_t view_next_accepting(VssdView *v, uint32_t position)
{
    Outside *o = outside_of(v);

    return outside_in_range(o, "next_accepting", "position", position,
                            o->ssd->l.n_planes)
               ? alloc_next(o->ssd, position)
               : NONE;
}

static uint32_t view_insist(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "insist", plane) ? alloc_insist(o->ssd, plane) : NONE;
}

static uint32_t view_die_load(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "die_load", plane) ? nand_die_load(o->ssd->nand, plane)
                                          : 0;
}

static bool view_channel_busy(VssdView *v, uint32_t channel)
{
    Outside *o = outside_of(v);

    return outside_in_range(o, "channel_busy", "channel", channel,
                            o->ssd->geo->n_channels) &&
           nand_channel_busy(o->ssd->nand, channel);
}

static uint32_t view_free_blocks(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "free_blocks", plane)
               ? o->ssd->media->plane[plane].free.n
               : 0;
}

static uint64_t view_valid(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "valid", plane) ? o->ssd->media->plane[plane].valid : 0;
}

static uint32_t view_home(VssdView *v, uint64_t unit)
{
    Outside *o = outside_of(v);
    uint64_t entry;

    if (!outside_in_range(o, "home", "unit", unit, o->ssd->l.user_units)) {
        return NONE;
    }
    entry = o->ssd->nand_entry(o->ssd, unit);
    return entry ? block_plane(o->ssd, ppu_block(o->ssd, entry - 1)) : NONE;
}

static const VssdAllocView alloc_view = {
    .accepts = view_accepts,
    .stripe_plane = view_stripe_plane,
    .stripe_position = view_stripe_position,
    .next_accepting = view_next_accepting,
    .insist = view_insist,
    .die_load = view_die_load,
    .channel_busy = view_channel_busy,
    .free_blocks = view_free_blocks,
    .valid = view_valid,
    .home = view_home,
};

/* ---- what it decides ----------------------------------------------------- */

static bool plane_allowed(Outside *o, uint32_t plane)
{
    const Ssd *ssd = o->ssd;

    if (plane == NONE) {
        return ssd->placement->alloc_waits_for != NONE ||
               alloc_next(ssd, 0) == NONE ||
               outside_broke(o,
                             "pick() said none, although plane %u accepts a "
                             "page",
                             ssd->media->stripe_plane[alloc_next(ssd, 0)]);
    }
    return outside_in_range(o, "pick", "the plane", plane, ssd->l.n_planes) &&
           (plane_accepts(ssd, plane) ||
            outside_broke(o, "pick() said plane %u, which accepts no page",
                          plane));
}

/* As ftl.alloc=stripe. */
static uint32_t pick_in_turn(Ssd *ssd)
{
    uint32_t pos = alloc_next(ssd, ssd->placement->stripe_cursor);

    ssd->placement->alloc_waits_for = NONE;
    if (pos == NONE) {
        return NONE;
    }
    ssd->placement->stripe_cursor = pos + 1 == ssd->l.n_planes ? 0 : pos + 1;
    return ssd->media->stripe_plane[pos];
}

static uint32_t outside_pick(Ssd *ssd, uint64_t lpn)
{
    Outside *o = ssd->outside[VSSD_POLICY_ALLOC];
    uint32_t plane;

    if (outside_works(o)) {
        ssd->placement->alloc_waits_for = NONE;
        plane = o->policy->alloc->pick(&o->view, lpn);
        if (plane_allowed(o, plane) && outside_works(o)) {
            if (plane != NONE) {
                ssd->placement->alloc_waits_for = NONE;
            }
            return plane;
        }
    }
    return pick_in_turn(ssd);
}

const AllocPolicy *alloc_choose_policy(const Ssd *ssd)
{
    Outside *o = ssd->outside[VSSD_POLICY_ALLOC];
    AllocPolicy *p;

    if (!o) {
        return alloc_policies[ssd->cfg->alloc];
    }
    p = g_new0(AllocPolicy, 1);
    *p = (AllocPolicy){
        .name = o->policy->name,
        .help = "of a shared object",
        .depth = o->policy->alloc->depth,
        .by_lpn = o->policy->alloc->by_unit,
        .pick = outside_pick,
    };
    o->view.alloc = &alloc_view;
    o->adapter = p;
    return p;
}
