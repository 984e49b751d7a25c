/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controller.c - the parts of the controller together: made, emptied. */
#include "controller/controller-private.h"
#include "controller/controller.h"
#include "ssd-internal.h"

void controller_init(Ssd *ssd)
{
    ssd->controller->free_copy = ILIST_NONE;
    cores_init(ssd);
    link_init(ssd);
    dram_init(ssd);
}

void controller_pend(Ssd *ssd)
{
    ssd->controller->pending++;
}

void controller_unpend(Ssd *ssd)
{
    invariant(ssd->controller->pending > 0);
    ssd->controller->pending--;
}

void controller_destroy(Ssd *ssd)
{
    g_free(ssd->controller->core_ps);
    g_free(ssd->controller->copy);
}

/* What a part that is booked until then has not served yet.  A gap between now
 * and its last service counts as service: it is at most a command's firmware
 * time. */
static uint64_t ahead(const Ssd *ssd, uint64_t until_ps)
{
    return until_ps - MIN(until_ps, ssd->now_ps);
}

HostUse controller_use(const Ssd *ssd)
{
    const Controller *c = ssd->controller;
    HostUse u = c->use;
    uint64_t ahead_ps[N_HOST_PARTS] = {
        [HOST_LINK_IN] = ahead(ssd, c->link_in_ps),
        [HOST_LINK_OUT] = ahead(ssd, c->link_out_ps),
        [HOST_CORES] = ahead(ssd, c->gc_core_ps),
        [HOST_DRAM] =
            ahead(ssd, c->dram_move_ps ? c->dram_free_ps : c->dram_in_ps),
    };

    for (uint32_t i = 0; i < ssd->cfg->cores; i++) {
        ahead_ps[HOST_CORES] += ahead(ssd, c->core_ps[i]);
    }
    for (unsigned i = 0; i < N_HOST_PARTS; i++) {
        u.busy_ps[i] -= MIN(u.busy_ps[i], ahead_ps[i]);
    }
    u.gc_busy_ps -= MIN(u.gc_busy_ps, ahead(ssd, c->gc_core_ps));
    return u;
}

void controller_power_lost(Ssd *ssd)
{
    ssd->controller->use = controller_use(ssd);
    ssd->controller->link_in_ps = ssd->now_ps;
    ssd->controller->link_out_ps = ssd->now_ps;
    ssd->controller->dram_in_ps = ssd->now_ps;
    ssd->controller->dram_free_ps = ssd->now_ps;
    for (uint32_t i = 0; i < ssd->cfg->cores; i++) {
        ssd->controller->core_ps[i] = ssd->now_ps;
    }
    ssd->controller->gc_core_ps = ssd->now_ps;
    g_clear_pointer(&ssd->controller->copy, g_free);
    ssd->controller->n_copies = 0;
    ssd->controller->free_copy = ILIST_NONE;
    ssd->controller->pending = 0;
}
