/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-victim.c - what a policy sees of the blocks of a plane (VssdGcView), and
 * the block that it chooses.
 *
 * Knows the rules of VssdGcPolicy.pick().  A policy that breaks one is asked no
 * more, and the block with the fewest valid units is the victim.
 */
#include "check.h"
#include "gc/age-tree.h"
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "media/blocks.h"
#include "media/slc-cache.h"
#include "media/superblock.h"
#include "media/victims.h"
#include "outside.h"

/* Of a FULL block, as VssdGcView.age(). */
static uint32_t age_of(const Ssd *ssd, uint32_t block)
{
    const Media *m = ssd->media;

    return m->plane[block_plane(ssd, block)].clock - m->block[block].mtime + 1;
}

/* ---- searches ------------------------------------------------------------ */

static VssdView *view_of(const Ssd *ssd)
{
    return &ssd->outside[VSSD_POLICY_GC]->view;
}

/* Of different means never the same: that would take 2^16 blocks in a stripe.
 */
static double few_valid(VssdView *v, double age, double valid)
{
    return v->shape->block_units - valid;
}

/* O(1) amortised: block.c keeps the blocks in buckets by valid units.  A tree
 * finds the best stripe: of equal ones that of which the plane's block has been
 * FULL longest. */
static uint32_t least_valid(Ssd *ssd, uint32_t plane)
{
    return gc_by_superblock(ssd)
               ? age_tree_best(ssd, plane, few_valid, view_of(ssd))
               : block_least_valid(ssd, plane);
}

/* A block at random that gains; NONE: many draws found none. */
static uint32_t draw(Ssd *ssd, uint32_t plane)
{
    uint32_t slc = ssd->geo->slc_blocks;
    uint32_t n = ssd->geo->blocks_per_plane;

    invariant(plane < ssd->l.n_planes);
    for (int tries = 0; tries < 64; tries++) {
        uint32_t block =
            plane * n + slc + (uint32_t)prng_below(&ssd->gc->rng, n - slc);

        if (block_state(ssd, block) == BLOCK_FULL &&
            !slc_is_dynamic(ssd, block) && gc_gains(ssd, block)) {
            return block;
        }
    }
    return NONE;
}

/* What age_tree_best() finds, by a look at all blocks. */
static uint32_t best_of_all(const Ssd *ssd, uint32_t plane, AgeScore score)
{
    uint32_t best = NONE;
    double most = 0;

    for (uint32_t b = plane_at(ssd, plane)->by_age.head; b != NONE;
         b = block_at(ssd, b)->newer) {
        double s = gc_gains(ssd, b)
                       ? score(view_of(ssd), age_of(ssd, b), gc_valid(ssd, b))
                       : 0;

        if (s > most) {
            most = s;
            best = b;
        }
    }
    return best;
}

static bool agrees(Ssd *ssd, uint32_t plane, AgeScore score, GError **error)
{
    uint32_t best = age_tree_best(ssd, plane, score, view_of(ssd));
    uint32_t scan = best_of_all(ssd, plane, score);

    CHECK(best == scan,
          "plane %u: block %u is the best by the tree, %u by a "
          "look at all",
          plane, best, scan);
    return true;
}

bool gc_check_searches(Ssd *ssd, uint32_t plane, GError **error)
{
    AgeScore score = ssd->outside[VSSD_POLICY_GC]->policy->gc->score;
    bool same = !score || agrees(ssd, plane, score, error);

    if (same && score && superblocks_are_on(ssd)) {
        ssd->gc->alone = true;
        same = agrees(ssd, plane, score, error);
        ssd->gc->alone = false;
    }
    return same &&
           (!superblocks_are_on(ssd) || agrees(ssd, plane, few_valid, error));
}

/* ---- what a policy sees -------------------------------------------------- */

static bool is_candidate(const Ssd *ssd, uint32_t block)
{
    return block_state(ssd, block) == BLOCK_FULL &&
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

    return plane_ok(o, "oldest", plane) ? plane_at(o->ssd, plane)->by_age.head
                                        : NONE;
}

static uint32_t view_newer(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "newer", block) ? block_at(o->ssd, block)->newer : NONE;
}

static uint32_t view_with_valid(VssdView *v, uint32_t plane, uint32_t valid)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "with_valid", plane) &&
                   outside_in_range(o, "with_valid", "units", valid,
                                    (uint64_t)o->ssd->l.units_per_block + 1)
               ? plane_at(o->ssd, plane)->bucket[valid]
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

    return block_ok(o, "age", block) ? age_of(o->ssd, block) : 0;
}

static uint32_t view_stream(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    return block_ok(o, "stream", block) ? block_stream(o->ssd, block) : NONE;
}

static uint32_t view_free_blocks(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "free_blocks", plane) ? plane_at(o->ssd, plane)->free.n
                                             : 0;
}

static uint32_t view_least(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "least", plane) ? least_valid(o->ssd, plane) : NONE;
}

static uint32_t view_best(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);
    AgeScore score = o->policy->gc->score;

    return plane_ok(o, "best", plane) &&
                   (score || outside_broke(o, "best() without score()"))
               ? age_tree_best(o->ssd, plane, score, v)
               : NONE;
}

static uint32_t view_draw(VssdView *v, uint32_t plane)
{
    Outside *o = outside_of(v);

    return plane_ok(o, "draw", plane) ? draw(o->ssd, plane) : NONE;
}

static void view_renew(VssdView *v, uint32_t block)
{
    Outside *o = outside_of(v);

    if (block_ok(o, "renew", block)) {
        block_renew(o->ssd, block);
    }
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
    .least = view_least,
    .best = view_best,
    .draw = view_draw,
    .renew = view_renew,
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
    best = least_valid(ssd, plane);
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

uint32_t gc_pick(Ssd *ssd, uint32_t plane)
{
    Outside *o = ssd->outside[VSSD_POLICY_GC];
    uint32_t block;

    invariant(plane < ssd->l.n_planes);
    if (outside_works(o)) {
        block = o->policy->gc->pick(&o->view, plane);
        if (victim_ok(o, plane, block) && outside_works(o)) {
            return block;
        }
    }
    return least_valid(ssd, plane);
}

void gc_policy_init(Ssd *ssd, const VssdPolicy *listed)
{
    outside_listed(ssd, VSSD_POLICY_GC, listed)->view.gc = &gc_view;
}
