/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - take the fields of a line of text, one after the other.
 *
 * Each function with *s moves it behind the field; false: it is not there,
 * and *s is as it was.
 */
#ifndef VSSD_SIM_FIELDS_H
#define VSSD_SIM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ssd.h"

/* The value of a character that is a digit; else 10 or more. */
static inline unsigned field_digit(const char *p)
{
    return (unsigned char)*p - (unsigned)'0';
}

/* No number of so many digits overflows. */
#define FIELD_SHORT_DIGITS 19

/* For those below: the rest of a number that is long, of which v has been read
 * up to p; the fraction of a time, which begins at p, and where it ends. */
bool field_long(const char **s, const char *p, uint64_t v, uint64_t *out);
const char *field_fraction(const char *p, uint64_t unit_ns, uint64_t *ns);

/* A decimal number below 2^64. */
static inline bool field_u64(const char **s, uint64_t *out)
{
    const char *p = *s;
    uint64_t v = 0;
    unsigned digit;

    while ((digit = field_digit(p)) <= 9) {
        if (p - *s == FIELD_SHORT_DIGITS) {
            return field_long(s, p, v, out);
        }
        v = v * 10 + digit;
        p++;
    }
    if (p == *s) {
        return false;
    }
    *s = p;
    *out = v;
    return true;
}

/* All of text is a decimal number min..max, after a prefix that may be absent
 * (in any case; "": none). */
bool field_whole(const char *text, const char *prefix, uint64_t min,
                 uint64_t max, uint64_t *out);

/* A decimal number with or without a fraction, times unit_ns, a power of ten;
 * rounded down. */
static inline bool field_time(const char **s, uint64_t unit_ns,
                              uint64_t *out_ns)
{
    const char *p = *s;
    uint64_t whole;
    uint64_t fraction_ns = 0;

    if (!field_u64(&p, &whole) || whole >= UINT64_MAX / unit_ns) {
        return false;
    }
    if (*p == '.') {
        p = field_fraction(p + 1, unit_ns, &fraction_ns);
    }
    *s = p;
    *out_ns = whole * unit_ns + fraction_ns;
    return true;
}

static inline const char *field_skip_space(const char *p)
{
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

/* That character (NUL: the end of the line, spaces before it allowed). */
static inline bool field_char(const char **s, char c)
{
    const char *p = c == '\0' ? field_skip_space(*s) : *s;

    if (*p != c) {
        return false;
    }
    *s = p + (c != '\0');
    return true;
}

/* Spaces and tabs, one or more. */
static inline bool field_space(const char **s)
{
    const char *p = field_skip_space(*s);

    if (p == *s) {
        return false;
    }
    *s = p;
    return true;
}

/* Where the word ends that begins at p. */
static inline const char *field_word_end(const char *p)
{
    while (*p && *p != ' ' && *p != '\t') {
        p++;
    }
    return p;
}

/* Up to end (not NUL) and it; *len is without it. */
static inline bool field_text(const char **s, char end, const char **text,
                              size_t *len)
{
    const char *p = *s;

    while (*p != end) {
        if (*p++ == '\0') {
            return false;
        }
    }
    *text = *s;
    *len = (size_t)(p - *s);
    *s = p + 1;
    return true;
}

/* Read or write in the words that traces use, in any case: R, W, read, write;
 * D, trim, discard; F, flush, sync. */
bool op_from_text(const char *text, size_t len, SsdOp *op);

#endif
