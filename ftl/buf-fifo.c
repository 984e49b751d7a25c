/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-fifo.c - units leave the buffer in the order in which they came; a unit
 * that is written again keeps its place.
 */
#include "ftl.h"

static void fifo_insert(Ssd *ssd, uint32_t slot)
{
    Slot *s = &ssd->slot[slot];

    s->prev = ssd->dirty_tail;
    s->next = NONE;
    if (ssd->dirty_tail == NONE) {
        ssd->dirty_head = slot;
    } else {
        ssd->slot[ssd->dirty_tail].next = slot;
    }
    ssd->dirty_tail = slot;
}

static void fifo_rewrite(Ssd *ssd, uint32_t slot)
{
    (void)ssd;
    (void)slot;
}

static void fifo_remove(Ssd *ssd, uint32_t slot)
{
    const Slot *s = &ssd->slot[slot];

    if (s->prev == NONE) {
        ssd->dirty_head = s->next;
    } else {
        ssd->slot[s->prev].next = s->next;
    }
    if (s->next == NONE) {
        ssd->dirty_tail = s->prev;
    } else {
        ssd->slot[s->next].prev = s->prev;
    }
}

static uint32_t fifo_pick(Ssd *ssd)
{
    return ssd->dirty_head;
}

const BufferPolicy buf_fifo = {
    .name = "fifo",
    .help = "a write buffer that is drained in order of arrival",
    .insert = fifo_insert,
    .rewrite = fifo_rewrite,
    .remove = fifo_remove,
    .pick = fifo_pick,
};
