/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prng.c - seeding; the generator itself is inline in prng.h. */
#include "prng.h"

static uint64_t splitmix64(uint64_t *x)
{
    uint64_t result = prng_hash(*x, 0);

    *x += 0x9e3779b97f4a7c15ULL;
    return result;
}

void prng_seed(Prng *r, uint64_t seed, uint64_t purpose)
{
    uint64_t x = seed;

    x = splitmix64(&x) ^ purpose;
    for (int i = 0; i < 4; i++) {
        r->s[i] = splitmix64(&x);
    }
}
