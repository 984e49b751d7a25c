/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.c - the machine of a controller (NvmeMachine): DMA, interrupts,
 * memory at BARs, and what it reports.
 *
 * Knows which file answers; opaque is the VssdFunction.
 */
#include "qemu/osdep.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "qemu/error-report.h"
#include "trace.h"

#include "vssd.h"

/* ---- memory of the guest ------------------------------------------------ */

/* RAM only: no device's registers, so no other device's code runs. */
static MemTxAttrs dma_attrs(VssdFunction *f)
{
    return (MemTxAttrs){.memory = 1,
                        .requester_id = pci_requester_id(PCI_DEVICE(f))};
}

static int machine_dma_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    VssdFunction *f = opaque;
    AddressSpace *as = pci_get_address_space(PCI_DEVICE(f));

    if (qatomic_read(&f->off_bus) ||
        address_space_read(as, addr, dma_attrs(f), buf, len)) {
        trace_vssd_dma_fault(f, "read", addr, len);
        return -EFAULT;
    }
    return 0;
}

static int machine_dma_write(void *opaque, uint64_t addr, const void *buf,
                             size_t len)
{
    VssdFunction *f = opaque;
    AddressSpace *as = pci_get_address_space(PCI_DEVICE(f));

    if (qatomic_read(&f->off_bus) ||
        address_space_write(as, addr, dma_attrs(f), buf, len)) {
        trace_vssd_dma_fault(f, "write", addr, len);
        return -EFAULT;
    }
    return 0;
}

/* ---- interrupts --------------------------------------------------------- */

static void machine_msix(void *opaque, unsigned vector)
{
    vssd_irq_msix(opaque, vector);
}

static void machine_pin(void *opaque, bool level)
{
    if (!pci_is_vf(PCI_DEVICE(opaque))) { /* they have no pin */
        vssd_irq_pin(opaque, level);
    }
}

static bool machine_msix_enabled(void *opaque)
{
    return msix_enabled(PCI_DEVICE(opaque));
}

/* ---- reports ------------------------------------------------------------ */

static void machine_power_lost(void *opaque)
{
    vssd_power_lost(opaque);
}

static void machine_trace(void *opaque, const NvmeTrace *t)
{
    VssdFunction *f = opaque;
    VssdDev *s = f->drive;
    uint64_t late_ns = t->complete_ns ? s->clock.now_ns - t->complete_ns : 0;

    if (t->end) {
        trace_vssd_command_end(f, t->sqid, t->cid, t->admin, t->opcode,
                               t->status, s->clock.now_ns, late_ns);
        vssd_account(s, t);
        vssd_hold_ended(f, t);
    } else {
        trace_vssd_command_start(f, t->sqid, t->cid, t->admin, t->opcode,
                                 t->nsid, t->lba, t->nblocks);
        trace_vssd_command_data(f, t->sqid, t->cid, t->prp[0], t->prp[1]);
    }
}

static void machine_trace_parts(void *opaque, uint16_t sqid, uint16_t cid,
                                const SsdCompletion *c)
{
    g_autoptr(GString) text = NULL;

    if (!trace_event_get_state_backends(TRACE_VSSD_COMMAND_PARTS)) {
        return;
    }
    text = g_string_new(NULL);
#define PART(name, help)                                                       \
    if (c->cost.name##_ns) {                                                   \
        g_string_append_printf(text, " " #name " %" PRIu64,                    \
                               c->cost.name##_ns);                             \
    }
    SSD_COSTS(PART)
#undef PART
    trace_vssd_command_parts(opaque, sqid, cid, c->submit_ns,
                             c->complete_ns - c->submit_ns, text->str);
}

/* The drive goes on without the policy. */
static void warn_of_policy(void *opaque, const char *line)
{
    warn_report("vssd: %s", line);
}

void vssd_watch_policies(VssdDev *s)
{
    ssd_on_policy_fault(s->ssd, warn_of_policy, s);
}

const NvmeMachine vssd_machine = {
    .dma_read = machine_dma_read,
    .dma_write = machine_dma_write,
    .msix = machine_msix,
    .pin = machine_pin,
    .msix_enabled = machine_msix_enabled,
    .power_lost = machine_power_lost,
    .bar_address = vssd_memory_address,
    .bar_written = vssd_memory_written,
    .bar_show = vssd_memory_show,
    .pmr_sync = vssd_memory_sync,
    .unplug = vssd_faults_unplug,
    .shadows = vssd_kick_shadows,
    .trace = machine_trace,
    .trace_parts = machine_trace_parts,
    .notify = vssd_event_notify,
};

NvmeCtrl *vssd_new_controller(VssdDev *s)
{
    return nvme_new(&vssd_machine, &vssd_store, &s->fn);
}
