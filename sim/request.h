/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request.h - where the player's requests come from.
 *
 * A source is a generator (workload.h) or a trace (trace.h).  It knows bytes;
 * blocks, capacity and the drive's limits are the player's business.
 */
#ifndef VSSD_SIM_REQUEST_H
#define VSSD_SIM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "ssd.h"

/* A run takes at most so long: 10 years of 365 days. */
#define REQUEST_MOST_NS (3650ULL * 24 * 3600 * 1000000000)

typedef struct Request {
    uint64_t at_ns;  /* arrival, from the start of the run; open loop only */
    uint64_t offset; /* bytes */
    uint64_t nbytes; /* bytes; 0 only for FLUSH */
    SsdOp op;
    bool fua;       /* WRITE: complete only once durable */
    uint32_t space; /* which of several address spaces; 0 if there is one */
    uint16_t stream; /* WRITE: placement stream; 0: of none */
    uint8_t act;     /* ZoneAct, of a drive with zones; ZONE_PLAIN is 0 */
    uint8_t window;  /* WINDOW_... as bits, of a run in windows; else 0 */
} Request;

enum {
    WINDOW_OUTSIDE = 1, /* played before or behind its window, not counted */
    WINDOW_SEAM = 2,    /* played in two windows, which are compared */
};

typedef enum RequestNext {
    REQUEST_OK,
    REQUEST_END,   /* no more; so it stays */
    REQUEST_ERROR, /* *error is set; the source is of no further use */
} RequestNext;

typedef struct RequestSource {
    RequestNext (*next)(void *opaque, Request *req, GError **error);
    /* Say in words which request was the last one: "trace.csv:17". */
    char *(*where)(void *opaque);
    void *opaque;
    /*
     * Closed loop: how many requests are kept in flight, each replaced at the
     * instant it completes.  0: open loop, requests come at their at_ns, which
     * never decreases.
     */
    uint32_t iodepth;
    uint64_t runtime_ns; /* no request starts later than this; 0: no limit */
} RequestSource;

#define SIM_ERROR sim_error_quark()
GQuark sim_error_quark(void);

typedef enum SimError {
    SIM_ERROR_WORKLOAD,  /* a keyword, its value, or their combination */
    SIM_ERROR_TRACE,     /* a trace cannot be read, or a line is damaged */
    SIM_ERROR_RANGE,     /* a request does not fit the drive */
    SIM_ERROR_DRIVE,     /* the drive refused a valid request */
    SIM_ERROR_DIFFERENT, /* a recorded run went otherwise */
    SIM_ERROR_USAGE, /* of the command line: --help of the command explains */
} SimError;

#endif
