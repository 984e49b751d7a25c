/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - block traces, read line by line.
 *
 * A format is one row: a name and a parser of one line.  The reader holds one
 * line at a time, so memory does not depend on the length of the trace.
 */
#ifndef VSSD_SIM_TRACE_H
#define VSSD_SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#include "request.h"

/* One line of a trace; tick_ns is the unit of the format's clock. */
typedef struct TraceLine {
    uint64_t ticks;
    uint64_t offset;
    uint64_t nbytes;
    SsdOp op;
} TraceLine;

typedef struct TraceFormat {
    const char *name;
    const char *help;
    uint32_t tick_ns;
    /* Required.  line ends with NUL, without the line end.  NULL: *out is
     * complete; else what is wrong with the line, in a few words. */
    const char *(*parse)(const char *line, TraceLine *out);
} TraceFormat;

extern const TraceFormat trace_msr;

/* Every format; NULL at the end. */
extern const TraceFormat *const trace_formats[];

/* NULL: no such format. */
const TraceFormat *trace_format_find(const char *name);

typedef struct Trace Trace;

/*
 * NULL: the file cannot be read; *error names it.  The first request arrives
 * at 0.  A line older than the one before it arrives with that one (capture
 * tools merge several processors' logs) and is counted.
 */
Trace *trace_open(const char *path, const TraceFormat *format, GError **error);
void trace_close(Trace *t);

/* A damaged line is a REQUEST_ERROR that names file, line and reason. */
RequestSource trace_source(Trace *t);

uint64_t trace_n_disordered(const Trace *t);

#endif
