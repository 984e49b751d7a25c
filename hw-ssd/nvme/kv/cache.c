/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.c - pages of a key-value namespace in the drive's memory.
 *
 * Knows frames and their states; knows nothing of the tree, of commands or of
 * time.  A page has its checksum when it is written, and is checked when it is
 * read.
 */
#include "kv/cache.h"

#include "crc.h"

static const uint8_t zeroes[sizeof(uint64_t)];

uint64_t kv_crc(const uint8_t *p, uint32_t n, uint32_t at)
{
    uint64_t crc = crc64_nvme(0, p, at);

    crc = crc64_nvme(crc, zeroes, sizeof(zeroes));
    return crc64_nvme(crc, p + at + sizeof(zeroes), n - at - sizeof(zeroes));
}

static void lru_remove(KvPage *page)
{
    page->prev->next = page->next;
    page->next->prev = page->prev;
}

static void lru_first(KvCache *c, KvPage *page)
{
    page->next = c->lru.next;
    page->prev = &c->lru;
    page->next->prev = page;
    c->lru.next = page;
}

static void lru_last(KvCache *c, KvPage *page)
{
    page->prev = c->lru.prev;
    page->next = &c->lru;
    page->prev->next = page;
    c->lru.prev = page;
}

void kv_cache_init(KvCache *c, uint32_t n, uint32_t unit_bytes,
                   const KvBacking *backing, void *opaque)
{
    uint32_t places = 1;

    while (places < n) {
        places *= 2;
    }
    *c = (KvCache){
        .backing = backing,
        .opaque = opaque,
        .page = g_new0(KvPage, n),
        .hash = g_new0(KvPage *, places),
        .hash_mask = places - 1,
        .n = n,
        .unit_bytes = unit_bytes,
    };
    c->lru.next = c->lru.prev = &c->lru;
    for (uint32_t i = 0; i < n; i++) {
        lru_last(c, &c->page[i]);
    }
}

void kv_cache_free(KvCache *c)
{
    for (uint32_t i = 0; c->page && i < c->n; i++) {
        g_free(c->page[i].data);
    }
    g_free(c->page);
    g_free(c->hash);
    *c = (KvCache){0};
}

/* ---- by unit ------------------------------------------------------------- */

static KvPage **place_of(KvCache *c, uint32_t unit)
{
    return &c->hash[(unit * 2654435761U >> 7) & c->hash_mask];
}

static KvPage *find(KvCache *c, uint32_t unit)
{
    KvPage *page = *place_of(c, unit);

    while (page && page->unit != unit) {
        page = page->chain;
    }
    return page;
}

static void hash_add(KvCache *c, KvPage *page)
{
    KvPage **place = place_of(c, page->unit);

    page->chain = *place;
    *place = page;
}

static void hash_remove(KvCache *c, KvPage *page)
{
    KvPage **at = place_of(c, page->unit);

    while (*at != page) {
        at = &(*at)->chain;
    }
    *at = page->chain;
}

/* ---- frames -------------------------------------------------------------- */

static bool can_leave(const KvPage *page)
{
    return page->state != KV_PAGE_LOADING && page->state != KV_PAGE_GONE &&
           !page->pins && !page->dirty && !page->writing;
}

static void clean(KvCache *c, KvPage *page)
{
    c->n_dirty -= page->dirty;
    page->dirty = false;
}

static void make_empty(KvCache *c, KvPage *page)
{
    page->state = KV_PAGE_EMPTY;
    page->unit = 0;
    lru_remove(page);
    lru_last(c, page);
}

/* A discarded page whose last user has gone. */
static void look_gone(KvCache *c, KvPage *page)
{
    if (page->state == KV_PAGE_GONE && !page->pins && !page->writing) {
        make_empty(c, page);
    }
}

/* The frame that has not been used for longest; NULL: none may be taken. */
static KvPage *take_frame(KvCache *c)
{
    for (KvPage *p = c->lru.prev; p != &c->lru; p = p->prev) {
        if (can_leave(p)) {
            if (p->state != KV_PAGE_EMPTY) {
                hash_remove(c, p);
            }
            return p;
        }
    }
    return NULL;
}

static void use_frame(KvCache *c, KvPage *page, uint32_t unit, KvPageState s)
{
    if (!page->data) {
        page->data = g_malloc(c->unit_bytes);
    }
    page->unit = unit;
    page->state = s;
    hash_add(c, page);
    lru_remove(page);
    lru_first(c, page);
}

/* Those that have not been used for longest: an eighth of the frames. */
static void write_some(KvCache *c)
{
    uint32_t most = c->n / 8 + 1;

    for (KvPage *p = c->lru.prev;
         !c->hold && p != &c->lru && c->n_writing < most;) {
        KvPage *before = p->prev;

        if (p->dirty && !p->writing && !p->pins) {
            kv_cache_store(c, p);
        }
        p = before;
    }
}

void kv_cache_drop(KvCache *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        KvPage *p = &c->page[i];

        g_assert(p->state != KV_PAGE_LOADING && !p->writing && !p->pins);
        if (p->state != KV_PAGE_EMPTY) {
            hash_remove(c, p);
            clean(c, p);
            make_empty(c, p);
        }
    }
}

/* ---- pages --------------------------------------------------------------- */

static KvPage *here(KvCache *c, KvPage *page, KvMiss *miss)
{
    *miss = page->state == KV_PAGE_HERE  ? KV_MISS_NONE
            : page->state == KV_PAGE_BAD ? KV_MISS_BAD
                                         : KV_MISS_PAGE;
    if (*miss) {
        return NULL;
    }
    lru_remove(page);
    lru_first(c, page);
    return page;
}

KvPage *kv_cache_get(KvCache *c, uint32_t unit, KvMiss *miss)
{
    KvPage *page = find(c, unit);

    if (page) {
        c->count.hits += page->state == KV_PAGE_HERE;
        return here(c, page, miss);
    }
    page = take_frame(c);
    if (!page) {
        write_some(c);
        *miss = KV_MISS_FRAME;
        return NULL;
    }
    use_frame(c, page, unit, KV_PAGE_LOADING);
    c->count.loads++;
    c->backing->load(c->opaque, page);
    return here(c, page, miss);
}

void kv_cache_prefetch(KvCache *c, uint32_t unit)
{
    KvPage *page = find(c, unit) ? NULL : take_frame(c);

    if (page) {
        use_frame(c, page, unit, KV_PAGE_LOADING);
        c->count.loads++;
        c->backing->load(c->opaque, page);
    }
}

bool kv_cache_reserve(KvCache *c, uint32_t n)
{
    for (KvPage *p = c->lru.prev; n && p != &c->lru; p = p->prev) {
        n -= can_leave(p);
    }
    if (n) {
        write_some(c);
    }
    return !n;
}

/* Of a time when the unit was another page. */
static void drop_stale(KvCache *c, uint32_t unit)
{
    KvPage *page = find(c, unit);

    if (page) {
        g_assert(can_leave(page));
        hash_remove(c, page);
        make_empty(c, page);
    }
}

KvPage *kv_cache_new(KvCache *c, uint32_t unit)
{
    KvPage *page;

    drop_stale(c, unit);
    page = take_frame(c);
    g_assert(page);
    use_frame(c, page, unit, KV_PAGE_HERE);
    memset(page->data, 0, c->unit_bytes);
    kv_cache_dirty(c, page);
    return page;
}

void kv_cache_dirty(KvCache *c, KvPage *page)
{
    c->n_dirty += !page->dirty;
    page->dirty = true;
}

void kv_cache_move(KvCache *c, KvPage *page, uint32_t unit)
{
    drop_stale(c, unit);
    hash_remove(c, page);
    page->unit = unit;
    hash_add(c, page);
}

void kv_cache_discard(KvCache *c, KvPage *page)
{
    hash_remove(c, page);
    clean(c, page);
    page->state = KV_PAGE_GONE;
    look_gone(c, page);
}

void kv_cache_unpin(KvCache *c, KvPage *page)
{
    g_assert(page->pins);
    page->pins--;
    look_gone(c, page);
}

/* ---- reading and writing ------------------------------------------------- */

static bool page_ok(const KvCache *c, const KvPage *page)
{
    const KvPageHead *h = kv_page_head(page);

    return GUINT32_FROM_LE(h->magic) == KV_PAGE_MAGIC &&
           GUINT32_FROM_LE(h->unit) == page->unit &&
           GUINT64_FROM_LE(h->crc) ==
               kv_crc(page->data, c->unit_bytes, offsetof(KvPageHead, crc));
}

void kv_cache_loaded(KvCache *c, KvPage *page, bool ok)
{
    g_assert(page->state == KV_PAGE_LOADING);
    page->state = ok && page_ok(c, page) ? KV_PAGE_HERE : KV_PAGE_BAD;
}

void kv_cache_store(KvCache *c, KvPage *page)
{
    KvPageHead *h = kv_page_head(page);

    g_assert(page->dirty && !page->writing);
    h->magic = GUINT32_TO_LE(KV_PAGE_MAGIC);
    h->unit = GUINT32_TO_LE(page->unit);
    h->crc = GUINT64_TO_LE(
        kv_crc(page->data, c->unit_bytes, offsetof(KvPageHead, crc)));
    clean(c, page);
    page->writing = true;
    c->n_writing++;
    c->count.stores++;
    c->backing->store(c->opaque, page);
}

void kv_cache_stored(KvCache *c, KvPage *page, bool ok)
{
    g_assert(page->writing);
    page->writing = false;
    page->committing = false;
    c->n_writing--;
    if (!ok && page->state == KV_PAGE_HERE) {
        kv_cache_dirty(c, page);
    }
    look_gone(c, page);
}
