/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ilist.c - lists of ilist.h and pools of pool.h against arrays in the order
 * that they should have; their assertions, in subprocesses.
 */
#include "ilist.h"

#include <glib.h>

#include "pool.h"
#include "prng.h"

#define N     40 /* elements */
#define STEPS 20000

typedef struct Element {
    uint32_t value;
    uint32_t next, prev;
} Element;

/* The expected list. */
typedef struct Model {
    uint32_t at[N];
    uint32_t n;
} Model;

static uint32_t model_place(const Model *m, uint32_t i)
{
    uint32_t k = 0;

    while (k < m->n && m->at[k] != i) {
        k++;
    }
    return k;
}

static void model_insert(Model *m, uint32_t place, uint32_t i)
{
    for (uint32_t k = m->n++; k > place; k--) {
        m->at[k] = m->at[k - 1];
    }
    m->at[place] = i;
}

static uint32_t model_remove(Model *m, uint32_t place)
{
    uint32_t i = m->at[place];

    m->n--;
    for (uint32_t k = place; k < m->n; k++) {
        m->at[k] = m->at[k + 1];
    }
    return i;
}

/* An element that is in neither, or N: both hold all of them. */
static uint32_t outside(const Model *a, const Model *b, Prng *r)
{
    uint32_t from = (uint32_t)prng_below(r, N);

    for (uint32_t k = 0; k < N; k++) {
        uint32_t i = (from + k) % N;

        if (model_place(a, i) == a->n && model_place(b, i) == b->n) {
            return i;
        }
    }
    return N;
}

static IlistLinks links(Element *e)
{
    return ILIST_LINKS(e, Element, next, prev);
}

static void compare(Element *e, const IlistN *list, const Model *m)
{
    uint32_t i = list->head;
    uint32_t prev = ILIST_NONE;

    g_assert_cmpuint(list->n, ==, m->n);
    if (m->n == 0) {
        return;
    }
    for (uint32_t k = 0; k < m->n; k++) {
        g_assert_cmpuint(i, ==, m->at[k]);
        g_assert_cmpuint(e[i].prev, ==, prev);
        prev = i;
        i = e[i].next;
    }
    g_assert_cmpuint(i, ==, ILIST_NONE);
    g_assert_cmpuint(list->tail, ==, prev);
}

/* Two lists of the same links, so that elements go from one to the other. */
static void test_ilist(void)
{
    Element e[N] = {0};
    IlistN list[2] = {{.n = 0}, ILISTN_EMPTY};
    Model m[2] = {0};
    Prng r;

    prng_seed(&r, 3, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t w = (uint32_t)prng_below(&r, 2);
        uint32_t what = (uint32_t)prng_below(&r, 50);
        uint32_t i = outside(&m[0], &m[1], &r);

        if (what == 0) {
            for (uint32_t k = 0; k < m[!w].n; k++) {
                m[w].at[m[w].n++] = m[!w].at[k];
            }
            m[!w].n = 0;
            ilistn_append_all(links(e), &list[w], &list[!w]);
        } else if (what < 15 && i < N) {
            ilistn_push_head(links(e), &list[w], i);
            model_insert(&m[w], 0, i);
        } else if (what < 30 && i < N) {
            ilistn_push_tail(links(e), &list[w], i);
            model_insert(&m[w], m[w].n, i);
        } else if (m[w].n > 0 && what < 35 && i < N) {
            uint32_t k = (uint32_t)prng_below(&r, m[w].n);

            ilist_replace(links(e), &list[w].ends, m[w].at[k], i);
            m[w].at[k] = i;
        } else if (m[w].n > 0) {
            uint32_t k = (uint32_t)prng_below(&r, m[w].n);

            ilistn_remove(links(e), &list[w], model_remove(&m[w], k));
        }
        compare(e, &list[0], &m[0]);
        compare(e, &list[1], &m[1]);
    }
}

static void test_ihead(void)
{
    Element e[N] = {0};
    uint32_t head = ILIST_NONE;
    Model m = {0};
    Model none = {0};
    Prng r;

    prng_seed(&r, 4, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = outside(&m, &none, &r);
        uint32_t at = head;

        if (i < N && prng_below(&r, 2)) {
            ihead_push(links(e), &head, i);
            model_insert(&m, 0, i);
        } else if (m.n > 0) {
            uint32_t k = (uint32_t)prng_below(&r, m.n);

            ihead_remove(links(e), &head, model_remove(&m, k));
        }
        at = head;
        for (uint32_t k = 0; k < m.n; k++, at = e[at].next) {
            g_assert_cmpuint(at, ==, m.at[k]);
            g_assert_cmpuint(e[at].prev, ==, k ? m.at[k - 1] : ILIST_NONE);
        }
        g_assert_cmpuint(at, ==, ILIST_NONE);
    }
}

static void test_ififo(void)
{
    Element e[N] = {0};
    IlistLinks l = ILIST_CHAIN(e, Element, next);
    Ififo f = IFIFO_EMPTY;
    Model m = {0};
    Model none = {0};
    Prng r;

    prng_seed(&r, 5, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = outside(&m, &none, &r);
        uint32_t what = (uint32_t)prng_below(&r, 6);
        uint32_t at;

        if (what < 2 && i < N) {
            ififo_push(l, &f, i);
            model_insert(&m, m.n, i);
        } else if (what == 2 && i < N) {
            ififo_push_front(l, &f, i);
            model_insert(&m, 0, i);
        } else if (what < 5) {
            g_assert_cmpuint(ififo_pop(l, &f), ==,
                             m.n ? model_remove(&m, 0) : ILIST_NONE);
        } else if (m.n > 0) {
            uint32_t k = (uint32_t)prng_below(&r, m.n);

            ififo_remove(l, &f, model_remove(&m, k));
        }
        g_assert_cmpint(ififo_is_empty(&f), ==, m.n == 0);
        at = f.head;
        for (uint32_t k = 0; k < m.n; k++, at = e[at].next) {
            g_assert_cmpuint(at, ==, m.at[k]);
        }
        g_assert_cmpuint(at, ==, ILIST_NONE);
        g_assert_true(m.n == 0 || f.tail == m.at[m.n - 1]);
    }
}

static void test_istack(void)
{
    Element e[N] = {0};
    IlistLinks l = ILIST_CHAIN(e, Element, next);
    uint32_t head = ILIST_NONE;

    g_assert_cmpuint(istack_pop(l, &head), ==, ILIST_NONE);
    g_assert_true(istack_end(l, &head) == &head);
    for (uint32_t i = 0; i < 5; i++) {
        istack_push(l, &head, i);
    }
    g_assert_true(istack_end(l, &head) == &e[0].next);
    g_assert_cmpuint(istack_unlink(l, &e[4].next), ==, 3);
    head = istack_reverse(l, head);
    g_assert_cmpuint(istack_pop(l, &head), ==, 0);
    g_assert_cmpuint(istack_pop(l, &head), ==, 1);
    g_assert_cmpuint(istack_pop(l, &head), ==, 2);
    g_assert_cmpuint(istack_pop(l, &head), ==, 4);
    g_assert_cmpuint(istack_pop(l, &head), ==, ILIST_NONE);
}

/* Zeroes are empty lists; each element has its next and previous one, round at
 * the head.
 */
static void test_zlist(void)
{
    Element e[N] = {0};
    uint32_t head = 0;
    Model m = {0};
    Model none = {0};
    Prng r;

    prng_seed(&r, 6, 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = outside(&m, &none, &r);
        uint32_t k = m.n ? (uint32_t)prng_below(&r, m.n) : 0;
        uint32_t what = (uint32_t)prng_below(&r, 6);
        uint32_t at;

        if (what == 0 && i < N) {
            zlist_push_head(links(e), &head, i + 1);
            model_insert(&m, 0, i);
        } else if (what == 1 && i < N) {
            zlist_push_tail(links(e), &head, i + 1);
            model_insert(&m, m.n, i);
        } else if (what == 2 && i < N && m.n > 0) {
            zlist_insert(links(e), &head, m.at[k] + 1, i + 1);
            model_insert(&m, k, i);
        } else if (m.n > 0) {
            zlist_remove(links(e), &head, model_remove(&m, k) + 1);
        }
        at = head;
        for (k = 0; k < m.n; k++, at = e[at - 1].next) {
            g_assert_cmpuint(at, ==, m.at[k] + 1);
            g_assert_cmpuint(e[at - 1].prev, ==, m.at[k ? k - 1 : m.n - 1] + 1);
        }
        g_assert_cmpuint(at, ==, ZLIST_NONE);
    }
}

/* Records keep their index and content while the table grows. */
static void test_pool(void)
{
    Element *e = NULL;
    uint32_t free = ILIST_NONE;
    uint32_t n = 0;
    bool used[1000] = {false};

    for (uint32_t k = 0; k < G_N_ELEMENTS(used); k++) {
        uint32_t i;

        e = pool_grow(e, ILIST_CHAIN(e, Element, next), &free, &n, 8);
        i = pool_take(ILIST_CHAIN(e, Element, next), &free);
        g_assert_cmpuint(i, ==, k);
        g_assert_cmpuint(e[i].value, ==, 0);
        g_assert_false(used[i]);
        used[i] = true;
        e[i].value = i;
    }
    g_assert_cmpuint(n, ==, 1024);
    for (uint32_t i = 0; i < G_N_ELEMENTS(used); i++) {
        g_assert_cmpuint(e[i].value, ==, i);
    }
    pool_give(ILIST_CHAIN(e, Element, next), &free, 7);
    pool_give(ILIST_CHAIN(e, Element, next), &free, 9);
    g_assert_cmpuint(pool_take(ILIST_CHAIN(e, Element, next), &free), ==, 9);
    g_assert_cmpuint(pool_take(ILIST_CHAIN(e, Element, next), &free), ==, 7);
    g_free(e);
}

/* ---- assertions --------------------------------------------------- */

static void remove_foreign(Element *e)
{
    IlistN list = ILISTN_EMPTY;

    ilistn_push_tail(links(e), &list, 0);
    ilistn_push_tail(links(e), &list, 1);
    ilistn_remove(links(e), &list, 2);
}

static void remove_twice(Element *e)
{
    IlistN list = ILISTN_EMPTY;

    for (uint32_t i = 0; i < 3; i++) {
        ilistn_push_tail(links(e), &list, i);
    }
    ilistn_remove(links(e), &list, 1);
    ilistn_remove(links(e), &list, 1);
}

static void remove_from_empty(Element *e)
{
    IlistN list = ILISTN_EMPTY;

    ilistn_remove(links(e), &list, 0);
}

static void push_none(Element *e)
{
    Ilist list = ILIST_EMPTY;

    ilist_push_head(links(e), &list, ILIST_NONE);
}

static void fifo_remove_foreign(Element *e)
{
    IlistLinks l = ILIST_CHAIN(e, Element, next);
    Ififo f = IFIFO_EMPTY;

    ififo_push(l, &f, 0);
    ififo_remove(l, &f, 1);
}

static void give_twice(Element *e)
{
    uint32_t free = ILIST_NONE;

    pool_give(ILIST_CHAIN(e, Element, next), &free, 3);
    pool_give(ILIST_CHAIN(e, Element, next), &free, 3);
}

static void take_from_empty(Element *e)
{
    uint32_t free = ILIST_NONE;

    pool_take(ILIST_CHAIN(e, Element, next), &free);
}

static void zlist_remove_foreign(Element *e)
{
    uint32_t head = 0;

    zlist_push_tail(links(e), &head, 1);
    zlist_push_tail(links(e), &head, 2);
    *zlist_prev(links(e), 3) = 1;
    zlist_remove(links(e), &head, 3);
}

static void (*const wrong[])(Element *) = {
    remove_foreign,      remove_twice, remove_from_empty, push_none,
    fifo_remove_foreign, give_twice,   take_from_empty,   zlist_remove_foreign,
};

/* Each aborts, and by an assertion. */
static void test_wrong(const void *data)
{
    uint32_t which = GPOINTER_TO_UINT(data);

    if (g_test_subprocess()) {
        Element e[N] = {0};

        wrong[which](e);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*assertion failed*");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ilist/ilist", test_ilist);
    g_test_add_func("/ilist/ihead", test_ihead);
    g_test_add_func("/ilist/ififo", test_ififo);
    g_test_add_func("/ilist/istack", test_istack);
    g_test_add_func("/ilist/zlist", test_zlist);
    g_test_add_func("/ilist/pool", test_pool);
    for (uint32_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *path = g_strdup_printf("/ilist/wrong/%u", i);

        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_wrong);
    }
    return g_test_run();
}
