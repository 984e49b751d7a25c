/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.c - how several traces belong together.
 *
 * blktrace writes a file for each CPU, NAME.blktrace.0 and on, with the times
 * of one clock.  Formats with dates (TraceFormat.since_ns) have the clock of
 * everybody.  All other files have a clock of their own.
 */
#include "join.h"

#include <string.h>
#include <glib/gstdio.h>

#define MAX_CPUS 65536 /* more in a file are damage */

static const struct {
    const char *name;
    const char *help;
} joins[] = {
#define JOIN_ROW(upper, name, help) {name, help},
    JOINS(JOIN_ROW)
#undef JOIN_ROW
};

const char *join_name(unsigned i)
{
    return i < N_JOINS ? joins[i].name : NULL;
}

const char *join_help(unsigned i)
{
    return joins[i].help;
}

/* ---- one recording? ------------------------------------------------------ */

bool join_same_host(const Trace *a, const Trace *b)
{
    return trace_format(a) == trace_format(b) &&
           strcmp(trace_origin(a)->host, trace_origin(b)->host) == 0;
}

/* Has it no record but notes? */
static bool is_silent(const Trace *t)
{
    return trace_is_void(t) ||
           (trace_format(t) == &trace_blktrace && trace_origin(t)->device == 0);
}

bool join_of_blktrace(Trace *const *trace, unsigned n)
{
    bool some = false;

    for (unsigned i = 0; i < n; i++) {
        if (!trace_is_void(trace[i])) {
            if (trace_format(trace[i]) != &trace_blktrace) {
                return false;
            }
            some = true;
        }
    }
    return some;
}

/* One CPU each: are some of the same device and CPU, and some of others? */
static bool cpus_fit(Trace *const *trace, unsigned n, bool *same, bool *other)
{
    const TraceOrigin *first = NULL;

    *same = *other = false;
    for (unsigned i = 0; i < n; i++) {
        const TraceOrigin *a = trace_origin(trace[i]);

        if (is_silent(trace[i])) {
            continue;
        }
        if (!a->of_one_cpu) {
            return false;
        }
        first = first ? first : a;
        *other |= a->cpu != first->cpu;
        for (unsigned j = 0; j < i; j++) {
            const TraceOrigin *b = trace_origin(trace[j]);

            *same |= !is_silent(trace[j]) && a->cpu == b->cpu &&
                     a->device == b->device;
        }
    }
    return true;
}

static bool dates_fit(Trace *const *trace, const char *const *paths, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!trace_origin(trace[i])->dated ||
            !join_same_host(trace[i], trace[0])) {
            return false;
        }
        for (unsigned j = 0; j < i; j++) {
            if (strcmp(paths[i], paths[j]) == 0) {
                return false;
            }
        }
    }
    return true;
}

bool join_choose(Trace *const *trace, const char *const *paths, unsigned n,
                 Join *join, GError **error)
{
    bool same, other;

    *join = JOIN_APART;
    if (join_of_blktrace(trace, n) && cpus_fit(trace, n, &same, &other)) {
        if (same && other) {
            g_set_error(error, SIM_ERROR, SIM_ERROR_TRACE,
                        "%s: parts of more than one recording of blktrace: "
                        "merge each by blkparse -d, or name the way: --join",
                        paths[0]);
            return false;
        }
        *join = same ? JOIN_APART : JOIN_CLOCK;
    } else if (dates_fit(trace, paths, n)) {
        *join = JOIN_CLOCK;
    }
    return true;
}

/* ---- parts that are not given -------------------------------------------- */

/* NAME.blktrace.N, perhaps packed: *name without the folder, and N. */
static bool is_part(const char *file, char **name, int64_t *number)
{
    g_autoptr(GRegex) regex = g_regex_new(
        "^(.*)\\.blktrace\\.([0-9]{1,6})(\\.[a-z0-9]{2,4})?$", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    g_autofree char *digits = NULL;

    if (!g_regex_match(regex, file, 0, &match)) {
        return false;
    }
    digits = g_match_info_fetch(match, 2);
    *number = g_ascii_strtoll(digits, NULL, 10);
    *name = g_match_info_fetch(match, 1);
    return true;
}

static bool has_bytes(const char *folder, const char *file)
{
    g_autofree char *path = g_build_filename(folder, file, NULL);
    GStatBuf st;

    return g_stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Numbers of the parts of name among the paths, all in the folder. */
static GHashTable *parts_given(const char *const *paths, unsigned n,
                               const char *folder, const char *name)
{
    GHashTable *all = g_hash_table_new(NULL, NULL);

    for (unsigned i = 0; i < n; i++) {
        g_autofree char *in = g_path_get_dirname(paths[i]);
        g_autofree char *file = g_path_get_basename(paths[i]);
        g_autofree char *whose = NULL;
        int64_t number;

        if (strcmp(in, folder) == 0 && is_part(file, &whose, &number) &&
            strcmp(whose, name) == 0) {
            g_hash_table_add(all, GINT_TO_POINTER((int)number + 1));
        }
    }
    return all;
}

/* Parts in the folder that are not among those known, which grow by them and
 * by idle ones; *lowest: a name, g_free(). */
static unsigned parts_beside(GHashTable *known, const char *folder,
                             const char *name, char **lowest)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    int64_t least = INT64_MAX;
    const char *file;
    unsigned n = 0;

    while (dir && (file = g_dir_read_name(dir))) {
        g_autofree char *whose = NULL;
        int64_t number;

        if (!is_part(file, &whose, &number) || strcmp(whose, name) != 0 ||
            !g_hash_table_add(known, GINT_TO_POINTER((int)number + 1)) ||
            !has_bytes(folder, file)) {
            continue;
        }
        n++;
        if (number < least) {
            least = number;
            g_free(*lowest);
            *lowest = g_strdup(file);
        }
    }
    return n;
}

/* Of the recording that the path is a part of, by names; *known grows by the
 * numbers of its files. */
static unsigned missing_beside(const char *const *paths, unsigned n,
                               const char *path, const char *name,
                               GHashTable *known, char **note)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(GHashTable) parts = parts_given(paths, n, folder, name);
    unsigned n_given = g_hash_table_size(parts);
    g_autofree char *lowest = NULL;
    unsigned missing = parts_beside(parts, folder, name, &lowest);
    GHashTableIter iter;
    gpointer number;

    g_hash_table_iter_init(&iter, parts);
    while (g_hash_table_iter_next(&iter, &number, NULL)) {
        g_hash_table_add(known, number);
    }
    if (missing && !*note) {
        *note = g_strdup_printf(
            "%s is a part of a recording: %u of its %u files are given; %s%s "
            "beside it: give all of them",
            path, n_given, n_given + missing, lowest,
            missing > 1 ? " and others are" : " is");
    }
    return missing;
}

/* Of CPUs below the highest, by records: those of which no file is known. */
static unsigned missing_cpus(Trace *const *trace, const char *const *paths,
                             unsigned n, GHashTable *known, char **note)
{
    unsigned n_silent = 0; /* they may be of any CPU */
    unsigned missing = 0;
    unsigned last = 0;

    for (unsigned i = 0; i < n; i++) {
        const TraceOrigin *o = trace_origin(trace[i]);

        if (is_silent(trace[i])) {
            n_silent++;
            continue;
        }
        if (!o->of_one_cpu || o->cpu >= MAX_CPUS) {
            return 0;
        }
        g_hash_table_add(known, GINT_TO_POINTER((int)o->cpu + 1));
        last = o->cpu > trace_origin(trace[last])->cpu ? i : last;
    }
    for (unsigned cpu = 0; cpu < trace_origin(trace[last])->cpu; cpu++) {
        missing += !g_hash_table_contains(known, GINT_TO_POINTER(cpu + 1));
    }
    if (missing <= n_silent) {
        return 0;
    }
    *note = g_strdup_printf(
        "%s holds the requests of CPU %u alone, and %u CPUs below have no "
        "file: blktrace writes one for each CPU; give all of them",
        paths[last], trace_origin(trace[last])->cpu, missing - n_silent);
    return missing - n_silent;
}

unsigned join_missing(Trace *const *trace, const char *const *paths, unsigned n,
                      char **note)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    unsigned missing = 0;

    *note = NULL;
    if (!join_of_blktrace(trace, n)) {
        return 0;
    }
    for (unsigned i = 0; i < n; i++) {
        g_autofree char *file = g_path_get_basename(paths[i]);
        g_autofree char *folder = g_path_get_dirname(paths[i]);
        g_autofree char *name = NULL;
        int64_t number;

        if (is_part(file, &name, &number) &&
            g_hash_table_add(seen, g_build_filename(folder, name, NULL))) {
            missing += missing_beside(paths, n, paths[i], name, known, note);
        }
    }
    return missing ? missing : missing_cpus(trace, paths, n, known, note);
}
