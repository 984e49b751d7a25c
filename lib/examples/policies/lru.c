/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lru.c - buffer.policy=lru as a policy from outside: the unit that was not
 * used for longest leaves.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags libvssd) lru.c -o lru.so
 */
#include <vssd-policy.h>

static void to_head(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, 0);
}

static uint32_t lru_victim(VssdView *v)
{
    return v->list->oldest(v, 0);
}

static const VssdBufferPolicy lru = {
    .size = sizeof(lru),
    .written = to_head,
    .read = to_head,
    .victim = lru_victim,
};

const VssdPolicy vssd_policy = {
    .abi = VSSD_POLICY_ABI,
    .kind = VSSD_POLICY_BUFFER,
    .size = sizeof(vssd_policy),
    .name = "lru",
    .help = "a cache that evicts the least recently used unit",
    .buffer = &lru,
};
