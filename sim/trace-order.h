/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-order.h - records of a trace in the order of their times, where the
 * file has them in the order in which requests end.
 *
 * Holds so many records that a line finds its place among them.  One that is
 * late by more lines comes when it is read, behind newer ones.
 */
#ifndef VSSD_SIM_TRACE_ORDER_H
#define VSSD_SIM_TRACE_ORDER_H

#include "trace.h"

/* A line that is behind so many newer ones is too late. */
#define TRACE_ORDER_LINES 4096

/* As TraceFormat.read: the next record of the file. */
typedef InputRead (*TraceOrderRead)(void *opaque, TraceRecord *out,
                                    const char **reason, GError **error);

typedef struct TraceOrder TraceOrder;

TraceOrder *trace_order_new(TraceOrderRead read, void *opaque);
void trace_order_free(TraceOrder *o);

/* The oldest record.  One with a *reason comes when it is read.  *line: the
 * line that *out is of. */
InputRead trace_order_next(TraceOrder *o, TraceRecord *out, uint64_t *line,
                           const char **reason, GError **error);

#endif
