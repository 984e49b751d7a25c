/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * divide.h - division by a number that is known long before: a multiplication.
 *
 * n / d is the upper half of (n + 1) * m, with m = floor((2^64 - 1) / d): for
 * all n and d of 32 bits, d > 0, the error is below 2^-32, and the exact value
 * is at least 1 / d above the quotient (after D. Lemire, O. Kaser, N. Kurz,
 * Faster remainder by direct computation, Software: Practice and Experience 49,
 * 2019).
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

static inline uint32_t divide(Divider by, uint32_t n)
{
    return (uint32_t)(((unsigned __int128)by.m * ((uint64_t)n + 1)) >> 64);
}

static inline uint32_t divide_rest(Divider by, uint32_t n)
{
    return n - divide(by, n) * by.d;
}

#endif
