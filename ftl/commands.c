/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.c - the records of host commands: lists of them, the account of their
 * time, and how those who work for one say that something has ended.
 *
 * Below every component: a command is a number to all but host/.
 */
#include "commands.h"
#include "ssd-internal.h"

void fifo_push(Ssd *ssd, CmdFifo *f, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    ififo_push(cmd_chain(ssd), f, cmd);
}

void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    ififo_push_front(cmd_chain(ssd), f, cmd);
}

uint32_t fifo_pop(Ssd *ssd, CmdFifo *f)
{
    return ififo_pop(cmd_chain(ssd), f);
}

void cmd_account(Ssd *ssd, Cmd *c, CostIndex cost)
{
    invariant(ssd->now_ps >= c->mark_ps);
    c->cost_ps[cost] += ssd->now_ps - c->mark_ps;
    c->mark_ps = ssd->now_ps;
}
