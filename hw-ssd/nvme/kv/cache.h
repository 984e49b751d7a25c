/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - pages of a key-value namespace in the drive's memory, the least
 * recently used one leaving first.
 *
 * The owner reads and writes pages through KvBacking.  A page that is pinned,
 * dirty, or being read or written stays.  When none can leave, dirty ones are
 * written.
 */
#ifndef VSSD_NVME_KV_CACHE_H
#define VSSD_NVME_KV_CACHE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "kv/format.h"

typedef enum KvPageState {
    KV_PAGE_EMPTY,
    KV_PAGE_LOADING,
    KV_PAGE_HERE,
    KV_PAGE_BAD,  /* it could not be read, or is not what it should be */
    KV_PAGE_GONE, /* discarded; a reader, a writer or a pin still has it */
} KvPageState;

typedef struct KvPage KvPage;
struct KvPage {
    KvPage *prev; /* of all frames, the most recently used first; circular */
    KvPage *next;
    KvPage *chain; /* of the same place in the hash table */
    uint8_t *data; /* a unit; NULL: not yet used */
    uint32_t unit;
    uint32_t pins;
    uint8_t state; /* KvPageState */
    bool dirty;
    bool writing;
    bool committing; /* the owner's: the write is one of its commit */
};

/* Both begin an operation; kv_cache_loaded(), kv_cache_stored() follow, maybe
 * at once.  store: the content is that of the moment, and its unit may have
 * changed when it ends. */
typedef struct KvBacking {
    void (*load)(void *opaque, KvPage *page);
    void (*store)(void *opaque, KvPage *page);
} KvBacking;

typedef struct KvCacheCounts {
    uint64_t hits;
    uint64_t loads;
    uint64_t stores;
} KvCacheCounts;

typedef struct KvCache {
    const KvBacking *backing;
    void *opaque;
    KvPage *page;
    KvPage **hash;
    uint32_t n; /* frames */
    uint32_t hash_mask;
    uint32_t unit_bytes;
    uint32_t n_dirty;
    uint32_t n_writing;
    bool hold;  /* the owner's: no page is written to make room */
    KvPage lru; /* head */
    KvCacheCounts count;
} KvCache;

void kv_cache_init(KvCache *c, uint32_t n, uint32_t unit_bytes,
                   const KvBacking *backing, void *opaque);
/* Nothing may be in progress. */
void kv_cache_free(KvCache *c);

/* Forget all pages.  Nothing may be in progress, and no pin. */
void kv_cache_drop(KvCache *c);

/* Why a page is not here. */
typedef enum KvMiss {
    KV_MISS_NONE,
    KV_MISS_PAGE,  /* it is being read: again when kv_cache_loaded() was called
                    */
    KV_MISS_FRAME, /* all frames are in use: again after a read or a write */
    KV_MISS_BAD,
} KvMiss;

/* The page, or NULL and the reason. */
KvPage *kv_cache_get(KvCache *c, uint32_t unit, KvMiss *miss);

/* Have it read, if that is possible without waiting. */
void kv_cache_prefetch(KvCache *c, uint32_t unit);

/* Can n pages be made now?  false: dirty ones are being written. */
bool kv_cache_reserve(KvCache *c, uint32_t n);
/* Dirty, and all zeroes.  There is a frame. */
KvPage *kv_cache_new(KvCache *c, uint32_t unit);

void kv_cache_dirty(KvCache *c, KvPage *page);
/* The page gets another unit. */
void kv_cache_move(KvCache *c, KvPage *page, uint32_t unit);
/* Nobody will ask for it again. */
void kv_cache_discard(KvCache *c, KvPage *page);

static inline void kv_cache_pin(KvPage *page)
{
    page->pins++;
}
void kv_cache_unpin(KvCache *c, KvPage *page);

/* Write a dirty page that is not being written. */
void kv_cache_store(KvCache *c, KvPage *page);

void kv_cache_loaded(KvCache *c, KvPage *page, bool ok);
/* !ok: it is dirty again. */
void kv_cache_stored(KvCache *c, KvPage *page, bool ok);

static inline KvPageHead *kv_page_head(const KvPage *page)
{
    return (KvPageHead *)page->data;
}

/* CRC of a page or a head record of n bytes, whose own is at p + at. */
uint64_t kv_crc(const uint8_t *p, uint32_t n, uint32_t at);

#endif
