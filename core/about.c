/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * about.c - which vssd made a result, and on which machine.
 */
#include "about.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "about-commit.h"

/* The value of the first line "name : value" of /proc/cpuinfo, or NULL. */
static char *cpuinfo(const char *name)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL)) {
        return NULL;
    }
    lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line; line++) {
        const char *colon = strchr(*line, ':');

        if (colon && g_str_has_prefix(*line, name)) {
            return g_strstrip(g_strdup(colon + 1));
        }
    }
    return NULL;
}

static const struct utsname *machine(void)
{
    static struct utsname name;

    if (!*name.sysname) {
        uname(&name);
    }
    return &name;
}

static const char *kernel(void)
{
    static char text[sizeof(struct utsname)];

    g_snprintf(text, sizeof(text), "%s %s %s", machine()->sysname,
               machine()->release, machine()->machine);
    return text;
}

static const char *processor(void)
{
    static char *text;

    if (!text) {
        text = cpuinfo("model name");
    }
    return text ? text : "";
}

#define ABOUT_STATS(V)                                                         \
    V(STRING, version, "vssd.version", VSSD_VERSION, "version of vssd")        \
    V(STRING, commit, "vssd.commit", VSSD_COMMIT,                              \
      "last commit that changed the sources it was built from, or empty; "     \
      "changes that were not committed do not show")                           \
    V(STRING, kernel, "host.kernel", kernel(), "of the machine that ran it")   \
    V(STRING, processor, "host.processor", processor(),                        \
      "model of its processor, or empty")                                      \
    V(U64, cores, "host.cores", g_get_num_processors(),                        \
      "processors that the process may use")

typedef struct About About; /* there is none */

#define ABOUT_GET(type, id, path, value, help)                                 \
    STAT_FUNCTION(About, type, id, value)
#define ABOUT_ROW(type, id, path, value, help)                                 \
    STAT_ROW(type, id, path, "", FIXED, NULL, help)

ABOUT_STATS(ABOUT_GET)

static const StatRow rows[] = {ABOUT_STATS(ABOUT_ROW)};

const StatTable about_stats = {rows, G_N_ELEMENTS(rows), NULL, 0};

void about_write(const void *ctx, JsonWriter *w)
{
    stats_write(&about_stats, ctx, w);
}
