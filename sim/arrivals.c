/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arrivals.c - draw intervals. */
#include "arrivals.h"

#include <math.h>
#include <glib.h>

#include "request.h"
#include "simtime.h"

const char *arrivals_name(unsigned i)
{
    static const char *const names[] = {
#define ARRIVALS_NAME(upper, name, help) name,
        ARRIVALS_KINDS(ARRIVALS_NAME)
#undef ARRIVALS_NAME
    };

    return i < ARRIVALS_N_KINDS ? names[i] : NULL;
}

static uint64_t times(uint64_t v, uint64_t fraction)
{
    return (uint64_t)(((unsigned __int128)v * fraction) >> 64);
}

/*
 * PARETO: octave J of a geometric distribution, and uniform within the octave:
 * P(interval > 2^j least) = 2^(-alpha j), as of a Pareto distribution, whose
 * density is flattened to steps between the octaves.  Its mean is
 * 1.5 least (1 - q) / (1 - 2 q), q = 2^-alpha, without the limit of octaves.
 */
static void init_pareto(Arrivals *a, double alpha)
{
    double q = exp2(-alpha);
    double sum = 0;

    for (int j = 0; j < ARRIVALS_OCTAVES; j++) {
        bool last = j == ARRIVALS_OCTAVES - 1;

        sum += pow(2 * q, j) * (last ? 1 : 1 - q) * 1.5;
    }
    a->further = (uint64_t)(q * 0x1p64);
    a->least_ps = (uint64_t)((double)a->mean_ps / sum);
}

void arrivals_init(Arrivals *a, ArrivalsKind kind, uint64_t mean_ps,
                   uint64_t on_ps, uint64_t off_ps, double alpha,
                   uint64_t seed, uint64_t purpose)
{
    *a = (Arrivals){
        .kind = kind,
        .mean_ps = mean_ps,
        .on_ps = on_ps,
        .off_ps = off_ps,
    };
    prng_seed(&a->draw, seed, purpose);
    if (kind == ARRIVALS_PARETO) {
        init_pareto(a, alpha);
    } else if (kind == ARRIVALS_ONOFF) {
        a->mean_ps = (uint64_t)((unsigned __int128)mean_ps * on_ps /
                                (on_ps + off_ps));
    }
}

/*
 * Exponential, by comparisons alone (J. von Neumann, "Various techniques used
 * in connection with random digits", 1951): the whole part counts the runs
 * of falling numbers of even length before one of odd length, whose first
 * number is the fraction.
 */
static uint64_t exponential(Arrivals *a)
{
    for (uint64_t whole = 0;; whole++) {
        uint64_t first = prng_u64(&a->draw);
        uint64_t last = first;
        unsigned length = 1;

        for (;;) {
            uint64_t v = prng_u64(&a->draw);

            if (v >= last) {
                break;
            }
            last = v;
            length++;
        }
        if (length % 2) {
            return whole * a->mean_ps + times(a->mean_ps, first);
        }
    }
}

static uint64_t pareto(Arrivals *a)
{
    uint64_t octave_ps = a->least_ps;

    for (int j = 1; j < ARRIVALS_OCTAVES && prng_u64(&a->draw) < a->further;
         j++) {
        octave_ps *= 2;
    }
    return octave_ps + times(octave_ps, prng_u64(&a->draw));
}

static uint64_t interval(Arrivals *a)
{
    switch (a->kind) {
    case ARRIVALS_LINEAR:
        return a->mean_ps;
    case ARRIVALS_PARETO:
        return pareto(a);
    default:
        return exponential(a);
    }
}

uint64_t arrivals_next_ns(Arrivals *a)
{
    unsigned __int128 at_ps = a->next_ps;

    a->next_ps += interval(a);
    if (a->kind == ARRIVALS_ONOFF) {
        at_ps += at_ps / a->on_ps * a->off_ps;
    }
    return (uint64_t)MIN(at_ps / PS_PER_NS, REQUEST_MOST_NS);
}
