/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.h - which addresses are hot: fio's random_distribution.
 *
 * Draws positions 0..n-1.  Hot positions of zipf are scattered; zones are in
 * the order in which they are named.
 */
#ifndef VSSD_SIM_SPREAD_H
#define VSSD_SIM_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "prng.h"

#define SPREAD_MAX_ZONES 16

typedef enum SpreadKind {
    SPREAD_UNIFORM,
    SPREAD_ZIPF,
    SPREAD_ZONED,
} SpreadKind;

typedef struct SpreadZone {
    uint32_t access_ppm; /* sum up to this one */
    uint32_t area_ppm;   /* the same */
} SpreadZone;

typedef struct Spread {
    SpreadKind kind;
    unsigned n_zones;
    SpreadZone zone[SPREAD_MAX_ZONES];
    double theta; /* of zipf */
    /* Of the last n that was drawn from. */
    uint64_t n;
    uint64_t step; /* has no divisor in common with n: scatters ranks */
    double h_first, h_last, shift;
} Spread;

/* "random", "zipf:THETA", "zoned:ACCESS/AREA:ACCESS/AREA..." in percent.
 * NULL: taken; else the allowed values. */
const char *spread_parse(Spread *s, const char *text);

/* 0..n-1, n > 0. */
uint64_t spread_draw(Spread *s, Prng *r, uint64_t n);

#endif
