/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-irq.h - how an interrupt reaches the guest without waiting for anybody,
 * as an eventfd, and one interrupt for several commands (irq.c, irqfd.c,
 * hold.c).
 */
#ifndef VSSD_QEMU_IRQ_H
#define VSSD_QEMU_IRQ_H

#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"

#include "nvme.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

typedef struct VssdIrqfd VssdIrqfd; /* irqfd.c */

/* Interrupts of a submission queue that are held (hold.c). */
typedef struct VssdHold {
    uint32_t held;  /* commands that have ended and were not signalled */
    uint16_t burst; /* signalled together; 1: none is held */
    uint32_t since; /* commands since the burst changed */
    uint16_t gap;   /* commands until it is to grow */
    bool probing;   /* it has grown, and was not yet reached */
} VssdHold;

typedef struct VssdIrq {
    bool noted;     /* atomic; by one of the functions */
    bool scheduled; /* atomic */
    bool sending;
    int cpu; /* atomic; index of the vCPU that last rang, or -1 */
    QEMUBH *bh;
    bool fds; /* irqfd.c; fixed when the drive is there */

    /* hold.c */
    QEMUTimer *hold_timer; /* in run_ctx; NULL: nothing is held */
    bool hold_armed;
    uint64_t hold_until_ns; /* atomic: sent then, at the latest */

    /* Of the vCPU that rang last: index, or -1; how often in a row, up to
     * ALONE_MIN. */
    int hold_cpu;
    uint16_t hold_alone;
} VssdIrq;

/* ---- irqfd.c ------------------------------------------------------------ */

/* Check the property; the events of a function, which has its MSI-X table.
 */
bool vssd_irqfd_init(VssdDev *s, Error **errp);
void vssd_irqfd_join(VssdFunction *f);
void vssd_irqfd_part(VssdFunction *f);

/* A message of the function, through its bus. */
void vssd_irq_send_msix(VssdFunction *f, unsigned vector);

/* Signal what was noted, as far as events reach the guest. */
void vssd_irqfd_signal(VssdDev *s);

/* The machine has stopped: send what was signalled. */
void vssd_irqfd_flush(VssdDev *s);

/* ---- irq.c -------------------------------------------------------------- */

/* Note one; it is sent when the lock is let go. */
void vssd_irq_msix(VssdFunction *f, unsigned vector);
void vssd_irq_pin(VssdFunction *f, bool level);

/* Let go of the drive's lock, and send the interrupts that were noted. */
void vssd_unlock(VssdDev *s);

/* Send the noted interrupts of all functions, from a thread that may. */
void vssd_irq_deliver(VssdDev *s);
void vssd_irq_init(VssdDev *s);
/* The vCPU that rang last, or the first one. */
CPUState *vssd_irq_target(VssdDev *s);
/* The vCPU of this index has rung a doorbell; -1: none has. */
void vssd_irq_rung(VssdDev *s, int cpu);
void vssd_irq_stop(VssdDev *s);

/* The guest wrote the PCI command register; messages that waited for
 * bus mastering go out. */
void vssd_irq_command_written(VssdFunction *f);

/* The drive was loaded.  What was noted is of the one before. */
void vssd_irq_loaded(VssdFunction *f);

/* ---- hold.c ------------------------------------------------------------- */

/* A register is being written, the doorbell of this submission
 * queue, or 0.  A command has ended.  The write has had its effects: is the
 * interrupt to be held?  Then it will be sent in irq_hold_us= at the latest. */
void vssd_hold_begin(VssdFunction *f, unsigned sqid);
void vssd_hold_ended(VssdFunction *f, const NvmeTrace *t);
bool vssd_hold(VssdFunction *f);

void vssd_hold_init(VssdFunction *f);
/* run_ctx is known; stop: in its thread. */
void vssd_hold_start(VssdDev *s);
/* The machine stops.  What is held is sent when the lock is let go. */
void vssd_hold_pause(VssdDev *s);
void vssd_hold_stop(VssdDev *s);

#endif
