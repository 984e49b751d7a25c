/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake-check.c - does a plane's GC wait for something that will not come?
 *
 * A plane goes on when something of its own ends, or when a mark or another
 * plane of its GC unit says so.  So one that has nothing under way must have
 * nothing to do, or wait for a plane that has been called.  A plane with room
 * for the host looks for a victim when a page of the host has come: that of
 * other planes may have made one worth it meanwhile.  In a read-only drive
 * there may be no block to copy to, and in a window of predictable latency GC
 * is held back.
 */
#include "check.h"
#include "gc/copies.h"
#include "gc/copy-rows.h"
#include "gc/gc-private.h"
#include "gc/gc-unit.h"
#include "journal/journal.h"
#include "media/media.h"
#include "placement/placement.h"
#include "power/power.h"
#include "media/parity-pump.h"
#include "media/lost-die.h"
#include "ssd-internal.h"
#include "ssd-report.h"

/* Will an event come that makes the plane's GC go on? */
static bool is_woken(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    const GcPlane *g = &ssd->gc->plane[plane];
    const GcLoad *load = plane_load(ssd, plane);

    return load->reads + load->programs + load->away + p->erases +
                   p->host_programs + p->n_held +
                   ssd->journal->plane[plane].programs >
               0 ||
           g->yielded || copy_rows_wait(ssd, plane);
}

/* Has the plane a FULL block with an invalid unit?  A bad one gives no room
 * back. */
static bool has_victim(const Ssd *ssd, const Plane *p)
{
    for (uint32_t b = p->by_age.head; b != NONE; b = block_at(ssd, b)->newer) {
        if (block_valid(ssd, b) < ssd->l.data_units) {
            return true;
        }
    }
    return false;
}

static bool check_plane(const Ssd *ssd, uint32_t plane, GError **error)
{
    const Plane *p = plane_at(ssd, plane);
    const GcPlane *g = &ssd->gc->plane[plane];
    bool wants = plane_load(ssd, plane)->active ||
                 p->free.n <= p->gc_low_blocks || g->forced;

    if (g->victim != NONE || is_woken(ssd, plane) ||
        plane_is_lost(ssd, plane) || parity_in_flight(ssd, plane) ||
        (g->held > 0 && unit_waits(ssd, plane))) {
        return true;
    }
    CHECK(g->next == NONE,
          "plane %u: called to empty block %u, and nothing wakes it", plane,
          g->next);
    if (gc_waits_for_unit(ssd, plane)) {
        return true;
    }
    CHECK(g->held == 0 || !plane_is_short(ssd, p),
          "plane %u: %u empty blocks, no room, and nothing wakes it", plane,
          g->held);
    CHECK(!wants || !plane_is_short(ssd, p) || !has_victim(ssd, p),
          "plane %u: wants a victim, has one, and nothing wakes it", plane);
    return true;
}

bool ssd_check_wakes(const Ssd *ssd, GError **error)
{
    if (!ssd->powered || ssd->power->recovery.on || ssd->gc->off ||
        media_cannot_program(ssd) || media_is_read_only(ssd) ||
        ssd->window == SSD_WINDOW_HOLD) {
        return true;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!check_plane(ssd, i, error)) {
            return false;
        }
    }
    return true;
}
