/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw-record.h - records of an operation log in memory, read and changed in
 * place; the tests run on little-endian machines.
 */
#ifndef VSSD_TESTS_CHECKER_RAW_RECORD_H
#define VSSD_TESTS_CHECKER_RAW_RECORD_H

#include <string.h>

#include "inspect/oplog.h"

G_STATIC_ASSERT(G_BYTE_ORDER == G_LITTLE_ENDIAN);

static inline OplogRecord raw_get(const char *log, size_t i)
{
    OplogRecord r;

    memcpy(&r, log + OPLOG_HEADER_BYTES + i * sizeof(r), sizeof(r));
    return r;
}

static inline void raw_set(char *log, size_t i, const OplogRecord *r)
{
    memcpy(log + OPLOG_HEADER_BYTES + i * sizeof(*r), r, sizeof(*r));
}

#endif
