/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-cost-benefit.c - the block with the most gain for the cost of its copies,
 * times its age.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.6: benefit /
 * cost = (1 - u) age / (1 + u), u being the valid share.  Age counts programs
 * of the host in the plane since the block was last written to.
 */
#include "gc/gc-policy.h"

static double score(VssdView *v, double age, double valid)
{
    double all = v->shape->data_units;

    return (all - valid) * age / (all + valid);
}

static uint32_t cost_benefit_pick(VssdView *v, uint32_t plane)
{
    uint32_t best = v->gc->best(v, plane);

    return best == VSSD_NONE ? v->gc->least(v, plane) : best;
}

GC_POLICY(cost_benefit, "cost-benefit",
          "the most to gain for its cost, old blocks first",
          .pick = cost_benefit_pick, .score = score);
