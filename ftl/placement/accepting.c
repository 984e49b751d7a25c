/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accepting.c - which planes may be given a page of the host.
 *
 * Knows how many programs a plane may have under way, its share of the data, and
 * that the host must wait while GC falls behind; does not know which of the
 * accepting planes is best (alloc-*.c).
 */
#include "media/media.h"
#include "media/slc-cache.h"
#include "bitmap.h"
#include "placement/alloc-policy.h"
#include "placement/placement.h"
#include "ssd-internal.h"

static void set_accepting(Ssd *ssd, uint32_t plane, bool accepting)
{
    uint32_t pos = ssd->media->stripe_pos[plane];

    if (ssd->placement->plane[plane].accepting == accepting) {
        return;
    }
    ssd->placement->plane[plane].accepting = accepting;
    ssd->placement->changes++;
    bitmap_put(ssd->placement->accepting, pos, accepting);
    plane_tell_gains(ssd, plane, !accepting);
}

static void set_starved(Ssd *ssd, uint32_t plane, bool starved)
{
    PlacementPlane *own = &ssd->placement->plane[plane];

    ssd->placement->n_starved += starved;
    ssd->placement->n_starved -= own->starved;
    own->starved = starved;
}

/* Cost of a host page in GcLoad.credit. */
static uint64_t price(const Ssd *ssd)
{
    return (uint64_t)ssd->l.units_per_program << 16;
}

/* Must the host wait until GC has gained as much as a page takes? */
static bool holds_host(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    const GcLoad *gc = &ssd->placement->plane[plane].gc;

    return gc->active && gc->credit < price(ssd) &&
           gc->reads + gc->programs + p->erases + p->n_held > 0;
}

/* Must the host wait until a block of the SLC cache has been folded?  Only
 * while something is under way in the plane that ends in a call of
 * plane_update(). */
static bool waits_for_fold(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    const GcLoad *gc = &ssd->placement->plane[plane].gc;

    return ssd->cfg->slc_when_full == SSD_SLC_FOLD &&
           gc->reads + gc->programs + p->erases + p->n_held > 0 &&
           slc_holds_host(ssd, p);
}

/* The same for all streams, which all use the cache. */
static bool cache_holds_host(const Ssd *ssd, uint32_t plane)
{
    return !ssd->l.slc_some &&
           plane_at(ssd, plane)->n_host_open < ssd->l.n_handles &&
           waits_for_fold(ssd, plane);
}

bool plane_holds_stream(const Ssd *ssd, uint32_t plane, uint32_t stream)
{
    invariant(ssd->l.slc_some);
    return slc_has_stream(ssd, stream) &&
           !open_takes_data(ssd, plane, open_index(ssd, OPEN_HOST, stream)) &&
           waits_for_fold(ssd, plane);
}

void plane_charge_host(Ssd *ssd, uint32_t plane)
{
    GcLoad *gc = &ssd->placement->plane[plane].gc;

    gc->credit -= MIN(gc->credit, price(ssd));
}

void plane_update(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    const PlacementPlane *own = &ssd->placement->plane[plane];
    uint64_t coming = (uint64_t)(p->host_programs + own->gc.foreign) *
                      ssd->l.units_per_program;
    bool willing =
        !plane_is_lost(ssd, plane) &&
        p->host_programs < ssd->placement->policy->depth &&
        (ssd->l.plain_units > 0 || !plane_has_share(ssd, plane, coming));
    /* Whatever stream comes, the plane has a page for it. */
    bool room = (p->n_host_open == ssd->l.n_handles ||
                 block_can_open(ssd, p, OPEN_HOST)) &&
                !holds_host(ssd, plane) && !cache_holds_host(ssd, plane);

    if (ssd->placement->placer) { /* which says that the plane is starved */
        set_accepting(ssd, plane,
                      p->host_programs < ssd->placement->policy->depth &&
                          !own->starved);
        return;
    }
    set_starved(ssd, plane, willing && !room);
    set_accepting(ssd, plane, willing && room);
}

void plane_set_starved(Ssd *ssd, uint32_t plane, bool starved)
{
    invariant(ssd->placement->placer);
    invariant(ssd->placement->n_starved >=
              ssd->placement->plane[plane].starved);
    set_starved(ssd, plane, starved);
    plane_update(ssd, plane);
}
