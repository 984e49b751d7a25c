/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check-resources.c - who holds each channel, plane and unit. */
#include "check.h"

/* ---- resources ----------------------------------------------------------- */

uint32_t plane_of(uint64_t page)
{
    return block_of(page) / k.h.blocks;
}

/* Something of the group holds it; others must have let go before. */
static bool hold(Held *h, uint64_t group, uint64_t from, uint64_t to)
{
    if (h->group != group) {
        h->other_end = h->end > h->other_end ? h->end : h->other_end;
        h->group = group;
        h->end = 0;
    }
    if (from < h->other_end && to > from) {
        return false;
    }
    h->end = to > h->end ? to : h->end;
    return true;
}

void hold_bus(const Op *op, uint64_t from)
{
    uint64_t *end = &k.channel_end[k.r.b];

    if (from < *end && k.r.at > from) {
        broken(op->page, op->owner, "overlap", "channel %u: a transfer from %"
               PRIu64 " ps on, while another lasts until %" PRIu64 " ps",
               k.r.b, from, *end);
    }
    *end = k.r.at;
}

/* With FLAG_ASYNC reads of several planes may overlap, but nothing else. */
static bool is_async(const Op *op)
{
    return k.h.flags & FLAG_ASYNC && op->kind == READ;
}

static bool hold_cells(Unit *u, const Op *op, uint64_t from)
{
    if (is_async(op)) {
        if (from < u->cell.end && k.r.at > from) {
            u->cell.other_end = u->cell.end;
            return false;
        }
        u->read_until = k.r.at > u->read_until ? k.r.at : u->read_until;
        return true;
    }
    if (from < u->read_until && k.r.at > from) {
        u->cell.other_end = u->read_until;
        return false;
    }
    return hold(&u->cell, op->group, from, k.r.at);
}

void hold_array(const Op *op, uint64_t from)
{
    uint32_t plane = plane_of(op->page);
    Unit *u = &k.unit[plane / k.planes_per_unit];

    if (!hold_cells(u, op, from)) {
        broken(op->page, op->owner, "overlap", "unit %u: the array works from %"
               PRIu64 " ps on, for another until %" PRIu64 " ps",
               plane / k.planes_per_unit, from, u->cell.other_end);
    }
    /* In a command, too, each plane has one operation. */
    if (!hold(&k.plane[plane], op->id, from, k.r.at)) {
        broken(op->page, op->owner, "overlap", "plane %u: two operations at "
               "once, from %" PRIu64 " ps on", plane, from);
    }
}

/* Without cache and suspend, a unit belongs to one command from its first bus
 * cycle to the last. */
void hold_unit(Op *op, uint64_t from)
{
    Unit *u = &k.unit[plane_of(op->page) / k.planes_per_unit];

    if (k.h.flags & (FLAG_CACHE | FLAG_SUSPEND) || op->holds) {
        return;
    }
    if (is_async(op) ? u->n_holders > 0 || from < u->released
                     : u->n_readers > 0 || from < u->readers_left) {
        broken(op->page, op->owner, "overlap", "unit %u belongs to %s",
               plane_of(op->page) / k.planes_per_unit,
               is_async(op) ? "a program or an erase" : "reads of its planes");
    }
    if (is_async(op)) {
        u->n_readers++;
        u = &k.reads[plane_of(op->page)];
    }
    if (u->n_holders > 0 ? u->holder != op->group : from < u->released) {
        broken(op->page, op->owner, "overlap",
               "unit %u belongs to the command "
               "of operation %" PRIu64 " until %" PRIu64 " ps",
               plane_of(op->page) / k.planes_per_unit, u->holder,
               u->n_holders ? k.r.at : u->released);
    }
    op->holds = true;
    u->holder = op->group;
    u->n_holders++;
}

void let_go(Op *op)
{
    Unit *u = &k.unit[plane_of(op->page) / k.planes_per_unit];

    if (op->holds && is_async(op)) {
        u->n_readers--;
        u->readers_left = k.r.at;
        u = &k.reads[plane_of(op->page)];
    }
    if (op->holds) {
        op->holds = false;
        u->n_holders--;
        u->released = k.r.at;
    }
}
