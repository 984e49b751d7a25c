/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * destage.c - from the overlay to the store: requests, their order, barriers.
 *
 * Data for the store (READY, STALLED and WRITING entries, ranges that
 * Write Zeroes has zeroed) stands in one queue in the order in which it became
 * durable; a barrier is done when nothing older than itself is left in it and
 * the store has flushed.  Lazy ranges (zeroes.c) are in no queue: the store
 * gets them piece by piece, by payload_housekeep().
 *
 * Two requests that overlap never meet in the store: an entry waits for an
 * older entry of its unit, for a range that is being zeroed, for reads, and for
 * a TRIM that the drive is working on; a range waits for all.  A read never
 * waits, because data that is being written is in the overlay, and a range
 * being zeroed is known to be zero.
 */
#include "payload-internal.h"

#include <errno.h>
#include <string.h>

#define MAX_WRITES_IN_FLIGHT 64
#define MAX_ZEROES_IN_FLIGHT 16
#define MAX_GROUP_BYTES      (256U << 10)
#define MAX_ZERO_BYTES       (64ULL << 20)

/* A lazy request is as large as the store allows, and no more of them are in
 * flight than needed: a host disk that frees space is busy. */
#define MAX_LAZY_BYTES       (1ULL << 30)
#define RANGES_PER_LAZY      256
#define MAX_RANGES_LOOKED_AT 64

/* ---- the store ---------------------------------------------------------- */

static Job *job_new(Payload *p, NvmeStoreOp op, uint64_t offset, uint64_t bytes)
{
    GList *link = g_queue_pop_head_link(&p->free_jobs);
    Job *job = link ? link->data : g_new0(Job, 1);

    job->link.data = job;
    job->req = (NvmeStoreReq){.op = op, .offset = offset, .bytes = bytes};
    job->lazy = false;
    job->meta = false;
    return job;
}

static void job_free(Payload *p, Job *job)
{
    g_queue_push_head_link(&p->free_jobs, &job->link);
}

/* Memory of a READ or WRITE, behind what it has.  Units that were allocated one
 * after the other are often one piece. */
static void job_add(Job *job, uint8_t *at, size_t bytes)
{
    struct iovec *last = job->req.niov ? &job->piece[job->req.niov - 1] : NULL;

    if (last && (uint8_t *)last->iov_base + last->iov_len == at) {
        last->iov_len += bytes;
        return;
    }
    if (job->req.niov == job->room) {
        job->room = MAX(2 * job->room, 4);
        job->piece = g_renew(struct iovec, job->piece, job->room);
    }
    job->piece[job->req.niov++] = (struct iovec){at, bytes};
    job->req.iov = job->piece;
}

void payload_free_jobs(Payload *p)
{
    GList *l;

    while ((l = g_queue_pop_head_link(&p->free_jobs))) {
        Job *job = l->data;

        g_free(job->piece);
        g_free(job);
    }
}

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

/* One that was refused has another chance. */
static void entry_retry(Payload *p, PayloadEntry *e)
{
    payload_turn_leave(p, e);
    e->state = ENTRY_READY;
    g_queue_push_tail_link(&p->ready, &e->turn);
    payload_due_push(p, &e->due);
}

void payload_retry(Payload *p)
{
    while (p->failed.head) {
        entry_retry(p, p->failed.head->data);
    }
    payload_zeroes_retry(p);
}

bool payload_has_failed(const Payload *p)
{
    return p->failed.head || p->failed_zeroes.head;
}

/* Not while a barrier waits: it tried all, and must report failures. */
void payload_probe(Payload *p)
{
    if (p->barriers.head || p->flush_next.head || p->flushing.head) {
        return;
    }
    if (p->failed.head) {
        PayloadEntry *e = p->failed.head->data;

        e->probe = true;
        entry_retry(p, e);
    } else {
        payload_zeroes_retry(p);
    }
}

static void entry_written(Payload *p, PayloadEntry *e)
{
    PayloadEntry *n;

    if (e->probe && !e->write_failed) {
        payload_retry(p);
    }
    e->probe = false;
    if (e->dead || !e->write_failed) {
        g_queue_unlink(&p->due, &e->due.link);
        p->stats.destaged_units += !e->write_failed;
        if ((p->nmarks || e->has_marks) && !e->write_failed) {
            payload_marks_written(p, e);
        }
        payload_chain_remove(p, e);
        payload_entry_free(p, e);
        return;
    }
    e->write_failed = false;
    for (n = e->newer; n && !entry_waits(n); n = n->newer) {
    }
    if (n && !payload_trim_between(p, e->lpn, e->version, n->version)) {
        /* It goes to the store next, and takes this one's place. */
        payload_merge(p, e, n);
        payload_due_inherit(p, &n->due, &e->due);
        payload_chain_remove(p, e);
        payload_entry_free(p, e);
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
    for (PayloadEntry *e = job->group; e; e = next) {
        next = e->next;
        e->write_failed |= ret != 0;
        if (--e->writes == 0) {
            entry_written(p, e);
        }
    }
    payload_unstall(p);
}

static void zero_ended(Payload *p, Job *job, int ret)
{
    ZeroRange *z = job->zero;

    p->store_dirty = true;
    p->nzeroing--;
    p->nlazy -= job->lazy;
    g_queue_unlink(&p->writes, &job->link);
    if (!ret) {
        payload_marks_zeroed(p, z->lpn, job->req.bytes / p->unit_bytes);
    }
    payload_zeroes_ended(p, z, job->req.bytes / p->unit_bytes, ret);
    payload_unstall(p);
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
    payload_unstall(p);
    return --rd->in_flight == 0;
}

static void job_start(Payload *p, Job *job);

static uint64_t first_block(const Payload *p, uint64_t lpn)
{
    return lpn * p->unit_blocks;
}

/* The metadata comes first: it is never that of blocks that are zeroes. */
static void zero_goes_on(Payload *p, Job *job)
{
    const ZeroRange *z = job->zero;
    uint64_t at = job->req.offset + job->req.bytes;
    uint64_t end =
        p->meta_base + meta_of(p, first_block(p, z->lpn + z->nunits));

    job->req.offset = at;
    job->req.bytes = end - at;
    if (at == end) {
        job->meta = false;
        job->req.lazy = job->lazy;
        job->req.offset = z->lpn * p->unit_bytes;
        job->req.bytes = z->nunits * p->unit_bytes;
    }
    job_start(p, job);
}

static void job_ended(Payload *p, Job *job, int ret, bool tell)
{
    p->stats.store_errors += ret != 0;
    if (job->meta && !ret) {
        zero_goes_on(p, job);
        return;
    }
    switch (job->req.op) {
    case NVME_STORE_READ:
        if (read_ended(p, job, ret) && tell) {
            payload_read_ends(p, job->rd);
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

static void start_read(Payload *p, Job *job)
{
    p->stats.store_reads++;
    job->rd->in_flight++;
    g_queue_push_tail_link(&p->reads, &job->link);
    job_start(p, job);
}

/* No write comes between this and the read of the blocks: it waits for both. */
static void read_meta_from_store(Payload *p, PayloadRead *rd, uint32_t first,
                                 uint32_t count)
{
    uint64_t lba = rd->lba + first;
    Job *job = job_new(p, NVME_STORE_READ, p->meta_base + meta_of(p, lba),
                       meta_of(p, count));

    job_add(job, rd->meta + meta_of(p, first), (size_t)job->req.bytes);
    job->rd = rd;
    job->first_lpn = lba / p->unit_blocks;
    job->last_lpn = (lba + count - 1) / p->unit_blocks;
    start_read(p, job);
}

void payload_read_from_store(Payload *p, PayloadRead *rd, uint32_t first,
                             uint32_t count)
{
    uint64_t lba = rd->lba + first;
    Job *job = job_new(p, NVME_STORE_READ, lba * p->block_bytes,
                       (uint64_t)count * p->block_bytes);

    job_add(job, rd->buf + (size_t)first * p->block_bytes,
            (size_t)job->req.bytes);
    job->rd = rd;
    job->first_lpn = lba / p->unit_blocks;
    job->last_lpn = (lba + count - 1) / p->unit_blocks;
    start_read(p, job);
    if (rd->meta) {
        read_meta_from_store(p, rd, first, count);
    }
}

/* ---- from the overlay to the store -------------------------------------- */

/* Nothing that overlaps is at the store, or must get there first. */
static bool entry_may_go(Payload *p, PayloadEntry *e)
{
    for (const PayloadEntry *o = e->older; o; o = o->older) {
        if (o->state == ENTRY_WRITING || entry_waits(o)) {
            return false;
        }
    }
    return !payload_trim_between(p, e->lpn, 0, e->version) &&
           !(p->reads.head && jobs_overlap(&p->reads, e->lpn, e->lpn)) &&
           payload_zeroes_give_way(p, e->lpn, !e->dead);
}

/* The first entry whose turn it is, as the TRIMs that are done leave it; NULL:
 * there is none. */
static PayloadEntry *first_ready(Payload *p)
{
    PayloadEntry *e = NULL;

    while (p->ready.head && e != p->ready.head->data) {
        e = p->ready.head->data;
        if (p->trims_done) {
            payload_chain_look(p, e->lpn);
        }
    }
    if (e && p->ready.head && e->older && !e->dead) {
        payload_absorb_older(p, e);
    }
    return p->ready.head ? p->ready.head->data : NULL;
}

static void stall(Payload *p, PayloadEntry *e)
{
    g_queue_unlink(&p->ready, &e->turn);
    e->state = ENTRY_STALLED;
    g_queue_push_tail_link(&p->stalled, &e->turn);
}

static void entry_leave_ready(Payload *p, PayloadEntry *e)
{
    payload_turn_leave(p, e);
    e->state = ENTRY_WRITING;
    e->next = NULL;
}

/* Blocks of entries that follow each other, from block `first` of the first one
 * on; or their metadata. */
static void start_write(Payload *p, PayloadEntry *group, unsigned first,
                        uint64_t nblocks, bool meta)
{
    uint64_t lba = first_block(p, group->lpn) + first;
    Job *job =
        meta ? job_new(p, NVME_STORE_WRITE, p->meta_base + meta_of(p, lba),
                       meta_of(p, nblocks))
             : job_new(p, NVME_STORE_WRITE, lba * p->block_bytes,
                       nblocks * p->block_bytes);

    job->group = group;
    job->first_lpn = group->lpn;
    job->last_lpn = (lba + nblocks - 1) / p->unit_blocks;
    for (PayloadEntry *e = group; nblocks; e = e->next) {
        unsigned n = MIN(nblocks, p->unit_blocks - first);

        if (meta) {
            job_add(job, e->meta + meta_of(p, first), (size_t)meta_of(p, n));
        } else {
            job_add(job, e->data + (size_t)first * p->block_bytes,
                    (size_t)n * p->block_bytes);
        }
        nblocks -= n;
        first = 0;
    }
    p->stats.store_writes++;
    p->nwrites++;
    g_queue_push_tail_link(&p->writes, &job->link);
    job_start(p, job);
}

/* Requests that write a run of blocks; an entry ends with the last of its own.
 */
static unsigned requests_of_run(const Payload *p)
{
    return p->meta_bytes ? 2 : 1;
}

static void start_run(Payload *p, PayloadEntry *group, unsigned first,
                      uint64_t nblocks)
{
    if (p->meta_bytes) {
        start_write(p, group, first, nblocks, true);
    }
    start_write(p, group, first, nblocks, false);
}

/* Some blocks of the unit are in the store already: write the runs that are
 * not. */
static void start_partial(Payload *p, PayloadEntry *e)
{
    unsigned b = 0;

    entry_leave_ready(p, e);
    e->writes = 1; /* keeps it while its runs are started */
    while (b < p->unit_blocks) {
        unsigned first = b;

        while (b < p->unit_blocks && entry_has(e, b)) {
            b++;
        }
        if (b > first) {
            e->writes += requests_of_run(p);
            start_run(p, e, first, b - first);
        } else {
            b++;
        }
    }
    if (--e->writes == 0) {
        entry_written(p, e);
    }
}

static bool may_join(Payload *p, const PayloadEntry *last, PayloadEntry *e)
{
    return e && e->lpn == last->lpn + 1 && entry_full(p, e) &&
           entry_may_go(p, e);
}

/* Whole units that follow each other go in one request. */
static void start_group(Payload *p, PayloadEntry *head)
{
    PayloadEntry *last = head;
    PayloadEntry *e;
    uint64_t bytes = (uint64_t)head->nvalid * p->block_bytes;

    entry_leave_ready(p, head);
    head->writes = requests_of_run(p);
    while (bytes + p->unit_bytes <= MAX_GROUP_BYTES &&
           may_join(p, last, e = first_ready(p))) {
        last->next = e;
        last = e;
        entry_leave_ready(p, last);
        last->writes = requests_of_run(p);
        bytes += (uint64_t)last->nvalid * p->block_bytes;
    }
    start_run(p, head, 0, bytes / p->block_bytes);
}

static void start_writes(Payload *p)
{
    PayloadEntry *e;

    while (p->nwrites < MAX_WRITES_IN_FLIGHT && (e = first_ready(p))) {
        if (!entry_may_go(p, e)) {
            stall(p, e);
        } else if (entry_full(p, e)) {
            start_group(p, e);
        } else {
            start_partial(p, e);
        }
    }
}

/* Trimmed ranges that still have to get there get there first. */
static bool range_may_go(const Payload *p, uint64_t lpn, uint64_t nunits)
{
    return !p->ndead && !jobs_overlap(&p->reads, lpn, lpn + nunits - 1) &&
           !jobs_overlap(&p->writes, lpn, lpn + nunits - 1);
}

static void start_zero(Payload *p, ZeroRange *z, uint64_t most, bool lazy)
{
    Job *job;

    z = payload_zeroes_begin(p, z, most);
    job = job_new(p, NVME_STORE_ZERO, z->lpn * p->unit_bytes,
                  z->nunits * p->unit_bytes);
    job->zero = z;
    job->lazy = lazy;
    job->req.lazy = lazy;
    job->first_lpn = z->lpn;
    job->last_lpn = z->lpn + z->nunits - 1;
    if (p->meta_bytes) {
        job->meta = true;
        job->req.lazy = false;
        job->req.offset = p->meta_base + meta_of(p, first_block(p, z->lpn));
        job->req.bytes = meta_of(p, first_block(p, z->nunits));
    }
    p->stats.store_zeroes++;
    p->nzeroing++;
    p->nlazy += lazy;
    g_queue_push_tail_link(&p->writes, &job->link);
    job_start(p, job);
}

/* Those of Write Zeroes. */
static void start_durable_zeroes(Payload *p)
{
    uint64_t most = MAX_ZERO_BYTES / p->unit_bytes;
    unsigned looked_at = 0;
    GList *next;

    for (GList *l = p->due_zeroes.head;
         l && looked_at < MAX_RANGES_LOOKED_AT &&
         p->nzeroing < MAX_ZEROES_IN_FLIGHT;
         l = next, looked_at++) {
        ZeroRange *z = l->data;

        next = l->next;
        if (!z->started && range_may_go(p, z->lpn, MIN(z->nunits, most))) {
            start_zero(p, z, most, false);
        }
    }
}

void payload_hold(Payload *p, bool on)
{
    p->held = on;
    if (on) {
        payload_end_tears(p);
    }
}

/* Where the last one ended, and around. */
static ZeroRange *next_lazy(const Payload *p)
{
    ZeroRange *z = payload_zeroes_next_lazy(p, p->next_lazy);

    return z ? z : payload_zeroes_next_lazy(p, 0);
}

bool payload_housekeep(Payload *p)
{
    uint64_t most = MAX_LAZY_BYTES / p->unit_bytes;
    unsigned in_flight =
        MIN(1 + p->nzeroes / RANGES_PER_LAZY, MAX_ZEROES_IN_FLIGHT);

    if (!p->nzeroes || p->held ||
        p->failed_zeroes.head) { /* it would fail again */
        return false;
    }
    for (unsigned i = 0; i < in_flight && p->nlazy < in_flight; i++) {
        ZeroRange *z = next_lazy(p);

        if (!z) {
            break;
        }
        p->next_lazy = z->lpn + MIN(z->nunits, most);
        if (range_may_go(p, z->lpn, MIN(z->nunits, most))) {
            start_zero(p, z, most, true);
        }
    }
    return p->nlazy < in_flight && next_lazy(p);
}

/* ---- barriers ----------------------------------------------------------- */

void payload_barrier(Payload *p, PayloadBarrier *b)
{
    payload_end_tears(p);
    payload_retry(p);
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
    if (b->unflushed) {
        g_queue_push_tail_link(&p->flushed, &b->link);
    } else if (p->store_dirty) {
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
        bool bad = b->ret || p->stats.units_failed || p->nlost;

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

/* A store that is done at once may have cleared the way for others. */
static void start_due(Payload *p)
{
    uint64_t started;

    do {
        started = p->stats.store_writes + p->stats.store_zeroes;
        if (p->due_zeroes.head) {
            start_durable_zeroes(p);
        }
        if (p->ready.head) {
            start_writes(p);
        }
    } while (p->stats.store_writes + p->stats.store_zeroes != started);
}

bool payload_pump(Payload *p)
{
    if (p->trims_done) {
        payload_sweep(p);
    }
    start_due(p);
    if (p->barriers.head || p->flush_next.head || p->flushed.head) {
        run_barriers(p);
    }
    return p->trims_done;
}

bool payload_wants_upkeep(const Payload *p)
{
    return p->nzeroes || payload_has_failed(p);
}

bool payload_has_lazy(const Payload *p)
{
    return !p->failed_zeroes.head && (p->nlazy || next_lazy(p));
}
