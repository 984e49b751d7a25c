/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * permute.h - a pseudo-random order of 0..n-1 in constant memory.
 *
 * A Feistel network over the least power of two that is not below n; a result
 * of n or more is put in again until it is below (J. Black, P. Rogaway,
 * "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, cycle walking).
 */
#ifndef VSSD_CORE_PERMUTE_H
#define VSSD_CORE_PERMUTE_H

#include "prng.h"

#define PERMUTE_ROUNDS 4

typedef struct Permutation {
    uint64_t n;   /* 1..2^62 */
    uint64_t key; /* which order */
    unsigned low; /* bits of the lower part of a number */
    uint64_t low_mask, high_mask;
} Permutation;

static inline Permutation permutation(uint64_t n, uint64_t key)
{
    unsigned bits = n > 1 ? 64U - (unsigned)__builtin_clzll(n - 1) : 0;
    Permutation p = {.n = n, .key = key, .low = bits / 2};

    p.low_mask = (1ULL << p.low) - 1;
    p.high_mask = (1ULL << (bits - p.low)) - 1;
    return p;
}

/* The i-th number, i below n: each number comes once. */
static inline uint64_t permute(const Permutation *p, uint64_t i)
{
    do {
        uint64_t low = i & p->low_mask;
        uint64_t high = i >> p->low;

        for (unsigned round = 0; round < PERMUTE_ROUNDS; round += 2) {
            low ^= prng_hash(p->key + round, high) & p->low_mask;
            high ^= prng_hash(p->key + round + 1, low) & p->high_mask;
        }
        i = high << p->low | low;
    } while (i >= p->n);
    return i;
}

#endif
