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
 *   TRIM     no data: a TRIM that the drive is working on
 *
 * What is to reach the store (READY and WRITING entries, zeroed ranges) stands
 * in one queue in the order in which it became durable; a barrier is done when
 * nothing older than itself is left in it and the store has flushed.
 *
 * Two requests that overlap never meet in the store: an entry waits for an
 * older entry of its unit, for zeroed ranges and for reads; a zeroed range
 * waits for all.  A read never waits, because what is being written is in the
 * overlay, and a range being zeroed is known to be zero.
 *
 * Knows nothing of commands, guest memory or NVMe.
 */
#include "payload.h"

#include <errno.h>
#include <string.h>

#include "lazymem.h"

#define SLAB_ENTRIES 64
#define MASK_WORDS 8 /* 256 KiB units of 512-byte blocks */
#define MAX_WRITES_IN_FLIGHT 64
#define MAX_ZEROES_IN_FLIGHT 16
#define MAX_BACKLOG_BYTES (64ULL << 20)
#define MAX_PENDING_ZEROES 4096
#define MAX_GROUP_BYTES (256U << 10)

/* Transfer buffers: powers of two from 4 KiB to 8 MiB. */
#define BUF_MIN_BITS 12
#define BUF_CLASSES 12
#define BUF_KEEP_BYTES (4U << 20)

typedef enum EntryState {
    ENTRY_DIRTY,
    ENTRY_READY,
    ENTRY_STALLED,
    ENTRY_WRITING,
    ENTRY_FAILED,
    ENTRY_TRIM,
} EntryState;

/* A place in the queue of what is to reach the store. */
typedef struct Due {
    GList link;
    uint64_t seq;
} Due;

struct PayloadEntry {
    PayloadEntry *hnext; /* of the newest entry of a chain: the next chain */
    PayloadEntry *newer;
    PayloadEntry *older;
    PayloadEntry *next; /* in a list before commit, in a group, free */
    uint64_t lpn;
    uint64_t version; /* TRIM: id */
    uint8_t *data;    /* a whole unit */
    uint8_t state;
    bool dead;         /* WRITING, and trimmed meanwhile */
    bool absorbed;     /* holds blocks of older entries */
    bool write_failed; /* WRITING: a part of it was refused */
    uint16_t first;    /* before commit: the blocks that the WRITE covers */
    uint16_t count;
    uint16_t nvalid;
    uint16_t writes; /* requests at the store */
    uint64_t valid[MASK_WORDS];
    GList turn; /* in ready, stalled or failed */
    Due due;
};

typedef struct ZeroRange {
    uint64_t lpn;
    uint64_t nunits;
    bool started;
    GList link; /* in zeroes */
    Due due;
} ZeroRange;

typedef struct Job {
    NvmeStoreReq req; /* first: the store hands it back */
    GList link;       /* in reads or writes, or free */
    uint64_t first_lpn;
    uint64_t last_lpn;
    union {
        PayloadRead *rd;
        PayloadEntry *group;
        ZeroRange *zero;
    };
    bool copied; /* WRITE: req.buf is a transfer buffer */
} Job;

typedef struct Slab {
    PayloadEntry *entries;
    uint8_t *data;
} Slab;

struct Payload {
    const NvmeStore *store;
    void *store_opaque;
    const PayloadClient *client;
    void *client_opaque;

    const Ssd *ssd;
    uint64_t nblocks;
    uint32_t block_bytes;
    uint32_t unit_bytes;
    uint32_t unit_blocks;

    PayloadEntry **hash;
    unsigned hash_bits;
    size_t nchains;
    PayloadEntry *free_entries;
    GArray *slabs;
    void *free_bufs[BUF_CLASSES];
    unsigned nfree_bufs[BUF_CLASSES];
    GQueue free_jobs;

    GQueue ready;
    GQueue stalled;
    GQueue failed;
    GQueue zeroes;
    GQueue due;
    uint64_t next_seq;
    uint64_t next_trim_id;

    GQueue reads;  /* Jobs at the store */
    GQueue writes; /* WRITE and ZERO */
    unsigned nwrites;
    unsigned nzeroes;
    unsigned in_flight;

    GQueue barriers;   /* wait for what is due */
    GQueue flush_next; /* wait for the next FLUSH */
    GQueue flushing;   /* wait for the one at the store */
    GQueue flushed;    /* done, to be told */
    bool flush_in_flight;
    bool store_dirty; /* something was written since the last FLUSH began */
    bool zero_lost;   /* a ZERO failed since the last barrier was told */

    PayloadStats stats;
};

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

static PayloadEntry *entry_alloc(Payload *p, uint64_t lpn)
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
    e->write_failed = false;
    e->nvalid = 0;
    e->writes = 0;
    memset(e->valid, 0, sizeof(e->valid));
    return e;
}

static void entry_free(Payload *p, PayloadEntry *e)
{
    e->next = p->free_entries;
    p->free_entries = e;
}

static Job *job_new(Payload *p, NvmeStoreOp op, uint64_t offset, uint64_t bytes)
{
    GList *link = g_queue_pop_head_link(&p->free_jobs);
    Job *job = link ? link->data : g_new0(Job, 1);

    job->link.data = job;
    job->req = (NvmeStoreReq){ .op = op, .offset = offset, .bytes = bytes };
    job->copied = false;
    return job;
}

static void job_free(Payload *p, Job *job)
{
    g_queue_push_head_link(&p->free_jobs, &job->link);
}

/* ---- chains ------------------------------------------------------------- */

static uint32_t blocks_of_unit(const Payload *p, uint64_t lpn)
{
    return MIN(p->unit_blocks, p->nblocks - lpn * p->unit_blocks);
}

static bool entry_full(const Payload *p, const PayloadEntry *e)
{
    return e->nvalid == blocks_of_unit(p, e->lpn);
}

static bool entry_has(const PayloadEntry *e, unsigned block)
{
    return e->valid[block / 64] >> (block % 64) & 1;
}

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

static PayloadEntry *chain_newest(const Payload *p, uint64_t lpn)
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
}

static void chain_push(Payload *p, PayloadEntry *e)
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

static void chain_remove(Payload *p, PayloadEntry *e)
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

static void due_push(Payload *p, Due *d)
{
    d->seq = ++p->next_seq;
    g_queue_push_tail_link(&p->due, &d->link);
}

/* d takes over the place of from, which leaves. */
static void due_inherit(Payload *p, Due *d, Due *from)
{
    if (from->seq < d->seq) {
        g_queue_unlink(&p->due, &d->link);
        g_queue_insert_before_link(&p->due, &from->link, &d->link);
        d->seq = from->seq;
    }
    g_queue_unlink(&p->due, &from->link);
}

/* Leave ready, stalled or failed. */
static void turn_leave(Payload *p, PayloadEntry *e)
{
    if (e->state == ENTRY_FAILED) {
        g_queue_unlink(&p->failed, &e->turn);
        p->stats.units_failed--;
    } else {
        g_queue_unlink(e->state == ENTRY_READY ? &p->ready : &p->stalled,
                       &e->turn);
    }
}

static bool entry_waits(const PayloadEntry *e)
{
    return e->state == ENTRY_READY || e->state == ENTRY_STALLED;
}

/* Remove an entry that is not at the store, whatever its state. */
static void entry_drop(Payload *p, PayloadEntry *e)
{
    if (entry_waits(e)) {
        g_queue_unlink(&p->due, &e->due.link);
    }
    if (entry_waits(e) || e->state == ENTRY_FAILED) {
        turn_leave(p, e);
    }
    chain_remove(p, e);
    entry_free(p, e);
}

/* Copy the blocks that only the older entry has. */
static void merge(Payload *p, const PayloadEntry *from, PayloadEntry *to)
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

/* A durable entry takes over what older entries of its unit still hold. */
static void absorb_older(Payload *p, PayloadEntry *e)
{
    PayloadEntry *older;

    for (PayloadEntry *o = e->older; o; o = older) {
        older = o->older;
        if (o->state == ENTRY_TRIM || o->state == ENTRY_WRITING) {
            return;
        }
        merge(p, o, e);
        if (entry_waits(o)) {
            due_inherit(p, &e->due, &o->due);
            turn_leave(p, o);
            chain_remove(p, o);
            entry_free(p, o);
        } else {
            entry_drop(p, o);
        }
    }
}

static PayloadEntry *chain_find(const Payload *p, uint64_t lpn,
                                uint64_t version)
{
    PayloadEntry *e = chain_newest(p, lpn);

    while (e && (e->state == ENTRY_TRIM || e->version != version)) {
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
    due_push(p, &e->due);
    absorb_older(p, e);
}

void payload_superseded(Payload *p, uint64_t lpn, uint64_t version)
{
    PayloadEntry *e = chain_find(p, lpn, version);

    if (!e || e->state != ENTRY_DIRTY) {
        return;
    }
    if (e->newer && e->newer->state == ENTRY_DIRTY) {
        merge(p, e, e->newer);
    }
    entry_drop(p, e);
}

/* ---- writes ------------------------------------------------------------- */

PayloadEntry *payload_write_new(Payload *p, uint64_t lba, uint32_t nblocks)
{
    PayloadEntry *list = NULL;
    PayloadEntry **tail = &list;

    while (nblocks) {
        PayloadEntry *e = entry_alloc(p, lba / p->unit_blocks);

        e->first = lba % p->unit_blocks;
        e->count = MIN(nblocks, p->unit_blocks - e->first);
        entry_set(e, e->first, e->count);
        lba += e->count;
        nblocks -= e->count;
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

        entry_free(p, list);
        list = next;
    }
}

/* A write to a part of a unit that is not mapped: the rest reads as zeroes,
 * whatever the store may hold there. */
static void fill_with_zeroes(Payload *p, PayloadEntry *e)
{
    uint32_t nblocks = blocks_of_unit(p, e->lpn);
    size_t end = (size_t)(e->first + e->count) * p->block_bytes;

    memset(e->data, 0, (size_t)e->first * p->block_bytes);
    memset(e->data + end, 0, (size_t)nblocks * p->block_bytes - end);
    entry_set(e, 0, nblocks);
}

void payload_write_commit(Payload *p, PayloadEntry *list, uint64_t version)
{
    while (list) {
        PayloadEntry *e = list;

        list = e->next;
        e->next = NULL;
        e->version = version;
        if (!entry_full(p, e) && !chain_newest(p, e->lpn) &&
            !ssd_mapped(p->ssd, e->lpn * p->unit_blocks, NULL)) {
            fill_with_zeroes(p, e);
        }
        chain_push(p, e);
    }
}

void payload_write_failed(Payload *p, uint64_t lba, uint32_t nblocks,
                          uint64_t version)
{
    uint64_t last = (lba + nblocks - 1) / p->unit_blocks;

    for (uint64_t lpn = lba / p->unit_blocks; lpn <= last; lpn++) {
        PayloadEntry *e = chain_find(p, lpn, version);

        /* Blocks of others that it took over must not go with it. */
        if (e && e->state == ENTRY_DIRTY && !e->absorbed) {
            entry_drop(p, e);
        }
    }
}

/* ---- trim --------------------------------------------------------------- */

/* Call fn for the newest entry of each chain of the range.  fn may remove
 * entries of that chain only. */
static void for_each_chain(Payload *p, uint64_t lpn, uint64_t nunits,
                           void (*fn)(Payload *p, PayloadEntry *e,
                                      uint64_t id),
                           uint64_t id)
{
    if (nunits <= p->nchains) {
        for (uint64_t i = 0; i < nunits; i++) {
            PayloadEntry *e = chain_newest(p, lpn + i);

            if (e) {
                fn(p, e, id);
            }
        }
        return;
    }
    for (size_t i = 0; i < (size_t)1 << p->hash_bits; i++) {
        PayloadEntry *next;

        for (PayloadEntry *e = p->hash[i]; e; e = next) {
            next = e->hnext;
            if (e->lpn - lpn < nunits) {
                fn(p, e, id);
            }
        }
    }
}

static void trim_mark(Payload *p, PayloadEntry *newest, uint64_t id)
{
    PayloadEntry *e = entry_alloc(p, newest->lpn);
    PayloadEntry **slot = chain_slot(p, e->lpn);

    /* Not chain_push(): a hash that grows would upset for_each_chain(). */
    e->state = ENTRY_TRIM;
    e->version = id;
    e->older = newest;
    e->hnext = newest->hnext;
    newest->newer = e;
    *slot = e;
    p->stats.units++;
}

static PayloadEntry *find_mark(PayloadEntry *e, uint64_t id)
{
    while (e && (e->state != ENTRY_TRIM || e->version != id)) {
        e = e->older;
    }
    return e;
}

/* The drive has done the TRIM: what is older is of no use. */
static void trim_apply(Payload *p, PayloadEntry *newest, uint64_t id)
{
    PayloadEntry *mark = find_mark(newest, id);
    PayloadEntry *older;

    if (!mark) {
        return;
    }
    for (PayloadEntry *o = mark->older; o; o = older) {
        older = o->older;
        if (o->state == ENTRY_WRITING) {
            o->dead = true;
        } else if (o->state != ENTRY_TRIM) {
            entry_drop(p, o);
        }
    }
    entry_drop(p, mark);
}

static void trim_forget(Payload *p, PayloadEntry *newest, uint64_t id)
{
    PayloadEntry *mark = find_mark(newest, id);

    if (mark) {
        entry_drop(p, mark);
    }
}

uint64_t payload_trim_begin(Payload *p, uint64_t lba, uint64_t nblocks)
{
    uint64_t id = ++p->next_trim_id;

    for_each_chain(p, lba / p->unit_blocks, nblocks / p->unit_blocks,
                   trim_mark, id);
    return id;
}

static void zero_range_add(Payload *p, uint64_t lpn, uint64_t nunits)
{
    ZeroRange *z = p->zeroes.tail ? p->zeroes.tail->data : NULL;

    if (z && !z->started && z->lpn + z->nunits == lpn) {
        z->nunits += nunits;
        g_queue_unlink(&p->due, &z->due.link);
    } else {
        z = g_new0(ZeroRange, 1);
        z->lpn = lpn;
        z->nunits = nunits;
        z->link.data = z;
        z->due.link.data = &z->due;
        g_queue_push_tail_link(&p->zeroes, &z->link);
    }
    due_push(p, &z->due);
}

void payload_trim_end(Payload *p, uint64_t lba, uint64_t nblocks, uint64_t id,
                      bool ok)
{
    uint64_t lpn = lba / p->unit_blocks;
    uint64_t nunits = nblocks / p->unit_blocks;

    for_each_chain(p, lpn, nunits, ok ? trim_apply : trim_forget, id);
    if (ok) {
        zero_range_add(p, lpn, nunits);
    }
}

static bool zeroes_cover(const Payload *p, uint64_t first, uint64_t last)
{
    for (GList *l = p->zeroes.head; l; l = l->next) {
        const ZeroRange *z = l->data;

        if (z->lpn <= last && first < z->lpn + z->nunits) {
            return true;
        }
    }
    return false;
}

/* ---- the store ---------------------------------------------------------- */

static bool jobs_overlap(const GQueue *q, uint64_t first, uint64_t last)
{
    for (GList *l = q->head; l; l = l->next) {
        const Job *job = l->data;

        if (job->first_lpn <= last && first <= job->last_lpn) {
            return true;
        }
    }
    return false;
}

/* What waited for a request that has ended may go now. */
static void unstall(Payload *p)
{
    GList *l;

    while ((l = g_queue_pop_head_link(&p->stalled))) {
        PayloadEntry *e = l->data;

        e->state = ENTRY_READY;
        g_queue_push_tail_link(&p->ready, l);
    }
}

static void entry_written(Payload *p, PayloadEntry *e)
{
    PayloadEntry *n;

    if (e->dead || !e->write_failed) {
        g_queue_unlink(&p->due, &e->due.link);
        p->stats.destaged_units += !e->write_failed;
        chain_remove(p, e);
        entry_free(p, e);
        return;
    }
    e->write_failed = false;
    for (n = e->newer; n && !entry_waits(n); n = n->newer) {
        if (n->state == ENTRY_TRIM) {
            n = NULL;
            break;
        }
    }
    if (n) { /* it goes to the store next, and takes this one's place */
        merge(p, e, n);
        due_inherit(p, &n->due, &e->due);
        chain_remove(p, e);
        entry_free(p, e);
        return;
    }
    g_queue_unlink(&p->due, &e->due.link);
    e->state = ENTRY_FAILED;
    p->stats.units_failed++;
    g_queue_push_tail_link(&p->failed, &e->turn);
}

static void write_ended(Payload *p, Job *job, int ret)
{
    PayloadEntry *next;

    p->store_dirty = true;
    p->nwrites--;
    g_queue_unlink(&p->writes, &job->link);
    if (job->copied) {
        payload_buf_put(p, job->req.buf, job->req.bytes);
    }
    for (PayloadEntry *e = job->group; e; e = next) {
        next = e->next;
        e->write_failed |= ret != 0;
        if (--e->writes == 0) {
            entry_written(p, e);
        }
    }
    unstall(p);
}

static void zero_ended(Payload *p, Job *job, int ret)
{
    ZeroRange *z = job->zero;

    p->store_dirty = true;
    p->zero_lost |= ret != 0;
    p->nzeroes--;
    g_queue_unlink(&p->writes, &job->link);
    g_queue_unlink(&p->zeroes, &z->link);
    g_queue_unlink(&p->due, &z->due.link);
    g_free(z);
    unstall(p);
}

static void flush_ended(Payload *p, int ret)
{
    GList *l;

    p->flush_in_flight = false;
    p->store_dirty |= ret != 0;
    while ((l = g_queue_pop_head_link(&p->flushing))) {
        PayloadBarrier *b = l->data;

        b->ret = ret;
        g_queue_push_tail_link(&p->flushed, l);
    }
}

/* true: the read is done as a whole. */
static bool read_ended(Payload *p, Job *job, int ret)
{
    PayloadRead *rd = job->rd;

    g_queue_unlink(&p->reads, &job->link);
    if (ret) {
        rd->ret = -EIO;
    }
    unstall(p);
    return --rd->in_flight == 0;
}

static void job_ended(Payload *p, Job *job, int ret, bool tell)
{
    p->stats.store_errors += ret != 0;
    switch (job->req.op) {
    case NVME_STORE_READ:
        if (read_ended(p, job, ret) && tell) {
            p->client->read_done(p->client_opaque, job->rd);
        }
        break;
    case NVME_STORE_WRITE:
        write_ended(p, job, ret);
        break;
    case NVME_STORE_ZERO:
        zero_ended(p, job, ret);
        break;
    case NVME_STORE_FLUSH:
        flush_ended(p, ret);
        break;
    }
    job_free(p, job);
}

static void job_start(Payload *p, Job *job)
{
    int ret = p->store->submit(p->store_opaque, &job->req);

    if (ret == -EINPROGRESS) {
        p->in_flight++;
    } else {
        job_ended(p, job, ret, false);
    }
}

void payload_store_done(Payload *p, NvmeStoreReq *req, int ret)
{
    g_assert(p->in_flight > 0);
    p->in_flight--;
    job_ended(p, (Job *)req, ret, true);
}

unsigned payload_store_in_flight(const Payload *p)
{
    return p->in_flight;
}

/* ---- reads -------------------------------------------------------------- */

static void read_from_store(Payload *p, PayloadRead *rd, uint32_t first,
                            uint32_t count)
{
    uint64_t lba = rd->lba + first;
    Job *job = job_new(p, NVME_STORE_READ, lba * p->block_bytes,
                       (uint64_t)count * p->block_bytes);

    job->req.buf = rd->buf + (size_t)first * p->block_bytes;
    job->rd = rd;
    job->first_lpn = lba / p->unit_blocks;
    job->last_lpn = (lba + count - 1) / p->unit_blocks;
    p->stats.store_reads++;
    rd->in_flight++;
    g_queue_push_tail_link(&p->reads, &job->link);
    job_start(p, job);
}

/* The entry that has the block, as reads see it; *zero: it reads as zeroes. */
static const PayloadEntry *find_block(const PayloadEntry *e, unsigned block,
                                      bool *zero)
{
    for (; e; e = e->older) {
        if (e->state == ENTRY_TRIM) {
            *zero = true;
            return NULL;
        }
        if (!e->dead && entry_has(e, block)) {
            return e;
        }
    }
    return NULL;
}

/* Blocks [i, i+count) of the read lie in one unit.  Returns how many at the
 * start of them have one source, and says whether that is the store. */
static uint32_t read_piece(Payload *p, PayloadRead *rd, uint32_t i,
                           uint32_t count, bool *from_store)
{
    uint64_t lpn = (rd->lba + i) / p->unit_blocks;
    unsigned block = (rd->lba + i) % p->unit_blocks;
    uint8_t *to = rd->buf + (size_t)i * p->block_bytes;
    PayloadEntry *newest = chain_newest(p, lpn);
    bool zero = false;
    const PayloadEntry *e = NULL;
    uint32_t n = count;

    *from_store = false;
    if (newest) {
        e = find_block(newest, block, &zero);
        for (n = 1; n < count; n++) {
            bool zero_too = false;

            if (find_block(newest, block + n, &zero_too) != e ||
                zero_too != zero) {
                break;
            }
        }
    }
    if (e) {
        memcpy(to, e->data + (size_t)block * p->block_bytes,
               (size_t)n * p->block_bytes);
    } else if (zero || zeroes_cover(p, lpn, lpn) ||
               !ssd_mapped(p->ssd, rd->lba + i, NULL)) {
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
        uint32_t n = read_piece(p, rd, i, MIN(in_unit, rd->nblocks - i),
                                &from_store);

        if (!from_store && store_blocks) {
            read_from_store(p, rd, i - store_blocks, store_blocks);
            store_blocks = 0;
        } else if (from_store) {
            store_blocks += n;
        }
        i += n;
    }
    if (store_blocks) {
        read_from_store(p, rd, i - store_blocks, store_blocks);
    }
    return --rd->in_flight == 0;
}

/* ---- from the overlay to the store -------------------------------------- */

static bool entry_blocked(const Payload *p, const PayloadEntry *e)
{
    for (const PayloadEntry *o = e->older; o; o = o->older) {
        if (o->state == ENTRY_WRITING) {
            return true;
        }
    }
    return (p->zeroes.head && zeroes_cover(p, e->lpn, e->lpn)) ||
           (p->reads.head && jobs_overlap(&p->reads, e->lpn, e->lpn));
}

static void stall(Payload *p, PayloadEntry *e)
{
    g_queue_unlink(&p->ready, &e->turn);
    e->state = ENTRY_STALLED;
    g_queue_push_tail_link(&p->stalled, &e->turn);
}

static void entry_leave_ready(Payload *p, PayloadEntry *e)
{
    g_queue_unlink(&p->ready, &e->turn);
    e->state = ENTRY_WRITING;
    e->next = NULL;
}

static void start_write(Payload *p, PayloadEntry *group, uint64_t offset,
                        uint64_t bytes, uint8_t *buf, bool copied)
{
    Job *job = job_new(p, NVME_STORE_WRITE, offset, bytes);

    job->req.buf = buf;
    job->group = group;
    job->copied = copied;
    job->first_lpn = group->lpn;
    job->last_lpn = (offset + bytes - 1) / p->unit_bytes;
    p->stats.store_writes++;
    p->nwrites++;
    g_queue_push_tail_link(&p->writes, &job->link);
    job_start(p, job);
}

/* Some blocks of the unit are in the store already: write the runs that are
 * not. */
static void start_partial(Payload *p, PayloadEntry *e)
{
    uint64_t unit_offset = e->lpn * p->unit_bytes;
    unsigned b = 0;

    entry_leave_ready(p, e);
    e->writes = 1; /* keeps it while its runs are started */
    while (b < p->unit_blocks) {
        unsigned first = b;

        while (b < p->unit_blocks && entry_has(e, b)) {
            b++;
        }
        if (b > first) {
            e->writes++;
            start_write(p, e, unit_offset + (uint64_t)first * p->block_bytes,
                        (uint64_t)(b - first) * p->block_bytes,
                        e->data + (size_t)first * p->block_bytes, false);
        } else {
            b++;
        }
    }
    if (--e->writes == 0) {
        entry_written(p, e);
    }
}

static bool may_join(const Payload *p, const PayloadEntry *last,
                     const PayloadEntry *e)
{
    return e->lpn == last->lpn + 1 &&
           last->nvalid == p->unit_blocks && entry_full(p, e) &&
           !entry_blocked(p, e);
}

/* Whole units that follow each other go in one request. */
static void start_group(Payload *p, PayloadEntry *head)
{
    PayloadEntry *last = head;
    uint64_t bytes = (uint64_t)head->nvalid * p->block_bytes;
    unsigned n = 1;
    uint8_t *buf;

    entry_leave_ready(p, head);
    head->writes = 1;
    while (p->ready.head && bytes + p->unit_bytes <= MAX_GROUP_BYTES &&
           may_join(p, last, p->ready.head->data)) {
        last->next = p->ready.head->data;
        last = last->next;
        entry_leave_ready(p, last);
        last->writes = 1;
        bytes += (uint64_t)last->nvalid * p->block_bytes;
        n++;
    }
    if (n == 1) {
        start_write(p, head, head->lpn * p->unit_bytes, bytes, head->data,
                    false);
        return;
    }
    buf = payload_buf_get(p, bytes);
    n = 0;
    for (PayloadEntry *e = head; e; e = e->next) {
        memcpy(buf + (size_t)n++ * p->unit_bytes, e->data,
               (size_t)e->nvalid * p->block_bytes);
    }
    start_write(p, head, head->lpn * p->unit_bytes, bytes, buf, true);
}

static void start_writes(Payload *p)
{
    while (p->ready.head && p->nwrites < MAX_WRITES_IN_FLIGHT) {
        PayloadEntry *e = p->ready.head->data;

        if (entry_blocked(p, e)) {
            stall(p, e);
        } else if (entry_full(p, e)) {
            start_group(p, e);
        } else {
            start_partial(p, e);
        }
    }
}

static void start_zeroes(Payload *p)
{
    GList *next;

    for (GList *l = p->zeroes.head; l && p->nzeroes < MAX_ZEROES_IN_FLIGHT;
         l = next) {
        ZeroRange *z = l->data;
        uint64_t last = z->lpn + z->nunits - 1;
        Job *job;

        next = l->next;
        if (z->started || jobs_overlap(&p->reads, z->lpn, last) ||
            jobs_overlap(&p->writes, z->lpn, last)) {
            continue;
        }
        z->started = true;
        job = job_new(p, NVME_STORE_ZERO, z->lpn * p->unit_bytes,
                      z->nunits * p->unit_bytes);
        job->zero = z;
        job->first_lpn = z->lpn;
        job->last_lpn = last;
        p->stats.store_zeroes++;
        p->nzeroes++;
        g_queue_push_tail_link(&p->writes, &job->link);
        job_start(p, job);
    }
}

/* ---- barriers ----------------------------------------------------------- */

void payload_barrier(Payload *p, PayloadBarrier *b)
{
    GList *l;

    while ((l = p->failed.head)) { /* another chance */
        PayloadEntry *e = l->data;

        turn_leave(p, e);
        e->state = ENTRY_READY;
        g_queue_push_tail_link(&p->ready, &e->turn);
        due_push(p, &e->due);
    }
    b->link.data = b;
    b->seq = p->next_seq;
    b->ret = 0;
    g_queue_push_tail_link(&p->barriers, &b->link);
}

static uint64_t oldest_due(const Payload *p)
{
    const Due *d = p->due.head ? p->due.head->data : NULL;

    return d ? d->seq : UINT64_MAX;
}

/* Everything before the barrier is written: is there anything to flush? */
static void barrier_reached(Payload *p, PayloadBarrier *b)
{
    if (p->store_dirty) {
        g_queue_push_tail_link(&p->flush_next, &b->link);
    } else if (p->flush_in_flight) {
        g_queue_push_tail_link(&p->flushing, &b->link);
    } else {
        g_queue_push_tail_link(&p->flushed, &b->link);
    }
}

static void start_flush(Payload *p)
{
    if (p->flush_in_flight || !p->flush_next.head) {
        return;
    }
    p->flushing = p->flush_next;
    g_queue_init(&p->flush_next);
    p->flush_in_flight = true;
    p->store_dirty = false;
    p->stats.store_flushes++;
    job_start(p, job_new(p, NVME_STORE_FLUSH, 0, 0));
}

static void tell_barriers(Payload *p)
{
    GList *l;

    while ((l = g_queue_pop_head_link(&p->flushed))) {
        PayloadBarrier *b = l->data;
        bool bad = b->ret || p->stats.units_failed || p->zero_lost;

        p->zero_lost = false;
        p->client->barrier_done(p->client_opaque, b, bad ? -EIO : 0);
    }
}

static void run_barriers(Payload *p)
{
    while (p->barriers.head) {
        PayloadBarrier *b = p->barriers.head->data;

        if (b->seq >= oldest_due(p)) {
            break;
        }
        g_queue_unlink(&p->barriers, &b->link);
        barrier_reached(p, b);
    }
    start_flush(p);
    tell_barriers(p);
}

void payload_kick(Payload *p)
{
    if (p->zeroes.head) {
        start_zeroes(p);
    }
    if (p->ready.head) {
        start_writes(p);
    }
    if (p->barriers.head || p->flush_next.head || p->flushed.head) {
        run_barriers(p);
    }
}

bool payload_congested(const Payload *p)
{
    uint64_t units = (uint64_t)p->ready.length + p->stalled.length;

    return units * p->unit_bytes > MAX_BACKLOG_BYTES ||
           p->zeroes.length > MAX_PENDING_ZEROES;
}

/* ---- life --------------------------------------------------------------- */

void payload_power_cut(Payload *p)
{
    for (size_t i = 0; i < (size_t)1 << p->hash_bits; i++) {
        PayloadEntry *chain;

        for (PayloadEntry *e = p->hash[i]; e; e = chain) {
            PayloadEntry *older;

            chain = e->hnext;
            for (; e; e = older) {
                older = e->older;
                if (e->state == ENTRY_DIRTY || e->state == ENTRY_TRIM) {
                    entry_drop(p, e);
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
    p->store_dirty = true; /* an earlier process may have left things so */
    return p;
}

void payload_attach(Payload *p, const Ssd *ssd, uint64_t nblocks)
{
    const SsdInfo *info = ssd_info(ssd);

    p->ssd = ssd;
    p->nblocks = nblocks;
    p->block_bytes = info->block_bytes;
    p->unit_bytes = info->unit_bytes;
    p->unit_blocks = info->unit_bytes / info->block_bytes;
    g_assert(p->unit_blocks <= MASK_WORDS * 64);
}

void payload_free(Payload *p)
{
    GList *l;

    g_assert(p->in_flight == 0);
    while ((l = g_queue_pop_head_link(&p->free_jobs))) {
        g_free(l->data);
    }
    while ((l = g_queue_pop_head_link(&p->zeroes))) {
        g_free(l->data);
    }
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
}
