/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slru-map.c - the order of ftl.map=dftl's cache as a policy from outside:
 * segmented LRU.
 *
 * Source: A. Gupta, Y. Kim, B. Urgaonkar, "DFTL: a flash translation layer
 * employing demand-based selective caching of page-level address mappings",
 * ASPLOS 2009, section 3.2.  The protected segment holds half of the cache at
 * most.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags libvssd) slru-map.c -o
 * slru-map.so
 */
#include <vssd-policy.h>

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

static const VssdMapPolicy slru = {
    .size = sizeof(slru),
    .used = slru_used,
    .victim = slru_victim,
};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_MAP,
    .size = sizeof(vssd_policy),
    .name = "slru-map",
    .help = "segmented LRU of map entries",
    .map = &slru,
};
