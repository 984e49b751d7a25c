/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-in-order.c - strictly one page after the other in the order of
 * ftl.stripe: the blocks that are open on all planes fill in step, like one
 * block as wide as the drive.  Of several streams each has such a block
 * (alloc-rows.c).
 *
 * A page waits for its plane rather than go elsewhere, unless the plane has no
 * room at all.  The unit of GC is superblock.width, as with every other policy.
 */
#include "placement/alloc-policy.h"

static uint32_t in_order_pick(VssdView *v, uint64_t unit)
{
    uint32_t *cursor = v->state;
    uint32_t plane = v->alloc->insist(v, v->alloc->stripe_plane(v, *cursor));

    (void)unit;
    if (plane != VSSD_NONE) {
        uint32_t pos = v->alloc->stripe_position(v, plane);

        *cursor = pos + 1 == v->shape->planes ? 0 : pos + 1;
    }
    return plane;
}

ALLOC_POLICY(in_order, "in-order",
             "strictly round the planes in the order of ftl.stripe",
             .state_bytes = alloc_cursor_bytes, .check = alloc_cursor_ok,
             ALLOC_PART(.depth = 2, .rows = VSSD_ROWS_IN_ORDER,
                        .pick = in_order_pick));
