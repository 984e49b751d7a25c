/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.c - the B+-tree of a key-value namespace.
 *
 * A change happens at once: kv_tree_find() brings all pages that it needs, and
 * kv_tree_prepare() sees that it cannot fail.  Knows pages and units; knows
 * nothing of commands, of time, or of when an epoch ends.
 */
#include "kv/tree.h"

static uint32_t entry_bytes(uint32_t level)
{
    return level == 0               ? sizeof(KvLeafEntry)
           : level == KV_LEVEL_LIST ? sizeof(KvExtent)
                                    : sizeof(KvInnerEntry);
}

static uint32_t room_of(const KvTree *t, uint32_t level)
{
    return (t->cache->unit_bytes - (uint32_t)sizeof(KvPageHead)) /
           entry_bytes(level);
}

static uint32_t level_of(const KvPage *page)
{
    return GUINT16_FROM_LE(kv_page_head(page)->level);
}

static uint32_t count_of(const KvPage *page)
{
    return GUINT16_FROM_LE(kv_page_head(page)->n);
}

static void set_count(KvPage *page, uint32_t n)
{
    kv_page_head(page)->n = GUINT16_TO_LE((uint16_t)n);
}

static uint8_t *entry(const KvPage *page, uint32_t i)
{
    return page->data + sizeof(KvPageHead) + i * entry_bytes(level_of(page));
}

static KvInnerEntry *inner(const KvPage *page, uint32_t i)
{
    return (KvInnerEntry *)entry(page, i);
}

/* ---- lookup -------------------------------------------------------------- */

void kv_path_clear(KvTree *t, KvPath *path)
{
    for (uint32_t i = 0; i < path->n; i++) {
        kv_cache_unpin(t->cache, path->page[i]);
    }
    path->n = 0;
}

/* The page, pinned, if it is one of that level. */
static KvResult get(KvTree *t, uint32_t unit, uint32_t level, KvPath *path,
                    KvPage **page)
{
    KvMiss miss;

    if (!unit || unit >= t->space->n) {
        return KV_DAMAGED;
    }
    path->unit = unit;
    *page = kv_cache_get(t->cache, unit, &miss);
    if (!*page) {
        return miss == KV_MISS_PAGE    ? KV_WAIT_PAGE
               : miss == KV_MISS_FRAME ? KV_WAIT_FRAME
                                       : KV_DAMAGED;
    }
    return level_of(*page) == level && count_of(*page) > 0 &&
                   count_of(*page) <= room_of(t, level)
               ? KV_OK
               : KV_DAMAGED;
}

/* The first entry, from `low` on, whose key is not less. */
static uint32_t lower_bound(const KvPage *page, uint32_t low, const KvKey *key)
{
    uint32_t high = count_of(page);

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (kv_key_compare(entry(page, mid), key) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

/* The first child has all keys before the second, whatever its own key is. */
static uint32_t child_of(const KvPage *page, const KvKey *key)
{
    uint32_t i = lower_bound(page, 1, key);

    return i < count_of(page) && kv_key_compare(entry(page, i), key) == 0
               ? i
               : i - 1;
}

static KvResult descend(KvTree *t, const KvKey *key, KvPath *path)
{
    uint32_t unit = t->root;

    kv_path_clear(t, path);
    path->found = false;
    for (uint32_t level = t->height; level-- > 0;) {
        KvPage *page;
        KvResult r = get(t, unit, level, path, &page);

        if (r) {
            return r;
        }
        kv_cache_pin(page);
        path->page[path->n] = page;
        path->at[path->n] =
            (uint16_t)(level ? child_of(page, key) : lower_bound(page, 0, key));
        if (level) {
            unit = GUINT32_FROM_LE(inner(page, path->at[path->n])->child);
        }
        path->n++;
    }
    return t->height ? KV_OK : KV_ABSENT;
}

KvValue kv_leaf_value(const KvLeafEntry *e)
{
    KvValue v = {
        .bytes = GUINT32_FROM_LE(e->value.bytes),
        .list = GUINT32_FROM_LE(e->value.list),
    };

    for (unsigned i = 0; i < KV_INLINE; i++) {
        v.extent[i].unit = GUINT32_FROM_LE(e->value.extent[i].unit);
        v.extent[i].n = GUINT32_FROM_LE(e->value.extent[i].n);
    }
    return v;
}

KvResult kv_tree_find(KvTree *t, const KvKey *key, KvPath *path, KvValue *v)
{
    KvResult r = descend(t, key, path);
    uint32_t leaf = path->n - 1;

    if (r) {
        return r;
    }
    path->found =
        path->at[leaf] < count_of(path->page[leaf]) &&
        kv_key_compare(entry(path->page[leaf], path->at[leaf]), key) == 0;
    if (!path->found) {
        return KV_ABSENT;
    }
    if (v) {
        *v = kv_leaf_value(kv_leaf_entry(path, path->at[leaf]));
    }
    return KV_OK;
}

KvResult kv_tree_seek(KvTree *t, const KvKey *key, KvPath *path, KvKey *next)
{
    KvResult r = descend(t, key, path);

    *next = (KvKey){0};
    for (uint32_t i = path->n; !r && i-- > 1 && !next->bytes;) {
        const KvPage *above = path->page[i - 1];
        uint32_t at = path->at[i - 1] + 1U;

        if (at < count_of(above)) {
            *next = inner(above, at)->key;
        }
    }
    if (!r && next->bytes && kv_key_compare(next, key) <= 0) {
        return KV_DAMAGED; /* a walk would not come to an end */
    }
    return r;
}

/* Are these the extents of a value of so many bytes? */
static bool extents_ok(const KvTree *t, const KvExtent *list, uint32_t n,
                       uint32_t bytes)
{
    uint64_t units = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!list[i].n || !list[i].unit || list[i].unit >= t->space->n ||
            list[i].n > t->space->n - list[i].unit) {
            return false;
        }
        units += list[i].n;
    }
    return units ==
           ((uint64_t)bytes + t->cache->unit_bytes - 1) / t->cache->unit_bytes;
}

KvResult kv_tree_extents(KvTree *t, const KvValue *v, KvPath *path,
                         KvExtent *list, uint32_t *n)
{
    KvPage *page;
    KvResult r;

    *n = 0;
    if (v->list) {
        r = get(t, v->list, KV_LEVEL_LIST, path, &page);
        if (r) {
            return r;
        }
        *n = count_of(page);
        for (uint32_t i = 0; i < *n; i++) {
            const KvExtent *e = (const KvExtent *)entry(page, i);

            list[i].unit = GUINT32_FROM_LE(e->unit);
            list[i].n = GUINT32_FROM_LE(e->n);
        }
    }
    while (!v->list && *n < KV_INLINE && v->extent[*n].n) {
        list[*n] = v->extent[*n];
        (*n)++;
    }
    return extents_ok(t, list, *n, v->bytes) ? KV_OK : KV_DAMAGED;
}

/* ---- changes ------------------------------------------------------------- */

/* Each page of the path moves; each is split, there is a new root, and a list.
 */
uint32_t kv_tree_reserve(const KvTree *t)
{
    return 2 * t->height + 3;
}

KvResult kv_tree_prepare(KvTree *t, const KvPath *path)
{
    if (t->space->n_free < kv_tree_reserve(t) ||
        (t->height == KV_HEIGHT &&
         count_of(path->page[0]) == room_of(t, t->height - 1))) {
        return KV_FULL;
    }
    return kv_cache_reserve(t->cache, t->height + 3) ? KV_OK : KV_WAIT_FRAME;
}

static uint32_t take_unit(KvTree *t)
{
    KvExtent e;
    bool there = kv_space_take(t->space, 1, &e);

    g_assert(there); /* kv_tree_prepare() */
    t->n_fresh++;
    return e.unit;
}

static KvPage *new_page(KvTree *t, uint32_t level)
{
    KvPage *page = kv_cache_new(t->cache, take_unit(t));

    kv_page_head(page)->epoch = GUINT64_TO_LE(t->epoch);
    kv_page_head(page)->level = GUINT16_TO_LE((uint16_t)level);
    t->n_pages++;
    return page;
}

static void drop_page(KvTree *t, KvPage *page)
{
    kv_space_release(t->space, (KvExtent){page->unit, 1});
    kv_cache_discard(t->cache, page);
    t->n_pages--;
}

/* All pages of the path may be changed. */
static void shadow(KvTree *t, KvPath *path)
{
    for (uint32_t i = 0; i < path->n; i++) {
        KvPage *page = path->page[i];

        if (GUINT64_FROM_LE(kv_page_head(page)->epoch) == t->epoch) {
            continue;
        }
        kv_space_release(t->space, (KvExtent){page->unit, 1});
        kv_cache_move(t->cache, page, take_unit(t));
        kv_page_head(page)->epoch = GUINT64_TO_LE(t->epoch);
        kv_cache_dirty(t->cache, page);
        if (i) {
            inner(path->page[i - 1], path->at[i - 1])->child =
                GUINT32_TO_LE(page->unit);
            kv_cache_dirty(t->cache, path->page[i - 1]);
        } else {
            t->root = page->unit;
        }
    }
    t->changed = true;
}

static void put_entry(KvTree *t, KvPage *page, uint32_t at, const void *e)
{
    uint32_t n = count_of(page);
    uint32_t bytes = entry_bytes(level_of(page));

    memmove(entry(page, at + 1), entry(page, at), (size_t)(n - at) * bytes);
    memcpy(entry(page, at), e, bytes);
    set_count(page, n + 1);
    kv_cache_dirty(t->cache, page);
}

static KvInnerEntry entry_for(const KvPage *page)
{
    KvInnerEntry e = {.child = GUINT32_TO_LE(page->unit)};

    memcpy(&e.key, entry(page, 0), sizeof(e.key));
    return e;
}

static void grow(KvTree *t, const KvPage *left, const KvPage *right)
{
    KvPage *root = new_page(t, t->height);
    KvInnerEntry first = entry_for(left);
    KvInnerEntry second = entry_for(right);

    put_entry(t, root, 0, &first);
    put_entry(t, root, 1, &second);
    t->root = root->unit;
    t->height++;
}

/* At path->at of level i.  A page that is full is split; behind its last entry
 * it stays full, so that ascending keys leave no half-empty pages. */
static void insert(KvTree *t, KvPath *path, uint32_t i, const void *e)
{
    KvPage *page = path->page[i];
    uint32_t at = path->at[i];
    uint32_t n = count_of(page);
    uint32_t keep = at == n ? n : n / 2;
    bool to_right = at > keep || keep == n;
    KvPage *right;

    if (n < room_of(t, level_of(page))) {
        put_entry(t, page, at, e);
        return;
    }
    right = new_page(t, level_of(page));
    memcpy(entry(right, 0), entry(page, keep),
           (size_t)(n - keep) * entry_bytes(level_of(page)));
    set_count(right, n - keep);
    set_count(page, keep);
    put_entry(t, to_right ? right : page, to_right ? at - keep : at, e);
    kv_cache_dirty(t->cache, page);
    if (i == 0) {
        grow(t, page, right);
    } else {
        KvInnerEntry up = entry_for(right);

        path->at[i - 1]++;
        insert(t, path, i - 1, &up);
    }
}

static KvValue make_value(KvTree *t, uint32_t bytes, const KvExtent *list,
                          uint32_t n)
{
    KvValue v = {.bytes = GUINT32_TO_LE(bytes)};
    KvExtent *to = v.extent;

    if (n > KV_INLINE) {
        KvPage *page = new_page(t, KV_LEVEL_LIST);

        set_count(page, n);
        to = (KvExtent *)entry(page, 0);
        v.list = GUINT32_TO_LE(page->unit);
    }
    for (uint32_t i = 0; i < n; i++) {
        to[i].unit = GUINT32_TO_LE(list[i].unit);
        to[i].n = GUINT32_TO_LE(list[i].n);
        t->value_units += list[i].n;
    }
    return v;
}

void kv_tree_put(KvTree *t, KvPath *path, const KvKey *key, uint32_t bytes,
                 const KvExtent *list, uint32_t n)
{
    KvLeafEntry e = {.key = *key};

    if (!t->height) {
        KvPage *leaf = new_page(t, 0);

        t->root = leaf->unit;
        t->height = 1;
        kv_cache_pin(leaf);
        path->page[0] = leaf;
        path->at[0] = 0;
        path->n = 1;
    }
    shadow(t, path);
    e.value = make_value(t, bytes, list, n);
    if (path->found) {
        memcpy(entry(path->page[path->n - 1], path->at[path->n - 1]), &e,
               sizeof(e));
        kv_cache_dirty(t->cache, path->page[path->n - 1]);
    } else {
        insert(t, path, path->n - 1, &e);
        t->n_keys++;
    }
    kv_path_clear(t, path);
}

static void remove_entry(KvTree *t, KvPage *page, uint32_t at)
{
    uint32_t n = count_of(page);

    memmove(entry(page, at), entry(page, at + 1),
            (size_t)(n - at - 1) * entry_bytes(level_of(page)));
    set_count(page, n - 1);
    kv_cache_dirty(t->cache, page);
}

/* Roots with one child.  The first is on the path; those below it, too, or they
 * stay until a change comes to them. */
static void shrink(KvTree *t, const KvPath *path)
{
    for (uint32_t i = 0; i + 1 < path->n && count_of(path->page[i]) == 1 &&
                         path->page[i]->unit == t->root;
         i++) {
        t->root = GUINT32_FROM_LE(inner(path->page[i], 0)->child);
        t->height--;
        drop_page(t, path->page[i]);
    }
}

void kv_tree_remove(KvTree *t, KvPath *path)
{
    uint32_t i = path->n - 1;

    g_assert(path->found);
    shadow(t, path);
    remove_entry(t, path->page[i], path->at[i]);
    while (i && !count_of(path->page[i])) {
        drop_page(t, path->page[i]);
        i--;
        remove_entry(t, path->page[i], path->at[i]);
    }
    if (!count_of(path->page[0])) {
        drop_page(t, path->page[0]);
        t->root = 0;
        t->height = 0;
    } else {
        shrink(t, path);
    }
    t->n_keys--;
    kv_path_clear(t, path);
}

void kv_tree_release(KvTree *t, const KvValue *v, const KvExtent *list,
                     uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        kv_space_release(t->space, list[i]);
        t->value_units -= list[i].n;
    }
    if (v->list) {
        KvMiss miss;
        KvPage *page = kv_cache_get(t->cache, v->list, &miss);

        g_assert(page); /* kv_tree_extents() */
        drop_page(t, page);
    }
}

void kv_tree_begin_epoch(KvTree *t)
{
    t->epoch++;
    t->n_fresh = 0;
    t->changed = false;
}
