/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmt.c - see cmt.h. */
#include "lazymem.h"
#include "map/cmt.h"
#include "ssd-internal.h"

/* Multiplicative hashing: D. Knuth, The Art of Computer Programming, volume 3,
 * section 6.4. */
static uint32_t bucket_of(const Cmt *c, uint64_t lpn)
{
    uint32_t mixed = (uint32_t)lpn ^ (uint32_t)(lpn >> 32);

    return (mixed * 2654435769U >> 7) & (c->n_buckets - 1);
}

static void make_tables(Cmt *c)
{
    c->entry = lazy_new(CmtEntry, c->most);
    c->bucket = lazy_new(uint32_t, c->n_buckets);
    c->n_made = 0;
    c->free = 0;
    for (int k = 0; k < CMT_LISTS; k++) {
        c->list[k] = ILISTN_EMPTY;
    }
}

void cmt_init(Cmt *c, uint32_t most)
{
    c->most = most;
    c->n_buckets = 1;
    while (c->n_buckets < most && c->n_buckets < 1U << 25) {
        c->n_buckets *= 2;
    }
    make_tables(c);
}

void cmt_destroy(Cmt *c)
{
    lazy_free(c->entry, c->most, sizeof(*c->entry));
    lazy_free(c->bucket, c->n_buckets, sizeof(*c->bucket));
}

void cmt_clear(Cmt *c)
{
    cmt_destroy(c);
    make_tables(c);
}

uint32_t cmt_find(const Cmt *c, uint64_t lpn)
{
    uint32_t at = c->bucket[bucket_of(c, lpn)];

    while (at != 0 && c->entry[at - 1].lpn != lpn) {
        at = c->entry[at - 1].chain;
    }
    return at - 1;
}

static IlistLinks links(const Cmt *c)
{
    return ILIST_LINKS(c->entry, CmtEntry, next, prev);
}

static void list_remove(Cmt *c, uint32_t i)
{
    ilistn_remove(links(c), &c->list[c->entry[i].list], i);
}

static void list_push(Cmt *c, uint32_t i, uint32_t list)
{
    invariant(list < CMT_LISTS);
    c->entry[i].list = (uint8_t)list;
    ilistn_push_head(links(c), &c->list[list], i);
}

void cmt_remove(Cmt *c, uint32_t i)
{
    uint32_t *link = &c->bucket[bucket_of(c, c->entry[i].lpn)];

    invariant(i < c->n_made);
    while (*link != i + 1) {
        invariant(*link != 0);
        link = &c->entry[*link - 1].chain;
    }
    *link = c->entry[i].chain;
    list_remove(c, i);
    c->entry[i].list = CMT_LISTS;
    c->entry[i].chain = c->free;
    c->free = i + 1;
}

uint32_t cmt_insert(Cmt *c, uint64_t lpn)
{
    uint32_t *head = &c->bucket[bucket_of(c, lpn)];
    uint32_t i;

    if (c->free != 0) {
        i = c->free - 1;
        c->free = c->entry[i].chain;
    } else {
        invariant(c->n_made < c->most);
        i = c->n_made++;
    }
    c->entry[i] = (CmtEntry){.lpn = lpn, .chain = *head};
    *head = i + 1;
    list_push(c, i, 0);
    return i;
}

void cmt_move(Cmt *c, uint32_t i, uint32_t list)
{
    invariant(cmt_is_used(c, i));
    list_remove(c, i);
    list_push(c, i, list);
}

/* ---- check of a loaded table -------------------------------------------- */

static bool list_ok(const Cmt *c, uint32_t list, uint64_t n_lpns)
{
    const IlistN *l = &c->list[list];
    uint32_t prev = CMT_NONE;
    uint32_t i = l->head;

    for (uint32_t k = 0; k < l->n; k++) {
        if (i >= c->n_made || c->entry[i].prev != prev ||
            c->entry[i].list != list || c->entry[i].lpn >= n_lpns ||
            c->entry[i].dirty > 1 || cmt_find(c, c->entry[i].lpn) != i) {
            return false;
        }
        prev = i;
        i = c->entry[i].next;
    }
    return i == CMT_NONE && l->tail == prev;
}

/* The entries of each bucket, and those given back: together all, each once. */
static bool chains_ok(const Cmt *c)
{
    g_autofree bool *seen = g_new0(bool, (gsize)c->n_made + 1);
    uint32_t n = 0;

    for (uint32_t b = 0; b <= c->n_buckets; b++) {
        bool last = b == c->n_buckets;

        for (uint32_t at = last ? c->free : c->bucket[b]; at != 0;
             at = c->entry[at - 1].chain) {
            if (at > c->n_made || seen[at] ||
                (last ? c->entry[at - 1].list != CMT_LISTS
                      : bucket_of(c, c->entry[at - 1].lpn) != b)) {
                return false;
            }
            seen[at] = true;
            n++;
        }
    }
    return n == c->n_made;
}

bool cmt_check(const Cmt *c, uint64_t n_lpns)
{
    bool good = c->n_made <= c->most && chains_ok(c);

    for (uint32_t k = 0; good && k < CMT_LISTS; k++) {
        good = c->list[k].n <= c->n_made && list_ok(c, k, n_lpns);
    }
    return good;
}
