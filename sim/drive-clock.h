/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive-clock.h - when each drive of an array has something to do next.
 *
 * Only a submission or an advance changes that of a drive, and only the array
 * does either, so asking each drive at each event is not needed: a drive whose
 * instant has not come stays behind.  The instants are next to each other in
 * memory, so the earliest of 64 costs less than one event.
 */
#ifndef VSSD_SIM_DRIVE_CLOCK_H
#define VSSD_SIM_DRIVE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "raid-layout.h"
#include "ssd.h"

/* Of each drive that has joined. */
typedef struct DriveClock {
    uint64_t next_ns[RAID_MAX_DRIVES]; /* SSD_TIME_NEVER: nothing */
} DriveClock;

/* Drive i joins the array, something was submitted to it, or it was run. */
static inline void drive_clock_note(DriveClock *c, unsigned i, const Ssd *ssd)
{
    c->next_ns[i] = ssd_next_event_ns(ssd);
}

/* Nobody waits for drive i any more. */
static inline void drive_clock_stop(DriveClock *c, unsigned i)
{
    c->next_ns[i] = SSD_TIME_NEVER;
}

static inline bool drive_clock_is_due(const DriveClock *c, unsigned i,
                                      uint64_t now_ns)
{
    return c->next_ns[i] <= now_ns;
}

/* The earliest instant of n drives, or SSD_TIME_NEVER. */
static inline uint64_t drive_clock_first_ns(const DriveClock *c, unsigned n)
{
    uint64_t first_ns = SSD_TIME_NEVER;

    for (unsigned i = 0; i < n; i++) {
        first_ns = MIN(first_ns, c->next_ns[i]);
    }
    return first_ns;
}

/* The clock of n drives is set back. */
static inline void drive_clock_rebase(DriveClock *c, unsigned n, uint64_t by_ns)
{
    for (unsigned i = 0; i < n; i++) {
        c->next_ns[i] -= c->next_ns[i] == SSD_TIME_NEVER ? 0 : by_ns;
    }
}

#endif
