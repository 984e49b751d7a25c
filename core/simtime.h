/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simtime.h - modelled time.
 *
 * Inside the model an instant or a duration is a count of picoseconds in an
 * unsigned 64-bit integer (*_ps): 213 days fit.  Interfaces and options use
 * nanoseconds (*_ns); sim_ceil_ns() is the one place where ps become ns, and
 * it rounds upward, so nothing is ever reported before it happened.
 *
 * A sum of durations may be longer: a run may take 10 years, and many dies work
 * or many commands wait at a time.  Each such sum is a TimeSum.
 */
#ifndef VSSD_CORE_SIMTIME_H
#define VSSD_CORE_SIMTIME_H

#include <stdint.h>

#define PS_PER_NS 1000ULL
#define NS_PER_US 1000ULL
#define NS_PER_MS 1000000ULL
#define NS_PER_S 1000000000ULL

#define SIM_NEVER UINT64_MAX

/* The last instant, in ns, that a 64-bit count of picoseconds can hold. */
#define SIM_MAX_NS (UINT64_MAX / PS_PER_NS - 1)

/* A clock that follows another one stops here: an operation that starts then
 * can still end. */
#define SIM_LAST_NS (SIM_MAX_NS - 86400 * NS_PER_S)

/* A sum of durations, in ps or ns as its name says.  Aligned as the numbers of
 * 64 bits beside it, so that structs have no holes. */
typedef unsigned __int128 TimeSum __attribute__((aligned(8)));

static inline uint64_t sim_ceil_ns(uint64_t ps)
{
    return ps ? (ps - 1) / PS_PER_NS + 1 : 0;
}

#endif
