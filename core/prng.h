/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prng.h - seeded random numbers; one generator per purpose.
 *
 * xoshiro256** 1.0 (D. Blackman, S. Vigna, "Scrambled linear pseudorandom
 * number generators", ACM TOMS 47(4), 2021), seeded through splitmix64
 * (G. Steele et al., OOPSLA 2014).  GLib's GRand would do but for its speed:
 * a trace generator draws several numbers per request.
 */
#ifndef VSSD_CORE_PRNG_H
#define VSSD_CORE_PRNG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Prng {
    uint64_t s[4];
} Prng;

/*
 * Seed a generator.  purpose keeps the streams of one seed apart: use a
 * different constant for each purpose and never share a generator.
 */
void prng_seed(Prng *r, uint64_t seed, uint64_t purpose);

static inline uint64_t prng_rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static inline uint64_t prng_u64(Prng *r)
{
    uint64_t *s = r->s;
    uint64_t result = prng_rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = prng_rotl(s[3], 45);
    return result;
}

/*
 * Uniform in 0..n-1, n > 0.  Multiply-shift (D. Lemire, "Fast random integer
 * generation in an interval", ACM TOMACS 29(1), 2019) without the rejection
 * step: the bias is below n / 2^64.
 */
static inline uint64_t prng_below(Prng *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)prng_u64(r) * n) >> 64);
}

static inline double prng_to_double(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1.0p-53;
}

/* Uniform in [0, 1), 53 bits.  Never for modelled time. */
static inline double prng_double(Prng *r)
{
    return prng_to_double(prng_u64(r));
}

/*
 * For a value that belongs to a place, not to an order: 64 bits that are always
 * the same for the same key and number, and look random otherwise (the output
 * function of splitmix64).  The result may be the key of the next.
 */
static inline uint64_t prng_hash(uint64_t key, uint64_t number)
{
    uint64_t z = key + (number + 1) * 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

#endif
