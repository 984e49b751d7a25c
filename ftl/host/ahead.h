/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ahead.h - reading ahead of streams of reads (host.read_ahead).
 */
#ifndef VSSD_FTL_AHEAD_H
#define VSSD_FTL_AHEAD_H

#include "layers.h"
#if FTL_LAYER < FTL_HOST
#error "ftl/host is above this component: docs/architecture.md"
#endif

#include "host/host-internal.h"
#include "ssd-internal.h"

void ahead_init(Ssd *ssd);
void ahead_destroy(Ssd *ssd);

/* Nothing has been read ahead; nothing is being read. */
void ahead_forget(Ssd *ssd);

/* Units of a stream's window; 0: nothing is read ahead. */
static inline uint32_t ahead_window(const Ssd *ssd)
{
    return (uint32_t)(ssd->cfg->read_ahead >> ssd->unit_shift);
}

/* What the host reads has been looked up: does a stream go on with it? */
void ahead_saw(Ssd *ssd, uint32_t cmd);

/* A unit that is in NAND has been read ahead, or is being read: the command has
 * it, or waits for it (Cmd.pending).  false: it is not. */
bool ahead_hit(Ssd *ssd, uint32_t cmd, uint32_t lpn);

/* What was read ahead of units first..last is no longer what they hold. */
void ahead_drop(Ssd *ssd, uint64_t first, uint64_t last);

/* A read of the array whose cookie is AHEAD_COOKIE | unit has ended. */
#define AHEAD_COOKIE 0x40000000U
void ahead_read_done(Ssd *ssd, const NandOp *op);

/* Do the tables hold together? */
bool ahead_check(const Ssd *ssd, GError **error);

#endif
