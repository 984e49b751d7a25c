/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cores.c - the cores that run the firmware.
 *
 * A core does one piece of work at a time; the one that is free first takes
 * what comes next.
 */
#include "controller/controller-private.h"
#include "controller/controller.h"
#include "ssd-internal.h"

void cores_init(Ssd *ssd)
{
    ssd->controller->core_ps = g_new0(uint64_t, MAX(ssd->cfg->cores, 1));
}

uint64_t core_run_at(Ssd *ssd, uint64_t from_ps, uint64_t ps)
{
    Controller *c = ssd->controller;
    uint32_t first = 0;

    if (ssd->cfg->cores == 0) {
        c->use.busy_ps[HOST_CORES] += ps;
        return from_ps + ps;
    }
    for (uint32_t i = 1; i < ssd->cfg->cores; i++) {
        if (c->core_ps[i] < c->core_ps[first]) {
            first = i;
        }
    }
    return part_serve(c, HOST_CORES, &c->core_ps[first], from_ps, ps);
}

uint64_t core_run(Ssd *ssd, uint64_t ps)
{
    return core_run_at(ssd, ssd->now_ps, ps);
}

uint64_t core_run_gc(Ssd *ssd, uint64_t ps)
{
    Controller *c = ssd->controller;

    c->use.gc_busy_ps += ps;
    return ssd->cfg->gc_core
               ? part_serve(c, HOST_CORES, &c->gc_core_ps, ssd->now_ps, ps)
               : core_run(ssd, ps);
}
