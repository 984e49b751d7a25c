/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h - host commands. */
#ifndef VSSD_FTL_HOST_H
#define VSSD_FTL_HOST_H

#include "ssd-internal.h"

/* ---- host.c ------------------------------------------------------------ */

void host_init_link(Ssd *ssd);
void host_start(Ssd *ssd, uint32_t cmd);

/* The drive is ready, for which the command has waited. */
void host_start_now(Ssd *ssd, uint32_t cmd);
void host_data(Ssd *ssd, uint32_t cmd);
void host_done(Ssd *ssd, uint32_t cmd);
void host_read_done(Ssd *ssd, uint32_t cmd, const NandOp *op);

/* Writes that wait for room will get none. */
void host_fail_waiting(Ssd *ssd);

/* The command need wait no longer for one of its slots. */
void host_slot_settled(Ssd *ssd, uint32_t cmd);
/* A READ: a unit that another one was loading is there, or cannot be read. */
void host_load_settled(Ssd *ssd, uint32_t cmd, uint32_t lpn, bool bad);
/* The command knows where its units are (Cmd.map_pending is 0 again). */
void host_map_ready(Ssd *ssd, uint32_t cmd);
/* Slots have become free: go on with the writes that wait for them. */
void host_room(Ssd *ssd);

/* Account the time since the last mark to a cost. */
void host_account(Ssd *ssd, Cmd *c, CostIndex cost);

/* End the command now. */
void host_finish(Ssd *ssd, uint32_t cmd, SsdStatus status);

void fifo_push(Ssd *ssd, CmdFifo *f, uint32_t cmd);
void fifo_push_front(Ssd *ssd, CmdFifo *f, uint32_t cmd);
uint32_t fifo_pop(Ssd *ssd, CmdFifo *f);

#endif
