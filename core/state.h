/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - structs and tables as a stream of bytes, and back.
 *
 * A layer lists the members of each of its structs once, as rows; one loop
 * over the rows saves them, the same loop loads them.  docs/state.md describes
 * the format: rows with their names and sizes, tables without their pages of
 * zeroes, a checksum at the end.
 *
 * A stream says of which version it is.  A later build loads it: rows are found
 * by their names; a row that is newer than the stream leaves its member as the
 * reader has made it, a row that the reader no longer has is skipped, and one
 * that has grown at its end is filled up with zeroes.  A stream of a later
 * version than the reader's is refused.
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

/* Of the streams that this build writes.  Raised when a row comes, goes or grows,
 * once for each release of vssd. */
#define STATE_VERSION 5

typedef enum StateKind {
    STATE_VALUE,   /* the member itself */
    STATE_TABLE,   /* the array that the member points to: its size follows from
                      the configuration.  NULL: not saved, and skipped */
    STATE_POOL,    /* the same, from g_new(): made again on loading */
    STATE_NUMBERS, /* the member is a NumTable; the stream's has its width */
    STATE_KEPT, /* follows from the configuration, or is this process's own */
} StateKind;

/* Members that a struct had in another place, one by one: each has as many
 * bytes as before, or is a number of 64 bits that had 32, which is
 * sign-extended, or has twice as many bytes: sums of 128 bits that had 64. */
typedef struct StateMove {
    uint16_t from, to; /* offsets in the old struct, and in the present one */
    uint16_t bytes, to_bytes;
} StateMove;

#define STATE_MOVE(old, type, m)                                               \
    {offsetof(old, m), offsetof(type, m), sizeof(((old *)0)->m),               \
     sizeof(((type *)0)->m)}

#define STATE_MOVE_AS(old, was, type, m)                                       \
    {offsetof(old, was), offsetof(type, m), sizeof(((old *)0)->was),           \
     sizeof(((type *)0)->m)}

typedef struct StateWas {
    size_t bytes; /* of the old struct */
    const StateMove *move;
    size_t n_moves;
    unsigned grown; /* VALUE: in streams before this version the old struct may
                       be smaller, without the last members; 0: in none */
} StateWas;

#define STATE_WAS(old, moves)                                                  \
    {.bytes = sizeof(old), .move = (moves), .n_moves = G_N_ELEMENTS(moves)}

typedef struct StateRow {
    const char *name;
    uint32_t offset; /* of the member in its struct */
    uint32_t bytes;
    uint32_t align;
    uint32_t elem; /* TABLE, POOL: bytes of an element */
    uint8_t kind;  /* StateKind */
    uint8_t count; /* TABLE, POOL: how many, as an index into the counts */
    uint16_t since; /* the version that it came with; 0: the first */
    bool optional;  /* VALUE, TABLE: any stream may be without it.  The
                       member stays as the reader has made it */
    uint16_t
        grown;    /* streams before this version may have a smaller member, or
                     smaller elements, without the last members; 0: none has */
    bool widened; /* with grown: it is, or its elements are, a number of 64 bits
                     that had 32, or a sum of 128 bits that had 64 */
    const StateWas *was; /* with grown: it, or its elements, had this form */
} StateRow;

/* A member, and its name in the stream. */
#define STATE_MEMBER(type, m) STATE_MEMBER_AS(type, m, m)
#define STATE_MEMBER_AS(type, m, was)                                          \
    .name = #type "." #was, .offset = offsetof(type, m),                       \
    .bytes = sizeof(((type *)0)->m), .align = __alignof__(((type *)0)->m)
#define STATE_VALUE_ROW(type, m)                                               \
    {STATE_MEMBER(type, m), .kind = STATE_VALUE}
#define STATE_KEPT_ROW(type, m)                                                \
    {STATE_MEMBER(type, m), .kind = STATE_KEPT}
#define STATE_TABLE_ROW(type, m, n)                                            \
    {STATE_MEMBER(type, m), .kind = STATE_TABLE,                               \
     .elem = sizeof(*((type *)0)->m), .count = (n)}
#define STATE_POOL_ROW(type, m, n)                                             \
    {STATE_MEMBER(type, m), .kind = STATE_POOL,                                \
     .elem = sizeof(*((type *)0)->m), .count = (n)}

/* The same of a member that came, or grew, with a later version. */
#define STATE_VALUE_SINCE(v, type, m)                                          \
    {STATE_MEMBER(type, m), .kind = STATE_VALUE, .since = (v)}
#define STATE_TABLE_SINCE(v, type, m, n)                                       \
    {STATE_MEMBER(type, m), .kind = STATE_TABLE, .since = (v),                 \
     .elem = sizeof(*((type *)0)->m), .count = (n)}
#define STATE_POOL_SINCE(v, type, m, n)                                        \
    {STATE_MEMBER(type, m), .kind = STATE_POOL, .since = (v),                  \
     .elem = sizeof(*((type *)0)->m), .count = (n)}
#define STATE_VALUE_GROWN(v, type, m)                                          \
    {STATE_MEMBER(type, m), .kind = STATE_VALUE, .grown = (v)}
#define STATE_TABLE_GROWN(v, type, m, n)                                       \
    {STATE_MEMBER(type, m), .kind = STATE_TABLE, .grown = (v),                 \
     .elem = sizeof(*((type *)0)->m), .count = (n)}
#define STATE_POOL_GROWN(v, type, m, n)                                        \
    {STATE_MEMBER(type, m), .kind = STATE_POOL, .grown = (v),                  \
     .elem = sizeof(*((type *)0)->m), .count = (n)}

#define STATE_TABLE_WAS(v, type, m, n, old)                                    \
    {STATE_MEMBER(type, m),                                                    \
     .kind = STATE_TABLE,                                                      \
     .grown = (v),                                                             \
     .was = (old),                                                             \
     .elem = sizeof(*((type *)0)->m),                                          \
     .count = (n)}
#define STATE_POOL_WAS(v, type, m, n, old)                                     \
    {STATE_MEMBER(type, m),                                                    \
     .kind = STATE_POOL,                                                       \
     .grown = (v),                                                             \
     .was = (old),                                                             \
     .elem = sizeof(*((type *)0)->m),                                          \
     .count = (n)}
#define STATE_TABLE_WIDENED(v, type, m, n)                                     \
    {STATE_MEMBER(type, m),                                                    \
     .kind = STATE_TABLE,                                                      \
     .grown = (v),                                                             \
     .widened = true,                                                          \
     .elem = sizeof(*((type *)0)->m),                                          \
     .count = (n)}

#define STATE_VALUE_WAS(v, type, m, old)                                       \
    {STATE_MEMBER(type, m), .kind = STATE_VALUE, .grown = (v), .was = (old)}

/* Every member of a struct, in order. */
typedef struct StateStruct {
    const char *name;
    const StateRow *row;
    size_t n_rows;
    size_t bytes;
} StateStruct;

/* NULL, or the name of the row before which, or "end" at whose end, a member is
 * missing in the rows. */
const char *state_gap(const StateStruct *d);

#define STATE_ERROR state_error_quark()
GQuark state_error_quark(void);

typedef struct State {
    FILE *file;
    bool loading;
    uint64_t version; /* of the stream */
    uint64_t newest;  /* that the reader knows */
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

/* The version, near the beginning: State.version is that of the stream from now
 * on. */
bool state_version(State *s);

bool state_bytes(State *s, void *p, size_t n);
bool state_u64(State *s, uint64_t *v);

/* A plain struct beside the rows, which may grow at its end: smaller ones are
 * taken of streams before version grown (0: of none). */
bool state_record(State *s, void *p, size_t n, unsigned grown);

/* Text: written as it is; read again (g_free), of at most `most` bytes. */
bool state_text(State *s, char **text, size_t most);

/* The VALUE rows; then the TABLE and POOL rows.  counts by StateRow.count; of
 * pools, they are those of the values just loaded, and at most STATE_POOL_MOST.
 * A row that the stream must have is missed. */
#define STATE_POOL_MOST (1U << 24)
bool state_values(State *s, const StateStruct *d, void *base);
bool state_tables(State *s, const StateStruct *d, void *base,
                  const uint64_t *counts);

#endif
