/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-random.c - any block that gains.
 *
 * Source: B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection
 * Algorithms in Flash-based Solid State Drives", SIGMETRICS 2013 (random).
 */
#include "gc/gc-policy.h"

static uint32_t random_pick(VssdView *v, uint32_t plane)
{
    uint32_t block = v->gc->draw(v, plane);

    return block == VSSD_NONE ? v->gc->least(v, plane) : block;
}

GC_POLICY(random, "random", "a block at random", .pick = random_pick);
