/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * space.c - which units of a key-value namespace are in use.
 *
 * Next fit: a search begins where the last one ended, so the values of an empty
 * namespace follow each other.
 */
#include "kv/space.h"

#include "bitmap.h"

void kv_space_init(KvSpace *s, uint32_t n)
{
    *s = (KvSpace){
        .used = g_new0(uint64_t, bitmap_words(n)),
        .n = n,
        .n_free = n - 1,
        .next = 1,
        .dead = g_array_new(FALSE, FALSE, sizeof(KvExtent)),
        .dying = g_array_new(FALSE, FALSE, sizeof(KvExtent)),
    };
    bitmap_set(s->used, 0);
}

void kv_space_free(KvSpace *s)
{
    g_free(s->used);
    if (s->dead) {
        g_array_free(s->dead, TRUE);
        g_array_free(s->dying, TRUE);
    }
    *s = (KvSpace){0};
}

/* The first free unit in [from, end); end: there is none. */
static uint32_t next_free(const KvSpace *s, uint32_t from, uint32_t end)
{
    while (from < end) {
        uint64_t bits = ~s->used[from / BITMAP_WORD] >> from % BITMAP_WORD;

        if (bits) {
            from += (uint32_t)__builtin_ctzll(bits);
            return MIN(from, end);
        }
        from = (from / BITMAP_WORD + 1) * BITMAP_WORD;
    }
    return end;
}

bool kv_space_take(KvSpace *s, uint32_t most, KvExtent *e)
{
    uint32_t at = next_free(s, s->next, s->n);
    uint32_t n = 0;

    if (at == s->n) {
        at = next_free(s, 1, s->next);
    }
    if (!s->n_free || at >= s->n || bitmap_test(s->used, at)) {
        return false;
    }
    while (n < most && at + n < s->n && !bitmap_test(s->used, at + n)) {
        bitmap_set(s->used, at + n);
        n++;
    }
    s->n_free -= n;
    s->next = at + n < s->n ? at + n : 1;
    *e = (KvExtent){at, n};
    return true;
}

bool kv_space_mark(KvSpace *s, KvExtent e)
{
    if (!e.unit || !e.n || e.unit >= s->n || e.n > s->n - e.unit) {
        return false;
    }
    for (uint32_t i = 0; i < e.n; i++) {
        if (bitmap_test(s->used, e.unit + i)) {
            return false;
        }
        bitmap_set(s->used, e.unit + i);
        s->n_free--;
    }
    return true;
}

void kv_space_give_back(KvSpace *s, KvExtent e)
{
    for (uint32_t i = 0; i < e.n; i++) {
        g_assert(bitmap_test(s->used, e.unit + i));
        bitmap_clear(s->used, e.unit + i);
    }
    s->n_free += e.n;
}

void kv_space_release(KvSpace *s, KvExtent e)
{
    if (e.n) {
        g_array_append_val(s->dead, e);
        s->n_dead += e.n;
    }
}

void kv_space_commit(KvSpace *s)
{
    GArray *empty = s->dying;

    g_assert(empty->len == 0);
    s->dying = s->dead;
    s->dead = empty;
    s->n_dead = 0;
}

void kv_space_committed(KvSpace *s, bool ok)
{
    for (unsigned i = 0; i < s->dying->len; i++) {
        KvExtent e = g_array_index(s->dying, KvExtent, i);

        if (ok) {
            kv_space_give_back(s, e);
        } else {
            kv_space_release(s, e);
        }
    }
    g_array_set_size(s->dying, 0);
}
