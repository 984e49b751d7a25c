/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * binary.h - requests in a binary form that is read without parsing
 * (docs/binary-format.md).
 *
 * Records have one size, so that a file can be mapped.  The last one counts the
 * requests and has a sum over all records before it.
 */
#ifndef VSSD_SIM_BINARY_H
#define VSSD_SIM_BINARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <glib.h>

#include "trace.h"

#define BINARY_SIGNATURE    "vssdBIN1"
#define BINARY_HEADER_BYTES 32
#define BINARY_RECORD_BYTES 24

/* Requests, then others. */
typedef enum BinaryKind {
    BINARY_READ,
    BINARY_WRITE,
    BINARY_TRIM,
    BINARY_FLUSH,
    BINARY_DEVICE, /* offset: the number of a device that appears now */
    BINARY_END,    /* at_ns: the number of requests; offset: the sum */
    BINARY_N_KINDS,
} BinaryKind;

/* In memory in the order of this machine, in a file little-endian. */
typedef struct BinaryRecord {
    uint64_t at_ns;
    uint64_t offset; /* bytes */
    uint32_t nbytes;
    uint16_t kind; /* BinaryKind; BINARY_FUA; the device from bit 4 on */
    uint16_t stream;
} BinaryRecord;

G_STATIC_ASSERT(sizeof(BinaryRecord) == BINARY_RECORD_BYTES);

#define BINARY_KIND_MASK    7
#define BINARY_FUA          8
#define BINARY_DEVICE_SHIFT 4
#define BINARY_MAX_DEVICES  4096

/* The sum over the 64-bit words of records, by FNV-1a; begins with this. */
#define BINARY_SUM_FIRST 0xcbf29ce484222325ULL

static inline uint64_t binary_sum(uint64_t sum, const BinaryRecord *r)
{
    const uint64_t prime = 0x100000001b3ULL;
    uint64_t last =
        (uint64_t)r->stream << 48 | (uint64_t)r->kind << 32 | r->nbytes;

    sum = (sum ^ r->at_ns) * prime;
    sum = (sum ^ r->offset) * prime;
    return (sum ^ last) * prime;
}

/* The number of the device of Request.space, which has appeared. */
typedef struct BinaryDevices {
    uint64_t (*number)(const void *opaque, uint32_t space);
    const void *opaque;
} BinaryDevices;

/* Read all of a source, up to its runtime_ns, and write it.  devices NULL: all
 * requests are of one device.  false: *error names the damage, or why the file
 * cannot be written. */
bool binary_write(const RequestSource *from, const BinaryDevices *devices,
                  FILE *out, GError **error);

#endif
