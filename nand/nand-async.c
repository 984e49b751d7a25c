/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-async.c - asynchronous plane reads (nand.async_reads): which plane of a
 * die may start a read.
 *
 * Each plane has an address and a page register of its own for reads, so that
 * they start and end independently of each other (ONFI 5.1, asynchronous
 * independent plane read; "independent multi-plane read" of vendors).  Programs
 * and erases need the voltages of the whole die: they begin when no plane
 * reads, and no plane reads while they run, unless they are suspended.
 *
 * Knows the places of planes; the phases of a read are nand.c's.
 */
#include "nand-internal.h"

/* Can the plane start a read?  With nand.cache_read also while data of the last
 * one leaves. */
static bool may_start(const Nand *n, uint32_t plane)
{
    const Unit *own = nand_plane_unit(n, plane);

    return own->array == NONE && (own->out == NONE || n->cfg.cache_read);
}

uint32_t nand_async_pick(const Nand *n, uint32_t next)
{
    uint32_t first;

    if (next == NONE || n->op[next].kind != NAND_READ) {
        return NONE;
    }
    if (may_start(n, n->op[next].plane)) {
        return next;
    }
    first = n->op[next].die * n->geo.planes_per_die;
    for (uint32_t p = first; p < first + n->geo.planes_per_die; p++) {
        uint32_t i = may_start(n, p) ? nand_first_read(n, p) : NONE;

        if (i != NONE) {
            return i;
        }
    }
    return NONE;
}

bool nand_async_busy(const Nand *n, const Unit *u)
{
    uint32_t first = (uint32_t)(u - n->unit) * n->geo.planes_per_die;

    for (uint32_t p = first; p < first + n->geo.planes_per_die; p++) {
        const Unit *own = nand_plane_unit(n, p);

        if (own->array != NONE || own->out != NONE) {
            return true;
        }
    }
    return false;
}
