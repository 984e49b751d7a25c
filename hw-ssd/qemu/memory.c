/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.c - memory of the drive that the guest reaches at a BAR: the
 * controller memory buffer (BAR 2) and the persistent memory region (BAR 4).
 *
 * Both are RAM: the guest's loads and stores do not leave it, and the
 * controller reads and writes the same bytes.  They go with a machine that is
 * saved or moved, as its RAM does.  The controller says when the guest may see
 * them; that changes the memory map, so it waits for a thread with the BQL.
 *
 * Knows BARs and memory backends; knows no registers.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "system/hostmem.h"

#include "vssd.h"

#define CMB_BAR 2
#define PMR_BAR 4

/* ---- callbacks of the controller ----------------------------------------- */

uint64_t vssd_memory_address(void *opaque, unsigned bar)
{
    VssdFunction *f = opaque;

    return qatomic_read(&f->off_bus) ? UINT64_MAX
                                     : pci_get_bar_addr(PCI_DEVICE(f), bar);
}

static MemoryRegion *region(VssdDev *s, unsigned bar)
{
    return bar == CMB_BAR ? (s->memory.has_cmb ? &s->memory.cmb : NULL)
                          : s->memory.pmr_region;
}

void vssd_memory_written(void *opaque, unsigned bar, uint64_t offset,
                         uint64_t bytes)
{
    VssdFunction *f = opaque;

    memory_region_set_dirty(region(f->drive, bar), offset, bytes);
}

static void show(VssdDev *s)
{
    static const unsigned bars[] = {CMB_BAR, PMR_BAR};

    g_assert(bql_locked());
    for (unsigned i = 0; i < ARRAY_SIZE(bars); i++) {
        MemoryRegion *mr = region(s, bars[i]);

        if (mr) {
            memory_region_set_enabled(
                mr, qatomic_read(&s->memory.bars_shown) >> bars[i] & 1);
        }
    }
}

static void show_bh(void *opaque)
{
    show(opaque);
}

void vssd_memory_show(void *opaque, unsigned bar, bool on)
{
    VssdFunction *f = opaque;
    VssdDev *s = f->drive;

    g_assert(vssd_has_lock(s) || bql_locked());
    if (on) {
        qatomic_or(&s->memory.bars_shown, 1U << bar);
    } else {
        qatomic_and(&s->memory.bars_shown, ~(1U << bar));
    }
    if (bql_locked()) {
        show(s);
    } else {
        qemu_bh_schedule(s->memory.bh);
    }
}

bool vssd_memory_sync(void *opaque)
{
    VssdFunction *f = opaque;
    VssdDev *s = f->drive;

    return qemu_msync(memory_region_get_ram_ptr(s->memory.pmr_region),
                      memory_region_size(s->memory.pmr_region),
                      memory_region_get_fd(s->memory.pmr_region)) == 0;
}

/* ---- life ---------------------------------------------------------------- */

static bool make_cmb(VssdDev *s, Error **errp)
{
    if (!memory_region_init_ram(&s->memory.cmb, OBJECT(s), "vssd-cmb",
                                s->prop.opt.cmb, errp)) {
        return false;
    }
    s->memory.has_cmb = true;
    s->nvme_cfg.cmb = memory_region_get_ram_ptr(&s->memory.cmb);
    return true;
}

static bool take_pmr(VssdDev *s, Error **errp)
{
    if (host_memory_backend_is_mapped(s->prop.pmr)) {
        error_setg(errp, "vssd: pmr=%s: another device has this memory backend",
                   object_get_canonical_path_component(OBJECT(s->prop.pmr)));
        return false;
    }
    host_memory_backend_set_mapped(s->prop.pmr, true);
    s->memory.pmr_region = host_memory_backend_get_memory(s->prop.pmr);
    vmstate_register_ram(s->memory.pmr_region, DEVICE(s));
    s->nvme_cfg.pmr = memory_region_get_ram_ptr(s->memory.pmr_region);
    return true;
}

bool vssd_memory_init(VssdDev *s, Error **errp)
{
    GError *error = NULL;

    g_assert(bql_locked());
    s->nvme_cfg = nvme_options_config(&s->prop.opt);
    s->nvme_cfg.pmr_bytes =
        s->prop.pmr
            ? memory_region_size(host_memory_backend_get_memory(s->prop.pmr))
            : 0;
    if (!nvme_memory_ok(&s->nvme_cfg, &error)) {
        error_setg(errp, "vssd: %s", error->message);
        g_error_free(error);
        return false;
    }
    s->memory.bh = qemu_bh_new(show_bh, s); /* not guarded: see serve.c */
    return (!s->prop.opt.cmb || make_cmb(s, errp)) &&
           (!s->prop.pmr || take_pmr(s, errp));
}

void vssd_memory_add_bars(VssdDev *s)
{
    uint8_t type = PCI_BASE_ADDRESS_SPACE_MEMORY |
                   PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH;

    if (s->memory.has_cmb) {
        pci_register_bar(PCI_DEVICE(s), CMB_BAR, type, &s->memory.cmb);
    }
    if (s->memory.pmr_region) {
        pci_register_bar(PCI_DEVICE(s), PMR_BAR, type, s->memory.pmr_region);
    }
}

void vssd_memory_stop(VssdDev *s)
{
    g_assert(bql_locked());
    if (s->memory.pmr_region) {
        vmstate_unregister_ram(s->memory.pmr_region, DEVICE(s));
        host_memory_backend_set_mapped(s->prop.pmr, false);
        s->memory.pmr_region = NULL;
    }
    if (s->memory.bh) {
        qemu_bh_delete(s->memory.bh);
        s->memory.bh = NULL;
    }
}
