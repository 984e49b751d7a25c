/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-watch.c - report to a watcher which resources each operation held, and
 * for how long; and to whoever asks what each operation does now.
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

NandSpan nand_transfer(const NandOp *op)
{
    static const NandSpan of_step[] = {
        [STEP_IN] = NAND_SPAN_IN,
        [STEP_STATUS] = NAND_SPAN_STATUS,
        [STEP_OUT] = NAND_SPAN_OUT,
    };

    return of_step[op->step];
}

static NandSpan span_of(const NandOp *op)
{
    switch (op->phase) {
    case PHASE_BUS:
        return nand_transfer(op);
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

void nand_each_op(const Nand *n, NandSee *see, void *opaque)
{
    static const uint8_t doing[N_PHASES] = {
        [PHASE_DIE_WAIT] = NAND_WAITS,  [PHASE_TURN] = NAND_HOLDS,
        [PHASE_BUS_WAIT] = NAND_HOLDS,  [PHASE_BUS] = NAND_TRANSFERS,
        [PHASE_LOADED] = NAND_HOLDS,    [PHASE_GAP] = NAND_WORKS,
        [PHASE_CELL] = NAND_WORKS,      [PHASE_SUSPENDING] = NAND_RESTS,
        [PHASE_SUSPENDED] = NAND_RESTS, [PHASE_READY] = NAND_HOLDS,
        [PHASE_ECC] = NAND_DECODES,
    };

    for (uint32_t i = 0; i < n->n_op; i++) {
        const NandOp *op = &n->op[i];

        if (op->phase != PHASE_FREE) {
            see(opaque, op, (NandDoing)doing[op->phase]);
        }
    }
}
