/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.c - marks of work: each index once, in the order of the marks.
 */
#include "settle.h"

static void test_order(void)
{
    Work w = {.any = 0};

    work_init(&w, 4, 100);
    g_assert_cmpuint(work_take(&w, WORK_GC), ==, NONE);
    for (unsigned round = 0; round < 3; round++) { /* the ring goes round */
        work_mark(&w, WORK_GC, 3);
        work_mark(&w, WORK_GC, 1);
        work_mark(&w, WORK_GC, 3);
        g_assert_cmpuint(w.any, ==, 1U << WORK_GC);
        g_assert_cmpuint(work_take(&w, WORK_GC), ==, 3);
        work_mark(&w, WORK_GC, 3); /* again, while the pass is at it */
        g_assert_cmpuint(work_take(&w, WORK_GC), ==, 1);
        g_assert_cmpuint(work_take(&w, WORK_GC), ==, 3);
        g_assert_cmpuint(work_take(&w, WORK_GC), ==, NONE);
        g_assert_cmpuint(w.any, ==, 0);
    }
    work_destroy(&w);
}

static void test_full(void)
{
    Work w = {.any = 0};

    work_init(&w, 4, 100);
    for (uint32_t i = 0; i < 100; i++) {
        work_mark(&w, WORK_GC_RELEASE, i * 7 % 100);
    }
    for (uint32_t i = 0; i < 100; i++) {
        g_assert_cmpuint(work_take(&w, WORK_GC_RELEASE), ==, i * 7 % 100);
    }
    g_assert_cmpuint(work_take(&w, WORK_GC_RELEASE), ==, NONE);
    work_destroy(&w);
}

static void test_forget(void)
{
    Work w = {.any = 0};

    work_init(&w, 4, 100);
    work_mark(&w, WORK_META, 2);
    work_mark(&w, WORK_GC_RELEASE, 99);
    w.any |= 1U << WORK_BUFFER;
    work_forget(&w);
    g_assert_cmpuint(w.any, ==, 0);
    work_mark(&w, WORK_META, 2);
    g_assert_cmpuint(work_take(&w, WORK_META), ==, 2);
    work_destroy(&w);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/marks/order", test_order);
    g_test_add_func("/marks/full", test_full);
    g_test_add_func("/marks/forget", test_forget);
    return g_test_run();
}
