/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields.c - numbers, times and words of a line. */
#include "fields.h"

#include <string.h>
#include <glib.h>

bool field_u64(const char **s, uint64_t *out)
{
    const char *p = *s;
    uint64_t v = 0;

    if (!g_ascii_isdigit(*p)) {
        return false;
    }
    for (; g_ascii_isdigit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');

        if (v > (UINT64_MAX - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *s = p;
    *out = v;
    return true;
}

bool field_whole(const char *text, const char *prefix, uint64_t min,
                 uint64_t max, uint64_t *out)
{
    const char *s = text;
    size_t len = strlen(prefix);

    if (g_ascii_strncasecmp(s, prefix, len) == 0) {
        s += len;
    }
    return field_u64(&s, out) && *s == '\0' && *out >= min && *out <= max;
}

bool field_time(const char **s, uint64_t unit_ns, uint64_t *out_ns)
{
    const char *p = *s;
    uint64_t whole;
    uint64_t left = unit_ns;
    uint64_t fraction = 0;

    if (!field_u64(&p, &whole) || whole >= UINT64_MAX / unit_ns) {
        return false;
    }
    if (*p == '.') {
        for (p++; g_ascii_isdigit(*p); p++) {
            left /= 10; /* digits below a nanosecond add nothing */
            fraction += left * (unsigned)(*p - '0');
        }
    }
    *s = p;
    *out_ns = whole * unit_ns + fraction;
    return true;
}

bool field_char(const char **s, char c)
{
    const char *p = *s;

    while (c == '\0' && (*p == ' ' || *p == '\t')) {
        p++;
    }
    if (*p != c) {
        return false;
    }
    *s = p + (c != '\0');
    return true;
}

bool field_space(const char **s)
{
    const char *p = *s;

    while (*p == ' ' || *p == '\t') {
        p++;
    }
    if (p == *s) {
        return false;
    }
    *s = p;
    return true;
}

bool field_text(const char **s, char end, const char **text, size_t *len)
{
    const char *p = strchr(*s, end);

    if (!p) {
        return false;
    }
    *text = *s;
    *len = (size_t)(p - *s);
    *s = p + 1;
    return true;
}

bool op_from_text(const char *text, size_t len, SsdOp *op)
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
    };

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (strlen(words[i].word) == len &&
            g_ascii_strncasecmp(words[i].word, text, len) == 0) {
            *op = words[i].op;
            return true;
        }
    }
    return false;
}
