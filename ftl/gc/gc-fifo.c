/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-fifo.c - the block that was filled first is the next victim.
 *
 * Source: J. Menon, "A Performance Comparison of RAID-5 and Log-Structured
 * Arrays", HPDC 1995, and P. Desnoyers, "Analytic Modeling of SSD Write
 * Performance", SYSTOR 2012 (LRU).  A block that would give back no
 * program's pages has its turn again later: to move it would gain nothing.
 * O(1) but for those.
 */
#include "gc/gc-policy.h"

static uint32_t fifo_pick(VssdView *v, uint32_t plane)
{
    uint32_t n = v->shape->plane_blocks;
    uint32_t block;

    while ((block = v->gc->oldest(v, plane)) != VSSD_NONE && n-- > 0) {
        if (v->gc->gains(v, block)) {
            return block;
        }
        v->gc->renew(v, block);
    }
    return v->gc->least(v, plane);
}

GC_POLICY(fifo, "fifo", "the block that was filled first", .pick = fifo_pick);
