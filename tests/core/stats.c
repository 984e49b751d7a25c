/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats - tables of statistics: JSON, reset, documents, faults of a table. */
#include <string.h>

#include "stats.h"

typedef struct Thing {
    uint64_t a, hidden, life, by[2], grid[3][2];
    TimeSum waits, held;
    bool more;
    unsigned n;
    Hist *hist;
    const struct Thing *inner;
} Thing;

static const char *pair_name(unsigned i)
{
    return i ? "second" : "first";
}

static unsigned n_elements(const void *ctx)
{
    return ((const Thing *)ctx)->n;
}

static bool has_more(const void *ctx)
{
    return ((const Thing *)ctx)->more;
}

static void inner(const void *ctx, JsonWriter *w)
{
    if (ctx) {
        json_u64(w, "inner", ((const Thing *)ctx)->a);
    }
}

static const StatWhen when_more = {"with more", has_more};
static const StatSet sets[] = {
    {"pair", "of a pair", 2, pair_name, NULL},
    {"element", "each element", 0, NULL, n_elements},
};

/* V(type, id, path, unit, reset, when, value, help) */
#define THINGS(V)                                                              \
    V(COUNTER, a, "a", "units", RESET, NULL, &v->a, "a number")                \
    V(COUNTER, hidden, NULL, "", RESET, NULL, &v->hidden, "not shown")         \
    V(COUNTER, life, "o.life", "", LIFE, NULL, &v->life, "for ever")           \
    V(DOUBLE, half, "o.half", "", RESET, NULL, (double)v->a / 2, "half")       \
    V(BOOL, big, "o.more.big", "", NOW, &when_more, v->a > 9, "above 9")       \
    V(COUNTER, by, "o.by.<pair>", "", RESET, NULL, &v->by[at[0]], "by pair")   \
    V(COUNTER, grid, "grid[element].<pair>.n", "", RESET, NULL,                \
      &v->grid[at[0]][at[1]], "in a list")                                     \
    V(U64, twice, "grid[element].twice", "", NOW, NULL, at[0] * 2ULL, "index") \
    V(U64, left, "points[element][0]", "", NOW, NULL, at[0], "left")           \
    V(U64, right, "points[element][1]", "", NOW, NULL, v->by[0], "right")      \
    V(TIME_COUNTER, waits, "waits_ns", "ns", RESET, &when_more, &v->waits,     \
      "a sum")                                                                 \
    V(TIME_COUNTER, held, "held_ns", "ns", LIFE, &when_more, &v->held,         \
      "a sum for ever")                                                        \
    V(TIME, most, "most_ns", "ns", RESET, &when_more, v->waits + v->held,      \
      "both")                                                                  \
    V(STRING, name, "name", "", FIXED, NULL, "x", "a name")                    \
    V(PART, first, "+", "", NOW, NULL, STAT_MEMBERS(inner, v->inner), "")      \
    V(PART, again, "+", "", NOW, NULL, STAT_MEMBERS(inner, NULL), "")          \
    V(HIST, hist, "hist", "ns", RESET, &when_more, v->hist, "times")

#define GET(type, id, path, unit, reset, when, value, help)                    \
    STAT_FUNCTION(Thing, type, id, value)
#define ROW(type, id, path, unit, reset, when, value, help)                    \
    STAT_ROW(type, id, path, unit, reset, when, help)

THINGS(GET)

static const StatRow rows[] = {THINGS(ROW)};
static const StatTable table = {rows, G_N_ELEMENTS(rows), sets,
                                G_N_ELEMENTS(sets)};

static char *text(const Thing *t)
{
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_open(&w, NULL, '{');
    stats_write(&table, t, &w);
    json_close(&w, '}');
    return g_string_free(s, FALSE);
}

static void test_json(void)
{
    Thing part = {.a = 77};
    Thing t = {.a = 5,
               .hidden = 9,
               .by = {1, 2},
               .n = 2,
               .inner = &part,
               .grid = {{3, 4}, {5, 6}}};
    g_autofree char *some = text(&t);
    g_autofree char *none = NULL;

    g_assert_cmpstr(
        some, ==,
        "{\"a\":5,\"o\":{\"life\":0,\"half\":2.5,\"by\":{\"first\":1,"
        "\"second\":2}},\"grid\":[{\"first\":{\"n\":3},\"second\":{\"n\":4},"
        "\"twice\":0},{\"first\":{\"n\":5},\"second\":{\"n\":6},\"twice\":2}],"
        "\"points\":[[0,1],[1,1]],\"name\":\"x\",\"inner\":77}");
    t = (Thing){0};
    none = text(&t);
    g_assert_cmpstr(none, ==,
                    "{\"a\":0,\"o\":{\"life\":0,\"half\":0,\"by\":{\"first\":0,"
                    "\"second\":0}},\"grid\":[],\"points\":[],"
                    "\"name\":\"x\"}");
}

static void test_condition(void)
{
    g_autofree Hist *h = g_new(Hist, 1);
    Thing t = {.a = 10, .more = true, .hist = h};
    g_autofree char *s = NULL;

    hist_init(h);
    hist_add(h, 12);
    t.waits = (TimeSum)5 << 64;
    t.held = 1;
    s = text(&t);
    g_assert_nonnull(strstr(s, "\"waits_ns\":92233720368547758080,"
                               "\"held_ns\":1,"
                               "\"most_ns\":92233720368547758081,"));
    g_assert_nonnull(strstr(s, "\"half\":5,\"more\":{\"big\":true},\"by\""));
    g_assert_nonnull(
        strstr(s, "\"hist\":{\"count\":1,\"mean\":12,\"min\":12,\"p50\":12,"
                  "\"p99\":12,\"p999\":12,\"p9999\":12,\"p99999\":12,"
                  "\"p999999\":12,\"max\":12,\"tail_1pct_mean\":12,"
                  "\"tail_001pct_mean\":12}}"));
}

static void test_reset(void)
{
    Thing t = {.a = 1,
               .hidden = 2,
               .life = 3,
               .by = {4, 5},
               .n = 2,
               .waits = (TimeSum)1 << 64,
               .held = (TimeSum)1 << 64,
               .grid = {{6, 7}, {8, 9}, {10, 11}}};

    stats_reset(&table, &t);
    g_assert_cmpuint(t.a | t.hidden | t.by[0] | t.by[1], ==, 0);
    g_assert_cmpuint(t.grid[0][0] | t.grid[0][1] | t.grid[1][0] | t.grid[1][1],
                     ==, 0);
    g_assert_cmpuint(t.grid[2][0], ==, 10); /* beyond the list's end */
    g_assert_cmpuint(t.life, ==, 3);
    g_assert_true(t.waits == 0 && t.held == (TimeSum)1 << 64);
    g_assert_cmpuint(t.n, ==, 2);
}

/* ---- parts of a run ------------------------------------------------------ */

/* V(type, id, path, unit, reset, when, value, help) */
#define PARTS(V)                                                               \
    V(COUNTER, p_sum, "sum", "", RESET, NULL, &v->a, "a sum")                  \
    V(DOUBLE, p_mean, "mean", "", RESET, NULL, 0.5, "no sum")                  \
    V(U64, p_peak, "peak", "", PEAK, NULL, v->a, "largest")                    \
    V(U64, p_now, "now", "", NOW, NULL, v->a, "of the last")                   \
    V(BOOL, p_over, "over", "", LIFE, NULL, v->a > 9, "of the last")           \
    V(STRING, p_name, "name", "", FIXED, NULL, "x", "the same")                \
    V(STRING, p_bound, "bound", "", RESET, NULL, "y", "of none")               \
    V(DOUBLE, p_ratio, "ratio", "", PER_BYTE, NULL, (double)v->a, "weighed")   \
    V(U64, p_course, "course[element]", "", COURSE, NULL, v->a, "over time")   \
    V(TIME, p_time, "time_ns[element]", "ns", RESET, NULL,                     \
      (TimeSum)v->a << 62, "a sum of each")                                    \
    V(PART, p_inner, "+", "", NOW, NULL,                                       \
      ((StatPart){inner, v->inner, v->inner ? &inner_table : NULL}), "")       \
    V(HIST, p_hist, "hist", "ns", RESET, NULL, v->hist, "times")

#define INNER(V) V(COUNTER, in, "inner", "", RESET, NULL, &v->a, "of a part")

INNER(GET)
static const StatRow inner_rows[] = {INNER(ROW)};
static const StatTable inner_table = {inner_rows, 1, NULL, 0};

PARTS(GET)
static const StatRow part_rows[] = {PARTS(ROW)};
static const StatTable part_table = {part_rows, G_N_ELEMENTS(part_rows), sets,
                                     G_N_ELEMENTS(sets)};

static StatSums *gathered(const Thing *t, uint64_t bytes)
{
    StatSums *s = stat_sums_new();

    stats_gather(&part_table, t, bytes, s);
    return s;
}

/* As another process writes them, and this one reads them. */
static StatSums *passed_on(StatSums *s)
{
    FILE *f = tmpfile();
    StatSums *read;

    g_assert_true(stat_sums_write(s, f));
    rewind(f);
    read = stat_sums_read(f);
    g_assert_nonnull(read);
    g_assert_null(stat_sums_read(f));
    fclose(f);
    stat_sums_free(s);
    return read;
}

static char *sums_text(const Thing *t, const StatSums *sums)
{
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_open(&w, NULL, '{');
    stats_write_sums(&part_table, t, sums, &w);
    json_close(&w, '}');
    return g_string_free(s, FALSE);
}

/* Two parts, added in either order; the second is last in time. */
static void test_parts(void)
{
    g_autofree Hist *one = g_new(Hist, 1);
    g_autofree Hist *other = g_new(Hist, 1);
    Hist *h[2] = {one, other};
    Thing in = {.a = 7};
    Thing first = {.a = 11, .n = 2, .hist = h[0], .inner = &in};
    Thing second = {.a = 4, .n = 2, .hist = h[1], .inner = &in};

    for (unsigned i = 0; i < 2; i++) {
        hist_init(h[i]);
        hist_add(h[i], 10 + i);
    }
    for (unsigned i = 0; i < 2; i++) {
        g_autoptr(StatSums) a = passed_on(gathered(&first, 100));
        g_autoptr(StatSums) b = passed_on(gathered(&second, 300));
        g_autoptr(StatSums) all = stat_sums_new();
        g_autofree char *s = NULL;

        g_assert_true(stat_sums_add(all, i ? b : a, true));
        g_assert_true(stat_sums_add(all, i ? a : b, i == 0));
        s = sums_text(&first, all);
        g_assert_nonnull(
            strstr(s, "{\"sum\":15,\"mean\":null,\"peak\":11,\"now\":4,"
                      "\"over\":false,\"name\":\"x\",\"bound\":\"\","
                      "\"ratio\":5.75,\"course\":[],"
                      "\"time_ns\":[69175290276410818560,69175290276410818560],"
                      "\"inner\":14,\"hist\":{\"count\":2,\"mean\":10.5,"));
    }
}

/* Values of other rows are no parts of the same. */
static void test_other_parts(void)
{
    g_autofree Hist *h = g_new0(Hist, 1);
    Thing two = {.n = 2, .hist = h};
    Thing three = {.n = 3, .hist = h};
    g_autoptr(StatSums) a = gathered(&two, 1);
    g_autoptr(StatSums) b = gathered(&three, 1);

    g_assert_false(stat_sums_add(a, b, true));
}

static void test_document(void)
{
    g_autoptr(GString) s = g_string_new(NULL);

    stats_document(&table, "t.", s);
    g_assert_true(g_str_has_prefix(s->str,
                                   "| `t.a` | units | reset | a number |\n"
                                   "| `t.o.life` |  | life | for ever |\n"));
    g_assert_nonnull(strstr(
        s->str, "| `t.o.more.big` |  | now | above 9; only with more |\n"));
    g_assert_nonnull(strstr(s->str, "| `t.hist.<histogram>` | ns | reset |"));
    g_assert_null(strstr(s->str, "+"));
    g_string_truncate(s, 0);
    stats_document_sets(&table, s);
    g_assert_cmpstr(s->str, ==,
                    "| `<pair>` | `first`, `second`: of a pair |\n"
                    "| `[element]` | each element |\n");
}

static char *fault(const char *a, const char *b, const char *c)
{
    StatRow three[] = {{.path = a}, {.path = b}, {.path = c}};
    StatTable t = {three, 3, sets, G_N_ELEMENTS(sets)};

    return stats_table_fault(&t);
}

static void test_faults(void)
{
    static const struct {
        const char *path[3];
        const char *fault;
    } tables[] = {
        {{"a.x", "a.y", "b"}, NULL},
        {{"a.x", NULL, "a.y"}, NULL},
        {{"a", "ab", "abc"}, NULL},
        {{"a.<pair>", "b[element]", "c[element][0]"}, NULL},
        {{"+", "+", "a.+"}, NULL},
        {{"a.x", "b", "a.y"}, "a.y stands apart from a.x"},
        {{"a", "b", "a"}, "a and a: one is part of the other"},
        {{"a", "a.b", "c"}, "a and a.b: one is part of the other"},
        {{"a", "b.<none>", "c"}, "b.<none>: an unknown set"},
        {{"a", "b[pair]", "c"}, "b[pair]: an unknown set"},
    };
    g_autofree char *own = stats_table_fault(&table);

    g_assert_cmpstr(own, ==, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_autofree char *found =
            fault(tables[i].path[0], tables[i].path[1], tables[i].path[2]);

        g_assert_cmpstr(found, ==, tables[i].fault);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stats/json", test_json);
    g_test_add_func("/stats/parts", test_parts);
    g_test_add_func("/stats/other-parts", test_other_parts);
    g_test_add_func("/stats/condition", test_condition);
    g_test_add_func("/stats/reset", test_reset);
    g_test_add_func("/stats/document", test_document);
    g_test_add_func("/stats/faults", test_faults);
    return g_test_run();
}
