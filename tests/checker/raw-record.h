/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw-record.h - records of an operation log in memory, of either version of
 * the format, read and changed in place.
 */
#ifndef VSSD_TESTS_CHECKER_RAW_RECORD_H
#define VSSD_TESTS_CHECKER_RAW_RECORD_H

#include <string.h>

#include "inspect/oplog.h"

/* As in the file; the tests run on little-endian machines. */
typedef struct RawRecord {
    uint8_t type, a;
    uint16_t b;
    uint32_t c; /* version 1 */
    uint64_t at_ps, x, y, wide_c, z;
} RawRecord;

G_STATIC_ASSERT(G_BYTE_ORDER == G_LITTLE_ENDIAN);
G_STATIC_ASSERT(sizeof(RawRecord) == OPLOG_WIDE_RECORD_BYTES);

static inline size_t raw_header_bytes(bool wide)
{
    return wide ? OPLOG_WIDE_HEADER_BYTES : OPLOG_HEADER_BYTES;
}

static inline size_t raw_record_bytes(bool wide)
{
    return wide ? OPLOG_WIDE_RECORD_BYTES : OPLOG_RECORD_BYTES;
}

static inline OplogRecord raw_get(const char *log, bool wide, size_t i)
{
    RawRecord r = {0};
    bool both;

    memcpy(&r, log + raw_header_bytes(wide) + i * raw_record_bytes(wide),
           raw_record_bytes(wide));
    both = !wide && r.type == OPLOG_SUBMIT;
    return (OplogRecord){
        .type = r.type,
        .a = r.a,
        .b = r.b,
        .c = wide ? r.wide_c : r.c,
        .at_ps = r.at_ps,
        .x = r.x,
        .y = both ? (uint32_t)r.y : r.y,
        .z = both ? r.y >> 32 : r.z,
    };
}

static inline void raw_set(char *log, bool wide, size_t i, const OplogRecord *r)
{
    bool both = !wide && r->type == OPLOG_SUBMIT;
    RawRecord raw = {
        .type = r->type,
        .a = r->a,
        .b = r->b,
        .c = wide ? 0 : (uint32_t)r->c,
        .at_ps = r->at_ps,
        .x = r->x,
        .y = both ? r->z << 32 | (uint32_t)r->y : r->y,
        .wide_c = r->c,
        .z = r->z,
    };

    memcpy(log + raw_header_bytes(wide) + i * raw_record_bytes(wide), &raw,
           raw_record_bytes(wide));
}

#endif
