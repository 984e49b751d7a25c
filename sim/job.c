/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.c - read fio job files (fio manual, "Job file format").
 *
 * Values are workload.h's business: the vocabulary is the same.
 */
#include "job.h"

#include <string.h>

#include "options.h"
#include "request.h"
#include "workload.h"

/* fio's names of keywords that workload.h names otherwise. */
static const struct {
    const char *fio;
    const char *ours;
} aliases[] = {
    {"readwrite", "rw"},  {"blocksize", "bs"}, {"bs_split", "bssplit"},
    {"io_limit", "io_size"}, {"randseed", "seed"},
};

/* They do not change which requests there are, or when. */
static const char *const passed_over[] = {
    "name",         "description",   "ioengine",       "direct",
    "filename",     "directory",     "group_reporting", "thread",
    "invalidate",   "buffered",      "norandommap",    "randrepeat",
    "time_based",   "stonewall",     "wait_for_previous", "log_avg_msec",
    "write_bw_log", "write_lat_log", "write_iops_log", "refill_buffers", "buffer_compress_percentage", "verify_fatal",
    "allow_mounted_write", "create_on_open", "unlink", "fallocate",
    "cpus_allowed", "numa_cpu_nodes", "hipri", "fixedbufs", "registerfiles",
    "sqthread_poll", "random_generator", "percentile_list", "lat_percentiles",
    "clat_percentiles", "disable_lat", "disable_clat", "disable_slat",
    "gtod_reduce", "exitall", "per_job_logs",
    "iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete",
    "iodepth_batch_complete_min", "iodepth_batch_complete_max",
    "iodepth_low", "nice", "prio", "prioclass",
};

typedef struct Job {
    const char *path;
    const char *wanted; /* or NULL */
    unsigned line;
    GString *global;
    GString *keywords; /* of the wanted section, or of the first */
    GString *names;
    unsigned n_sections;
    enum { IN_NONE, IN_GLOBAL, IN_WANTED, IN_OTHER } in;
} Job;

static bool bad(const Job *j, const char *what, GError **error)
{
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "%s:%u: %s", j->path,
                j->line, what);
    return false;
}

static void take_section(Job *j, const char *name)
{
    if (strcmp(name, "global") == 0) {
        j->in = IN_GLOBAL;
        return;
    }
    j->in = j->wanted ? (strcmp(name, j->wanted) == 0 ? IN_WANTED : IN_OTHER)
                      : IN_WANTED;
    g_string_append_printf(j->names, "%s%s", j->names->len ? ", " : "", name);
    j->n_sections += j->in == IN_WANTED;
}

static bool is_passed_over(const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(passed_over); i++) {
        if (strcmp(passed_over[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_option(Job *j, const char *key, const char *value,
                        GError **error)
{
    GString *to = j->in == IN_GLOBAL ? j->global : j->keywords;

    for (size_t i = 0; i < G_N_ELEMENTS(aliases); i++) {
        if (strcmp(aliases[i].fio, key) == 0) {
            key = aliases[i].ours;
        }
    }
    if (is_passed_over(key) ||
        (strcmp(key, "numjobs") == 0 && value && strcmp(value, "1") == 0)) {
        return true;
    }
    if (!opt_find(workload_options, workload_n_options, key)) {
        g_autofree char *what = g_strdup_printf(
            "%s: not among the options that are understood (vssd-sim run "
            "--help lists them)",
            key);

        return bad(j, what, error);
    }
    if (!value || strpbrk(value, " \t")) {
        g_autofree char *what =
            g_strdup_printf("%s: not keyword=value", key);

        return bad(j, what, error);
    }
    g_string_append_printf(to, "%s=%s ", key, value);
    return true;
}

static bool take_line(Job *j, char *line, GError **error)
{
    char *value;
    size_t len;

    line = g_strstrip(line);
    len = strlen(line);
    if (len == 0 || line[0] == '#' || line[0] == ';') {
        return true;
    }
    if (line[0] == '[') {
        if (line[len - 1] != ']') {
            return bad(j, "a section without ]", error);
        }
        line[len - 1] = '\0';
        take_section(j, line + 1);
        return true;
    }
    if (j->in == IN_NONE) {
        return bad(j, "an option before the first [section]", error);
    }
    value = strchr(line, '=');
    if (value) {
        *value++ = '\0';
        value = g_strstrip(value);
    }
    return j->in == IN_OTHER || take_option(j, g_strchomp(line), value, error);
}

static bool take_all(Job *j, const char *contents, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(contents, "\n", -1);

    for (char **line = lines; *line; line++) {
        j->line++;
        if (!take_line(j, *line, error)) {
            return false;
        }
    }
    if (j->n_sections != 1) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD,
                    "%s: %s; --section names one of: %s", j->path,
                    j->n_sections ? "more than one job" : "no such job",
                    j->names->str);
        return false;
    }
    return true;
}

char *job_keywords(const char *path, const char *section, GError **error)
{
    g_autofree char *contents = NULL;
    g_autoptr(GString) global = g_string_new(NULL);
    g_autoptr(GString) keywords = g_string_new(NULL);
    g_autoptr(GString) names = g_string_new(NULL);
    Job j = {
        .path = path,
        .wanted = section,
        .global = global,
        .keywords = keywords,
        .names = names,
    };
    GError *cause = NULL;

    if (!g_file_get_contents(path, &contents, NULL, &cause)) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "%s", cause->message);
        g_error_free(cause);
        return NULL;
    }
    if (!take_all(&j, contents, error)) {
        return NULL;
    }
    g_string_append(global, keywords->str);
    return g_strchomp(g_strdup(global->str));
}
