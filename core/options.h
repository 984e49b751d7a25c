/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - tables of options: parse, check, print, document.
 *
 * A layer lists its options once, as an x-macro; the table made from it gives
 * the struct field, the key, the range with a message that names it, the
 * default, --help and the reference page.  Values are stored as:
 *
 *   OPT_U32     uint32_t   plain number; or, if the row has names, one of them,
 *                          which is stored as OPT_NAMED(index)
 *   OPT_U64     uint64_t   plain number
 *   OPT_SIZE    uint64_t   bytes; suffixes K M G T and KiB MiB GiB TiB
 *                          (1024), B KB MB GB TB (1000)
 *   OPT_TIME    uint64_t   picoseconds; suffixes ps ns us ms s min h, which
 *                          only 0 goes without; a fraction is fine.  Where the
 *                          key says "_ns", bare numbers are nanoseconds
 *   OPT_PPM     uint32_t   millionths; "25%", "0.25%", bare numbers percent
 *   OPT_DOUBLE  double     plain number, "0.5"; min and max are whole
 *   OPT_BOOL    bool       on/off, yes/no, true/false, 1/0
 *   OPT_ENUM    uint32_t   index of a name
 *   OPT_STRING  char *     owned by the struct (g_free)
 */
#ifndef VSSD_CORE_OPTIONS_H
#define VSSD_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

typedef enum OptType {
    OPT_U32,
    OPT_U64,
    OPT_SIZE,
    OPT_TIME,
    OPT_PPM,
    OPT_DOUBLE,
    OPT_BOOL,
    OPT_ENUM,
    OPT_STRING,
} OptType;

typedef struct OptDesc {
    const char *key; /* "section.name", or "name" for the [drive] section */
    OptType type;
    size_t offset;     /* of the field in the struct given to the functions */
    uint64_t min, max; /* in stored units; ignored for BOOL, ENUM, STRING */
    const char *def;   /* default, as a user would type it; NULL: 0/NULL */
    /* ENUM: the name of value i, NULL past the last.  U32: names that may stand
     * for numbers, likewise, or NULL.  Else NULL. */
    const char *(*name_at)(unsigned i);
    const char *help; /* one line, with the unit if the key has none */
    /* STRING: is the text right?  NULL: any is. */
    bool (*check)(const char *value, GError **error);
    void (*then)(void *base); /* sets other fields, too; NULL: does not */
    bool common;  /* people change it often: the reference begins with these */
    bool running; /* may change while the drive runs */
} OptDesc;

/* What a U32 holds for its i-th name; greater than the max of such a row. */
#define OPT_NAMED(i) (UINT32_MAX - (uint32_t)(i))

/* A row of a table, of the arguments of its x-macro; behind the help it may
 * have .check, .then, .common and .running. */
#define OPT_ROW(base, kind, ctype, field, name, least, most, start, names,     \
                ...)                                                           \
    {.key = name,                                                              \
     .type = OPT_##kind,                                                       \
     .offset = offsetof(base, field),                                          \
     .min = least,                                                             \
     .max = most,                                                              \
     .def = start,                                                             \
     .name_at = names,                                                         \
     .help = __VA_ARGS__},

#define OPT_ERROR opt_error_quark()
GQuark opt_error_quark(void);

typedef enum OptError {
    OPT_ERROR_UNKNOWN, /* no such key */
    OPT_ERROR_VALUE,   /* malformed, or out of range */
    OPT_ERROR_SYNTAX,  /* not key=value */
    OPT_ERROR_COMBINATION, /* values that do not fit together */
} OptError;

/* Set *error, in one line.  Returns false. */
bool opt_fail(GError **error, OptError code, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* The row of key, or NULL. */
const OptDesc *opt_find(const OptDesc *table, size_t n, const char *key);

/* Parse value into the field of base.  false: *error is one line that begins
 * with key=value, and base is unchanged. */
bool opt_set(void *base, const OptDesc *d, const char *value, GError **error);

/* Set every field to its default; strings must be NULL or owned. */
void opt_set_defaults(void *base, const OptDesc *table, size_t n);

/* base is a copy: give it strings of its own. */
void opt_copied(void *base, const OptDesc *table, size_t n);

/* Free the strings of base and set them to NULL. */
void opt_clear(void *base, const OptDesc *table, size_t n);

/* The field as a user would type it; opt_set() of it gives the same value. */
char *opt_get(const void *base, const OptDesc *d);

/* The name that the field of a U32 holds; NULL: it holds a number. */
const char *opt_name_of(const OptDesc *d, uint32_t value);

/* The allowed values in words: "1..64", "0 ns..1 s", "fifo, lru". */
char *opt_range(const OptDesc *d);

#endif
