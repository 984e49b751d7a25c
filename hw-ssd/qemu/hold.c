/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold.c - holding interrupts of commands that cost no modelled time.
 *
 * Such a command ends inside the guest's own write of the doorbell.  A guest
 * that has more to submit is interrupted by each of them, and handles an
 * interrupt for longer than it submits a command.  So the interrupt of a queue
 * may be held until `burst` commands have ended.  It is sent before that when
 * the vCPU that submitted them sleeps (HLT), which is looked at every CHECK_US,
 * and after irq_hold_us= at the latest.
 *
 * Whether the guest has more to submit is tried out: after every `gap` commands
 * the burst doubles.  When the guest sleeps before it has submitted so many,
 * the burst is halved; and the gap doubles, if that was the first try.  So a
 * guest that waits for each command pays one such wait in 4096 commands.
 *
 * An interrupt of a command that took modelled time is never held, and it takes
 * along those that are.  Never with -icount or behind an IOMMU, nor while
 * several vCPUs ring, which are faster without (docs/lab/performance.md).
 */
#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "hw/pci/msix.h"
#include "system/tcg.h"
#include "trace.h"

#include "vssd.h"

#define BURST_MAX 16
#define GAP_MIN   64
#define GAP_MAX   4096

/* The default of irq_hold_us= with TCG.  With KVM, where nobody sees whether a
 * vCPU sleeps, it is 0. */
#define HOLD_US 1000

/* While interrupts are held. */
#define CHECK_US 200

/* None is held until one vCPU has rung so often with no other in between. */
#define ALONE_MIN 4096

/* ---- what ended ---------------------------------------------------------- */

static void count_alone(VssdDev *s)
{
    int cpu = qatomic_read(&s->irq.cpu);

    if (cpu != s->irq.hold_cpu) {
        s->irq.hold_cpu = cpu;
        s->irq.hold_alone = 0;
    } else if (s->irq.hold_alone < ALONE_MIN) {
        s->irq.hold_alone++;
    }
}

void vssd_hold_begin(VssdFunction *f, unsigned sqid)
{
    g_assert(vssd_has_lock(f->drive));
    f->hold_sqid = sqid;
    f->hold_begin_ns = f->drive->clock.now_ns;
    f->hold_ended = 0;
    f->hold_others = false;
    if (sqid) {
        count_alone(f->drive);
    }
}

void vssd_hold_ended(VssdFunction *f, const NvmeTrace *t)
{
    g_assert(vssd_has_lock(f->drive));
    if (t->sqid == f->hold_sqid && t->fetch_ns >= f->hold_begin_ns &&
        t->complete_ns <= t->fetch_ns) {
        f->hold_ended++;
    } else {
        f->hold_others = true;
    }
}

/* ---- the burst ----------------------------------------------------------- */

static void sent(VssdHold *h)
{
    h->since += h->held;
    h->held = 0;
    if (h->probing) {
        h->probing = false;
        h->gap = MAX(h->gap / 2, GAP_MIN);
    }
    if (h->since >= h->gap && h->burst < BURST_MAX) {
        h->burst *= 2;
        h->since = 0;
        h->probing = true;
    }
}

/* The guest sleeps.  A burst that it has reached before may have ended by
 * chance. */
static void fall_back(VssdHold *h)
{
    h->burst = MAX(h->burst / 2, 1);
    if (h->probing) {
        h->gap = MIN(h->gap * 2, GAP_MAX);
    }
    h->since = 0;
    h->held = 0;
    h->probing = false;
}

static void arm(VssdDev *s, uint64_t now_ns)
{
    uint64_t next_ns =
        MIN(now_ns + CHECK_US * SCALE_US, qatomic_read(&s->irq.hold_until_ns));

    timer_mod_ns(s->irq.hold_timer, qatomic_read(&s->clock.epoch_ns) + next_ns);
}

bool vssd_hold(VssdFunction *f)
{
    VssdDev *s = f->drive;
    VssdHold *h = &f->hold[f->hold_sqid];

    g_assert(vssd_has_lock(s));
    if (!s->irq.hold_timer || s->serve.stopped || f->hold_others ||
        !f->hold_ended || s->irq.hold_alone < ALONE_MIN ||
        !qatomic_read(&s->irq.noted) || !msix_enabled(PCI_DEVICE(f))) {
        return false;
    }
    h->held += f->hold_ended;
    if (h->held >= h->burst) {
        sent(h);
        return false;
    }
    if (h->held == f->hold_ended) {
        qatomic_set(&s->irq.hold_until_ns,
                    s->clock.now_ns + s->prop.irq_hold_us * (uint64_t)SCALE_US);
    }
    if (!s->irq.hold_armed) {
        s->irq.hold_armed = true;
        arm(s, s->clock.now_ns);
    }
    return true;
}

/* ---- time runs out ------------------------------------------------------- */

/* Does the vCPU sleep that rang last?  Others are seen when time is over. */
static bool guest_sleeps(VssdDev *s)
{
    int index = qatomic_read(&s->irq.cpu);
    CPUState *cpu = tcg_enabled() && index >= 0 ? qemu_get_cpu(index) : NULL;

    return cpu && qatomic_read(&cpu->halted);
}

static void end_all(VssdDev *s)
{
    VssdFunction *f;

    QTAILQ_FOREACH(f, &s->functions, next)
    {
        for (unsigned i = 0; i < ARRAY_SIZE(f->hold); i++) {
            if (f->hold[i].held) {
                trace_vssd_hold_ended(f, i, f->hold[i].held, f->hold[i].burst);
                fall_back(&f->hold[i]);
            }
        }
    }
}

/* Without the lock, as long as nothing is to be done: a vCPU that rings a
 * doorbell would wait for it. */
static void hold_timer(void *opaque)
{
    VssdDev *s = opaque;

    if (qatomic_read(&s->irq.noted) && !guest_sleeps(s) &&
        vssd_clock_ns(s) < qatomic_read(&s->irq.hold_until_ns)) {
        arm(s, vssd_clock_ns(s));
        return;
    }
    if (!vssd_lock(s)) {
        return;
    }
    s->irq.hold_armed = false;
    if (qatomic_read(&s->irq.noted)) {
        end_all(s);
    }
    vssd_unlock(s); /* sends them */
}

/* ---- life ---------------------------------------------------------------- */

void vssd_hold_init(VssdFunction *f)
{
    for (unsigned i = 0; i < ARRAY_SIZE(f->hold); i++) {
        f->hold[i] = (VssdHold){.burst = 1, .gap = GAP_MIN};
    }
}

void vssd_hold_start(VssdDev *s)
{
    if (s->prop.irq_hold_us == VSSD_HOLD_AUTO) {
        s->prop.irq_hold_us = tcg_enabled() ? HOLD_US : 0;
    }
    if (s->prop.irq_hold_us && !s->serve.with_bql) {
        s->irq.hold_cpu = -1; /* as irq_cpu */
        s->irq.hold_timer = aio_timer_new(s->serve.run_ctx, QEMU_CLOCK_VIRTUAL,
                                          SCALE_NS, hold_timer, s);
    }
}

void vssd_hold_pause(VssdDev *s)
{
    g_assert(vssd_has_lock(s));
    if (s->irq.hold_timer) {
        timer_del(s->irq.hold_timer);
        s->irq.hold_armed = false;
    }
}

void vssd_hold_stop(VssdDev *s)
{
    timer_free(s->irq.hold_timer);
    s->irq.hold_timer = NULL;
}
