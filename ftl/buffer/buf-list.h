/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-list.h - doubly linked lists of slots for the buffer policies (buf-*.c):
 * through Slot.next and Slot.prev, newest at the head, oldest at the tail.
 */
#ifndef VSSD_FTL_BUF_LIST_H
#define VSSD_FTL_BUF_LIST_H

#include "layers.h"
#if FTL_LAYER != FTL_BUFFER && FTL_LAYER != FTL_ALL
#error "private to ftl/buffer: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

static inline IlistLinks slot_links(const Ssd *ssd)
{
    return ILIST_LINKS(ssd->buffer->slot, Slot, next, prev);
}

/* ---- for policies that keep each slot in Buffer.list[Slot.list] ---------- */

static inline void lists_push(Ssd *ssd, unsigned list, uint32_t i)
{
    invariant(i < ssd->buffer->n_slot_records);
    ssd->buffer->slot[i].list = (uint8_t)list;
    ilistn_push_head(slot_links(ssd), &ssd->buffer->list[list], i);
}

static inline void lists_remove(Ssd *ssd, uint32_t i)
{
    invariant(i < ssd->buffer->n_slot_records);
    ilistn_remove(slot_links(ssd),
                  &ssd->buffer->list[ssd->buffer->slot[i].list], i);
}

/* To the head of a list, from wherever it is. */
static inline void lists_move(Ssd *ssd, unsigned list, uint32_t i)
{
    lists_remove(ssd, i);
    lists_push(ssd, list, i);
}

/* To the head of its own list. */
static inline void lists_touch(Ssd *ssd, uint32_t i)
{
    invariant(i < ssd->buffer->n_slot_records);
    lists_move(ssd, ssd->buffer->slot[i].list, i);
}

static inline void lists_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    invariant(to < ssd->buffer->n_slot_records);
    invariant(from < ssd->buffer->n_slot_records);
    ssd->buffer->slot[to].list = ssd->buffer->slot[from].list;
    ssd->buffer->slot[to].writes = ssd->buffer->slot[from].writes;
    ilist_replace(slot_links(ssd),
                  &ssd->buffer->list[ssd->buffer->slot[from].list].ends, from,
                  to);
}

#endif
