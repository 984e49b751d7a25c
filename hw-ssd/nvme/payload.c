/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload.c - the overlay: user data that the store does not hold yet.
 *
 * One entry is the data of one WRITE in one mapping unit; a bit per logical
 * block says which of them the entry has.  The entries of a unit form a chain
 * from the newest to the oldest, found through a hash of the unit's number.
 *
 *   DIRTY    in the drive's volatile buffer: a power cut drops it
 *   READY    programmed: waits for its turn at the store
 *   STALLED  the same, and something older at the store is in its way
 *   WRITING  the store is at it
 *   FAILED   the store refused it: kept, tried again at the next barrier
 *
 * A TRIM (trims.c) ends entries.  One that is dead nobody reads; it is still
 * there because the store has it, or a barrier waits for it.
 *
 * Knows what a block reads as and what a power cut leaves; knows nothing of
 * commands, guest memory or NVMe.  How data gets to the store is destage.c's
 * business.
 */
#include "payload-internal.h"

#include <string.h>

#include "lazymem.h"

#define SLAB_ENTRIES   64
#define BUF_MIN_BITS   12
#define BUF_KEEP_BYTES (4U << 20)

/* ---- memory ------------------------------------------------------------- */

static unsigned buf_class(size_t bytes)
{
    unsigned c = 0;

    while (((size_t)1 << (BUF_MIN_BITS + c)) < bytes) {
        c++;
    }
    g_assert(c < BUF_CLASSES);
    return c;
}

void *payload_buf_get(Payload *p, size_t bytes)
{
    unsigned c = buf_class(bytes);
    void *buf = p->free_bufs[c];

    if (!buf) {
        return lazy_alloc(1, (size_t)1 << (BUF_MIN_BITS + c));
    }
    memcpy(&p->free_bufs[c], buf, sizeof(void *));
    p->nfree_bufs[c]--;
    return buf;
}

void payload_buf_put(Payload *p, void *buf, size_t bytes)
{
    unsigned c = buf_class(bytes);
    size_t size = (size_t)1 << (BUF_MIN_BITS + c);

    if (p->nfree_bufs[c] >= BUF_KEEP_BYTES / size + 1) {
        lazy_free(buf, 1, size);
        return;
    }
    memcpy(buf, &p->free_bufs[c], sizeof(void *));
    p->free_bufs[c] = buf;
    p->nfree_bufs[c]++;
}

static void add_slab(Payload *p)
{
    Slab slab = {
        .entries = g_new0(PayloadEntry, SLAB_ENTRIES),
        .data = lazy_alloc(SLAB_ENTRIES, p->unit_bytes),
    };

    for (int i = SLAB_ENTRIES - 1; i >= 0; i--) {
        PayloadEntry *e = &slab.entries[i];

        e->data = slab.data + (size_t)i * p->unit_bytes;
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
    e->nvalid = 0;
    e->writes = 0;
    e->trim_seq = p->trim_seq;
    memset(e->valid, 0, sizeof(e->valid));
    return e;
}

void payload_entry_free(Payload *p, PayloadEntry *e)
{
    e->next = p->free_entries;
    p->free_entries = e;
}

/* ---- chains ------------------------------------------------------------- */

static void entry_set(PayloadEntry *e, unsigned first, unsigned count)
{
    for (unsigned b = first; b < first + count; b++) {
        uint64_t bit = 1ULL << (b % 64);

        e->nvalid += !(e->valid[b / 64] & bit);
        e->valid[b / 64] |= bit;
    }
}

static size_t hash_index(const Payload *p, uint64_t lpn)
{
    /* Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4). */
    return lpn * 0x9e3779b97f4a7c15ULL >> (64 - p->hash_bits);
}

/* Where the pointer to the newest entry of lpn is, or would be. */
static PayloadEntry **chain_slot(const Payload *p, uint64_t lpn)
{
    PayloadEntry **slot = &p->hash[hash_index(p, lpn)];

    while (*slot && (*slot)->lpn != lpn) {
        slot = &(*slot)->hnext;
    }
    return slot;
}

PayloadEntry *payload_chain_newest(const Payload *p, uint64_t lpn)
{
    return *chain_slot(p, lpn);
}

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
    payload_sweep_grow(p);
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

/* ---- what is due -------------------------------------------------------- */

void payload_due_push(Payload *p, Due *d)
{
    d->seq = ++p->next_seq;
    g_queue_push_tail_link(&p->due, &d->link);
}

/* d takes over the place of from, which leaves. */
void payload_due_inherit(Payload *p, Due *d, Due *from)
{
    if (from->seq < d->seq) {
        g_queue_unlink(&p->due, &d->link);
        g_queue_insert_before_link(&p->due, &from->link, &d->link);
        d->seq = from->seq;
    }
    g_queue_unlink(&p->due, &from->link);
}

/* Leave ready, stalled or failed. */
void payload_turn_leave(Payload *p, PayloadEntry *e)
{
    if (e->state == ENTRY_FAILED) {
        g_queue_unlink(&p->failed, &e->turn);
        p->stats.units_failed--;
    } else {
        p->ndead -= e->dead;
        g_queue_unlink(e->state == ENTRY_READY ? &p->ready : &p->stalled,
                       &e->turn);
    }
}

void payload_entry_drop(Payload *p, PayloadEntry *e)
{
    if (entry_waits(e)) {
        g_queue_unlink(&p->due, &e->due.link);
    }
    if (entry_waits(e) || e->state == ENTRY_FAILED) {
        payload_turn_leave(p, e);
    }
    payload_chain_remove(p, e);
    payload_entry_free(p, e);
}

/* Copy the blocks that only the older entry has. */
void payload_merge(Payload *p, const PayloadEntry *from, PayloadEntry *to)
{
    if (entry_full(p, to)) {
        return;
    }
    for (unsigned b = 0; b < p->unit_blocks; b++) {
        if (entry_has(from, b) && !entry_has(to, b)) {
            memcpy(to->data + (size_t)b * p->block_bytes,
                   from->data + (size_t)b * p->block_bytes, p->block_bytes);
            entry_set(to, b, 1);
            to->absorbed = true;
        }
    }
}

static void look(Payload *p, uint64_t lpn)
{
    if (p->trims_done) {
        payload_chain_look(p, lpn);
    }
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

static PayloadEntry *chain_find(Payload *p, uint64_t lpn, uint64_t version)
{
    PayloadEntry *e;

    look(p, lpn);
    e = payload_chain_newest(p, lpn);
    while (e && e->version != version) {
        e = e->older;
    }
    return e;
}

void payload_programmed(Payload *p, uint64_t lpn, uint64_t version)
{
    PayloadEntry *e = chain_find(p, lpn, version);

    if (!e || e->state != ENTRY_DIRTY) {
        return; /* trimmed meanwhile */
    }
    e->state = ENTRY_READY;
    g_queue_push_tail_link(&p->ready, &e->turn);
    payload_due_push(p, &e->due);
    payload_absorb_older(p, e);
}

void payload_superseded(Payload *p, uint64_t lpn, uint64_t version)
{
    PayloadEntry *e = chain_find(p, lpn, version);

    if (!e || e->state != ENTRY_DIRTY) {
        return;
    }
    if (e->newer && e->newer->state == ENTRY_DIRTY &&
        !payload_trim_between(p, lpn, e->version, e->newer->version)) {
        payload_merge(p, e, e->newer);
    }
    payload_entry_drop(p, e);
}

/* ---- writes ------------------------------------------------------------- */

PayloadEntry *payload_write_new(Payload *p, uint64_t lba, uint32_t nblocks)
{
    PayloadEntry *list = NULL;
    PayloadEntry **tail = &list;

    while (nblocks) {
        PayloadEntry *e = payload_entry_alloc(p, lba / p->unit_blocks);

        e->first = lba % p->unit_blocks;
        e->count = MIN(nblocks, p->unit_blocks - e->first);
        entry_set(e, e->first, e->count);
        lba += e->count;
        nblocks -= e->count;
        p->command_units++;
        *tail = e;
        tail = &e->next;
    }
    return list;
}

uint8_t *payload_write_piece(Payload *p, PayloadEntry **cursor, size_t *bytes)
{
    PayloadEntry *e = *cursor;

    if (!e) {
        return NULL;
    }
    *cursor = e->next;
    *bytes = (size_t)e->count * p->block_bytes;
    return e->data + (size_t)e->first * p->block_bytes;
}

void payload_write_drop(Payload *p, PayloadEntry *list)
{
    while (list) {
        PayloadEntry *next = list->next;

        p->command_units--;
        payload_entry_free(p, list);
        list = next;
    }
}

void payload_fill_with_zeroes(Payload *p, PayloadEntry *e)
{
    uint32_t nblocks = blocks_of_unit(p, e->lpn);

    for (uint32_t b = 0; !entry_full(p, e) && b < nblocks; b++) {
        if (!entry_has(e, b)) {
            memset(e->data + (size_t)b * p->block_bytes, 0, p->block_bytes);
            entry_set(e, b, 1);
        }
    }
}

static const PayloadEntry *newest_alive(const PayloadEntry *e)
{
    while (e && e->dead) {
        e = e->older;
    }
    return e;
}

/* Does a unit without entries read as zeroes, whatever the store may hold? */
static bool reads_as_zeroes(const Payload *p, uint64_t lpn)
{
    return payload_zeroes_cover(p, lpn, lpn) ||
           !ssd_mapped(p->ssd, lpn * p->unit_blocks, NULL);
}

void payload_write_commit(Payload *p, PayloadEntry *list, uint64_t version)
{
    p->last_version = version;
    while (list) {
        PayloadEntry *e = list;

        list = e->next;
        e->next = NULL;
        e->version = version;
        look(p, e->lpn);
        e->trim_seq = p->trim_seq;
        e->on_zeroes = !newest_alive(payload_chain_newest(p, e->lpn)) &&
                       reads_as_zeroes(p, e->lpn);
        if (e->on_zeroes) {
            payload_fill_with_zeroes(p, e);
        }
        payload_chain_push(p, e);
    }
}

/* The entry below it goes, and what was below that reads as zeroes. */
static void now_on_zeroes(Payload *p, PayloadEntry *e)
{
    if (e && e->state == ENTRY_DIRTY && !e->dead) {
        e->on_zeroes = true;
        payload_fill_with_zeroes(p, e);
    }
}

void payload_write_failed(Payload *p, uint64_t lba, uint32_t nblocks,
                          uint64_t version)
{
    uint64_t last = (lba + nblocks - 1) / p->unit_blocks;

    for (uint64_t lpn = lba / p->unit_blocks; lpn <= last; lpn++) {
        PayloadEntry *e = chain_find(p, lpn, version);
        uint64_t newest = 0;
        bool taken = ssd_mapped(p->ssd, lpn * p->unit_blocks, &newest) &&
                     newest == version;

        /* A drive that has given up keeps what it took, and what the unit reads
         * as is here.  Blocks of others that it took over must not go. */
        if (e && e->state == ENTRY_DIRTY && !e->absorbed && !taken) {
            if (e->on_zeroes) {
                now_on_zeroes(p, e->newer);
            }
            payload_entry_drop(p, e);
        }
    }
}

/* ---- reads -------------------------------------------------------------- */

static const PayloadEntry *find_block(const PayloadEntry *e, unsigned block)
{
    while (e && (e->dead || !entry_has(e, block))) {
        e = e->older;
    }
    return e;
}

/* Blocks [i, i+count) of the read lie in one unit.  Returns how many at the
 * start of them have one source, and says whether that is the store. */
static uint32_t read_piece(Payload *p, PayloadRead *rd, uint32_t i,
                           uint32_t count, bool *from_store)
{
    uint64_t lpn = (rd->lba + i) / p->unit_blocks;
    unsigned block = (rd->lba + i) % p->unit_blocks;
    uint8_t *to = rd->buf + (size_t)i * p->block_bytes;
    const PayloadEntry *newest;
    const PayloadEntry *e;
    uint32_t n = count;

    look(p, lpn);
    *from_store = false;
    newest = newest_alive(payload_chain_newest(p, lpn));
    e = find_block(newest, block);
    if (newest) {
        for (n = 1; n < count && find_block(newest, block + n) == e; n++) {
        }
    }
    /* The drive may have trimmed what it has programmed, and not said so yet. */
    if (e && (newest->state == ENTRY_DIRTY ||
              ssd_mapped(p->ssd, lpn * p->unit_blocks, NULL))) {
        memcpy(to, e->data + (size_t)block * p->block_bytes,
               (size_t)n * p->block_bytes);
    } else if (e || reads_as_zeroes(p, lpn)) {
        memset(to, 0, (size_t)n * p->block_bytes);
    } else {
        *from_store = true;
    }
    return n;
}

bool payload_read(Payload *p, PayloadRead *rd)
{
    uint32_t store_blocks = 0; /* that end at i and have not been asked for */
    uint32_t i = 0;

    rd->in_flight = 1;
    rd->ret = 0;
    while (i < rd->nblocks) {
        uint32_t in_unit = p->unit_blocks - (rd->lba + i) % p->unit_blocks;
        bool from_store;
        uint32_t n =
            read_piece(p, rd, i, MIN(in_unit, rd->nblocks - i), &from_store);

        if (!from_store && store_blocks) {
            payload_read_from_store(p, rd, i - store_blocks, store_blocks);
            store_blocks = 0;
        } else if (from_store) {
            store_blocks += n;
        }
        i += n;
    }
    if (store_blocks) {
        payload_read_from_store(p, rd, i - store_blocks, store_blocks);
    }
    if (--rd->in_flight == 0) {
        return true;
    }
    payload_read_waits(p, rd);
    return false;
}

/* ---- life --------------------------------------------------------------- */

void payload_power_cut(Payload *p)
{
    while (p->trims_done) {
        payload_sweep(p);
    }
    for (size_t i = 0; i < (size_t)1 << p->hash_bits; i++) {
        PayloadEntry *chain;

        for (PayloadEntry *e = p->hash[i]; e; e = chain) {
            PayloadEntry *older;

            chain = e->hnext;
            for (; e; e = older) {
                older = e->older;
                if (e->state == ENTRY_DIRTY) {
                    payload_entry_drop(p, e);
                }
            }
        }
    }
}

Payload *payload_new(const NvmeStore *store, void *store_opaque,
                     const PayloadClient *client, void *client_opaque)
{
    Payload *p = g_new0(Payload, 1);

    p->store = store;
    p->store_opaque = store_opaque;
    p->client = client;
    p->client_opaque = client_opaque;
    p->hash_bits = 10;
    p->hash = g_new0(PayloadEntry *, (size_t)1 << p->hash_bits);
    p->slabs = g_array_new(FALSE, FALSE, sizeof(Slab));
    p->zeroes = g_sequence_new(NULL);
    p->store_dirty = true; /* an earlier process may have left things so */
    return p;
}

void payload_attach(Payload *p, const Ssd *ssd, uint64_t nblocks)
{
    const SsdInfo *info = ssd_info(ssd);

    p->ssd = ssd;
    p->last_version = ssd_last_version(ssd);
    p->nblocks = nblocks;
    p->block_bytes = info->block_bytes;
    p->unit_bytes = info->unit_bytes;
    p->unit_blocks = info->unit_bytes / info->block_bytes;
    g_assert(p->unit_blocks <= MASK_WORDS * 64);
}

void payload_free(Payload *p)
{
    g_assert(p->in_flight == 0);
    payload_free_jobs(p);
    payload_zeroes_free(p);
    for (unsigned i = 0; i < p->slabs->len; i++) {
        Slab *slab = &g_array_index(p->slabs, Slab, i);

        lazy_free(slab->data, SLAB_ENTRIES, p->unit_bytes);
        g_free(slab->entries);
    }
    g_array_free(p->slabs, TRUE);
    for (unsigned c = 0; c < BUF_CLASSES; c++) {
        size_t size = (size_t)1 << (BUF_MIN_BITS + c);
        void *buf;

        while ((buf = p->free_bufs[c])) {
            memcpy(&p->free_bufs[c], buf, sizeof(void *));
            lazy_free(buf, 1, size);
        }
    }
    g_free(p->hash);
    g_free(p);
}

void payload_get_stats(const Payload *p, PayloadStats *stats)
{
    *stats = p->stats;
    stats->zero_ranges = p->nzeroes;
    stats->backlog_bytes = payload_backlog_bytes(p);
    stats->backlog_peak_bytes =
        MAX(stats->backlog_peak_bytes, stats->backlog_bytes);
}
