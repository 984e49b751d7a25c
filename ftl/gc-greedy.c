/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-greedy.c - the block with the fewest valid units is cleaned first.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.5 (greedy).
 * O(1) amortised: block.c keeps the blocks in buckets by valid units.  Stripes
 * are looked at one by one.
 */
#include "ftl.h"

static uint32_t best_stripe(const Ssd *ssd, const Plane *p)
{
    double least = ssd->l.units_per_block;
    uint32_t best = NONE;

    for (uint32_t b = p->oldest; b != NONE; b = ssd->block[b].newer) {
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
    Plane *p = &ssd->plane[plane];

    if (gc_by_stripe(ssd)) {
        return best_stripe(ssd, p);
    }
    while (p->min_valid < ssd->l.units_per_block) {
        if (p->bucket[p->min_valid] != NONE) {
            return p->bucket[p->min_valid];
        }
        p->min_valid++;
    }
    return NONE;
}

const GcPolicy gc_greedy = {
    .name = "greedy",
    .help = "the block with the fewest valid units",
    .pick = gc_greedy_pick,
};
