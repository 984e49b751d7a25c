/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host.h - host commands. */
#ifndef VSSD_FTL_HOST_H
#define VSSD_FTL_HOST_H

#include "layers.h"
#if FTL_LAYER < FTL_HOST
#error "ftl/host is above this component: docs/architecture.md"
#endif

#include "commands.h"
#include "host/host-internal.h"
#include "ssd-internal.h"

/* ---- timing.c ---------------------------------------------------------- */

/* How the host's path was used up to now. */
HostUse host_use(const Ssd *ssd);

/* Would a write that comes now wait longer than ftl.gc_urgent for the pace of
 * GC? */
bool host_writes_urgent(const Ssd *ssd, uint64_t now_ps);

/* The power has gone: no data waits to pass. */
void host_power_lost(Ssd *ssd);

/* ---- read.c ------------------------------------------------------------ */

/* The last data of a read is in the drive's memory. */
void host_data(Ssd *ssd, uint32_t cmd);

/* ---- host.c ------------------------------------------------------------ */

void host_start(Ssd *ssd, uint32_t cmd);

/* The drive is ready, for which the command has waited. */
void host_start_now(Ssd *ssd, uint32_t cmd);
void host_done(Ssd *ssd, uint32_t cmd);

/* The command's entry has crossed the link. */
void host_fetched(Ssd *ssd, uint32_t cmd);

/* Firmware has looked at what was read of the map for the command. */
void host_mapped(Ssd *ssd, uint32_t cmd);

/* The completion of a command that is CMD_ENDING is at the host. */
void host_end(Ssd *ssd, uint32_t cmd);

/* When the drive is made: who may hold back commands. */
void host_set_gate(Ssd *ssd, const HostGate *gate);

/* Notifications of other components about commands (commands.h). */
extern const CmdOps host_cmd_ops;

/* ssd_submit(), ssd_abort() and ssd_advance(), at the drive's now. */
int host_submit(Ssd *ssd, uint64_t now_ns, const SsdCmd *req);
bool host_abort(Ssd *ssd, uint64_t now_ns, uint64_t tag);
size_t host_fetch(Ssd *ssd, SsdCompletion *done, size_t max);

/* Writes that wait for room will get none. */
void host_fail_waiting(Ssd *ssd);

/* Slots have become free: go on with the writes that wait for them. */
void host_room(Ssd *ssd);

#endif
