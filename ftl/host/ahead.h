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

/* Allocate streams and windows for the options; free them.  Without
 * host.read_ahead there are none, and ahead_hit() is always false. */
void ahead_init(Ssd *ssd);
void ahead_destroy(Ssd *ssd);

/* Power off: forget all streams, and all that was or is being read ahead. */
void ahead_forget(Ssd *ssd);

/* Mapping units of a stream's window; 0: host.read_ahead is off. */
static inline uint32_t ahead_window(const Ssd *ssd)
{
    return (uint32_t)(ssd->cfg->read_ahead >> ssd->unit_shift);
}

/* The units of a READ have been looked up.  Count it for the stream that it
 * continues, or begin one, and read ahead. */
void ahead_note_read(Ssd *ssd, uint32_t cmd);

/* The host says that reads from this block on will come in order: read ahead of
 * the first one. */
void ahead_expect(Ssd *ssd, uint64_t lba);

/* Serve a unit of a READ from its window.  true: the command has it, at
 * Cmd.data_ps, or waits for its read (Cmd.pending is one more).  false: it is
 * in no window; read it from NAND. */
bool ahead_hit(Ssd *ssd, uint32_t cmd, uint64_t lpn);

/* A WRITE or a TRIM changes units first..last: drop them from all windows. */
void ahead_drop(Ssd *ssd, uint64_t first, uint64_t last);

/* A read of the array has ended whose NandOp.cookie is AHEAD_COOKIE | index of
 * its first unit in Ahead.unit.  op may have failed: commands that wait for an
 * uncorrectable unit then fail, too. */
#define AHEAD_COOKIE 0x40000000U
void ahead_read_done(Ssd *ssd, const NandOp *op);

/* For ssd_check(), and of a loaded state.  false: *error names the stream. */
bool ahead_check(const Ssd *ssd, GError **error);

#endif
