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
    STATE_KEPT_ROW(Thing, own),
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
    g_test_add_func("/state/rows", test_rows);
    r = g_test_run();
    free(bytes);
    return r;
}
