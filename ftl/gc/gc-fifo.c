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
#include "gc/gc-private.h"
#include "media/victims.h"
#include "ssd-internal.h"

static uint32_t fifo_pick(Ssd *ssd, uint32_t plane)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t n = ssd->geo->blocks_per_plane;

    invariant(plane < ssd->l.n_planes);
    while (p->by_age.head != NONE && n-- > 0) {
        if (gc_gains(ssd, p->by_age.head)) {
            return p->by_age.head;
        }
        block_renew(ssd, p->by_age.head);
    }
    return gc_greedy_pick(ssd, plane);
}

const GcPolicy gc_fifo = {
    .name = "fifo",
    .help = "the block that was filled first",
    .pick = fifo_pick,
};
