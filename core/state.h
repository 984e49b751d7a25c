/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - structs and tables as a stream of bytes, and back.
 *
 * A layer lists the members of each of its structs once, as rows; one loop
 * over the rows saves them, the same loop loads them.  docs/state-format.md
 * describes the format: rows with their names and sizes, tables without their
 * pages of zeroes, a checksum at the end.
 *
 * A stream begins with its signature and the version of the format.  Its rows
 * are those of the reader, by name, size and order: any other is refused.
 *
 * Knows bytes; knows nothing of their meaning.  Bytes are those of the host:
 * a stream from a machine of other byte order is refused.  Every size in a
 * stream is compared with the size that the reader expects.
 */
#ifndef VSSD_CORE_STATE_H
#define VSSD_CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <glib.h>

/* Of the streams that this build writes and reads. */
#define STATE_VERSION 1

#define STATE_SIGNATURE_BYTES 8

typedef enum StateKind {
    STATE_VALUE,   /* the member itself */
    STATE_TABLE,   /* the array that the member points to: its size follows from
                      the configuration.  NULL: not saved, and skipped */
    STATE_POOL,    /* the same, from g_new(): made again on loading */
    STATE_NUMBERS, /* the member is a NumTable; the stream's has its width */
    STATE_UNSAVED, /* follows from the configuration, or is this process's own
                    */
} StateKind;

/* What a VALUE may be; any other is refused when it is loaded. */
typedef enum StateLimit {
    STATE_ANY,
    STATE_BOOL,  /* 0 or 1 */
    STATE_INDEX, /* less than the bound */
    STATE_LINK,  /* the same, or UINT32_MAX: none */
    STATE_COUNT, /* at most the bound */
} StateLimit;

typedef struct StateRow {
    const char *name;
    uint32_t offset; /* of the member in its struct */
    uint32_t bytes;
    uint32_t align;
    uint32_t elem; /* TABLE, POOL: bytes of an element */
    uint8_t kind;  /* StateKind */
    uint8_t limit; /* VALUE: StateLimit */
    uint8_t count; /* TABLE, POOL: how many; INDEX, LINK, COUNT: the bound; as
                      an index into the counts */
    const struct StateStruct *of; /* the members of the value, or of an element,
                                     for the same checks; or NULL */
} StateRow;

/* A member, and its name in the stream. */
#define STATE_MEMBER(type, m)                                                  \
    .name = #type "." #m, .offset = offsetof(type, m),                         \
    .bytes = sizeof(((type *)0)->m), .align = __alignof__(((type *)0)->m)
#define STATE_TYPED_ROW(type, m, t, n)                                         \
    {STATE_MEMBER(type, m), .kind = STATE_VALUE, .limit = (t), .count = (n)}

/* A bool, a time, a sum or a struct.  Of an integer that may be an index the
 * row says what it is: the compiler refuses this one. */
#define STATE_VALUE_ROW(type, m)                                               \
    STATE_TYPED_ROW(type, m,                                                   \
                    _Generic(((type *)0)->m,                                   \
                        bool: STATE_BOOL,                                      \
                        uint8_t: STATE_NOT_SAID,                               \
                        uint16_t: STATE_NOT_SAID,                              \
                        uint32_t: STATE_NOT_SAID,                              \
                        default: STATE_ANY),                                   \
                    0)
#define STATE_NOT_SAID ((struct use_STATE_INDEX_LINK_COUNT_or_NUMBER_ROW){0})
struct use_STATE_INDEX_LINK_COUNT_or_NUMBER_ROW {
    int unused;
};

/* n: the bound, as an index into the counts. */
#define STATE_INDEX_ROW(type, m, n)                                            \
    STATE_TYPED_ROW(type, m, STATE_INDEX, (n) + STATE_UNSIGNED(type, m))
#define STATE_COUNT_ROW(type, m, n)                                            \
    STATE_TYPED_ROW(type, m, STATE_COUNT, (n) + STATE_UNSIGNED(type, m))
#define STATE_LINK_ROW(type, m, n)                                             \
    STATE_TYPED_ROW(type, m, STATE_LINK,                                       \
                    (n) + _Generic(((type *)0)->m, uint32_t: 0))
/* Only compiles for an unsigned integer. */
#define STATE_UNSIGNED(type, m)                                                \
    _Generic(((type *)0)->m, uint8_t: 0, uint16_t: 0, uint32_t: 0, uint64_t: 0)
/* Any value may be used, or its owner checks it; of a bool, 0 or 1. */
#define STATE_NUMBER_ROW(type, m)                                              \
    STATE_TYPED_ROW(                                                           \
        type, m,                                                               \
        _Generic(((type *)0)->m, bool: STATE_BOOL, default: STATE_ANY), 0)
#define STATE_UNSAVED_ROW(type, m)                                             \
    {STATE_MEMBER(type, m), .kind = STATE_UNSAVED}
#define STATE_TABLE_ROW(type, m, n)                                            \
    {STATE_MEMBER(type, m), .kind = STATE_TABLE,                               \
     .elem = sizeof(*((type *)0)->m), .count = (n)}
#define STATE_POOL_ROW(type, m, n)                                             \
    {STATE_MEMBER(type, m), .kind = STATE_POOL,                                \
     .elem = sizeof(*((type *)0)->m), .count = (n)}

/* The same, of values or elements of which the struct d lists the members. */
#define STATE_VALUE_OF_ROW(type, m, d)                                         \
    {STATE_MEMBER(type, m), .kind = STATE_VALUE, .of = &(d)}
#define STATE_TABLE_OF_ROW(type, m, n, d)                                      \
    {STATE_MEMBER(type, m), .kind = STATE_TABLE,                               \
     .elem = sizeof(*((type *)0)->m), .count = (n), .of = &(d)}
#define STATE_POOL_OF_ROW(type, m, n, d)                                       \
    {STATE_MEMBER(type, m), .kind = STATE_POOL,                                \
     .elem = sizeof(*((type *)0)->m), .count = (n), .of = &(d)}
#define STATE_NUMBERS_ROW(type, m)                                             \
    {STATE_MEMBER(type, m), .kind = STATE_NUMBERS}

/* Every member of a struct, in order. */
typedef struct StateStruct {
    const char *name;
    const StateRow *row;
    size_t n_rows;
    size_t bytes;
} StateStruct;

#define STATE_STRUCT(type, rows) {#type, rows, G_N_ELEMENTS(rows), sizeof(type)}

/* NULL, or the name of the row before which, or "end" at whose end, a member is
 * missing in the rows. */
const char *state_gap(const StateStruct *d);

#define STATE_ERROR state_error_quark()
GQuark state_error_quark(void);

typedef struct State {
    FILE *file;
    bool loading;
    uint64_t hash;
    bool more; /* after state_begin(): the file may go on behind this stream */
    char *error; /* the first one; nothing more is done after it */
} State;

/* The file stays the caller's. */
void state_begin(State *s, FILE *file, bool loading);

/* End with the checksum.  false: *error is set, in one line, without the name
 * of the file.  Call it in any case: it frees everything. */
bool state_end(State *s, GError **error);

/* The first error counts.  Returns false. */
bool state_fail(State *s, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The checksum at the end of a stream that begins with these bytes; n is a
 * multiple of 8, as whatever is saved is filled up to words. */
uint64_t state_sum(const void *p, size_t n);

/* Each of these returns false once there is an error. */

/* The beginning of a stream: its signature and the version.  none: what to say
 * of a stream that begins with anything else. */
bool state_signature(State *s, const char *signature, const char *none);

bool state_bytes(State *s, void *p, size_t n);
bool state_u64(State *s, uint64_t *v);

/* A plain struct beside the rows. */
bool state_record(State *s, void *p, size_t n);

/* Text: written as it is; read again (g_free), of at most `most` bytes. */
#define STATE_MOST_TEXT (1U << 20)
bool state_text(State *s, char **text, size_t most);

/* The VALUE rows; then the TABLE and POOL rows, and the bounds of both.  counts
 * by StateRow.count; of pools, they are those of the values just loaded, and at
 * most STATE_POOL_MOST.
 */
#define STATE_POOL_MOST (1U << 24)
bool state_values(State *s, const StateStruct *d, void *base);
bool state_tables(State *s, const StateStruct *d, void *base,
                  const uint64_t *counts);
/* Both, of each element of an array of n; counts: the same for all. */
bool state_each(State *s, const StateStruct *d, void *first, uint64_t n,
                const uint64_t *counts);

#endif
