/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - where the requests of a run come from: a generator, or traces.
 */
#ifndef VSSD_SIM_SOURCE_H
#define VSSD_SIM_SOURCE_H

#include <glib.h>

#include "array.h"
#include "json.h"
#include "stats.h"
#include "request.h"
#include "traces.h"
#include "workload.h"

typedef struct Source Source;

/* Properties of the drive that a generator needs. */
typedef struct SourceDrive {
    uint64_t capacity_bytes;
    uint32_t block_bytes;
    uint64_t seed;
    uint64_t zone_bytes; /* 0: it has no zones */
} SourceDrive;

SourceDrive source_drive(const Array *array, uint64_t seed);

/* Takes keywords of workload.h.  NULL: *error names the keyword. */
Source *source_generate(char *keywords, const SourceDrive *drive,
                        GError **error);

/* Attributes of fit.h.  NULL: *error names the attribute. */
Source *source_fit(const char *attributes, const SourceDrive *drive,
                   GError **error);

typedef struct SourceTraces {
    TracesConfig cfg;
    uint32_t iodepth;       /* closed loop; 0: by the times of the traces */
    uint64_t runtime_ns;    /* no request starts later; 0: no limit */
    const char *stream_map; /* as typed, for results; or NULL */
} SourceTraces;

/* Strings must outlive the source.  NULL: *error names file and line. */
Source *source_traces(const SourceTraces *from, GError **error);

void source_close(Source *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Source, source_close)

/* Write the keywords of a generator, so that --workload @FILE makes the same
 * requests. */
bool source_save(const Source *s, const char *path, GError **error);

const RequestSource *source_requests(const Source *s);

/* Of a generator; NULL: the requests are those of traces. */
const Workload *source_workload(const Source *s);

/* Are addresses beyond the drive folded into it (--remap=modulo)? */
bool source_wraps(const Source *s);

/* The workload or the traces, in one line; owned by the source. */
const char *source_name(const Source *s);

/* Members of the result (docs/results.md) that come from the source. */
void source_json(const Source *s, JsonWriter *w);
extern const StatTable source_stats;

/* Those of them that tell how each trace was read. */
void source_taken_json(const Source *s, JsonWriter *w);
extern const StatTable taken_stats;

/* How well fitted requests fit, for people; or NULL.  Owned by the source. */
const char *source_report(const Source *s);

/* One line about parts of a recording that are not given; NULL: there is no
 * such.  Owned by the source. */
const char *source_note(const Source *s);

/* Lines for people on how each trace was read. */
void source_taken_text(const Source *s, GString *out);

/* Lines for people: how traces belong together, and what was odd. */
void source_trouble_text(const Source *s, GString *out);

#endif
