/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * describe.h - attributes of a source of requests, as in the tables of papers.
 *
 * Memory grows with the addresses touched, not with the number of requests.
 */
#ifndef VSSD_SIM_DESCRIBE_H
#define VSSD_SIM_DESCRIBE_H

#include "json.h"
#include "request.h"

typedef struct Description {
    uint64_t n_requests;
    uint64_t n[SSD_N_OPS];
    uint64_t bytes[SSD_N_OPS];
    uint64_t span_ns;        /* from the first request to the last */
    uint64_t accessed_bytes; /* touched by reads and writes, in 4 KiB */
    uint64_t highest;        /* byte beyond the last one touched */
    uint64_t n_starts;       /* different 4 KiB pages at which requests begin */
    double top_1pct;         /* share of the requests that begin at the most
                                used 1 % of those; 0 if there are none */
    double sequential;       /* share that begin where the one before ended */
} Description;

/* Read the source to its end, at most max requests.  false: *error is set. */
bool describe(const RequestSource *source, uint64_t max, Description *d,
              GError **error);

/* Members of the object that is open. */
void describe_json(const Description *d, JsonWriter *w);
void describe_text(const Description *d, GString *out);

double describe_mean_bytes(const Description *d, SsdOp op);
double describe_mean_interval_s(const Description *d);

#endif
