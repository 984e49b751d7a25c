/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controller-private.h - set-up of each part, and one service of a part. */
#ifndef VSSD_FTL_CONTROLLER_PRIVATE_H
#define VSSD_FTL_CONTROLLER_PRIVATE_H

#include "layers.h"
#if FTL_LAYER != FTL_CONTROLLER && FTL_LAYER != FTL_ALL
#error "private to ftl/controller: docs/architecture.md"
#endif

#include "controller/controller.h"

void cores_init(Ssd *ssd);
void link_init(Ssd *ssd);
void dram_init(Ssd *ssd);

/*
 * A part that is free at *free_ps serves for ps, from from_ps at the earliest.
 * Returns the end, in ps, also in *free_ps; counts service and wait.
 */
static inline uint64_t part_serve(Controller *c, HostPart part,
                                  uint64_t *free_ps, uint64_t from_ps,
                                  uint64_t ps)
{
    uint64_t start_ps = from_ps;

    if (*free_ps > from_ps) {
        start_ps = *free_ps;
        c->use.wait_ps[part] += start_ps - from_ps;
    }
    c->use.busy_ps[part] += ps;
    *free_ps = start_ps + ps;
    return *free_ps;
}

#endif
