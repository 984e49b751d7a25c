/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - tables of statistics: write as JSON, reset, document.
 *
 * Knows paths and values; knows nothing of their meaning.
 */
#include "stats.h"

#include <math.h>
#include <string.h>

#define MOST_SETS 4 /* in a path */
#define KEY_BYTES 64

/* ---- paths ------------------------------------------------------------ */

/* A step of a path: NAME, <SET>, [SET], [NUMBER] or +. */
static size_t step_bytes(const char *at)
{
    if (*at == '<') {
        return strcspn(at, ">") + 1;
    }
    if (*at == '[') {
        return strcspn(at, "]") + 1;
    }
    return strcspn(at, ".[");
}

/* Where the next step begins. */
static const char *step_after(const char *at)
{
    at += step_bytes(at);
    return *at == '.' ? at + 1 : at;
}

/* Two parts are never the same. */
static bool same_step(const char *a, const char *b)
{
    size_t n = step_bytes(a);

    return *a != '+' && n == step_bytes(b) && memcmp(a, b, n) == 0;
}

/* The set that a step names, or NULL. */
static const StatSet *set_of(const StatTable *t, const char *at)
{
    size_t n = step_bytes(at) - 2;

    if ((*at != '<' && *at != '[') || g_ascii_isdigit(at[1])) {
        return NULL;
    }
    for (size_t i = 0; i < t->n_sets; i++) {
        if (strlen(t->set[i].name) == n &&
            memcmp(t->set[i].name, at + 1, n) == 0) {
            g_assert((*at == '<') == (t->set[i].n_names > 0));
            return &t->set[i];
        }
    }
    g_assert_not_reached();
}

const StatRow *stats_row(const StatTable *t, const char *path)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (t->row[i].path && strcmp(t->row[i].path, path) == 0) {
            return &t->row[i];
        }
    }
    return NULL;
}

const StatSet *stats_row_set(const StatTable *t, const StatRow *r)
{
    const char *set = strpbrk(r->path, "<[");

    return set ? set_of(t, set) : NULL;
}

static unsigned set_count(const StatSet *set, const void *ctx)
{
    return !set ? 1 : set->n_names ? set->n_names : set->n(ctx);
}

/* ---- values of parts of a run ----------------------------------------- */

typedef enum Merge {
    MERGE_NONE,
    MERGE_SUM,
    MERGE_MOST,
    MERGE_LAST,
    MERGE_PER_BYTE,
} Merge;

/* A value of a row; a number that is no integer is in real. */
typedef struct StatValue {
    uint8_t merge; /* Merge */
    uint8_t type;  /* StatType */
    double real;   /* of PER_BYTE, times its weight */
    double weight;
    TimeSum n;
} StatValue;

struct StatSums {
    GArray *value; /* StatValue, in the order of the rows */
    GArray *hist;  /* Hist; one for each value of STAT_HIST */
};

static Merge merge_of(const StatRow *r)
{
    bool mean = r->type == STAT_DOUBLE || r->type == STAT_BOOL ||
                r->type == STAT_STRING;

    switch (r->reset) {
    case STAT_RESET:
        return mean ? MERGE_NONE : MERGE_SUM;
    case STAT_PEAK:
        return MERGE_MOST;
    case STAT_PER_BYTE:
        return MERGE_PER_BYTE;
    case STAT_COURSE:
        return MERGE_NONE;
    default:
        return MERGE_LAST;
    }
}

StatSums *stat_sums_new(void)
{
    StatSums *s = g_new(StatSums, 1);

    s->value = g_array_new(FALSE, TRUE, sizeof(StatValue));
    s->hist = g_array_new(FALSE, TRUE, sizeof(Hist));
    return s;
}

void stat_sums_free(StatSums *s)
{
    if (s) {
        g_array_free(s->value, TRUE);
        g_array_free(s->hist, TRUE);
        g_free(s);
    }
}

static StatValue *value_at(const StatSums *s, size_t i)
{
    return &g_array_index(s->value, StatValue, i);
}

static void add_value(StatValue *to, const StatValue *from, bool last)
{
    switch ((Merge)to->merge) {
    case MERGE_SUM:
        to->n += from->n;
        break;
    case MERGE_MOST:
        to->n = MAX(to->n, from->n);
        to->real = MAX(to->real, from->real);
        break;
    case MERGE_PER_BYTE:
        to->real += from->real;
        to->weight += from->weight;
        break;
    case MERGE_LAST:
        *to = last ? *from : *to;
        break;
    case MERGE_NONE:
        break;
    }
}

static bool same_rows(const StatSums *a, const StatSums *b)
{
    bool same = a->value->len == b->value->len && a->hist->len == b->hist->len;

    for (size_t i = 0; same && i < a->value->len; i++) {
        same = value_at(a, i)->type == value_at(b, i)->type &&
               value_at(a, i)->merge == value_at(b, i)->merge;
    }
    return same;
}

bool stat_sums_add(StatSums *into, const StatSums *from, bool last)
{
    if (into->value->len == 0) {
        g_array_append_vals(into->value, from->value->data, from->value->len);
        g_array_append_vals(into->hist, from->hist->data, from->hist->len);
        return true;
    }
    if (!same_rows(into, from)) {
        return false;
    }
    for (size_t i = 0; i < from->value->len; i++) {
        add_value(value_at(into, i), value_at(from, i), last);
    }
    for (size_t i = 0; i < from->hist->len; i++) {
        hist_merge(&g_array_index(into->hist, Hist, i),
                   &g_array_index(from->hist, Hist, i));
    }
    return true;
}

static bool write_array(const GArray *a, FILE *out)
{
    guint n = a->len;

    return fwrite(&n, sizeof(n), 1, out) == 1 &&
           fwrite(a->data, g_array_get_element_size((GArray *)a), n, out) == n;
}

static bool read_array(GArray *a, FILE *in)
{
    guint n;

    if (fread(&n, sizeof(n), 1, in) != 1) {
        return false;
    }
    g_array_set_size(a, n);
    return fread(a->data, g_array_get_element_size(a), n, in) == n;
}

bool stat_sums_write(const StatSums *s, FILE *out)
{
    return write_array(s->value, out) && write_array(s->hist, out);
}

StatSums *stat_sums_read(FILE *in)
{
    StatSums *s = stat_sums_new();

    if (!read_array(s->value, in) || !read_array(s->hist, in)) {
        g_clear_pointer(&s, stat_sums_free);
    }
    return s;
}

/* ---- writing ---------------------------------------------------------- */

typedef struct Walk {
    const StatTable *table;
    const void *ctx;
    JsonWriter *w;
    unsigned at[MOST_SETS];
    StatSums *gather;     /* values go there instead of w; or NULL */
    uint64_t bytes;       /* of their part of the run */
    const StatSums *sums; /* values of w come from there; or NULL */
    size_t *value, *hist; /* with sums: the next ones of it */
} Walk;

static void gather_hist(const Walk *k, const Hist *h)
{
    g_array_append_vals(k->gather->hist, h, 1);
}

static void gather_value(const Walk *k, const StatRow *r)
{
    StatValue v = {.merge = merge_of(r), .type = r->type};

    switch (r->type) {
    case STAT_COUNTER:
        v.n = *r->get.counter(k->ctx, k->at);
        break;
    case STAT_U64:
        v.n = r->get.u64(k->ctx, k->at);
        break;
    case STAT_TIME_COUNTER:
        v.n = *r->get.time_counter(k->ctx, k->at);
        break;
    case STAT_TIME:
        v.n = r->get.time(k->ctx, k->at);
        break;
    case STAT_DOUBLE:
        v.real = r->get.number(k->ctx, k->at);
        break;
    case STAT_BOOL:
        v.n = r->get.boolean(k->ctx, k->at);
        break;
    case STAT_HIST:
        gather_hist(k, r->get.hist(k->ctx, k->at));
        break;
    case STAT_STRING:
    case STAT_PART:
        break;
    }
    if (v.merge == MERGE_PER_BYTE) {
        v.weight = (double)k->bytes;
        v.real *= v.weight;
    }
    g_array_append_val(k->gather->value, v);
}

static double real_of(const StatValue *v)
{
    switch ((Merge)v->merge) {
    case MERGE_NONE:
        return NAN;
    case MERGE_PER_BYTE:
        return v->weight > 0 ? v->real / v->weight : 0;
    default:
        return v->real;
    }
}

/* The next of the sums. */
static void write_sum(const Walk *k, const StatRow *r, const char *key)
{
    const StatValue *v = value_at(k->sums, (*k->value)++);

    g_assert(*k->value <= k->sums->value->len && v->type == r->type);
    switch (r->type) {
    case STAT_DOUBLE:
        json_double(k->w, key, real_of(v));
        break;
    case STAT_BOOL:
        json_bool(k->w, key, v->merge != MERGE_NONE && v->n);
        break;
    case STAT_STRING:
        json_string(k->w, key,
                    v->merge == MERGE_NONE ? "" : r->get.string(k->ctx, k->at));
        break;
    case STAT_HIST:
        json_open(k->w, key, '{');
        stats_write(&hist_stats,
                    &g_array_index(k->sums->hist, Hist, (*k->hist)++), k->w);
        json_close(k->w, '}');
        break;
    default:
        json_u128(k->w, key, v->n);
    }
}

static void walk_rows(Walk *k);

/* A part that is no table has nothing to be merged. */
static void write_part(const Walk *k, StatPart part)
{
    Walk inner = *k;

    if (!k->gather && !k->sums) {
        part.write(part.ctx, k->w);
    } else if (part.table) {
        inner.table = part.table;
        inner.ctx = part.ctx;
        walk_rows(&inner);
    }
}

static bool exists(const Walk *k, const StatRow *r)
{
    return r->path && (!r->when || r->when->holds(k->ctx));
}

static void write_value(const Walk *k, const StatRow *r, const char *key)
{
    if (r->type == STAT_PART) {
        write_part(k, r->get.part(k->ctx, k->at));
        return;
    }
    if (k->gather) {
        gather_value(k, r);
        return;
    }
    if (k->sums) {
        write_sum(k, r, key);
        return;
    }
    switch (r->type) {
    case STAT_COUNTER:
        json_u64(k->w, key, *r->get.counter(k->ctx, k->at));
        break;
    case STAT_U64:
        json_u64(k->w, key, r->get.u64(k->ctx, k->at));
        break;
    case STAT_TIME_COUNTER:
        json_u128(k->w, key, *r->get.time_counter(k->ctx, k->at));
        break;
    case STAT_TIME:
        json_u128(k->w, key, r->get.time(k->ctx, k->at));
        break;
    case STAT_DOUBLE:
        json_double(k->w, key, r->get.number(k->ctx, k->at));
        break;
    case STAT_BOOL:
        json_bool(k->w, key, r->get.boolean(k->ctx, k->at));
        break;
    case STAT_STRING:
        json_string(k->w, key, r->get.string(k->ctx, k->at));
        break;
    case STAT_HIST:
        json_open(k->w, key, '{');
        stats_write(&hist_stats, r->get.hist(k->ctx, k->at), k->w);
        json_close(k->w, '}');
        break;
    case STAT_PART:
        break;
    }
}

static void write_rows(Walk *k, const StatRow *const *row, size_t n, size_t pos,
                       unsigned n_sets);

/* Rows that are alike up to a step, which ends at pos: a value, or an object or
 * a list of them. */
static void write_member(Walk *k, const StatRow *const *row, size_t n,
                         size_t pos, unsigned n_sets, const char *key)
{
    const char *rest = row[0]->path + pos;

    if (*rest == '\0') {
        write_value(k, row[0], key);
        return;
    }
    if (k->gather) {
        write_rows(k, row, n, pos, n_sets);
        return;
    }
    json_open(k->w, key, *rest == '[' ? '[' : '{');
    write_rows(k, row, n, pos, n_sets);
    json_close(k->w, *rest == '[' ? ']' : '}');
}

/* How many members or elements of a set are written. */
static unsigned step_count(const Walk *k, const StatRow *r, const StatSet *set)
{
    bool merges = k->gather || k->sums;

    return set && merges && r->reset == STAT_COURSE ? 0
                                                    : set_count(set, k->ctx);
}

/* The rows that begin with the same step, for each of its set. */
static void write_step(Walk *k, const StatRow *const *row, size_t n, size_t pos,
                       unsigned n_sets)
{
    const char *step = row[0]->path + pos;
    const StatSet *set = set_of(k->table, step);
    size_t next = (size_t)(step_after(step) - row[0]->path);
    unsigned count = step_count(k, row[0], set);
    char name[KEY_BYTES];
    const char *key = NULL;

    g_assert(n_sets < MOST_SETS && step_bytes(step) < sizeof(name));
    if (*step != '[' && *step != '<') {
        g_strlcpy(name, step, step_bytes(step) + 1);
        key = name;
    }
    for (unsigned i = 0; i < count; i++) {
        if (set) {
            k->at[n_sets] = i;
            key = set->name_at ? set->name_at(i) : NULL;
        }
        write_member(k, row, n, next, n_sets + (set != NULL), key);
    }
}

static void write_rows(Walk *k, const StatRow *const *row, size_t n, size_t pos,
                       unsigned n_sets)
{
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;

        while (end < n && same_step(row[i]->path + pos, row[end]->path + pos)) {
            end++;
        }
        write_step(k, row + i, end - i, pos, n_sets);
        i = end;
    }
}

static void walk_rows(Walk *k)
{
    const StatTable *t = k->table;
    g_autofree const StatRow **row = g_new(const StatRow *, t->n_rows);
    size_t n = 0;

    for (size_t i = 0; i < t->n_rows; i++) {
        if (exists(k, &t->row[i])) {
            row[n++] = &t->row[i];
        }
    }
    write_rows(k, row, n, 0, 0);
}

void stats_write(const StatTable *t, const void *ctx, JsonWriter *w)
{
    Walk k = {.table = t, .ctx = ctx, .w = w};

    walk_rows(&k);
}

void stats_gather(const StatTable *t, const void *ctx, uint64_t bytes,
                  StatSums *into)
{
    Walk k = {.table = t, .ctx = ctx, .gather = into, .bytes = bytes};

    walk_rows(&k);
}

void stats_write_sums(const StatTable *t, const void *ctx, const StatSums *s,
                      JsonWriter *w)
{
    size_t value = 0, hist = 0;
    Walk k = {.table = t,
              .ctx = ctx,
              .w = w,
              .sums = s,
              .value = &value,
              .hist = &hist};

    walk_rows(&k);
}

/* ---- histograms ------------------------------------------------------- */

/* V(type, id, path, unit, value, help): a value of a Hist *v. */
#define HIST_STATS(V)                                                          \
    V(U64, count, "count", "", v->n, "number of values")                       \
    V(DOUBLE, mean, "mean", "ns", hist_mean(v), "exact")                       \
    V(U64, min, "min", "ns", v->n ? v->min : 0, "exact")                       \
    V(U64, p50, "p50", "ns", hist_quantile(v, 500000),                         \
      "50 % of the values are at most this. Buckets are narrower than 1/64 "   \
      "of the value, so a quantile is never too low and less than 1.6 % too "  \
      "high")                                                                  \
    V(U64, p99, "p99", "ns", hist_quantile(v, 990000), "the same of 99 %")     \
    V(U64, p999, "p999", "ns", hist_quantile(v, 999000), "the same of 99.9 %") \
    V(U64, p9999, "p9999", "ns", hist_quantile(v, 999900),                     \
      "the same of 99.99 %")                                                   \
    V(U64, p99999, "p99999", "ns", hist_quantile(v, 999990),                   \
      "the same of 99.999 %")                                                  \
    V(U64, p999999, "p999999", "ns", hist_quantile(v, 999999),                 \
      "the same of 99.9999 %")                                                 \
    V(U64, max, "max", "ns", v->max, "exact")                                  \
    V(DOUBLE, tail_1pct, "tail_1pct_mean", "ns", hist_tail_mean(v, 10000),     \
      "mean of the highest 1 % of the values (of at least one)")               \
    V(DOUBLE, tail_001pct, "tail_001pct_mean", "ns", hist_tail_mean(v, 100),   \
      "mean of the highest 0.01 % of the values (of at least one)")

#define HIST_GET(type, id, path, unit, value, help)                            \
    STAT_FUNCTION(Hist, type, id, value)
#define HIST_ROW(type, id, path, unit, value, help)                            \
    STAT_ROW(type, id, path, unit, RESET, NULL, help)

HIST_STATS(HIST_GET)

static const StatRow hist_rows[] = {HIST_STATS(HIST_ROW)};

const StatTable hist_stats = {hist_rows, G_N_ELEMENTS(hist_rows), NULL, 0};

/* ---- resetting -------------------------------------------------------- */

/* From a step of the path on. */
static void reset_row(Walk *k, const StatRow *r, const char *step,
                      unsigned n_sets)
{
    const StatSet *set;
    unsigned count;

    if (*step == '\0' && r->type == STAT_TIME_COUNTER) {
        *(TimeSum *)r->get.time_counter(k->ctx, k->at) = 0;
        return;
    }
    if (*step == '\0') {
        *(uint64_t *)r->get.counter(k->ctx, k->at) = 0;
        return;
    }
    set = set_of(k->table, step);
    count = set_count(set, k->ctx);
    for (unsigned i = 0; i < count; i++) {
        if (set) {
            k->at[n_sets] = i;
        }
        reset_row(k, r, step_after(step), n_sets + (set != NULL));
    }
}

void stats_reset(const StatTable *t, const void *ctx)
{
    Walk k = {.table = t, .ctx = ctx};

    for (size_t i = 0; i < t->n_rows; i++) {
        const StatRow *r = &t->row[i];

        if ((r->type == STAT_COUNTER || r->type == STAT_TIME_COUNTER) &&
            r->reset == STAT_RESET) {
            reset_row(&k, r, r->path ? r->path : "", 0);
        }
    }
}

/* ---- documenting ------------------------------------------------------ */

void stats_document(const StatTable *t, const char *prefix, GString *out)
{
    static const char *const resets[] = {
        [STAT_RESET] = "reset",  [STAT_LIFE] = "life",
        [STAT_NOW] = "now",      [STAT_FIXED] = "fixed",
        [STAT_RUN] = "",         [STAT_PEAK] = "reset",
        [STAT_COURSE] = "reset", [STAT_PER_BYTE] = "reset",
    };

    for (size_t i = 0; i < t->n_rows; i++) {
        const StatRow *r = &t->row[i];

        if (r->path && r->type != STAT_PART) {
            g_string_append_printf(
                out, "| `%s%s%s` | %s | %s%s%s%s%s |\n", prefix, r->path,
                r->type == STAT_HIST ? ".<histogram>" : "", r->unit,
                resets[r->reset], *resets[r->reset] ? " | " : "", r->help,
                r->when ? "; only " : "", r->when ? r->when->help : "");
        }
    }
}

void stats_document_sets(const StatTable *t, GString *out)
{
    for (size_t i = 0; i < t->n_sets; i++) {
        const StatSet *s = &t->set[i];

        g_string_append_printf(out, s->n_names ? "| `<%s>` | " : "| `[%s]` | ",
                               s->name);
        for (unsigned k = 0; k < s->n_names; k++) {
            g_string_append_printf(out, "%s`%s`", k ? ", " : "", s->name_at(k));
        }
        g_string_append_printf(out, "%s%s |\n", s->n_names ? ": " : "",
                               s->help);
    }
}

/* ---- checking a table ------------------------------------------------- */

/* Bytes of the steps that two paths have in common, from the left. */
static size_t common(const char *a, const char *b)
{
    const char *from = a;

    while (*a && *b && same_step(a, b)) {
        size_t n = (size_t)(step_after(a) - a);

        a += n;
        b += MIN(n, strlen(b));
    }
    return (size_t)(a - from);
}

static bool knows_sets(const StatTable *t, const char *path)
{
    for (; *path; path = step_after(path)) {
        bool known = g_ascii_isdigit(path[1]) || (*path != '<' && *path != '[');

        for (size_t i = 0; !known && i < t->n_sets; i++) {
            known = strlen(t->set[i].name) == step_bytes(path) - 2 &&
                    g_str_has_prefix(path + 1, t->set[i].name) &&
                    (*path == '<') == (t->set[i].n_names > 0);
        }
        if (!known) {
            return false;
        }
    }
    return true;
}

char *stats_table_fault(const StatTable *t)
{
    const StatRow *before = NULL;

    for (size_t i = 0; i < t->n_rows; i++) {
        const char *path = t->row[i].path;

        if (!path) {
            continue;
        }
        if (!knows_sets(t, path)) {
            return g_strdup_printf("%s: an unknown set", path);
        }
        for (size_t k = 0; k < i; k++) {
            const char *other = t->row[k].path;

            if (!other) {
                continue;
            }
            if (common(path, other) >= MIN(strlen(path), strlen(other))) {
                return g_strdup_printf("%s and %s: one is part of the other",
                                       other, path);
            }
            if (common(path, other) > common(path, before->path)) {
                return g_strdup_printf("%s stands apart from %s", path, other);
            }
        }
        before = &t->row[i];
    }
    return NULL;
}
