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

/* A decimal number below 2^64. */
bool field_u64(const char **s, uint64_t *out);

/* All of text is a decimal number min..max, after a prefix that may be absent
 * (in any case; "": none). */
bool field_whole(const char *text, const char *prefix, uint64_t min,
                 uint64_t max, uint64_t *out);

/* A decimal number with or without a fraction, times unit_ns, rounded down. */
bool field_time(const char **s, uint64_t unit_ns, uint64_t *out_ns);

/* That character (NUL: the end of the line, spaces before it allowed). */
bool field_char(const char **s, char c);

/* Spaces and tabs, one or more. */
bool field_space(const char **s);

/* Up to end (not NUL) and it; *len is without it. */
bool field_text(const char **s, char end, const char **text, size_t *len);

/* Read or write in the words that traces use, in any case: R, W, read, write;
 * D, trim, discard; F, flush, sync. */
bool op_from_text(const char *text, size_t len, SsdOp *op);

#endif
