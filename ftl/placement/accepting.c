/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accepting.c - which planes may be given a page of the host.
 *
 * Knows how many programs a plane may have under way, its share of the data, and
 * that the host must wait while GC falls behind; does not know which of the
 * accepting planes is best (alloc-*.c).
 */
#include "media/media.h"
#include "bitmap.h"
#include "placement/alloc-policy.h"
#include "placement/placement.h"
#include "ssd-internal.h"

static void set_accepting(Ssd *ssd, uint32_t plane, bool accepting)
{
    uint32_t pos = ssd->media->stripe_pos[plane];

    ssd->media->plane[plane].accepting = accepting;
    bitmap_put(ssd->placement->accepting, pos, accepting);
}

void plane_update(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->media->plane[plane];
    uint64_t coming = (uint64_t)(p->host_programs + p->gc.guests) *
                      ssd->l.units_per_program;
    bool willing = p->host_programs < ssd->placement->policy->depth &&
                   p->valid - p->meta_valid + coming <
                       ssd->l.share_units + p->slack_units;
    /* Whatever stream comes, the plane has a page for it. */
    bool room = (p->n_host_open == ssd->l.n_streams ||
                 block_can_open(ssd, p, OPEN_HOST)) &&
                !plane_holds_host(ssd, p);

    if (ssd->placement->placer) { /* which says that the plane is starved */
        set_accepting(ssd, plane,
                      p->host_programs < ssd->placement->policy->depth &&
                          !p->starved);
        return;
    }
    ssd->placement->n_starved -= p->starved;
    p->starved = willing && !room;
    ssd->placement->n_starved += p->starved;
    set_accepting(ssd, plane, willing && room);
}
