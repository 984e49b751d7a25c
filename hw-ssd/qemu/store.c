/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.c - payload in a block node.
 *
 * Each request of the controller is one coroutine.  One that never has to wait
 * (null-co, a hole in qcow2) ends inside submit(), in the caller's thread; the
 * others end where the block layer wakes them, take the lock and have the
 * controller run on.  With -icount every request is awaited inside submit().
 * One that the node refuses may stop the machine, as werror= and rerror= say.
 *
 * Knows bytes and offsets; knows nothing of commands or of the drive.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "block/aio-wait.h"
#include "qemu/coroutine.h"
#include "qemu/iov.h"
#include "qemu/lockable.h"
#include "system/block-backend.h"
#include "trace.h"

#include "ssd.h"
#include "vssd.h"

/* Size of a request of lazy zeroes. */
#define FREE_BYTES (16 * MiB)

/* A request that was refused, of a machine that did not stop, is asked for
 * again. */
#define PARKED_MS 1000

static const char *const op_names[] = {
    [NVME_STORE_READ] = "read",
    [NVME_STORE_WRITE] = "write",
    [NVME_STORE_ZERO] = "zero",
    [NVME_STORE_FLUSH] = "flush",
};

/*
 * Free unused space: blocks that already read as zeroes are skipped at once,
 * and of the rest a part is freed that takes a host file system some
 * milliseconds. req->bytes becomes the size of that part.
 */
static int coroutine_fn store_co_free(VssdDev *s, NvmeStoreReq *req,
                                      const NvmePiece *p)
{
    BlockBackend *blk = s->store.blk[p->image];
    int64_t unit = ssd_info(s->ssd)->unit_bytes;
    int64_t n = p->there;
    int ret;

    req->bytes = p->bytes;
    if (!p->there) {
        return 0;
    }
    ret = blk_co_block_status_above(blk, NULL, p->offset, p->there, &n, NULL,
                                    NULL);
    if (ret >= 0 && ret & BDRV_BLOCK_ZERO && n >= MIN(unit, p->there)) {
        req->bytes = n < p->there ? QEMU_ALIGN_DOWN(n, unit) : p->bytes;
        return 0;
    }
    if (ret >= 0 && n > 0) {
        req->bytes = MIN(req->bytes, QEMU_ALIGN_UP(n, unit));
    }
    req->bytes = MIN(req->bytes, MAX(FREE_BYTES, unit));
    return blk_co_pwrite_zeroes(blk, p->offset, MIN(req->bytes, p->there),
                                BDRV_REQ_MAY_UNMAP);
}

/* The part of a request that is in one node; its memory begins `at` bytes
 * behind the beginning of mem. */
static int coroutine_fn store_co_piece(const VssdJob *job, const NvmePiece *p,
                                       QEMUIOVector *mem, size_t at)
{
    switch (job->req->op) {
    case NVME_STORE_READ:
        return blk_co_preadv_part(job->blk, p->offset, p->there, mem, at, 0);
    case NVME_STORE_WRITE:
        return blk_co_pwritev_part(job->blk, p->offset, p->there, mem, at, 0);
    case NVME_STORE_ZERO:
        return blk_co_pwrite_zeroes(job->blk, p->offset, p->there,
                                    BDRV_REQ_MAY_UNMAP);
    default:
        g_assert_not_reached();
    }
}

static int coroutine_fn store_co_flush(VssdJob *job)
{
    VssdDev *s = job->dev;
    int ret = 0;

    for (unsigned i = 0; i < s->store.images.n && ret >= 0; i++) {
        if (s->store.images.place[i].bytes) {
            job->blk = s->store.blk[i];
            ret = blk_co_flush(job->blk);
        }
    }
    return ret;
}

static int coroutine_fn store_co_do(VssdJob *job)
{
    VssdDev *s = job->dev;
    NvmeStoreReq *req = job->req;
    QEMUIOVector mem;
    NvmePiece p;
    int ret = 0;

    if (req->op == NVME_STORE_FLUSH) {
        return store_co_flush(job);
    }
    qemu_iovec_init_external(&mem, (struct iovec *)req->iov, req->niov);
    for (uint64_t at = 0; at < req->bytes && ret >= 0; at += p.bytes) {
        p = nvme_images_find(&s->store.images, req->offset + at,
                             req->bytes - at);
        job->blk = s->store.blk[p.image];
        if (req->lazy) {
            return store_co_free(s, req, &p);
        }
        if (req->op == NVME_STORE_READ && p.there < p.bytes) {
            qemu_iovec_memset(&mem, at + p.there, 0, p.bytes - p.there);
        }
        if (p.there) {
            ret = store_co_piece(job, &p, &mem, at);
        }
    }
    return ret;
}

/* ---- errors -------------------------------------------------------------- */

static void parked_again(void *opaque)
{
    vssd_store_restart(opaque);
}

/* Kept until the machine goes on, and asked for again then.  It counts as one
 * at the store for the controller, but for nobody who waits for block I/O. */
static void job_park(VssdJob *job)
{
    VssdDev *s = job->dev;

    WITH_QEMU_LOCK_GUARD(&s->store.parked_lock)
    {
        job->parked = true;
        s->store.parked = g_slist_prepend(s->store.parked, job);
        qatomic_inc(&s->store.n_parked);
    }
    qatomic_dec(&s->store.jobs_in_flight);
    aio_wait_kick();
}

/*
 * As QEMU's disks do, by werror= and rerror=: true: the machine stops, and the
 * request waits until it goes on.  A hole that cannot be made is nothing to stop
 * for.  A request that comes when the drive ends has no time to wait.
 */
static bool job_refused(VssdJob *job)
{
    VssdDev *s = job->dev;
    BlockBackend *blk = job->blk;
    NvmeStoreReq *req = job->req;
    bool is_read = req->op == NVME_STORE_READ;
    int error = -job->ret;
    BlockErrorAction action = blk_get_error_action(blk, is_read, error);

    if (req->lazy) {
        return false;
    }
    if (action == BLOCK_ERROR_ACTION_STOP && qatomic_read(&s->store.ends)) {
        action = BLOCK_ERROR_ACTION_REPORT;
    }
    if (action == BLOCK_ERROR_ACTION_IGNORE) {
        if (is_read) {
            iov_memset(req->iov, req->niov, 0, 0, req->bytes);
        }
        job->ret = 0;
    }
    if (action == BLOCK_ERROR_ACTION_STOP) {
        job_park(job); /* before the machine stops, and may go on */
        /* A machine that is continued before it has stopped does not stop, and
         * sends no notification. */
        timer_mod(s->store.parked_timer,
                  qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + PARKED_MS);
    }
    blk_error_action(blk, action, is_read, error);
    return action == BLOCK_ERROR_ACTION_STOP;
}

/* ---- requests ------------------------------------------------------------ */

static void job_end(VssdJob *job);

static void job_end_bh(void *opaque)
{
    job_end(opaque);
}

/*
 * Run the controller on.  Not from here: that may submit requests, and those
 * that a vCPU's doorbell has begun end in a bottom half of QEMU's, which goes
 * on as long as requests end.  A guest that feeds shadow doorbells would keep
 * it.
 */
static void run_on(VssdDev *s)
{
    if (s->serve.icount) {
        vssd_run(s); /* at this instant; no vCPU runs */
    } else {
        vssd_run_later(s);
    }
}

/*
 * The coroutine's last act, kept out of it: thread-local variables must not be
 * read by a function that may have changed threads.
 */
static __attribute__((noinline)) void job_end(VssdJob *job)
{
    VssdDev *s = job->dev;
    NvmeStoreReq *req = job->req;

    if (!vssd_may_run(s)) {
        aio_bh_schedule_oneshot(s->serve.run_ctx, job_end_bh, job);
        return;
    }

    trace_vssd_store_done(s, op_names[req->op], req->offset, req->bytes,
                          job->ret);
    if (job->ret < 0 && job_refused(job)) {
        return;
    }
    if (!vssd_lock(s)) {
        /* This thread is inside the controller: it looks at the job later. */
        if (job->state == JOB_WAITING) {
            s->store.done_jobs = g_slist_prepend(s->store.done_jobs, job);
        }
        job->state = JOB_ENDED;
    } else {
        vssd_job_finish(s, job);
        run_on(s);
        vssd_unlock(s);
    }
    qatomic_dec(&s->store.jobs_in_flight);
    aio_wait_kick();
}

static void coroutine_fn job_entry(void *opaque)
{
    VssdJob *job = opaque;

    job->ret = store_co_do(job);
    job_end(job);
}

static int store_submit(void *opaque, NvmeStoreReq *req)
{
    VssdFunction *f = opaque; /* of the first controller */
    VssdDev *s = f->drive;
    VssdJob *job = g_new(VssdJob, 1);
    int ret;

    g_assert(vssd_has_lock(s));
    trace_vssd_store_start(s, op_names[req->op], req->offset, req->bytes);
    *job = (VssdJob){ .dev = s, .req = req, .state = JOB_STARTING };
    qatomic_inc(&s->store.jobs_in_flight);
    qemu_coroutine_enter(qemu_coroutine_create(job_entry, job));
    if (s->serve.icount) {
        AIO_WAIT_WHILE(s->serve.ctx,
                       job->state == JOB_STARTING && !job->parked);
    }
    if (job->state != JOB_ENDED) {
        job->state = JOB_WAITING;
        return -EINPROGRESS;
    }
    ret = job->ret;
    g_free(job);
    return MIN(ret, 0);
}

const NvmeStore vssd_store = {
    .submit = store_submit,
};

static GSList *take_parked(VssdDev *s)
{
    GSList *jobs;

    WITH_QEMU_LOCK_GUARD(&s->store.parked_lock)
    {
        jobs = g_slist_reverse(s->store.parked);
        s->store.parked = NULL;
        for (GSList *l = jobs; l; l = l->next) {
            VssdJob *job = l->data;

            job->parked = false;
            qatomic_dec(&s->store.n_parked);
            qatomic_inc(&s->store.jobs_in_flight);
        }
    }
    return jobs;
}

void vssd_store_restart(VssdDev *s)
{
    GSList *jobs = take_parked(s);

    g_assert(bql_locked());
    for (GSList *l = jobs; l; l = l->next) {
        aio_co_enter(s->serve.ctx, qemu_coroutine_create(job_entry, l->data));
    }
    g_slist_free(jobs);
    if (s->serve.icount) {
        vssd_store_wait(s);
    }
}

void vssd_store_drop(VssdDev *s)
{
    GSList *jobs;

    if (!vssd_lock(s)) {
        return;
    }
    jobs = take_parked(s);
    for (GSList *l = jobs; l; l = l->next) {
        vssd_job_finish(s, l->data);
        qatomic_dec(&s->store.jobs_in_flight);
    }
    g_slist_free(jobs);
    vssd_unlock(s);
}

/* ---- life ---------------------------------------------------------------- */

void vssd_store_init(VssdDev *s)
{
    g_assert(bql_locked());
    qemu_mutex_init(&s->store.parked_lock);
    s->store.parked_timer = timer_new_ms(QEMU_CLOCK_VIRTUAL, parked_again, s);
    for (unsigned i = 0; i < s->store.images.n; i++) {
        blk_iostatus_enable(s->store.blk[i]);
    }
}

void vssd_store_stop(VssdDev *s)
{
    g_assert(bql_locked());
    timer_free(s->store.parked_timer);
    s->store.parked_timer = NULL;
    qemu_mutex_destroy(&s->store.parked_lock);
}

void vssd_store_wait(VssdDev *s)
{
    g_assert(bql_locked());
    AIO_WAIT_WHILE(NULL, qatomic_read(&s->store.jobs_in_flight) > 0);
}

bool vssd_store_is_busy(VssdDev *s)
{
    return nvme_store_in_flight(s->ctrl) > qatomic_read(&s->store.n_parked);
}

bool vssd_store_has_parked(VssdDev *s)
{
    return qatomic_read(&s->store.n_parked) > 0;
}
