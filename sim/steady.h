/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steady.h - is a run in its steady state?
 *
 * The criterion is "Steady State" of the SNIA Solid State Storage Performance
 * Test Specification: over five rounds the largest and the smallest value of a
 * metric differ by at most 20 % of the mean, and the line that fits the values
 * best rises or falls by at most 10 % of it.
 *
 * Knows totals of a run at the ends of rounds; knows nothing of requests.
 * Memory does not grow with the run.
 */
#ifndef VSSD_SIM_STEADY_H
#define VSSD_SIM_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#define STEADY_ROUNDS     5
#define STEADY_MOST_RANGE 0.20
#define STEADY_MOST_SLOPE 0.10

typedef enum SteadyMetric {
    STEADY_IOPS,
    STEADY_WAF,
    STEADY_LATENCY, /* the mean */
    STEADY_N_METRICS,
} SteadyMetric;

/* "iops"; NULL from STEADY_N_METRICS on. */
const char *steady_metric_name(unsigned i);

/* What has happened since the run began. */
typedef struct SteadyMark {
    uint64_t n_requests; /* completed */
    uint64_t sim_ns;
    uint64_t written_bytes; /* of completed writes */
    uint64_t host_bytes;    /* that the drive has accepted */
    uint64_t nand_bytes;    /* programmed */
    double latency_ns;      /* the sum */
} SteadyMark;

#define STEADY_MOST_MARKS 40

/* A run as rounds of one length. */
typedef struct Rounds {
    /* The ends of the rounds so far, mark[0] being the beginning. */
    SteadyMark mark[STEADY_MOST_MARKS + 1];
    unsigned n;
    /* Of a round, which ends with either; UINT64_MAX: not with this. */
    uint64_t requests, bytes;
    uint64_t next_requests, next_bytes; /* totals that end the next one */
} Rounds;

void rounds_begin(Rounds *r, uint64_t requests, uint64_t bytes,
                  const SteadyMark *now);

static inline bool rounds_due(const Rounds *r, uint64_t n_requests,
                              uint64_t written_bytes)
{
    return n_requests >= r->next_requests || written_bytes >= r->next_bytes;
}

/* A round has ended.  When there is no room for more, each two become one. */
void rounds_end(Rounds *r, const SteadyMark *now);

/* What five rounds say: the last ones, of as many ends as there are, so that
 * they cover four fifths of a run or more. */
typedef struct Steadiness {
    bool known; /* else the run is too short, and the rest is not set */
    double mean_requests, mean_bytes; /* written, of a round */
    /* Shares of the mean of the five.  NAN: there is no such value. */
    double range[STEADY_N_METRICS], slope[STEADY_N_METRICS];
} Steadiness;

Steadiness rounds_steadiness(const Rounds *r);

/* The same of the last five ends, one by one. */
Steadiness rounds_last_five(const Rounds *r);

/* Write amplification of the last five. */
double rounds_waf(const Rounds *r);

/* Does the metric keep to the limits?  One without values does. */
bool steady_in(const Steadiness *s, SteadyMetric m, double most_range,
               double most_slope);

#endif
