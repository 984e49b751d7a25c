/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-random.c - any plane, whatever it is doing.
 *
 * Source: S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD
 * Parallelism", IJAEE 5(1), 2015, section IV.B: the policy that DL_algo is
 * compared with, by planes; alloc-random-block.c goes by blocks.
 */
#include "placement/alloc-policy.h"

static uint32_t random_pick(VssdView *v, uint64_t unit)
{
    (void)unit;
    return v->alloc->draw(v);
}

ALLOC_POLICY(random, "random", "a plane at random, busy or not",
             ALLOC_PART(.depth = ALLOC_DEEP, .pick = random_pick));
