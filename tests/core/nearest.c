/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest.c - a misspelt name finds the one that is meant, and no other.
 */
#include "nearest.h"

#include <glib.h>
#include <string.h>

static const char *const names[] = {"run",   "replay", "batch", "convert",
                                    "queue", "fit",    NULL};
static const char *const keys[] = {
    "seed", "nand.read", "nand.t_prog_ns", "nand.channels", "ftl.read", NULL};

static void check(const char *const *list, const char *given,
                  const char *expected)
{
    Nearest n = nearest_to(given);
    g_autofree char *text = NULL;
    g_autofree char *hint = NULL;

    for (const char *const *p = list; *p; p++) {
        if (list == keys) {
            nearest_try_key(&n, *p);
        } else {
            nearest_try(&n, *p);
        }
    }
    text = expected ? g_strdup_printf("; did you mean --%s?", expected)
                    : g_strdup("");
    hint = nearest_hint(&n, "--");
    g_assert_cmpstr(n.name, ==, expected);
    g_assert_cmpstr(hint, ==, text);
}

static void test_one_mistake(void)
{
    check(names, "rnu", "run");  /* exchanged */
    check(names, "rum", "run");  /* wrong */
    check(names, "rn", "run");   /* missing */
    check(names, "ruun", "run"); /* superfluous */
    check(names, "RUN", "run");
    check(names, "run", "run");
}

/* The longer a name, the more mistakes it may have. */
static void test_number_of_mistakes(void)
{
    check(names, "ruxx", NULL); /* 2 of 4 */
    check(names, "replax", "replay");
    check(names, "reqlax", "replay");                /* 2 of 6 */
    check(names, "xeqlax", NULL);                    /* 3 of 6 */
    check(keys, "nand.t_brok_ms", "nand.t_prog_ns"); /* 3 of 14 */
    check(keys, "nand.d_brok_ms", NULL);             /* 4 of 14 */
}

static void test_nothing_is_near(void)
{
    g_autofree char *longer = g_strnfill(100, 'r');

    check(names, "", NULL);
    check(names, "f", NULL);
    check(names, "help", NULL);
    check(names, longer, NULL);
}

/* The first of those that are equally near. */
static void test_ties(void)
{
    static const char *const equal[] = {"cat", "car", "cap", NULL};

    check(equal, "cab", "cat");
    check(equal, "cap", "cap");
}

static void test_sections(void)
{
    check(keys, "channels", "nand.channels");
    check(keys, "flash.channels", "nand.channels");
    check(keys, "ftl.read", "ftl.read");
    check(keys, "read", "nand.read");
    check(keys, "nand.chanels", "nand.channels");
    check(keys, "nand", NULL);
    check(keys, "nand.", NULL);
}

/* A long name is near to no other, and nothing is read behind the tables. */
static void test_longest(void)
{
    g_autofree char *given = g_strnfill(64, 'a');
    g_autofree char *near_one = g_strnfill(63, 'a');
    g_autofree char *far_one = g_strnfill(65, 'a');
    const char *list[] = {far_one, near_one, NULL};

    check(list, given, near_one);
    check(list, far_one, NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/nearest/one-mistake", test_one_mistake);
    g_test_add_func("/core/nearest/number", test_number_of_mistakes);
    g_test_add_func("/core/nearest/nothing", test_nothing_is_near);
    g_test_add_func("/core/nearest/ties", test_ties);
    g_test_add_func("/core/nearest/sections", test_sections);
    g_test_add_func("/core/nearest/longest", test_longest);
    return g_test_run();
}
