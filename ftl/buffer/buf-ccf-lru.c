/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-ccf-lru.c - cold clean units first: those that were read once.
 *
 * Source: Z. Li et al., "CCF-LRU: a new buffer replacement algorithm for flash
 * memory", IEEE Transactions on Consumer Electronics 55(3), 2009: a list of
 * cold clean pages and a mixed one of the others, each in order of use, and a
 * mark for cold pages.  A page that is read for the first time is cold and
 * clean; one that is written, or used again, is hot and mixed.  The victim is
 * the oldest cold clean page; if there is none, the mixed list is searched from
 * its end: a cold page goes, a hot clean one becomes cold and clean, a hot
 * dirty one becomes cold and starts again.
 *
 * Each step of the search removes a mark that a use of the unit has made, so
 * it is O(1) for each use.  A unit that is flushed without being evicted, which
 * the paper does not have, joins the cold clean ones if it is cold.
 */
#include "buffer/buf-list.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "ssd-internal.h"

enum {
    COLD_CLEAN,
    MIXED,
};

/* Slot.writes of this policy. */
enum {
    HOT,
    COLD,
};

static void become(Ssd *ssd, uint32_t slot, unsigned list, unsigned mark)
{
    ssd->buffer->slot[slot].writes = (uint8_t)mark;
    lists_move(ssd, list, slot);
}

static void ccf_insert(Ssd *ssd, uint32_t slot)
{
    bool clean = slot_is_clean(&ssd->buffer->slot[slot]);

    ssd->buffer->slot[slot].writes = clean ? COLD : HOT;
    lists_push(ssd, clean ? COLD_CLEAN : MIXED, slot);
}

static void ccf_hit(Ssd *ssd, uint32_t slot)
{
    become(ssd, slot, MIXED, HOT);
}

static void ccf_cleaned(Ssd *ssd, uint32_t slot)
{
    if (ssd->buffer->slot[slot].writes == COLD) {
        lists_move(ssd, COLD_CLEAN, slot);
    }
}

static uint32_t ccf_victim(Ssd *ssd)
{
    uint32_t slot;

    while (ssd->buffer->list[COLD_CLEAN].tail == NONE &&
           (slot = ssd->buffer->list[MIXED].tail) != NONE) {
        if (ssd->buffer->slot[slot].writes == COLD) {
            return slot;
        }
        become(ssd, slot,
               slot_is_clean(&ssd->buffer->slot[slot]) ? COLD_CLEAN : MIXED,
               COLD);
    }
    return ssd->buffer->list[COLD_CLEAN].tail;
}

const BufferPolicy buf_ccf_lru = {
    .name = "ccf-lru",
    .help = "a cache that gives up units first that were read once, then those "
            "that were not used again",
    .caches = true,
    .overhead = 1,
    .insert = ccf_insert,
    .write_hit = ccf_hit,
    .read_hit = ccf_hit,
    .remove = lists_remove,
    .cleaned = ccf_cleaned,
    .replace = lists_replace,
    .victim = ccf_victim,
};
