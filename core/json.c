/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - write JSON member by member. */
#include "json.h"

#include <math.h>

static void write_string(GString *out, const char *s)
{
    g_string_append_c(out, '"');
    for (;;) {
        const char *from = s;

        while ((unsigned char)*s >= 0x20 && *s != '"' && *s != '\\') {
            s++;
        }
        g_string_append_len(out, from, s - from);
        if (!*s) {
            break;
        }
        if (*s == '"' || *s == '\\') {
            g_string_append_c(out, '\\');
            g_string_append_c(out, *s);
        } else {
            g_string_append_printf(out, "\\u%04x", *s);
        }
        s++;
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

static void write_u64(GString *out, uint64_t v)
{
    char digits[20]; /* 2^64 has 20 */
    char *end = digits + sizeof(digits);
    char *p = end;

    do {
        *--p = (char)('0' + (unsigned)(v % 10));
        v /= 10;
    } while (v);
    g_string_append_len(out, p, end - p);
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
    write_u64(w->out, v);
}

void json_u128(JsonWriter *w, const char *key, unsigned __int128 v)
{
    char digits[40]; /* 2^128 has 39 */
    char *p = digits + sizeof(digits) - 1;

    if (v <= UINT64_MAX) {
        json_u64(w, key, (uint64_t)v);
        return;
    }
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
    if (v >= 0 && v < 1e10 && v == (double)(uint64_t)v && !signbit(v)) {
        write_u64(w->out, (uint64_t)v); /* the same digits, but sooner */
    } else if (isfinite(v)) {
        /* All digits of a large one: a mean is not below its minimum. */
        g_string_append(w->out,
                        g_ascii_formatd(buf, sizeof(buf),
                                        fabs(v) < 1e10 ? "%.10g" : "%.15g", v));
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

void json_members(JsonWriter *w, const char *text)
{
    if (*text) {
        lead(w, NULL);
        g_string_append(w->out, text);
    }
}
