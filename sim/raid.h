/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid.h - an array with redundancy: failures of drives, degraded operation,
 * rebuild.
 *
 * Calls and contracts are those of ssd.h, as in array.h.  A command is split
 * into stripes.  A write that changes parity first reads what it needs
 * (raid-plan.h), with the stripe locked, and completes when data and parity are
 * written.  Computing parity takes no time.
 *
 * A drive fails at a scheduled instant, or when it refuses a write (it is worn
 * out).  From then on it takes no command; what was under way there is done
 * again without it.  A chunk that a drive cannot read is computed and written
 * again.  After a failure the rebuild computes the lost chunks, row by row, and
 * writes them to spare chunks.
 */
#ifndef VSSD_SIM_RAID_H
#define VSSD_SIM_RAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raid-layout.h"
#include "raid-plan.h"
#include "ssd.h"

#define RAID_MAX_REBUILD_DEPTH 64

typedef struct Raid Raid;

typedef struct RaidFault {
    uint32_t drive;
    uint64_t at_ns; /* since raid_begin() */
} RaidFault;

typedef struct RaidConfig {
    uint32_t rebuild_depth;   /* rows at a time, 1..RAID_MAX_REBUILD_DEPTH */
    uint64_t rebuild_bytes_s; /* most, of rebuilt chunks; 0: no limit */
    const RaidFault *fault;   /* copied; drives that fail, in any order */
    unsigned n_faults;
} RaidConfig;

/* Counters since raid_begin(). */
typedef struct RaidStats {
    uint64_t updates[RAID_N_UPDATES];   /* writes of stripes, by RaidUpdate */
    uint64_t parts_read, parts_written; /* commands to drives, of the host */
    uint64_t rebuilt_reads; /* reads of stripes that computed lost data */
    uint64_t repaired;      /* chunks that a drive could not read, rewritten */
    uint64_t lock_waits;    /* stripes that waited for another operation */
    uint64_t ignored_trim_bytes; /* of TRIMs that cover a stripe in part */
    uint64_t lost;            /* stripes of commands with too few chunks left */
    uint64_t n_failed;        /* drives */
    uint64_t rebuilt_bytes;   /* written to spare chunks */
    uint64_t lost_chunks;     /* that no rebuild could compute */
    uint64_t unspared_chunks; /* for which there was no spare chunk */
    uint64_t rebuild_ns;      /* time with a rebuild under way */
    bool rebuilding;
} RaidStats;

/* The drives outlive the array; it owns the layout. */
Raid *raid_new(Ssd *const *drive, RaidLayout *layout, const RaidConfig *cfg);
void raid_free(Raid *r);

const RaidLayout *raid_layout(const Raid *r);

/* The run that is measured begins: faults count from here, counters are 0. */
void raid_begin(Raid *r, uint64_t now_ns);
RaidStats raid_stats(const Raid *r);

/* A rebuild is under way: events without commands. */
bool raid_rebuilding(const Raid *r);
bool raid_failed(const Raid *r, uint32_t drive);

/* cmd->tag is below SsdInfo.queue_depth and unique; the range is checked. */
void raid_submit(Raid *r, uint64_t now_ns, const SsdCmd *cmd);

/* As ssd_hint(), on the drives that the command is likely to use. */
void raid_hint(const Raid *r, uint64_t lba, SsdHint hint);
uint64_t raid_next_event_ns(const Raid *r);
size_t raid_advance(Raid *r, uint64_t now_ns, SsdCompletion *done, size_t max);

/* As array_catch_up(); drives that have failed stay as they are. */
void raid_catch_up(Raid *r, uint64_t now_ns);

uint64_t raid_rebase_most_ns(const Raid *r);
void raid_rebase(Raid *r, uint64_t by_ns);

#endif
