/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unmap.h - a buffered unit whose copy in NAND moves, or that is trimmed.
 *
 * For map/.
 */
#ifndef VSSD_FTL_BUFFER_UNMAP_H
#define VSSD_FTL_BUFFER_UNMAP_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "l2p.h"
#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* The slot of the buffered unit (a map entry) that keeps the place of its copy
 * in NAND.
 */
static inline const Slot *slot_oldest(const Ssd *ssd, uint64_t entry)
{
    const Slot *s = &ssd->buffer->slot[map_slot(entry)];

    return s->older != NONE ? &ssd->buffer->slot[s->older] : s;
}

/* That copy has moved. */
void slot_moved(Ssd *ssd, uint64_t entry, uint64_t from_ppu, uint64_t to_ppu);

/* The buffered unit is trimmed. */
void slot_trim(Ssd *ssd, uint64_t lpn);

#endif
