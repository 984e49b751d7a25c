/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqfd.c - MSI-X messages as events of the host.
 *
 * With KVM and its interrupt controller, a message is an eventfd with a route:
 * the thread that runs the controller signals it, and the kernel interrupts the
 * guest.  No thread with the BQL takes part.  Masked vectors have no route;
 * their events are found when the guest unmasks them.
 *
 * With irqfd=on and without KVM the main loop sends the message instead, with
 * no gain: that is how it is tested.  What it gains with KVM was not measured.
 */
#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "system/kvm.h"
#include "trace.h"

#include "compat.h"
#include "vssd.h"

struct VssdIrqfd {
    EventNotifier event; /* first: the callbacks get it */
    VssdFunction *f;
    int virq;    /* -1: none */
    bool routed; /* atomic: the event reaches the guest */
};

static bool has_kvm(void)
{
    return kvm_enabled() && kvm_msi_via_irqfd_enabled();
}

/*
 * A message is a write of the bus master: while the guest does not
 * let the drive be one, the vector is pending.
 */
void vssd_irq_send_msix(VssdFunction *f, unsigned vector)
{
    PCIDevice *pci = PCI_DEVICE(f);

    g_assert(bql_locked());
    if (!msix_enabled(pci) || qatomic_read(&f->off_bus)) {
        return;
    }
    if (!(pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER)) {
        msix_set_pending(pci, vector);
        return;
    }
    trace_vssd_irq_msix(f, vector);
    msix_notify(pci, vector);
}

/* ---- by the main loop ---------------------------------------------------- */

static void event_came(EventNotifier *e)
{
    VssdIrqfd *q = container_of(e, VssdIrqfd, event);

    if (event_notifier_test_and_clear(e)) {
        vssd_irq_send_msix(q->f, q - q->f->irqfd);
    }
}

/* Nothing is left in an event. */
void vssd_irqfd_flush(VssdDev *s)
{
    VssdFunction *f;

    g_assert(bql_locked());
    if (!s->irq.fds || has_kvm()) {
        return;
    }
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        for (unsigned i = 0; f->irqfd && i < f->n_irqfds; i++) {
            event_came(&f->irqfd[i].event);
        }
    }
}

/* ---- by KVM -------------------------------------------------------------- */

/* A vector is unmasked, or its message has changed. */
static int vector_use(PCIDevice *pci, unsigned vector, MSIMessage msg)
{
    VssdIrqfd *q = &VSSD_FUNCTION(pci)->irqfd[vector];
    KVMRouteChange c = kvm_irqchip_begin_route_changes(kvm_state);
    int ret;

    g_assert(bql_locked());
    if (q->virq < 0) {
        ret = kvm_irqchip_add_msi_route(&c, vector, pci);
        if (ret < 0) {
            return ret;
        }
        q->virq = ret;
        kvm_irqchip_commit_route_changes(&c);
    } else {
        ret = kvm_irqchip_update_msi_route(kvm_state, q->virq, msg, pci);
        if (ret < 0) {
            return ret;
        }
        kvm_irqchip_commit_routes(kvm_state);
    }
    ret =
        kvm_irqchip_add_irqfd_notifier_gsi(kvm_state, &q->event, NULL, q->virq);
    if (ret < 0) {
        kvm_irqchip_release_virq(kvm_state, q->virq);
        q->virq = -1;
        return ret;
    }
    qatomic_set(&q->routed, true);
    return 0;
}

static void vector_release(PCIDevice *pci, unsigned vector)
{
    VssdIrqfd *q = &VSSD_FUNCTION(pci)->irqfd[vector];

    g_assert(bql_locked());
    if (!qatomic_read(&q->routed)) {
        return;
    }
    qatomic_set(&q->routed, false);
    kvm_irqchip_remove_irqfd_notifier_gsi(kvm_state, &q->event, q->virq);
}

/* Events that came while the vector was masked. */
static void vector_poll(PCIDevice *pci, unsigned first, unsigned end)
{
    VssdFunction *f = VSSD_FUNCTION(pci);

    for (unsigned i = first; i < MIN(end, f->n_irqfds); i++) {
        if (msix_is_masked(pci, i) &&
            event_notifier_test_and_clear(&f->irqfd[i].event)) {
            msix_set_pending(pci, i);
        }
    }
}

/* ---- sending ------------------------------------------------------------ */

/* A message is a write of the bus master. */
static bool may_send(VssdFunction *f)
{
    PCIDevice *pci = PCI_DEVICE(f);

    return f->irqfd && !qatomic_read(&f->off_bus) && msix_enabled(pci) &&
           pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

static void signal_word(VssdFunction *f, unsigned word)
{
    uint64_t bits = qatomic_xchg(&f->irq_vectors[word], 0);
    uint64_t rest = 0;

    for (; bits; bits &= bits - 1) {
        VssdIrqfd *q = &f->irqfd[word * 64 + ctz64(bits)];

        if (qatomic_read(&q->routed)) {
            trace_vssd_irqfd(f, q - f->irqfd);
            event_notifier_set(&q->event);
        } else {
            rest |= bits & -bits;
        }
    }
    qatomic_or(&f->irq_vectors[word], rest);
}

void vssd_irqfd_signal(VssdDev *s)
{
    VssdFunction *f;

    g_assert(vssd_has_lock(s));
    if (!s->irq.fds || !qatomic_read(&s->irq.noted)) {
        return;
    }
    QTAILQ_FOREACH(f, &s->functions, next)
    {
        for (unsigned i = 0; may_send(f) && i < VSSD_IRQ_WORDS; i++) {
            signal_word(f, i);
        }
    }
}

/* ---- life --------------------------------------------------------------- */

bool vssd_irqfd_init(VssdDev *s, Error **errp)
{
    g_assert(bql_locked());
    if (s->prop.irqfd == ON_OFF_AUTO_ON && icount_enabled()) {
        error_setg(errp, "vssd: irqfd=on does not go with -icount, which sends "
                         "interrupts in virtual time");
        return false;
    }
    s->irq.fds =
        !icount_enabled() && (s->prop.irqfd == ON_OFF_AUTO_ON ||
                              (s->prop.irqfd == ON_OFF_AUTO_AUTO && has_kvm()));
    return true;
}

void vssd_irqfd_join(VssdFunction *f)
{
    PCIDevice *pci = PCI_DEVICE(f);

    g_assert(bql_locked());
    if (!f->drive->irq.fds || !msix_present(pci)) {
        return;
    }
    f->n_irqfds = MIN(pci->msix_entries_nr, VSSD_MAX_VECTORS);
    f->irqfd = g_new0(VssdIrqfd, VSSD_IRQ_WORDS * 64);
    for (unsigned i = 0; i < f->n_irqfds; i++) {
        f->irqfd[i] = (VssdIrqfd){.f = f, .virq = -1, .routed = !has_kvm()};
        event_notifier_init(&f->irqfd[i].event, 0);
        if (!has_kvm()) {
            event_notifier_set_handler(&f->irqfd[i].event, event_came);
        }
    }
    if (has_kvm()) {
        msix_set_vector_notifiers(pci, vector_use, vector_release, vector_poll);
    }
}

void vssd_irqfd_part(VssdFunction *f)
{
    g_assert(bql_locked());
    if (!f->irqfd) {
        return;
    }
    if (has_kvm()) {
        msix_unset_vector_notifiers(PCI_DEVICE(f));
    }
    for (unsigned i = 0; i < f->n_irqfds; i++) {
        if (f->irqfd[i].virq >= 0) {
            kvm_irqchip_release_virq(kvm_state, f->irqfd[i].virq);
        }
        if (!has_kvm()) {
            event_notifier_set_handler(&f->irqfd[i].event, NULL);
        }
        event_notifier_cleanup(&f->irqfd[i].event);
    }
    g_clear_pointer(&f->irqfd, g_free);
}
