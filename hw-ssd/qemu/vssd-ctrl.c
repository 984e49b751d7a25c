/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-ctrl.c - a further controller of a drive, as a PCI device.
 *
 *   -device vssd,id=d0,controllers=2,...  -device vssd-ctrl,subsys=d0
 *
 * It has a PCI function, and all else is the drive's, whose configuration it
 * takes over (nvme.h, nvme_add_controller()).  It may be plugged and unplugged
 * while the others work.  It keeps the drive from being unplugged by the user.
 * If the guest removes the drive, its controllers go with it (vssd.c); an empty
 * function is left then, which answers all ones.
 *
 * Knows what such a device needs and gives back; knows nothing of the drive's
 * parts.
 */
#include "qemu/osdep.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/module.h"

#include "compat.h"
#include "vssd.h"

#define TYPE_VSSD_CTRL "vssd-ctrl"
OBJECT_DECLARE_SIMPLE_TYPE(VssdCtrlDev, VSSD_CTRL)

struct VssdCtrlDev {
    VssdFunction fn;
    uint16_t cntlid;       /* 0: by the slot */
    Error *unplug_blocker; /* of the drive */
};

/* ---- life ---------------------------------------------------------------- */

static bool check_drive(VssdFunction *f, Error **errp)
{
    VssdDev *s = f->drive;

    if (!s) {
        error_setg(errp, "vssd-ctrl: subsys=ID is missing: give the id of the "
                         "vssd device that has the drive");
        return false;
    }
    if (!DEVICE(s)->realized || qatomic_read(&s->fn.off_bus)) {
        error_setg(errp, "vssd-ctrl: subsys=%s: the drive is being unplugged",
                   DEVICE(s)->id);
        return false;
    }
    if (qatomic_read(&s->power.off)) {
        error_setg(errp, "vssd-ctrl: subsys=%s: the drive has no power",
                   DEVICE(s)->id);
        return false;
    }
    if (!vssd_serve_admits(f)) {
        error_setg(errp,
                   "vssd-ctrl: subsys=%s: the slot is behind an IOMMU, and no "
                   "controller of the drive was at the start",
                   DEVICE(s)->id);
        return false;
    }
    return true;
}

/* By the slot.  Where a controller has that identifier, the next one that is
 * free: so it is the same again if the controllers come in the same order. */
static uint16_t choose_id(VssdFunction *f)
{
    VssdCtrlDev *c = VSSD_CTRL(f);

    return c->cntlid ? c->cntlid
                     : nvme_free_cntlid(f->drive->ctrl, vssd_function_cntlid(f),
                                        VSSD_MAX_CNTLID);
}

static bool add_controller(VssdFunction *f, Error **errp)
{
    VssdDev *s = f->drive;
    g_autoptr(GError) error = NULL;
    NvmeCtrl *ctrl;

    if (!vssd_lock(s)) {
        error_setg(errp, "vssd-ctrl: the drive is busy");
        return false;
    }
    ctrl = nvme_add_controller(s->ctrl, &vssd_machine, f, choose_id(f), &error);
    if (ctrl) {
        vssd_function_join(f, ctrl);
    } else {
        error_setg(errp, "vssd-ctrl: %s", error->message);
    }
    vssd_unlock(s);
    return ctrl != NULL;
}

static void ctrl_realize(PCIDevice *pci, Error **errp)
{
    VssdFunction *f = VSSD_FUNCTION(pci);
    g_autofree char *path = vssd_function_path(f);
    VssdCtrlDev *c = VSSD_CTRL(pci);

    if (!check_drive(f, errp)) {
        return;
    }
    if (c->cntlid > VSSD_MAX_CNTLID) {
        error_setg(errp, "vssd-ctrl: cntlid=%u: allowed 0..%u", c->cntlid,
                   VSSD_MAX_CNTLID);
        return;
    }
    if (!vssd_function_init(f, errp) || !add_controller(f, errp)) {
        vssd_function_take_back(f);
        return;
    }
    error_setg(&c->unplug_blocker,
               "vssd: the drive has a further controller, '%s': unplug it "
               "first",
               DEVICE(f)->id ? DEVICE(f)->id : path);
    qdev_add_unplug_blocker(DEVICE(f->drive), c->unplug_blocker);
}

/* VssdFunctionClass.end.  The link to the drive counts as a reference to it. */
static void ctrl_end(VssdFunction *f)
{
    VssdCtrlDev *c = VSSD_CTRL(f);

    qdev_del_unplug_blocker(DEVICE(f->drive), c->unplug_blocker);
    error_free(c->unplug_blocker);
    c->unplug_blocker = NULL;
    vssd_function_leave(f);
}

/* ---- class --------------------------------------------------------------- */

/* The controller itself is in the stream of its drive. */
static const VMStateDescription ctrl_vmstate = {
    .name = TYPE_VSSD_CTRL,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields =
        (const VMStateField[]){
            VMSTATE_PCI_DEVICE(fn.parent_obj, VssdCtrlDev),
            VMSTATE_MSIX(fn.parent_obj, VssdCtrlDev),
            VMSTATE_END_OF_LIST(),
        },
};

static const Property ctrl_properties[] = {
    DEFINE_PROP_UINT16("cntlid", VssdCtrlDev, cntlid, 0),
    DEFINE_PROP_LINK("subsys", VssdCtrlDev, fn.drive, TYPE_VSSD, VssdDev *),
};

static void ctrl_class_init(ObjectClass *klass, VssdClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    PCI_DEVICE_CLASS(klass)->realize = ctrl_realize;
    VSSD_FUNCTION_CLASS(klass)->end = ctrl_end;

    dc->desc = "further controller of a modelled NVMe SSD";
    dc->vmsd = &ctrl_vmstate;
    device_class_set_props(dc, ctrl_properties);
}

static const TypeInfo ctrl_type = {
    .name = TYPE_VSSD_CTRL,
    .parent = TYPE_VSSD_FUNCTION,
    .instance_size = sizeof(VssdCtrlDev),
    .class_init = ctrl_class_init,
};

static void ctrl_register(void)
{
    type_register_static(&ctrl_type);
}

type_init(ctrl_register)
