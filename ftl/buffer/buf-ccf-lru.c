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
#include "buffer/buf-notes.h"
#include "buffer/buffer-policy.h"

enum {
    COLD_CLEAN,
    MIXED,
};

/* The note of a slot. */
enum {
    HOT,
    COLD,
};

static void become(VssdView *v, uint32_t slot, uint32_t list, uint8_t mark)
{
    *note_of(v, slot) = mark;
    v->list->move(v, slot, list);
}

static void ccf_insert(VssdView *v, uint32_t slot)
{
    if (v->list->clean(v, slot)) {
        become(v, slot, COLD_CLEAN, COLD);
    } else {
        become(v, slot, MIXED, HOT);
    }
}

static void ccf_hit(VssdView *v, uint32_t slot)
{
    become(v, slot, MIXED, HOT);
}

static void ccf_cleaned(VssdView *v, uint32_t slot)
{
    if (*note_of(v, slot) == COLD) {
        v->list->move(v, slot, COLD_CLEAN);
    }
}

static uint32_t ccf_victim(VssdView *v)
{
    uint32_t slot;

    while (v->list->oldest(v, COLD_CLEAN) == VSSD_NONE &&
           (slot = v->list->oldest(v, MIXED)) != VSSD_NONE) {
        if (*note_of(v, slot) == COLD) {
            return slot;
        }
        become(v, slot, v->list->clean(v, slot) ? COLD_CLEAN : MIXED, COLD);
    }
    return v->list->oldest(v, COLD_CLEAN);
}

BUFFER_POLICY(ccf_lru, "ccf-lru",
              "a cache that gives up units first that were read once, then "
              "those that were not used again",
              .state_bytes = note_bytes,
              BUFFER_PART(.slot_bytes = 1, .insert = ccf_insert,
                          .written = ccf_hit, .read = ccf_hit,
                          .cleaned = ccf_cleaned, .replaced = note_replaced,
                          .victim = ccf_victim));
