/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-cflru.c - clean first: among the least recently used units, clean ones
 * are evicted first, because they need not be programmed.
 *
 * Source: S.-Y. Park et al., "CFLRU: a replacement algorithm for flash memory",
 * CASES 2006, section 3: the last buffer.window of the LRU order is the
 * clean-first region; its least recently used clean unit goes, or if there is
 * none the least recently used unit, which is dirty.
 *
 * The region is kept as two lists, so that the choice takes no search.  A unit
 * in it that is flushed goes to the head of the clean one (I. Shin,
 * Micromachines 14:796, 2023, section 3.3, does so).
 *
 * cflru-ef flushes early: the same source, section 2 (and I. Shin, IEEE Access
 * 8, 2020): the least recently used dirty unit.
 */
#include "buffer/buf-list.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "ssd-internal.h"

enum {
    CLEAN,
    DIRTY,
    WORKING, /* outside the region */
};

/* So many may be outside of the region. */
static uint32_t most_working(const Ssd *ssd)
{
    return ssd->l.n_slots -
           (uint32_t)((uint64_t)ssd->l.n_slots * ssd->cfg->window_ppm / 1000000);
}

static void enter_region(Ssd *ssd, uint32_t slot)
{
    lists_push(ssd, slot_is_clean(&ssd->buffer->slot[slot]) ? CLEAN : DIRTY,
               slot);
}

static void push(Ssd *ssd, uint32_t slot)
{
    uint32_t most = most_working(ssd);

    if (most == 0) {
        enter_region(ssd, slot);
        return;
    }
    lists_push(ssd, WORKING, slot);
    if (ssd->buffer->list[WORKING].n > most) {
        uint32_t oldest = ssd->buffer->list[WORKING].tail;

        lists_remove(ssd, oldest);
        enter_region(ssd, oldest);
    }
}

static void hit(Ssd *ssd, uint32_t slot)
{
    lists_remove(ssd, slot);
    push(ssd, slot);
}

static void cleaned(Ssd *ssd, uint32_t slot)
{
    if (ssd->buffer->slot[slot].list == DIRTY) {
        lists_move(ssd, CLEAN, slot);
    }
}

static uint32_t victim(Ssd *ssd)
{
    static const unsigned order[] = {CLEAN, DIRTY, WORKING};

    for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) {
        if (ssd->buffer->list[order[i]].tail != NONE) {
            return ssd->buffer->list[order[i]].tail;
        }
    }
    return NONE;
}

static uint32_t early(Ssd *ssd)
{
    return ssd->buffer->list[DIRTY].tail;
}

const BufferPolicy buf_cflru = {
    .name = "cflru",
    .help = "a cache that gives up clean units first, then dirty ones",
    .caches = true,
    .insert = push,
    .write_hit = hit,
    .read_hit = hit,
    .remove = lists_remove,
    .cleaned = cleaned,
    .replace = lists_replace,
    .victim = victim,
};

const BufferPolicy buf_cflru_ef = {
    .name = "cflru-ef",
    .help = "cflru that flushes dirty units early, while the drive is idle",
    .caches = true,
    .insert = push,
    .write_hit = hit,
    .read_hit = hit,
    .remove = lists_remove,
    .cleaned = cleaned,
    .replace = lists_replace,
    .victim = victim,
    .early = early,
};
