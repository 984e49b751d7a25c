/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-power.h - power cuts as the machine sees them, and scripted faults at
 * run time (power.c, faults.c).
 */
#ifndef VSSD_QEMU_POWER_H
#define VSSD_QEMU_POWER_H

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "qom/object.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

typedef struct VssdPower {
    bool off;              /* atomic */
    QEMUTimer *timer;      /* main loop: power comes back */
    bool slots_were_ready; /* main loop: when the timer last looked */
    QEMUBH *bh;            /* main loop: show that it has gone */
    bool showing;          /* BQL */

    /* faults.c */
    QEMUBH *fault_bh;      /* main loop */
    QEMUTimer *link_timer; /* main loop: links come back */
    uint64_t link_ns;      /* under lock, these three */
    bool remove_asked;
    uint64_t remove_ns;
} VssdPower;

/* ---- power.c ------------------------------------------------------------ */

/* Lock held: the controller of the function has lost its power, as all have. */
void vssd_power_lost(VssdFunction *f);

/* BQL: the drive goes, and the slot of the function shows it. */
void vssd_power_show_gone(VssdFunction *f);

/* BQL and lock held: a reset finds the power off. */
void vssd_power_restore(VssdDev *s);

/* Lock held: the drive was loaded, with its power on or off. */
void vssd_power_loaded(VssdDev *s);
/* It does not come back by itself. */
void vssd_power_stays(VssdDev *s);

void vssd_power_init(VssdDev *s);
void vssd_power_stop(VssdDev *s); /* BQL held */
void vssd_power_class_init(ObjectClass *klass);

/* BQL held, lock not: it loses its power as if it were pulled out; it is back
 * after for_ns, 0: when told. */
void vssd_power_remove(VssdDev *s, uint64_t for_ns);

/* BQL held, lock not: the slots of functions with link_down show it; these are
 * there again.  false: the guest has not yet switched off a slot; try later. */
void vssd_power_links_lost(VssdDev *s);
bool vssd_power_links_back(VssdDev *s);

/* ---- faults.c ------------------------------------------------------------ */

/* Of NvmeMachine; opaque is the VssdFunction. */
void vssd_faults_unplug(void *opaque, bool removed, uint64_t for_ns);

/* BQL held: links that are down come back as soon as the guest is ready. */
void vssd_faults_links_back(VssdDev *s);

void vssd_faults_init(VssdDev *s);
void vssd_faults_stop(VssdDev *s); /* BQL held */
void vssd_faults_class_init(ObjectClass *klass);

#endif
