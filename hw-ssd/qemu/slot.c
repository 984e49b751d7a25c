/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot.c - the hot-plug slot of a function: presence, link, and whether the
 * guest is ready for it.
 *
 * Knows registers of PCI Express ports; knows nothing of power.
 */
#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pcie.h"

#include "vssd.h"

/* The port whose hot-plug slot the function is in, or NULL. */
PCIDevice *vssd_slot_of(VssdFunction *f)
{
    PCIBus *bus = qatomic_read(&f->off_bus) ? NULL : pci_get_bus(PCI_DEVICE(f));
    PCIDevice *port =
        !bus || pci_bus_is_root(bus) ? NULL : pci_bridge_get_device(bus);
    uint8_t *cap;

    if (!port || !pci_is_express(port)) {
        return NULL;
    }
    cap = port->config + port->exp.exp_cap;
    if (!(pci_get_word(cap + PCI_EXP_FLAGS) & PCI_EXP_FLAGS_SLOT) ||
        !(pci_get_long(cap + PCI_EXP_SLTCAP) & PCI_EXP_SLTCAP_HPC)) {
        return NULL;
    }
    return port;
}

static uint8_t *slot_cap(PCIDevice *port)
{
    return port->config + port->exp.exp_cap;
}

/*
 * Interrupt on a change of presence: PCI Express Base Specification, 6.7.3.4.
 * The guest chooses where the message goes, and it may unplug the drive; so
 * this is for a bottom half, when nobody holds the drive's lock or resets the
 * function.
 */
void vssd_slot_notify(PCIDevice *port)
{
    uint16_t ctl = pci_get_word(slot_cap(port) + PCI_EXP_SLTCTL);
    uint16_t sta = pci_get_word(slot_cap(port) + PCI_EXP_SLTSTA);
    bool before = port->exp.hpev_notified;
    bool now = ctl & PCI_EXP_SLTCTL_HPIE && sta & ctl & PCI_EXP_HP_EV_SUPPORTED;

    g_assert(bql_locked());
    port->exp.hpev_notified = now;
    if (now == before) {
        return;
    }
    if (msix_enabled(port)) {
        msix_notify(port, pcie_cap_flags_get_vector(port));
    } else if (msi_enabled(port)) {
        msi_notify(port, pcie_cap_flags_get_vector(port));
    } else {
        pci_set_irq(port, now);
    }
}

/*
 * Linux asks a slot with an attention button for interrupts by the button only,
 * but then looks at presence, too; so the button is pressed as well.
 */
void vssd_slot_set_present(VssdFunction *f, PCIDevice *port, bool present)
{
    uint8_t *cap = slot_cap(port);
    bool link = pci_get_long(cap + PCI_EXP_LNKCAP) & PCI_EXP_LNKCAP_DLLLARC;
    bool button = pci_get_long(cap + PCI_EXP_SLTCAP) & PCI_EXP_SLTCAP_ABP;
    uint16_t sta = pci_get_word(cap + PCI_EXP_SLTSTA);
    uint16_t events = PCI_EXP_SLTSTA_PDC | (button ? PCI_EXP_SLTSTA_ABP : 0);

    g_assert(bql_locked());
    if (!!(sta & PCI_EXP_SLTSTA_PDS) == present) {
        return;
    }
    pci_set_word(cap + PCI_EXP_SLTSTA, (sta ^ PCI_EXP_SLTSTA_PDS) | events);
    if (link && present) {
        pci_word_test_and_set_mask(cap + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_DLLLA);
    } else if (link) {
        pci_word_test_and_clear_mask(cap + PCI_EXP_LNKSTA,
                                     PCI_EXP_LNKSTA_DLLLA);
    }
    qemu_bh_schedule(f->drive->power.bh);
}

/*
 * May the drive appear again?  A guest that listens to the slot must have seen
 * it go, and have switched the slot off; a drive that is there at that moment
 * would be taken out by QEMU, for good.
 */
bool vssd_slot_is_ready(PCIDevice *port)
{
    uint8_t *cap = slot_cap(port);
    uint16_t ctl = pci_get_word(cap + PCI_EXP_SLTCTL);
    uint32_t can = pci_get_long(cap + PCI_EXP_SLTCAP);

    if (!(ctl & PCI_EXP_SLTCTL_HPIE)) {
        return true;
    }
    if (pci_get_word(cap + PCI_EXP_SLTSTA) & PCI_EXP_SLTSTA_PDC) {
        return false;
    }
    if (can & PCI_EXP_SLTCAP_PCP && !(ctl & PCI_EXP_SLTCTL_PCC)) {
        return false;
    }
    return !(can & PCI_EXP_SLTCAP_PIP) ||
           (ctl & PCI_EXP_SLTCTL_PIC) == PCI_EXP_SLTCTL_PWR_IND_OFF;
}

/*
 * PCI Express Base Specification 6.0, 6.7.3.3, Data Link Layer State Changed;
 * QEMU's ports do not know it, so a write of the guest has to clear it.
 * Presence goes with the link: QEMU takes a drive out for good that is there
 * when the guest switches the slot off.
 */
void vssd_slot_show_link(VssdFunction *f, bool up)
{
    PCIDevice *port = vssd_slot_of(f);
    uint8_t *cap;

    g_assert(bql_locked());
    if (!port) {
        return;
    }
    cap = slot_cap(port);
    vssd_slot_set_present(f, port, up);
    if (pci_get_long(cap + PCI_EXP_LNKCAP) & PCI_EXP_LNKCAP_DLLLARC) {
        pci_word_test_and_set_mask(port->w1cmask + port->exp.exp_cap +
                                       PCI_EXP_SLTSTA,
                                   PCI_EXP_SLTSTA_DLLSC);
        pci_word_test_and_set_mask(cap + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_DLLSC);
    }
}

bool vssd_slot_is_heard(PCIDevice *port)
{
    return pci_get_word(slot_cap(port) + PCI_EXP_SLTCTL) & PCI_EXP_SLTCTL_HPIE;
}
