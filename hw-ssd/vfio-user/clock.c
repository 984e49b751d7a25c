/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.c - the host's time, and the drive's.
 */
#include <time.h>

#include "server.h"
#include "simtime.h"

uint64_t vfio_host_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

uint64_t vfio_now(Server *s)
{
    uint64_t t = vfio_host_ns() - s->epoch_ns;

    if (!s->stopped) {
        s->now_ns = MAX(s->now_ns, MIN(t, SIM_LAST_NS));
    }
    return s->now_ns;
}
