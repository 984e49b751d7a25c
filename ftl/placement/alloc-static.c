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
#include "placement/alloc-policy.h"

static uint32_t static_pick(VssdView *v, uint64_t unit)
{
    return v->alloc->insist(v, v->alloc->first_plane(v, unit));
}

ALLOC_POLICY(static, "static",
             "by logical address, round the planes in the order of ftl.stripe",
             ALLOC_PART(.depth = ALLOC_DEEP, .by_unit = true,
                        .pick = static_pick));
