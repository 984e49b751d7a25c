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
#include "media/media-internal.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "wake.h"

/* Millionths. */
static uint32_t gc_indicator(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = &ssd->media->plane[plane];
    uint64_t blocks = (ssd->l.share_units + ssd->l.meta_share_units) /
                          ssd->l.units_per_block +
                      p->spare_blocks;
    uint64_t empty = blocks * ssd->l.units_per_block;
    uint64_t clean = (uint64_t)p->free.n * ssd->l.units_per_block;

    invariant(plane < ssd->l.n_planes);
    empty -= MIN(empty, p->valid);
    return clean >= empty ? 0 : (uint32_t)((empty - clean) * 1000000 / empty);
}

static bool is_clean(const Ssd *ssd, uint32_t plane)
{
    return gc_indicator(ssd, plane) < ssd->cfg->dl_threshold_ppm;
}

/* Where the current version of the unit is, or would be if it had one. */
static uint32_t home_of(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = ssd->nand_entry(ssd, lpn);

    invariant(lpn < ssd->l.user_units);
    return entry ? block_plane(ssd, ppu_block(ssd, entry - 1))
                 : alloc_first_plane(ssd, lpn);
}

static uint32_t force_gc(Ssd *ssd, uint32_t first)
{
    uint32_t worst = first;

    for (uint32_t i = 1; i < ssd->geo->planes_per_die; i++) {
        if (gc_indicator(ssd, first + i) > gc_indicator(ssd, worst)) {
            worst = first + i;
        }
    }
    ssd_wake(ssd, WORK_GC_FORCE, worst);
    return alloc_insist(ssd, worst);
}

static uint32_t dl_pick(Ssd *ssd, uint64_t lpn)
{
    uint32_t n = ssd->geo->planes_per_die;
    uint32_t home = home_of(ssd, lpn);
    uint32_t first = home / n * n;
    uint32_t busy = NONE;

    invariant(home < ssd->l.n_planes);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t plane = first + (home - first + i) % n;

        if (!is_clean(ssd, plane)) {
            continue;
        }
        if (plane_accepts(ssd, plane)) {
            return plane;
        }
        busy = busy == NONE ? plane : busy;
    }
    return busy == NONE ? force_gc(ssd, first) : alloc_insist(ssd, busy);
}

const AllocPolicy alloc_dl = {
    .name = "dl",
    .help = "where the old version was (DL_algo), by the GC indicator",
    .depth = ALLOC_DEEP,
    .by_lpn = true,
    .pick = dl_pick,
};
