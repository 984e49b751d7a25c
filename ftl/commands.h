/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.h - operations of every component on the record of a host command.
 *
 * host/ completes commands: it gave the drive CmdOps when that was
 * made.  A component that works for a command calls them by the functions
 * below.
 */
#ifndef VSSD_FTL_COMMANDS_H
#define VSSD_FTL_COMMANDS_H

#include "pool.h"
#include "ssd-internal.h"

static inline void cmd_finish(Ssd *ssd, uint32_t cmd, SsdStatus status)
{
    ssd->commands.ops->finish(ssd, cmd, status);
}

static inline void cmd_slot_settled(Ssd *ssd, uint32_t cmd)
{
    ssd->commands.ops->slot_settled(ssd, cmd);
}

static inline void cmd_load_settled(Ssd *ssd, uint32_t cmd, uint64_t lpn,
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

/* The one place where the phase changes; asserts that it may. */
static inline void cmd_set_phase(Cmd *c, CmdPhase phase)
{
#define TO(p) (1U << CMD_##p)
    static const uint8_t legal[N_CMD_PHASES] = {
        [CMD_FREE] = TO(SUBMITTED),
        /* ENDING, DONE: refused, or aborted */
        [CMD_SUBMITTED] = TO(RUNNING) | TO(ENDING) | TO(DONE),
        [CMD_RUNNING] = TO(ENDING) | TO(DONE),
        [CMD_ENDING] = TO(DONE),
        [CMD_DONE] = TO(FREE),
    };
#undef TO

    invariant(c->phase < N_CMD_PHASES && legal[c->phase] >> phase & 1);
    c->phase = (uint8_t)phase;
}

static inline IlistLinks cmd_chain(const Ssd *ssd)
{
    return ILIST_CHAIN(ssd->commands.cmd, Cmd, next);
}

/* A free record: its phase is CMD_FREE.  The table may move. */
static inline uint32_t cmd_take(Ssd *ssd)
{
    Commands *c = &ssd->commands;

    c->cmd = pool_grow(c->cmd, cmd_chain(ssd), &c->free_cmd, &c->n_cmds, 64);
    return pool_take(cmd_chain(ssd), &c->free_cmd);
}

/* A command that is DONE ends. */
static inline void cmd_give(Ssd *ssd, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    cmd_set_phase(&ssd->commands.cmd[cmd], CMD_FREE);
    pool_give(cmd_chain(ssd), &ssd->commands.free_cmd, cmd);
}

void fifo_push(Ssd *ssd, CmdFifo *f, uint32_t cmd);
void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd);
uint32_t fifo_pop(Ssd *ssd, CmdFifo *f); /* NONE: it is empty */

#endif
