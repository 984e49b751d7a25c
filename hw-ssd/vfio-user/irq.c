/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irq.c - how an interrupt reaches the virtual machine.
 *
 * The virtual machine keeps the MSI-X table and masks vectors; an interrupt is
 * an eventfd that it gave.
 */
#include <errno.h>

#include "libvfio-user.h"

#include "server.h"

static bool interrupt(Function *f, unsigned vector)
{
    /* A counter at its end, or no counter: nobody waits for it. */
    return vfu_irq_trigger(f->ctx, vector) == 0 || errno != ENOENT;
}

void vfio_irq_note_msix(Function *f, unsigned vector)
{
    f->pending[vector / 64] |= 1ULL << vector % 64;
}

void vfio_irq_note_pin(Function *f, bool level)
{
    f->pin = level;
}

/*
 * vfio-user has no message for a pin that falls: the virtual machine takes each
 * event for a level that is high until the guest has served it, and then
 * unmasks the pin.
 */
static void deliver_pin(Function *f)
{
    if (!f->pin) {
        f->pin_sent = false;
    } else if (!f->pin_sent && !f->pin_masked && vfio_pci_has_pin(f)) {
        f->pin_sent = interrupt(f, 0);
    }
}

/* A message is a write of the bus master.  One for which there is no eventfd
 * waits for it. */
void vfio_irq_deliver(Function *f)
{
    if (!f->attached) {
        return;
    }
    deliver_pin(f);
    if (!vfio_pci_msix_enabled(f) || !vfio_pci_is_master(f)) {
        return;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(f->pending); i++) {
        uint64_t left = 0;

        for (uint64_t bits = f->pending[i]; bits; bits &= bits - 1) {
            unsigned vector = i * 64 + __builtin_ctzll(bits);

            if (!interrupt(f, vector)) {
                left |= bits & -bits;
            }
        }
        f->pending[i] = left;
    }
}

void vfio_irq_deliver_all(Server *s)
{
    for (unsigned i = 0; i < s->n_functions; i++) {
        vfio_irq_deliver(&s->function[i]);
    }
}

void vfio_irq_mask_pin(Function *f, bool masked)
{
    f->pin_masked = masked;
    f->pin_sent = false; /* served: the level may raise it once more */
    vfio_irq_deliver(f);
}
