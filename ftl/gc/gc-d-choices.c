/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-d-choices.c - of ftl.gc_choices blocks drawn at random the one with the
 * fewest valid units.
 *
 * Source: B. Van Houdt, "A Mean Field Model for a Class of Garbage Collection
 * Algorithms in Flash-based Solid State Drives", SIGMETRICS 2013 (d-choices).
 */
#include "gc/gc-policy.h"

static uint32_t d_choices_pick(VssdView *v, uint32_t plane)
{
    uint32_t best = VSSD_NONE;

    for (uint32_t i = 0; i < v->shape->gc_choices; i++) {
        uint32_t block = v->gc->draw(v, plane);

        if (block == VSSD_NONE) {
            break;
        }
        if (best == VSSD_NONE ||
            v->gc->valid(v, block) < v->gc->valid(v, best)) {
            best = block;
        }
    }
    return best == VSSD_NONE ? v->gc->least(v, plane) : best;
}

GC_POLICY(d_choices, "d-choices",
          "the fewest valid units among ftl.gc_choices blocks drawn",
          .pick = d_choices_pick);
