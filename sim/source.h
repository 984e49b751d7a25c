/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - where the requests of a run come from, as the command line says.
 */
#ifndef VSSD_SIM_SOURCE_H
#define VSSD_SIM_SOURCE_H

#include <glib.h>

#include "json.h"
#include "request.h"
#include "traces.h"

/* As typed; NULL: not given. */
typedef struct SourceArgs {
    char *workload;
    char *fit;
    char *job;
    char *section; /* of job */
    char *save;
    char **traces; /* NULL at the end */
    char *format;
    char *columns;
    char *action;
    char *device;
    char *remap;
    char *time_scale;
    char *retime;
    char *iodepth;
    char *stream_map;
    gboolean skip_bad;
} SourceArgs;

void source_args_clear(SourceArgs *a);

typedef struct Source Source;

/* NULL: *error says which option allows what, or what is wrong with the file.
 * args must outlive the source. */
Source *source_open(const SourceArgs *args, uint64_t capacity_bytes,
                    uint32_t block_bytes, uint64_t seed, GError **error);
void source_close(Source *s);

const RequestSource *source_requests(const Source *s);

/* Are addresses beyond the drive folded into it (--remap=modulo)? */
bool source_wraps(const Source *s);

/* The workload or the traces, in one line; owned by the source. */
const char *source_name(const Source *s);

/* Members of the result (docs/results.md) that come from the source. */
void source_json(const Source *s, JsonWriter *w);

/* What --fit came to, for people; or NULL.  Owned by the source. */
const char *source_report(const Source *s);

/* Lines for people, if there was anything odd. */
void source_trouble_text(const Source *s, GString *out);

#endif
