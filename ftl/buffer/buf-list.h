/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-list.h - doubly linked lists of slots for the buffer policies (buf-*.c):
 * through Slot.next and Slot.prev, newest at the head, oldest at the tail.
 */
#ifndef VSSD_FTL_BUF_LIST_H
#define VSSD_FTL_BUF_LIST_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer.h"
#include "ssd-internal.h"

static inline void list_push_head(Ssd *ssd, SlotList *l, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];

    s->prev = NONE;
    s->next = l->head;
    if (l->head == NONE) {
        l->tail = i;
    } else {
        ssd->buffer->slot[l->head].prev = i;
    }
    l->head = i;
    l->n++;
}

static inline void list_push_tail(Ssd *ssd, SlotList *l, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];

    s->next = NONE;
    s->prev = l->tail;
    if (l->tail == NONE) {
        l->head = i;
    } else {
        ssd->buffer->slot[l->tail].next = i;
    }
    l->tail = i;
    l->n++;
}

static inline void list_remove(Ssd *ssd, SlotList *l, uint32_t i)
{
    const Slot *s = &ssd->buffer->slot[i];

    if (s->prev == NONE) {
        l->head = s->next;
    } else {
        ssd->buffer->slot[s->prev].next = s->next;
    }
    if (s->next == NONE) {
        l->tail = s->prev;
    } else {
        ssd->buffer->slot[s->next].prev = s->prev;
    }
    l->n--;
}

/* to takes the place of from, which is out of the list then. */
static inline void list_replace(Ssd *ssd, SlotList *l, uint32_t from,
                                uint32_t to)
{
    const Slot *f = &ssd->buffer->slot[from];

    ssd->buffer->slot[to].prev = f->prev;
    ssd->buffer->slot[to].next = f->next;
    if (f->prev == NONE) {
        l->head = to;
    } else {
        ssd->buffer->slot[f->prev].next = to;
    }
    if (f->next == NONE) {
        l->tail = to;
    } else {
        ssd->buffer->slot[f->next].prev = to;
    }
}

/* ---- for policies that keep each slot in Buffer.list[Slot.list] ---------------- */

static inline void lists_push(Ssd *ssd, unsigned list, uint32_t i)
{
    ssd->buffer->slot[i].list = (uint8_t)list;
    list_push_head(ssd, &ssd->buffer->list[list], i);
}

static inline void lists_remove(Ssd *ssd, uint32_t i)
{
    list_remove(ssd, &ssd->buffer->list[ssd->buffer->slot[i].list], i);
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
    lists_move(ssd, ssd->buffer->slot[i].list, i);
}

static inline void lists_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    ssd->buffer->slot[to].list = ssd->buffer->slot[from].list;
    ssd->buffer->slot[to].writes = ssd->buffer->slot[from].writes;
    list_replace(ssd, &ssd->buffer->list[ssd->buffer->slot[from].list], from,
                 to);
}

#endif
