/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-bus.c - the channel: who has it, and for how long.
 *
 * A phase is granted as a whole.  Knows nothing of units and their next
 * operation.
 */
#include "nand-internal.h"

static uint64_t bus_phase_ps(const Nand *n, const NandOp *op)
{
    const NandTiming *t = &n->timing;

    switch (op->step) {
    case STEP_IN:
        switch (op->kind) {
        case NAND_READ:
            return t->read_cmd_ps;
        case NAND_PROGRAM:
            return nand_block_program(&n->geo, op->block) *
                   (t->program_cmd_ps + nand_data_ps(t, op->bytes));
        case NAND_COPYBACK:
            return op->second ? t->program_cmd_ps : t->read_cmd_ps;
        default:
            return t->erase_cmd_ps;
        }
    case STEP_STATUS:
        return t->status_ps;
    default:
        return t->read_out_ps + nand_data_ps(t, op->bytes) +
               (op->grouped || n->cfg.async_reads ? t->change_ps : 0);
    }
}

static inline void bus_grant(Nand *n, uint32_t c, uint32_t i, uint64_t now_ps)
{
    Channel *ch = &n->channel[c];
    uint64_t ps;

    nand_enter(n, i, PHASE_BUS, now_ps);
    ps = bus_phase_ps(n, &n->op[i]);
    ch->owner = i;
    ch->busy_ps += ps;
    ch->until_ps = now_ps + ps;
    eventq_push(n->q, now_ps + ps, NAND_EVENT_BUS_DONE, i);
}

/*
 * A command takes some hundred nanoseconds of the channel.  If it waits behind
 * a transfer, its die is idle for the whole transfer; and two dies that compete
 * for the channel once would do so in every round.
 */
static bool carries_data(const NandOp *op)
{
    return op->step == STEP_OUT ||
           (op->step == STEP_IN && op->kind == NAND_PROGRAM);
}

/* The operation of a list that the policy puts first; NONE: there is none.  There
 * are at most some for each unit of the channel. */
static uint32_t best_of(const Nand *n, const OpList *l, uint64_t now_ps)
{
    uint32_t best = l->head;
    unsigned best_rank;

    if (best == NONE || !n->sched->rank || n->op[best].next == NONE) {
        return best;
    }
    best_rank = n->sched->rank(&n->cfg, &n->op[best], now_ps);
    for (uint32_t i = n->op[best].next; i != NONE; i = n->op[i].next) {
        unsigned rank = n->sched->rank(&n->cfg, &n->op[i], now_ps);

        if (rank < best_rank) {
            best_rank = rank;
            best = i;
        }
    }
    return best;
}

/*
 * The phase of the group that has just had the channel, if one waits; else
 * NONE.
 *
 * Data-outs of several dies that are granted in turn, a plane of each, end
 * together.  Then all these dies read at the same time, and the channel has
 * nothing to carry.  If a die's planes go one after another, the first die
 * reads on while the next one sends.
 */
static uint32_t rest_of_group(const Nand *n, const OpList *l, uint64_t group)
{
    for (uint32_t i = l->head; i != NONE; i = n->op[i].next) {
        if (n->op[i].group == group && n->op[i].step == STEP_OUT) {
            return i;
        }
    }
    return NONE;
}

/* Has the channel waited for the operation during tDBSY?  (The owner may be one
 * that has just ended, and the operation one that has its place in the pool.)
 */
static bool is_kept_for(const Nand *n, const Channel *ch, uint32_t i)
{
    return ch->owner == i && n->op[i].phase == PHASE_GAP;
}

bool nand_bus_keeps(const Nand *n, const NandOp *op)
{
    return n->cfg.arbitration == NAND_ARBITRATION_GROUP && !carries_data(op);
}

void nand_bus_keep(Nand *n, uint32_t i, uint64_t now_ps)
{
    Channel *ch = &n->channel[n->op[i].channel];

    invariant(ch->owner != NONE);
    n->op[i].step = STEP_IN;
    ch->owner = i;
    ch->busy_ps += NAND_DBSY_PS;
    ch->until_ps = now_ps + NAND_DBSY_PS;
}

void nand_bus_ask(Nand *n, uint32_t i, Step step, uint64_t now_ps)
{
    uint32_t c = n->op[i].channel;
    bool kept = is_kept_for(n, &n->channel[c], i);

    n->op[i].step = (uint8_t)step;
    nand_enter(n, i, PHASE_BUS_WAIT, now_ps);
    if (n->channel[c].owner == NONE || kept) {
        bus_grant(n, c, i, now_ps);
    } else if (carries_data(&n->op[i])) {
        ififo_push(nand_op_chain(n), &n->channel[c].waiting, i);
    } else {
        ififo_push(nand_op_chain(n), &n->channel[c].commands, i);
    }
}

void nand_bus_pass_on(Nand *n, uint32_t c, uint64_t group, uint64_t now_ps)
{
    Channel *ch = &n->channel[c];
    OpList *list = ch->commands.head == NONE ? &ch->waiting : &ch->commands;
    uint32_t next = NONE;

    invariant(c < n->geo.n_channels && ch->owner == NONE);
    if (n->cfg.arbitration == NAND_ARBITRATION_GROUP && list == &ch->waiting) {
        next = rest_of_group(n, list, group);
    }
    if (next == NONE) {
        next = best_of(n, list, now_ps);
    }
    ififo_remove(nand_op_chain(n), list, next);
    bus_grant(n, c, next, now_ps);
}
