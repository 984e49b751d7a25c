/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-greedy.c - the block with the fewest valid units is cleaned first.
 *
 * Source: M. Rosenblum, J. Ousterhout, "The design and implementation of a
 * log-structured file system", ACM TOCS 10(1), 1992, section 3.5 (greedy).
 * O(1) amortised: block.c keeps the blocks in buckets by valid units.
 */
#include "ftl.h"

uint32_t gc_greedy_pick(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->plane[plane];

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
