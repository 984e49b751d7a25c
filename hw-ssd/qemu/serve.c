/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serve.c - who runs the controller, and when.
 *
 * A vCPU that rings a doorbell runs the controller itself; the thread of
 * run_ctx runs it when modelled time has come.  Knows the lock, the clock and
 * the threads; knows nothing of commands.
 *
 * Re-entrance.  QEMU's guard (DeviceState.mem_reentrancy_guard) is a plain bool
 * for threads that hold the BQL.  The IOThread does not: if its bottom halves
 * set the guard, an access by a vCPU meanwhile is dropped, and the guard may
 * stay set.  So neither bottom halves nor registers use it.  Instead:
 * a thread that comes back to the drive while it holds VssdServe.lock (owner)
 * is turned away, its access reads 0 or has no effect; irq.c sends messages
 * that lead to messages one after the other; and a drive that is unplugged by a
 * thread that works for it ends when that work has ended (function.c).
 */
#include "qemu/osdep.h"
#include "block/aio-wait.h"
#include "hw/core/cpu.h"
#include "qapi/error.h"
#include "system/qtest.h"
#include "system/runstate.h"
#include "system/system.h"
#include "trace.h"

#include "compat.h"
#include "vssd.h"

#define DOORBELL_BASE 0x1000

/* A machine that goes on does not wait longer for a drive that it loses. */
#define UNPLUG_MS 1000

/* ---- registers and doorbells -------------------------------------------- */

static uint64_t reg_read(void *opaque, hwaddr addr, unsigned size)
{
    VssdFunction *f = opaque;
    VssdDev *s = f->drive;
    uint64_t value = 0;

    if (!s || unlikely(qatomic_read(&f->link_down))) {
        value = UINT64_MAX;
    } else if (vssd_lock(s)) {
        vssd_catch_up(s);
        value = nvme_reg_read(f->ctrl, addr, size);
        vssd_unlock(s);
    }
    trace_vssd_mmio_read(f, addr, size, value);
    return value;
}

static void trace_write(VssdFunction *f, hwaddr addr, uint64_t value,
                        unsigned size)
{
    if (addr >= DOORBELL_BASE) {
        trace_vssd_doorbell(f, (addr - DOORBELL_BASE) / 8,
                            addr & 4 ? "head" : "tail", value);
    } else {
        trace_vssd_mmio_write(f, addr, size, value);
    }
}

/* The submission queue whose doorbell is there, or 0. */
static unsigned io_queue_at(hwaddr addr)
{
    unsigned index = (addr - DOORBELL_BASE) / 4;

    return addr >= DOORBELL_BASE && addr % 8 == 0 &&
                   index / 2 < VSSD_MAX_VECTORS
               ? index / 2
               : 0;
}

static void reg_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    VssdFunction *f = opaque;
    VssdDev *s = f->drive;

    trace_write(f, addr, value, size);
    if (!s || unlikely(qatomic_read(&f->link_down)) || !vssd_lock(s)) {
        return;
    }
    if (current_cpu) {
        vssd_irq_rung(s, current_cpu->cpu_index);
    }
    vssd_catch_up(s);
    vssd_now(s);
    vssd_hold_begin(f, io_queue_at(addr));
    nvme_reg_write(f->ctrl, s->clock.now_ns, addr, value, size);
    vssd_run(s);
    if (f->hold_sqid && vssd_hold(f)) {
        vssd_unlock_quietly(s);
    } else {
        vssd_unlock(s);
    }
}

const MemoryRegionOps vssd_reg_ops = {
    .read = reg_read,
    .write = reg_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 1, .max_access_size = 8},
    .impl = {.min_access_size = 1, .max_access_size = 8},
};

/* ---- life --------------------------------------------------------------- */

static bool behind_iommu(VssdFunction *f)
{
    return pci_device_iommu_address_space(PCI_DEVICE(f)) !=
           &address_space_memory;
}

static bool any_behind_iommu(VssdDev *s)
{
    VssdFunction *f;

    QTAILQ_FOREACH(f, &s->functions, next)
    {
        if (behind_iommu(f)) {
            return true;
        }
    }
    return false;
}

bool vssd_serve_admits(VssdFunction *f)
{
    g_assert(bql_locked());
    return !f->drive->serve.online || f->drive->serve.with_bql ||
           !behind_iommu(f);
}

bool vssd_serve_choose(VssdDev *s, Error **errp)
{
    g_assert(bql_locked());
    s->serve.icount = icount_enabled();
    if (s->serve.icount) {
        if (s->prop.iothread) {
            error_setg(errp, "vssd: iothread= does not go with -icount, which "
                             "serves the drive in virtual time");
            return false;
        }
        s->serve.ctx = qemu_get_aio_context();
    } else if (s->prop.iothread) {
        object_ref(OBJECT(s->prop.iothread));
        s->serve.ctx = iothread_get_aio_context(s->prop.iothread);
    } else {
        g_autofree char *id = g_strdup_printf("vssd-%p", s);

        s->serve.own_iothread = iothread_create(id, errp);
        if (!s->serve.own_iothread) {
            return false;
        }
        s->serve.ctx = iothread_get_aio_context(s->serve.own_iothread);
        aio_context_set_poll_params(s->serve.ctx,
                                    s->prop.poll_max_us * (int64_t)SCALE_US, 0,
                                    0, &error_abort);
    }
    s->serve.stopped = !runstate_is_running();
    nvme_hold(s->ctrl, s->serve.stopped);
    return vssd_nodes_set_context(s, s->serve.ctx, errp) &&
           vssd_kick_init(s, errp);
}

void vssd_serve_leave(VssdDev *s)
{
    g_assert(bql_locked());
    if (!s->serve.ctx) {
        return;
    }
    vssd_kick_stop(s);
    vssd_nodes_set_context(s, qemu_get_aio_context(), NULL);
    if (s->serve.own_iothread) {
        iothread_destroy(s->serve.own_iothread);
        s->serve.own_iothread = NULL;
    } else if (s->prop.iothread) {
        object_unref(OBJECT(s->prop.iothread));
    }
    s->serve.ctx = NULL;
}

static void run_bh(void *opaque)
{
    vssd_serve(opaque);
}

static void timer_cb(void *opaque)
{
    VssdDev *s = opaque;

    if (qatomic_read(&s->clock.timer_ns) == SSD_TIME_NEVER ||
        !vssd_wake_wait(s) || !vssd_lock(s)) {
        return;
    }
    vssd_serve_due(s);
    vssd_unlock(s);
}

/* An IOMMU may come later on the command line than the drive. */
static void machine_done(Notifier *n, void *data)
{
    VssdDev *s = container_of(n, VssdDev, serve.machine_done);
    VssdFunction *f;

    s->serve.with_bql = s->serve.icount || any_behind_iommu(s);
    s->serve.run_ctx =
        s->serve.with_bql ? qemu_get_aio_context() : s->serve.ctx;
    /* A test steps its clock by itself: nothing to spin for. */
    s->clock.spin = !s->serve.with_bql && !qtest_enabled();
    s->serve.run_bh = aio_bh_new(s->serve.run_ctx, run_bh, s);
    if (s->serve.with_bql) {
        s->clock.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, timer_cb, s);
    } else {
        s->clock.timer = aio_timer_new(s->serve.run_ctx, QEMU_CLOCK_VIRTUAL,
                                       SCALE_NS, timer_cb, s);
    }
    vssd_hold_start(s);
    s->serve.online = true;
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        vssd_kick_join(f);
    }
}

void vssd_serve_init(VssdDev *s)
{
    s->clock.timer_ns = SSD_TIME_NEVER;
    s->serve.machine_done.notify = machine_done;
    qemu_add_machine_init_done_notifier(&s->serve.machine_done);
}

/* In the thread of run_ctx. */
static void stop_bh(void *opaque)
{
    VssdDev *s = opaque;

    vssd_hold_stop(s);
    timer_free(s->clock.timer);
    s->clock.timer = NULL;
    qemu_bh_delete(s->serve.run_bh);
    s->serve.run_bh = NULL;
}

/* First of all no further command is fetched: a guest that goes on to write
 * shadow doorbells would keep the drive at work without end. */
void vssd_serve_stop(VssdDev *s)
{
    qemu_remove_machine_init_done_notifier(&s->serve.machine_done);
    if (!s->serve.online) {
        return;
    }
    vssd_lock(s);
    vssd_serve_pause(s);
    vssd_unlock(s);
    vssd_settle(s, false);
    vssd_store_finish(s, UNPLUG_MS);
    vssd_store_drain(s);
    vssd_lock(s);
    s->serve.online = false;
    vssd_unlock(s);
    if (s->serve.run_ctx == qemu_get_aio_context()) {
        stop_bh(s);
    } else {
        aio_wait_bh_oneshot(s->serve.run_ctx, stop_bh, s);
    }
}
