/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-random-block.c - a new version goes to a block at random.
 *
 * Source: S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD
 * Parallelism", IJAEE 5(1), 2015, section IV.B: "a random allocation choose a
 * random block for the valid page to hold the new version", after an initial
 * allocation that spreads the data.  So data without an old version goes where
 * ftl.alloc=dl puts it, and each later version to a random plane.  There each
 * page goes to a block with a free page, at random: one of the open blocks, or
 * a free one while fewer than ftl.random_blocks are open.  alloc-random.c
 * differs in both: it also spreads the first versions at random, and has one
 * open block in each plane.
 *
 * The paper sets no limit to the blocks with free pages.  Here GC needs blocks
 * that are full, and some free ones, so ftl.random_blocks is at most what the
 * spare blocks leave.  block.c keeps the blocks that are set aside meanwhile.
 */
#include "placement/alloc-policy.h"

static uint32_t random_block_pick(VssdView *v, uint64_t unit)
{
    return v->alloc->home(v, unit) == VSSD_NONE
               ? v->alloc->insist(v, v->alloc->first_plane(v, unit))
               : v->alloc->draw(v);
}

ALLOC_POLICY(random_block, "random-block",
             "new versions to a random plane, and there to a random block "
             "with a free page; first versions in stripe order",
             ALLOC_PART(.depth = ALLOC_DEEP, .by_unit = true,
                        .draws_block = true, .pick = random_block_pick));
