/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - one block trace, read record by record.
 *
 * A format is one row: a name, a test of a file's first bytes, and a parser of
 * one line or one binary record.  The reader holds one record at a time, so
 * memory does not depend on the length of the trace.  Several traces, and what
 * is done to addresses and times, are traces.h's business.
 */
#ifndef VSSD_SIM_TRACE_H
#define VSSD_SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#include "input.h"
#include "recorded.h"
#include "request.h"

/* A trace may name so many devices, and no more. */
#define TRACE_MAX_DEVICES 4096

#define TRACE_SECTOR_BYTES 512

/* Streams that a trace may name: 0..TRACE_MAX_STREAMS - 1. */
#define TRACE_MAX_STREAMS 64

/* One record. */
typedef struct TraceRecord {
    uint64_t at_ns; /* by the trace's own clock */
    uint64_t offset;
    uint64_t nbytes; /* 1..4294967295; 0: FLUSH */
    uint64_t device; /* whatever number tells devices of the trace apart */
    SsdOp op;
    bool fua;
    uint64_t stream; /* of a write; 0: none */
} TraceRecord;

/* What a parser says of a line that is no request and no damage. */
extern const char trace_skip[];

#define TRACE_CSV_FIELDS 32

/* What a parser may keep from line to line; all zeroes at first. */
typedef struct TraceState {
    const char *columns; /* --columns, or NULL */
    char action;         /* --action: which of blktrace's actions is a request;
                            0 until the head of the file has said it */
    bool headed;         /* the header line has been read */
    bool swapped;        /* binary: of the other byte order */
    uint64_t waited_ns;  /* fio version 2: sum of the waits so far */
    RecordedState recorded; /* vssd; and what is left of a long trim: */
    uint64_t trim_offset, trim_left;
    unsigned version;    /* fio */
    unsigned n_columns;  /* csv */
    struct {
        uint8_t role; /* csv; what the column means */
        uint64_t unit;
    } column[TRACE_CSV_FIELDS];
} TraceState;

typedef struct TraceFormat {
    const char *name;
    const char *help;
    /* Exactly one of the two.  NULL: *out is complete; trace_skip; else what is
     * wrong, in a few words.  A line has no line end. */
    const char *(*parse)(TraceState *s, const char *line, TraceRecord *out);
    /* INPUT_OK with *reason NULL or trace_skip: as above.  INPUT_BAD with
     * *reason: nothing after this can be read. */
    InputRead (*read)(TraceState *s, Input *in, TraceRecord *out,
                      const char **reason, GError **error);
    /* Required with read, else optional: does the file begin like this format?
     * Without it, the first lines are parsed. */
    bool (*detect)(const char *head, size_t n);
    /* Optional: learn from the first bytes what the parser must know. */
    void (*begin)(TraceState *s, const char *head, size_t n);
} TraceFormat;

/* Every format, in the order in which they are tried; NULL at the end. */
extern const TraceFormat *const trace_formats[];

extern const TraceFormat trace_vssd;
extern const TraceFormat trace_msr;
extern const TraceFormat trace_spc;
extern const TraceFormat trace_systor17;
extern const TraceFormat trace_blkparse;
extern const TraceFormat trace_blktrace;
extern const TraceFormat trace_fio;
extern const TraceFormat trace_ssdsim;
extern const TraceFormat trace_mqsim;
extern const TraceFormat trace_disksim;
extern const TraceFormat trace_csv;

/* NULL: no such format. */
const TraceFormat *trace_format_find(const char *name);

typedef struct TraceOptions {
    const TraceFormat *format; /* NULL: by the first bytes */
    const char *columns;       /* of csv, when the file has no header */
    char action;               /* D, Q or C of blktrace; 0: D if there is any */
    bool skip_bad;             /* count damaged lines and go on */
    int64_t device;            /* only that one; negative: all */
    uint64_t scale_ppm;        /* of times; 1000000: as they are */
    unsigned n_streams;        /* of stream[]; 0: streams as they are */
    uint16_t stream[TRACE_MAX_STREAMS]; /* what each stream becomes */
} TraceOptions;

#define TRACE_OPTIONS_INIT                                                     \
    {                                                                          \
        .device = -1, .scale_ppm = 1000000                                     \
    }

typedef struct Trace Trace;

/*
 * NULL: the file cannot be read, or its format is not known; *error names it.
 * The first request arrives at 0.  A line older than the one before it arrives
 * with that one (capture tools merge several processors' logs) and is counted.
 * Strings of options must outlive the trace.
 */
Trace *trace_open(const char *path, const TraceOptions *options,
                  GError **error);

/* The same from memory, which must outlive it; for tests. */
Trace *trace_from_memory(const void *data, size_t n,
                         const TraceOptions *options, GError **error);
void trace_close(Trace *t);

/* Request.space is the number of the device, in the order in which they first
 * appeared.  A damaged line is a REQUEST_ERROR that names file, line and
 * reason, unless skip_bad is set. */
RequestSource trace_source(Trace *t);

const TraceFormat *trace_format(const Trace *t);
uint64_t trace_n_disordered(const Trace *t);
uint64_t trace_n_skipped(const Trace *t);

#endif
