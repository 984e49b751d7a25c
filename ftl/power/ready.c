/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ready.c - the drive goes on after a return of power.
 *
 * Knows the erases, frees and programs that come first; the map is there
 * already.
 */
#include "buffer/life.h"
#include "gc/gc.h"
#include "journal/saved.h"
#include "map/map.h"
#include "media/blocks.h"
#include "media/faulty.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "power/power.h"
#include "ssd-internal.h"
#include "wake.h"

/* An empty block of the plane that only has to be erased, or NONE. */
static uint32_t empty_block(const Ssd *ssd, const Plane *p)
{
    uint32_t b = p->bucket[0];

    while (b != NONE && block_has_failed(ssd, b)) {
        b = block_at(ssd, b)->next;
    }
    return saves(ssd) ? b : NONE;
}

void power_ready(Ssd *ssd)
{
    invariant(ssd->powered && nand_load(ssd->nand) == 0);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (block_state(ssd, b) == BLOCK_ERASING) {
            block_start_erase(ssd, b, NAND_CAUSE_GC, false);
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        invariant(ssd->gc->plane[i].victim == NONE);
        if (plane_at(ssd, i)->free.n == 0 && plane_at(ssd, i)->erases == 0 &&
            !ssd->map->policy->own_blocks) {
            uint32_t empty = empty_block(ssd, plane_at(ssd, i));

            if (empty != NONE) {
                block_discard(ssd, empty);
            } else {
                gc_take_back(ssd, i);
            }
        }
        plane_update(ssd, i);
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd_wake(ssd, WORK_GC, i);
    }
    if (!saves(ssd)) {
        faulty_arm(ssd);
    }
    background_quiet(ssd);
    buffer_restore(ssd);
}
