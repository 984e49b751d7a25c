/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * results-rows.c - print the rows of the statistics' tables as JSON, one a
 * line, for docs/schema/ (test_schema.py).
 *
 *   {"schema": "run", "path": "...", "type": "u64", "when": false, "kind":
 *    "reset", "unit": "ns", "help": ...}
 *   {"schema": "run", "set": "error", "names": ["unrecovered_read", ...]}
 */
#include <stdio.h>

#include "about.h"
#include "nvme.h"
#include "record.h"
#include "result.h"
#include "source.h"
#include "ssd-report.h"
#include "stats.h"

static const char *type_name(StatType type)
{
    static const char *const names[] = {
        [STAT_COUNTER] = "u64",      [STAT_U64] = "u64",
        [STAT_TIME_COUNTER] = "u64", [STAT_TIME] = "u64",
        [STAT_DOUBLE] = "double",    [STAT_BOOL] = "bool",
        [STAT_STRING] = "string",    [STAT_HIST] = "histogram",
        [STAT_PART] = "part",
    };

    return names[type];
}

static const char *kind_name(StatReset kind)
{
    static const char *const names[] = {
        [STAT_RESET] = "reset",  [STAT_LIFE] = "life",
        [STAT_NOW] = "now",      [STAT_FIXED] = "fixed",
        [STAT_RUN] = "run",      [STAT_PEAK] = "reset",
        [STAT_COURSE] = "reset", [STAT_PER_BYTE] = "reset",
    };

    return names[kind];
}

static void print_line(const GString *out)
{
    puts(out->str);
}

static void print_row(const char *schema, const char *prefix, const StatRow *r)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree char *path = g_strconcat(prefix, r->path, NULL);
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    json_string(&w, "schema", schema);
    json_string(&w, "path", path);
    json_string(&w, "type", type_name(r->type));
    json_bool(&w, "when", r->when != NULL);
    json_string(&w, "kind", kind_name(r->reset));
    json_string(&w, "unit", r->unit);
    json_string(&w, "help", r->help);
    json_close(&w, '}');
    print_line(out);
}

static void print_set(const char *schema, const StatSet *s)
{
    g_autoptr(GString) out = g_string_new(NULL);
    JsonWriter w = {.out = out};

    json_open(&w, NULL, '{');
    json_string(&w, "schema", schema);
    json_string(&w, "set", s->name);
    json_open(&w, "names", '[');
    for (unsigned i = 0; i < s->n_names; i++) {
        json_string(&w, NULL, s->name_at(i));
    }
    json_close(&w, ']');
    json_close(&w, '}');
    print_line(out);
}

static void print_table(const char *schema, const char *prefix,
                        const StatTable *t)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (t->row[i].path) {
            print_row(schema, prefix, &t->row[i]);
        }
    }
    for (size_t i = 0; i < t->n_sets; i++) {
        print_set(schema, &t->set[i]);
    }
}

int main(void)
{
    static const struct {
        const char *schema;
        const char *prefix;
        const StatTable *table;
    } tables[] = {
        {"run", "", &result_stats},       {"run", "", &source_stats},
        {"run", "", &taken_stats},        {"run", "", &series_stats},
        {"run", "", &about_stats},        {"drive", "", &ssd_stats},
        {"device", "", &ssd_head_stats},  {"device", "", &nvme_stats},
        {"device", "", &about_stats},     {"histogram", "", &hist_stats},
        {"info", "", &result_info_stats},
    };
    const StatTable *t;
    const char *name;

    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        print_table(tables[i].schema, tables[i].prefix, tables[i].table);
    }
    for (unsigned i = 0; t = ssd_map_stats(i, &name), name; i++) {
        if (t) {
            print_table("maps", "map.", t);
        }
    }
    return 0;
}
