/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-cflru-ef-sc.c - clean first with early flush and second chance.
 *
 * Source: I. Shin, "Early dirty buffer flush with second chance for SSDs",
 * Micromachines 14:796, 2023, sections 3.2 and 3.3: three lists in order of use
 * and a count of writes per unit.  A dirty unit that was written more than once
 * is not flushed early when its turn comes, but goes to the list of second
 * chances with a count of 1.
 */
#include "buffer/buf-list.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "ssd-internal.h"

enum {
    CLEAN,
    DIRTY,
    SECOND,
};

static void count_write(Slot *s)
{
    s->writes += s->writes < UINT8_MAX;
}

static void sc_insert(Ssd *ssd, uint32_t slot)
{
    Slot *s = &ssd->buffer->slot[slot];

    s->writes = !slot_is_clean(s);
    lists_push(ssd, slot_is_clean(s) ? CLEAN : DIRTY, slot);
}

static void sc_write_hit(Ssd *ssd, uint32_t slot)
{
    Slot *s = &ssd->buffer->slot[slot];

    count_write(s);
    lists_move(ssd, s->list == CLEAN ? DIRTY : s->list, slot);
}

static void sc_cleaned(Ssd *ssd, uint32_t slot)
{
    lists_move(ssd, CLEAN, slot);
}

static uint32_t sc_victim(Ssd *ssd)
{
    for (unsigned i = CLEAN; i <= SECOND; i++) {
        if (ssd->buffer->list[i].tail != NONE) {
            return ssd->buffer->list[i].tail;
        }
    }
    return NONE;
}

static uint32_t sc_early(Ssd *ssd)
{
    uint32_t slot;

    while ((slot = ssd->buffer->list[DIRTY].tail) != NONE &&
           ssd->buffer->slot[slot].writes > 1) {
        ssd->buffer->slot[slot].writes = 1;
        lists_move(ssd, SECOND, slot);
    }
    return slot;
}

/* Keep the list of dirty units at least as long as that of second chances. */
static void sc_balance(Ssd *ssd)
{
    while (ssd->buffer->list[SECOND].n > ssd->buffer->list[DIRTY].n) {
        lists_move(ssd, DIRTY, ssd->buffer->list[SECOND].tail);
    }
}

const BufferPolicy buf_cflru_ef_sc = {
    .name = "cflru-ef-sc",
    .help = "cflru-ef that spares units which were written again",
    .caches = true,
    .overhead = 4,
    .insert = sc_insert,
    .write_hit = sc_write_hit,
    .read_hit = lists_touch,
    .remove = lists_remove,
    .cleaned = sc_cleaned,
    .replace = lists_replace,
    .victim = sc_victim,
    .early = sc_early,
    .early_sent = sc_balance,
};
