/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-cost-benefit.c - the block that gains most for what its copies cost, and
 * the more so the longer it has been left alone.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.6: benefit /
 * cost = (1 - u) age / (1 + u), u being the valid share.  Age counts programs
 * of the host in the plane since the block was last written to.  A tree finds the
 * best block of a plane (age-tree.c); with ftl.gc_unit each one is looked at.
 */
#include "ftl.h"

double age_tree_score(const Ssd *ssd, const Plane *p, uint32_t mtime,
                      double valid)
{
    double all = ssd->l.units_per_block;
    double age = (double)(uint32_t)(p->clock - mtime) + 1;

    return (all - valid) * age / (all + valid);
}

uint32_t gc_cost_benefit_scan(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = &ssd->plane[plane];
    uint32_t best = NONE;
    double most = 0;

    for (uint32_t b = p->oldest; b != NONE; b = ssd->block[b].newer) {
        double s = gc_gains(ssd, b)
                       ? age_tree_score(ssd, p, ssd->block[b].mtime,
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
    uint32_t best = ssd->age_trees ? age_tree_best(ssd, plane)
                                   : gc_cost_benefit_scan(ssd, plane);

    return best == NONE ? gc_greedy_pick(ssd, plane) : best;
}

const GcPolicy gc_cost_benefit = {
    .name = "cost-benefit",
    .help = "the most to gain for its cost, old blocks first",
    .pick = cost_benefit_pick,
};
