/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-kv-cache.c - frames and units of a key-value namespace, by hand: which
 * page leaves, which may not, what a page must be to be taken, and which unit
 * is next.  test-kv-index.c runs the tree on top of both.
 */
#include "crc.h"
#include "kv/cache.h"
#include "kv/space.h"

#define UNIT 4096

typedef struct Fixture {
    KvCache cache;
    KvPage *loading[16], *storing[16];
    unsigned n_loading, n_storing;
} Fixture;

static void load(void *opaque, KvPage *page)
{
    Fixture *f = opaque;

    f->loading[f->n_loading++] = page;
}

static void store(void *opaque, KvPage *page)
{
    Fixture *f = opaque;

    f->storing[f->n_storing++] = page;
}

static const KvBacking backing = {load, store};

static Fixture *with_frames(uint32_t n)
{
    Fixture *f = g_new0(Fixture, 1);

    kv_cache_init(&f->cache, n, UNIT, &backing, f);
    return f;
}

static void end(Fixture *f)
{
    kv_cache_free(&f->cache);
    g_free(f);
}

/* As it is on the medium. */
static void fill(KvPage *page, uint32_t unit)
{
    KvPageHead *h = kv_page_head(page);

    memset(page->data, (int)unit, UNIT);
    h->magic = GUINT32_TO_LE(KV_PAGE_MAGIC);
    h->unit = GUINT32_TO_LE(unit);
    h->crc = GUINT64_TO_LE(kv_crc(page->data, UNIT, offsetof(KvPageHead, crc)));
}

/* Ask for a unit; *miss says why it is not here. */
static KvPage *ask(Fixture *f, uint32_t unit, KvMiss want)
{
    KvMiss miss = 99;
    KvPage *page = kv_cache_get(&f->cache, unit, &miss);

    g_assert_cmpint(miss, ==, want);
    g_assert_true(!page == (want != KV_MISS_NONE));
    return page;
}

/* Read a unit, which is not here. */
static KvPage *bring(Fixture *f, uint32_t unit)
{
    ask(f, unit, KV_MISS_PAGE);
    g_assert_cmpuint(f->n_loading, ==, 1);
    g_assert_cmpuint(f->loading[0]->unit, ==, unit);
    fill(f->loading[0], unit);
    kv_cache_loaded(&f->cache, f->loading[0], true);
    f->n_loading = 0;
    return ask(f, unit, KV_MISS_NONE);
}

/* What was asked for last stays; the others leave in that order. */
static void test_order(void)
{
    Fixture *f = with_frames(3);

    for (uint32_t unit = 1; unit <= 3; unit++) {
        bring(f, unit);
    }
    ask(f, 1, KV_MISS_NONE);
    bring(f, 4); /* in place of 2 */
    ask(f, 3, KV_MISS_NONE);
    ask(f, 1, KV_MISS_NONE);
    bring(f, 2); /* in place of 4 */
    bring(f, 4); /* of 3 */
    ask(f, 1, KV_MISS_NONE);
    ask(f, 2, KV_MISS_NONE);
    g_assert_cmpuint(f->cache.count.loads, ==, 6);
    g_assert_cmpuint(f->cache.count.hits, ==, 11);
    end(f);
}

/* A page that is being read is asked for again, and not read again. */
static void test_loading(void)
{
    Fixture *f = with_frames(2);

    ask(f, 1, KV_MISS_PAGE);
    ask(f, 1, KV_MISS_PAGE);
    kv_cache_prefetch(&f->cache, 1);
    g_assert_cmpuint(f->n_loading, ==, 1);
    g_assert_cmpuint(f->cache.count.hits, ==, 0);
    kv_cache_prefetch(&f->cache, 2);
    g_assert_cmpuint(f->n_loading, ==, 2);
    kv_cache_prefetch(&f->cache, 3); /* no frame */
    g_assert_cmpuint(f->n_loading, ==, 2);
    ask(f, 3, KV_MISS_FRAME);
    g_assert_cmpuint(f->cache.count.loads, ==, 2);
    g_assert_false(kv_cache_reserve(&f->cache, 1));
    for (unsigned i = 0; i < 2; i++) {
        fill(f->loading[i], i + 1);
        kv_cache_loaded(&f->cache, f->loading[i], true);
    }
    g_assert_true(kv_cache_reserve(&f->cache, 2));
    g_assert_cmpuint(f->n_storing, ==, 0);
    end(f);
}

static void loaded_as(Fixture *f, uint32_t unit, bool ok, KvMiss want)
{
    kv_cache_loaded(&f->cache, f->loading[0], ok);
    f->n_loading = 0;
    ask(f, unit, want);
    kv_cache_drop(&f->cache);
}

/* Magic number, unit, and every byte are checked. */
static void test_bad(void)
{
    static const uint32_t at[] = {sizeof(KvPageHead), UNIT - 1};
    Fixture *f = with_frames(2);

    ask(f, 7, KV_MISS_PAGE);
    fill(f->loading[0], 7);
    loaded_as(f, 7, false, KV_MISS_BAD);
    ask(f, 7, KV_MISS_PAGE);
    fill(f->loading[0], 8);
    loaded_as(f, 7, true, KV_MISS_BAD);
    ask(f, 7, KV_MISS_PAGE);
    fill(f->loading[0], 7);
    kv_page_head(f->loading[0])->magic ^= 1;
    kv_page_head(f->loading[0])->crc = GUINT64_TO_LE(
        kv_crc(f->loading[0]->data, UNIT, offsetof(KvPageHead, crc)));
    loaded_as(f, 7, true, KV_MISS_BAD);
    for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
        ask(f, 7, KV_MISS_PAGE);
        fill(f->loading[0], 7);
        f->loading[0]->data[at[i]] ^= 0x10;
        loaded_as(f, 7, true, KV_MISS_BAD);
    }
    bring(f, 7);
    end(f);
}

/* The bytes of the checksum count as zeroes, all others as they are. */
static void test_crc(void)
{
    uint8_t p[64];
    uint64_t whole;

    memset(p, 0x5a, sizeof(p));
    memset(p + 16, 0, 8);
    whole = crc64_nvme(0, p, sizeof(p));
    memset(p + 16, 0x77, 8);
    g_assert_cmphex(kv_crc(p, sizeof(p), 16), ==, whole);
}

/* Pinned, dirty, and being written: it stays. */
static void test_stays(void)
{
    Fixture *f = with_frames(2);
    KvPage *one = bring(f, 1);
    KvPage *two = bring(f, 2);

    kv_cache_pin(one);
    kv_cache_pin(two);
    ask(f, 3, KV_MISS_FRAME);
    kv_cache_unpin(&f->cache, two);
    kv_cache_dirty(&f->cache, two);
    kv_cache_dirty(&f->cache, two);
    g_assert_cmpuint(f->cache.n_dirty, ==, 1);
    f->cache.hold = true;
    ask(f, 3, KV_MISS_FRAME);
    g_assert_cmpuint(f->n_storing, ==, 0);
    f->cache.hold = false;
    ask(f, 3, KV_MISS_FRAME); /* it is written now */
    g_assert_cmpuint(f->n_storing, ==, 1);
    g_assert_true(f->storing[0] == two && two->writing);
    g_assert_cmpuint(f->cache.n_dirty, ==, 0);
    ask(f, 3, KV_MISS_FRAME);
    g_assert_cmpuint(f->n_storing, ==, 1);
    kv_cache_dirty(&f->cache, two); /* changed meanwhile */
    ask(f, 3, KV_MISS_FRAME);
    g_assert_cmpuint(f->n_storing, ==, 1);
    kv_cache_stored(&f->cache, two, true);
    g_assert_cmpuint(f->cache.n_writing, ==, 0);
    kv_cache_dirty(&f->cache, one); /* pinned: not written */
    ask(f, 3, KV_MISS_FRAME);
    g_assert_cmpuint(f->n_storing, ==, 2);
    kv_cache_stored(&f->cache, two, true);
    bring(f, 3);
    ask(f, 1, KV_MISS_NONE);
    g_assert_cmpuint(f->cache.count.stores, ==, 2);
    end(f);
}

/* At most an eighth of the frames and one, from the one that rested longest. */
static void test_some(void)
{
    Fixture *f = with_frames(10);

    for (uint32_t unit = 1; unit <= 10; unit++) {
        kv_cache_dirty(&f->cache, bring(f, unit));
    }
    g_assert_false(kv_cache_reserve(&f->cache, 3));
    g_assert_cmpuint(f->n_storing, ==, 2);
    g_assert_cmpuint(f->storing[0]->unit, ==, 1);
    g_assert_cmpuint(f->storing[1]->unit, ==, 2);
    kv_cache_stored(&f->cache, f->storing[0], true);
    kv_cache_stored(&f->cache, f->storing[1], true);
    g_assert_true(kv_cache_reserve(&f->cache, 2));
    g_assert_cmpuint(f->n_storing, ==, 2);
    end(f);
}

/* A write that failed leaves the page dirty; its commit is over. */
static void test_stored(void)
{
    Fixture *f = with_frames(2);
    KvPage *page = kv_cache_new(&f->cache, 5);

    memset(page->data + sizeof(KvPageHead), 1, 100);
    page->committing = true;
    kv_cache_store(&f->cache, page);
    g_assert_cmpuint(f->cache.n_dirty, ==, 0);
    kv_cache_stored(&f->cache, page, false);
    g_assert_true(page->dirty && !page->writing && !page->committing);
    g_assert_cmpuint(f->cache.n_dirty, ==, 1);
    kv_cache_store(&f->cache, page);
    kv_cache_stored(&f->cache, page, true);
    g_assert_false(page->dirty);
    /* What was written can be read. */
    page->state = KV_PAGE_LOADING;
    kv_cache_loaded(&f->cache, page, true);
    g_assert_true(ask(f, 5, KV_MISS_NONE) == page);
    end(f);
}

/* A new page is zeroes, dirty, and takes the place of what the unit was. */
static void test_new(void)
{
    static const uint8_t zero[UNIT];
    Fixture *f = with_frames(2);
    KvPage *page;

    bring(f, 1);
    bring(f, 2);
    page = kv_cache_new(&f->cache, 1);
    g_assert_cmpmem(page->data, UNIT, zero, UNIT);
    g_assert_true(page->dirty);
    g_assert_true(ask(f, 1, KV_MISS_NONE) == page);
    ask(f, 2, KV_MISS_NONE);
    kv_cache_move(&f->cache, page, 2); /* and 2 is forgotten */
    g_assert_true(ask(f, 2, KV_MISS_NONE) == page);
    bring(f, 1);
    g_assert_cmpuint(f->cache.count.loads, ==, 3);
    end(f);
}

/* A frame that was discarded is free when nobody has it any more, and is the
 * next one to be used. */
static void test_discard(void)
{
    Fixture *f = with_frames(2);
    KvPage *one = bring(f, 1);

    bring(f, 2);
    kv_cache_dirty(&f->cache, one);
    kv_cache_pin(one);
    kv_cache_pin(one);
    kv_cache_store(&f->cache, one);
    kv_cache_dirty(&f->cache, one);
    kv_cache_discard(&f->cache, one);
    g_assert_cmpuint(f->cache.n_dirty, ==, 0);
    g_assert_cmpint(one->state, ==, KV_PAGE_GONE);
    kv_cache_unpin(&f->cache, one);
    kv_cache_stored(&f->cache, one, false);
    g_assert_false(one->dirty);
    g_assert_cmpint(one->state, ==, KV_PAGE_GONE);
    ask(f, 2, KV_MISS_NONE);
    g_assert_false(kv_cache_reserve(&f->cache, 2));
    kv_cache_unpin(&f->cache, one);
    g_assert_cmpint(one->state, ==, KV_PAGE_EMPTY);
    g_assert_true(kv_cache_reserve(&f->cache, 2));
    g_assert_true(bring(f, 1) == one);
    kv_cache_discard(&f->cache, ask(f, 2, KV_MISS_NONE));
    bring(f, 3); /* in that frame, not in the one of 1 */
    ask(f, 1, KV_MISS_NONE);
    kv_cache_drop(&f->cache);
    g_assert_true(kv_cache_reserve(&f->cache, 2));
    bring(f, 3);
    end(f);
}

/* ---- units --------------------------------------------------------------- */

static void took(KvSpace *s, uint32_t most, uint32_t unit, uint32_t n)
{
    KvExtent e = {0, 0};

    g_assert_true(kv_space_take(s, most, &e));
    g_assert_cmpuint(e.unit, ==, unit);
    g_assert_cmpuint(e.n, ==, n);
}

/* Each search goes on where the last one ended; unit 0 is nobody's. */
static void test_next_fit(void)
{
    KvExtent e;
    KvSpace s;

    kv_space_init(&s, 200);
    g_assert_cmpuint(s.n_free, ==, 199);
    took(&s, 100, 1, 100);
    took(&s, 50, 101, 50);
    kv_space_give_back(&s, (KvExtent){10, 5});
    took(&s, 40, 151, 40);
    took(&s, 40, 191, 9); /* to the end */
    took(&s, 3, 10, 3);   /* from the start */
    took(&s, 9, 13, 2);   /* up to what is used */
    g_assert_cmpuint(s.n_free, ==, 0);
    g_assert_false(kv_space_take(&s, 1, &e));
    kv_space_give_back(&s, (KvExtent){130, 1});
    kv_space_give_back(&s, (KvExtent){12, 1});
    took(&s, 9, 130, 1); /* behind the last one first */
    took(&s, 9, 12, 1);
    kv_space_give_back(&s, (KvExtent){14, 1});
    took(&s, 9, 14, 1);
    kv_space_free(&s);
}

static void test_mark(void)
{
    static const KvExtent wrong[] = {
        {0, 1}, {1, 0}, {64, 1}, {63, 2}, {1, UINT32_MAX}, {9, 2}, {10, 1},
    };
    KvSpace s;

    kv_space_init(&s, 64);
    g_assert_true(kv_space_mark(&s, (KvExtent){10, 3}));
    g_assert_cmpuint(s.n_free, ==, 60);
    g_assert_true(kv_space_mark(&s, (KvExtent){63, 1}));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_false(kv_space_mark(&s, wrong[i]));
    }
    kv_space_free(&s);
}

/* Units are free when the commit after their release is safe. */
static void test_release(void)
{
    KvSpace s;

    kv_space_init(&s, 64);
    took(&s, 20, 1, 20);
    kv_space_release(&s, (KvExtent){1, 4});
    kv_space_release(&s, (KvExtent){5, 0});
    g_assert_cmpuint(s.n_dead, ==, 4);
    g_assert_cmpuint(s.dead->len, ==, 1);
    kv_space_commit(&s);
    kv_space_release(&s, (KvExtent){9, 2});
    g_assert_cmpuint(s.n_dead, ==, 2);
    kv_space_committed(&s, false); /* not safe: they wait for the next */
    g_assert_cmpuint(s.n_dead, ==, 6);
    g_assert_cmpuint(s.n_free, ==, 43);
    kv_space_commit(&s);
    g_assert_cmpuint(s.n_dead, ==, 0);
    kv_space_committed(&s, true);
    g_assert_cmpuint(s.n_free, ==, 49);
    g_assert_cmpuint(s.dying->len, ==, 0);
    g_assert_true(kv_space_mark(&s, (KvExtent){9, 2}));
    kv_space_free(&s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/kv-cache/order", test_order);
    g_test_add_func("/nvme/kv-cache/loading", test_loading);
    g_test_add_func("/nvme/kv-cache/bad", test_bad);
    g_test_add_func("/nvme/kv-cache/crc", test_crc);
    g_test_add_func("/nvme/kv-cache/stays", test_stays);
    g_test_add_func("/nvme/kv-cache/some", test_some);
    g_test_add_func("/nvme/kv-cache/stored", test_stored);
    g_test_add_func("/nvme/kv-cache/new", test_new);
    g_test_add_func("/nvme/kv-cache/discard", test_discard);
    g_test_add_func("/nvme/kv-space/next-fit", test_next_fit);
    g_test_add_func("/nvme/kv-space/mark", test_mark);
    g_test_add_func("/nvme/kv-space/release", test_release);
    return g_test_run();
}
