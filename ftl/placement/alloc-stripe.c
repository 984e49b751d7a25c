/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-stripe.c - pages go round the planes in the order of ftl.stripe (by
 * default channel fastest, then chip, die and plane), so that consecutive pages
 * use as many buses and dies as there are.
 *
 * A plane that cannot take a page now is passed over, and the stripe goes on
 * behind the one that took it.  Of several streams each has a stripe of its own
 * (alloc-rows.c).
 */
#include "media/media-internal.h"
#include "placement/alloc-policy.h"
#include "placement/placement.h"
#include "ssd-internal.h"

static uint32_t stripe_pick(Ssd *ssd, uint64_t lpn)
{
    uint32_t pos = alloc_next(ssd, ssd->placement->stripe_cursor);

    (void)lpn;
    if (pos == NONE) {
        return NONE;
    }
    ssd->placement->stripe_cursor = pos + 1 == ssd->l.n_planes ? 0 : pos + 1;
    return ssd->media->stripe_plane[pos];
}

const AllocPolicy alloc_stripe = {
    .name = "stripe",
    .help = "round the planes in the order of ftl.stripe, busy ones left out",
    .depth = 2,
    .rows = ROWS_FREE,
    .pick = stripe_pick,
};
