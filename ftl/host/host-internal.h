/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-internal.h - host commands: from submission to completion.
 *
 * Knows commands; does not know where data goes.
 */
#ifndef VSSD_FTL_HOST_INTERNAL_H
#define VSSD_FTL_HOST_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_HOST
#error "ftl/host is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

/* Callbacks of power/ to commands; required, all of them. */
typedef struct HostGate {
    /* The drive is not ready: the command is kept until it is. */
    bool (*waits)(Ssd *ssd, uint32_t cmd);
    /* A rule of the fault script cuts the power now. */
    void (*cut)(Ssd *ssd);
} HostGate;

/* Reading ahead (ahead.c). */
typedef enum AheadState {
    AHEAD_NONE,
    AHEAD_READY,
    AHEAD_LOADING, /* a read of the array is under way */
} AheadState;

/* A unit of a stream's window. */
typedef struct AheadUnit {
    uint64_t lpn;
    uint64_t ppu;     /* from where it is read */
    uint32_t run;     /* the first unit of a read: units of that read */
    uint32_t waiters; /* LOADING: commands */
    uint8_t state;    /* AheadState */
    uint8_t drop;     /* LOADING: its data is out of date */
    uint8_t used;     /* a command has found it */
} AheadUnit;

/* Reads that follow each other.  Units first..end - 1 are its window. */
typedef struct AheadStream {
    uint64_t next_lba; /* where its next read begins */
    uint64_t first, end;
    uint64_t last_read; /* Cmd.serial */
    uint32_t reads;     /* in order, so far; 0: no stream */
    uint32_t loading;   /* units */
} AheadStream;

typedef struct AheadWaiter {
    uint32_t cmd;
    uint32_t next; /* free list; list of the unit */
} AheadWaiter;

typedef struct Ahead {
    uint32_t n_streams; /* 0: nothing is read ahead */
    OF_HOST AheadStream *stream;
    OF_HOST AheadUnit *unit; /* by stream and lpn modulo the window */
    OF_HOST AheadWaiter *waiter;
    uint32_t n_waiters;
    uint32_t free_waiter;
} Ahead;

/* Limits of what the controller starts (host.max_...). */
typedef enum HostPace {
    PACE_ALL,
    PACE_WRITES,
    PACE_WRITE_DATA,
    PACE_GC,      /* ftl.gc_pace */
    PACE_APPENDS, /* zones.append_time */
    N_PACES,
} HostPace;

typedef struct HostPath {
    const HostGate *gate;
    CmdFifo done;
    Ahead ahead;
    TimeSum room_busy_ps;   /* a command waited for room, up to room_since_ps */
    TimeSum room_wait_ps;   /* the same, summed over commands */
    uint64_t room_since_ps; /* since then a command waits for room, if any */
    uint64_t gate_ps;       /* throttling lets no data pass until */
    uint64_t pace_ps[N_PACES]; /* the next start that the limit allows */
} HostPath;

#endif
