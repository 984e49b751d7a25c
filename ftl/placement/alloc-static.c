/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-static.c - the logical address determines the plane: pages of
 * consecutive addresses go round the planes in the order of ftl.stripe, in any
 * order of arrival.
 *
 * Source: Y. Hu et al., "Performance Impact and Interplay of SSD Parallelism
 * through Advanced Commands, Allocation Strategy and Data Granularity", ICS
 * 2011 (static allocation).  Where a page holds several mapping
 * units the first one says where all of them go; with ftl.unit =
 * nand.page_size it is exact.
 */
#include "media/media-internal.h"
#include "placement/alloc-policy.h"
#include "placement/alloc.h"
#include "ssd-internal.h"

static uint32_t static_pick(Ssd *ssd, uint64_t lpn)
{
    uint64_t page = lpn >> ssd->page_units_shift;

    invariant(lpn < ssd->l.user_units);
    return alloc_insist(ssd,
                        ssd->media->stripe_plane[page % ssd->l.n_planes]);
}

const AllocPolicy alloc_static = {
    .name = "static",
    .help = "by logical address, round the planes in the order of ftl.stripe",
    .depth = ALLOC_DEEP,
    .by_lpn = true,
    .pick = static_pick,
};
