/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inspect.h - statistics and accounts. */
#ifndef VSSD_FTL_INSPECT_H
#define VSSD_FTL_INSPECT_H

#include "inspect/explain.h"
#include "media/slc-cache.h"
#include "ssd-internal.h"
#include "ssd-report.h"

/* ---- accounts.c -------------------------------------------------------- */

/* Time since the last reset. */
static inline TimeSum stats_elapsed_ps(const Ssd *ssd)
{
    return (TimeSum)ssd->now_ps - ssd->inspect.stats_since_ps;
}

typedef struct Energy {
    double read, program, erase, bus; /* nJ */
} Energy;

/* Count from now on. */
void accounts_reset(Ssd *ssd);

/* Busy since the last reset; free it with g_free(b->channel). */
void accounts_busy(const Ssd *ssd, NandBusy *b);

/* Use of the shared parts of the controller since the last reset.  A value is 0
 * where less is served now than was at the reset: a part may be booked for a
 * time in the future (controller_use()). */
HostUse accounts_use(const Ssd *ssd);

/* Of the operations of a cause that have ended since the last reset. */
Energy accounts_energy(const Ssd *ssd, NandCause cause);
double accounts_total(const Energy *e);

/* ---- numbers.c --------------------------------------------------------- */

/* Restart the series. */
void numbers_reset(Ssd *ssd);

/* The number of free blocks has changed, and Series.next_ps has come. */
void numbers_sample(Ssd *ssd);

/* The buffer has changed, or is about to, and Series.next_ps has come. */
void numbers_sample_buffer(Ssd *ssd);

static inline void note_buffer(Ssd *ssd)
{
    if (ssd->now_ps >= ssd->inspect.buffer_series.next_ps) {
        numbers_sample_buffer(ssd);
    }
}

/* A block becomes a victim. */
void numbers_victim(Ssd *ssd, uint32_t block);

uint32_t numbers_free_blocks(const Ssd *ssd);

/* Mean share of valid units in victims; 0 without one. */
double numbers_victim_mean(const Ssd *ssd);

/* Blocks that hold something, by tenths of their units that are valid: up to a
 * tenth, ..., all. */
#define NUMBERS_TENTHS 11
void numbers_by_valid(const Ssd *ssd, uint64_t n[NUMBERS_TENTHS]);

/* Erase counts of the blocks that are not bad, in order; how many.  wear has
 * room for all blocks. */
uint32_t numbers_wear(const Ssd *ssd, uint32_t *wear);

/* The standard deviation of n numbers in order; 0 of none. */
double numbers_deviation(const uint32_t *wear, uint32_t n);

/* ---- ssd-stats.c ------------------------------------------------------- */

/* Source of the values of SSD_STATS. */
typedef struct DriveStats {
    const Ssd *ssd;
    SsdCounters c;
    uint64_t elapsed_ns; /* since the last reset, as all of these */
    NandBusy busy;
    double bus, die; /* utilization */
    HostUse use;
    Energy energy[NAND_N_CAUSES];
    Energy energy_sum;
    Explain explain;
    Heat *heat; /* now; its sums: since the reset */
    double nand_nj, controller_nj;
    SlcSize slc;
    uint32_t *wear; /* sorted */
    uint32_t n_wear;
    uint64_t full_by_valid[NUMBERS_TENTHS];
} DriveStats;

/* Count from now on. */
void inspect_reset(Ssd *ssd);

/* drive_stats_clear() it. */
void drive_stats_init(DriveStats *v, const Ssd *ssd);
/* The same without what takes a look at each block: erase counts in c, wear,
 * full_by_valid; O(planes). */
void drive_stats_init_brief(DriveStats *v, const Ssd *ssd);
void drive_stats_clear(DriveStats *v);

/* ---- stream-stats.c ---------------------------------------------------- */

/* Since the last reset; stream may be l.n_streams, that of merged blocks. */
SsdStreamCounters stream_since(const Ssd *ssd, uint32_t stream);
double stream_waf_of(const Ssd *ssd, uint32_t stream);
double stream_invalid_share(const Ssd *ssd, uint32_t stream); /* NaN of none */

#endif
