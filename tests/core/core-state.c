/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-state.c - streams that are read as they were written, and those that are
 * refused.
 */
#include "simtime.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

#define SIGNATURE "vssdTEST"
#define N         3

typedef struct Item {
    uint32_t a;
    uint32_t b;
} Item;

typedef struct Thing {
    uint64_t n;
    TimeSum sum;
    uint64_t *table;
    Item *item;
    uint64_t own;
} Thing;

enum {
    COUNT,
    N_COUNTS,
};

static const StateRow rows[] = {
    STATE_VALUE_ROW(Thing, n),
    STATE_VALUE_ROW(Thing, sum),
    STATE_TABLE_ROW(Thing, table, COUNT),
    STATE_POOL_ROW(Thing, item, COUNT),
    STATE_UNSAVED_ROW(Thing, own),
};

static const StateStruct thing = {"Thing", rows, G_N_ELEMENTS(rows),
                                  sizeof(Thing)};

static char *bytes;
static size_t n_bytes;

static bool walk(State *s, const StateStruct *d, Thing *t)
{
    uint64_t counts[N_COUNTS] = {0};

    if (!state_signature(s, SIGNATURE, "it is no thing") ||
        !state_values(s, d, t)) {
        return false;
    }
    counts[COUNT] = t->n;
    return state_tables(s, d, t, counts);
}

static void save(const StateStruct *d)
{
    uint64_t table[N] = {7, 0, 9};
    Item item[N] = {{1, 2}, {3, 4}, {5, 6}};
    Thing t = {N, (TimeSum)7 << 70, table, item, 1};
    GError *error = NULL;
    State s;
    FILE *file;

    free(bytes);
    file = open_memstream(&bytes, &n_bytes);
    state_begin(&s, file, false);
    walk(&s, d, &t);
    state_end(&s, &error);
    g_assert_no_error(error);
    fclose(file);
}

static bool load(Thing *t, GError **error)
{
    FILE *file = fmemopen(bytes, n_bytes, "rb");
    State s;
    bool ok;

    state_begin(&s, file, true);
    walk(&s, &thing, t);
    ok = state_end(&s, error);
    fclose(file);
    return ok;
}

static void test_same(void)
{
    uint64_t table[N] = {1, 1, 1};
    Thing t = {.table = table, .own = 99};
    GError *error = NULL;

    g_assert_cmpstr(state_gap(&thing), ==, NULL);
    save(&thing);
    load(&t, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(t.n, ==, N);
    g_assert_true(t.sum == (TimeSum)7 << 70);
    g_assert_cmpuint(table[0], ==, 7);
    g_assert_cmpuint(table[1], ==, 0);
    g_assert_cmpuint(table[2], ==, 9);
    g_assert_cmpuint(t.item[1].a, ==, 3);
    g_assert_cmpuint(t.item[2].b, ==, 6);
    g_assert_cmpuint(t.own, ==, 99);
    g_free(t.item);
}

/* The stream in `bytes`. */
static void refuse(const char *why)
{
    uint64_t table[N];
    Thing t = {.table = table};
    g_autoptr(GError) error = NULL;

    g_assert_false(load(&t, &error));
    g_assert_cmpstr(error->message, ==, why);
    g_free(t.item);
}

/* ---- what a value may be ------------------------------------------------- */

typedef struct Limited {
    bool flag;
    uint8_t index;
    uint16_t count;
    uint32_t link;
    uint32_t number;
    uint64_t sum;
} Limited;

static const StateRow limited_rows[] = {
    STATE_VALUE_ROW(Limited, flag),
    STATE_INDEX_ROW(Limited, index, COUNT),
    STATE_COUNT_ROW(Limited, count, COUNT),
    STATE_LINK_ROW(Limited, link, COUNT),
    STATE_NUMBER_ROW(Limited, number),
    STATE_VALUE_ROW(Limited, sum),
};

static const StateStruct limited = STATE_STRUCT(Limited, limited_rows);

typedef struct Holder {
    Limited own;
    Limited *item;
} Holder;

static const StateRow holder_rows[] = {
    STATE_VALUE_OF_ROW(Holder, own, limited),
    STATE_POOL_OF_ROW(Holder, item, COUNT, limited),
};

static const StateStruct holder = STATE_STRUCT(Holder, holder_rows);

static bool walk_holder(Holder *h, char **text, size_t *n, bool loading,
                        GError **error)
{
    const uint64_t counts[N_COUNTS] = {[COUNT] = N};
    FILE *file = loading ? fmemopen(*text, *n, "rb") : open_memstream(text, n);
    bool ok;
    State s;

    state_begin(&s, file, loading);
    ok = state_values(&s, &holder, h) && state_tables(&s, &holder, h, counts);
    ok = state_end(&s, error) && ok;
    fclose(file);
    return ok;
}

/* Why: it is refused as a value, and as the last element of a table; or NULL.
 */
static void limit(Limited l, const char *why)
{
    for (int as_element = 0; as_element < 2; as_element++) {
        Limited item[N] = {{.link = 0}};
        Holder saved = {.item = item};
        Holder found = {.item = NULL};
        g_autoptr(GError) error = NULL;
        char *text = NULL;
        size_t n = 0;

        *(as_element ? &item[N - 1] : &saved.own) = l;
        walk_holder(&saved, &text, &n, false, &error);
        g_assert_no_error(error);
        g_assert_cmpint(walk_holder(&found, &text, &n, true, &error), ==, !why);
        g_assert_cmpstr(error ? error->message : NULL, ==, why);
        g_free(found.item);
        free(text);
    }
}

static void test_limits(void)
{
    uint8_t other = 2;
    Limited no_flag = {.index = 1};

    limit((Limited){true, N - 1, N, N - 1, UINT32_MAX, UINT64_MAX}, NULL);
    limit((Limited){.link = UINT32_MAX}, NULL);
    limit((Limited){.index = N}, "it is damaged: Limited.index is 3 of 3");
    limit((Limited){.count = N + 1}, "it is damaged: Limited.count is 4 of 3");
    limit((Limited){.link = N}, "it is damaged: Limited.link is 3 of 3");
    memcpy(&no_flag.flag, &other, sizeof(other));
    limit(no_flag, "it is damaged: Limited.flag is neither on nor off");
}

static void test_signature(void)
{
    uint64_t version = STATE_VERSION + 1;

    save(&thing);
    memcpy(bytes, "VSSDTEST", STATE_SIGNATURE_BYTES);
    refuse("it is of a version of vssd before 1.0: make it again");
    memcpy(bytes, "vssdREST", STATE_SIGNATURE_BYTES);
    refuse("it is no thing");
    save(&thing);
    memcpy(bytes + STATE_SIGNATURE_BYTES, &version, sizeof(version));
    refuse("it is of version 2 of the format, this vssd knows version 1");
}

#define DOES_NOT_FIT "does not fit this drive, or this version of vssd"

/* Rows of another build. */
static void test_rows(void)
{
    StateRow other[G_N_ELEMENTS(rows)];
    StateStruct d = {"Thing", other, G_N_ELEMENTS(rows), sizeof(Thing)};

    memcpy(other, rows, sizeof(rows));
    other[1].name = "Thing.total";
    save(&d);
    refuse("its Thing.sum " DOES_NOT_FIT);
    other[1] = rows[1];
    other[1].bytes = 8;
    save(&d);
    refuse("its Thing.sum " DOES_NOT_FIT);
    other[1] = rows[1];
    other[3].elem = sizeof(uint32_t);
    save(&d);
    refuse("its Thing.item " DOES_NOT_FIT);
    other[2] = rows[3];
    other[3] = rows[2];
    save(&d);
    refuse("its Thing.table " DOES_NOT_FIT);
    memcpy(other, rows, sizeof(rows));
    d.n_rows = 3;
    save(&d);
    refuse("it is damaged, or of another version of vssd (Thing)");
}

int main(int argc, char **argv)
{
    int r;

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/state/same", test_same);
    g_test_add_func("/state/signature", test_signature);
    g_test_add_func("/state/limits", test_limits);
    g_test_add_func("/state/rows", test_rows);
    r = g_test_run();
    free(bytes);
    return r;
}
