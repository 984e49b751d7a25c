/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power-internal.h - power cut and return, recovery.
 *
 * Knows the data that survives a power cut, and its recovery.
 */
#ifndef VSSD_FTL_POWER_INTERNAL_H
#define VSSD_FTL_POWER_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_POWER
#error "ftl/power is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

/* Where recovery has got to in a plane. */
typedef struct RecoveryPlane {
    uint32_t block; /* in the plane */
    uint32_t page;  /* in the block; of the candidates, in the plane */
    uint32_t low, high; /* so many pages of the block, at least and at most, are
                           not blank; high 0: nothing is known */
} RecoveryPlane;

#define RECOVERY_STEPS 8

typedef struct RecoveryTimes {
    uint64_t ready_ps; /* from the return of power on */
    uint64_t step_ps[RECOVERY_STEPS];
    uint64_t step_reads[RECOVERY_STEPS];
} RecoveryTimes;

typedef struct Recovery {
    bool on; /* the power is, the drive is not ready yet */
    uint8_t pad[3];
    uint32_t step;
    uint32_t n_reads; /* in flight */
    uint32_t n;       /* that ended */
    uint64_t start_ps, step_start_ps;
    uint64_t most_ready_ps;
    uint64_t low; /* as Saved.low, of the anchor that was found; 0: none was */
    uint32_t n_candidates;
    RecoveryTimes times; /* of the last one, or the present one so far */
    CmdFifo waiting; /* commands */
    uint64_t
        cpu_free_ps; /* when the controller has looked at all that was read */
    uint64_t cpu_ps; /* its time in the last recovery, or the present one */
} Recovery;

typedef struct Power {
    /* Both tables are NULL with ftl.recovery=capacitors. */
    OF_POWER uint64_t *candidate; /* recovery: lpns of which two copies must be
                        compared, by the place of the older one */
    Recovery recovery;
    OF_POWER RecoveryPlane *recovery_plane;
} Power;

#endif
