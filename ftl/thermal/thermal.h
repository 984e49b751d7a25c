/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal.h - temperature, power and power states. */
#ifndef VSSD_FTL_THERMAL_H
#define VSSD_FTL_THERMAL_H

#include "layers.h"
#if FTL_LAYER < FTL_THERMAL
#error "ftl/thermal is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"
#include "thermal/thermal-internal.h"

/* ---- thermal-config.c -------------------------------------------------- */

/* Do the options thermal.* and power.* fit together? */
bool thermal_check(const SsdConfig *cfg, GError **error);

/* power.states as a table; how many.  false: *error says which state is wrong.
 */
bool thermal_states(const char *text, SsdPowerState *to, uint32_t *n,
                    GError **error);

/* ---- thermal.c --------------------------------------------------------- */

void thermal_init(Ssd *ssd);

/* The state of a drive that was loaded meets options that may be others. known:
 * the stream has it. */
void thermal_loaded(Ssd *ssd, bool known);

/* Let the steps that have ended by now be done. */
void thermal_steps(Ssd *ssd);

/* Before an event, or a call of the host, changes anything. */
static inline void thermal_advance(Ssd *ssd)
{
    if (G_UNLIKELY(ssd->now_ps >= ssd->thermal->heat.next_ps)) {
        thermal_steps(ssd);
    }
}

/* A command comes now.  When the controller begins to work on it. */
uint64_t thermal_command(Ssd *ssd);

/* Settings of the host (ssd-power.h). */
void thermal_set_state(Ssd *ssd, uint32_t state);
void thermal_set_rules(Ssd *ssd, const SsdIdleRule *rule);
void thermal_set_limits(Ssd *ssd, const uint32_t kelvin[2]);

/* The last command has ended. */
void thermal_quiet(Ssd *ssd);

/* The power goes; is back. */
void thermal_power(Ssd *ssd, bool on);

/* Operations without modelled time have no energy either. */
void thermal_aged(Ssd *ssd);

/* The share of its rate, in millionths, at which the host's path may work. */
uint32_t thermal_share(const Ssd *ssd);

/* The largest power counts from now on. */
void thermal_reset_peak(Ssd *ssd);

/* The sums up to now. */
Heat thermal_now(const Ssd *ssd);

double thermal_celsius(const Ssd *ssd, uint64_t rise_nk);

/* All instants become earlier; those of now have been done. */
void thermal_rebase(Ssd *ssd, uint64_t by_ps);

#endif
