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
    uint64_t n;                    /* 1..2^62 */
    uint64_t mask[PERMUTE_ROUNDS]; /* random; which order */
    unsigned low;                  /* bits of the lower part of a number */
    uint64_t low_mask, high_mask;
} Permutation;

static inline Permutation permutation(uint64_t n, uint64_t key)
{
    unsigned bits = n > 1 ? 64U - (unsigned)__builtin_clzll(n - 1) : 0;
    Permutation p = {.n = n, .low = bits / 2};

    for (unsigned i = 0; i < PERMUTE_ROUNDS; i++) {
        p.mask[i] = prng_hash(key, i);
    }
    p.low_mask = (1ULL << p.low) - 1;
    p.high_mask = (1ULL << (bits - p.low)) - 1;
    return p;
}

/* The middle of a product, for a part of at most 32 bits; the factor is 2^64
 * over the golden ratio. */
static inline uint64_t permute_round(const Permutation *p, unsigned round,
                                     uint64_t part)
{
    return ((part ^ p->mask[round]) * 0x9e3779b97f4a7c15ULL) >> 32;
}

/* The i-th number, i below n: each number comes once. */
static inline uint64_t permute(const Permutation *p, uint64_t i)
{
    do {
        uint64_t low = i & p->low_mask;
        uint64_t high = i >> p->low;

        for (unsigned round = 0; round < PERMUTE_ROUNDS; round += 2) {
            low ^= permute_round(p, round, high) & p->low_mask;
            high ^= permute_round(p, round + 1, low) & p->high_mask;
        }
        i = high << p->low | low;
    } while (i >= p->n);
    return i;
}

#endif
