/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irq.c - interrupts, from any thread, without waiting for the BQL.
 *
 * Interrupts are noted under VssdServe.lock and sent when it has been let go.
 * Sending takes the BQL, and an IOThread must never wait for it (the main loop
 * waits for IOThreads with the BQL held).  So a thread that has the BQL sends
 * at once, and another one hands over: under TCG to the vCPU that rang last,
 * which must be stopped for the interrupt anyway, so no further thread is
 * woken; else to the main loop.  Vectors noted before the sender runs go out
 * together.
 */
#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "hw/pci/msix.h"
#include "system/tcg.h"
#include "trace.h"

#include "vssd.h"

/* Messages that lead to messages are sent so often in one go. */
#define SEND_ROUNDS 16

/* What was noted before is seen by whoever takes the mark. */
static void note(VssdFunction *f)
{
    g_assert(vssd_has_lock(f->drive) || bql_locked());
    qatomic_store_release(&f->drive->irq.noted, true);
}

void vssd_irq_msix(VssdFunction *f, unsigned vector)
{
    qatomic_or(&f->irq_vectors[vector / 64], 1ULL << vector % 64);
    note(f);
}

void vssd_irq_pin(VssdFunction *f, bool level)
{
    if (!level) {
        qatomic_set(&f->pin_fell, true);
    }
    qatomic_set(&f->pin_level, level);
    note(f);
}

static void send_pin(VssdFunction *f, bool level)
{
    if (level != f->pin_sent && !qatomic_read(&f->off_bus)) {
        trace_vssd_irq_pin(f, level);
        qatomic_set(&f->pin_sent, level);
        pci_set_irq(PCI_DEVICE(f), level);
    }
}

/* A message may unplug the function. */
static void send_noted(VssdFunction *f)
{
    for (unsigned i = 0; i < VSSD_IRQ_WORDS; i++) {
        uint64_t bits = qatomic_xchg(&f->irq_vectors[i], 0);

        for (; bits && !qatomic_read(&f->off_bus); bits &= bits - 1) {
            vssd_irq_send_msix(f, i * 64 + ctz64(bits));
        }
    }

    /* A pin that has fallen and risen since shows both: QEMU's sifive_plic
     * takes an interrupt from the edge. */
    if (qatomic_xchg(&f->pin_fell, false)) {
        send_pin(f, false);
    }
    send_pin(f, qatomic_read(&f->pin_level));
}

/* No function comes or goes meanwhile. */
static void send_all(VssdDev *s)
{
    VssdFunction *f;

    g_assert(bql_locked());
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        send_noted(f);
    }
}

/*
 * The guest chooses where a message goes: it may be a doorbell of this drive,
 * which may lead to the next message.  So the outermost call sends them all,
 * one after the other; if there is no end of it, a bottom half goes on.
 */
static void irq_send(VssdDev *s)
{
    g_assert(bql_locked());
    if (s->irq.sending) {
        return;
    }
    s->irq.sending = true;
    for (unsigned round = 0;
         round < SEND_ROUNDS && qatomic_xchg(&s->irq.noted, false); round++) {
        send_all(s);
    }
    s->irq.sending = false;
    if (qatomic_read(&s->irq.noted)) {
        qemu_bh_schedule(s->irq.bh);
    }
}

static void irq_bh(void *opaque)
{
    VssdDev *s = opaque;

    qatomic_set_mb(&s->irq.scheduled, false);
    irq_send(s);
}

static void irq_work(CPUState *cpu, run_on_cpu_data data)
{
    VssdDev *s = data.host_ptr;

    irq_bh(s);
    object_unref(OBJECT(s));
}

CPUState *vssd_irq_target(VssdDev *s)
{
    int index = qatomic_read(&s->irq.cpu);
    CPUState *cpu = index >= 0 ? qemu_get_cpu(index) : NULL;

    return cpu ? cpu : first_cpu;
}

void vssd_irq_deliver(VssdDev *s)
{
    if (!qatomic_read(&s->irq.noted)) {
        return;
    }
    if (bql_locked()) {
        irq_send(s);
        return;
    }
    if (qatomic_xchg(&s->irq.scheduled, true)) {
        return;
    }
    if (tcg_enabled()) {
        object_ref(OBJECT(s));
        async_run_on_cpu(vssd_irq_target(s), irq_work, RUN_ON_CPU_HOST_PTR(s));
    } else {
        qemu_bh_schedule(s->irq.bh);
    }
}

void vssd_unlock(VssdDev *s)
{
    vssd_irqfd_signal(s);
    vssd_unlock_quietly(s);
    vssd_irq_deliver(s);
}

static bool msix_held_back(PCIDevice *pci, unsigned vector)
{
    return pci->msix_pba[vector / 8] & 1 << vector % 8 &&
           !msix_is_masked(pci, vector);
}

void vssd_irq_command_written(VssdFunction *f)
{
    PCIDevice *pci = PCI_DEVICE(f);

    g_assert(bql_locked());
    if (!msix_enabled(pci) ||
        !(pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER)) {
        return;
    }
    for (unsigned vector = 0; vector < pci->msix_entries_nr; vector++) {
        if (msix_held_back(pci, vector)) {
            msix_clr_pending(pci, vector);
            vssd_irq_msix(f, vector);
        }
    }
    vssd_irq_deliver(f->drive);
}

void vssd_irq_loaded(VssdFunction *f)
{
    g_assert(vssd_has_lock(f->drive));
    memset(f->irq_vectors, 0, sizeof(f->irq_vectors));
    f->pin_level = nvme_pin_level(f->ctrl);
    f->pin_sent = f->pin_level; /* PCI has loaded the line */
    f->pin_fell = false;
}

void vssd_irq_init(VssdDev *s)
{
    s->irq.cpu = -1;
    s->irq.bh = qemu_bh_new(irq_bh, s); /* not guarded: see serve.c */
}

void vssd_irq_rung(VssdDev *s, int cpu)
{
    qatomic_set(&s->irq.cpu, cpu);
}

void vssd_irq_stop(VssdDev *s)
{
    g_assert(bql_locked());
    qemu_bh_delete(s->irq.bh);
    s->irq.bh = NULL;
}
