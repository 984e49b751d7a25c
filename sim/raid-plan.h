/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-plan.h - which chunks of a stripe a command reads and writes.
 *
 * Pure functions of the stripe's shape and of the chunks that can be read and
 * written.  Roles are those of raid-layout.h; a set of roles is a bit mask.
 * The ways to update parity are those of Linux's md (raid5.c) and of Chen et
 * al., "RAID: High-Performance, Reliable Secondary Storage" (ACM Computing
 * Surveys 26(2), 1994, section 3.2).
 */
#ifndef VSSD_SIM_RAID_PLAN_H
#define VSSD_SIM_RAID_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "raid-layout.h"

/* A range of one chunk that a plan reads or writes. */
typedef struct RaidPart {
    uint32_t role;
    uint32_t first, n; /* blocks, within the chunk */
} RaidPart;

/* How a write gets the parity. */
#define RAID_UPDATES(X)                                                        \
    X(NONE, "none", "no parity, or copies alone")                              \
    X(FULL, "full", "all data of the stripe is new: nothing is read")          \
    X(MODIFY, "read_modify", "the old data and the old parity are read")       \
    X(RECONSTRUCT, "reconstruct", "the data that stays is read")               \
    X(DEGRADED, "degraded",                                                    \
      "chunks are lost: as many are read as give all data")

typedef enum RaidUpdate {
#define RAID_UPDATE_ENUM(upper, name, help) RAID_UPDATE_##upper,
    RAID_UPDATES(RAID_UPDATE_ENUM)
#undef RAID_UPDATE_ENUM
        RAID_N_UPDATES,
} RaidUpdate;

const char *raid_update_name(unsigned update);

/* First all reads, then all writes.  The arrays are the plan's, and kept from
 * one plan to the next. */
typedef struct RaidPlan {
    GArray *reads;     /* of RaidPart */
    GArray *writes;    /* of RaidPart */
    RaidUpdate update; /* of the part of the stripe that reads most */
    bool lost; /* too few chunks are left: there is nothing else in the plan */
    bool rebuilt; /* a read: data comes from other chunks and parity */
} RaidPlan;

/* What is there of a stripe, as sets of roles. */
typedef struct RaidChunks {
    uint64_t readable;
    uint64_t writable; /* at least the readable ones */
    uint32_t prefer;   /* of copies, the role to read, if it is readable */
} RaidChunks;

void raid_plan_init(RaidPlan *p);
void raid_plan_clear(RaidPlan *p);

/*
 * first, n: blocks of the stripe's data, in order of the roles; n > 0 and
 * first + n at most n_data chunks.  raid_plan_read() writes what it had to
 * compute to those chunks of `writable` that are not readable: bad sectors are
 * repaired so.
 */
void raid_plan_read(const RaidLayout *l, const RaidChunks *c, uint64_t first,
                    uint64_t n, RaidPlan *p);
void raid_plan_write(const RaidLayout *l, const RaidChunks *c, uint64_t first,
                     uint64_t n, RaidPlan *p);

/* Of copies any range; of parity only a whole stripe, else nothing. */
void raid_plan_trim(const RaidLayout *l, const RaidChunks *c, uint64_t first,
                    uint64_t n, RaidPlan *p);

/* One lost chunk, computed and written as a whole. */
void raid_plan_rebuild(const RaidLayout *l, const RaidChunks *c, uint32_t role,
                       RaidPlan *p);

#endif
