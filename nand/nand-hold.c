/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-hold.c - GC of a block that nothing interrupts (nand.gc_hold).
 *
 * Source: SSDSim 2.1 (Y. Hu et al., "Performance Impact and Interplay of SSD
 * Parallelism through Advanced Commands, Allocation Strategy and Data
 * Granularity", ICS 2011): its uninterruptible GC puts a channel and a chip
 * into the state of GC for all reads and programs of a victim, and then erases
 * it.  Here GC of a plane has the channel from its first operation on, as long
 * as it has one in the array, or submits one when the last one ends.
 * Operations that have begun on the channel end.  Of those that wait only that
 * GC's begin, and those that must go before them on their block.
 *
 * Knows who has a channel; which operation is next is nand-queue.c's.
 */
#include "nand-internal.h"

void nand_hold_forget(Nand *n)
{
    invariant(n->hold);
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        n->hold[c] = (Hold){.plane = NONE};
    }
}

void nand_hold_submitted(Nand *n, const NandOp *op)
{
    Hold *h = &n->hold[op->channel];

    if (op->cause != NAND_CAUSE_GC) {
        return;
    }
    if (h->plane == NONE) {
        h->plane = op->plane;
        invariant(h->n_ops == 0);
    }
    h->n_ops += h->plane == op->plane;
}

/* Operations of GC of the plane in the array. */
static uint32_t gc_ops_of(const Nand *n, uint32_t plane)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < n->n_op; i++) {
        found += n->op[i].phase != PHASE_FREE &&
                 n->op[i].cause == NAND_CAUSE_GC && n->op[i].plane == plane;
    }
    return found;
}

/* The plane whose GC has waited for the channel for longest; NONE: there is
 * none. */
static uint32_t next_plane(const Nand *n, uint32_t channel)
{
    const NandOp *first = NULL;

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if (op->phase != PHASE_FREE && op->cause == NAND_CAUSE_GC &&
            op->channel == channel && (!first || op->id < first->id)) {
            first = op;
        }
    }
    return first ? first->plane : NONE;
}

bool nand_hold_done(Nand *n, const NandOp *op)
{
    Hold *h = &n->hold[op->channel];

    if (op->cause != NAND_CAUSE_GC || op->plane != h->plane) {
        return false;
    }
    invariant(h->n_ops > 0);
    if (--h->n_ops > 0) {
        return false;
    }
    h->plane = next_plane(n, op->channel);
    h->n_ops = h->plane == NONE ? 0 : gc_ops_of(n, h->plane);
    return true;
}

bool nand_held_by_other(const Nand *n, uint32_t plane)
{
    uint32_t channel = plane / n->planes_per_channel;

    invariant(plane < n->geo.n_planes);
    return nand_is_held(n, channel) && n->hold[channel].plane != plane;
}

bool nand_hold_check(const Nand *n, GError **error)
{
    for (uint32_t c = 0; c < n->geo.n_channels; c++) {
        const Hold *h = &n->hold[c];
        bool fits = h->plane == NONE
                        ? h->n_ops == 0
                        : h->plane / n->planes_per_channel == c && h->n_ops > 0;

        if (!fits || (h->plane != NONE && h->n_ops != gc_ops_of(n, h->plane))) {
            return opt_fail(error, OPT_ERROR_VALUE,
                            "channel %u: held for %u operations", c, h->n_ops);
        }
    }
    return true;
}
