/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traces.h - one or more traces as one source of requests.
 *
 * Puts them on one clock (join.h), merges them by time, lays their addresses
 * out, and re-times writes.  What needs the trace as a whole (its addresses,
 * its end, its mean write interval) costs one more reading of the file before
 * the run; memory grows with the addresses touched, never with the length of
 * the traces.
 */
#ifndef VSSD_SIM_TRACES_H
#define VSSD_SIM_TRACES_H

#include "join.h"
#include "reading.h"
#include "trace.h"

#define TRACES_MAX 256 /* spaces of remap.h / TRACE_MAX_DEVICES */

/* Granularity of TRACES_REMAP_COMPACT. */
#define TRACES_CHUNK_BYTES 4096

/* X(upper, name, help) */
#define TRACES_REMAPS(X)                                                       \
    X(NONE, "none", "addresses as they are; devices lie over each other")      \
    X(MODULO, "modulo",                                                        \
      "addresses beyond the drive are folded into it (the same as --wrap)")    \
    X(BESIDE, "beside",                                                        \
      "the address spaces of devices side by side; the default")               \
    X(COMPACT, "compact",                                                      \
      "the same, without the 4 KiB chunks that are never touched")

typedef enum TracesRemap {
#define TRACES_REMAP_ENUM(upper, name, help) TRACES_REMAP_##upper,
    TRACES_REMAPS(TRACES_REMAP_ENUM)
#undef TRACES_REMAP_ENUM
        TRACES_N_REMAPS,
} TracesRemap;

/* The name of way i; NULL past the last. */
const char *traces_remap_name(unsigned i);
const char *traces_remap_help(unsigned i);

typedef struct TracesConfig {
    const char *const *paths; /* NULL at the end; 1..TRACES_MAX */
    TraceOptions options;
    ReadingConfig reading;
    TracesRemap remap; /* TRACES_N_REMAPS: beside, if there are several */
    Join join;         /* of several; N_JOINS: as they look */
    /*
     * 0: times as they are.  k: writes come in batches of 1..k (uniform) at
     * once, and the next batch comes N mean write intervals after a batch of N;
     * reads keep their times (D1..D64 of I. Shin, "Effects of Scattering Write
     * Request Arrivals on SSD Performance", 2018).
     */
    uint32_t retime;
    uint64_t seed; /* of the sizes of batches */
} TracesConfig;

typedef struct Traces Traces;

/* NULL: *error says which file, line and why. */
Traces *traces_open(const TracesConfig *cfg, GError **error);
void traces_close(Traces *t);

RequestSource traces_source(Traces *t);

/* Do the spaces of requests stand for devices, at their own addresses? */
bool traces_has_devices(const Traces *t);

/* If so: the traces' own number of the device of a space that has appeared. */
uint64_t traces_device(const Traces *t, uint32_t space);

/* The way that was taken so far: of one device, addresses are as they are. */
TracesRemap traces_remap(const Traces *t);

/* The way that was taken; N_JOINS: there is one trace. */
Join traces_join(const Traces *t);

/* Files of the same recording that are not among the traces, as far as anybody
 * can see; *note: in one line, or NULL. */
unsigned traces_n_missing(const Traces *t, const char **note);
unsigned traces_n(const Traces *t);
const Trace *traces_trace(const Traces *t, unsigned number);

uint64_t traces_n_disordered(const Traces *t);
uint64_t traces_n_skipped(const Traces *t);
uint64_t traces_n_left(const Traces *t, TraceLeft left);

#endif
