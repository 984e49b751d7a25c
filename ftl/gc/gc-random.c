/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-random.c - any block that gains.
 *
 * Source: B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection
 * Algorithms in Flash-based Solid State Drives", SIGMETRICS 2013 (random).
 */
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "ssd-internal.h"

static uint32_t random_pick(Ssd *ssd, uint32_t plane)
{
    uint32_t block = gc_draw(ssd, plane);

    return block == NONE ? gc_greedy_pick(ssd, plane) : block;
}

const GcPolicy gc_random = {
    .name = "random",
    .help = "a block at random",
    .pick = random_pick,
};
