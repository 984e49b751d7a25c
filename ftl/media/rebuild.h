/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rebuild.h - data that cannot be read, from the rest of its stripe
 * (rebuild.c). */
#ifndef VSSD_FTL_REBUILD_H
#define VSSD_FTL_REBUILD_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* Cookie of the reads of the rest, with the index of the rebuild; no other read
 * of data has this bit. */
#define REBUILD_COOKIE 0x20000000U

/* May the data of the read be of a stripe? */
static inline bool rebuild_takes(const NandOp *op)
{
    return op->cause != NAND_CAUSE_META;
}

static inline bool rebuild_is_read(const Ssd *ssd, const NandOp *op)
{
    return ssd->l.parity_dies > 0 && op->kind == NAND_READ &&
           (op->cookie & ~(REBUILD_COOKIE - 1)) == REBUILD_COOKIE &&
           rebuild_takes(op);
}

void rebuild_init(Ssd *ssd);

/* Such a read has failed: true, the rest of its stripe is being read; false:
 * its data is lost, or what is needed is in memory. *op is what the owner of
 * the read is to see then. */
bool rebuild_begin(Ssd *ssd, NandOp *op);

/* One of these reads has ended.  true: it was the last, and *op is the read
 * that had failed, as its owner is to see it. */
bool rebuild_read_done(Ssd *ssd, NandOp *op);

/* The clock is set back. */
void rebuild_rebase(Ssd *ssd, uint64_t by_ps);

/* The power has gone; the drive is destroyed. */
void rebuild_forget(Ssd *ssd);

#endif
