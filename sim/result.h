/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result.h - results of a run: JSON (docs/results.md), or a few lines of text.
 */
#ifndef VSSD_SIM_RESULT_H
#define VSSD_SIM_RESULT_H

#include <stdint.h>
#include <glib.h>

#include "player.h"
#include "record.h"
#include "source.h"
#include "ssd.h"
#include "stats.h"
#include "windows.h"

#define RESULT_SCHEMA_VERSION 1

/* Rounds of the same load before the run (--until-steady). */
typedef struct ResultWait {
    const Rounds *rounds;
    SteadyMetric metric; /* the one that was judged */
    bool reached;
} ResultWait;

/* Values that only the command knows. */
typedef struct ResultRun {
    const char *profile;
    const Array *array; /* of the drives */
    const Source *source;
    const Record *record;
    const HostRules *rules; /* of the run; or NULL */
    const Windows *windows; /* the run was in windows; or NULL */
    const char *fill;
    uint64_t seed;
    const ResultWait *wait;  /* or NULL */
    bool checked;            /* each completion was as recorded */
    bool stopped;            /* by a signal, before its end */
    uint64_t wall_ns;        /* of the run, without the fill */
    uint64_t cpu_ns;         /* processor time of the same */
    uint64_t peak_rss_bytes; /* of the process */
} ResultRun;

void result_json(const ResultRun *run, const PlayerResult *r, GString *out);
void result_text(const ResultRun *run, const PlayerResult *r, GString *out);
/* Latencies of the requests as a log of HdrHistogram (hdr.h). */
void result_histograms(const PlayerResult *r, GString *out);
/* What bounds each drive. */
void result_explain(const ResultRun *run, GString *out);

void result_info_json(const char *profile, const SsdInfo *info, GString *out);

/* Their tables, for docs/results.md. */
extern const StatTable result_stats;
extern const StatTable result_info_stats;

#endif
