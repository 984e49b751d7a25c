/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc.c - a solution of exercise 2: the block with the best benefit by cost,
 * age * (1 - u) / (1 + u), where u is its valid share.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.6; one read of
 * the block and u writes of copies are the cost.
 */
#include <vssd-policy.h>

static uint32_t pick(VssdView *v, uint32_t plane)
{
    uint32_t best = VSSD_NONE;
    double most = -1;

    for (uint32_t b = v->gc->oldest(v, plane); b != VSSD_NONE;
         b = v->gc->newer(v, b)) {
        double u = v->gc->valid(v, b) / v->shape->block_units;
        double score = v->gc->age(v, b) * (1 - u) / (1 + u);

        if (v->gc->gains(v, b) && score > most) {
            most = score;
            best = b;
        }
    }
    return best;
}

static const VssdGcPolicy gc = {.size = sizeof(gc), .pick = pick};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_GC,
    .size = sizeof(vssd_policy),
    .name = "benefit",
    .help = "the block with the best benefit by cost",
    .gc = &gc,
};
