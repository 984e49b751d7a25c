/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-private.h - shared by the files of host/. */
#ifndef VSSD_FTL_HOST_PRIVATE_H
#define VSSD_FTL_HOST_PRIVATE_H

#include "layers.h"
#if FTL_LAYER != FTL_HOST && FTL_LAYER != FTL_ALL
#error "private to ftl/host: docs/architecture.md"
#endif

#include "host/host.h"

/* ---- timing.c: each call takes the part until the instant it returns --- */

/*
 * When the command begins to act: firmware, then the data of a write over the
 * link and into DRAM.  Both are first come, first served, so writes reach the
 * buffer in the order of their versions.
 */
uint64_t host_start_ps(Ssd *ssd, Cmd *c);

/* With buffer.mb_s a write's turn in DRAM is known when its data has crossed
 * the link.  true: it was not there yet, and starts again when it is. */
bool host_enters_dram(Ssd *ssd, uint32_t cmd);

/* When the data of a read, which is in the drive's memory, is at the host. */
uint64_t host_link_out(Ssd *ssd, const Cmd *c);

/* Data read from NAND goes through DRAM, at its rate, on its way to the host;
 * and is kept there or not. */
uint64_t host_dram_passed(Ssd *ssd, uint64_t units);

/* Does a completion take time?  If so: when it is at the host; the time until
 * then is accounted for. */
bool host_end_takes_time(const Ssd *ssd);
uint64_t host_end_ps(Ssd *ssd, Cmd *c);

/* ---- read.c ------------------------------------------------------------ */

/* Count the command, and start with its first unit. */
void read_start(Ssd *ssd, uint32_t cmd);

/* Look up the command's units and read those in NAND.  false: some wait for
 * room in the buffer. */
bool read_units(Ssd *ssd, uint32_t cmd);

/* Every unit has been looked up: the command ends with its last data. */
void read_looked_up(Ssd *ssd, uint32_t cmd);

/* CmdOps: a NAND read of the command has ended; a unit that another operation
 * loads is there. */
void read_nand_done(Ssd *ssd, uint32_t cmd, const NandOp *op);
void read_load_settled(Ssd *ssd, uint32_t cmd, uint64_t lpn, bool bad);

#endif
