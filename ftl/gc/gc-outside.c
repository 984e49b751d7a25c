/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-outside.c - the victim policy of a shared object (vssd-policy.h).
 *
 * Knows the rules of VssdGcPolicy.pick().  A policy that breaks one is asked no
 * more, and the block with the fewest valid units is the victim.
 */
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "media/victims.h"
#include "outside.h"

/* ---- what a policy sees -------------------------------------------------- */

static bool is_candidate(const Ssd *ssd, uint32_t block)
{
    return ssd->media->block[block].state == BLOCK_FULL &&
           !nand_block_is_slc(ssd->geo, block);
}

/* Is it the number of a plane; of a candidate? */
static bool plane_ok(Outside *o, const char *function, uint32_t plane)
{
    return outside_in_range(o, function, "plane", plane, o->ssd->l.n_planes);
}

static bool block_ok(Outside *o, const char *function, uint32_t block)
{
    return outside_in_range(o, function, "block", block,
                            o->ssd->geo->n_blocks) &&
           (G_LIKELY(is_candidate(o->ssd, block)) ||
            outside_broke(o, "%s() with block %u, which is no candidate",
                          function, block));
}

static uint32_t view_oldest(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "oldest", plane)
               ? o->ssd->media->plane[plane].by_age.head
               : NONE;
}

static uint32_t view_newer(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "newer", block) ? o->ssd->media->block[block].newer
                                       : NONE;
}

static uint32_t view_with_valid(VssdView *v, uint32_t plane, uint32_t valid)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "with_valid", plane) &&
                   outside_in_range(o, "with_valid", "units", valid,
                                    (uint64_t)o->ssd->l.units_per_block + 1)
               ? o->ssd->media->plane[plane].bucket[valid]
               : NONE;
}

static double view_valid(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "valid", block) ? gc_valid(o->ssd, block) : 0;
}

static bool view_gains(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "gains", block) && gc_gains(o->ssd, block);
}

static uint32_t view_erases(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "erases", block) ? nand_erase_count(o->ssd->nand, block)
                                        : 0;
}

static uint32_t view_age(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);
    const Media *m = o->ssd->media;

    return block_ok(o, "age", block)
               ? m->plane[block_plane(o->ssd, block)].clock -
                     m->block[block].mtime + 1
               : 0;
}

static uint32_t view_stream(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "stream", block) ? o->ssd->media->block[block].stream
                                        : NONE;
}

static uint32_t view_free_blocks(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "free_blocks", plane)
               ? o->ssd->media->plane[plane].free.n
               : 0;
}

static const VssdGcView gc_view = {
    .oldest = view_oldest,
    .newer = view_newer,
    .with_valid = view_with_valid,
    .valid = view_valid,
    .gains = view_gains,
    .erases = view_erases,
    .age = view_age,
    .stream = view_stream,
    .free_blocks = view_free_blocks,
};

/* ---- what it decides ----------------------------------------------------- */

static bool victim_ok(Outside *o, uint32_t plane, uint32_t block)
{
    Ssd *ssd = o->ssd;
    uint32_t best;

    if (block != NONE &&
        !outside_in_range(o, "pick", "the block", block, ssd->geo->n_blocks)) {
        return false;
    }
    if (block != NONE &&
        (block_plane(ssd, block) != plane || !is_candidate(ssd, block))) {
        return outside_broke(o,
                             "pick() said block %u, which is no candidate of "
                             "plane %u",
                             block, plane);
    }
    if (block != NONE && gc_gains(ssd, block)) {
        return true;
    }
    best = gc_greedy_pick(ssd, plane);
    if (best != NONE && gc_gains(ssd, best)) {
        return block == NONE
                   ? outside_broke(o,
                                   "pick() said none for plane %u, although "
                                   "block %u gains",
                                   plane, best)
                   : outside_broke(o,
                                   "pick() said block %u, which gains "
                                   "nothing, although block %u does",
                                   block, best);
    }
    return true;
}

static uint32_t outside_pick(Ssd *ssd, uint32_t plane)
{
    Outside *o = ssd->outside[VSSD_POLICY_GC];
    uint32_t block;

    invariant(plane < ssd->l.n_planes);
    if (outside_works(o)) {
        block = o->from->policy->gc->pick(&o->view, plane);
        if (victim_ok(o, plane, block) && outside_works(o)) {
            return block;
        }
    }
    return gc_greedy_pick(ssd, plane);
}

static const GcPolicy gc_outside = {
    .name = "so",
    .help = "of a shared object",
    .pick = outside_pick,
};

const GcPolicy *gc_choose_policy(const Ssd *ssd)
{
    Outside *o = ssd->outside[VSSD_POLICY_GC];

    if (!o) {
        return gc_policies[ssd->cfg->gc];
    }
    o->view.gc = &gc_view;
    return &gc_outside;
}
