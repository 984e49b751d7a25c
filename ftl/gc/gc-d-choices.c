/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-d-choices.c - of ftl.gc_choices blocks drawn at random the one with the
 * fewest valid units.
 *
 * Source: B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection
 * Algorithms in Flash-based Solid State Drives", SIGMETRICS 2013 (d-choices).
 */
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "ssd-internal.h"

static uint32_t d_choices_pick(Ssd *ssd, uint32_t plane)
{
    uint32_t best = NONE;

    for (uint32_t i = 0; i < ssd->cfg->gc_choices; i++) {
        uint32_t block = gc_draw(ssd, plane);

        if (block == NONE) {
            break;
        }
        if (best == NONE || gc_valid(ssd, block) < gc_valid(ssd, best)) {
            best = block;
        }
    }
    return best == NONE ? gc_greedy_pick(ssd, plane) : best;
}

const GcPolicy gc_d_choices = {
    .name = "d-choices",
    .help = "the fewest valid units among ftl.gc_choices blocks drawn",
    .pick = d_choices_pick,
};
