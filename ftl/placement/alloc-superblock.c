/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-superblock.c - strictly one page after the other in the order of
 * ftl.stripe: the blocks that are open on all planes fill in step, like one
 * block as wide as the drive.  Of several streams each has such a block
 * (alloc-rows.c).
 *
 * A page waits for its plane rather than go elsewhere, unless the plane has no
 * room at all.  The unit of GC is ftl.gc_unit, as with every other policy.
 */
#include "media/media-internal.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "ssd-internal.h"

static uint32_t superblock_pick(Ssd *ssd, uint64_t lpn)
{
    uint32_t plane = alloc_insist(
        ssd, ssd->media->stripe_plane[ssd->placement->stripe_cursor]);

    (void)lpn;
    if (plane != NONE) {
        ssd->placement->stripe_cursor =
            ssd->media->stripe_pos[plane] + 1 == ssd->l.n_planes
                ? 0
                : ssd->media->stripe_pos[plane] + 1;
    }
    return plane;
}

const AllocPolicy alloc_superblock = {
    .name = "superblock",
    .help = "strictly round the planes in the order of ftl.stripe",
    .depth = 2,
    .rows = ROWS_IN_ORDER,
    .pick = superblock_pick,
};
