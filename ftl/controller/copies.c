/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.c - pages that are read to be copied, on their way through the
 * controller.
 *
 * Knows what a page costs; does not know who copies it, or why.
 */
#include "controller/controller.h"
#include "pool.h"
#include "ssd-internal.h"

static IlistLinks chain(const Controller *c)
{
    return ILIST_CHAIN(c->copy, NandOp, next);
}

static uint64_t work_ps(const Ssd *ssd, uint64_t units)
{
    return ssd->cfg->t_gc_page_ps + units * ssd->cfg->t_gc_unit_ps;
}

bool copy_waits(Ssd *ssd, const NandOp *op)
{
    Controller *c = ssd->controller;
    uint64_t units = op->bytes >> ssd->unit_shift;
    uint64_t ps = work_ps(ssd, units);
    uint64_t end_ps = ps > 0 ? core_run_gc(ssd, ps) : ssd->now_ps;
    uint64_t moved_ps = dram_share(ssd, op->bytes);
    uint32_t i;

    if (c->dram_map_ps) {
        moved_ps = dram_map(ssd, units);
    }
    end_ps = MAX(end_ps, moved_ps);
    if (end_ps <= ssd->now_ps) {
        return false;
    }
    c->copy = pool_grow(c->copy, chain(c), &c->free_copy, &c->n_copies, 16);
    i = pool_take(chain(c), &c->free_copy);
    c->copy[i] = *op;
    controller_pend(ssd);
    eventq_push(&ssd->events, end_ps, SSD_EVENT_COPY, i);
    return true;
}

NandOp copy_take(Ssd *ssd, uint32_t copy)
{
    Controller *c = ssd->controller;
    NandOp op = c->copy[copy];

    invariant(copy < c->n_copies);
    controller_unpend(ssd);
    pool_give(chain(c), &c->free_copy, copy);
    return op;
}

void copy_inside(Ssd *ssd)
{
    uint64_t ps = work_ps(ssd, ssd->l.units_per_page);

    if (ps > 0) {
        core_run_gc(ssd, ps);
    }
}
