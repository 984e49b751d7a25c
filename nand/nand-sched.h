/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-sched.h - which of the operations that wait for a die, or a channel, is next.
 *
 * A policy ranks operations; the lowest rank goes first, and among equals the
 * one that came first.  The array itself sees to it that operations on one
 * block do not change places.
 */
#ifndef VSSD_NAND_SCHED_H
#define VSSD_NAND_SCHED_H

#include "nand.h"

/* At most so many classes. */
#define SCHED_CLASSES 4

typedef struct SchedPolicy {
    const char *name;
    const char *help;
    /* NULL: in order of arrival. */
    unsigned (*rank)(const NandConfig *cfg, const NandOp *op, uint64_t now_ps);
    /* With rank: 0..SCHED_CLASSES - 1, the same as long as the operation waits.
     * Of one class, none that came later ever has a lower rank than the first:
     * so only the first of each class is ranked. */
    unsigned (*class_of)(const NandOp *op);
    /* May this waiting read suspend a program or an erase?  NULL: each may. */
    bool (*may_suspend)(const NandOp *read);
} SchedPolicy;

/* May the operation suspend another one, by the policy? */
static inline bool sched_may_suspend(const SchedPolicy *policy,
                                     const NandOp *op)
{
    return op->kind == NAND_READ &&
           (!policy->may_suspend || policy->may_suspend(op));
}

extern const SchedPolicy *const sched_policies[]; /* NULL at the end */

#endif
