/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace-oracle.c - libCacheSim's oracleGeneral: accesses to objects of a cache.
 *
 * Records of 24 bytes, little-endian and packed: seconds, the object, its size,
 * and the number of the object's next access (negative: none).  Objects have no
 * address and accesses no direction.  Each object gets an address by the order
 * of first appearance, in units of 4 KiB, and each access is a read.  An
 * object that has grown gets another address.  So memory grows with the number
 * of objects.
 */
#include <string.h>

#include "simtime.h"
#include "trace.h"

#define RECORD_BYTES 24
#define UNIT_BYTES   4096

/* No next access, of some writers. */
#define NEVER INT64_MAX

/* Accesses of the longest trace, and more; text is never below it. */
#define MOST_ACCESSES (1LL << 48)

/* Records of the head that must fit. */
#define SAMPLE_RECORDS 32

typedef struct OracleRecord {
    uint32_t time_s;
    uint64_t object;
    uint32_t nbytes;
    int64_t next;
} OracleRecord;

/* Where an object is. */
typedef struct Place {
    uint64_t object;
    uint64_t offset;
    uint64_t room; /* bytes */
} Place;

typedef struct OracleState {
    GHashTable *places; /* set of Place */
    uint64_t end;       /* of the last place */
} OracleState;

static OracleRecord record_of(const uint8_t *p)
{
    OracleRecord r;

    memcpy(&r.time_s, p, sizeof(r.time_s));
    memcpy(&r.object, p + 4, sizeof(r.object));
    memcpy(&r.nbytes, p + 12, sizeof(r.nbytes));
    memcpy(&r.next, p + 16, sizeof(r.next));
    r.time_s = GUINT32_FROM_LE(r.time_s);
    r.object = GUINT64_FROM_LE(r.object);
    r.nbytes = GUINT32_FROM_LE(r.nbytes);
    r.next = GINT64_FROM_LE(r.next);
    return r;
}

/* ---- is it this format? -------------------------------------------------- */

/* Of access i: is the next one later, and if it is in the head, of the same
 * object? */
static bool next_fits(const uint8_t *head, size_t n_records, size_t i)
{
    OracleRecord r = record_of(head + i * RECORD_BYTES);

    if (r.next == -1 || r.next == -2 || r.next == NEVER) {
        return true;
    }
    if (r.next < 0 || r.next > MOST_ACCESSES) {
        return false;
    }
    /* Some writers count from 1. */
    for (int64_t at = r.next - 1; at <= r.next; at++) {
        if (at > (int64_t)i &&
            (at >= (int64_t)n_records ||
             record_of(head + at * RECORD_BYTES).object == r.object)) {
            return true;
        }
    }
    return false;
}

static bool oracle_detect(const char *head, size_t n)
{
    const uint8_t *bytes = (const uint8_t *)head;
    size_t n_records = n / RECORD_BYTES;
    uint32_t last_s = 0;

    for (size_t i = 0; i < MIN(n_records, SAMPLE_RECORDS); i++) {
        OracleRecord r = record_of(bytes + i * RECORD_BYTES);

        if (r.time_s < last_s || !next_fits(bytes, n_records, i)) {
            return false;
        }
        last_s = r.time_s;
    }
    return n_records > 0;
}

/* ---- accesses ------------------------------------------------------------ */

static guint place_hash(gconstpointer p)
{
    const Place *place = p;

    return (guint)((place->object * 0x9e3779b97f4a7c15ULL) >> 32);
}

static gboolean place_equal(gconstpointer a, gconstpointer b)
{
    const Place *x = a;
    const Place *y = b;

    return x->object == y->object;
}

static uint64_t offset_of(OracleState *state, uint64_t object, uint32_t nbytes)
{
    const Place key = {.object = object};
    Place *place = g_hash_table_lookup(state->places, &key);

    if (!place) {
        place = g_memdup2(&key, sizeof(key));
        g_hash_table_add(state->places, place);
    }
    if (place->room < nbytes) {
        place->room =
            ((uint64_t)nbytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
        place->offset = state->end;
        state->end += place->room;
    }
    return place->offset;
}

static InputRead oracle_read(void *opaque, Input *in, TraceRecord *out,
                             const char **reason, GError **error)
{
    OracleState *state = opaque;
    uint8_t bytes[RECORD_BYTES];
    InputRead got = input_bytes(in, bytes, sizeof(bytes), error);
    OracleRecord r;

    if (got == INPUT_BAD) {
        *reason = "the file ends within a record";
    }
    if (got != INPUT_OK) {
        return got;
    }
    r = record_of(bytes);
    out->at_ns = r.time_s * NS_PER_S;
    out->op = SSD_OP_READ;
    out->nbytes = r.nbytes;
    if (r.nbytes == 0) {
        out->left = TRACE_LEFT_EMPTY;
        *reason = trace_left_out;
    } else {
        out->offset = offset_of(state, r.object, r.nbytes);
    }
    return INPUT_OK;
}

static void oracle_begin(void *opaque, const TraceOptions *o, const char *head,
                         size_t n)
{
    OracleState *state = opaque;

    state->places =
        g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
}

static void oracle_end(void *opaque)
{
    OracleState *state = opaque;

    g_hash_table_destroy(state->places);
}

const TraceFormat trace_oracleGeneral = {
    .name = "oracleGeneral",
    .help = "libCacheSim's, binary: accesses to objects, as reads; addresses "
            "by first appearance",
    .state_bytes = sizeof(OracleState),
    .read = oracle_read,
    .detect = oracle_detect,
    .begin = oracle_begin,
    .end = oracle_end,
    .units = {NS_PER_S, UNIT_BYTES, 1},
};
