/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command.h - the commands of vssd-sim, and the parts of the command line that
 * they share.
 *
 * A command is one file, cmd-NAME.c, with its own option table and one Command.
 * Options that several commands have are tables of drive.h and play.h.  A
 * process runs one command, so the values of options are static.
 */
#ifndef VSSD_SIM_COMMAND_H
#define VSSD_SIM_COMMAND_H

#include <stdbool.h>
#include <glib.h>

#include "options.h"

/*
 * Options that belong together, under a title of --help.  Values are strings,
 * lists of strings, or gboolean, so NULL and FALSE mean: not given.
 */
typedef struct OptionTable {
    const char *title;
    const GOptionEntry *entries; /* a NULL name at the end */
} OptionTable;

#define COMMAND_MAX_TABLES 8

typedef struct Command {
    const char *name;
    const char *help;   /* one line, for vssd-sim --help */
    const char *words;  /* arguments after the options, in --help; or NULL */
    unsigned max_words; /* more than these are refused */
    /* In the order of --help; NULL at the end.  May be empty. */
    const OptionTable *tables[COMMAND_MAX_TABLES];
    /* Optional: with the options given so far, the tables that --help lists, as
     * above; the options of all others are refused.  NULL: all tables. */
    const OptionTable *const *(*shown)(const struct Command *c);
    /* Optional: the end of --help, after the options. */
    void (*more)(GString *out);
    /* words ends with NULL.  Results go to stdout.  false: *error is set, and
     * there may be results nevertheless. */
    bool (*run)(char **words, GError **error);
} Command;

/* Every command, in the order of --help.  X(name), for the Command cmd_<name>.
 */
#define COMMANDS(X)                                                            \
    X(run)                                                                     \
    X(replay)                                                                  \
    X(batch)                                                                   \
    X(convert)                                                                 \
    X(fit)                                                                     \
    X(info)                                                                    \
    X(options)

#define COMMAND_DECLARE(name) extern const Command cmd_##name;
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

/* ---- errors -------------------------------------------------------------- */

/* A mistake that --help of the command explains; always false. */
bool command_usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Is --name of the table given? */
bool option_given(const OptionTable *table, const char *name);

/*
 * false: an option of the table is given, other than except (names with commas
 * between, or NULL); *error names it, and why follows: "not with ...".
 */
bool options_absent(const OptionTable *table, const char *except,
                    const char *why, GError **error);

/* Can a file of this name be written?  The file itself is left as it is.  path
 * NULL: yes. */
bool output_check(const char *option, const char *path, GError **error);

/* The same, and no other drive may write it until the program ends: for a file
 * that is replaced at the end. */
bool output_claim(const char *option, const char *path, GError **error);

/* Of a fork, before _exit(). */
void output_release(void);

/* ---- signals (stop.c) ---------------------------------------------------- */

/* Signals end the program from now on. */
void stop_watch(void);

/* From now on there are results: the first signal ends the run, not the
 * program. */
void stop_defer(void);

/* Has a signal come? */
bool stop_wanted(void);

/* The same; if so, the exit status will be that of the signal. */
bool stop_taken(void);

/* A signal that has come is sent on to the process, once. */
void stop_pass_on(int process);

/* The exit status, of a program that would end with `status`. */
int stop_status(int status);

/* ---- parts of --help ----------------------------------------------------- */

/* A line for each keyword: range and default, too. */
void help_keywords(GString *out, const OptDesc *table, size_t n);

/* "  name         help", a line each; name(i) is NULL past the last. */
void help_names(GString *out, const char *title,
                const char *(*name)(unsigned i),
                const char *(*help)(unsigned i));

#endif
