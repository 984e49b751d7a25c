/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core-state.c - streams of earlier versions: members that have come, gone and grown.
 */
#include "simtime.h"
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

/* ---- sums that have become wider ----------------------------------------- */

typedef struct OldSums {
    uint64_t n;
    uint64_t busy[2];
    uint64_t late; /* since version 2 */
} OldSums;

typedef struct Sums {
    TimeSum busy[2];
    TimeSum late;
    uint64_t n;
} Sums;

typedef struct OldHolder {
    OldSums sums;
    uint64_t wait;
    uint64_t *table;
    OldSums *element;
} OldHolder;

typedef struct Holder {
    Sums sums;
    TimeSum wait;
    TimeSum *table;
    Sums *element;
} Holder;

#define MOVE(m) STATE_MOVE(OldSums, Sums, m)

static const StateMove sums_moves[] = {MOVE(n), MOVE(busy), MOVE(late)};
static const StateWas sums_was = {.bytes = sizeof(OldSums),
                                  .move = sums_moves,
                                  .n_moves = G_N_ELEMENTS(sums_moves),
                                  .grown = 2};
static const StateWas element_was = STATE_WAS(OldSums, sums_moves);

/* Version 1 has no OldSums.late in the value. */
static StateRow old_holder_rows[] = {
    {AS(OldHolder, sums, "S.sums"), .kind = STATE_VALUE},
    {AS(OldHolder, wait, "S.wait"), .kind = STATE_VALUE},
    {AS(OldHolder, table, "S.table"), .kind = STATE_TABLE, .elem = 8,
     .count = COUNT},
    {AS(OldHolder, element, "S.element"), .kind = STATE_TABLE,
     .elem = sizeof(OldSums), .count = COUNT},
};

static const StateRow holder_rows[] = {
    {AS(Holder, sums, "S.sums"), .kind = STATE_VALUE, .grown = 3,
     .was = &sums_was},
    {AS(Holder, wait, "S.wait"), .kind = STATE_VALUE, .grown = 3,
     .widened = true},
    {AS(Holder, table, "S.table"), .kind = STATE_TABLE, .elem = 16,
     .count = COUNT, .grown = 3, .widened = true},
    {AS(Holder, element, "S.element"), .kind = STATE_TABLE,
     .elem = sizeof(Sums), .count = COUNT, .grown = 3, .was = &element_was},
};

static const StateStruct old_holder = {
    "S", old_holder_rows, G_N_ELEMENTS(old_holder_rows), sizeof(OldHolder)};
static const StateStruct holder = {"S", holder_rows, G_N_ELEMENTS(holder_rows),
                                   sizeof(Holder)};

#define MOST UINT64_MAX

/* Save, or load again, as a reader of version 3. */
static bool go(const StateStruct *d, void *base, bool loading, uint64_t version)
{
    FILE *file = loading ? fmemopen(bytes, n_bytes, "rb")
                         : open_memstream(&bytes, &n_bytes);
    uint64_t counts[N_COUNTS] = {[COUNT] = 2};
    State s;
    bool ok;

    state_begin(&s, file, loading);
    s.version = version;
    s.newest = 3;
    state_version(&s);
    state_values(&s, d, base);
    state_tables(&s, d, base, counts);
    ok = state_end(&s, NULL);
    fclose(file);
    if (loading) {
        free(bytes);
    }
    return ok;
}

static void same_sums(const Sums *s, uint64_t n, TimeSum busy, TimeSum late)
{
    g_assert_cmpuint(s->n, ==, n);
    g_assert_true(s->busy[0] == busy && s->busy[1] == busy + 1);
    g_assert_true(s->late == late);
}

static void test_sums(void)
{
    uint64_t old_table[2] = {MOST, 3};
    OldSums old_element[2] = {{1, {2, 3}, 4}, {5, {6, 7}, MOST}};
    OldHolder old = {{9, {MOST - 1, MOST}, 8}, MOST, old_table, old_element};

    g_assert_cmpstr(state_gap(&holder), ==, NULL);
    for (uint64_t version = 1; version <= 2; version++) {
        TimeSum table[2] = {~(TimeSum)0, ~(TimeSum)0};
        Sums element[2];
        Holder new = {.table = table, .element = element};

        memset(&new.sums, 0xff, sizeof(new.sums));
        memset(element, 0xff, sizeof(element));
        old_holder_rows[0].bytes =
            version == 1 ? offsetof(OldSums, late) : sizeof(OldSums);
        g_assert_true(go(&old_holder, &old, false, version));
        g_assert_true(go(&holder, &new, true, version));
        same_sums(&new.sums, 9, MOST - 1, version == 1 ? 0 : 8);
        g_assert_true(new.wait == MOST &&table[0] == MOST &&table[1] == 3);
        same_sums(&element[0], 1, 2, 4);
        same_sums(&element[1], 5, 6, MOST);
    }
    /* Version 2 has all members. */
    old_holder_rows[0].bytes = offsetof(OldSums, late);
    g_assert_true(go(&old_holder, &old, false, 2));
    g_assert_false(go(&holder, &(Holder){.wait = 0}, true, 2));
}

/* One that passes 64 bits is saved and loaded as it is. */
static void test_wide_sums(void)
{
    TimeSum table[2] = {~(TimeSum)0, (TimeSum)1 << 64};
    TimeSum table_back[2] = {0};
    Sums element[2] = {{{1, 2}, 3, 4}, {{~(TimeSum)0 - 1, ~(TimeSum)0}, 5, 6}};
    Sums element_back[2] = {{{0}, 0, 0}};
    Holder from = {{{(TimeSum)7 << 70, ((TimeSum)7 << 70) + 1}, 8, 9},
                   (TimeSum)1 << 100,
                   table,
                   element};
    Holder to = {.table = table_back, .element = element_back};

    g_assert_true(go(&holder, &from, false, 3));
    g_assert_true(go(&holder, &to, true, 3));
    same_sums(&to.sums, 9, (TimeSum)7 << 70, 8);
    g_assert_true(to.wait == (TimeSum)1 << 100);
    g_assert_cmpmem(table, sizeof(table), table_back, sizeof(table_back));
    same_sums(&element_back[1], 6, ~(TimeSum)0 - 1, 5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/state/older", test_older);
    g_test_add_func("/state/refused", test_refused);
    g_test_add_func("/state/sums", test_sums);
    g_test_add_func("/state/wide-sums", test_wide_sums);
    return g_test_run();
}
