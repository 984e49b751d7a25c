/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.h - what the other files of buffer/ ask of the write path (write.c).
 */
#ifndef VSSD_FTL_BUFFER_WRITE_H
#define VSSD_FTL_BUFFER_WRITE_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* A FILLING slot has been read, or the wanted part of it. */
void write_filled(Ssd *ssd, uint32_t slot, bool bad);

/* Gather a page of due units and program it in the plane. */
void write_send_page(Ssd *ssd, uint32_t plane, uint32_t stream);

/* Pages of a row, from this plane on, as long as there are units for them, or
 * with superblock.padding all: one multi-plane command of each die.  A page
 * alone, where there are no rows.  empty: the stream has no units; so many
 * pages at most.  How many. */
uint32_t write_send_row(Ssd *ssd, uint32_t plane, uint32_t stream,
                        uint64_t empty);

/* Power is back: a unit that the buffer has kept is in it again, dirty. */
void write_restore(Ssd *ssd, const Slot *kept);

/* The payload's owner hears that this version will never be durable.  With
 * buffer.plp it heard of each version when the buffer took it. */
static inline void tell_superseded(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && !ssd->cfg->plp) {
        ssd->client->superseded(ssd->client_opaque, s->lpn, s->version);
    }
}

#endif
