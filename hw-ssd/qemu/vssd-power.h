/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-power.h - power cuts as the machine sees them, and scripted faults at
 * run time (slot.c, power.c, faults.c).
 */
#ifndef VSSD_QEMU_POWER_H
#define VSSD_QEMU_POWER_H

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "hw/pci/pci.h"
#include "qom/object.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

typedef struct VssdPower {
    bool off;              /* atomic */
    QEMUTimer *timer;      /* power comes back */
    bool slots_were_ready; /* when the timer last looked */
    QEMUBH *bh;            /* show that it has gone */
    bool showing;
    QEMUTimer *link_timer; /* links come back */

    /* faults.c */
    QEMUBH *fault_bh;
    uint64_t link_ns;
    bool remove_asked;
    uint64_t remove_ns;
} VssdPower;

/* ---- slot.c ------------------------------------------------------------- */

/* The port whose hot-plug slot the function is in, or NULL. */
PCIDevice *vssd_slot_of(VssdFunction *f);

/* Does the guest listen to it?  May the drive appear in it again? */
bool vssd_slot_is_heard(PCIDevice *port);
bool vssd_slot_is_ready(PCIDevice *port);

/* The drive is there, or not; the same with its link. */
void vssd_slot_set_present(VssdFunction *f, PCIDevice *port, bool present);
void vssd_slot_show_link(VssdFunction *f, bool up);

/* In a bottom half: interrupt on what has changed. */
void vssd_slot_notify(PCIDevice *port);

/* ---- power.c ------------------------------------------------------------ */

/* The controller of the function has lost its power, as all have. */
void vssd_power_lost(VssdFunction *f);

/* The drive goes, and the slot of the function shows it. */
void vssd_power_show_gone(VssdFunction *f);

/* A reset finds the power off. */
void vssd_power_restore(VssdDev *s);

/* The drive was loaded, with its power on or off. */
void vssd_power_loaded(VssdDev *s);
/* It does not come back by itself. */
void vssd_power_stays(VssdDev *s);

void vssd_power_init(VssdDev *s);
void vssd_power_stop(VssdDev *s);
void vssd_power_class_init(ObjectClass *klass);

/* It loses its power as if it were pulled out; it is back
 * after for_ns, 0: when told. */
void vssd_power_remove(VssdDev *s, uint64_t for_ns);

/* The slots of functions with link_down show it; links are
 * back after for_ns, 0: when told. */
void vssd_power_links_lost(VssdDev *s, uint64_t for_ns);

/* ---- faults.c ------------------------------------------------------------ */

/* Of NvmeMachine; opaque is the VssdFunction. */
void vssd_faults_unplug(void *opaque, bool removed, uint64_t for_ns);

void vssd_faults_init(VssdDev *s);
void vssd_faults_stop(VssdDev *s);
void vssd_faults_class_init(ObjectClass *klass);

#endif
