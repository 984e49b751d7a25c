/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-random.c - any plane, whatever it is doing.
 *
 * Source: S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD
 * Parallelism", IJAEE 5(1), 2015, section IV.B: the policy that DL_algo is
 * compared with ("a random block" for the new version).
 */
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "ssd-internal.h"

static uint32_t random_pick(Ssd *ssd, uint64_t lpn)
{
    uint32_t plane;

    (void)lpn;
    if (ssd->placement->alloc_chosen == NONE) {
        ssd->placement->alloc_chosen =
            (uint32_t)prng_below(&ssd->placement->rng, ssd->l.n_planes);
    }
    plane = alloc_insist(ssd, ssd->placement->alloc_chosen);
    if (plane != NONE) {
        ssd->placement->alloc_chosen = NONE;
    }
    return plane;
}

const AllocPolicy alloc_random = {
    .name = "random",
    .help = "a plane at random, busy or not",
    .depth = ALLOC_DEEP,
    .pick = random_pick,
};
