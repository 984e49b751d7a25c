/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trims.c - TRIMs that the drive works on, or has done.
 *
 * A TRIM is a range and the version of the newest write before it.  While the
 * drive works on it, newer data waits: it neither takes over blocks of older
 * entries nor goes to the store, because the TRIM may free those blocks, or may
 * end without effect.  When it is done, older entries in the overlay are of no
 * use, and newer ones hold zeroes where they have no data.  That is done to a
 * chain when it is next looked at, and a sweep of the hash comes by all of
 * them, some in each payload_pump(): the end of a TRIM takes the same time
 * whatever its size.
 *
 * There are at most MAX_TRIMS of them; further ones wait in the controller.  So
 * looking through all of them is cheap.
 */
#include "payload-internal.h"

#include <string.h>

/* So few units are looked up one by one. */
#define SMALL_TRIM    64
#define SWEEP_BUCKETS 2048

typedef enum TrimState {
    TRIM_FREE,
    TRIM_ACTIVE, /* the drive is at it */
    TRIM_DONE,   /* chains of its range may not know it yet */
} TrimState;

static bool covers(const Trim *t, uint64_t lpn)
{
    return lpn - t->lpn < t->nunits;
}

bool payload_trim_room(const Payload *p)
{
    return p->ntrims < MAX_TRIMS;
}

uint64_t payload_trim_begin(Payload *p, uint64_t lba, uint64_t nblocks)
{
    unsigned id = 0;

    g_assert(payload_trim_room(p));
    while (p->trims[id].state != TRIM_FREE) {
        id++;
    }
    p->trims[id] = (Trim){
        .state = TRIM_ACTIVE,
        .lpn = lba / p->unit_blocks,
        .nunits = nblocks / p->unit_blocks,
        .version = p->last_version,
    };
    p->ntrims++;
    p->trims_used = MAX(p->trims_used, id + 1);
    return id;
}

static void trim_free(Payload *p, Trim *t)
{
    p->trims_done -= t->state == TRIM_DONE;
    t->state = TRIM_FREE;
    if (--p->ntrims == 0) {
        p->trims_used = 0;
    }
}

bool payload_trim_between(const Payload *p, uint64_t lpn, uint64_t older,
                          uint64_t newer)
{
    for (unsigned i = 0; i < p->trims_used; i++) {
        const Trim *t = &p->trims[i];

        if (t->state == TRIM_ACTIVE && covers(t, lpn) &&
            older <= t->version && t->version < newer) {
            return true;
        }
    }
    return false;
}

void payload_absorb_older(Payload *p, PayloadEntry *e)
{
    PayloadEntry *older;

    for (PayloadEntry *o = e->older; o; o = older) {
        older = o->older;
        if (o->state == ENTRY_WRITING ||
            (!o->dead &&
             payload_trim_between(p, o->lpn, o->version, e->version))) {
            return;
        }
        if (!o->dead) {
            payload_merge(p, o, e);
        }
        if (entry_waits(o)) {
            payload_due_inherit(p, &e->due, &o->due);
            payload_turn_leave(p, o);
            payload_chain_remove(p, o);
            payload_entry_free(p, o);
        } else {
            payload_entry_drop(p, o);
        }
    }
}

/* ---- TRIMs that are done ------------------------------------------------ */

/* The newest version of the unit that a TRIM has freed since seq; *any: there is
 * such a TRIM. */
static uint64_t freed_since(const Payload *p, uint64_t lpn, uint64_t seq,
                            bool *any)
{
    uint64_t version = 0;

    *any = false;
    for (unsigned i = 0; i < p->trims_used; i++) {
        const Trim *t = &p->trims[i];

        if (t->state == TRIM_DONE && covers(t, lpn) && t->seq > seq) {
            version = MAX(version, t->version);
            *any = true;
        }
    }
    return version;
}

/* A barrier waits for it to be in the store, which holds something older. */
static bool is_waited_for(Payload *p, const PayloadEntry *e)
{
    const PayloadBarrier *b =
        p->barriers.tail ? p->barriers.tail->data : NULL;

    return b && e->due.seq <= b->seq &&
           payload_zeroes_cover(p, e->lpn, e->lpn) &&
           payload_zeroes_give_way(p, e->lpn, false);
}

static void entry_kill(Payload *p, PayloadEntry *e)
{
    if (e->state == ENTRY_WRITING || (entry_waits(e) && is_waited_for(p, e))) {
        e->dead = true;
        p->ndead += entry_waits(e);
    } else {
        payload_entry_drop(p, e);
    }
}

void payload_chain_look(Payload *p, uint64_t lpn)
{
    PayloadEntry *e = chain_newest(p, lpn);
    bool first = true;

    while (e && e->older) {
        e = e->older;
    }
    while (e) { /* the oldest first */
        PayloadEntry *newer = e->newer;
        bool any;
        uint64_t freed = freed_since(p, lpn, e->trim_seq, &any);

        e->trim_seq = p->trim_seq;
        if (e->dead) {
            /* known already */
        } else if (any && e->version <= freed) {
            entry_kill(p, e);
        } else if (first) {
            if (any) {
                e->on_zeroes = true;
                payload_fill_with_zeroes(p, e);
            }
            first = false;
        }
        e = newer;
    }
}

/* The hash has grown since: bucket i has become 2i and 2i + 1. */
static void sweep_follow_hash(Payload *p)
{
    unsigned doubled = p->hash_bits - p->sweep_bits;

    p->sweep_bits = p->hash_bits;
    p->sweep_at <<= doubled;
    for (unsigned i = 0; i < p->trims_used; i++) {
        p->trims[i].left <<= doubled;
    }
}

static void trim_done(Payload *p, Trim *t)
{
    sweep_follow_hash(p);
    t->state = TRIM_DONE;
    t->seq = ++p->trim_seq;
    p->trims_done++;
    if (t->nunits <= SMALL_TRIM) {
        for (uint64_t i = 0; p->nchains && i < t->nunits; i++) {
            payload_chain_look(p, t->lpn + i);
        }
        trim_free(p, t);
    } else if (!p->nchains) {
        trim_free(p, t);
    } else {
        t->left = (size_t)1 << p->hash_bits;
    }
}

void payload_trim_end(Payload *p, uint64_t end_ns, uint64_t id, bool ok,
                      bool durable)
{
    Trim *t = &p->trims[id];

    g_assert(id < MAX_TRIMS && t->state == TRIM_ACTIVE);
    if (ok) {
        payload_zeroes_add(p, t->lpn, t->nunits, durable);
        if (G_UNLIKELY(p->watched)) {
            payload_watch_trim(p, end_ns, t);
        }
        trim_done(p, t);
    } else {
        trim_free(p, t);
    }
    payload_unstall(p);
}

/* ---- the sweep ----------------------------------------------------------- */

static void sweep_bucket(Payload *p, size_t bucket)
{
    PayloadEntry **slot = &p->hash[bucket];

    while (*slot) {
        uint64_t lpn = (*slot)->lpn;

        payload_chain_look(p, lpn);
        if (*slot && (*slot)->lpn == lpn) {
            slot = &(*slot)->hnext;
        }
    }
}

/* Until the first of them has been told everywhere. */
static size_t buckets_left(const Payload *p)
{
    size_t left = SWEEP_BUCKETS;

    for (unsigned i = 0; i < p->trims_used; i++) {
        if (p->trims[i].state == TRIM_DONE) {
            left = MIN(left, p->trims[i].left);
        }
    }
    return left;
}

void payload_sweep(Payload *p)
{
    size_t nbuckets = (size_t)1 << p->hash_bits;
    size_t n;

    sweep_follow_hash(p);
    n = buckets_left(p);
    for (size_t i = 0; i < n; i++) {
        sweep_bucket(p, (p->sweep_at + i) % nbuckets);
    }
    p->sweep_at = (p->sweep_at + n) % nbuckets;
    for (unsigned i = 0; i < p->trims_used; i++) {
        Trim *t = &p->trims[i];

        if (t->state == TRIM_DONE && (t->left -= n) == 0) {
            trim_free(p, t);
        }
    }
}
