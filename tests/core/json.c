/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - the exact text that the JSON writer makes. */
#include "hist.h"
#include "json.h"

#include <math.h>
#include <string.h>

static void test_nesting(void)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_open(&w, NULL, '{');
    json_u64(&w, "a", UINT64_MAX);
    json_open(&w, "empty", '{');
    json_close(&w, '}');
    json_open(&w, "list", '[');
    json_bool(&w, NULL, true);
    json_bool(&w, NULL, false);
    json_open(&w, NULL, '{');
    json_u64(&w, "x", 0);
    json_close(&w, '}');
    json_open(&w, NULL, '[');
    json_close(&w, ']');
    json_close(&w, ']');
    json_string(&w, "z", "end");
    json_close(&w, '}');
    g_assert_cmpstr(s->str, ==,
                    "{\"a\":18446744073709551615,\"empty\":{},"
                    "\"list\":[true,false,{\"x\":0},[]],\"z\":\"end\"}");
}

static void test_u128(void)
{
    const unsigned __int128 v[] = {0, UINT64_MAX, (unsigned __int128)1 << 64,
                                   (unsigned __int128)UINT64_MAX *
                                       10000000000000000000ULL,
                                   ~(unsigned __int128)0};
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_open(&w, NULL, '[');
    for (size_t i = 0; i < G_N_ELEMENTS(v); i++) {
        json_u128(&w, NULL, v[i]);
    }
    json_close(&w, ']');
    g_assert_cmpstr(s->str, ==,
                    "[0,18446744073709551615,18446744073709551616,"
                    "184467440737095516150000000000000000000,"
                    "340282366920938463463374607431768211455]");
}

static void test_escapes(void)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_string(&w, NULL, "a\"b\\c\n\t\x01 \xc3\xa9/");
    g_assert_cmpstr(s->str, ==,
                    "\"a\\\"b\\\\c\\u000a\\u0009\\u0001 \xc3\xa9/\"");
}

static void test_members(void)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_open(&w, NULL, '{');
    json_members(&w, "");
    json_members(&w, "\"a\":1,\"b\":{}");
    json_members(&w, "");
    json_u64(&w, "c", 2);
    json_members(&w, "\"d\":3");
    json_close(&w, '}');
    g_assert_cmpstr(s->str, ==, "{\"a\":1,\"b\":{},\"c\":2,\"d\":3}");
}

static void test_doubles(void)
{
    g_autoptr(GString) s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    json_open(&w, NULL, '[');
    json_double(&w, NULL, 0);
    json_double(&w, NULL, -0.0);
    json_double(&w, NULL, -7);
    json_double(&w, NULL, 9999999999.0);
    json_double(&w, NULL, 12345678901.25);
    json_double(&w, NULL, 1.5);
    json_double(&w, NULL, 1e300);
    json_double(&w, NULL, NAN);
    json_double(&w, NULL, -INFINITY);
    json_close(&w, ']');
    g_assert_cmpstr(s->str, ==,
                    "[0,-0,-7,9999999999,12345678901.25,1.5,1e+300,null,null]");
}

/* The mean of equal values is printed as the value: rounding would put it below
 * the smallest. */
static void test_means(void)
{
    for (uint64_t v = 3; v < 1000000000000000ULL; v = 7 * v + 1) {
        g_autoptr(GString) s = g_string_new(NULL);
        JsonWriter w = {.out = s};
        Hist h;

        hist_init(&h);
        hist_add(&h, v);
        hist_add(&h, v);
        hist_add(&h, v + 1);
        json_double(&w, NULL, hist_mean(&h));
        g_assert_cmpfloat(g_ascii_strtod(s->str, NULL), >=, (double)v);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/nesting", test_nesting);
    g_test_add_func("/json/u128", test_u128);
    g_test_add_func("/json/escapes", test_escapes);
    g_test_add_func("/json/doubles", test_doubles);
    g_test_add_func("/json/means", test_means);
    g_test_add_func("/json/members", test_members);
    return g_test_run();
}
