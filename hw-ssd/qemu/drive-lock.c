/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive-lock.c - the drive's lock, and who may run its controller.
 *
 * irq.c lets go of it and sends the interrupts that were noted meanwhile
 * (vssd_unlock()).
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"

#include "vssd.h"

/* Its address names the thread.  Not inlined: a coroutine may change threads.
 */
static __attribute__((noinline)) void *this_thread(void)
{
    static __thread char marker;

    return &marker;
}

/* The rest of the work is for the thread of run_ctx. */
void vssd_run_later(VssdDev *s)
{
    qemu_bh_schedule(s->serve.run_bh);
}

bool vssd_lock(VssdDev *s)
{
    void *self = this_thread();

    if (qatomic_read(&s->serve.owner) == self) {
        return false;
    }
    qemu_mutex_lock(&s->serve.lock);
    qatomic_set(&s->serve.owner, self);
    return true;
}

bool vssd_has_lock(const VssdDev *s)
{
    return qatomic_read(&s->serve.owner) == this_thread();
}

void vssd_unlock_quietly(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    if (s->store.done_jobs) {
        vssd_run_later(s);
    }
    qatomic_set(&s->serve.owner, NULL);
    qemu_mutex_unlock(&s->serve.lock);
}

bool vssd_may_run(VssdDev *s)
{
    return !s->serve.with_bql || bql_locked();
}

void vssd_serve_close(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    s->serve.online = false;
}

void vssd_unlock_last(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    qemu_mutex_unlock(&s->serve.lock);
}
