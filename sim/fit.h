/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fit.h - a workload with the attributes of a line of a paper's table.
 *
 * The attributes are those of Table 1 of I. Shin, "Early flush with second
 * chance", 2023, and how skewed the addresses are.  The outcome is keywords of
 * workload.h: a stand-in for a trace that is not at hand, and synthetic.
 */
#ifndef VSSD_SIM_FIT_H
#define VSSD_SIM_FIT_H

#include "describe.h"
#include "options.h"

/* X(type, ctype, field, key, min, max, default, names, help); see options.h. */
#define FIT_OPTIONS(X)                                                         \
    X(DOUBLE, double, read_gb, "read_gb", 0, 1000000, "0", NULL,               \
      "volume read, in 10^9 bytes")                                            \
    X(DOUBLE, double, written_gb, "written_gb", 0, 1000000, "0", NULL,         \
      "volume written")                                                        \
    X(DOUBLE, double, accessed_gb, "accessed_gb", 0, 1000000, "0", NULL,       \
      "volume of the addresses that are touched")                              \
    X(DOUBLE, double, read_sectors, "read_sectors", 0, 65536, "8", NULL,       \
      "mean size of reads, in 512 bytes; 1 or more")                           \
    X(DOUBLE, double, write_sectors, "write_sectors", 0, 65536, "8", NULL,     \
      "mean size of writes")                                                   \
    X(DOUBLE, double, interval_s, "interval_s", 0, 1000000, "0", NULL,         \
      "mean time between requests, in seconds; 0: closed loop")                \
    X(PPM, uint32_t, top_ppm, "top", 0, 990000, "0%", NULL,                    \
      "percent of the requests that go to the hottest 1 % of the addresses; "  \
      "0: uniform")                                                            \
    X(STRING, char *, spread, "spread", 0, 0, NULL, NULL,                      \
      "the random_distribution to use, zoned:...; instead of top")             \
    X(STRING, char *, write_spread, "write_spread", 0, 0, NULL, NULL,          \
      "with spread: that of writes, if it is another")                         \
    X(DOUBLE, double, scale, "scale", 0, 1, "1", NULL,                         \
      "make only this part of the requests, above 0")

typedef struct FitTarget {
#define FIT_FIELD(type, ctype, field, ...) ctype field;
    FIT_OPTIONS(FIT_FIELD)
#undef FIT_FIELD
} FitTarget;

extern const OptDesc fit_options[];
extern const size_t fit_n_options;

/*
 * From "read_gb=9.96 written_gb=20.48 ..." to keywords; g_free().  Appends to
 * *report the requested attributes and the result.  NULL: *error names the key,
 * or says that the drive is too small.
 */
char *fit_workload(const char *text, uint64_t capacity_bytes,
                   uint32_t block_bytes, uint64_t seed, GString *report,
                   GError **error);

#endif
