/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.c - the drive's time.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"

#include "simtime.h"
#include "vssd.h"

uint64_t vssd_clock_ns(VssdDev *s)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) -
           qatomic_read(&s->clock.epoch_ns);
}

uint64_t vssd_now(VssdDev *s)
{
    int64_t t = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - s->clock.epoch_ns;

    g_assert(vssd_has_lock(s));
    if (s->serve.stopped) {
        return s->clock.now_ns;
    }
    /* Two threads may have read the clock in one order and locked in the
     * other; and a model that counts picoseconds ends after 213 days, which
     * keep_in_range() puts off. */
    s->clock.now_ns = MAX(s->clock.now_ns, MIN(MAX(t, 0), SIM_LAST_NS));
    return s->clock.now_ns;
}

void vssd_clock_begin(VssdDev *s, uint64_t now_ns)
{
    s->clock.now_ns = now_ns;
    s->clock.epoch_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - now_ns;
}

void vssd_clock_set(VssdDev *s, uint64_t now_ns)
{
    s->clock.now_ns = now_ns;
}
