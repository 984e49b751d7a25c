/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.h - what every component may do with the record of a host command.
 *
 * What becomes of a command is host/'s: it gave the drive CmdOps when that was
 * made.  A component that works for a command calls them by the functions below.
 */
#ifndef VSSD_FTL_COMMANDS_H
#define VSSD_FTL_COMMANDS_H

#include "ssd-internal.h"

static inline void cmd_finish(Ssd *ssd, uint32_t cmd, SsdStatus status)
{
    ssd->commands.ops->finish(ssd, cmd, status);
}

static inline void cmd_slot_settled(Ssd *ssd, uint32_t cmd)
{
    ssd->commands.ops->slot_settled(ssd, cmd);
}

static inline void cmd_load_settled(Ssd *ssd, uint32_t cmd, uint32_t lpn,
                                    bool bad)
{
    ssd->commands.ops->load_settled(ssd, cmd, lpn, bad);
}

static inline void cmd_read_done(Ssd *ssd, uint32_t cmd, const NandOp *op)
{
    ssd->commands.ops->read_done(ssd, cmd, op);
}

static inline void cmd_map_ready(Ssd *ssd, uint32_t cmd)
{
    ssd->commands.ops->map_ready(ssd, cmd);
}

/* Account the time since the last mark to a cost. */
void cmd_account(Ssd *ssd, Cmd *c, CostIndex cost);

void fifo_push(Ssd *ssd, CmdFifo *f, uint32_t cmd);
void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd);
uint32_t fifo_pop(Ssd *ssd, CmdFifo *f); /* NONE: it is empty */

#endif
