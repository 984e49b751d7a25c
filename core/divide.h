/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * divide.h - division by a number that is known long before: a multiplication.
 *
 * n / d is the upper half of (n + 1) * m, with m = floor((2^64 - 1) / d), if
 * (n + 1) * d <= 2^64: with n + 1 = q * d + s, 0 < s <= d, that product is
 * 2^64 * (q + s / d - e) for some 0 < e <= (n + 1) / 2^64 <= 1 / d, so its
 * upper half is q (after D. Lemire, O. Kaser, N. Kurz, Faster remainder by
 * direct computation, Software: Practice and Experience 49, 2019).
 */
#ifndef VSSD_CORE_DIVIDE_H
#define VSSD_CORE_DIVIDE_H

#include <stdint.h>

typedef struct Divider {
    uint64_t m;
    uint32_t d;
} Divider;

/* d > 0. */
static inline Divider divider(uint32_t d)
{
    return (Divider){.m = UINT64_MAX / d, .d = d};
}

/* (n + 1) * d <= 2^64: any n of 32 bits, or of 40 with d <= 2^24. */
static inline uint64_t divide(Divider by, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)by.m * (n + 1)) >> 64);
}

static inline uint64_t divide_rest(Divider by, uint64_t n)
{
    return n - divide(by, n) * by.d;
}

#endif
