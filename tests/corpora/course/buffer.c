/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer.c - a solution of exercise 3: a clean unit leaves first, the one that
 * was not used for longest; if there is none, a dirty one.
 *
 * Source: S.-Y. Park et al., "CFLRU: a replacement algorithm for flash memory",
 * CASES 2006, section 3, with the whole buffer as its clean-first region.
 */
#include <vssd-policy.h>

enum {
    CLEAN,
    DIRTY,
};

static void used(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, v->list->clean(v, slot) ? CLEAN : DIRTY);
}

static uint32_t victim(VssdView *v)
{
    uint32_t slot = v->list->oldest(v, CLEAN);

    return slot != VSSD_NONE ? slot : v->list->oldest(v, DIRTY);
}

static const VssdBufferPolicy buffer = {
    .size = sizeof(buffer),
    .insert = used,
    .written = used,
    .read = used,
    .cleaned = used,
    .victim = victim,
};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_BUFFER,
    .size = sizeof(vssd_policy),
    .name = "clean-first",
    .help = "clean units leave before dirty ones",
    .buffer = &buffer,
};
