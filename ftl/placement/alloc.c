/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - shared by page allocation policies: the next plane of the stripe,
 * and waiting for a plane without deadlock.
 *
 * Knows the planes that accept a page (accepting.c keeps them as bits by
 * position in the stripe).  Knows nothing about which plane is best (alloc-*.c
 * decide that).
 */
#include "bitmap.h"
#include "media/aside.h"
#include "media/media.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "wake.h"

void placement_set_placer(Ssd *ssd, const Placer *placer)
{
    invariant(placer && placer->send && placer->accepts && placer->page_done);
    ssd->placement->placer = placer;
}

void alloc_init(Ssd *ssd)
{
    uint32_t n = ssd->l.n_planes;

    invariant(!ssd->placement->plane);
    ssd->placement->plane = g_new0(PlacementPlane, n);
    ssd->placement->accepting = g_new0(uint64_t, bitmap_words(n));
    rows_init(ssd);
    ssd->placement->alloc_chosen = NONE;
    ssd->placement->alloc_waits_for = NONE;
    prng_seed(&ssd->placement->rng, ssd->cfg->seed, PURPOSE_ALLOC);
}

void alloc_destroy(Ssd *ssd)
{
    g_free(ssd->placement->plane);
    g_free(ssd->placement->accepting);
    rows_destroy(ssd);
}

/* ---- reclaim groups ------------------------------------------------------ */

static bool is_full(const Ssd *ssd, uint32_t group)
{
    uint32_t first = group * ssd->l.group_planes;

    for (uint32_t i = first; i < first + ssd->l.group_planes; i++) {
        if (!plane_has_share(ssd, i, 0)) {
            return false;
        }
    }
    return true;
}

uint32_t alloc_overflow(const Ssd *ssd, uint32_t stream)
{
    uint32_t own;

    if (ssd->l.n_groups == 1) {
        return NONE;
    }
    own = stream_group(ssd, stream);
    if (!is_full(ssd, own)) {
        return NONE;
    }
    for (uint32_t i = 1; i < ssd->l.n_groups; i++) {
        uint32_t group = (own + i) % ssd->l.n_groups;

        if (!is_full(ssd, group)) {
            return group * ssd->l.n_handles + stream % ssd->l.n_handles;
        }
    }
    return NONE;
}

/* ---- planes that accept pages -------------------------------------------- */

uint32_t alloc_next(const Ssd *ssd, uint32_t from)
{
    uint32_t n = ssd->l.n_planes;
    uint64_t pos = bitmap_next(ssd->placement->accepting, from, n);

    if (pos == n) {
        pos = bitmap_next(ssd->placement->accepting, 0, n);
    }
    return pos == n ? NONE : (uint32_t)pos;
}

uint32_t alloc_insist(Ssd *ssd, uint32_t plane)
{
    uint32_t pos;

    invariant(plane < ssd->l.n_planes);
    ssd->placement->alloc_waits_for = NONE;
    if (plane_accepts(ssd, plane)) {
        return plane;
    }
    if (alloc_will_change(ssd, plane)) {
        ssd->placement->alloc_waits_for = plane;
        return NONE;
    }
    pos = alloc_next(ssd, ssd->media->stripe_pos[plane]);
    return pos == NONE ? NONE : ssd->media->stripe_plane[pos];
}

uint32_t alloc_draw(Ssd *ssd)
{
    uint32_t plane;

    if (ssd->placement->alloc_chosen == NONE) {
        ssd->placement->alloc_chosen =
            (uint32_t)prng_below(&ssd->placement->rng, ssd->l.n_planes);
    }
    plane = alloc_insist(ssd, ssd->placement->alloc_chosen);
    if (plane != NONE) {
        ssd->placement->alloc_chosen = NONE;
    }
    return plane;
}

void alloc_draw_block(Ssd *ssd, uint32_t plane)
{
    if (ssd->placement->policy->draws_block) {
        aside_choose(ssd, plane,
                     (uint32_t)prng_below(&ssd->placement->rng,
                                          aside_choices(ssd, plane)));
    }
}

void alloc_look_again(Ssd *ssd)
{
    invariant(ssd->placement->alloc_waits_for < ssd->l.n_planes);
    if (!alloc_will_change(ssd, ssd->placement->alloc_waits_for)) {
        ssd->placement->alloc_waits_for = NONE;
        ssd_wake(ssd, WORK_BUFFER, 0);
    }
}
