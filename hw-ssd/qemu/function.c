/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function.c - PCI functions: each is one controller of a drive.
 *
 * Knows PCI configuration space, BARs, MSI-X and the reset of a function; knows
 * nothing of NVMe beyond the class code, and nothing of the drive's parts.
 * vssd.c, vssd-ctrl.c and sriov.c derive devices from it.
 */
#include "qemu/osdep.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "trace.h"

#include "compat.h"
#include "vssd.h"

#define VSSD_PCI_PM_OFFSET  0x60
#define VSSD_PCI_EXP_OFFSET 0x80

/* ---- set-up -------------------------------------------------------------- */

static bool add_capabilities(PCIDevice *pci, Error **errp)
{
    int ret;

    if (pci_add_capability(pci, PCI_CAP_ID_PM, VSSD_PCI_PM_OFFSET,
                           PCI_PM_SIZEOF, errp) < 0) {
        return false;
    }
    pci_set_word(pci->config + VSSD_PCI_PM_OFFSET + PCI_PM_PMC, 3);
    pci_set_word(pci->config + VSSD_PCI_PM_OFFSET + PCI_PM_CTRL,
                 PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(pci->wmask + VSSD_PCI_PM_OFFSET + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK);
    if (pci_bus_is_express(pci_get_bus(pci))) {
        ret = pcie_endpoint_cap_init(pci, VSSD_PCI_EXP_OFFSET);
        if (ret < 0) {
            error_setg_errno(errp, -ret, "vssd: no PCI Express capability");
            return false;
        }
        pcie_cap_flr_init(pci);
        pcie_cap_deverr_init(pci);
    }
    return true;
}

static bool add_msix(VssdFunction *f, unsigned vectors, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(f);

    if (msix_init(pci, vectors, &f->bar0, 0, VSSD_MSIX_TABLE, &f->bar0, 0,
                  VSSD_MSIX_PBA, 0, errp) < 0) {
        return false;
    }
    if (f->drive->prop
            .sriov_vfs) { /* show_vectors(): it need not be as it was */
        pci_word_test_and_clear_mask(
            pci->cmask + pci->msix_cap + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_QSIZE);
    }
    for (unsigned i = 0; i < vectors; i++) {
        msix_vector_use(pci, i);
    }
    vssd_irqfd_join(f);
    return true;
}

bool vssd_function_init(VssdFunction *f, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(f);

    vssd_hold_init(f);
    pci_config_set_interrupt_pin(pci->config, 1);
    pci_config_set_prog_interface(pci->config, 0x02); /* NVM Express */
    if (!add_capabilities(pci, errp)) {
        return false;
    }
    memory_region_init(&f->bar0, OBJECT(f), "vssd-bar0", VSSD_BAR0_SIZE);
    memory_region_init_io(&f->regs, OBJECT(f), &vssd_reg_ops, f, "vssd",
                          NVME_REG_SIZE);
    f->regs.disable_reentrancy_guard = true; /* see serve.c */
    memory_region_add_subregion(&f->bar0, 0, &f->regs);
    pci_register_bar(
        pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64,
        &f->bar0);
    return add_msix(
        f, f->n_vectors ? f->n_vectors : f->drive->prop.opt.num_vectors, errp);
}

void vssd_function_take_back(VssdFunction *f)
{
    PCIDevice *pci = PCI_DEVICE(f);

    g_assert(bql_locked());
    vssd_irqfd_part(f);
    if (msix_present(pci)) {
        msix_uninit(pci, &f->bar0, &f->bar0);
    }
    if (memory_region_is_mapped(&f->regs)) {
        /* A mapped region holds a reference to its owner: to this device. */
        memory_region_del_subregion(&f->bar0, &f->regs);
    }
}

/* ---- controllers of a drive ---------------------------------------------- */

void vssd_function_join(VssdFunction *f, NvmeCtrl *ctrl)
{
    g_assert(bql_locked());
    g_assert(!f->drive->serve.online || vssd_has_lock(f->drive));
    f->ctrl = ctrl;
    QTAILQ_INSERT_TAIL(&f->drive->functions, f, next);
    if (f->drive->serve.online) {
        vssd_kick_join(f);
    }
}

void vssd_function_part(VssdFunction *f)
{
    g_assert(bql_locked());
    g_assert(!f->drive->serve.online || vssd_has_lock(f->drive));
    QTAILQ_REMOVE(&f->drive->functions, f, next);
    f->ctrl = NULL;
}

void vssd_function_leave(VssdFunction *f)
{
    VssdDev *s = f->drive;

    g_assert(bql_locked());
    vssd_lock(s);
    nvme_remove_controller(f->ctrl);
    vssd_function_part(f);
    if (s->serve.online) {
        vssd_run_later(s);
    }
    vssd_unlock(s);
    f->drive = NULL;
    object_unref(OBJECT(s));
}

char *vssd_function_path(VssdFunction *f)
{
    return qdev_get_dev_path(DEVICE(f));
}

uint16_t vssd_function_cntlid(VssdFunction *f)
{
    g_autofree char *path = vssd_function_path(f);

    return 1 + g_str_hash(path) % VSSD_MAX_CNTLID;
}

/* ---- the end ------------------------------------------------------------- */

/* When it returns, no thread is in the middle of a DMA of the function, but for
 * the calling one, and none begins another. */
static void leave_bus(VssdFunction *f)
{
    bool locked = vssd_lock(f->drive);

    g_assert(bql_locked());
    qatomic_set(&f->off_bus, true);
    if (locked) {
        vssd_unlock(f->drive);
    }
}

/* Does this thread work for the drive further up its stack?  Then nothing of
 * the drive may be freed. */
static bool is_inside(VssdDev *s)
{
    g_assert(bql_locked());
    return vssd_has_lock(s) || s->irq.sending || s->power.showing;
}

static void end_later(VssdFunction *f);

/* Not inside. */
static void end_now(VssdFunction *f)
{
    vssd_kick_part(f);
    VSSD_FUNCTION_GET_CLASS(f)->end(f);
}

static void end_bh(void *opaque)
{
    VssdFunction *f = opaque;

    if (f->drive && is_inside(f->drive)) {
        end_later(f); /* an event loop in another device's work */
        return;
    }
    if (f->drive) {
        end_now(f);
    }
    object_unref(OBJECT(f));
}

static void end_later(VssdFunction *f)
{
    aio_bh_schedule_oneshot(qemu_get_aio_context(), end_bh, f);
}

/*
 * A guest can have the drive's own work unplug it.  A fault that an IOMMU
 * reports while it translates the drive's DMA, and an interrupt of the drive,
 * are writes to an address that the guest chooses; that may be the register of
 * the hot-plug slot in which the drive is.  Then the function goes at once, and
 * the rest of it when that work has ended.
 */
void vssd_function_exit(PCIDevice *pci)
{
    VssdFunction *f = VSSD_FUNCTION(pci);

    if (f->drive) {
        leave_bus(f);
    }
    vssd_function_take_back(f);
    if (!f->drive) {
        return; /* it has gone before, with the controller */
    }
    if (is_inside(f->drive)) {
        object_ref(OBJECT(f));
        end_later(f);
    } else {
        end_now(f);
    }
}

void vssd_function_strand(VssdFunction *f)
{
    g_assert(bql_locked());
    vssd_power_show_gone(f);
    if (f->pin_sent && !qatomic_read(&f->off_bus)) {
        f->pin_sent = false;
        pci_set_irq(PCI_DEVICE(f), 0);
    }
    leave_bus(f);
    end_now(f);
}

/* ---- the bus ------------------------------------------------------------- */

/* A drive in several slots has power while one of them has; that of a virtual
 * function is that of its physical one. */
static bool any_enabled(VssdDev *s)
{
    VssdFunction *f;

    QTAILQ_FOREACH(f, &s->functions, next)
    {
        PCIDevice *pci = PCI_DEVICE(f);

        if (pci->enabled && !pci_is_vf(pci) && !qatomic_read(&f->off_bus)) {
            return true;
        }
    }
    return false;
}

/* Of the machine, of the function, or because the guest has switched the power
 * of the slot off or on. */
static void reset_physical(VssdFunction *f)
{
    VssdDev *s = f->drive;

    g_assert(vssd_has_lock(s));
    if (!any_enabled(s)) {
        nvme_power_cut(f->ctrl, vssd_now(s));
    } else if (nvme_powered(f->ctrl)) {
        nvme_reset(f->ctrl, vssd_now(s));
    } else if (PCI_DEVICE(f)->enabled) {
        vssd_power_restore(s);
    }
}

/* VF Enable may have enabled or disabled it. */
static void reset_virtual(VssdFunction *f)
{
    uint64_t now_ns = vssd_now(f->drive);

    g_assert(bql_locked());
    nvme_secondary_enable(f->ctrl, now_ns, PCI_DEVICE(f)->enabled);
    if (nvme_powered(f->ctrl)) {
        nvme_reset(f->ctrl, now_ns);
    }
}

static void function_reset(DeviceState *dev)
{
    VssdFunction *f = VSSD_FUNCTION(dev);
    VssdDev *s = f->drive;

    trace_vssd_reset(f);
    if (!s || !vssd_lock(s)) {
        return;
    }
    if (pci_is_vf(PCI_DEVICE(f))) {
        reset_virtual(f);
    } else {
        reset_physical(f);
    }
    vssd_recording_flush(s);
    vssd_unlock(s);
}

static bool is_absent(VssdFunction *f)
{
    return !f->drive || qatomic_read(&f->drive->power.off) ||
           qatomic_read(&f->link_down);
}

/* With virtual functions the controller's vectors change: those that it has now
 * are what the guest finds as the size of the table. */
static void show_vectors(VssdFunction *f)
{
    PCIDevice *pci = PCI_DEVICE(f);

    if (f->drive->prop.sriov_vfs && msix_present(pci) && vssd_lock(f->drive)) {
        pci_set_word_by_mask(pci->config + pci->msix_cap + PCI_MSIX_FLAGS,
                             PCI_MSIX_FLAGS_QSIZE, nvme_vectors(f->ctrl) - 1);
        vssd_unlock(f->drive);
    }
}

static uint32_t function_read_config(PCIDevice *pci, uint32_t addr, int len)
{
    VssdFunction *f = VSSD_FUNCTION(pci);

    if (!is_absent(f)) {
        show_vectors(f);
    }
    return is_absent(f) ? UINT32_MAX >> (32 - 8 * len)
                        : pci_default_read_config(pci, addr, len);
}

static void function_write_config(PCIDevice *pci, uint32_t addr, uint32_t value,
                                  int len)
{
    VssdFunction *f = VSSD_FUNCTION(pci);

    if (is_absent(f)) {
        return;
    }
    pci_default_write_config(pci, addr, value, len);
    if (pci_is_express(pci)) {
        pcie_cap_flr_write_config(pci, addr, value, len);
    }
    if (ranges_overlap(addr, len, PCI_COMMAND, 2)) {
        vssd_irq_command_written(f);
    }
}

/* ---- class --------------------------------------------------------------- */

static void function_class_init(ObjectClass *klass, VssdClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->exit = vssd_function_exit;
    pc->config_read = function_read_config;
    pc->config_write = function_write_config;
    pc->vendor_id = VSSD_PCI_VENDOR_ID;
    pc->device_id = VSSD_PCI_DEVICE_ID;
    pc->subsystem_vendor_id = VSSD_PCI_VENDOR_ID;
    pc->subsystem_id = VSSD_PCI_DEVICE_ID;
    pc->class_id = PCI_CLASS_STORAGE_EXPRESS;
    pc->revision = 1;

    set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
    device_class_set_legacy_reset(dc, function_reset);
}

static const TypeInfo function_type = {
    .name = TYPE_VSSD_FUNCTION,
    .parent = TYPE_PCI_DEVICE,
    .abstract = true,
    .instance_size = sizeof(VssdFunction),
    .class_size = sizeof(VssdFunctionClass),
    .class_init = function_class_init,
    .interfaces = (InterfaceInfo[]){{INTERFACE_PCIE_DEVICE}, {}},
};

static void function_register(void)
{
    type_register_static(&function_type);
}

type_init(function_register)
