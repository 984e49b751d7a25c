/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries.c - the entries of the overlay: their memory, the chain of each unit,
 * and the queues in which they wait for the store.
 *
 * Knows which entry stands where; the rules for when one may move, take over
 * blocks or go are those of trims.c, destage.c and payload.c.
 */
#include "payload-internal.h"

#include <string.h>

#include "lazymem.h"

#define SLAB_ENTRIES 64

/* ---- memory ------------------------------------------------------------- */

static size_t unit_meta(const Payload *p)
{
    return (size_t)meta_of(p, p->unit_blocks);
}

static void add_slab(Payload *p)
{
    Slab slab = {
        .entries = g_new0(PayloadEntry, SLAB_ENTRIES),
        .data = lazy_alloc(SLAB_ENTRIES, p->unit_bytes),
        .meta = p->meta_bytes ? lazy_alloc(SLAB_ENTRIES, unit_meta(p)) : NULL,
    };

    for (int i = SLAB_ENTRIES - 1; i >= 0; i--) {
        PayloadEntry *e = &slab.entries[i];

        e->data = slab.data + (size_t)i * p->unit_bytes;
        e->meta = slab.meta ? slab.meta + i * unit_meta(p) : NULL;
        e->turn.data = e;
        e->due.link.data = &e->due;
        e->next = p->free_entries;
        p->free_entries = e;
    }
    g_array_append_val(p->slabs, slab);
}

PayloadEntry *payload_entry_alloc(Payload *p, uint64_t lpn)
{
    PayloadEntry *e;

    if (!p->free_entries) {
        add_slab(p);
    }
    e = p->free_entries;
    p->free_entries = e->next;
    e->next = NULL;
    e->newer = NULL;
    e->older = NULL;
    e->lpn = lpn;
    e->state = ENTRY_DIRTY;
    e->dead = false;
    e->absorbed = false;
    e->on_zeroes = false;
    e->write_failed = false;
    e->probe = false;
    e->tear_blocks = 0;
    e->nvalid = 0;
    e->writes = 0;
    e->trim_seq = p->trim_seq;
    memset(e->valid, 0, sizeof(e->valid));
    if (e->has_marks) {
        e->has_marks = false;
        memset(e->marked, 0, sizeof(e->marked));
    }
    return e;
}

void payload_entry_free(Payload *p, PayloadEntry *e)
{
    e->next = p->free_entries;
    p->free_entries = e;
}

void payload_entries_free(Payload *p)
{
    for (unsigned i = 0; i < p->slabs->len; i++) {
        Slab *slab = &g_array_index(p->slabs, Slab, i);

        lazy_free(slab->data, SLAB_ENTRIES, p->unit_bytes);
        if (slab->meta) {
            lazy_free(slab->meta, SLAB_ENTRIES, unit_meta(p));
        }
        g_free(slab->entries);
    }
    g_array_free(p->slabs, TRUE);
}

/* ---- chains ------------------------------------------------------------- */

static void hash_grow(Payload *p)
{
    size_t old_n = (size_t)1 << p->hash_bits;
    PayloadEntry **old = p->hash;

    p->hash_bits++;
    p->hash = g_new0(PayloadEntry *, (size_t)1 << p->hash_bits);
    for (size_t i = 0; i < old_n; i++) {
        PayloadEntry *next;

        for (PayloadEntry *e = old[i]; e; e = next) {
            PayloadEntry **slot = &p->hash[hash_index(p, e->lpn)];

            next = e->hnext;
            e->hnext = *slot;
            *slot = e;
        }
    }
    g_free(old);
}

void payload_chain_push(Payload *p, PayloadEntry *e)
{
    PayloadEntry **slot = chain_slot(p, e->lpn);

    p->stats.units++;
    p->stats.units_peak = MAX(p->stats.units_peak, p->stats.units);
    e->older = *slot;
    if (e->older) {
        e->older->newer = e;
        e->hnext = e->older->hnext;
        *slot = e;
        return;
    }
    e->hnext = NULL;
    *slot = e;
    if (++p->nchains > (size_t)1 << p->hash_bits) {
        hash_grow(p);
    }
}

void payload_chain_put_above(Payload *p, PayloadEntry *e, PayloadEntry *older)
{
    if (!older->newer) {
        payload_chain_push(p, e);
        return;
    }
    p->stats.units++;
    p->stats.units_peak = MAX(p->stats.units_peak, p->stats.units);
    e->older = older;
    e->newer = older->newer;
    e->newer->older = e;
    older->newer = e;
}

void payload_chain_remove(Payload *p, PayloadEntry *e)
{
    p->stats.units--;
    if (e->older) {
        e->older->newer = e->newer;
    }
    if (e->newer) {
        e->newer->older = e->older;
    } else {
        PayloadEntry **slot = chain_slot(p, e->lpn);

        if (e->older) {
            e->older->hnext = e->hnext;
            *slot = e->older;
        } else {
            *slot = e->hnext;
            p->nchains--;
        }
    }
}

/* ---- due entries -------------------------------------------------------- */

void payload_due_push(Payload *p, Due *d)
{
    d->seq = ++p->next_seq;
    g_queue_push_tail_link(&p->due, &d->link);
}

void payload_due_inherit(Payload *p, Due *d, Due *from)
{
    if (from->seq < d->seq) {
        g_queue_unlink(&p->due, &d->link);
        g_queue_insert_before_link(&p->due, &from->link, &d->link);
        d->seq = from->seq;
    }
    g_queue_unlink(&p->due, &from->link);
}

void payload_turn_leave(Payload *p, PayloadEntry *e)
{
    if (e->state == ENTRY_LATE) {
        g_queue_unlink(&p->late, &e->turn);
    } else if (e->state == ENTRY_FAILED) {
        g_queue_unlink(&p->failed, &e->turn);
        p->stats.units_failed--;
    } else {
        p->ndead -= e->dead;
        g_queue_unlink(e->state == ENTRY_READY ? &p->ready : &p->stalled,
                       &e->turn);
    }
}

void payload_unstall(Payload *p)
{
    GList *l;

    while ((l = g_queue_pop_head_link(&p->stalled))) {
        PayloadEntry *e = l->data;

        e->state = ENTRY_READY;
        g_queue_push_tail_link(&p->ready, l);
    }
}

void payload_entry_drop(Payload *p, PayloadEntry *e)
{
    if (entry_waits(e)) {
        g_queue_unlink(&p->due, &e->due.link);
    }
    if (entry_waits(e) || e->state == ENTRY_FAILED || e->state == ENTRY_LATE) {
        payload_turn_leave(p, e);
    }
    payload_chain_remove(p, e);
    payload_entry_free(p, e);
}

/* ---- the blocks of an entry ---------------------------------------------- */

void payload_merge(Payload *p, const PayloadEntry *from, PayloadEntry *to)
{
    if (entry_full(p, to)) {
        return;
    }
    for (unsigned b = 0; b < p->unit_blocks; b++) {
        if (entry_has(from, b) && !entry_has(to, b)) {
            memcpy(to->data + (size_t)b * p->block_bytes,
                   from->data + (size_t)b * p->block_bytes, p->block_bytes);
            if (p->meta_bytes) {
                memcpy(to->meta + meta_of(p, b), from->meta + meta_of(p, b),
                       p->meta_bytes);
            }
            entry_add(to, b, 1);
            to->absorbed = true;
            if (from->has_marks && bitmap_test(from->marked, b)) {
                to->has_marks = true;
                bitmap_set(to->marked, b);
            }
        }
    }
}

void payload_fill_with_zeroes(Payload *p, PayloadEntry *e)
{
    uint32_t nblocks = blocks_of_unit(p, e->lpn);

    for (uint32_t b = 0; !entry_full(p, e) && b < nblocks; b++) {
        if (!entry_has(e, b)) {
            memset(e->data + (size_t)b * p->block_bytes, 0, p->block_bytes);
            if (p->meta_bytes) {
                memset(e->meta + meta_of(p, b), 0, p->meta_bytes);
            }
            entry_add(e, b, 1);
        }
    }
}
