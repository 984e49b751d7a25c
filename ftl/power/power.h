/* SPDX-License-Identifier: GPL-2.0-or-later */
/* power.h - power cut and return, recovery. */
#ifndef VSSD_FTL_POWER_H
#define VSSD_FTL_POWER_H

#include "ssd-internal.h"

/* ---- power.c ----------------------------------------------------------- */

/* ssd_power_cut() at Ssd.now_ps. */
void power_lost(Ssd *ssd);

/* Erase the block that cleaning opened last; the plane has no free block, no
 * operation in flight, and no victim.  Sets Ssd.read_only if it cannot be. */
void power_take_back(Ssd *ssd, uint32_t plane);

/* A program of a job, an erase has failed. */
void failure_program_done(Ssd *ssd, uint32_t job);
void failure_erase_done(Ssd *ssd, uint32_t block);

/* Something has ended: is there still a way on for what waits?  If not, give
 * up. */
void failure_look_for_way(Ssd *ssd);

/* The power is on and the map is there: the drive goes on. */
void power_ready(Ssd *ssd);

/* ---- recovery.c ------------------------------------------------------------------- */

/* What is in memory only is gone: after all that reads it to see what NAND
 * holds. */
void recovery_power_lost(Ssd *ssd);

/* The power is back: power_ready() runs when the map is, at a later time. */
void recovery_start(Ssd *ssd);
void recovery_read_done(Ssd *ssd, const NandOp *op);
void recovery_event(Ssd *ssd, uint32_t step);

/* Does the command have to wait until the drive is ready? */
bool recovery_waits(Ssd *ssd, uint32_t cmd);

/* No recovery takes longer. */
uint64_t recovery_longest_ps(const Ssd *ssd);

void recovery_json(const Ssd *ssd, JsonWriter *w);

#endif
