/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thermal.h - temperature, power and power states (docs/thermal.md).
 *
 * Instants are in ps of the drive's clock, rises of the temperature in 10^-9 K
 * above thermal.ambient, powers in mW.  With Thermal.on false there are no
 * steps, no energy is counted, and settings of the host have no effect.
 */
#ifndef VSSD_FTL_THERMAL_H
#define VSSD_FTL_THERMAL_H

#include "layers.h"
#if FTL_LAYER < FTL_THERMAL
#error "ftl/thermal is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"
#include "thermal/thermal-internal.h"

/* ---- thermal-config.c -------------------------------------------------- */

/* Do the options thermal.* and power.* fit together?  false: *error names the
 * option, its value and the range. */
bool thermal_check(const SsdConfig *cfg, GError **error);

/* Parse the text of power.states (NULL: no states) into to[SSD_POWER_STATES],
 * *n of them.  false: *error (may be NULL) names the state. */
bool thermal_states(const char *text, SsdPowerState *to, uint32_t *n,
                    GError **error);

/* ---- thermal.c --------------------------------------------------------- */

/* Of a new drive: at ambient temperature, in power state 0. */
void thermal_init(Ssd *ssd);

/* After a load, whose options may differ from those that were saved: reset each
 * value that does not fit. */
void thermal_loaded(Ssd *ssd);

/* Compute the steps of the model that have ended by now. */
void thermal_steps(Ssd *ssd);

/* To be called before an event, or a call of the host, changes anything. */
static inline void thermal_advance(Ssd *ssd)
{
    if (G_UNLIKELY(ssd->now_ps >= ssd->thermal->heat.next_ps)) {
        thermal_steps(ssd);
    }
}

/* A command arrives.  Returns the instant at which the controller can begin:
 * now, or the end of the exit from a power state.  Only with Thermal.on. */
uint64_t thermal_command(Ssd *ssd);

/* Settings of the host, with the ranges of ssd-power.h; rule is an array of
 * THERMAL_STATES or NULL (power.idle_after), copied. */
void thermal_set_state(Ssd *ssd, uint32_t state);
void thermal_set_rules(Ssd *ssd, const SsdIdleRule *rule);
void thermal_set_limits(Ssd *ssd, const uint32_t kelvin[2]);

/* The last command has ended.  Only with Thermal.on. */
void thermal_quiet(Ssd *ssd);

/* The power goes (on false), or is back: settings of the host end, and the
 * drive is in power state 0. */
void thermal_power(Ssd *ssd, bool on);

/* Operations without modelled time were done (preload, ageing): their energy
 * does not count. */
void thermal_aged(Ssd *ssd);

/* Share of the link's rate for reads and writes, 1..1000000 millionths. */
uint32_t thermal_share(const Ssd *ssd);

/* Statistics were reset: Heat.peak_mw is the largest power from now on. */
void thermal_reset_peak(Ssd *ssd);

/* A copy of the state, with its sums, as of now; the drive does not change. */
Heat thermal_now(const Ssd *ssd);

/* Degrees Celsius at a rise above the ambient temperature. */
double thermal_celsius(const Ssd *ssd, uint64_t rise_nk);

/* All instants become by_ps earlier; steps up to now are computed first. */
void thermal_rebase(Ssd *ssd, uint64_t by_ps);

#endif
