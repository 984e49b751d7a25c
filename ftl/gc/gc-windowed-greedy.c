/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-windowed-greedy.c - of the ftl.gc_window blocks that were filled first the
 * one with the fewest valid units.
 *
 * Source: X.-Y. Hu et al., "Write Amplification Analysis in Flash-Based Solid
 * State Drives", SYSTOR 2009 (windowed greedy).
 */
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

static uint32_t windowed_greedy_pick(Ssd *ssd, uint32_t plane)
{
    uint32_t block = ssd->media->plane[plane].by_age.head;
    uint32_t best = block;

    invariant(plane < ssd->l.n_planes);
    for (uint32_t i = 0; block != NONE && i < ssd->cfg->gc_window; i++) {
        if (gc_valid(ssd, block) < gc_valid(ssd, best)) {
            best = block;
        }
        block = ssd->media->block[block].newer;
    }
    return best == NONE || !gc_gains(ssd, best) ? gc_greedy_pick(ssd, plane)
                                                : best;
}

const GcPolicy gc_windowed_greedy = {
    .name = "windowed-greedy",
    .help = "the fewest valid units among the ftl.gc_window oldest blocks",
    .pick = windowed_greedy_pick,
};
