/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sriov.c - virtual functions of a drive (PCI Express Base Specification, 9,
 * Single Root I/O Virtualization and Sharing): each is a secondary controller.
 *
 * QEMU makes all virtual functions with the physical one, disabled; NumVFs and
 * VF Enable of the guest enable them.  So the controllers come and go with the
 * drive, and are told whether their function is there.
 *
 * Knows PCI functions; who may use which queues and vectors, the controller
 * knows.
 */
#include "qemu/osdep.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/module.h"

#include "compat.h"
#include "vssd.h"

#define TYPE_VSSD_VF "vssd-vf"
OBJECT_DECLARE_SIMPLE_TYPE(VssdVf, VSSD_VF)

struct VssdVf {
    VssdFunction fn;
};

#define VSSD_PCI_ARI_OFFSET   PCI_CONFIG_SPACE_SIZE
#define VSSD_PCI_SRIOV_OFFSET (VSSD_PCI_ARI_OFFSET + 0x20)

/* Routing identifiers of virtual functions, from the physical one on. */
#define VF_OFFSET 1
#define VF_STRIDE 1

/* ---- the physical function ---------------------------------------------- */

bool vssd_sriov_check(VssdDev *s, Error **errp)
{
    if (s->prop.sriov_vfs && !pci_bus_is_express(pci_get_bus(PCI_DEVICE(s)))) {
        error_setg(errp, "vssd: sriov_vfs=%u: needs a bus of PCI Express",
                   s->prop.sriov_vfs);
        return false;
    }
    return true;
}

unsigned vssd_sriov_most_vectors(VssdDev *s)
{
    return s->prop.sriov_vfs ? nvme_primary_most_vectors(s->ctrl)
                             : s->prop.opt.num_vectors;
}

bool vssd_sriov_init(VssdDev *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    g_assert(bql_locked());
    if (!s->prop.sriov_vfs) {
        return true;
    }
    pcie_ari_init(pci, VSSD_PCI_ARI_OFFSET);
    if (!pcie_sriov_pf_init(pci, VSSD_PCI_SRIOV_OFFSET, TYPE_VSSD_VF,
                            VSSD_PCI_DEVICE_ID, s->prop.sriov_vfs,
                            s->prop.sriov_vfs, VF_OFFSET, VF_STRIDE, errp)) {
        pci->exp.sriov_cap = 0; /* no functions to be told of a reset */
        error_prepend(errp, "vssd: sriov_vfs=%u: ", s->prop.sriov_vfs);
        return false;
    }
    s->has_vfs = true;
    pcie_sriov_pf_init_vf_bar(
        pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64,
        VSSD_BAR0_SIZE);
    return true;
}

void vssd_sriov_stop(VssdDev *s)
{
    if (s->has_vfs) {
        s->has_vfs = false;
        pcie_sriov_pf_exit(PCI_DEVICE(s));
    }
}

/* ---- virtual functions -------------------------------------------------- */

static uint16_t number(VssdFunction *f)
{
    return pcie_sriov_vf_number(PCI_DEVICE(f)) + 1;
}

/* A new controller of the drive, whose identifiers follow that of the primary.
 */
static void join_drive(VssdFunction *f)
{
    VssdDev *s = f->drive;
    uint16_t vfn = number(f);
    bool locked = vssd_lock(s);
    uint16_t id = nvme_free_cntlid(s->ctrl, s->cntlid + vfn, VSSD_MAX_CNTLID);
    NvmeCtrl *ctrl =
        nvme_add_secondary(s->ctrl, &vssd_machine, f, id, vfn, NULL);

    vssd_function_join(f, ctrl);
    s->vf[vfn - 1] = f;
    if (locked) {
        vssd_unlock(s);
    }
}

static void vf_realize(PCIDevice *pci, Error **errp)
{
    VssdFunction *f = VSSD_FUNCTION(pci);

    if (!pci_is_vf(pci)) {
        error_setg(errp, "vssd-vf: only as a virtual function: give a drive "
                         "sriov_vfs=");
        return;
    }
    f->drive = VSSD(pcie_sriov_get_pf(pci));
    f->n_vectors = nvme_secondary_most_vectors(f->drive->ctrl);
    if (!vssd_function_init(f, errp)) {
        vssd_function_take_back(f);
        return;
    }
    pci_config_set_interrupt_pin(pci->config, 0);
    pcie_ari_init(pci, VSSD_PCI_ARI_OFFSET);
    object_ref(OBJECT(f->drive)); /* until vssd_function_leave() */
    join_drive(f);
}

NvmeCtrl *vssd_sriov_add(VssdFunction *f, NvmeCtrl *first, GError **error)
{
    return nvme_add_secondary(first, &vssd_machine, f, nvme_cntlid(f->ctrl),
                              number(f), error);
}

/* ---- saving ------------------------------------------------------------- */

/* The controllers are in the stream of the drive; this is what PCI has. */
static const VMStateDescription function_vmstate = {
    .name = TYPE_VSSD_VF,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields =
        (const VMStateField[]){
            VMSTATE_PCI_DEVICE(parent_obj, VssdFunction),
            VMSTATE_MSIX(parent_obj, VssdFunction),
            VMSTATE_END_OF_LIST(),
        },
};

static bool has_functions(void *opaque)
{
    return ((VssdDev *)opaque)->prop.sriov_vfs > 0;
}

/* After the physical function, whose capability enables and resets them. */
const VMStateDescription vssd_sriov_vmstate = {
    .name = "vssd-drive/vfs",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = has_functions,
    .fields =
        (const VMStateField[]){
            {
                .name = "vf",
                .num_offset =
                    vmstate_offset_value(VssdDev, prop.sriov_vfs, uint16_t),
                .vmsd = &function_vmstate,
                .size = sizeof(VssdFunction *),
                .flags = VMS_VARRAY_UINT16 | VMS_STRUCT | VMS_ARRAY_OF_POINTER,
                .offset = offsetof(VssdDev, vf),
            },
            VMSTATE_END_OF_LIST(),
        },
};

/* ---- class -------------------------------------------------------------- */

static void vf_class_init(ObjectClass *klass, VssdClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    PCI_DEVICE_CLASS(klass)->realize = vf_realize;
    VSSD_FUNCTION_CLASS(klass)->end = vssd_function_leave;
    dc->desc = "virtual function of a modelled NVMe SSD";
    dc->user_creatable = false;
}

static const TypeInfo vf_type = {
    .name = TYPE_VSSD_VF,
    .parent = TYPE_VSSD_FUNCTION,
    .instance_size = sizeof(VssdVf),
    .class_init = vf_class_init,
};

static void vf_register(void)
{
    type_register_static(&vf_type);
}

type_init(vf_register)
