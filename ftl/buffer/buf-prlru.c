/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-prlru.c - evicts the unit that is least likely to be referenced again.
 *
 * After Y. Yuan et al., "PR-LRU: a novel buffer replacement algorithm based on
 * the probability of reference for flash memory", IEEE Access 5, 2017: the
 * victim is the page with the lowest probability of reference, which is worked
 * out from three variables.  The text was not at hand; of it the abstract is
 * used, and the rest is ours:
 *
 *   variables    n, references so far (up to 255); a, references to the buffer
 *                since the last one; i, between the last two (at first: the
 * size of the buffer) probability  n / (a + i) candidates   the least recently
 * used clean unit, and dirty unit victim       the one with the lower
 * probability; that of the dirty one counts DIRTY_COST times, because it must
 * be programmed
 */
#include "buffer/buffer-policy.h"

enum {
    CLEAN,
    DIRTY,
};

#define DIRTY_COST 4

typedef struct History {
    uint32_t last, interval; /* in references */
    uint32_t n;              /* of them, up to 255 */
} History;

typedef struct Prlru {
    uint32_t clock;
    History slot[];
} Prlru;

static size_t prlru_bytes(const VssdShape *s)
{
    return sizeof(Prlru) + s->slot_numbers * sizeof(History);
}

static void prlru_insert(VssdView *v, uint32_t slot)
{
    Prlru *p = v->state;

    p->slot[slot] = (History){++p->clock, v->shape->slots, 1};
    v->list->move(v, slot, v->list->clean(v, slot) ? CLEAN : DIRTY);
}

static void referenced(VssdView *v, uint32_t slot)
{
    Prlru *p = v->state;
    History *h = &p->slot[slot];

    p->clock++;
    h->interval = p->clock - h->last;
    h->last = p->clock;
    h->n += h->n < UINT8_MAX;
}

static void prlru_read(VssdView *v, uint32_t slot)
{
    referenced(v, slot);
    v->list->move(v, slot, v->list->list_of(v, slot));
}

static void prlru_written(VssdView *v, uint32_t slot)
{
    referenced(v, slot);
    v->list->move(v, slot, DIRTY);
}

static void prlru_cleaned(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, CLEAN);
}

static void prlru_replaced(VssdView *v, uint32_t from, uint32_t to)
{
    Prlru *p = v->state;

    p->slot[to] = p->slot[from];
}

/* The oldest dirty one, as cflru-ef: I. Shin, Micromachines 14:796, 2023,
 * section 2, applies early flush to PRLRU, too. */
static uint32_t prlru_early(VssdView *v)
{
    return v->list->oldest(v, DIRTY);
}

/* a + i of a unit */
static uint64_t span(const Prlru *p, uint32_t slot)
{
    const History *h = &p->slot[slot];

    return (uint64_t)(p->clock - h->last) + h->interval;
}

static uint32_t prlru_victim(VssdView *v)
{
    const Prlru *p = v->state;
    uint32_t clean = v->list->oldest(v, CLEAN);
    uint32_t dirty = v->list->oldest(v, DIRTY);

    if (clean == VSSD_NONE || dirty == VSSD_NONE) {
        return clean == VSSD_NONE ? dirty : clean;
    }
    return p->slot[clean].n * span(p, dirty) <=
                   DIRTY_COST * p->slot[dirty].n * span(p, clean)
               ? clean
               : dirty;
}

#define PRLRU                                                                  \
    .slot_bytes = 9, .insert = prlru_insert, .written = prlru_written,         \
    .read = prlru_read, .cleaned = prlru_cleaned, .replaced = prlru_replaced,  \
    .victim = prlru_victim

BUFFER_POLICY(prlru, "prlru",
              "a cache that evicts the unit least likely to be used again",
              .state_bytes = prlru_bytes, BUFFER_PART(PRLRU));

BUFFER_POLICY(prlru_ef, "prlru-ef",
              "prlru that flushes dirty units early, while the drive is idle",
              .state_bytes = prlru_bytes,
              BUFFER_PART(PRLRU, .early = prlru_early));
