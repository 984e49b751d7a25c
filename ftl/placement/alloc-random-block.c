/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-random-block.c - a new version goes to a block at random.
 *
 * Source: S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD
 * Parallelism", IJAEE 5(1), 2015, section IV.B: "a random allocation choose a
 * random block for the valid page to hold the new version", after an initial
 * allocation that spreads the data.  So data without an old version goes where
 * ftl.alloc=dl puts it, and each later version to one of ftl.random_blocks open
 * blocks of a random plane, at random.  alloc-random.c differs in both: it also
 * spreads the first versions at random, and has one open block in each plane.
 *
 * The paper does not say how many blocks with free pages there are.  Here: as
 * many as ftl.random_blocks in each plane, which are streams of the drive (the
 * host names none).
 */
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/placement.h"
#include "ssd-internal.h"

static uint32_t random_block_pick(Ssd *ssd, uint64_t lpn)
{
    invariant(lpn < ssd->l.user_units);
    if (ssd->nand_entry(ssd, lpn) == 0) {
        return alloc_insist(ssd, alloc_first_plane(ssd, lpn));
    }
    return alloc_draw(ssd);
}

uint32_t random_block_stream(Ssd *ssd)
{
    return (uint32_t)prng_below(&ssd->placement->rng, ssd->l.n_streams);
}

const AllocPolicy alloc_random_block = {
    .name = "random-block",
    .help = "new versions to a random plane, and there to a random one of "
            "ftl.random_blocks; first versions in stripe order",
    .depth = ALLOC_DEEP,
    .by_lpn = true,
    .draws_stream = true,
    .pick = random_block_pick,
};
