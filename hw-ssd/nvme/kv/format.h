/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - what a key-value namespace has in its units.
 *
 * Unit 0 is the head record.  Every other unit is free, or part of a value, or
 * a page: of the tree (leaf, inner), or a list of extents.  Numbers are
 * little-endian, units count from the beginning of the namespace, and 0 stands
 * for no unit.
 */
#ifndef VSSD_NVME_KV_FORMAT_H
#define VSSD_NVME_KV_FORMAT_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <glib.h>

/* Keys: up to 16 bytes (Key Value Command Set 1.0, Key), zeroes behind them. */
#define KV_KEY_BYTES 16

typedef struct KvKey {
    uint8_t byte[KV_KEY_BYTES];
    uint8_t bytes; /* 1..16; 0 is before every key */
} KvKey;

_Static_assert(sizeof(KvKey) == 17, "KvKey");

/* The order of the namespace: by bytes, then the shorter one first. */
static inline int kv_key_compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(KvKey));
}

static inline bool kv_key_ok(const KvKey *key)
{
    return key->bytes >= 1 && key->bytes <= KV_KEY_BYTES;
}

/* Units that follow each other. */
typedef struct KvExtent {
    uint32_t unit;
    uint32_t n;
} KvExtent;

/* Where a value is.  In memory in the host's byte order, in pages
 * little-endian. */
#define KV_INLINE 2
typedef struct KvValue {
    uint32_t bytes;
    uint32_t list; /* the page that lists the extents; 0: they are here */
    KvExtent extent[KV_INLINE]; /* n 0: not used */
} KvValue;

#define KV_HEAD_MAGIC   0x31564b4453535631ULL
#define KV_HEAD_VERSION 1

typedef struct KvHead {
    uint64_t magic;
    uint64_t crc; /* of the struct, with 0 here; as in the pages */
    uint64_t epoch;
    uint64_t n_keys;
    uint32_t version;
    uint32_t unit_bytes;
    uint32_t n_units;
    uint32_t root; /* 0: there are no keys */
    uint32_t height;
    uint32_t n_pages;
    uint32_t value_units;
    uint32_t reserved;
} KvHead;

_Static_assert(sizeof(KvHead) == 64, "KvHead");

#define KV_PAGE_MAGIC 0x4750564bU
#define KV_LEVEL_LIST 0xffff

typedef struct KvPageHead {
    uint32_t magic;
    uint32_t unit;
    uint64_t crc;   /* of the page, with 0 here */
    uint64_t epoch; /* in which the page got its unit */
    uint16_t level; /* 0: leaf; KV_LEVEL_LIST: extents of a value */
    uint16_t n;     /* entries */
    uint32_t reserved;
} KvPageHead;

_Static_assert(sizeof(KvPageHead) == 32, "KvPageHead");

typedef struct KvLeafEntry {
    KvKey key;
    uint8_t reserved[3];
    KvValue value;
} KvLeafEntry;

_Static_assert(sizeof(KvLeafEntry) == 44, "KvLeafEntry");

/* A child has the keys from this one up to that of the next entry; the first
 * child also those before. */
typedef struct KvInnerEntry {
    KvKey key;
    uint8_t reserved[3];
    uint32_t child;
} KvInnerEntry;

_Static_assert(sizeof(KvInnerEntry) == 24, "KvInnerEntry");

/* The highest tree.  A leaf of 4096 bytes has 92 entries, an inner page 169. */
#define KV_HEIGHT 8

/* A unit has at least so many bytes. */
#define KV_UNIT_MIN 4096

/* Extents of a value, at most: those of one list. */
static inline uint32_t kv_list_room(uint32_t unit_bytes)
{
    return (unit_bytes - (uint32_t)sizeof(KvPageHead)) /
           (uint32_t)sizeof(KvExtent);
}

#endif
