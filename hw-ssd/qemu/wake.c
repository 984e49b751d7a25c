/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake.c - waiting for the instant of a completion without oversleeping it.
 *
 * The host's timers wake a thread late, by tens of microseconds on a virtual
 * machine.  So the timer fires earlier, and the rest is spun.  A vCPU that
 * sleeps (HLT) has to be woken, too, which takes as long again.  Under TCG that
 * is done early: the thread of the timer hands the wait over to the vCPU's
 * thread, which spins the rest, runs the controller and takes the interrupt
 * without any further thread being woken.  No completion is visible before its
 * instant: the controller is run at that instant or later.
 *
 * With KVM the kernel knows whether a vCPU sleeps, and its halt_poll_ns does
 * the same; there is no handing over.
 *
 * How early that has to be: lead.c.
 */
#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "qemu/timer.h"
#include "system/tcg.h"
#include "trace.h"

#include "vssd.h"

/* The vCPU's thread has the wait; when it does not come, the timer's thread
 * serves, so long after the instant. */
#define FALLBACK_NS 20000

/* Until the instant that the timer was set for; another thread may move it
 * nearer, and the virtual clock may stop.  true: stop() said so. */
static bool spin(VssdDev *s, bool (*stop)(VssdDev *s))
{
    int64_t begin = get_clock();
    int64_t end = begin + 2 * VSSD_LEAD_MAX_NS;
    bool stopped = false;
    uint64_t due_ns;

    while (!stopped &&
           (due_ns = qatomic_read(&s->clock.timer_ns)) < SSD_TIME_NEVER &&
           vssd_clock_ns(s) < due_ns && get_clock() < end) {
        cpu_relax();
        stopped = stop && stop(s);
    }
    qatomic_add(&s->clock.spun_ns, get_clock() - begin);
    return stopped;
}

/* ---- handing over to a vCPU ---------------------------------------------- */

static void wake_work(CPUState *cpu, run_on_cpu_data data)
{
    VssdDev *s = data.host_ptr;
    int64_t woken_ns = get_clock();

    /* The main loop and the other vCPUs go on meanwhile. */
    bql_unlock();
    spin(s, NULL);
    bql_lock();
    if (qatomic_read(&s->serve.online) && vssd_lock(s)) {
        vssd_lead_learn(vssd_lead_of_cpu(s, cpu->cpu_index),
                        woken_ns - s->clock.handed_ns);
        vssd_lead_pay(s);
        trace_vssd_wake(s, cpu->cpu_index, *vssd_lead_of_cpu(s, cpu->cpu_index),
                        s->clock.spun_all_ns);
        if (vssd_clock_ns(s) >= s->clock.timer_ns) {
            vssd_serve_due(s);
        }
        vssd_unlock(s);
    }
    qatomic_store_release(&s->clock.handed,
                          false); /* handed_ns has been read */
    object_unref(OBJECT(s));
}

/* The vCPU that is interrupted sleeps: it waits from now on. */
static bool hand_over(VssdDev *s)
{
    CPUState *cpu = vssd_irq_target(s);

    if (!qatomic_read(&cpu->halted) || qatomic_load_acquire(&s->clock.handed)) {
        return false;
    }
    s->clock.handed_ns = get_clock();
    qatomic_set(&s->clock.handed, true);
    object_ref(OBJECT(s));
    async_run_on_cpu(cpu, wake_work, RUN_ON_CPU_HOST_PTR(s));
    return true;
}

bool vssd_wake_wait(VssdDev *s)
{
    uint64_t woken_ns = vssd_clock_ns(s);
    bool handed;

    if (!s->clock.spin) {
        return true;
    }
    handed = spin(s, tcg_enabled() ? hand_over : NULL);
    if (!vssd_lock(s)) {
        return false;
    }
    if (woken_ns > s->clock.timer_fire_ns) {
        vssd_lead_learn(&s->clock.lead_ns, woken_ns - s->clock.timer_fire_ns);
    }
    s->clock.target_slept = handed;
    if (qatomic_read(&s->clock.handed) && s->clock.timer_ns < SSD_TIME_NEVER) {
        timer_mod_ns(s->clock.timer, qatomic_read(&s->clock.epoch_ns) +
                                         qatomic_read(&s->clock.timer_ns) +
                                         FALLBACK_NS);
    }
    vssd_unlock(s);
    return !handed;
}
