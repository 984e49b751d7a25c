/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workload.h - a closed-loop generator that speaks fio's job keywords.
 *
 * Knows bytes and fio's vocabulary; knows nothing of the drive but its
 * capacity.  Addresses are drawn independently of each other (what fio calls
 * norandommap), so a random run may touch a block twice or never.
 */
#ifndef VSSD_SIM_WORKLOAD_H
#define VSSD_SIM_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "options.h"
#include "request.h"

/* X(type, ctype, field, key, min, max, default, names, help); see options.h. */
#define WORKLOAD_OPTIONS(X)                                                    \
    X(ENUM, uint32_t, rw, "rw", 0, 0, "read", workload_rw_name,                \
      "what is done, and whether at random addresses")                         \
    X(SIZE, uint64_t, bs, "bs", 512, 1073741824, "4KiB", NULL,                 \
      "bytes of each request")                                                 \
    X(STRING, char *, bssplit, "bssplit", 0, 0, NULL, NULL,                    \
      "sizes and their shares, size/percent:size/percent..., instead of bs")   \
    X(U32, uint32_t, iodepth, "iodepth", 1, 65536, "1", NULL,                  \
      "requests kept in flight")                                               \
    X(U32, uint32_t, rwmixread, "rwmixread", 0, 100, "50", NULL,               \
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
    X(U64, uint64_t, fsync, "fsync", 0, UINT64_MAX, "0", NULL,                 \
      "a flush after this many writes, in one of the iodepth places; 0: none")

typedef struct WorkloadConfig {
#define WORKLOAD_FIELD(type, ctype, field, ...) ctype field;
    WORKLOAD_OPTIONS(WORKLOAD_FIELD)
#undef WORKLOAD_FIELD
} WorkloadConfig;

extern const OptDesc workload_options[];
extern const size_t workload_n_options;

typedef struct Workload Workload;

/*
 * Parse "rw=randwrite bs=4k ..." for a drive of that capacity.  Without a
 * limit (number_ios, io_size, runtime) it ends, as fio does, after as many
 * bytes as size.  NULL: *error names the keyword and what it allows.
 */
Workload *workload_new(const char *text, uint64_t capacity_bytes,
                       uint32_t block_bytes, uint64_t seed, GError **error);
void workload_free(Workload *w);

/* Valid as long as the workload. */
RequestSource workload_source(Workload *w);

#endif
