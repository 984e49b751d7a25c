/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmt-slru.c - segmented LRU of map entries.
 *
 * Source: A. Gupta, Y. Kim and B. Urgaonkar, "DFTL: a flash translation layer
 * employing demand-based selective caching of page-level address mappings",
 * ASPLOS 2009, section 3.2: an entry comes to the probationary segment; used
 * again, it goes to the protected one, which holds half of the table at most
 * and gives its least recently used entry back to the probationary segment; the
 * least recently used entry there is the one to go.
 */
#include "map/cmt-order.h"

enum { PROBATION, PROTECTED };

static void slru_used(VssdView *v, uint32_t entry)
{
    uint32_t half = v->shape->map_entries / 2;

    v->list->move(v, entry, PROTECTED);
    if (v->list->count(v, PROTECTED) > (half ? half : 1)) {
        v->list->move(v, v->list->oldest(v, PROTECTED), PROBATION);
    }
}

static uint32_t slru_victim(VssdView *v)
{
    uint32_t entry = v->list->oldest(v, PROBATION);

    return entry != VSSD_NONE ? entry : v->list->oldest(v, PROTECTED);
}

const VssdPolicy cmt_slru = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_MAP,
    .size = sizeof(VssdPolicy),
    .name = "slru",
    .help = "segmented LRU of map entries",
    .map =
        &(const VssdMapPolicy){
            .size = sizeof(VssdMapPolicy),
            .used = slru_used,
            .victim = slru_victim,
        },
};
