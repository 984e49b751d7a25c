/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test-kv-index.c - the tree of a key-value namespace on a medium in memory:
 * against a sorted list, by the number of pages that a lookup reads, and after
 * cuts between commits.
 *
 * Reads and writes of pages end later, in any order.
 */
#include "kv/tree.h"
#include "bitmap.h"
#include "prng.h"

#define UNIT    4096
#define N_UNITS 60000
#define FRAMES  128
#define LEAF    ((UNIT - 32) / 44) /* entries: format.h */
#define INNER   ((UNIT - 32) / 24)

typedef struct Pending {
    KvPage *page;
    uint32_t unit;
    bool store;
    uint8_t data[UNIT]; /* store: of the moment */
} Pending;

typedef struct Index {
    KvCache cache;
    KvSpace space;
    KvTree tree;
    Prng prng;
    GPtrArray *pending;
    uint8_t *medium;
    uint32_t bad; /* a unit that cannot be read */
} Index;

/* ---- the medium ---------------------------------------------------------- */

static void begin(Index *x, KvPage *page, bool store)
{
    Pending *p = g_new(Pending, 1);

    p->page = page;
    p->unit = page->unit;
    p->store = store;
    memcpy(p->data, page->data, UNIT);
    g_ptr_array_add(x->pending, p);
}

static void load(void *opaque, KvPage *page)
{
    begin(opaque, page, false);
}

static void store(void *opaque, KvPage *page)
{
    begin(opaque, page, true);
}

static const KvBacking backing = {load, store};

static bool pump(Index *x)
{
    Pending *p;

    if (!x->pending->len) {
        return false;
    }
    p = g_ptr_array_remove_index_fast(
        x->pending, (unsigned)prng_below(&x->prng, x->pending->len));
    if (p->store) {
        memcpy(x->medium + (size_t)p->unit * UNIT, p->data, UNIT);
        kv_cache_stored(&x->cache, p->page, true);
    } else {
        memcpy(p->page->data, x->medium + (size_t)p->unit * UNIT, UNIT);
        kv_cache_loaded(&x->cache, p->page, p->unit != x->bad);
    }
    g_free(p);
    return true;
}

static void pump_all(Index *x)
{
    while (pump(x)) {
    }
}

static void index_new(Index *x)
{
    *x = (Index){
        .pending = g_ptr_array_new(),
        .medium = g_malloc0((size_t)N_UNITS * UNIT),
    };
    prng_seed(&x->prng, 1, 0x6b76);
    kv_cache_init(&x->cache, FRAMES, UNIT, &backing, x);
    kv_space_init(&x->space, N_UNITS);
    x->tree = (KvTree){.cache = &x->cache, .space = &x->space, .epoch = 1};
}

static void index_free(Index *x)
{
    pump_all(x);
    kv_cache_free(&x->cache);
    kv_space_free(&x->space);
    g_ptr_array_free(x->pending, TRUE);
    g_free(x->medium);
}

/* ---- operations ---------------------------------------------------------- */

static KvKey key_of(uint64_t n)
{
    KvKey key = {.bytes = 8};

    for (unsigned i = 0; i < 8; i++) {
        key.byte[i] = (uint8_t)(n >> (56 - 8 * i));
    }
    return key;
}

static KvResult find(Index *x, const KvKey *key, KvPath *path, KvValue *v)
{
    KvResult r;

    while ((r = kv_tree_find(&x->tree, key, path, v)) == KV_WAIT_PAGE ||
           r == KV_WAIT_FRAME) {
        g_assert_true(pump(x));
    }
    return r;
}

/* With the extents of the value, and all that a change needs. */
static bool look_up(Index *x, const KvKey *key, KvPath *path, KvValue *v,
                    KvExtent *list, uint32_t *n)
{
    for (;;) {
        KvResult r = find(x, key, path, v);
        bool there = r == KV_OK;

        *n = 0;
        g_assert_true(there || r == KV_ABSENT);
        r = there ? kv_tree_extents(&x->tree, v, path, list, n) : KV_OK;
        r = r ? r : kv_tree_prepare(&x->tree, path);
        if (!r) {
            return there;
        }
        g_assert_true(r == KV_WAIT_PAGE || r == KV_WAIT_FRAME);
        g_assert_true(pump(x));
    }
}

static void put(Index *x, const KvKey *key, uint32_t units, bool scattered)
{
    KvExtent list[512], old[512];
    KvPath path = {0};
    KvValue v;
    uint32_t n = 0, n_old;

    for (uint32_t left = units; left;) {
        g_assert_true(kv_space_take(&x->space, scattered ? 1 : left, &list[n]));
        left -= list[n].n;
        if (scattered) { /* leave a hole */
            KvExtent hole;

            g_assert_true(kv_space_take(&x->space, 1, &hole));
            kv_space_give_back(&x->space, hole);
            x->space.next = hole.unit + 1;
        }
        n++;
    }
    if (look_up(x, key, &path, &v, old, &n_old)) {
        kv_tree_release(&x->tree, &v, old, n_old);
    }
    kv_tree_put(&x->tree, &path, key, units * UNIT, list, n);
}

static bool drop(Index *x, const KvKey *key)
{
    KvExtent old[512];
    KvPath path = {0};
    KvValue v;
    uint32_t n;

    if (!look_up(x, key, &path, &v, old, &n)) {
        kv_path_clear(&x->tree, &path);
        return false;
    }
    kv_tree_release(&x->tree, &v, old, n);
    kv_tree_remove(&x->tree, &path);
    return true;
}

/* All changed pages are on the medium; returns the durable tree. */
static KvTree commit(Index *x)
{
    KvTree durable;

    x->cache.hold = true;
    pump_all(x);
    x->cache.hold = false;
    durable = x->tree;
    kv_space_commit(&x->space);
    kv_tree_begin_epoch(&x->tree);
    for (uint32_t i = 0; i < x->cache.n; i++) {
        if (x->cache.page[i].dirty) {
            kv_cache_store(&x->cache, &x->cache.page[i]);
        }
    }
    pump_all(x);
    kv_space_committed(&x->space, true);
    return durable;
}

/* ---- tests --------------------------------------------------------------- */

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* Keys that ascend fill their pages: the height and the number of pages follow,
 * and a lookup with an empty cache reads a page of each level. */
static void test_reads(void)
{
    static const uint32_t counts[] = {1, LEAF, LEAF + 1, LEAF * INNER,
                                      LEAF * INNER + 1};

    for (unsigned c = 0; c < G_N_ELEMENTS(counts); c++) {
        uint32_t leaves = ceil_div(counts[c], LEAF);
        uint32_t inner = leaves > 1 ? ceil_div(leaves, INNER) : 0;
        uint32_t height = leaves == 1 ? 1 : inner == 1 ? 2 : 3;
        Index x;

        index_new(&x);
        for (uint32_t i = 0; i < counts[c]; i++) {
            KvKey key = key_of(i);

            put(&x, &key, 0, false);
            if (i % 5000 == 0) {
                commit(&x);
            }
        }
        commit(&x);
        g_assert_cmpuint(x.tree.height, ==, height);
        g_assert_cmpuint(x.tree.n_pages, ==, leaves + inner + (height == 3));
        for (unsigned k = 0; k < 50; k++) {
            KvKey key = key_of(prng_below(&x.prng, counts[c]));
            uint64_t before = x.cache.count.loads;
            KvPath path = {0};

            kv_cache_drop(&x.cache);
            g_assert_cmpint(find(&x, &key, &path, NULL), ==, KV_OK);
            g_assert_cmpuint(x.cache.count.loads - before, ==, height);
            kv_path_clear(&x.tree, &path);
        }
        index_free(&x);
    }
}

typedef struct Model {
    GTree *keys;  /* KvKey -> units + 1 */
    KvKey *order; /* of check() */
} Model;

static int by_key(gconstpointer a, gconstpointer b, gpointer unused)
{
    return kv_key_compare(a, b);
}

static GTree *new_keys(void)
{
    return g_tree_new_full(by_key, NULL, g_free, NULL);
}

static void note(GTree *keys, const KvKey *key, uint32_t units)
{
    g_tree_insert(keys, g_memdup2(key, sizeof(*key)),
                  GUINT_TO_POINTER(units + 1));
}

static gboolean copy_key(gpointer key, gpointer value, gpointer to)
{
    note(to, key, GPOINTER_TO_UINT(value) - 1);
    return FALSE;
}

static gboolean has_key(gpointer key, gpointer value, gpointer opaque)
{
    Index *x = opaque;
    KvPath path = {0};
    KvValue v;

    g_assert_cmpint(find(x, key, &path, &v), ==, KV_OK);
    g_assert_cmpuint(v.bytes, ==, (GPOINTER_TO_UINT(value) - 1) * UNIT);
    kv_path_clear(&x->tree, &path);
    return FALSE;
}

/* In order, and no others; returns the units that the tree leads to. */
static uint64_t check(Index *x, GTree *keys)
{
    KvKey from = {0}, next, last = {0};
    KvExtent list[512];
    uint64_t units = 0;
    uint32_t n_keys = 0;
    KvPath path = {0};
    KvResult r;

    do {
        while ((r = kv_tree_seek(&x->tree, &from, &path, &next)) ==
                   KV_WAIT_PAGE ||
               r == KV_WAIT_FRAME) {
            g_assert_true(pump(x));
        }
        for (uint32_t i = 0; r == KV_OK && i < kv_leaf_entries(&path); i++) {
            const KvLeafEntry *e = kv_leaf_entry(&path, i);
            KvValue v = kv_leaf_value(e);
            uint32_t n;

            g_assert_cmpint(kv_key_compare(&last, e), <, 0);
            g_assert_nonnull(g_tree_lookup(keys, e));
            last = e->key;
            n_keys++;
            while ((r = kv_tree_extents(&x->tree, &v, &path, list, &n)) ==
                   KV_WAIT_PAGE) {
                g_assert_true(pump(x));
            }
            g_assert_cmpint(r, ==, KV_OK);
            for (uint32_t k = 0; k < n; k++) {
                units += list[k].n;
            }
        }
        from = next;
    } while (next.bytes);
    kv_path_clear(&x->tree, &path);
    g_assert_cmpuint(n_keys, ==, (uint32_t)g_tree_nnodes(keys));
    g_tree_foreach(keys, has_key, x);
    return units;
}

static KvKey random_key(Index *x)
{
    KvKey key = {.bytes = (uint8_t)(1 + prng_below(&x->prng, 16))};

    for (unsigned i = 0; i < key.bytes; i++) {
        key.byte[i] = (uint8_t)prng_below(&x->prng, i ? 2 : 250);
    }
    return key;
}

static void change(Index *x, GTree *keys, unsigned drops)
{
    KvKey key = random_key(x);

    if (prng_below(&x->prng, 100) < drops) {
        bool there = g_tree_lookup(keys, &key) != NULL;

        g_assert_true(drop(x, &key) == there);
        g_tree_remove(keys, &key);
    } else {
        uint32_t units = (uint32_t)prng_below(&x->prng, 6);

        put(x, &key, units, prng_below(&x->prng, 4) == 0);
        note(keys, &key, units);
    }
}

static void test_random(void)
{
    g_autoptr(GTree) keys = new_keys();
    uint64_t units;
    Index x;

    index_new(&x);
    for (unsigned i = 0; i < 40000; i++) {
        change(&x, keys, i / 4000 % 2 ? 70 : 20);
        if (i % 200 == 0) {
            commit(&x);
        }
        if (i % 4000 == 0) {
            check(&x, keys);
        }
    }
    commit(&x);
    units = check(&x, keys);
    g_assert_cmpuint(units, ==, x.tree.value_units);
    g_assert_cmpuint(x.space.n_free, ==, N_UNITS - 1 - units - x.tree.n_pages);
    while (g_tree_nnodes(keys)) { /* and back to nothing */
        KvKey key = *(KvKey *)g_tree_node_key(g_tree_node_first(keys));

        g_assert_true(drop(&x, &key));
        g_tree_remove(keys, &key);
        if (x.space.dead->len > 100) {
            commit(&x);
        }
    }
    commit(&x);
    g_assert_cmpuint(x.tree.height, ==, 0);
    g_assert_cmpuint(x.space.n_free, ==, N_UNITS - 1);
    index_free(&x);
}

/* Whatever has been written since the last commit: its tree is there. */
static void test_cuts(void)
{
    g_autoptr(GTree) keys = new_keys();
    KvTree durable_tree = {0};
    Index x;

    index_new(&x);
    for (unsigned round = 0; round < 120; round++) {
        g_autoptr(GTree) durable = new_keys();
        uint64_t n = prng_below(&x.prng, 150);

        for (unsigned i = 0; i < 100; i++) {
            change(&x, keys, 30);
        }
        durable_tree = commit(&x);
        g_tree_foreach(keys, copy_key, durable);
        for (uint64_t i = 0; i < n; i++) {
            change(&x, keys, 50);
            pump(&x);
        }
        for (uint32_t i = 0; i < x.cache.n; i++) { /* some of them go early */
            KvPage *page = &x.cache.page[i];

            if (page->dirty && !page->writing && prng_below(&x.prng, 2)) {
                kv_cache_store(&x.cache, page);
            }
        }
        while (prng_below(&x.prng, 20)) {
            pump(&x);
        }
        /* the cut: pages on their way are lost */
        for (unsigned i = 0; i < x.pending->len; i++) {
            Pending *p = g_ptr_array_index(x.pending, i);

            if (p->store) {
                kv_cache_stored(&x.cache, p->page, false);
            } else {
                kv_cache_loaded(&x.cache, p->page, false);
            }
            g_free(p);
        }
        g_ptr_array_set_size(x.pending, 0);
        kv_cache_drop(&x.cache);
        x.tree = durable_tree;
        kv_tree_begin_epoch(&x.tree);
        check(&x, durable);
        /* the space as the tree says */
        kv_space_free(&x.space);
        kv_space_init(&x.space, N_UNITS);
        {
            Index y = x;
            KvKey from = {0}, next;
            KvPath path = {0};
            KvExtent list[512];
            KvResult r;

            do {
                while ((r = kv_tree_seek(&x.tree, &from, &path, &next)) ==
                       KV_WAIT_PAGE) {
                    pump(&x);
                }
                for (uint32_t i = 0; i < path.n; i++) {
                    kv_space_mark(&x.space, (KvExtent){path.page[i]->unit, 1});
                }
                for (uint32_t i = 0; !r && i < kv_leaf_entries(&path); i++) {
                    KvValue v = kv_leaf_value(kv_leaf_entry(&path, i));
                    uint32_t m;

                    while (kv_tree_extents(&x.tree, &v, &path, list, &m) ==
                           KV_WAIT_PAGE) {
                        pump(&x);
                    }
                    for (uint32_t k = 0; k < m; k++) {
                        g_assert_true(kv_space_mark(&x.space, list[k]));
                    }
                    if (v.list) {
                        g_assert_true(
                            kv_space_mark(&x.space, (KvExtent){v.list, 1}));
                    }
                }
                from = next;
            } while (next.bytes);
            kv_path_clear(&x.tree, &path);
            g_assert_cmpuint(y.tree.n_keys, ==, x.tree.n_keys);
        }
        g_tree_unref(g_steal_pointer(&keys));
        keys = new_keys();
        g_tree_foreach(durable, copy_key, keys);
    }
    index_free(&x);
}

/* Until the next commit has ended, what the durable tree leads to is in use:
 * values that were replaced or deleted, their lists, and pages. */
static void test_held(void)
{
    size_t n_words = bitmap_words(N_UNITS);
    g_autofree uint64_t *durable = NULL;
    KvKey deleted = key_of(0);
    Index x;

    index_new(&x);
    for (unsigned i = 0; i < 3 * LEAF; i++) {
        KvKey key = key_of(i);

        put(&x, &key, 8, i % 2);
    }
    commit(&x);
    durable = g_memdup2(x.space.used, n_words * sizeof(*durable));
    for (unsigned i = 1; i < 3 * LEAF; i++) {
        KvKey key = key_of(i);

        put(&x, &key, 5, i % 3 == 0);
    }
    g_assert_true(drop(&x, &deleted));
    for (size_t i = 0; i < n_words; i++) {
        g_assert_cmphex(x.space.used[i] & durable[i], ==, durable[i]);
    }
    commit(&x);
    g_assert_cmpuint(x.space.n_free, ==,
                     N_UNITS - 1 - x.tree.value_units - x.tree.n_pages);
    index_free(&x);
}

/* A page that cannot be read, and one that is another. */
static void test_damage(void)
{
    KvPath path = {0};
    KvKey key = key_of(5);
    Index x;

    index_new(&x);
    for (unsigned i = 0; i < 10; i++) {
        KvKey k = key_of(i);

        put(&x, &k, 1, false);
    }
    commit(&x);
    kv_cache_drop(&x.cache);
    x.bad = x.tree.root;
    g_assert_cmpint(find(&x, &key, &path, NULL), ==, KV_DAMAGED);
    x.bad = 0;
    kv_cache_drop(&x.cache);
    x.medium[(size_t)x.tree.root * UNIT + 100] ^= 1;
    g_assert_cmpint(find(&x, &key, &path, NULL), ==, KV_DAMAGED);
    x.medium[(size_t)x.tree.root * UNIT + 100] ^= 1;
    kv_cache_drop(&x.cache);
    g_assert_cmpint(find(&x, &key, &path, NULL), ==, KV_OK);
    kv_path_clear(&x.tree, &path);
    index_free(&x);
}

/* The cache takes no more than its frames, also when all are dirty. */
static void test_bounds(void)
{
    uint32_t frames = 0;
    Index x;

    index_new(&x);
    for (uint32_t i = 0; i < 30000; i++) {
        KvKey key = key_of(prng_u64(&x.prng));

        put(&x, &key, 0, false);
    }
    for (uint32_t i = 0; i < x.cache.n; i++) {
        frames += x.cache.page[i].data != NULL;
    }
    g_assert_cmpuint(frames, ==, FRAMES);
    g_assert_cmpuint(x.tree.n_pages, >, 2 * FRAMES);
    g_assert_cmpuint(x.cache.count.stores, >, 0);
    index_free(&x);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nvme/kv-index/reads", test_reads);
    g_test_add_func("/nvme/kv-index/random", test_random);
    g_test_add_func("/nvme/kv-index/cuts", test_cuts);
    g_test_add_func("/nvme/kv-index/held", test_held);
    g_test_add_func("/nvme/kv-index/damage", test_damage);
    g_test_add_func("/nvme/kv-index/bounds", test_bounds);
    return g_test_run();
}
