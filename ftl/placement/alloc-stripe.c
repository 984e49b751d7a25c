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
#include "placement/alloc-policy.h"

static uint32_t stripe_pick(VssdView *v, uint64_t unit)
{
    uint32_t *cursor = v->state;
    uint32_t pos = v->alloc->next_accepting(v, *cursor);

    (void)unit;
    if (pos == VSSD_NONE) {
        return VSSD_NONE;
    }
    *cursor = pos + 1 == v->shape->planes ? 0 : pos + 1;
    return v->alloc->stripe_plane(v, pos);
}

ALLOC_POLICY(stripe, "stripe",
             "round the planes in the order of ftl.stripe, busy ones left out",
             .state_bytes = alloc_cursor_bytes, .check = alloc_cursor_ok,
             ALLOC_PART(.depth = 2, .rows = VSSD_ROWS_FREE,
                        .pick = stripe_pick));
