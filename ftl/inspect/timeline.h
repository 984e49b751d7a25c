/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline.h - the work of a drive over time: commands, operations, GC.
 *
 * A ring keeps the newest records; ssd_timeline_close() writes them as a
 * Perfetto trace (timeline-file.c).  A drive without a timeline pays one branch
 * at each place.
 */
#ifndef VSSD_FTL_TIMELINE_H
#define VSSD_FTL_TIMELINE_H

#include <stdio.h>

#include "commands-internal.h"
#include "nand.h"

typedef struct Timeline Timeline;

/* ---- reports of ftl/ ---------------------------------------------------- */

/* The command has completed. */
void timeline_cmd(Timeline *t, const Cmd *c);

/* GC, wear levelling or refresh has chosen the block. */
void timeline_victim(Timeline *t, uint32_t block, NandCause cause);

/* The power has gone, or come back. */
void timeline_power(Timeline *t, bool on);

/* All instants become earlier (ssd_rebase()). */
void timeline_rebase(Timeline *t, uint64_t by_ps);

/* ---- records, for timeline-file.c --------------------------------------- */

/* What has tracks of its own, from top to bottom: the title of its group, that
 * of one track, and the unit of a counter. */
#define TIMELINE_KINDS(X)                                                      \
    X(QUEUE, "host commands", "queue", NULL)                                   \
    X(CHANNEL, "channels", "channel", NULL)                                    \
    X(DECODER, "ECC decoders", "decoder", NULL)                                \
    X(PLANE, "dies", "plane", NULL)                                            \
    X(GC, "garbage collection", "plane", NULL)                                 \
    X(POWER, "power", "power", NULL)                                           \
    X(LOSS, "timeline", "dropped", NULL)                                       \
    X(FREE, "free blocks", "free", "blocks")                                   \
    X(BUFFER, "write buffer", "dirty", "units")

typedef enum TimelineKind {
#define TIMELINE_KIND_ENUM(upper, ...) TIMELINE_##upper,
    TIMELINE_KINDS(TIMELINE_KIND_ENUM)
#undef TIMELINE_KIND_ENUM
        TIMELINE_N_KINDS,
} TimelineKind;

/* Names of events. */
#define TIMELINE_NAMES(X)                                                      \
    X(READ, "read")                                                            \
    X(WRITE, "write")                                                          \
    X(TRIM, "trim")                                                            \
    X(FLUSH, "flush")                                                          \
    X(SHUTDOWN, "shutdown")                                                    \
    X(NAND_READ, "read page")                                                  \
    X(NAND_PROGRAM, "program")                                                 \
    X(NAND_ERASE, "erase")                                                     \
    X(NAND_COPYBACK, "copyback")                                               \
    X(IN, "data in")                                                           \
    X(STATUS, "status")                                                        \
    X(OUT, "data out")                                                         \
    X(GAP, "multi-plane gap")                                                  \
    X(SUSPEND, "suspend")                                                      \
    X(DECODE, "decode")                                                        \
    X(BLOCK, "collect block")                                                  \
    X(POWER_CUT, "power cut")                                                  \
    X(POWER_ON, "power on")                                                    \
    X(DROPPED, "earlier events dropped")

typedef enum TimelineName {
#define TIMELINE_NAME_ENUM(upper, text) TIMELINE_NAME_##upper,
    TIMELINE_NAMES(TIMELINE_NAME_ENUM)
#undef TIMELINE_NAME_ENUM
        TIMELINE_N_NAMES,
} TimelineName;

/* Numbers of an event, beside the parts of a command's latency. */
#define TIMELINE_ARGS(X)                                                       \
    X(LBA, "lba")                                                              \
    X(BLOCKS, "blocks")                                                        \
    X(COMMAND, "command")                                                      \
    X(STATUS, "status")                                                        \
    X(BLOCK, "block")                                                          \
    X(PAGE, "page")                                                            \
    X(OPERATION, "operation")                                                  \
    X(VALID, "valid_units")                                                    \
    X(EVENTS, "events")

typedef enum TimelineArg {
#define TIMELINE_ARG_ENUM(upper, text) TIMELINE_ARG_##upper,
    TIMELINE_ARGS(TIMELINE_ARG_ENUM)
#undef TIMELINE_ARG_ENUM
        TIMELINE_N_ARGS,
} TimelineArg;

/* An event.  Of a command: value is its first block, number the count of
 * blocks, serial its number.  Of an operation: its page in the block, the
 * block, and the command that a read is for (0: none), id its own number.  Of
 * GC: valid units, the block. Of a counter: its value. */
typedef struct TimelineRecord {
    uint64_t from_ns; /* since the timeline began; cost_ns: 4.29 s at most */
    uint64_t to_ns;   /* equal: an instant, unless of a kind of slices */
    uint64_t value;
    uint64_t serial;
    uint64_t id;
    uint32_t number;
    uint32_t track; /* of its kind */
    uint8_t kind;
    uint8_t name;
    uint8_t category; /* NandCause */
    uint8_t status;   /* SsdStatus */
    uint32_t cost_ns[N_COSTS];
} TimelineRecord;

/* Write n records, which it puts in order; tracks of planes are children of
 * their die. */
void timeline_write(FILE *file, TimelineRecord *record, size_t n,
                    uint32_t planes_per_die);

#endif
