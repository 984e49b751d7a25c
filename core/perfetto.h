/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto.h - write a Perfetto trace: tracks with slices, instants, counters.
 *
 * The file is a protobuf message perfetto.protos.Trace; each call appends one
 * TracePacket or two (protos/perfetto/trace/trace_packet.proto and
 * track_event/ of the Perfetto sources).  All packets are of one sequence.
 * Names of events, categories and arguments are interned: give each its number
 * once, before it is used.
 *
 * Time: nanoseconds, in any order.  On one track slices must not overlap, and
 * those that begin at one instant come in the order of their ends.
 * Errors: those of the FILE; ask ferror() at the end.
 */
#ifndef VSSD_CORE_PERFETTO_H
#define VSSD_CORE_PERFETTO_H

#include <stdint.h>
#include <stdio.h>

/* Of a track, and of a name, in bytes. */
#define PERFETTO_MAX_NAME 128

/* Values of one event. */
#define PERFETTO_MAX_ARGS 20

/* Begin the trace. */
void perfetto_begin(FILE *file);

typedef enum PerfettoNames { /* fields of InternedData */
                             PERFETTO_CATEGORY = 1,
                             PERFETTO_EVENT = 2,
                             PERFETTO_ARG = 3,
} PerfettoNames;

/* Give a name of that kind the number iid >= 1. */
void perfetto_name(FILE *file, PerfettoNames kind, uint32_t iid,
                   const char *name);

typedef struct PerfettoTrack {
    uint64_t uuid;   /* >= 1 */
    uint64_t parent; /* 0: none */
    uint32_t rank;   /* among those of the same parent: the lowest is on top */
    const char *name;
    const char *unit; /* of a counter; NULL: a track of slices and instants */
} PerfettoTrack;

/* Before the first event of the track. */
void perfetto_track(FILE *file, const PerfettoTrack *track);

typedef struct PerfettoArg {
    uint32_t name; /* its number */
    uint64_t value;
} PerfettoArg;

typedef struct PerfettoEvent {
    uint64_t track;
    uint32_t category; /* number of its name; 0: none */
    uint32_t name;
    unsigned n_args; /* up to PERFETTO_MAX_ARGS */
    PerfettoArg arg[PERFETTO_MAX_ARGS];
} PerfettoEvent;

/* from_ns <= to_ns. */
void perfetto_slice(FILE *file, const PerfettoEvent *e, uint64_t from_ns,
                    uint64_t to_ns);
void perfetto_instant(FILE *file, const PerfettoEvent *e, uint64_t at_ns);
void perfetto_count(FILE *file, uint64_t track, uint64_t at_ns, uint64_t value);

#endif
