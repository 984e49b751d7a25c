/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-random.c - any plane, whatever it is doing.
 *
 * Source: S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD
 * Parallelism", IJAEE 5(1), 2015, section IV.B: the policy that DL_algo is
 * compared with, by planes; alloc-random-block.c goes by blocks.
 */
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "ssd-internal.h"

static uint32_t random_pick(Ssd *ssd, uint64_t lpn)
{
    (void)lpn;
    return alloc_draw(ssd);
}

const AllocPolicy alloc_random = {
    .name = "random",
    .help = "a plane at random, busy or not",
    .depth = ALLOC_DEEP,
    .pick = random_pick,
};
