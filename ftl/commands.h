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

/* Required, all of them. */
struct CmdOps {
    /* The command ends now. */
    void (*finish)(Ssd *ssd, uint32_t cmd, SsdStatus status);
    /* It need wait no longer for one of its slots. */
    void (*slot_settled)(Ssd *ssd, uint32_t cmd);
    /* A READ: a unit that another one was loading is there, or cannot be read. */
    void (*load_settled)(Ssd *ssd, uint32_t cmd, uint32_t lpn, bool bad);
    /* A READ: an operation of the array for it has ended. */
    void (*read_done)(Ssd *ssd, uint32_t cmd, const NandOp *op);
    /* It knows where its units are (Cmd.map_pending is 0 again). */
    void (*map_ready)(Ssd *ssd, uint32_t cmd);
};

static inline void cmd_finish(Ssd *ssd, uint32_t cmd, SsdStatus status)
{
    ssd->cmd_ops->finish(ssd, cmd, status);
}

static inline void cmd_slot_settled(Ssd *ssd, uint32_t cmd)
{
    ssd->cmd_ops->slot_settled(ssd, cmd);
}

static inline void cmd_load_settled(Ssd *ssd, uint32_t cmd, uint32_t lpn,
                                    bool bad)
{
    ssd->cmd_ops->load_settled(ssd, cmd, lpn, bad);
}

static inline void cmd_read_done(Ssd *ssd, uint32_t cmd, const NandOp *op)
{
    ssd->cmd_ops->read_done(ssd, cmd, op);
}

static inline void cmd_map_ready(Ssd *ssd, uint32_t cmd)
{
    ssd->cmd_ops->map_ready(ssd, cmd);
}

/* Account the time since the last mark to a cost. */
void cmd_account(Ssd *ssd, Cmd *c, CostIndex cost);

void fifo_push(Ssd *ssd, CmdFifo *f, uint32_t cmd);
void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd);
uint32_t fifo_pop(Ssd *ssd, CmdFifo *f); /* NONE: it is empty */

#endif
