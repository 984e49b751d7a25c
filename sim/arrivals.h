/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arrivals.h - when the requests of an open loop come.
 *
 * All in integers: an arrival is modelled time, and must not depend on a
 * mathematics library.
 */
#ifndef VSSD_SIM_ARRIVALS_H
#define VSSD_SIM_ARRIVALS_H

#include <stdint.h>

#include "prng.h"

/* X(upper, name, help) */
#define ARRIVALS_KINDS(X)                                                      \
    X(LINEAR, "linear", "at equal intervals")                                  \
    X(POISSON, "poisson", "exponential intervals")                             \
    X(ONOFF, "onoff", "Poisson while on, nothing while off, in turns")         \
    X(PARETO, "pareto", "heavy-tailed intervals, of shape rate_alpha")

typedef enum ArrivalsKind {
#define ARRIVALS_ENUM(upper, name, help) ARRIVALS_##upper,
    ARRIVALS_KINDS(ARRIVALS_ENUM)
#undef ARRIVALS_ENUM
        ARRIVALS_N_KINDS,
} ArrivalsKind;

#define ARRIVALS_OCTAVES 32

typedef struct Arrivals {
    ArrivalsKind kind;
    uint64_t mean_ps; /* of the intervals; ONOFF: while on */
    uint64_t on_ps, off_ps;
    unsigned __int128 next_ps; /* ONOFF: time while on */
    uint64_t least_ps; /* PARETO */
    uint64_t further;  /* PARETO: probability of one more octave, 0.64 fixed */
    Prng draw;
} Arrivals;

/* The name of kind i; NULL past the last. */
const char *arrivals_name(unsigned i);

/*
 * mean_ps > 0 is the mean interval of all; alpha (above 1) matters for PARETO
 * alone, on_ps and off_ps for ONOFF alone.
 */
void arrivals_init(Arrivals *a, ArrivalsKind kind, uint64_t mean_ps,
                   uint64_t on_ps, uint64_t off_ps, double alpha,
                   uint64_t seed, uint64_t purpose);

/* Never less than the one before; the first one is at 0.  At most
 * REQUEST_MOST_NS. */
uint64_t arrivals_next_ns(Arrivals *a);

#endif
