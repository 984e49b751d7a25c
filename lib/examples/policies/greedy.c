/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * greedy.c - ftl.gc=greedy as a policy from outside: the block with the fewest
 * valid units is the next victim.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.5.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags libvssd) greedy.c -o greedy.so
 */
#include <vssd-policy.h>

static uint32_t fewest_of_all(VssdView *v, uint32_t plane)
{
    uint32_t best = VSSD_NONE;
    double least = v->shape->block_units;

    for (uint32_t b = v->gc->oldest(v, plane); b != VSSD_NONE;
         b = v->gc->newer(v, b)) {
        if (v->gc->gains(v, b) && v->gc->valid(v, b) < least) {
            least = v->gc->valid(v, b);
            best = b;
        }
    }
    return best;
}

/* Candidates with few valid units first; with superblock.width a superblock
 * counts.
 */
static uint32_t greedy_pick(VssdView *v, uint32_t plane)
{
    for (uint32_t n = 0; n < v->shape->block_units; n++) {
        uint32_t b = v->gc->with_valid(v, plane, n);

        if (b != VSSD_NONE) {
            return v->gc->valid(v, b) == n ? b : fewest_of_all(v, plane);
        }
    }
    return VSSD_NONE;
}

static const VssdGcPolicy greedy = {
    .size = sizeof(greedy),
    .pick = greedy_pick,
};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_GC,
    .size = sizeof(vssd_policy),
    .name = "greedy",
    .help = "the block with the fewest valid units",
    .gc = &greedy,
};
