/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-bus.c - the channel: who has it, and for how long.
 *
 * A phase is granted as a whole.  Knows nothing of units and what they do next.
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
               (op->grouped ? t->change_ps : 0);
    }
}

static void bus_grant(Nand *n, uint32_t c, uint32_t i, uint64_t now_ps)
{
    Channel *ch = &n->channel[c];
    uint64_t ps;

    nand_enter(n, i, PHASE_BUS, now_ps);
    ps = bus_phase_ps(n, &n->op[i]);
    ch->owner = i;
    ch->busy_ps += ps;
    ch->until_ps = now_ps + ps;
    n->stats.bus_busy_ps += ps;
    eventq_push(n->q, now_ps + ps, NAND_EVENT_BUS_DONE, i);
}

/*
 * A command that waits behind a transfer keeps its die from working, for want
 * of some hundred nanoseconds; and once two dies have met on the channel, they
 * would meet in every round.
 */
static bool carries_data(const NandOp *op)
{
    return op->step == STEP_OUT ||
           (op->step == STEP_IN && op->kind == NAND_PROGRAM);
}

void nand_bus_ask(Nand *n, uint32_t i, Step step, uint64_t now_ps)
{
    uint32_t c = n->op[i].channel;

    n->op[i].step = (uint8_t)step;
    nand_enter(n, i, PHASE_BUS_WAIT, now_ps);
    if (n->channel[c].owner == NONE) {
        bus_grant(n, c, i, now_ps);
    } else if (carries_data(&n->op[i])) {
        nand_list_push(n, &n->channel[c].waiting, i);
    } else {
        nand_list_push(n, &n->channel[c].commands, i);
    }
}

void nand_bus_release(Nand *n, uint32_t c, uint64_t now_ps)
{
    Channel *ch = &n->channel[c];
    OpList *list = ch->commands.head == NONE ? &ch->waiting : &ch->commands;
    uint32_t next = nand_best_of(n, list, now_ps);

    ch->owner = NONE;
    if (next != NONE) {
        nand_list_remove(n, list, next);
        bus_grant(n, c, next, now_ps);
    }
}
