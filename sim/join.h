/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.h - how several traces belong together.
 */
#ifndef VSSD_SIM_JOIN_H
#define VSSD_SIM_JOIN_H

#include "trace.h"

/* X(upper, name, help) */
#define JOINS(X)                                                               \
    X(APART, "apart",                                                          \
      "separate recordings: each begins with its own first request, and has "  \
      "devices of its own")                                                    \
    X(CLOCK, "clock",                                                          \
      "parts of one recording: one clock, and a device of the same number is " \
      "the same device")                                                       \
    X(APPEND, "append",                                                        \
      "one after the other, on the same devices; dates of one host keep "      \
      "their distance")

typedef enum Join {
#define JOIN_ENUM(upper, name, help) JOIN_##upper,
    JOINS(JOIN_ENUM)
#undef JOIN_ENUM
        N_JOINS, /* as the traces look */
} Join;

/* The name of way i; NULL past the last. */
const char *join_name(unsigned i);
const char *join_help(unsigned i);

/* Are both of one host, or of none that is named, and of one format? */
bool join_same_host(const Trace *a, const Trace *b);

/* Are all that hold anything of blktrace? */
bool join_of_blktrace(Trace *const *trace, unsigned n);

/* The way for n traces, by their first bytes.  false: *error says why nobody
 * can tell. */
bool join_choose(Trace *const *trace, const char *const *paths, unsigned n,
                 Join *join, GError **error);

/*
 * Parts of a recording of blktrace that are beside those given, or CPUs below
 * the highest one without a file: how many, and *note in one line, g_free().
 * 0: none is known.
 */
unsigned join_missing(Trace *const *trace, const char *const *paths, unsigned n,
                      char **note);

#endif
