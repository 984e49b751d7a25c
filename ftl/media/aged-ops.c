/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aged-ops.c - operations of a drive that is being aged, in the order of their
 * submission.
 *
 * Knows the operations; state/age.c ends them.
 */
#include "media/aged-ops.h"
#include "media/programmed.h"
#include "ssd-internal.h"

bool age_is_on(const Ssd *ssd)
{
    return ssd->age && ssd->age->on;
}

void age_destroy(Ssd *ssd)
{
    if (ssd->age) {
        g_free(ssd->age->op);
        g_free(ssd->age);
    }
}

bool age_takes(Ssd *ssd, const NandOp *op)
{
    Age *a = ssd->age;

    if (!a || !a->on) {
        return false;
    }
    /* A plane has few operations of GC under way at a time. */
    invariant((a->capacity & (a->capacity - 1)) == 0);
    invariant(a->n < a->capacity);
    a->op[(a->first + a->n++) & (a->capacity - 1)] = *op;
    return true;
}

void age_op(Ssd *ssd, const NandOp *op)
{
    nand_age(ssd->nand, op, ssd->now_ps);
    if (op->kind == NAND_PROGRAM || op->kind == NAND_COPYBACK) {
        programmed_count(ssd, op);
    }
}
