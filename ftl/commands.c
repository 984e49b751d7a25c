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
    ssd->commands.cmd[cmd].next = NONE;
    if (f->head == NONE) {
        f->head = cmd;
    } else {
        ssd->commands.cmd[f->tail].next = cmd;
    }
    f->tail = cmd;
}

void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd)
{
    ssd->commands.cmd[cmd].next = f->head;
    if (f->head == NONE) {
        f->tail = cmd;
    }
    f->head = cmd;
}

uint32_t fifo_pop(Ssd *ssd, CmdFifo *f)
{
    uint32_t cmd = f->head;

    if (cmd != NONE) {
        f->head = ssd->commands.cmd[cmd].next;
    }
    return cmd;
}

void cmd_account(Ssd *ssd, Cmd *c, CostIndex cost)
{
    c->cost_ps[cost] += ssd->now_ps - c->mark_ps;
    c->mark_ps = ssd->now_ps;
}
