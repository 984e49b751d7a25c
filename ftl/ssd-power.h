/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssd-power.h - temperature and power states of a drive (docs/thermal.md). */
#ifndef VSSD_SSD_POWER_H
#define VSSD_SSD_POWER_H

#include "ssd.h"

#define SSD_POWER_STATES 32

/* A row of power.states. */
typedef struct SsdPowerState {
    uint32_t mw;       /* at most */
    uint32_t entry_us; /* the way into the state, and out of it */
    uint32_t exit_us;
    bool idle; /* takes no commands: the next one ends the state */
} SsdPowerState;

/* The table; n is 0 if the drive has no power states. */
const SsdPowerState *ssd_power_states(const Ssd *ssd, uint32_t *n);

/* The present state: 0 if there are none. */
uint32_t ssd_power_state(const Ssd *ssd);

/*
 * Go to a state, below the number of states; an idle one, once no command runs.
 * The next command waits until the way there is over, and leaves an idle state
 * for the last one that takes commands.  Nothing happens without power.
 */
void ssd_set_power_state(Ssd *ssd, uint64_t now_ns, uint32_t state);

/* From a state to an idle one further down, after so long without a command. */
typedef struct SsdIdleRule {
    uint64_t after_ns; /* 0: the drive stays */
    uint32_t state;
} SsdIdleRule;

/* A rule for each state; NULL: the drive's own, by power.idle_after. */
void ssd_set_idle_rules(Ssd *ssd, uint64_t now_ns, const SsdIdleRule *rule);

/*
 * Throttling begins at these temperatures, in kelvins, rather than at
 * thermal.throttle_1 and _2; 0: that step does not occur; both 0: the options
 * hold again.
 */
void ssd_set_heat_limits(Ssd *ssd, uint64_t now_ns, const uint32_t kelvin[2]);

/* Of the SMART log, over the drive's life. */
typedef struct SsdHeat {
    uint32_t kelvin; /* composite temperature */
    uint32_t warning_k, critical_k;
    uint64_t warning_ns, critical_ns; /* at these or above */
    uint64_t n_managed[2];  /* how often limits of the host began to throttle */
    uint64_t managed_ns[2]; /* for how long */
} SsdHeat;

/* false: the drive has no temperature (thermal.resistance=0). */
bool ssd_heat(const Ssd *ssd, SsdHeat *heat);

/* SsdHeat.kelvin alone, at little cost; 0: there is none. */
uint32_t ssd_kelvin(const Ssd *ssd);

#endif
