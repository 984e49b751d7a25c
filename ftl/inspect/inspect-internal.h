/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inspect-internal.h - statistics, accounts, the operation log and the recorded
 * trace.
 *
 * The other components report their work to it; it changes nothing of theirs.
 */
#ifndef VSSD_FTL_INSPECT_INTERNAL_H
#define VSSD_FTL_INSPECT_INTERNAL_H

#include "commands-internal.h"
#include "inspect/live.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "inspect/timeline.h"
#include "ssd-report.h"
#include "ssd-running.h"
#include "ssd-stats.h"
#include "ssd-types.h"

/* The counters that rows of SSD_STATS make. */
#define MEMBER_OF_ROW(id, path, unit, help) uint64_t id;
#define SUM_OF_ROW(id, path, help)          TimeSum id;
#define NO_MEMBER(...)
typedef struct SsdCounts {
    SSD_STATS(MEMBER_OF_ROW, SUM_OF_ROW, NO_MEMBER, NO_MEMBER)
} SsdCounts;
#undef MEMBER_OF_ROW
#undef SUM_OF_ROW
#undef NO_MEMBER

/* Values over time, in a bounded number of points. */
#define SERIES_POINTS 128
#define SERIES_VALUES 8

typedef struct SeriesPoint {
    uint64_t at_ns; /* since the last reset */
    uint64_t value[SERIES_VALUES];
} SeriesPoint;

typedef struct Series {
    uint64_t interval_ps; /* between points, at least */
    uint64_t next_ps;     /* no point before that */
    uint32_t n;
    SeriesPoint point[SERIES_POINTS];
} Series;

/* Where the latency of the commands went that were fetched since the last
 * reset. */
typedef struct CostSums {
    uint64_t n; /* of commands */
    TimeSum ps[N_COSTS];
} CostSums;

/* Of ssd_set_gate(). */
typedef struct Gate {
    SsdGateFn *pass; /* or NULL */
    void *opaque;
    uint64_t power_cuts;
} Gate;

typedef struct Inspect {
    Hist *latency; /* by SsdOp, then one for all */
    SsdCounters counters;
    NandStats nand_base; /* counts up to the last ssd_reset_stats() */
    HostUse use_base;    /* likewise */
    HeatSums heat_base;  /* likewise */
    CostSums costs;
    TimeSum *busy_base; /* of channels, dies, planes; or NULL: no reset yet */
    TimeSum stats_since_ps; /* modulo 2^128: it may be before the zero of the
                               clock.  stats_elapsed_ps() */
    Series series; /* free blocks */
    Series buffer_series; /* see numbers_sample_buffer() */
    SsdCounts count;
    Oplog *log; /* or NULL */
    Recording *recording; /* or NULL */
    Timeline *timeline;   /* or NULL */
    Live *live;           /* or NULL */
    LiveSlow *slow;       /* of live, while a reader wants pictures; or NULL */
    Gate gate;
} Inspect;

#endif
