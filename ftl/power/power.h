/* SPDX-License-Identifier: GPL-2.0-or-later */
/* power.h - power cut and return, recovery. */
#ifndef VSSD_FTL_POWER_H
#define VSSD_FTL_POWER_H

#include "layers.h"
#if FTL_LAYER < FTL_POWER
#error "ftl/power is above this component: docs/architecture.md"
#endif

#include "host/host.h"
#include "power/power-internal.h"
#include "ssd-internal.h"

/* ---- power.c ----------------------------------------------------------- */

/* ssd_power_cut() and ssd_power_on(), at the drive's now. */
void power_cut(Ssd *ssd, uint64_t now_ns);
void power_return(Ssd *ssd, uint64_t now_ns);

/* The power is gone, now: by ssd_power_cut(), or by a rule of the fault script. */
void power_lost(Ssd *ssd);

/* Given to host/ when the drive is made. */
extern const HostGate power_gate;

/* ---- ready.c ----------------------------------------------------------- */

/* The power is on and the map is there: the drive goes on. */
void power_ready(Ssd *ssd);

/* ---- failures.c -------------------------------------------------------- */

/* A program of a job, an erase has failed. */
void failure_program_done(Ssd *ssd, uint32_t job);
void failure_erase_done(Ssd *ssd, uint32_t block);

/* Something has ended.  true: something waits, and nothing is under way that would
 * help it; every plane is woken, to find a way on. */
bool failure_looks_for_way(Ssd *ssd);
/* They have been: fail if it still is so. */
void failure_give_up(Ssd *ssd);

/* ---- recovery.c ---------------------------------------------------------- */

void recovery_init(Ssd *ssd);
void recovery_destroy(Ssd *ssd);

/* The power has gone, perhaps in the middle of it. */
void recovery_power_lost(Ssd *ssd);

/* The power is back: power_ready() runs when the map is, at a later time. */
void recovery_start(Ssd *ssd);
void recovery_read_done(Ssd *ssd, const NandOp *op);
void recovery_event(Ssd *ssd, uint32_t step);

/* Does the command have to wait until the drive is ready?  Then it is kept. */
bool recovery_waits(Ssd *ssd, uint32_t cmd);

/* No recovery takes longer. */
uint64_t recovery_longest_ps(const Ssd *ssd);

/* Its steps, in order; i is below their number. */
uint32_t recovery_n_steps(const Ssd *ssd);
const char *recovery_step_name(const Ssd *ssd, uint32_t i);

#endif
