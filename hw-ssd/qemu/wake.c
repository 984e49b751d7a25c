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
 * Both lead times are estimates that follow what was measured: quickly up,
 * slowly down.  spin_cpu= bounds the share of a core that is spun.
 */
#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "qemu/timer.h"
#include "system/tcg.h"
#include "trace.h"

#include "vssd.h"

/* The most of either lead time. */
#define LEAD_MAX_NS 50000

/* Spinning that was not used is kept for so long. */
#define BUDGET_NS (10 * SCALE_MS)

/* The vCPU's thread has the wait; when it does not come, the timer's thread
 * serves, so long after the instant. */
#define FALLBACK_NS 20000

uint64_t vssd_clock_ns(VssdDev *s)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) -
           qatomic_read(&s->clock.epoch_ns);
}

/* ---- bound on CPU -------------------------------------------------------- */

/* Lock held: what may be spun. */
static bool has_budget(VssdDev *s)
{
    int64_t now_ns = get_clock();
    int64_t most_ns = (int64_t)BUDGET_NS * s->prop.spin_cpu / 100;
    int64_t earned_ns =
        (now_ns - s->clock.spin_seen_ns) / 100 * s->prop.spin_cpu;

    s->clock.spin_left_ns =
        MIN(s->clock.spin_left_ns + MAX(earned_ns, 0), most_ns);
    s->clock.spin_seen_ns = now_ns;
    return s->clock.spin_left_ns > 0;
}

/* Until the instant that the timer was set for; another thread may move it
 * nearer, and the virtual clock may stop.  true: stop() said so. */
static bool spin(VssdDev *s, bool (*stop)(VssdDev *s))
{
    int64_t begin = get_clock();
    int64_t end = begin + 2 * LEAD_MAX_NS;
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

/* Lock held: what was spun since the last time counts. */
static void pay(VssdDev *s)
{
    int64_t spun_ns = qatomic_xchg(&s->clock.spun_ns, 0);

    s->clock.spin_left_ns -= spun_ns;
    s->clock.spun_all_ns += spun_ns;
}

/* ---- estimates ----------------------------------------------------------- */

static void learn(uint64_t *lead_ns, uint64_t late_ns)
{
    if (late_ns > *lead_ns) {
        *lead_ns += (MIN(late_ns, LEAD_MAX_NS) - *lead_ns) / 4;
    } else {
        *lead_ns -= (*lead_ns - late_ns) / 32;
    }
}

static uint64_t *wake_ns(VssdDev *s, int index)
{
    return &s->clock.wake_ns[(unsigned)index % VSSD_WAKE_CPUS];
}

uint64_t vssd_wake_lead(VssdDev *s)
{
    pay(s);
    if (!s->clock.spin || !has_budget(s)) {
        return 0;
    }
    return s->clock.lead_ns + (s->clock.target_slept
                                   ? *wake_ns(s, vssd_irq_target(s)->cpu_index)
                                   : 0);
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
        learn(wake_ns(s, cpu->cpu_index), woken_ns - s->clock.handed_ns);
        pay(s);
        trace_vssd_wake(s, cpu->cpu_index, *wake_ns(s, cpu->cpu_index),
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
        learn(&s->clock.lead_ns, woken_ns - s->clock.timer_fire_ns);
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
