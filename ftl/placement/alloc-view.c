/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-view.c - what a policy sees of the planes (VssdAllocView), and the
 * plane that it chooses.
 *
 * Knows the rules of VssdAllocPolicy.pick().  A policy that breaks one is asked
 * no more, and pages go round the planes that accept one.
 */
#include "media/blocks.h"
#include "media/media-internal.h"
#include "outside.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/placement.h"
#include "wake.h"

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

    return plane_ok(o, "free_blocks", plane) ? plane_at(o->ssd, plane)->free.n
                                             : 0;
}

static uint64_t view_valid(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "valid", plane) ? plane_at(o->ssd, plane)->valid : 0;
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

static uint32_t view_first_plane(VssdView *v, uint64_t unit)
{
    Outside *o = outside_of(v);

    return outside_in_range(o, "first_plane", "unit", unit,
                            o->ssd->l.user_units)
               ? alloc_first_plane(o->ssd, unit)
               : NONE;
}

static uint32_t view_draw(VssdView *v)
{
    return alloc_draw(outside_of(v)->ssd);
}

/* Millionths of the invalid space of a plane that are not in free blocks. */
static uint32_t gc_indicator(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    uint64_t blocks = (ssd->l.share_units + ssd->l.meta_share_units) /
                          ssd->l.units_per_block +
                      p->spare_blocks;
    uint64_t empty = blocks * ssd->l.units_per_block;
    uint64_t clean = (uint64_t)p->free.n * ssd->l.units_per_block;

    invariant(plane < ssd->l.n_planes);
    empty -= MIN(empty, p->valid);
    return clean >= empty ? 0 : (uint32_t)((empty - clean) * 1000000 / empty);
}

static uint32_t view_gc_indicator(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "gc_indicator", plane) ? gc_indicator(o->ssd, plane) : 0;
}

static void view_force_gc(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    if (plane_ok(o, "force_gc", plane)) {
        ssd_wake(o->ssd, WORK_GC_FORCE, plane);
    }
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
    .first_plane = view_first_plane,
    .draw = view_draw,
    .gc_indicator = view_gc_indicator,
    .force_gc = view_force_gc,
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

static uint32_t ask(Ssd *ssd, uint64_t lpn)
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

uint32_t alloc_pick(Ssd *ssd, uint64_t lpn, uint32_t stream)
{
    invariant(stream < ssd->l.n_streams);
    return ssd->l.row_planes ? rows_pick(ssd, stream) : ask(ssd, lpn);
}

uint32_t alloc_pick_aged(Ssd *ssd, uint64_t lpn, uint32_t *stream)
{
    uint64_t page = lpn >> ssd->page_units_shift;
    uint32_t plane = NONE;

    if (ssd->l.n_groups == 1) {
        *stream = 0;
        return alloc_pick(ssd, lpn, 0);
    }
    for (uint32_t i = 0; i < ssd->l.n_groups && plane == NONE; i++) {
        *stream = (uint32_t)((page + i) % ssd->l.n_groups) * ssd->l.n_handles;
        plane = alloc_pick(ssd, lpn, *stream);
    }
    return plane;
}

void alloc_policy_init(Ssd *ssd, const VssdPolicy *listed)
{
    Outside *o = outside_listed(ssd, VSSD_POLICY_ALLOC, listed);

    o->view.alloc = &alloc_view;
    ssd->placement->policy = o->policy->alloc;
}
