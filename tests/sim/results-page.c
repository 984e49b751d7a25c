/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * results-page.c - the tables of docs/results.md and docs/results-drive.md are
 * those of the statistics; VSSD_WRITE_DOCS=1 writes them there.
 *
 * The prose of the pages is written by hand.  A table stands between the lines
 * "<!-- statistics: NAME -->" and "<!-- end -->".
 */
#include <string.h>

#include "about.h"
#include "nvme.h"
#include "record.h"
#include "result.h"
#include "source.h"
#include "ssd-report.h"
#include "stats.h"

#define BEGIN "<!-- statistics: "
#define END   "<!-- end -->\n"

/* The tables of a section, one below the other. */
typedef struct Section {
    const char *name;
    const char *prefix; /* of the members */
    const StatTable *table[4];
} Section;

static const Section sections[] = {
    {"run", "", {&result_stats, &source_stats, &taken_stats}},
    {"series", "", {&series_stats}},
    {"histogram", "<histogram>.", {&hist_stats}},
    {"about", "", {&about_stats}},
    {"drive", "", {&ssd_stats}},
    {"qemu", "", {&ssd_head_stats, &nvme_stats}},
    {"info", "", {&result_info_stats}},
};

static const StatTable *const with_sets[] = {&result_stats, &taken_stats,
                                             &series_stats, &ssd_stats};

static void heading(const StatTable *t, GString *out)
{
    g_string_append(out, t->row[0].reset == STAT_RUN
                             ? "| member | unit | meaning |\n|---|---|---|\n"
                             : "| member | unit | kind | meaning |\n"
                               "|---|---|---|---|\n");
}

/* Members that the maps add to "map". */
static void document_maps(GString *out)
{
    const StatTable *t;
    const char *name;

    for (unsigned i = 0; t = ssd_map_stats(i, &name), name; i++) {
        if (t) {
            g_string_append_printf(out, "With `ftl.map=%s`:\n\n", name);
            heading(t, out);
            stats_document(t, "map.", out);
        }
    }
}

static void document_sets(GString *out)
{
    g_string_append(out, "| in a path | stands for |\n|---|---|\n");
    for (size_t i = 0; i < G_N_ELEMENTS(with_sets); i++) {
        stats_document_sets(with_sets[i], out);
    }
}

static void document(const char *name, GString *out)
{
    g_string_append_c(out, '\n');
    if (strcmp(name, "maps") == 0) {
        document_maps(out);
    } else if (strcmp(name, "sets") == 0) {
        document_sets(out);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
        const Section *s = &sections[i];

        if (strcmp(s->name, name) == 0) {
            heading(s->table[0], out);
            for (size_t k = 0; s->table[k]; k++) {
                stats_document(s->table[k], s->prefix, out);
            }
        }
    }
    g_assert_cmpuint(out->len, >, 1); /* else there is no such section */
    g_string_append_c(out, '\n');
}

/* The page, with its tables made again; how many they are. */
static unsigned renew(const char *page, GString *out)
{
    unsigned n = 0;
    const char *at;

    for (; (at = strstr(page, BEGIN)); n++) {
        const char *line_end = strchr(at, '\n');
        const char *end = strstr(at, END);
        g_autofree char *name = NULL;
        g_autoptr(GString) table = g_string_new(NULL);

        g_assert_nonnull(end);
        at += strlen(BEGIN);
        name = g_strndup(at, strcspn(at, " "));
        document(name, table);
        g_string_append_len(out, page, line_end + 1 - page);
        g_string_append(out, table->str);
        page = end;
    }
    g_string_append(out, page);
    return n;
}

/* The number of its tables. */
static unsigned check_page(const char *path)
{
    g_autoptr(GString) want = g_string_new(NULL);
    g_autofree char *have = NULL;
    GError *error = NULL;
    unsigned n;

    g_file_get_contents(path, &have, NULL, &error);
    g_assert_no_error(error);
    n = renew(have, want);
    if (g_getenv("VSSD_WRITE_DOCS")) {
        g_file_set_contents(path, want->str, (gssize)want->len, &error);
        g_assert_no_error(error);
    } else if (strcmp(have, want->str) != 0) {
        g_error("%s is out of date: run this test with VSSD_WRITE_DOCS=1",
                path);
    }
    return n;
}

static void test_pages(void)
{
    unsigned n = check_page(DOCS "/results.md");

    n += check_page(DOCS "/results-drive.md");
    /* The sections, the maps and the sets. */
    g_assert_cmpuint(n, ==, G_N_ELEMENTS(sections) + 2);
}

static void check(const StatTable *t)
{
    g_autofree char *fault = stats_table_fault(t);

    g_assert_cmpstr(fault, ==, NULL);
    for (size_t i = 0; i < t->n_rows; i++) {
        g_assert_cmpuint(strlen(t->row[i].help), >, 0);
    }
}

static void test_tables(void)
{
    const StatTable *t;
    const char *name;

    for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
        for (size_t k = 0; sections[i].table[k]; k++) {
            check(sections[i].table[k]);
        }
    }
    for (unsigned i = 0; t = ssd_map_stats(i, &name), name; i++) {
        if (t) {
            check(t);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/results/pages", test_pages);
    g_test_add_func("/results/tables", test_tables);
    return g_test_run();
}
