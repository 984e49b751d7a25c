/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-args.h - options about traces, of the commands that read them: which
 * requests there are, where and when.
 */
#ifndef VSSD_SIM_TRACE_ARGS_H
#define VSSD_SIM_TRACE_ARGS_H

#include "command.h"
#include "source.h"

extern const OptionTable trace_options;

/* Formats, and ways of --join and --remap, for --help. */
void trace_args_help(GString *out);

/* A part for the whole is no error, but nobody would expect it: say so.  NULL:
 * all is there. */
void trace_args_note(const char *note);

/* The value of --runtime; NULL: no limit, 0. */
bool trace_args_runtime(const char *text, uint64_t *ns, GError **error);

/* Is there a trace, and are there not too many? */
bool trace_args_paths(char **paths, GError **error);

/* All of *from but how it is played.  paths must outlive it; seed: of --retime.
 */
bool trace_args(char **paths, uint64_t seed, SourceTraces *from,
                GError **error);

#endif
