/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssd-clock.h - the drive's time, its timer, and waiting for the instant of a
 * completion (clock.c, lead.c, wake.c).
 */
#ifndef VSSD_QEMU_CLOCK_H
#define VSSD_QEMU_CLOCK_H

#include "qemu/osdep.h"
#include "qemu/timer.h"

typedef struct VssdDev VssdDev;
typedef struct VssdFunction VssdFunction;

/* The most of a lead time. */
#define VSSD_LEAD_MAX_NS 50000

/* vCPUs that have an estimate of their own; others share. */
#define VSSD_WAKE_CPUS 64

typedef struct VssdClock {
    QEMUTimer *timer;       /* in run_ctx */
    uint64_t timer_ns;      /* atomic; its instant; SSD_TIME_NEVER: none */
    uint64_t timer_fire_ns; /* when it was set to fire, a little earlier */
    int64_t epoch_ns; /* QEMU_CLOCK_VIRTUAL at the drive's time 0; atomic for
                         vssd_clock_ns() */
    uint64_t now_ns;  /* the last instant given to the controller */

    /* lead.c, wake.c */
    bool spin;        /* before an instant; fixed when the machine is there */
    uint64_t lead_ns; /* how late a timer wakes its thread */
    uint64_t
        wake_ns[VSSD_WAKE_CPUS]; /* how late a sleeping vCPU wakes; by index */
    bool target_slept;           /* the vCPU of irq_cpu, at the last instant */
    bool handed;                 /* atomic; a vCPU waits */
    int64_t handed_ns;           /* since when, host time; by who set handed */
    int64_t spin_left_ns;        /* that may be spun; below 0: not now */
    int64_t spin_seen_ns;        /* host time, when that was counted */
    int64_t spun_ns;             /* atomic; not yet counted */
    uint64_t spun_all_ns;        /* counted */
} VssdClock;

/* ---- clock.c ------------------------------------------------------------ */

/* The drive's clock; of any thread, and where the controller is run: there it
 * stands when the machine does. */
uint64_t vssd_clock_ns(VssdDev *s);
uint64_t vssd_now(VssdDev *s);

/* Before the guest runs: the time now.  Then, of a drive that was loaded and is
 * stopped. */
void vssd_clock_begin(VssdDev *s, uint64_t now_ns);
void vssd_clock_set(VssdDev *s, uint64_t now_ns);

/* ---- lead.c ------------------------------------------------------------- */

/* How many ns before its instant the timer has to fire. */
uint64_t vssd_lead(VssdDev *s);

/* What was spun since the last time counts. */
void vssd_lead_pay(VssdDev *s);

/* The estimate of a sleeping vCPU, and any of them: so late it was now. */
uint64_t *vssd_lead_of_cpu(VssdDev *s, int index);
void vssd_lead_learn(uint64_t *lead_ns, uint64_t late_ns);

/* ---- wake.c ------------------------------------------------------------- */

/* The thread of the timer: wait until its instant.  false: a vCPU waits, and
 * serves then. */
bool vssd_wake_wait(VssdDev *s);

#endif
