/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-serve.h - who runs the controller, and when: the drive's lock, its
 * thread, and doorbells as eventfds (drive-lock.c, run.c, rest.c, serve.c,
 * kick.c).
 */
#ifndef VSSD_QEMU_SERVE_H
#define VSSD_QEMU_SERVE_H

#include "qemu/osdep.h"
#include "block/aio.h"
#include "qemu/notify.h"
#include "qemu/thread.h"
#include "system/iothread.h"

#include "nvme.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

/* Of doorbell_threads=. */
#define VSSD_MAX_DOORBELL_THREADS 8

typedef struct VssdKick VssdKick; /* kick.c */

typedef struct VssdServe {
    QemuMutex lock;
    void *owner;         /* atomic; names the thread that holds lock */
    AioContext *ctx;     /* block requests; timers, unless with_bql */
    AioContext *run_ctx; /* timers, the rest of a run */
    IOThread *own_iothread;
    bool icount;
    bool with_bql; /* run_ctx is qemu_get_aio_context(): vssd_may_run() */
    Notifier machine_done;
    bool online;    /* false before realize has ended and in unrealize */
    QEMUBH *run_bh; /* in run_ctx */
    bool stopped;   /* with the machine: nobody runs the controller */

    /* kick.c; fixed when the drive is there */
    bool kicks;
    IOThread *kick_thread[VSSD_MAX_DOORBELL_THREADS];
} VssdServe;

/* ---- drive-lock.c ------------------------------------------------------- */

/* false: the calling thread holds the lock already (nested event loop, or DMA
 * and messages that led to other devices and back).  vssd_unlock() lets go of
 * it (vssd-irq.h). */
bool vssd_lock(VssdDev *s);
/* Does the calling thread hold it?  Functions that need it assert so, as they
 * assert bql_locked(). */
bool vssd_has_lock(const VssdDev *s);
/* Send no interrupts: somebody will. */
void vssd_unlock_quietly(VssdDev *s);

/* QEMU ends: nobody is served any more; let go of the lock, of which
 * this thread stays the owner. */
void vssd_serve_close(VssdDev *s);
void vssd_unlock_last(VssdDev *s);

/* May this thread run the controller?  Another one will, soon. */
bool vssd_may_run(VssdDev *s);
void vssd_run_later(VssdDev *s);

/* ---- run.c -------------------------------------------------------------- */

/* Run the controller until it has nothing to do now, within
 * limits; the rest goes to the thread of run_ctx.  While the machine is
 * stopped: at the instant of its stop, to the end. */
void vssd_run(VssdDev *s);

/* With -icount, let what was due before now happen first. */
void vssd_catch_up(VssdDev *s);

/* The instant of the timer has come. */
void vssd_serve_due(VssdDev *s);

/* Run the controller once, in a thread that may; not if this one does. */
void vssd_serve(VssdDev *s);

/* ---- rest.c ------------------------------------------------------------- */

/* The machine stops.  It goes on, and the drive's clock with it. */
void vssd_serve_pause(VssdDev *s);
void vssd_serve_resume(VssdDev *s);

/* Of a drive that is paused: wait until no request is at the
 * store.  with_time: modelled time passes, until the drive is at rest. */
void vssd_settle(VssdDev *s, bool with_time);

/* ---- serve.c ------------------------------------------------------------ */

extern const MemoryRegionOps vssd_reg_ops;

/* Choose where the drive is served, held if the machine is stopped; leave that.
 */
bool vssd_serve_choose(VssdDev *s, Error **errp);
void vssd_serve_leave(VssdDev *s);

/* Serve, as soon as the machine is complete: only then the devices above the
 * drive's bus are known.  Set up and tear down timer and bottom half.  stop
 * fetches no further command, waits for requests at the store, and returns when
 * no thread runs the controller and none will. */
void vssd_serve_init(VssdDev *s);
void vssd_serve_stop(VssdDev *s);

/* May the function join the drive?  Not if only it is behind an IOMMU: the
 * drive is served without the BQL then. */
bool vssd_serve_admits(VssdFunction *f);

/* ---- kick.c ------------------------------------------------------------- */

/* Of NvmeMachine; opaque is the VssdFunction. */
void vssd_kick_shadows(void *opaque, bool on);

/* The threads, once VssdServe.ctx is chosen; the eventfds of a function, when
 * run_ctx is known.  When vssd_kick_part() returns, no thread serves them. */
bool vssd_kick_init(VssdDev *s, Error **errp);
void vssd_kick_stop(VssdDev *s);
void vssd_kick_join(VssdFunction *f);
void vssd_kick_part(VssdFunction *f);

#endif
