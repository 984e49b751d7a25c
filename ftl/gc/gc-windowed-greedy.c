/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-windowed-greedy.c - of the ftl.gc_window blocks that were filled first the
 * one with the fewest valid units.
 *
 * Source: X.-Y. Hu et al., "Write Amplification Analysis in Flash-Based Solid
 * State Drives", SYSTOR 2009 (windowed greedy).
 */
#include "gc/gc-policy.h"

static uint32_t windowed_greedy_pick(VssdView *v, uint32_t plane)
{
    uint32_t block = v->gc->oldest(v, plane);
    uint32_t best = block;

    for (uint32_t i = 0; block != VSSD_NONE && i < v->shape->gc_window; i++) {
        if (v->gc->valid(v, block) < v->gc->valid(v, best)) {
            best = block;
        }
        block = v->gc->newer(v, block);
    }
    return best == VSSD_NONE || !v->gc->gains(v, best) ? v->gc->least(v, plane)
                                                       : best;
}

GC_POLICY(windowed_greedy, "windowed-greedy",
          "the fewest valid units among the ftl.gc_window oldest blocks",
          .pick = windowed_greedy_pick);
