/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - the option parser: every type, every limit, every malformed
 * input that we could think of, and printing as the inverse of parsing.
 */
#include "options.h"

#include <string.h>

#include "prng.h"

typedef struct Box {
    uint32_t u32, named;
    uint64_t u64;
    uint64_t size;
    uint64_t time_ps;
    uint32_t ppm;
    bool flag;
    uint32_t colour;
    double real;
    char *text;
} Box;

static const char *colour_name(unsigned i)
{
    static const char *const names[] = {"red", "green", "blue"};

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

static bool is_short(const char *value, GError **error)
{
    return strlen(value) < 20 ||
           opt_fail(error, OPT_ERROR_VALUE, "a.text=%s: is long", value);
}

static void clear_u32(void *base)
{
    Box *b = base;

    b->u32 = 0;
}

#define ROW(...) OPT_ROW(Box, __VA_ARGS__)

static const OptDesc rows[] = {
    /* clang-format off */
    ROW(U32, uint32_t, u32, "a.u32", 1, 64, "8", NULL, "h")
    ROW(U32, uint32_t, named, "a.named", 2, 64, "green", colour_name, "h")
    ROW(U64, uint64_t, u64, "a.u64", 0, UINT64_MAX, "7", NULL, "h")
    ROW(SIZE, uint64_t, size, "a.size", 0, UINT64_MAX, "4KiB", NULL, "h")
    ROW(TIME, uint64_t, time_ps, "a.time", 0, UINT64_MAX, "45us", NULL, "h")
    ROW(TIME, uint64_t, time_ps, "a.time_ns", 0, UINT64_MAX, NULL, NULL, "h")
    ROW(PPM, uint32_t, ppm, "a.ppm", 0, 10000000, "7%", NULL, "h")
    ROW(BOOL, bool, flag, "a.flag", 0, 0, "on", NULL, "h")
    ROW(ENUM, uint32_t, colour, "a.colour", 0, 0, "blue", colour_name, "h")
    ROW(DOUBLE, double, real, "a.real", 0, 1, NULL, NULL, "h")
    ROW(STRING, char *, text, "a.text", 0, 0, NULL, NULL, "h",
        .check = is_short)
    /* clang-format on */
};

static const OptDesc *row(const char *key)
{
    const OptDesc *d = opt_find(rows, G_N_ELEMENTS(rows), key);

    g_assert_nonnull(d);
    return d;
}

static uint64_t stored(const Box *b, const OptDesc *d)
{
    const void *field = (const char *)b + d->offset;

    switch (d->type) {
    case OPT_BOOL:
        return *(const bool *)field;
    case OPT_U32:
    case OPT_PPM:
    case OPT_ENUM:
        return *(const uint32_t *)field;
    default:
        return *(const uint64_t *)field;
    }
}

static void test_good(void)
{
    static const struct {
        const char *key, *value;
        uint64_t want;
    } t[] = {
        {"a.u32", "1", 1},
        {"a.u32", "64", 64},
        {"a.u32", "064", 64},
        {"a.u32", "1_0", 10},
        {"a.u32", "2.0", 2},
        {"a.named", "2", 2},
        {"a.named", "red", OPT_NAMED(0)},
        {"a.named", "blue", OPT_NAMED(2)},
        {"a.u64", "18446744073709551615", UINT64_MAX},
        {"a.u64", "0", 0},
        {"a.size", "512", 512},
        {"a.size", "512B", 512},
        {"a.size", "4KiB", 4096},
        {"a.size", "4kib", 4096},
        {"a.size", "4 KiB", 4096},
        {"a.size", "4KB", 4000},
        {"a.size", "4K", 4096},
        {"a.size", "4k", 4096},
        {"a.size", "1.5M", 1572864},
        {"a.size", "2G", 2147483648},
        {"a.size", "1t", 1ULL << 40},
        {"a.size", "1.5MiB", 1572864},
        {"a.size", "2GB", 2000000000},
        {"a.size", "0.5TiB", 549755813888},
        {"a.time", "0", 0},
        {"a.time", "45us", 45000000},
        {"a.time", "0.0", 0},
        {"a.time_ns", "1.25", 1250},
        {"a.time_ns", "2us", 2000000},
        {"a.time", "1.1us", 1100000},
        {"a.time", "0.001ns", 1},
        {"a.time", "7ps", 7},
        {"a.time", ".5ms", 500000000},
        {"a.time", "2min", 120000000000000},
        {"a.time", "1h", 3600000000000000},
        {"a.ppm", "25%", 250000},
        {"a.ppm", "25", 250000},
        {"a.ppm", "0.25%", 2500},
        {"a.ppm", "0.0001%", 1},
        {"a.ppm", "1000%", 10000000},
        {"a.flag", "on", 1},
        {"a.flag", "OFF", 0},
        {"a.flag", "yes", 1},
        {"a.flag", "no", 0},
        {"a.flag", "true", 1},
        {"a.flag", "0", 0},
        {"a.colour", "red", 0},
        {"a.colour", "blue", 2},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        Box b = {.u64 = 99, .size = 99, .time_ps = 99};
        g_autoptr(GError) error = NULL;

        g_assert_true(opt_set(&b, row(t[i].key), t[i].value, &error));
        g_assert_no_error(error);
        g_assert_cmpuint(stored(&b, row(t[i].key)), ==, t[i].want);
    }
}

/* Refused, in one line that begins with key=value and names the allowed values;
 * the field keeps its value. */
static void refuse(const char *key, const char *value)
{
    const OptDesc *d = row(key);
    g_autoptr(GError) error = NULL;
    g_autofree char *start = g_strdup_printf("%s=%s: allowed ", key, value);
    g_autofree char *range = opt_range(d);
    Box b, before;

    memset(&b, 0x5a, sizeof(b));
    before = b;
    g_assert_false(opt_set(&b, d, value, &error));
    g_assert_error(error, OPT_ERROR, OPT_ERROR_VALUE);
    g_assert_true(g_str_has_prefix(error->message, start));
    g_assert_nonnull(strstr(error->message, range));
    g_assert_cmpmem(&b, sizeof(b), &before, sizeof(before));
}

static void test_bad(void)
{
    static const char *const numbers[] = {
        "",
        " ",
        "x",
        "-1",
        "+1",
        "1x",
        "0x10",
        "1e3",
        "1..2",
        "1.2.3",
        ".",
        "..",
        "_1",
        "1 2",
        "1,5",
        "\xff",
        "1.5.",
        "inf",
        "nan",
        "1K1",
        "99999999999999999999999",
        "0.0000000000000000001",
    };
    static const char *const keys[] = {"a.u32", "a.u64", "a.size", "a.time",
                                       "a.ppm"};

    for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
            refuse(keys[k], numbers[i]);
        }
    }
    refuse("a.u32", "0");
    refuse("a.u32", "65");
    refuse("a.u32", "1.5");
    refuse("a.u32", "4294967297"); /* would be 1 if it were cut to 32 bits */
    refuse("a.u32", "8us");
    refuse("a.named", "1");
    refuse("a.named", "65");
    refuse("a.named", "Red");
    refuse("a.named", "4294967295"); /* how the first name is stored */
    refuse("a.u64", "18446744073709551616");
    refuse("a.size", "0.1B");
    refuse("a.size", "1us");
    refuse("a.size", "16777216TiB"); /* 2^64 */
    refuse("a.time", "45");
    refuse("a.time", "1.5");
    refuse("a.time", "0.5ps");
    refuse("a.time", "5KiB");
    refuse("a.time", "6000h");
    refuse("a.ppm", "1000.1%");
    refuse("a.ppm", "0.00001%");
    refuse("a.flag", "");
    refuse("a.flag", "2");
    refuse("a.flag", "onn");
    refuse("a.colour", "");
    refuse("a.colour", "Red");
    refuse("a.colour", "redd");
    refuse("a.colour", "0");
}

/* A message names the bound that was broken, or the unit that there is not. */
static void test_reasons(void)
{
    static const struct {
        const char *key, *value, *want;
    } t[] = {
        {"a.u32", "0", "allowed 1..64, it is below 1"},
        {"a.u32", "65", "allowed 1..64, it is above 64"},
        {"a.u32", "x", "allowed 1..64"},
        {"a.u32", "8us", "allowed 1..64, without 'us'"},
        {"a.real", "-1", "allowed 0..1, it is below 0"},
        {"a.real", "1.5", "allowed 0..1, it is above 1"},
        {"a.ppm", "1000.1", "allowed 0%..1000%, it is above 1000%"},
        {"a.size", "1Q",
         "no unit is 'Q': K, M, G, T, B, KB, MB, GB, TB, KiB, "
         "MiB, GiB, TiB"},
        {"a.time", "1Ks", "no unit is 'Ks': ps, ns, us, ms, s, min, h"},
        {"a.time", "1", "allowed with a unit (ps, ns, us, ms, s, min, h), "},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        g_autoptr(GError) error = NULL;
        Box b;

        g_assert_false(opt_set(&b, row(t[i].key), t[i].value, &error));
        g_assert_nonnull(strstr(error->message, t[i].want));
    }
}

static void test_range_text(void)
{
    static const struct {
        const char *key, *want;
    } t[] = {
        {"a.u32", "1..64"},     {"a.ppm", "0%..1000%"},
        {"a.flag", "on, off"},  {"a.colour", "red, green, blue"},
        {"a.text", "any text"}, {"a.named", "red, green, blue, 2..64"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        g_autofree char *got = opt_range(row(t[i].key));

        g_assert_cmpstr(got, ==, t[i].want);
    }
}

static void round_trip(const char *key, uint64_t v)
{
    const OptDesc *d = row(key);
    Box a = {0}, b = {0};
    g_autofree char *text = NULL;

    if (d->type == OPT_PPM) {
        a.ppm = (uint32_t)v;
    } else {
        *(uint64_t *)((char *)&a + d->offset) = v;
    }
    text = opt_get(&a, d);
    g_assert_true(opt_set(&b, d, text, NULL));
    g_assert_cmpuint(stored(&a, d), ==, stored(&b, d));
}

/* opt_set(opt_get(v)) is v, for whatever v. */
static void test_round_trip(void)
{
    static const uint64_t edges[] = {0,    1,       999,        1000,
                                     1023, 1024,    1000000,    1048576,
                                     4096, 3600000, UINT64_MAX, UINT64_MAX - 1};
    Prng r;

    prng_seed(&r, 1, 1);
    for (unsigned i = 0; i < 2000 + G_N_ELEMENTS(edges); i++) {
        uint64_t v = i < G_N_ELEMENTS(edges)
                         ? edges[i]
                         : prng_u64(&r) >> prng_below(&r, 64);

        round_trip("a.u64", v);
        round_trip("a.size", v);
        round_trip("a.time", v);
        round_trip("a.ppm", v % 10000001);
    }
}

static void test_get_words(void)
{
    Box b = {0};
    g_autofree char *flag = NULL;
    g_autofree char *colour = NULL;
    g_autofree char *named = NULL;
    g_autofree char *text = NULL;
    g_autofree char *none = opt_get(&b, row("a.text"));

    opt_set_defaults(&b, rows, G_N_ELEMENTS(rows));
    opt_set(&b, row("a.text"), "some words", NULL);
    flag = opt_get(&b, row("a.flag"));
    colour = opt_get(&b, row("a.colour"));
    named = opt_get(&b, row("a.named"));
    text = opt_get(&b, row("a.text"));
    g_assert_cmpstr(flag, ==, "on");
    g_assert_cmpstr(colour, ==, "blue");
    g_assert_cmpstr(named, ==, "green");
    g_assert_cmpstr(text, ==, "some words");
    g_assert_cmpstr(none, ==, "");
    opt_clear(&b, rows, G_N_ELEMENTS(rows));
    g_assert_null(b.text);
}

static void test_defaults(void)
{
    Box b = {0};

    opt_set_defaults(&b, rows, G_N_ELEMENTS(rows));
    g_assert_cmpuint(b.u32, ==, 8);
    g_assert_cmpuint(b.u64, ==, 7);
    g_assert_cmpuint(b.size, ==, 4096);
    g_assert_cmpuint(b.time_ps, ==, 45000000);
    g_assert_cmpuint(b.ppm, ==, 70000);
    g_assert_true(b.flag);
    g_assert_cmpuint(b.colour, ==, 2);
    g_assert_null(b.text);
}

/* A text that is refused leaves the old one; a copy has texts of its own. */
static void test_check(void)
{
    const OptDesc *d = row("a.text");
    g_autoptr(GError) error = NULL;
    Box b = {0};
    Box copy;

    g_assert_true(opt_set(&b, d, "short", &error));
    g_assert_false(opt_set(&b, d, "as long as twenty characters", &error));
    g_assert_nonnull(strstr(error->message, "is long"));
    copy = b;
    opt_copied(&copy, rows, G_N_ELEMENTS(rows));
    opt_clear(&b, rows, G_N_ELEMENTS(rows));
    g_assert_cmpstr(copy.text, ==, "short");
    opt_clear(&copy, rows, G_N_ELEMENTS(rows));
}

/* Only a value that is taken sets other fields. */
static void test_then(void)
{
    OptDesc d = *row("a.ppm");
    Box b = {.u32 = 5};

    d.then = clear_u32;
    g_assert_false(opt_set(&b, &d, "2000%", NULL));
    g_assert_cmpuint(b.u32, ==, 5);
    g_assert_true(opt_set(&b, &d, "20%", NULL));
    g_assert_cmpuint(b.u32, ==, 0);
}

static void test_find(void)
{
    g_assert_true(opt_find(rows, G_N_ELEMENTS(rows), "a.ppm") == &rows[6]);
    g_assert_null(opt_find(rows, G_N_ELEMENTS(rows), "a.pp"));
    g_assert_null(opt_find(rows, G_N_ELEMENTS(rows), "a.ppmm"));
    g_assert_null(opt_find(rows, G_N_ELEMENTS(rows), ""));
    g_assert_null(opt_find(rows, 0, "a.ppm"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/options/good", test_good);
    g_test_add_func("/options/check", test_check);
    g_test_add_func("/options/then", test_then);
    g_test_add_func("/options/bad", test_bad);
    g_test_add_func("/options/reasons", test_reasons);
    g_test_add_func("/options/range-text", test_range_text);
    g_test_add_func("/options/round-trip", test_round_trip);
    g_test_add_func("/options/get-words", test_get_words);
    g_test_add_func("/options/defaults", test_defaults);
    g_test_add_func("/options/find", test_find);
    return g_test_run();
}
