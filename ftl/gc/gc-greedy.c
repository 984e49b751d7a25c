/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-greedy.c - the block with the fewest valid units is the next victim.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.5 (greedy).
 * O(1) amortised: block.c keeps the blocks in buckets by valid units.  A tree
 * finds the best stripe (age-tree.c): of equal ones that of which the plane's
 * block has been FULL longest.
 */
#include "check.h"
#include "gc/age-tree.h"
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "media/victims.h"
#include "ssd-internal.h"

/* Of different means never the same: that would take 2^16 blocks in a stripe. */
static double score(const Ssd *ssd, uint32_t plane, uint32_t mtime,
                    double valid)
{
    return ssd->l.units_per_block - valid;
}

static uint32_t best_stripe(const Ssd *ssd, uint32_t plane)
{
    double least = ssd->l.units_per_block;
    uint32_t best = NONE;

    invariant(plane < ssd->l.n_planes);
    for (uint32_t b = ssd->media->plane[plane].by_age.head; b != NONE;
         b = ssd->media->block[b].newer) {
        double valid = gc_gains(ssd, b) ? gc_valid(ssd, b) : least;

        if (valid < least) {
            least = valid;
            best = b;
        }
    }
    return best;
}

uint32_t gc_greedy_pick(Ssd *ssd, uint32_t plane)
{
    return gc_by_stripe(ssd) ? age_tree_best(ssd, plane, score)
                             : block_least_valid(ssd, plane);
}

bool gc_greedy_check(Ssd *ssd, uint32_t plane, GError **error)
{
    uint32_t best;
    uint32_t scan;

    if (!gc_by_stripe(ssd)) {
        return true;
    }
    best = age_tree_best(ssd, plane, score);
    scan = best_stripe(ssd, plane);
    CHECK(best == scan, "plane %u: the stripe of block %u is the best by the "
          "tree, that of %u by a look at all", plane, best, scan);
    return true;
}

const GcPolicy gc_greedy = {
    .name = "greedy",
    .help = "the block with the fewest valid units",
    .pick = gc_greedy_pick,
    .check = gc_greedy_check,
};
