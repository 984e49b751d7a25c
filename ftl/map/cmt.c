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
    for (int k = 0; k < CMT_SEGMENTS; k++) {
        c->list[k] = ILISTN_EMPTY;
    }
}

void cmt_init(Cmt *c, uint32_t most)
{
    c->most = most;
    c->order = NULL;
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
    ilistn_remove(links(c), &c->list[c->entry[i].segment], i);
}

static void list_push(Cmt *c, uint32_t i, uint8_t segment)
{
    invariant(segment < CMT_SEGMENTS);
    c->entry[i].segment = segment;
    ilistn_push_head(links(c), &c->list[segment], i);
}

void cmt_touch(Cmt *c, uint32_t i)
{
    IlistN *protected = &c->list[CMT_PROTECTED];

    invariant(i < c->n_made);
    if (G_UNLIKELY(c->order)) {
        c->order->used(c->order_opaque, i);
        return;
    }
    list_remove(c, i);
    list_push(c, i, CMT_PROTECTED);
    if (protected->n > MAX(c->most / 2, 1)) {
        uint32_t last = protected->tail;

        list_remove(c, last);
        list_push(c, last, CMT_PROBATION);
    }
}

uint32_t cmt_victim(const Cmt *c)
{
    if (cmt_used(c) < c->most) {
        return CMT_NONE;
    }
    if (G_UNLIKELY(c->order)) {
        return c->order->victim(c->order_opaque);
    }
    return c->list[CMT_PROBATION].n > 0 ? c->list[CMT_PROBATION].tail
                                        : c->list[CMT_PROTECTED].tail;
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
    list_push(c, i, CMT_PROBATION);
    if (G_UNLIKELY(c->order)) {
        c->order->insert(c->order_opaque, i);
    }
    return i;
}

void cmt_move(Cmt *c, uint32_t i, uint8_t segment)
{
    invariant(i < c->n_made);
    list_remove(c, i);
    list_push(c, i, segment);
}

/* ---- check of a loaded table -------------------------------------------- */

static bool segment_ok(const Cmt *c, uint8_t segment, uint64_t n_lpns)
{
    const IlistN *l = &c->list[segment];
    uint32_t prev = CMT_NONE;
    uint32_t i = l->head;

    for (uint32_t k = 0; k < l->n; k++) {
        if (i >= c->n_made || c->entry[i].prev != prev ||
            c->entry[i].segment != segment || c->entry[i].lpn >= n_lpns ||
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
                (!last && bucket_of(c, c->entry[at - 1].lpn) != b)) {
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
    return c->n_made <= c->most && c->list[CMT_PROBATION].n <= c->n_made &&
           c->list[CMT_PROTECTED].n <= c->n_made && chains_ok(c) &&
           segment_ok(c, CMT_PROBATION, n_lpns) &&
           segment_ok(c, CMT_PROTECTED, n_lpns);
}
