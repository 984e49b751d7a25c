/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - write JSON member by member. */
#include "json.h"

#include <inttypes.h>
#include <math.h>

static void write_string(GString *out, const char *s)
{
    g_string_append_c(out, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            g_string_append_c(out, '\\');
            g_string_append_c(out, *s);
        } else if ((unsigned char)*s < 0x20) {
            g_string_append_printf(out, "\\u%04x", *s);
        } else {
            g_string_append_c(out, *s);
        }
    }
    g_string_append_c(out, '"');
}

static void lead(JsonWriter *w, const char *key)
{
    if (w->comma) {
        g_string_append_c(w->out, ',');
    }
    w->comma = true;
    if (key) {
        write_string(w->out, key);
        g_string_append_c(w->out, ':');
    }
}

void json_open(JsonWriter *w, const char *key, char bracket)
{
    lead(w, key);
    g_string_append_c(w->out, bracket);
    w->comma = false;
}

void json_close(JsonWriter *w, char bracket)
{
    g_string_append_c(w->out, bracket);
    w->comma = true;
}

void json_u64(JsonWriter *w, const char *key, uint64_t v)
{
    lead(w, key);
    g_string_append_printf(w->out, "%" PRIu64, v);
}

void json_u128(JsonWriter *w, const char *key, unsigned __int128 v)
{
    char digits[40]; /* 2^128 has 39 */
    char *p = digits + sizeof(digits) - 1;

    *p = '\0';
    do {
        *--p = (char)('0' + (unsigned)(v % 10));
        v /= 10;
    } while (v);
    lead(w, key);
    g_string_append(w->out, p);
}

void json_double(JsonWriter *w, const char *key, double v)
{
    char buf[G_ASCII_DTOSTR_BUF_SIZE];

    lead(w, key);
    if (isfinite(v)) {
        g_string_append(w->out,
                        g_ascii_formatd(buf, sizeof(buf), "%.10g", v));
    } else {
        g_string_append(w->out, "null");
    }
}

void json_bool(JsonWriter *w, const char *key, bool v)
{
    lead(w, key);
    g_string_append(w->out, v ? "true" : "false");
}

void json_string(JsonWriter *w, const char *key, const char *v)
{
    lead(w, key);
    write_string(w->out, v);
}
