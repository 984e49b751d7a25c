/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nand-sched.c - the scheduling policies and their list. */
#include "nand-sched.h"

static const SchedPolicy sched_fifo = {
    .name = "fifo",
    .help = "in order of arrival",
};

static bool is_read(const NandOp *op)
{
    return op->kind == NAND_READ;
}

static unsigned class_read(const NandOp *op)
{
    return !is_read(op);
}

static unsigned rank_read_first(const NandConfig *cfg, const NandOp *op,
                                uint64_t now_ps)
{
    (void)cfg;
    (void)now_ps;
    return class_read(op);
}

static const SchedPolicy sched_read_first = {
    .name = "read-first",
    .help = "reads before programs and erases",
    .rank = rank_read_first,
    .class_of = class_read,
};

/* Of programs and erases the first one is overdue first. */
static unsigned rank_deadline(const NandConfig *cfg, const NandOp *op,
                              uint64_t now_ps)
{
    if (is_read(op)) {
        return 1;
    }
    return now_ps - op->submit_ps > cfg->write_deadline_ps ? 0 : 2;
}

static const SchedPolicy sched_read_first_deadline = {
    .name = "read-first-deadline",
    .help = "reads first, except after operations that have waited "
            "longer than nand.write_deadline",
    .rank = rank_deadline,
    .class_of = class_read,
};

static unsigned class_host(const NandOp *op)
{
    return !nand_for_host(op) * 2 + !is_read(op);
}

static unsigned rank_host_first(const NandConfig *cfg, const NandOp *op,
                                uint64_t now_ps)
{
    (void)cfg;
    (void)now_ps;
    return class_host(op);
}

static const SchedPolicy sched_host_first = {
    .name = "host-first",
    .help = "the host before GC, and of each the reads first; only reads for "
            "the host suspend",
    .rank = rank_host_first,
    .class_of = class_host,
    .may_suspend = nand_for_host,
};

const SchedPolicy *const sched_policies[] = {
    &sched_fifo,
    &sched_read_first,
    &sched_read_first_deadline,
    &sched_host_first,
    NULL,
};

const char *nand_sched_name(unsigned i)
{
    return sched_policies[i] ? sched_policies[i]->name : NULL;
}
