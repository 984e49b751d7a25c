/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thermal-internal.h - temperature, power and power states.
 *
 * Knows the energy that the array and the controller take; does not know
 * their work.
 */
#ifndef VSSD_FTL_THERMAL_INTERNAL_H
#define VSSD_FTL_THERMAL_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_THERMAL
#error "ftl/thermal is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

#define THERMAL_STATES SSD_POWER_STATES
#define THERMAL_LEVELS 2                 /* of throttling */
#define HEAT_MOST_NK   60000000000000ULL /* of a rise: 60000 K */

/* The drive goes from a power state to another after so long without a
 * command; 0: it stays. */
typedef struct IdleRule {
    uint64_t after_ps;
    uint32_t state;
    uint32_t unused;
} IdleRule;

/*
 * All that changes, as plain data: readers take a copy and let it run up to
 * now, so that looking at a drive changes nothing.  Times and energies are sums
 * of the drive's life.
 */
struct Heat {
    uint64_t next_ps; /* end of the present step; SIM_NEVER: there are none */
    uint64_t charged_ps;    /* the controller's energy is counted up to here */
    uint64_t step_fj;       /* of it, in the present step */
    uint64_t controller_fj; /* of sums.controller_nj, below 10^6 */
    uint64_t nand_nj;       /* of the array, counted in steps so far */
    uint64_t rise_nk;       /* above the ambient temperature, in 10^-9 K */
    uint64_t most_rise_nk;
    uint64_t peak_mw; /* of a step, since the last reset of statistics */
    HeatSums sums;    /* by level: of throttling, 1 and 2 */
    TimeSum managed_ps[THERMAL_LEVELS]; /* these two: by limits of the host */
    uint64_t n_managed[THERMAL_LEVELS];
    uint32_t limit_k[THERMAL_LEVELS]; /* of the host; both 0: the drive's own */
    uint32_t level;

    uint32_t state;          /* power state */
    uint32_t from;           /* the one before; its power counts until: */
    uint32_t operational;    /* where a command wakes the drive to */
    uint64_t state_since_ps; /* when the change of the state has ended */
    uint64_t idle_since_ps;  /* no command since; SIM_NEVER: one is running */
    uint32_t wanted;  /* state to enter when the last command ends, or NONE */
    uint32_t off;     /* the power is */
    uint32_t by_host; /* idle rules are the host's */
    uint32_t unused;
    IdleRule rule[THERMAL_STATES];
};

typedef struct Thermal {
    bool on;           /* energy is counted; else nothing here is used */
    bool heats;        /* there is a temperature */
    uint32_t n_states; /* 0: the host sees one, and nothing depends on it */
    SsdPowerState table[THERMAL_STATES];
    uint64_t step_ps;
    uint64_t decay;    /* of the rise in a step, in 2^-60 */
    uint64_t mk_per_w; /* thermal.resistance */
    Heat heat;
} Thermal;

#endif
