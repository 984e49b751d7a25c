/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.h - a generator that speaks fio's job keywords: a closed loop, or
 * with a rate an open one.
 *
 * Knows bytes and fio's vocabulary; knows nothing of the drive but its
 * capacity.  Addresses are drawn independently of each other (norandommap in
 * fio), so a random run may touch a block twice or never.
 */
#ifndef VSSD_SIM_WORKLOAD_H
#define VSSD_SIM_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "arrivals.h"
#include "options.h"
#include "presets.h"
#include "request.h"

/* X(type, ctype, field, key, min, max, default, names, help); see options.h. */
#define WORKLOAD_OPTIONS(X)                                                    \
    X(ENUM, uint32_t, preset, "preset", 0, 0, "none", preset_name,             \
      "keywords that go before all others")                                    \
    X(ENUM, uint32_t, rw, "rw", 0, 0, "read", workload_rw_name,                \
      "kind of requests, sequential or random")                                \
    X(SIZE, uint64_t, bs, "bs", 512, 1073741824, "4096", NULL,                 \
      "bytes of each request")                                                 \
    X(STRING, char *, bssplit, "bssplit", 0, 0, NULL, NULL,                    \
      "sizes and their shares, size/percent:size/percent..., instead of bs; "  \
      "after a comma, those of writes")                                        \
    X(U32, uint32_t, iodepth, "iodepth", 1, 65536, "1", NULL,                  \
      "requests kept in flight")                                               \
    X(PPM, uint32_t, rwmixread_ppm, "rwmixread", 0, 1000000, "50%", NULL,      \
      "percent of reads when rw mixes reads and writes")                       \
    X(STRING, char *, size, "size", 0, 0, "100%", NULL,                        \
      "bytes, or percent of the drive, that are touched, from offset on")      \
    X(STRING, char *, offset, "offset", 0, 0, "0", NULL,                       \
      "bytes, or percent of the drive, before the part that is touched")       \
    X(U64, uint64_t, number_ios, "number_ios", 0, UINT64_MAX, "0", NULL,       \
      "end after this many requests (flushes included); 0: no limit")          \
    X(SIZE, uint64_t, io_size, "io_size", 0, UINT64_MAX, "0", NULL,            \
      "end after this many bytes; 0: no limit")                                \
    X(TIME, uint64_t, runtime_ps, "runtime", 0, UINT64_MAX / 2, "0s", NULL,    \
      "end after this much modelled time; bare numbers are seconds; 0: no "    \
      "limit")                                                                 \
    X(U64, uint64_t, rate_iops, "rate_iops", 0, 1000000000, "0", NULL,         \
      "open loop: so many requests a second; 0: closed loop")                  \
    X(TIME, uint64_t, interval_ps, "interval", 0, UINT64_MAX / 8, "0s", NULL,  \
      "open loop: mean time between requests, instead of rate_iops")           \
    X(ENUM, uint32_t, rate_process, "rate_process", 0, 0, "linear",            \
      arrivals_name, "how the requests of an open loop come")                  \
    X(DOUBLE, double, rate_alpha, "rate_alpha", 1, 10, "1.5", NULL,            \
      "shape of rate_process=pareto, above 1")                                 \
    X(TIME, uint64_t, on_ps, "on_time", 1000, 86400000000000000, "100ms",      \
      NULL, "rate_process=onoff: length of a time with requests")              \
    X(TIME, uint64_t, off_ps, "off_time", 0, 86400000000000000, "900ms", NULL, \
      "rate_process=onoff: length of a time without; rate_iops is the mean "   \
      "of both")                                                               \
    X(STRING, char *, distribution, "random_distribution", 0, 0, "random",     \
      NULL,                                                                    \
      "random, zipf:THETA, zoned:ACCESS/AREA:... (percent): which "            \
      "random addresses are hot; after a comma, those of writes")              \
    X(PPM, uint32_t, random_ppm, "percentage_random", 0, 1000000, "100%",      \
      NULL,                                                                    \
      "percent of random addresses when rw is random; the rest go on "         \
      "where the last request ended")                                          \
    X(U64, uint64_t, seed, "seed", 0, UINT64_MAX, "0", NULL,                   \
      "of the draws; 0: that of the drive")                                    \
    X(U64, uint64_t, fsync, "fsync", 0, UINT64_MAX, "0", NULL,                 \
      "a flush after this many writes, in one of the iodepth places; 0: none") \
    X(U32, uint32_t, open_zones, "max_open_zones", 1, 62, "1", NULL,           \
      "of a drive with zones: so many are written at a time, in turns")        \
    X(U32, uint32_t, zone_append, "zone_append", 0, 1, "0", NULL,              \
      "the same; 1: writes are Zone Appends")                                  \
    X(SIZE, uint64_t, finish_after, "finish_after", 0, UINT64_MAX, "0", NULL,  \
      "the same: a zone is finished when so many bytes of it are written; 0: " \
      "it is filled")

typedef struct WorkloadConfig {
#define WORKLOAD_FIELD(type, ctype, field, ...) ctype field;
    WORKLOAD_OPTIONS(WORKLOAD_FIELD)
#undef WORKLOAD_FIELD
} WorkloadConfig;

extern const OptDesc workload_options[];
extern const size_t workload_n_options;

typedef struct Workload Workload;

/* A size as fio's manual has it: 64k and 64kb are powers of 1024, 64kib is one of
 * 1000; false: it is none. */
bool workload_bytes(const char *text, uint64_t *out);

/* The same of an option or keyword, in a range; false: *error names the bound
 * that was broken or the unit that there is not. */
bool workload_size(const char *key, const char *value, uint64_t least,
                   uint64_t most, uint64_t *out, GError **error);

/*
 * The keywords of a text: itself, or the contents of FILE if it is "@FILE"
 * (lines; # begins a comment).  NULL: *error names the file.
 */
char *workload_text(const char *text, GError **error);

/*
 * Parse "rw=randwrite bs=4k ..." for a drive of that capacity.  Without a
 * limit (number_ios, io_size, runtime) it ends, as fio does, after as many
 * bytes as size.  NULL: *error names the keyword and its allowed values.
 */
Workload *workload_new(const char *text, uint64_t capacity_bytes,
                       uint32_t block_bytes, uint64_t seed, GError **error);
void workload_free(Workload *w);

/* The drive has zones of that many bytes (0: none).  false: *error names the
 * keyword that does not go with it. */
bool workload_set_zones(Workload *w, uint64_t zone_bytes, GError **error);

/* The workload in one line of keywords that, given to workload_new() for any
 * drive that holds it, makes the same requests again; g_free(). */
char *workload_describe(const Workload *w);

/* Of the part of the drive that is touched. */
uint64_t workload_span(const Workload *w);
bool workload_writes(const Workload *w);

/* What goes before a workload, each with random numbers of its own. */
typedef enum WorkloadBefore {
    WORKLOAD_LEADS = 1, /* --precondition, in modelled time */
    WORKLOAD_SETTLES,   /* --until-steady */
} WorkloadBefore;

/* Requests of the same kind without an end, for a drive without zones;
 * workload_free(). */
Workload *workload_before(const Workload *w, WorkloadBefore what);

/* Valid as long as the workload. */
RequestSource workload_source(Workload *w);

#endif
