/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - a B+-tree of keys whose pages are never overwritten while a durable
 * head record may lead to them (shadowing: Rodeh, "B-trees, Shadowing, and
 * Clones", ACM Transactions on Storage 3(4), 2008, section 3).
 *
 * A page gets a new unit when it is first changed in an epoch, and so do the
 * pages above it.  A leaf that is empty goes at once, others are not merged
 * (Johnson and Shasha, "B-Trees with Inserts and Deletes: Why Free-at-Empty Is
 * Better Than Merge-at-Half", JCSS 47(1), 1993).
 *
 * A lookup reads one page of each level, so with none of them in the cache it
 * costs `height` reads.
 */
#ifndef VSSD_NVME_KV_TREE_H
#define VSSD_NVME_KV_TREE_H

#include "rooms.h"
#if NVME_ROOM < ROOM_KV
#error "hw-ssd/nvme/kv is above this room: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "kv/cache.h"
#include "kv/format.h"
#include "kv/space.h"

typedef struct KvTree {
    KvCache *cache;
    KvSpace *space;
    uint64_t epoch; /* the open one */
    uint64_t n_keys;
    uint32_t root; /* 0: there are no keys */
    uint32_t height;
    uint32_t n_pages; /* lists of extents included */
    uint32_t value_units;
    uint32_t n_fresh; /* pages that got a unit in the open epoch */
    bool changed;     /* since the epoch began */
} KvTree;

typedef enum KvResult {
    KV_OK,
    KV_ABSENT,     /* there is no such key */
    KV_WAIT_PAGE,  /* again, when page KvPath.unit is read */
    KV_WAIT_FRAME, /* again, after a read or a write of pages */
    KV_DAMAGED,
    KV_FULL,
} KvResult;

/* From the root to a leaf; its pages are pinned until kv_path_clear(). */
typedef struct KvPath {
    KvPage *page[KV_HEIGHT];
    uint16_t at[KV_HEIGHT]; /* the entry; in the leaf: where the key is, or
                               would be */
    uint32_t n;
    uint32_t unit; /* KV_WAIT_PAGE */
    bool found;
} KvPath;

void kv_path_clear(KvTree *t, KvPath *path);

/* KV_OK: path leads to the key, and *v (may be NULL) is its value.  With
 * KV_ABSENT it leads to its place.  It may be the path of an attempt before. */
KvResult kv_tree_find(KvTree *t, const KvKey *key, KvPath *path, KvValue *v);

/* The extents of a value: 1 or more in list[kv_list_room()], *n of them. */
KvResult kv_tree_extents(KvTree *t, const KvValue *v, KvPath *path,
                         KvExtent *list, uint32_t *n);

/* Are there frames and units for one change at path?  with_list: and for a list
 * of extents. */
KvResult kv_tree_prepare(KvTree *t, const KvPath *path);

/* The most units that one change may take for pages. */
uint32_t kv_tree_reserve(const KvTree *t);

/*
 * After kv_tree_find(), without a wait since then, and kv_tree_prepare(): the
 * key has this value of so many bytes from now on, or no longer exists.  The
 * value that it had is the caller's to release.  The path is cleared.
 */
void kv_tree_put(KvTree *t, KvPath *path, const KvKey *key, uint32_t bytes,
                 const KvExtent *list, uint32_t n);
void kv_tree_remove(KvTree *t, KvPath *path);

/* Units of a value that no key has any longer, and of its list. */
void kv_tree_release(KvTree *t, const KvValue *v, const KvExtent *list,
                     uint32_t n);

/*
 * The leaf that a key is in, or would be: its entries from path->at of the last
 * level on are those from the key on.  *next: the first key that is not in this
 * leaf; bytes 0: there are no more leaves.  KV_ABSENT: the tree is empty.
 */
KvResult kv_tree_seek(KvTree *t, const KvKey *key, KvPath *path, KvKey *next);

static inline uint32_t kv_leaf_entries(const KvPath *path)
{
    return GUINT16_FROM_LE(kv_page_head(path->page[path->n - 1])->n);
}

static inline const KvLeafEntry *kv_leaf_entry(const KvPath *path, uint32_t i)
{
    const uint8_t *p = path->page[path->n - 1]->data + sizeof(KvPageHead);

    return (const KvLeafEntry *)p + i;
}

/* In the host's byte order. */
KvValue kv_leaf_value(const KvLeafEntry *e);

/* Begin an epoch: all pages that there are, are of an older one. */
void kv_tree_begin_epoch(KvTree *t);

#endif
