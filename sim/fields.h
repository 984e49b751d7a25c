/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - take the fields of a line of text, one after the other.
 *
 * Each function with *s moves it behind the field; false: it is not there,
 * and *s is as it was.  FIELD_SLACK bytes behind the NUL of a line can be read
 * (input_line() sees to it); their values do not matter.
 */
#ifndef VSSD_SIM_FIELDS_H
#define VSSD_SIM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <glib.h>

#include "ssd.h"

/* The value of a character that is a digit; else 10 or more. */
static inline unsigned field_digit(const char *p)
{
    return (unsigned char)*p - (unsigned)'0';
}

/* Digits that are read at once, and so bytes that a line needs behind its NUL.
 */
#define FIELD_SLACK 8

static const uint64_t field_power[FIELD_SLACK + 1] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
};

/*
 * The number of digits at p, 0..8, and the number that they are.  Each byte of
 * a word is a digit; pairs of them, then of the pairs, and then the halves are
 * put together, as in D. Lemire, "Number Parsing at a Gigabyte per Second",
 * Software: Practice and Experience 51(8), 2021.
 */
__attribute__((always_inline)) static inline unsigned
field_digits(const char *p, uint64_t *v)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t d;
    uint64_t other; /* the top bit of each byte that is no digit */
    unsigned n;

    memcpy(&d, p, sizeof(d));
    d = GUINT64_FROM_LE(d) ^ each * '0';
    other = (((d & each * 0x7f) + each * (0x80 - 10)) | d) & each * 0x80;
    n = other ? (unsigned)__builtin_ctzll(other) / 8 : FIELD_SLACK;
    if (n == 0) {
        return 0;
    }
    d <<= 8 * (FIELD_SLACK - n); /* the last one at the top, zeroes below */
    d = d * 10 + (d >> 8);
    d = ((d & 0x00ff00ff00ff00ff) * (1 + (100 << 16))) >> 16;
    *v = ((d & 0x0000ffff0000ffff) * (1 + (10000ULL << 32))) >> 32;
    return n;
}

/* For those below: the rest of a number that is long, of which v has been read
 * up to p; the fraction of a time, which begins at p, and where it ends. */
bool field_long(const char **s, const char *p, uint64_t v, uint64_t *out);
const char *field_fraction(const char *p, uint64_t unit_ns, uint64_t *ns);

/* A decimal number below 2^64. */
__attribute__((always_inline)) static inline bool field_u64(const char **s,
                                                            uint64_t *out)
{
    const char *p = *s;
    uint64_t low;
    unsigned n;

    if (field_digit(p) <= 9 && field_digit(p + 1) > 9) { /* of one digit */
        *out = field_digit(p);
        *s = p + 1;
        return true;
    }
    n = field_digits(p, out);
    p += n;
    if (n == FIELD_SLACK) {
        n = field_digits(p, &low);
        if (G_UNLIKELY(n == FIELD_SLACK)) {
            return field_long(s, p, *out, out);
        }
        *out = n ? *out * field_power[n] + low : *out;
        p += n;
    } else if (n == 0) {
        return false;
    }
    *s = p;
    return true;
}

/* A copy of text that is a line with its slack; g_free(). */
char *field_line(const char *text);

/* The same without quotes and spaces behind commas, and with numbers such as
 * 1.5e9 written out; NULL: it has none of them.  What separates fields is _
 * within quotes.  g_free(). */
char *field_plain(const char *line);

/* Of text without slack.  All of it is a decimal number min..max. */
bool field_whole(const char *text, uint64_t min, uint64_t max, uint64_t *out);

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

/* A number that stands for a name: a hash (FNV-1a, 64 bits). */
static inline uint64_t field_hash(const char *name, size_t len)
{
    uint64_t h = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < len; i++) {
        h = (h ^ (uint8_t)name[i]) * 0x100000001b3ULL;
    }
    return h;
}

/* Of a line: read or write in the words that traces use, in any case: R, W,
 * read, write; D, trim, discard; F, flush, sync; SCSI's opcodes in hexadecimal
 * (28, 2a, 0x88).  blk_word() knows the kernel's letters, too. */
bool op_from_text(const char *text, size_t len, SsdOp *op);

#endif
