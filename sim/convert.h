/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * convert.h - write a trace of the project's own in the words of other tools.
 */
#ifndef VSSD_SIM_CONVERT_H
#define VSSD_SIM_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <glib.h>

#include "recorded.h"

/* X(upper, name, help) */
#define CONVERT_FORMATS(X)                                                     \
    X(BLKPARSE, "blkparse",                                                    \
      "blkparse's text: a line D for each command, a line C for its end")      \
    X(MSR, "msr",                                                              \
      "MSR Cambridge's CSV: reads and writes, with response times")

typedef enum ConvertFormat {
#define CONVERT_ENUM(upper, name, help) CONVERT_##upper,
    CONVERT_FORMATS(CONVERT_ENUM)
#undef CONVERT_ENUM
        CONVERT_N_FORMATS,
} ConvertFormat;

/* The name of format i; NULL past the last. */
const char *convert_name(unsigned i);
const char *convert_help(unsigned i);

/* false: the name is no format; *error lists them. */
bool convert_find(const char *name, ConvertFormat *format, GError **error);

/* *n_left_out counts the commands that the format has no words for.  false: the
 * file is damaged. */
bool convert(Recorded *from, ConvertFormat format, FILE *out,
             uint64_t *n_left_out, GError **error);

#endif
