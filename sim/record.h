/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - outputs of a run besides its summary: a line per command, and a
 * series over time (docs/results.md).
 */
#ifndef VSSD_SIM_RECORD_H
#define VSSD_SIM_RECORD_H

#include "json.h"
#include "stats.h"
#include "player.h"

/* A series that would have more intervals ends the run with an error. */
#define RECORD_MAX_INTERVALS 1000000

typedef struct Record Record;

/* As columns op and status of the lines show them. */
const char *record_op_name(SsdOp op);
const char *record_status_name(unsigned status);

/*
 * csv_path NULL: no file.  interval_ns 0: no series.  NULL: the file cannot be
 * written; *error names it.
 */
Record *record_open(const char *csv_path, uint64_t interval_ns, const Ssd *ssd,
                    GError **error);

/* PlayerConfig.done, with the Record as its opaque. */
void record_done(void *opaque, const PlayerDone *d);

/* The last interval ends.  false: the file could not be written, or the series
 * is too long. */
bool record_end(Record *r, GError **error);
void record_free(Record *r);

/* The member "series", if there is one. */
void record_json(const Record *r, JsonWriter *w);
extern const StatTable series_stats;
void record_text(const Record *r, GString *out);

#endif
