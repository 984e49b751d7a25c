/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-state.c - streams of earlier versions: members that have come, gone and grown.
 */
#include "state.h"


#include <stdlib.h>
#include <string.h>

typedef struct SmallItem {
    uint32_t a;
    uint32_t b;
} SmallItem;

typedef struct Item {
    SmallItem old;
    uint64_t more;
} Item;

/* As version 1 had it. */
typedef struct Old {
    uint64_t kept;
    uint32_t gone;
    uint32_t small;
    SmallItem *item;
    uint64_t *table;
    uint64_t *gone_table;
    uint64_t n;
} Old;

/* As version 2 has it: another order, too. */
typedef struct New {
    uint64_t n;
    uint64_t *came_table;
    Item *item;
    uint64_t *table;
    uint64_t small;
    uint64_t came;
    uint64_t kept;
} New;

enum {
    COUNT,
    N_COUNTS,
};

#define AS(type, m, as) .name = as, .offset = offsetof(type, m),              \
    .bytes = sizeof(((type *)0)->m), .align = __alignof__(((type *)0)->m)

static const StateRow old_rows[] = {
    {AS(Old, kept, "T.kept"), .kind = STATE_VALUE},
    {AS(Old, gone, "T.gone"), .kind = STATE_VALUE},
    {AS(Old, small, "T.small"), .kind = STATE_VALUE},
    {AS(Old, item, "T.item"), .kind = STATE_POOL, .elem = sizeof(SmallItem),
     .count = COUNT},
    {AS(Old, table, "T.table"), .kind = STATE_TABLE, .elem = 8, .count = COUNT},
    {AS(Old, gone_table, "T.gone_table"), .kind = STATE_TABLE, .elem = 8,
     .count = COUNT},
    {AS(Old, n, "T.n"), .kind = STATE_VALUE},
};

static StateRow new_rows[] = {
    {AS(New, n, "T.n"), .kind = STATE_VALUE},
    {AS(New, came_table, "T.came_table"), .kind = STATE_TABLE, .elem = 8,
     .count = COUNT, .since = 2},
    {AS(New, item, "T.item"), .kind = STATE_POOL, .elem = sizeof(Item),
     .count = COUNT, .grown = 2},
    {AS(New, table, "T.table"), .kind = STATE_TABLE, .elem = 8, .count = COUNT},
    {AS(New, small, "T.small"), .kind = STATE_VALUE, .grown = 2},
    {AS(New, came, "T.came"), .kind = STATE_VALUE, .since = 2},
    {AS(New, kept, "T.kept"), .kind = STATE_VALUE},
};

static const StateStruct old_struct = {"T", old_rows, G_N_ELEMENTS(old_rows),
                                       sizeof(Old)};
static const StateStruct new_struct = {"T", new_rows, G_N_ELEMENTS(new_rows),
                                       sizeof(New)};

#define N 3

static char *bytes;
static size_t n_bytes;

static void save_old(uint64_t version)
{
    SmallItem item[N] = {{1, 2}, {3, 4}, {5, 6}};
    uint64_t table[N] = {7, 8, 9};
    uint64_t gone[N] = {10, 11, 12};
    Old old = {.kept = 13, .gone = 14, .small = 15, .item = item,
               .table = table, .gone_table = gone, .n = N};
    uint64_t counts[N_COUNTS] = {[COUNT] = N};
    FILE *file = open_memstream(&bytes, &n_bytes);
    GError *error = NULL;
    State s;

    state_begin(&s, file, false);
    s.version = s.newest = version;
    state_version(&s);
    state_values(&s, &old_struct, &old);
    state_tables(&s, &old_struct, &old, counts);
    g_assert_true(state_end(&s, &error));
    fclose(file);
}

/* Result of a reader of that version. */
static bool load_new(uint64_t newest, New *new, GError **error)
{
    FILE *file = fmemopen(bytes, n_bytes, "rb");
    uint64_t counts[N_COUNTS];
    State s;
    bool ok;

    state_begin(&s, file, true);
    s.newest = newest;
    if (state_version(&s) && state_values(&s, &new_struct, new)) {
        counts[COUNT] = new->n;
        state_tables(&s, &new_struct, new, counts);
    }
    ok = state_end(&s, error);
    fclose(file);
    free(bytes);
    return ok;
}

static New fresh(void)
{
    New new = {.came = 99, .small = UINT64_MAX};

    new.came_table = g_new0(uint64_t, N);
    new.came_table[1] = 98;
    new.table = g_new0(uint64_t, N);
    return new;
}

static void done(New *new)
{
    g_free(new->came_table);
    g_free(new->table);
    g_free(new->item);
}

static void test_older(void)
{
    New new = fresh();
    GError *error = NULL;

    save_old(1);
    load_new(2, &new, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(new.kept, ==, 13);
    g_assert_cmpuint(new.small, ==, 15); /* and not the former contents */
    g_assert_cmpuint(new.came, ==, 99);
    g_assert_cmpuint(new.came_table[1], ==, 98);
    for (unsigned i = 0; i < N; i++) {
        g_assert_cmpuint(new.item[i].old.a, ==, 2 * i + 1);
        g_assert_cmpuint(new.item[i].old.b, ==, 2 * i + 2);
        g_assert_cmpuint(new.item[i].more, ==, 0);
        g_assert_cmpuint(new.table[i], ==, 7 + i);
    }
    done(&new);
}

static void refuse(uint64_t version, uint64_t newest, const char *text)
{
    New new = fresh();
    GError *error = NULL;

    save_old(version);
    g_assert_false(load_new(newest, &new, &error));
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, text));
    g_clear_error(&error);
    done(&new);
}

static void test_refused(void)
{
    /* Of this reader's own version every row must be there as it is. */
    refuse(2, 2, "damaged");
    refuse(3, 2, "version 3 of the format, this vssd knows versions up to 2");
    refuse(0, 2, "version 0");
    new_rows[5].since = 1;
    refuse(1, 2, "it has no T.came");
    new_rows[5].optional = true;
    test_older();
    new_rows[5].optional = false;
    new_rows[5].since = 2;
    new_rows[2].grown = 0;
    refuse(1, 2, "T.item does not fit");
    new_rows[2].grown = 2;
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/state/older", test_older);
    g_test_add_func("/state/refused", test_refused);
    return g_test_run();
}
