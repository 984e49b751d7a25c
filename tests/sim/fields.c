/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.c - numbers, times and words of a line, against the C library.
 *
 * Each line has FIELD_SLACK bytes behind its NUL and no more, so the address
 * sanitizer sees a parser that reads further.  The slack is full of digits,
 * which must not count.
 */
#include "fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "prng.h"
#include "simtime.h"

#define ROUNDS 20000

/* A copy of the text as a line; g_free(). */
static char *line_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *line = g_malloc(n + FIELD_SLACK);

    memcpy(line, text, n);
    memset(line + n, '7', FIELD_SLACK);
    return line;
}

static void expect_number(const char *text)
{
    g_autofree char *line = line_of(text);
    const char *s = line;
    char *end;
    uint64_t want;
    uint64_t got = 0;
    bool ok;

    errno = 0;
    want = strtoull(text, &end, 10);
    ok = g_ascii_isdigit(*text) && errno != ERANGE;
    g_assert_cmpint(field_u64(&s, &got), ==, ok);
    g_assert_cmpuint((size_t)(s - line), ==, ok ? (size_t)(end - text) : 0);
    g_assert_true(!ok || got == want);
}

/* Of each length and each value of the first digits, before each kind of end.
 */
static void test_numbers(void)
{
    static const char *const ends[] = {"",  " ", ",x",   ".5",
                                       "/", ":", "\xb5", "\t1"};
    static const char *const others[] = {"",
                                         " 1",
                                         "-1",
                                         "+1",
                                         "x",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "99999999999999999999999",
                                         "00000000000000000000000000042"};
    Prng r;

    prng_seed(&r, 3, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        char text[40];
        unsigned digits = (unsigned)prng_below(&r, 22);

        for (unsigned k = 0; k < digits; k++) {
            text[k] = (char)('0' + prng_below(&r, 10));
        }
        strcpy(text + digits, ends[prng_below(&r, G_N_ELEMENTS(ends))]);
        expect_number(text);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        expect_number(others[i]);
    }
}

/* Of each number of digits behind the point, in each unit; what is below a
 * nanosecond is dropped. */
static void test_times(void)
{
    static const uint64_t units[] = {1, 100, NS_PER_US, NS_PER_MS, NS_PER_S};
    Prng r;

    prng_seed(&r, 4, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t unit = units[i % G_N_ELEMENTS(units)];
        unsigned n = (unsigned)prng_below(&r, 14);
        uint64_t whole = prng_below(&r, 1000000);
        uint64_t scale = 1;
        uint64_t part = 0;
        char fraction[16] = "";
        g_autofree char *text = NULL;
        g_autofree char *line = NULL;
        const char *s;
        uint64_t got = 0;

        for (unsigned k = 0; k < n; k++) {
            fraction[k] = (char)('0' + prng_below(&r, 10));
            if (scale < unit) {
                scale *= 10;
                part = part * 10 + (uint64_t)(fraction[k] - '0');
            }
        }
        text = g_strdup_printf("%" PRIu64 ".%s", whole, fraction);
        line = line_of(text);
        s = line;
        g_assert_true(field_time(&s, unit, &got));
        g_assert_cmpuint(got, ==, whole * unit + part * (unit / scale));
        g_assert_true(*s == '\0');
    }
}

static void test_whole(void)
{
    uint64_t v;

    g_assert_true(field_whole("12", 0, 12, &v) && v == 12);
    g_assert_false(field_whole("12 ", 0, 12, &v));
    g_assert_false(field_whole("13", 0, 12, &v));
    g_assert_false(field_whole("", 0, 12, &v));
}

static bool op_of(const char *text, size_t len, SsdOp *op)
{
    g_autofree char *line = line_of(text);

    return op_from_text(line, len, op);
}

/* Each word in any case, and no word that is longer, shorter or another one. */
static void test_words(void)
{
    static const struct {
        const char *word;
        SsdOp op;
    } words[] = {
        {"r", SSD_OP_READ},       {"read", SSD_OP_READ},
        {"w", SSD_OP_WRITE},      {"write", SSD_OP_WRITE},
        {"d", SSD_OP_TRIM},       {"trim", SSD_OP_TRIM},
        {"discard", SSD_OP_TRIM}, {"f", SSD_OP_FLUSH},
        {"flush", SSD_OP_FLUSH},  {"sync", SSD_OP_FLUSH},
        {"28", SSD_OP_READ},      {"2a", SSD_OP_WRITE},
        {"0x2a", SSD_OP_WRITE},   {"88", SSD_OP_READ},
        {"42", SSD_OP_TRIM},
    };
    static const char *const others[] = {
        "",           "x",           "reads", "rea", "writ", "discards",
        "discarding", "syn",         "ws",    "fws", "29",   "0x28f",
        "rw",         "rasmasmasm2", "2",     "2a8"};
    SsdOp op;

    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        g_autofree char *upper = g_ascii_strup(words[i].word, -1);
        size_t len = strlen(upper);

        upper[len - 1] = words[i].word[len - 1]; /* both cases in one word */
        g_assert_true(op_of(words[i].word, len, &op) && op == words[i].op);
        g_assert_true(op_of(upper, len, &op) && op == words[i].op);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        g_assert_false(op_of(others[i], strlen(others[i]), &op));
    }
}

static void test_plain(void)
{
    static const struct {
        const char *line;
        const char *plain; /* NULL: it is plain */
    } t[] = {
        {"1.5e9,2", "1500000000,2"},
        {"1.5E-3 7", "0.0015 7"},
        {"12e+2;1e0", "1200;1"},
        {"1.2345e2", "123.45"},
        {"0.5e1", "05"},
        {"1.e3", "1000"},
        {"\"123\",\"4.5e3\"", "123,4500"},
        {"\"a,b c\",\"\",1", "a_b_c,,1"},
        {"4.096000e+03,8192.0", "4096,8192.0"},
        {"1.50 0.250e-1", "1.50 0.025"},
        {"1, \"R\", 5", "1,R,5"},
        {"\"1\"5,\"a b", "15,a_b"},
        {"1e99", "1000000000000000000000000000000000000000000000000000000000000"
                 "000000000000000000000000000000000000000"},
        {"123,1.5,0x1e5,h1e5,1e,1e999,e5", NULL},
        {"", NULL},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(t); i++) {
        g_autofree char *line = line_of(t[i].line);
        g_autofree char *plain = field_plain(line);

        g_assert_cmpstr(plain, ==, t[i].plain);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/fields/numbers", test_numbers);
    g_test_add_func("/fields/times", test_times);
    g_test_add_func("/fields/whole", test_whole);
    g_test_add_func("/fields/words", test_words);
    g_test_add_func("/fields/plain", test_plain);
    return g_test_run();
}
