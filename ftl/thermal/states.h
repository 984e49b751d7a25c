/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states.h - power states and the controller's energy, for thermal.c.
 *
 * h is the drive's Heat or a copy of it; "now" is h->charged_ps, the instant up
 * to which energy is counted.
 */
#ifndef VSSD_FTL_STATES_H
#define VSSD_FTL_STATES_H

#include "layers.h"
#if FTL_LAYER != FTL_THERMAL && FTL_LAYER != FTL_ALL
#error "private to ftl/thermal: docs/architecture.md"
#endif

#include "thermal/thermal.h"

/* Power of the controller now, in mW. */
uint64_t states_mw(const Ssd *ssd, const Heat *h);

/* The next instant at which that changes without a command or a setting, in ps;
 * SIM_NEVER: none. */
uint64_t states_next_ps(const Ssd *ssd, const Heat *h);

/* Count the controller's energy, and change states, up to an instant, which is
 * not before now. */
void states_charge(const Ssd *ssd, Heat *h, uint64_t until_ps);

/* Now: a command arrives (returns when the drive takes it, in ps); the last one
 * has ended; the drive goes to another state, below the number of states. */
uint64_t states_wake(const Ssd *ssd, Heat *h);
void states_quiet(const Ssd *ssd, Heat *h);
void states_set(const Ssd *ssd, Heat *h, uint32_t state);

#endif
