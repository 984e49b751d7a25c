/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-cost-benefit.c - the block with the most gain for the cost of its copies,
 * times its age.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.6: benefit /
 * cost = (1 - u) age / (1 + u), u being the valid share.  Age counts programs
 * of the host in the plane since the block was last written to.  A tree finds
 * the best block of a plane (age-tree.c).
 */
#include "check.h"
#include "gc/age-tree.h"
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

static double score(const Ssd *ssd, uint32_t plane, uint32_t mtime,
                    double valid)
{
    double all = ssd->l.data_units;
    double age = (double)(uint32_t)(ssd->media->plane[plane].clock - mtime) + 1;

    invariant(plane < ssd->l.n_planes);
    return (all - valid) * age / (all + valid);
}

static uint32_t cost_benefit_scan(const Ssd *ssd, uint32_t plane)
{
    uint32_t best = NONE;
    double most = 0;

    invariant(plane < ssd->l.n_planes);
    for (uint32_t b = ssd->media->plane[plane].by_age.head; b != NONE;
         b = ssd->media->block[b].newer) {
        double s = gc_gains(ssd, b)
                       ? score(ssd, plane, ssd->media->block[b].mtime,
                               gc_valid(ssd, b))
                       : 0;

        if (s > most) {
            most = s;
            best = b;
        }
    }
    return best;
}

static uint32_t cost_benefit_pick(Ssd *ssd, uint32_t plane)
{
    uint32_t best = age_tree_best(ssd, plane, score);

    return best == NONE ? gc_greedy_pick(ssd, plane) : best;
}

static bool agrees(Ssd *ssd, uint32_t plane, GError **error)
{
    uint32_t best = age_tree_best(ssd, plane, score);
    uint32_t scan = cost_benefit_scan(ssd, plane);

    CHECK(best == scan, "plane %u: block %u is the best by the tree, %u by a "
          "look at all", plane, best, scan);
    return true;
}

static bool cost_benefit_check(Ssd *ssd, uint32_t plane, GError **error)
{
    bool same = agrees(ssd, plane, error);

    if (same && ssd->gc->mate) {
        ssd->gc->alone = true;
        same = agrees(ssd, plane, error);
        ssd->gc->alone = false;
    }
    return same;
}

const GcPolicy gc_cost_benefit = {
    .name = "cost-benefit",
    .help = "the most to gain for its cost, old blocks first",
    .by_age = true,
    .pick = cost_benefit_pick,
    .check = cost_benefit_check,
};
