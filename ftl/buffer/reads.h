/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reads.h - units that a read finds in the buffer or brings into it.
 *
 * For the read path of host/, and for ssd.c when such a read ends.
 */
#ifndef VSSD_FTL_BUFFER_READS_H
#define VSSD_FTL_BUFFER_READS_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-policy.h"
#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* A slot for a unit that is in NAND and is read now, for the command; there is
 * room (buffer_room()).  The map leads to the slot from now on. */
uint32_t slot_load(Ssd *ssd, uint32_t cmd, uint64_t lpn, uint64_t version);

/* One operation reads several such slots for the command: it comes behind
 * `last` (NONE: it is the first). */
void slot_join_read(Ssd *ssd, uint32_t slot, uint32_t cmd, uint32_t last);

/* A read from NAND for slots (the first of them) has ended. */
void buffer_loaded(Ssd *ssd, uint32_t slot, const NandOp *op);

/* The command waits for the slot. */
void slot_wait(Ssd *ssd, uint32_t slot, uint32_t cmd, WaitFor what);

/* The policy hears of a hit, by a read; by a write. */
void buffer_read_hit(Ssd *ssd, uint32_t slot);

/* A unit that is read is in NAND alone. */
void buffer_read_miss(Ssd *ssd);

static inline bool buffer_keeps_reads(const Ssd *ssd)
{
    return buffer_caches(ssd->buffer) && !ssd->buffer->policy->writes_only;
}

#endif
