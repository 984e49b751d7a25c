/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.h - tables of statistics: write as JSON, reset, document.
 *
 * A layer lists its statistics once, as an x-macro, in the order of the JSON
 * text; the table made from it gives the JSON members, the reset and the rows
 * of docs/results.md.  The members' order and nesting follow from the paths:
 *
 *   gc.victims                    member of the object "gc"
 *   nand.by_cause.<cause>.reads   an object for each name of the set "cause"
 *   streams[stream].id            a list with an object for each of the set
 *                                 "stream"
 *   busy_ns.die[die]              a list of numbers
 *   points[point][0]              a list of lists; this is their first element
 *   map.+                         members that another writes (STAT_PART)
 *
 * Rows with a common beginning stand together.  A row's value is an expression
 * of the owner's context `v`; at[] has the index in each set of the path, from
 * left to right.
 */
#ifndef VSSD_CORE_STATS_H
#define VSSD_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <glib.h>

#include "hist.h"
#include "json.h"
#include "simtime.h"

typedef enum StatType {
    STAT_COUNTER, /* where it is; with STAT_RESET, stats_reset() sets it to 0 */
    STAT_U64,
    STAT_TIME_COUNTER, /* as STAT_COUNTER, of a TimeSum */
    STAT_TIME,         /* a TimeSum */
    STAT_DOUBLE,       /* not finite: null */
    STAT_BOOL,
    STAT_STRING,
    STAT_HIST, /* an object with the members of hist_stats */
    STAT_PART, /* members of another table */
} StatType;

/* Effect of a reset of the statistics on the value. */
typedef enum StatReset {
    STAT_RESET, /* counts from 0 again; a mean or a share starts again */
    STAT_LIFE,  /* counts over the drive's life: no reset */
    STAT_NOW,   /* a state, not a count: no reset */
    STAT_FIXED, /* follows from the configuration and the input */
    STAT_RUN,   /* of a run of vssd-sim, which has no resets */
    /* As STAT_RESET, but the value of two parts of a run is no sum: */
    STAT_PEAK,     /* the largest value */
    STAT_COURSE,   /* values over time */
    STAT_PER_BYTE, /* a ratio to the bytes that the host wrote */
} StatReset;

/* The condition under which a member exists. */
typedef struct StatWhen {
    const char *help; /* "with ..." */
    bool (*holds)(const void *ctx);
} StatWhen;

/* Members or elements of one form. */
typedef struct StatSet {
    const char *name; /* in paths */
    const char *help;
    unsigned n_names;                   /* of an object; 0: a list */
    const char *(*name_at)(unsigned i); /* of an object */
    unsigned (*n)(const void *ctx);     /* elements of a list */
} StatSet;

typedef struct StatRow StatRow;

typedef struct StatTable {
    const StatRow *row;
    size_t n_rows;
    const StatSet *set;
    size_t n_sets;
} StatTable;

/* Writes members into the object that is open. */
typedef struct StatPart {
    void (*write)(const void *ctx, JsonWriter *w);
    const void *ctx;
    const StatTable *table; /* the same as a table of ctx, so that the members
                               can be merged; or NULL */
} StatPart;

#define STAT_MEMBERS(writer, context)                                          \
    ((StatPart){.write = (writer), .ctx = (context)})

struct StatRow {
    const char *path; /* NULL: not shown, a counter for the values of others */
    StatType type;
    StatReset reset;
    const char *unit;     /* "": none */
    const StatWhen *when; /* NULL: always */
    const char *help;
    union {
        const uint64_t *(*counter)(const void *ctx, const unsigned *at);
        uint64_t (*u64)(const void *ctx, const unsigned *at);
        const TimeSum *(*time_counter)(const void *ctx, const unsigned *at);
        TimeSum (*time)(const void *ctx, const unsigned *at);
        double (*number)(const void *ctx, const unsigned *at);
        bool (*boolean)(const void *ctx, const unsigned *at);
        const char *(*string)(const void *ctx, const unsigned *at);
        const Hist *(*hist)(const void *ctx, const unsigned *at);
        StatPart (*part)(const void *ctx, const unsigned *at);
    } get;
};

/* ---- tables from x-macros --------------------------------------------- */

#define STAT_CTYPE_COUNTER      const uint64_t *
#define STAT_CTYPE_U64          uint64_t
#define STAT_CTYPE_TIME_COUNTER const TimeSum *
#define STAT_CTYPE_TIME         TimeSum
#define STAT_CTYPE_DOUBLE       double
#define STAT_CTYPE_BOOL         bool
#define STAT_CTYPE_STRING       const char *
#define STAT_CTYPE_HIST         const Hist *
#define STAT_CTYPE_PART         StatPart

#define STAT_GET_COUNTER      counter
#define STAT_GET_U64          u64
#define STAT_GET_TIME_COUNTER time_counter
#define STAT_GET_TIME         time
#define STAT_GET_DOUBLE       number
#define STAT_GET_BOOL         boolean
#define STAT_GET_STRING       string
#define STAT_GET_HIST         hist
#define STAT_GET_PART         part

/* The function that gives the value of a row; Context is the type of *v. */
#define STAT_FUNCTION(Context, type, id, value)                                \
    static STAT_CTYPE_##type stat_##id(const void *ctx, const unsigned *at)    \
    {                                                                          \
        const Context *v = ctx;                                                \
                                                                               \
        (void)v;                                                               \
        (void)at;                                                              \
        return value;                                                          \
    }

#define STAT_ROW(type, id, path, unit, reset, when, help)                      \
    {path,                                                                     \
     STAT_##type,                                                              \
     STAT_##reset,                                                             \
     unit,                                                                     \
     when,                                                                     \
     help,                                                                     \
     {.STAT_GET_##type = stat_##id}},

/* The members of a STAT_HIST. */
extern const StatTable hist_stats;

/* The row of a path as in the table, or NULL; the first set of its path, or
 * NULL. */
const StatRow *stats_row(const StatTable *t, const char *path);
const StatSet *stats_row_set(const StatTable *t, const StatRow *r);

/* ---- using them ------------------------------------------------------- */

/* Write the members into the object that is open. */
void stats_write(const StatTable *t, const void *ctx, JsonWriter *w);

/* Set every STAT_COUNTER and STAT_TIME_COUNTER with STAT_RESET to 0; the caller
 * resets objects that ctx points to. */
void stats_reset(const StatTable *t, const void *ctx);

/* ---- values of several parts of a run --------------------------------- */

/*
 * How the values of two parts of a run become that of both; it follows from a
 * row's type and StatReset:
 *
 *   SUM       counts, durations and histograms since the reset
 *   MOST      STAT_PEAK
 *   PER_BYTE  STAT_PER_BYTE: the mean, weighed by the bytes of each part
 *   LAST      STAT_NOW and STAT_LIFE: of the part that is last in time
 *   NONE      other means and shares are null, STAT_COURSE are empty lists, and
 *             texts and switches since the reset "" and false
 *
 * The rest is the same in all parts.
 */
typedef struct StatSums StatSums;

StatSums *stat_sums_new(void);
void stat_sums_free(StatSums *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatSums, stat_sums_free)

/* Append the values of a table, of a part in which the host wrote so many
 * bytes. */
void stats_gather(const StatTable *t, const void *ctx, uint64_t bytes,
                  StatSums *into);

/* Add those of another part; last: of all so far it is the last in time.  Into
 * one that is empty, they are taken as they are.  false: they are of other
 * rows. */
bool stat_sums_add(StatSums *into, const StatSums *from, bool last);

/* For a process of the same program.  read: NULL if the file ends early. */
bool stat_sums_write(const StatSums *s, FILE *out);
StatSums *stat_sums_read(FILE *in);

/* As stats_write(), with these values.  ctx has the sets of the parts. */
void stats_write_sums(const StatTable *t, const void *ctx, const StatSums *s,
                      JsonWriter *w);

/* ---- documents ---------------------------------------------------------- */

/* The rows as rows of a Markdown table, each path with the prefix before it:
 * member, unit, reset (but of STAT_RUN), meaning; and the sets as rows of
 * another: set, members. */
void stats_document(const StatTable *t, const char *prefix, GString *out);
void stats_document_sets(const StatTable *t, GString *out);

/* NULL, or the fault of the table: a path given twice, rows of one object
 * that stand apart, an unknown set.  g_free() it. */
char *stats_table_fault(const StatTable *t);

#endif
