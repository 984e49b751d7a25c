/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssd-report.h - reports of a drive: statistics, logs, checks. */
#ifndef VSSD_SSD_REPORT_H
#define VSSD_SSD_REPORT_H

#include "hist.h"
#include "json.h"
#include "options.h"
#include "ssd.h"
#include "stats.h"

/* ---- statistics --------------------------------------------------------- */

/* Append one JSON object (no key: pass NULL) or the members of docs/results.md
 * that come from the drive, under key. */
void ssd_stats_json(const Ssd *ssd, JsonWriter *w, const char *key);

/* Append these members to an object that is open. */
void ssd_stats_members(const Ssd *ssd, JsonWriter *w);

/* Append only those of its members that describe work in the drive, to
 * an object that is open; for a front end that measures latency itself. */
void ssd_stats_json_drive(const Ssd *ssd, JsonWriter *w);

/* Append the options that differ from their defaults, whether a profile or the
 * caller set them, as members: numbers and switches as such, others as a user
 * types them. */
void ssd_options_json(const Ssd *ssd, JsonWriter *w);

/* The tables of both, for docs/results.md: the members that ssd_stats_json()
 * has in addition, those of the drive, and those that a map adds to "map", by
 * index of ftl.map.  NULL: it adds none; *name is NULL, too: there is no such
 * map. */
extern const StatTable ssd_head_stats;
extern const StatTable ssd_stats;
const StatTable *ssd_map_stats(unsigned map, const char **name);

typedef struct SsdCounters {
    uint64_t commands[SSD_N_OPS]; /* completed, whatever their status */
    uint64_t host_units_read;     /* mapping units touched by READ */
    uint64_t host_units_written;
    uint64_t host_bytes_read;
    uint64_t host_bytes_written;
    uint64_t nand_reads;
    uint64_t nand_programs;
    uint64_t nand_erases;
    uint64_t nand_bytes_written;
    uint64_t copied_units; /* by GC */
    uint64_t read_retries;
    uint64_t uncorrectable_reads; /* of NAND pages, for whatever cause */
    uint64_t program_failures;
    uint64_t erase_failures;
    uint64_t factory_bad_blocks; /* this and the following: not reset */
    uint64_t grown_bad_blocks;
    uint32_t spare_percent; /* of the blocks that may yet go bad; 0: any more
                               makes the drive read-only */
    bool read_only;
    uint64_t max_erase_count; /* these two: of all blocks, in SLC mode or not */
    double mean_erase_count;
    uint32_t percent_used; /* of the rated cycles, on average, weighed by the
                              mode of the erases; may be above 100; 0 without
                              media.rated_cycles */
    double waf; /* NAND bytes programmed / host bytes taken; 0 before any */
} SsdCounters;

/* Two of them alone, at little cost. */
bool ssd_read_only(const Ssd *ssd);
uint32_t ssd_spare_percent(const Ssd *ssd);

/* Another number whenever one of these two has changed: O(1), for a caller that
 * looks after each ssd_submit() and ssd_advance(). */
uint64_t ssd_health(const Ssd *ssd);

void ssd_get_counters(const Ssd *ssd, SsdCounters *c);

/* The same, as firmware knows them: with ftl.counters_interval, without the
 * commands and bytes of the host that power cuts took; and the time with power
 * that they took. */
void ssd_known_counters(const Ssd *ssd, SsdCounters *c);
uint64_t ssd_uncounted_ns(const Ssd *ssd);

/* Share of the time since the last reset in which channels, and dies, were
 * busy, averaged over them. */
void ssd_utilization(const Ssd *ssd, double *bus, double *die);

/* What bounds the drive since the last reset: a table of its stages, and a line
 * that names the bottleneck (docs/results-drive.md, explain.*). */
void ssd_explain_text(const Ssd *ssd, GString *out);

/* Latency of every completed command of one kind, in ns; owned by the drive. */
const Hist *ssd_latency(const Ssd *ssd, SsdOp op);

/* Append the latencies since the last reset as a log of HdrHistogram (hdr.h):
 * a line for each kind of command, and one for all. */
void ssd_latency_log(const Ssd *ssd, GString *out);

/* What write amplification is made of, in O(planes). */
typedef struct SsdWritten {
    uint64_t host_bytes;  /* accepted since the last reset */
    uint64_t nand_bytes;  /* programmed since then */
    uint64_t dirty_bytes; /* in the buffer, and not in NAND yet */
    uint64_t free_blocks; /* of all planes */
    double victim_valid;  /* mean share of valid units in a victim of GC since
                             the last reset; 0: there was none */
} SsdWritten;

void ssd_get_written(const Ssd *ssd, SsdWritten *w);

/* Forget latencies and counters (not wear): the warm-up is over. */
void ssd_reset_stats(Ssd *ssd);

/* ---- policies from outside ------------------------------------------------
 */

/* One line (g_free) that names the policy from outside and the rule that it
 * broke; NULL: none has.  The drive goes on by rules of its own. */
char *ssd_policy_fault(const Ssd *ssd);

/* Called once for each policy that breaks a rule, in the middle of the call of
 * the drive: it must not call the drive. */
void ssd_on_policy_fault(Ssd *ssd,
                         void (*fault)(void *opaque, const char *line),
                         void *opaque);

/* ---- operation log ------------------------------------------------------- */

/*
 * Write everything that the drive does from now on to a file (docs/oplog.md),
 * for vssd-oplog-check.  Before ssd_preload() and the first ssd_submit().
 * false: the file cannot be written, the drive has been, or ftl.recovery is not
 * capacitors; *error says which.
 */
bool ssd_oplog_open(Ssd *ssd, const char *path, GError **error);

/* End the log, if there is one; false: not all of it could be written.
 * ssd_destroy() ends it, too. */
bool ssd_oplog_close(Ssd *ssd, GError **error);

/* ---- timeline ------------------------------------------------------------ */

#define SSD_TIMELINE_OPTIONS 3

typedef struct SsdTimelineOptions {
    uint64_t from_ps; /* since ssd_timeline_open() */
    uint64_t for_ps;  /* 0: to the end */
    uint64_t bytes;   /* of memory */
    /* Optional (NULL: 0): the queue of a command, with SsdCmd.tag; a leaf call
     * when it completes.  queue | controller << 16. */
    uint32_t (*queue_of)(void *opaque, uint64_t tag);
    void *opaque;
} SsdTimelineOptions;

/* Rows for the first three members. */
extern const OptDesc ssd_timeline_options[SSD_TIMELINE_OPTIONS];

/*
 * Keep the commands, operations and GC from now on in memory, the newest ones,
 * and write them to the file in the end, as a Perfetto trace
 * (docs/timeline.md). false: the file cannot be written, or there is an
 * operation log; *error says which.
 */
bool ssd_timeline_open(Ssd *ssd, const char *path,
                       const SsdTimelineOptions *options, GError **error);

/* Write the file, if there is a timeline; false: not all of it could be
 * written.  ssd_destroy() does the same. */
bool ssd_timeline_close(Ssd *ssd, GError **error);

/* ---- trace --------------------------------------------------------------- */

/*
 * Write what the host does to the drive from now on, and when each command
 * ends, to a file (docs/traces.md) that vssd-sim plays again.  While nothing is
 * in flight; before ssd_preload(), else what was there from the beginning is
 * not known.  name: of the profile, for people.  false: the file cannot be
 * written; *error names it.
 */
bool ssd_trace_open(Ssd *ssd, const char *path, const char *name,
                    GError **error);

/* Write the buffered records; end the trace.  false: not all of it could be
 * written.  True without a trace.  ssd_destroy() ends it, too. */
bool ssd_trace_flush(Ssd *ssd, GError **error);
bool ssd_trace_close(Ssd *ssd, GError **error);

/* ---- tests -------------------------------------------------------------- */

/* Every invariant of map, spare areas, blocks and queues.  Slow.  Only when
 * ssd_ready(): while the drive is recovering, its tables are not complete. */
bool ssd_check(const Ssd *ssd, GError **error);

/* A part of it, and fast: GC of no plane waits for an event that will not come.
 * At any instant, but not while a call is under way. */
bool ssd_check_wakes(const Ssd *ssd, GError **error);

#endif
