/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-stripe.c - pages go round the planes: channel fastest, then chip, die
 * and plane, so that consecutive pages use as many buses and dies as there are.
 *
 * A plane that cannot take a page now is passed over, and the stripe goes on
 * behind the one that took it.
 */
#include "ftl.h"

/* First accepting position in from..n-1, or n. */
static uint32_t find_accepting(const Ssd *ssd, uint32_t from, uint32_t n)
{
    uint32_t word = from / 64;
    uint64_t bits;

    if (from >= n) {
        return n;
    }
    bits = ssd->accepting[word] >> (from % 64) << (from % 64);
    while (bits == 0) {
        if (++word * 64 >= n) {
            return n;
        }
        bits = ssd->accepting[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

static uint32_t stripe_pick(Ssd *ssd)
{
    uint32_t n = ssd->l.n_planes;
    uint32_t pos = find_accepting(ssd, ssd->stripe_cursor, n);

    if (pos == n) {
        pos = find_accepting(ssd, 0, n);
    }
    if (pos == n) {
        return NONE;
    }
    ssd->stripe_cursor = pos + 1 == n ? 0 : pos + 1;
    return ssd->stripe_plane[pos];
}

const AllocPolicy alloc_stripe = {
    .name = "stripe",
    .help = "round the planes: channel, chip, die, plane",
    .pick = stripe_pick,
};
