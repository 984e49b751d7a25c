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

static bool interrupt(Server *s, unsigned vector)
{
    /* A counter at its end, or no counter: nobody waits for it. */
    return vfu_irq_trigger(s->ctx, vector) == 0 || errno != ENOENT;
}

void vfio_irq_note_msix(Server *s, unsigned vector)
{
    s->pending[vector / 64] |= 1ULL << vector % 64;
}

void vfio_irq_note_pin(Server *s, bool level)
{
    s->pin = level;
}

/*
 * vfio-user has no message for a pin that falls: the virtual machine takes each
 * event for a level that is high until the guest has served it, and then
 * unmasks the pin.
 */
static void deliver_pin(Server *s)
{
    if (!s->pin) {
        s->pin_sent = false;
    } else if (!s->pin_sent && !s->pin_masked && vfio_pci_has_pin(s)) {
        s->pin_sent = interrupt(s, 0);
    }
}

/* A message is a write of the bus master.  One for which there is no eventfd
 * waits for it. */
void vfio_irq_deliver(Server *s)
{
    if (!s->attached) {
        return;
    }
    deliver_pin(s);
    if (!vfio_pci_msix_enabled(s) || !vfio_pci_is_master(s)) {
        return;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(s->pending); i++) {
        uint64_t left = 0;

        for (uint64_t bits = s->pending[i]; bits; bits &= bits - 1) {
            unsigned vector = i * 64 + __builtin_ctzll(bits);

            if (!interrupt(s, vector)) {
                left |= bits & -bits;
            }
        }
        s->pending[i] = left;
    }
}

void vfio_irq_mask_pin(Server *s, bool masked)
{
    s->pin_masked = masked;
    s->pin_sent = false; /* served: the level may raise it once more */
    vfio_irq_deliver(s);
}
