/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lead.c - how long before an instant the drive's thread has to wake.
 *
 * Both lead times are estimates that follow what was measured: quickly up,
 * slowly down.  spin_cpu= bounds the share of a core that is spun.
 */
#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "qemu/timer.h"

#include "vssd.h"

/* Spinning that was not used is kept for so long. */
#define BUDGET_NS (10 * SCALE_MS)

/* ---- bound on CPU ------------------------------------------------------- */

/* What may be spun. */
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

void vssd_lead_pay(VssdDev *s)
{
    int64_t spun_ns = qatomic_xchg(&s->clock.spun_ns, 0);

    g_assert(vssd_has_lock(s));
    s->clock.spin_left_ns -= spun_ns;
    s->clock.spun_all_ns += spun_ns;
}

/* ---- estimates ---------------------------------------------------------- */

void vssd_lead_learn(uint64_t *lead_ns, uint64_t late_ns)
{
    if (late_ns > *lead_ns) {
        *lead_ns += (MIN(late_ns, VSSD_LEAD_MAX_NS) - *lead_ns) / 4;
    } else {
        *lead_ns -= (*lead_ns - late_ns) / 32;
    }
}

uint64_t *vssd_lead_of_cpu(VssdDev *s, int index)
{
    return &s->clock.wake_ns[(unsigned)index % VSSD_WAKE_CPUS];
}

uint64_t vssd_lead(VssdDev *s)
{
    vssd_lead_pay(s);
    if (!s->clock.spin || !has_budget(s)) {
        return 0;
    }
    return s->clock.lead_ns +
           (s->clock.target_slept
                ? *vssd_lead_of_cpu(s, vssd_irq_target(s)->cpu_index)
                : 0);
}
