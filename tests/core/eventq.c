/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventq.c - order of the event queue, against a list sorted stably.
 */
#include "eventq.h"

#include <glib.h>

#include "prng.h"

#define N 20000

typedef struct Model {
    uint64_t at_ps[N];
    uint32_t index[N];
    size_t n;
} Model;

/* The reference: the earliest; of equals, the first put in. */
static size_t model_first(const Model *m)
{
    size_t first = 0;

    for (size_t i = 1; i < m->n; i++) {
        if (m->at_ps[i] < m->at_ps[first]) {
            first = i;
        }
    }
    return first;
}

static void model_remove(Model *m, size_t at)
{
    m->n--;
    for (size_t i = at; i < m->n; i++) {
        m->at_ps[i] = m->at_ps[i + 1];
        m->index[i] = m->index[i + 1];
    }
}

static void pop_and_compare(EventQueue *q, Model *m)
{
    size_t first = model_first(m);
    Event e;

    g_assert_cmpuint(eventq_next_ps(q), ==, m->at_ps[first]);
    e = eventq_pop(q);
    g_assert_cmpuint(e.at_ps, ==, m->at_ps[first]);
    g_assert_cmpuint(event_index(&e), ==, m->index[first]);
    g_assert_cmpuint(event_kind(&e), ==, m->index[first] % 7);
    model_remove(m, first);
}

/* Few distinct instants, so that most events tie; pushes and pops mixed. */
static void random_mix(uint32_t first_seq, uint64_t n_instants)
{
    g_autofree Model *m = g_new0(Model, 1);
    EventQueue q;
    Prng r;

    prng_seed(&r, 7, n_instants);
    eventq_init(&q);
    q.next_seq = first_seq;
    for (uint32_t i = 0; i < N; i++) {
        if (m->n > 0 && prng_below(&r, 5) < 2) {
            pop_and_compare(&q, m);
        }
        if (m->n < 300) {
            uint64_t at_ps = prng_below(&r, n_instants);

            eventq_push(&q, at_ps, i % 7, i);
            m->at_ps[m->n] = at_ps;
            m->index[m->n++] = i;
        }
    }
    while (m->n > 0) {
        pop_and_compare(&q, m);
    }
    g_assert_cmpuint(eventq_next_ps(&q), ==, SIM_NEVER);
    eventq_destroy(&q);
}

static void test_ties(void)
{
    random_mix(0, 1);
    random_mix(0, 5);
}

static void test_spread(void)
{
    random_mix(0, UINT64_MAX);
}

/* The sequence number wraps in the middle of the run. */
static void test_wrap(void)
{
    random_mix(UINT32_MAX - N / 3, 3);
}

static bool keep_odd(void *opaque, const Event *e)
{
    (*(unsigned *)opaque)++;
    return event_index(e) % 2;
}

static void test_filter(void)
{
    EventQueue q;
    unsigned seen = 0;
    Event last = {0};

    eventq_init(&q);
    for (uint32_t i = 0; i < 1000; i++) {
        eventq_push(&q, i * 7919 % 13, i % 3, i);
    }
    eventq_filter(&q, keep_odd, &seen);
    g_assert_cmpuint(seen, ==, 1000);
    g_assert_cmpuint(eventq_count(&q), ==, 500);
    for (unsigned i = 0; i < 500; i++) {
        Event e = eventq_pop(&q);

        g_assert_cmpuint(event_index(&e) % 2, ==, 1);
        g_assert_cmpuint(e.at_ps, ==, event_index(&e) * 7919 % 13);
        g_assert_true(
            i == 0 || e.at_ps > last.at_ps ||
            (e.at_ps == last.at_ps && event_index(&e) > event_index(&last)));
        last = e;
    }
    eventq_destroy(&q);
}

/* Dropping everything, and dropping nothing, are filters too. */
static bool keep_none(void *opaque, const Event *e)
{
    return opaque != NULL;
}

static void test_filter_ends(void)
{
    EventQueue q;
    int any;

    eventq_init(&q);
    eventq_filter(&q, keep_none, NULL);
    for (uint32_t i = 0; i < 10; i++) {
        eventq_push(&q, 10 - i, 0, i);
    }
    eventq_filter(&q, keep_none, &any);
    g_assert_cmpuint(eventq_count(&q), ==, 10);
    g_assert_cmpuint(eventq_next_ps(&q), ==, 1);
    eventq_filter(&q, keep_none, NULL);
    g_assert_cmpuint(eventq_next_ps(&q), ==, SIM_NEVER);
    eventq_destroy(&q);
}

/* The earliest event is kept apart, until a loop over the heap wants all of
 * them there; that changes neither their number nor their order. */
static void test_gather(void)
{
    static const uint64_t at_ps[] = {5, 3, 3, 9, 1, 1, 4};
    EventQueue q;

    eventq_init(&q);
    for (uint32_t i = 0; i < G_N_ELEMENTS(at_ps); i++) {
        uint64_t seen = 0;

        eventq_push(&q, at_ps[i], 0, i);
        for (size_t k = 0; k < eventq_count(&q); k++) {
            seen |= 1ULL << event_index(eventq_get(&q, k));
        }
        g_assert_cmpuint(seen, ==, (2ULL << i) - 1);
    }
    g_assert_true(q.has_first);
    eventq_gather(&q);
    g_assert_cmpuint(q.n, ==, G_N_ELEMENTS(at_ps));
    for (size_t k = 0; k < q.n; k++) {
        q.heap[k].at_ps += 10;
    }
    eventq_changed(&q);
    for (unsigned i = 0; i < G_N_ELEMENTS(at_ps); i++) {
        static const uint32_t order[] = {4, 5, 1, 2, 6, 0, 3};
        uint64_t next_ps = eventq_next_ps(&q);
        Event e = eventq_pop(&q);

        g_assert_cmpuint(e.at_ps, ==, next_ps);
        g_assert_cmpuint(e.at_ps, ==, at_ps[order[i]] + 10);
        g_assert_cmpuint(event_index(&e), ==, order[i]);
    }
    g_assert_cmpuint(eventq_next_ps(&q), ==, SIM_NEVER);
    eventq_destroy(&q);
}

static uint32_t pop_index(EventQueue *q)
{
    Event e = eventq_pop(q);

    return event_index(&e);
}

/* Events in order of instant wait in a line, of any length and wherever it
 * begins in its ring; so do those of one instant. */
static void test_line(void)
{
    EventQueue q;
    uint32_t put = 0;
    uint32_t taken = 0;

    eventq_init(&q);
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i < 7; i++, put++) {
            eventq_push(&q, 1000 + put / 2, 0, put);
        }
        g_assert_cmpuint(pop_index(&q), ==, taken++);
        g_assert_cmpuint(q.n, ==, 0);
        g_assert_cmpuint(eventq_count(&q), ==, put - taken);
        g_assert_cmpuint(event_index(eventq_get(&q, put - taken - 1)), ==,
                         put - 1);
    }
    while (taken < put) {
        g_assert_cmpuint(pop_index(&q), ==, taken++);
    }
    eventq_destroy(&q);
}

/* A timer at the end of the line does not keep others out of it; several later
 * events do. */
static void test_line_and_timer(void)
{
    static const uint64_t at_ps[] = {10, 900, 20, 30, 25, 22, 900};
    static const uint32_t order[] = {0, 2, 5, 4, 3, 1, 6};
    EventQueue q;

    eventq_init(&q);
    for (uint32_t i = 0; i < G_N_ELEMENTS(at_ps); i++) {
        eventq_push(&q, at_ps[i], 0, i);
    }
    g_assert_cmpuint(q.line_n, ==, 3); /* 20, 22 and the second timer */
    for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) {
        g_assert_cmpuint(pop_index(&q), ==, order[i]);
    }
    eventq_destroy(&q);
}

/* The heap of gathered events is the same whatever was in the line. */
static void test_gather_line(void)
{
    static const uint64_t at_ps[2][5] = {{1, 2, 3, 4, 5}, {1, 5, 4, 3, 2}};
    EventQueue q[2];

    for (unsigned k = 0; k < 2; k++) {
        eventq_init(&q[k]);
        for (unsigned i = 0; i < 5; i++) {
            eventq_push(&q[k], at_ps[k][i], 0, (uint32_t)at_ps[k][i]);
        }
        eventq_gather(&q[k]);
    }
    for (unsigned i = 0; i < 5; i++) {
        g_assert_cmpuint(q[0].heap[i].at_ps, ==, q[1].heap[i].at_ps);
        g_assert_cmpuint(q[0].heap[i].what, ==, q[1].heap[i].what);
    }
    eventq_destroy(&q[0]);
    eventq_destroy(&q[1]);
}

/* The largest kind and index come back as they went in. */
static void test_limits(void)
{
    EventQueue q;
    Event e;

    eventq_init(&q);
    eventq_push(&q, SIM_NEVER - 1, (1U << EVENT_KIND_BITS) - 1,
                EVENT_INDEX_MAX);
    e = eventq_pop(&q);
    g_assert_cmpuint(event_kind(&e), ==, (1U << EVENT_KIND_BITS) - 1);
    g_assert_cmpuint(event_index(&e), ==, EVENT_INDEX_MAX);
    g_assert_cmpuint(e.at_ps, ==, SIM_NEVER - 1);
    eventq_destroy(&q);
}

static void test_empty_pop(void)
{
    if (g_test_subprocess()) {
        EventQueue q;

        eventq_init(&q);
        eventq_pop(&q);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

/* The earliest event would be lost. */
static void test_changed_too_early(void)
{
    if (g_test_subprocess()) {
        EventQueue q;

        eventq_init(&q);
        eventq_push(&q, 1, 0, 0);
        eventq_changed(&q);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eventq/ties", test_ties);
    g_test_add_func("/eventq/spread", test_spread);
    g_test_add_func("/eventq/wrap", test_wrap);
    g_test_add_func("/eventq/filter", test_filter);
    g_test_add_func("/eventq/filter-ends", test_filter_ends);
    g_test_add_func("/eventq/line", test_line);
    g_test_add_func("/eventq/line-and-timer", test_line_and_timer);
    g_test_add_func("/eventq/gather-line", test_gather_line);
    g_test_add_func("/eventq/gather", test_gather);
    g_test_add_func("/eventq/limits", test_limits);
    g_test_add_func("/eventq/empty-pop", test_empty_pop);
    g_test_add_func("/eventq/changed-too-early", test_changed_too_early);
    return g_test_run();
}
