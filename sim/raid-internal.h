/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-internal.h - the structures of an array with redundancy.  Private to
 * raid.c and raid-op.c.
 */
#ifndef VSSD_SIM_RAID_INTERNAL_H
#define VSSD_SIM_RAID_INTERNAL_H

#include "drive-clock.h"
#include "ilist.h"
#include "raid.h"

/* Stripes of one command that are under way at a time: a bound on memory. */
#define STRIPES_AT_ONCE 32

#define NO_TAG UINT32_MAX

typedef enum OpKind { OP_READ, OP_WRITE, OP_TRIM, OP_FLUSH, OP_REBUILD } OpKind;

typedef enum OpPhase { PHASE_PLAN, PHASE_READ, PHASE_WRITE } OpPhase;

/* What one command, or the rebuild, does to one stripe. */
typedef struct Op Op;
struct Op {
    OpKind kind;
    uint32_t tag; /* of the command; NO_TAG: the rebuild's */
    uint64_t row;
    uint32_t group;
    uint64_t first, n; /* blocks of the stripe's data */
    uint32_t role;     /* OP_REBUILD: the lost chunk */
    bool fua;
    bool shutdown; /* OP_FLUSH */
    uint16_t stream;

    RaidPlan plan;
    OpPhase phase;
    bool locked;
    uint64_t unreadable; /* roles that their drive could not read */
    bool again;          /* a part was lost: plan again */
    uint32_t n_left;     /* parts under way */
    SsdBreakdown cost;   /* of the phases that have ended */
    SsdBreakdown last;   /* of the part that ended last */
    Op *next;            /* runnable, or free */
    Op *waiting;         /* for the lock, behind this one */
    Op *last_waiting;    /* of the holder of a lock: end of its list */
};

/* A command to one drive. */
typedef struct Part {
    Op *op; /* NULL: free, or nobody waits for it */
    uint32_t drive;
    uint32_t role;
    bool submitted;
    SsdCmd cmd;
    uint32_t next; /* waiting for a place in the drive's queue, or free */
} Part;

typedef struct Member {
    Ssd *ssd;
    bool failed;
    uint32_t n_in_flight;
    Ififo waiting; /* parts */
} Member;

/* A host command. */
typedef struct Whole {
    uint64_t submit_ns;
    SsdCmd cmd;
    uint64_t next, end; /* blocks that no Op has yet */
    uint32_t n_ops;
    SsdStatus status;
    uint64_t bad_lba;
    SsdBreakdown cost; /* of the Op that ended last */
} Whole;

struct Raid {
    RaidLayout *layout;
    RaidConfig cfg;
    RaidFault *fault; /* at_ns by the drives' clock; SSD_TIME_NEVER: past */
    Member member[RAID_MAX_DRIVES];
    DriveClock clock; /* of members that take part, or have yet to end parts */
    uint32_t queue_depth; /* of a drive, and of the array */
    uint32_t block_bytes;
    uint64_t now_ns;
    uint64_t version;

    RaidFailure failure[RAID_MAX_DRIVES];
    uint32_t n_failures;
    uint32_t current; /* failure whose chunks are being rebuilt */
    uint64_t rebuilds[RAID_MAX_REBUILD_DEPTH]; /* rows under way */
    uint32_t n_rebuilds;
    uint64_t pace_ns;          /* no row is begun before */
    uint64_t rebuild_begun_ns; /* if rebuilding */
    bool rebuilding;

    GHashTable *locks; /* stripe + 1 -> the Op that holds it */
    Op *runnable, *last_runnable;
    GPtrArray *ops; /* all of them, owned */
    Op *free_ops;
    Part *part;
    uint32_t n_parts, free_part;
    Whole *whole;         /* by tag */
    SsdCompletion *ready; /* oldest first */
    size_t first_ready, n_ready;
    RaidStats stats;
};

/* ---- raid-op.c ----------------------------------------------------------- */

/* A free record; the caller fills in the stripe, and makes it runnable. */
Op *raid_new_op(Raid *r, OpKind kind, uint32_t tag);
void raid_free_op(gpointer op);

/* It goes on when raid_run_ready() comes to it: no operation runs inside
 * another. */
void raid_make_runnable(Raid *r, Op *op);
void raid_run_ready(Raid *r);

OpKind raid_op_kind(SsdOp op);

/* Something was submitted to the member, or it was run, or it has failed. */
void raid_note_member(Raid *r, const Member *m);

/* Begin operations of the command, as many as may be under way. */
void raid_more_ops(Raid *r, uint32_t tag);

IlistLinks raid_part_links(const Raid *r);

/* Give the drive as many waiting parts as its queue has places for. */
void raid_submit_waiting(Raid *r, Member *m);

/* A part of the operation has ended. */
void raid_part_left(Raid *r, Op *op);

/* Parts that wait for the drive, or are under way there, are lost. */
void raid_lose_parts(Raid *r, uint32_t drive);

#endif
