/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walltime.c - the only file of the simulator that reads a clock. */
#include "walltime.h"

#include <time.h>
#include <sys/resource.h>
#include <glib.h>

#include "simtime.h"

int64_t wall_us(void)
{
    return g_get_monotonic_time();
}

static uint64_t before_fork_ns;

void cpu_begin(uint64_t ns)
{
    before_fork_ns = ns;
}

uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return before_fork_ns + (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t peak_rss_bytes(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss * 1024;
}
