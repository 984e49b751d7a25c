/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walltime.h - clocks of the machine, and the memory of the process.  The model
 * and the player read none of them.
 */
#ifndef VSSD_SIM_WALLTIME_H
#define VSSD_SIM_WALLTIME_H

#include <stdint.h>

int64_t wall_us(void); /* since any instant; it never decreases */
uint64_t cpu_ns(void); /* processor time of the process */

/* Of a fork: its processor time goes on from here. */
void cpu_begin(uint64_t ns);

uint64_t peak_rss_bytes(void);

#endif
