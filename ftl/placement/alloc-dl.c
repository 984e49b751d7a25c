/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-dl.c - a new version goes where the old one was, so that data laid out
 * well stays so.
 *
 * Source: DL_algo of S. Zertal, "A Data Layout Strategy to Enhance the Internal
 * SSD Parallelism", IJAEE 5(1), 2015, section III: (1) the plane of the old
 * version, if it has a free page and its GC indicator is below a
 * threshold; (2) else another plane of the die; (3) else GC is forced on
 * the plane of the die with the highest GC indicator, one victim at a time, and
 * the page goes there, at once if there is room.  A plane that is below the
 * threshold and only busy is waited for: it needs no GC.  Data that had no old
 * version is spread over the planes in the order of ftl.stripe, by logical
 * address.
 *
 * The paper does not define the GC indicator. Here: the share of the plane's
 * invalid space that is not in free blocks, so that 0 is a plane without work
 * for GC, and 1 one that needs GC now.
 */
#include "placement/alloc-policy.h"

static bool is_clean(VssdView *v, uint32_t plane)
{
    return v->alloc->gc_indicator(v, plane) < v->shape->dl_threshold_ppm;
}

/* Where the current version of the unit is, or would be if it had one. */
static uint32_t home_of(VssdView *v, uint64_t unit)
{
    uint32_t home = v->alloc->home(v, unit);

    return home == VSSD_NONE ? v->alloc->first_plane(v, unit) : home;
}

static uint32_t force_gc(VssdView *v, uint32_t first)
{
    uint32_t worst = first;

    for (uint32_t i = 1; i < v->shape->die_planes; i++) {
        if (v->alloc->gc_indicator(v, first + i) >
            v->alloc->gc_indicator(v, worst)) {
            worst = first + i;
        }
    }
    v->alloc->force_gc(v, worst);
    return v->alloc->insist(v, worst);
}

static uint32_t dl_pick(VssdView *v, uint64_t unit)
{
    uint32_t n = v->shape->die_planes;
    uint32_t home = home_of(v, unit);
    uint32_t first = home / n * n;
    uint32_t busy = VSSD_NONE;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t plane = first + (home - first + i) % n;

        if (!is_clean(v, plane)) {
            continue;
        }
        if (v->alloc->accepts(v, plane)) {
            return plane;
        }
        busy = busy == VSSD_NONE ? plane : busy;
    }
    return busy == VSSD_NONE ? force_gc(v, first) : v->alloc->insist(v, busy);
}

ALLOC_POLICY(dl, "dl",
             "where the old version was (DL_algo), by the GC indicator",
             ALLOC_PART(.depth = ALLOC_DEEP, .by_unit = true, .pick = dl_pick));
