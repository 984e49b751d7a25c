/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kick.c - doorbells as events of the host (ioeventfd).
 *
 * With KVM a register write stops the vCPU until QEMU has handled it.  A
 * doorbell that is an eventfd does not: the kernel signals it, and a thread of
 * the drive serves the queue.  An eventfd carries no value.  So only doorbells
 * of I/O submission queues with shadow doorbells are events, whose tails are in
 * guest memory; the others stay registers.
 *
 * The queues are shared out to doorbell_threads= threads, by number; without
 * any, the drive's own thread has all.  Each thread looks at the shadows for up
 * to poll_max_us= before it sleeps, as QEMU's event loop decides by success.
 *
 * Without KVM, QEMU signals the eventfd itself, with no gain: that is how it is
 * tested.  What it gains with KVM was not measured.
 */
#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "qapi/error.h"
#include "system/kvm.h"
#include "trace.h"

#include "vssd.h"

#define DOORBELL(qid)  (0x1000 + 8 * (hwaddr)(qid))
#define DOORBELL_BYTES 4

struct VssdKick {
    EventNotifier event; /* first: the callbacks get it */
    VssdFunction *f;
    AioContext *ctx;
};

/* ---- in the threads ------------------------------------------------------ */

static void kicked(EventNotifier *e)
{
    VssdKick *k = container_of(e, VssdKick, event);

    if (event_notifier_test_and_clear(e)) {
        trace_vssd_kick(k->f, k - k->f->kick);
        vssd_serve(k->f->drive);
    }
}

/* Has a tail moved?  Nobody waits for the lock only to find out. */
static bool poll_tails(void *opaque)
{
    EventNotifier *e = opaque;
    VssdKick *k = container_of(e, VssdKick, event);
    VssdDev *s = k->f->drive;
    bool moved;

    if (qemu_mutex_trylock(&s->serve.lock)) {
        return false;
    }
    moved = s->serve.online && !s->serve.stopped && k->f->ctrl &&
            nvme_tail_moved(k->f->ctrl, k - k->f->kick);
    qemu_mutex_unlock(&s->serve.lock);
    return moved;
}

static void poll_ready(EventNotifier *e)
{
    VssdKick *k = container_of(e, VssdKick, event);

    vssd_serve(k->f->drive);
}

/* ---- eventfds of a function ---------------------------------------------- */

static void add(VssdFunction *f, unsigned qid)
{
    VssdKick *k = &f->kick[qid];

    aio_set_event_notifier(k->ctx, &k->event, kicked, poll_tails, poll_ready);
    memory_region_add_eventfd(&f->regs, DOORBELL(qid), DOORBELL_BYTES, false, 0,
                              &k->event);
}

static void remove_one(VssdFunction *f, unsigned qid)
{
    VssdKick *k = &f->kick[qid];

    memory_region_del_eventfd(&f->regs, DOORBELL(qid), DOORBELL_BYTES, false, 0,
                              &k->event);
    aio_set_event_notifier(k->ctx, &k->event, NULL, NULL, NULL);
}

/* As the guest wants it now. */
static void show(VssdFunction *f)
{
    bool wanted = qatomic_read(&f->kicks_wanted) && !qatomic_read(&f->off_bus);

    g_assert(bql_locked());
    if (wanted == f->kicks_on || !f->kick) {
        return;
    }
    f->kicks_on = wanted;
    trace_vssd_kicks(f, wanted);
    memory_region_transaction_begin();
    for (unsigned qid = 1; qid <= f->drive->prop.opt.num_queues; qid++) {
        if (wanted) {
            add(f, qid);
        } else {
            remove_one(f, qid);
        }
    }
    memory_region_transaction_commit();
    if (!wanted && f->drive->serve.online) {
        vssd_run_later(f->drive); /* for a doorbell that came meanwhile */
    }
}

static void show_bh(void *opaque)
{
    VssdFunction *f = opaque;

    if (f->drive) {
        show(f);
    }
    object_unref(OBJECT(f));
}

void vssd_kick_shadows(void *opaque, bool on)
{
    VssdFunction *f = opaque;

    qatomic_set(&f->kicks_wanted, on);
    if (!f->drive->serve.kicks) {
        return;
    }
    if (bql_locked()) {
        show(f);
    } else {
        object_ref(OBJECT(f));
        aio_bh_schedule_oneshot(qemu_get_aio_context(), show_bh, f);
    }
}

/* ---- life ---------------------------------------------------------------- */

static AioContext *context(VssdDev *s, unsigned qid)
{
    return s->serve.with_bql ? s->serve.run_ctx
           : s->prop.doorbell_threads
               ? iothread_get_aio_context(
                     s->serve.kick_thread[qid % s->prop.doorbell_threads])
               : s->serve.ctx;
}

void vssd_kick_join(VssdFunction *f)
{
    VssdDev *s = f->drive;

    g_assert(bql_locked());
    if (!s->serve.kicks || f->kick) {
        return;
    }
    f->kick = g_new0(VssdKick, s->prop.opt.num_queues + 1);
    for (unsigned qid = 1; qid <= s->prop.opt.num_queues; qid++) {
        f->kick[qid].f = f;
        f->kick[qid].ctx = context(s, qid);
        event_notifier_init(&f->kick[qid].event, 0);
    }
    show(f);
}

static void nothing(void *opaque)
{
}

/* When a thread has done something else, it is in no callback of ours. */
void vssd_kick_part(VssdFunction *f)
{
    g_assert(bql_locked() && !vssd_has_lock(f->drive));
    if (!f->kick) {
        return;
    }
    qatomic_set(&f->kicks_wanted, false);
    show(f);
    for (unsigned qid = 1; qid <= f->drive->prop.opt.num_queues; qid++) {
        if (f->kick[qid].ctx != qemu_get_aio_context()) {
            aio_wait_bh_oneshot(f->kick[qid].ctx, nothing, NULL);
        }
        event_notifier_cleanup(&f->kick[qid].event);
    }
    g_clear_pointer(&f->kick, g_free);
}

bool vssd_kick_init(VssdDev *s, Error **errp)
{
    g_assert(bql_locked());
    if (s->prop.ioeventfd == ON_OFF_AUTO_ON && s->serve.icount) {
        error_setg(errp, "vssd: ioeventfd=on does not go with -icount, which "
                         "serves the drive in virtual time");
        return false;
    }
    s->serve.kicks = !s->serve.icount &&
                     (s->prop.ioeventfd == ON_OFF_AUTO_ON ||
                      (s->prop.ioeventfd == ON_OFF_AUTO_AUTO && kvm_enabled()));
    if (s->prop.doorbell_threads && !s->serve.kicks) {
        error_setg(errp,
                   "vssd: doorbell_threads=%u: allowed 0 without "
                   "ioeventfd=on",
                   s->prop.doorbell_threads);
        return false;
    }
    for (unsigned i = 0; i < s->prop.doorbell_threads; i++) {
        g_autofree char *id = g_strdup_printf("vssd-%p-%u", s, i);

        s->serve.kick_thread[i] = iothread_create(id, errp);
        if (!s->serve.kick_thread[i]) {
            return false;
        }
        aio_context_set_poll_params(
            iothread_get_aio_context(s->serve.kick_thread[i]),
            s->prop.poll_max_us * (int64_t)SCALE_US, 0, 0, &error_abort);
    }
    return true;
}

void vssd_kick_stop(VssdDev *s)
{
    g_assert(bql_locked());
    for (unsigned i = 0; i < s->prop.doorbell_threads; i++) {
        if (s->serve.kick_thread[i]) {
            iothread_destroy(s->serve.kick_thread[i]);
            s->serve.kick_thread[i] = NULL;
        }
    }
}
