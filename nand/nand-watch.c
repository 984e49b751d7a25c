/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-watch.c - report to a watcher which resources each operation held, and
 * for how long.
 *
 * Knows the resources that each phase of an operation occupies; knows nothing
 * of why. Waiting is not reported: it is the time between the spans.
 */
#include "nand-internal.h"

void nand_watch(Nand *n, const NandWatch *watch, void *opaque)
{
    n->watch = watch;
    n->watch_opaque = opaque;
}

static NandSpan span_of(const NandOp *op)
{
    static const NandSpan of_step[] = {
        [STEP_IN] = NAND_SPAN_IN,
        [STEP_STATUS] = NAND_SPAN_STATUS,
        [STEP_OUT] = NAND_SPAN_OUT,
    };

    switch (op->phase) {
    case PHASE_BUS:
        return of_step[op->step];
    case PHASE_CELL:
        return NAND_SPAN_CELL;
    case PHASE_GAP:
        return NAND_SPAN_GAP;
    case PHASE_SUSPENDING:
        return NAND_SPAN_SUSPEND;
    case PHASE_ECC:
        return NAND_SPAN_ECC;
    default:
        return 0;
    }
}

void nand_watch_phase(const Nand *n, const NandOp *op, uint64_t now_ps)
{
    NandSpan span = span_of(op);

    if (span) {
        n->watch->span(n->watch_opaque, op, span, op->mark_ps, now_ps);
    }
}
