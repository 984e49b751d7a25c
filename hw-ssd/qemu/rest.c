/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rest.c - a drive that stops with its machine, goes on, and comes to rest.
 *
 * A paused drive fetches no command, and its clock stands.  Knows the order in
 * which commands, block I/O and interrupts end.
 */
#include "qemu/osdep.h"
#include "block/block.h"
#include "trace.h"

#include "vssd.h"

/* In modelled time; a drive that collects every victim needs a few seconds. */
#define SETTLE_MOST_NS (1000ULL * NANOSECONDS_PER_SECOND)

void vssd_serve_pause(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    vssd_catch_up(s);
    if (s->serve.icount) {
        /* The host chooses when the machine stops after its last instruction.
         * The instant that the drive has seen last does not depend on that. */
        s->clock.now_ns = nvme_now_ns(s->ctrl);
    } else {
        vssd_now(s);
    }
    s->serve.stopped = true;
    nvme_hold(s->ctrl, true);
    timer_del(s->clock.timer);
    vssd_hold_pause(s);
    qatomic_set(&s->clock.timer_ns, SSD_TIME_NEVER);
}

void vssd_serve_resume(VssdDev *s)
{
    if (!vssd_lock(s)) {
        return;
    }
    qatomic_set(&s->clock.epoch_ns,
                qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - s->clock.now_ns);
    s->serve.stopped = false;
    nvme_hold(s->ctrl, false);
    vssd_run(s);
    vssd_unlock(s);
}

/* One round, of a drive that is stopped; with modelled time, or at this instant
 * only.  true: block I/O is to be waited for, and then the next. */
static bool settle_some(VssdDev *s, bool with_time)
{
    bool more;

    if (!vssd_lock(s)) {
        return false;
    }
    vssd_run(s);
    if (with_time) {
        more = nvme_settle(s->ctrl, &s->clock.now_ns,
                           s->clock.now_ns + SETTLE_MOST_NS) ==
                   NVME_SETTLE_STORE &&
               vssd_store_is_busy(s);
    } else {
        more = vssd_store_is_busy(s);
    }
    vssd_unlock(s);
    return more;
}

void vssd_settle(VssdDev *s, bool with_time)
{
    g_assert(bql_locked());
    while (settle_some(s, with_time)) {
        bdrv_drain_all(); /* and past a limit of a node's rate */
    }
    vssd_irq_deliver(s);
    vssd_irqfd_flush(s);
    trace_vssd_stopped(s, with_time, s->clock.now_ns);
}
