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

typedef struct SchedPolicy {
    const char *name;
    const char *help;
    /* NULL: in order of arrival. */
    unsigned (*rank)(const NandConfig *cfg, const NandOp *op, uint64_t now_ps);
} SchedPolicy;

extern const SchedPolicy *const sched_policies[]; /* NULL at the end */

#endif
