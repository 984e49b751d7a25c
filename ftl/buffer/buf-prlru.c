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
#include "buffer/buf-list.h"
#include "buffer/buffer-policy.h"
#include "buffer/slots.h"
#include "ssd-internal.h"

enum {
    CLEAN,
    DIRTY,
};

#define DIRTY_COST 4

typedef struct History {
    uint32_t last, interval; /* in references */
} History;

typedef struct Prlru {
    uint32_t clock;
    History *slot;
} Prlru;

static void prlru_destroy(Ssd *ssd)
{
    Prlru *p = ssd->buffer->policy_data;

    if (p) {
        g_free(p->slot);
        g_free(p);
        ssd->buffer->policy_data = NULL;
    }
}

static void prlru_init(Ssd *ssd)
{
    Prlru *p = g_new0(Prlru, 1);

    prlru_destroy(ssd);
    p->slot = g_new0(History, MAX(ssd->buffer->n_slot_records, ssd->l.n_slots));
    ssd->buffer->policy_data = p;
}

static void prlru_insert(Ssd *ssd, uint32_t slot)
{
    Prlru *p = ssd->buffer->policy_data;

    p->slot[slot] = (History){.last = ++p->clock, .interval = ssd->l.n_slots};
    ssd->buffer->slot[slot].writes = 1;
    lists_push(ssd, slot_is_clean(&ssd->buffer->slot[slot]) ? CLEAN : DIRTY,
               slot);
}

static void referenced(Ssd *ssd, uint32_t slot)
{
    Prlru *p = ssd->buffer->policy_data;
    History *h = &p->slot[slot];

    p->clock++;
    h->interval = p->clock - h->last;
    h->last = p->clock;
    ssd->buffer->slot[slot].writes +=
        ssd->buffer->slot[slot].writes < UINT8_MAX;
}

static void prlru_read_hit(Ssd *ssd, uint32_t slot)
{
    referenced(ssd, slot);
    lists_touch(ssd, slot);
}

static void prlru_write_hit(Ssd *ssd, uint32_t slot)
{
    referenced(ssd, slot);
    lists_move(ssd, DIRTY, slot);
}

static void prlru_cleaned(Ssd *ssd, uint32_t slot)
{
    lists_move(ssd, CLEAN, slot);
}

static void prlru_replace(Ssd *ssd, uint32_t from, uint32_t to)
{
    Prlru *p = ssd->buffer->policy_data;

    p->slot[to] = p->slot[from];
    lists_replace(ssd, from, to);
}

/* a + i of a unit */
static uint64_t span(const Prlru *p, uint32_t slot)
{
    const History *h = &p->slot[slot];

    return (uint64_t)(p->clock - h->last) + h->interval;
}

static uint32_t prlru_victim(Ssd *ssd)
{
    const Prlru *p = ssd->buffer->policy_data;
    uint32_t clean = ssd->buffer->list[CLEAN].tail;
    uint32_t dirty = ssd->buffer->list[DIRTY].tail;

    if (clean == NONE || dirty == NONE) {
        return clean == NONE ? dirty : clean;
    }
    return ssd->buffer->slot[clean].writes * span(p, dirty) <=
                   DIRTY_COST * ssd->buffer->slot[dirty].writes * span(p, clean)
               ? clean
               : dirty;
}

enum {
    N_RECORDS,
    N_COUNTS,
};

static const StateRow prlru_rows[] = {
    STATE_NUMBER_ROW(Prlru, clock),
    STATE_TABLE_ROW(Prlru, slot, N_RECORDS),
};

static const StateStruct prlru_struct = {
    "Prlru", prlru_rows, G_N_ELEMENTS(prlru_rows), sizeof(Prlru)};

static bool prlru_state(Ssd *ssd, State *s)
{
    const uint64_t counts[N_COUNTS] = {
        [N_RECORDS] = MAX(ssd->buffer->n_slot_records, ssd->l.n_slots)};

    return state_values(s, &prlru_struct, ssd->buffer->policy_data) &&
           state_tables(s, &prlru_struct, ssd->buffer->policy_data, counts);
}

/* Its numbers are compared and nothing else. */
static bool prlru_sound(const Ssd *ssd)
{
    return ssd->buffer->policy_data != NULL;
}

const BufferPolicy buf_prlru = {
    .name = "prlru",
    .help = "a cache that evicts the unit least likely to be used again",
    .caches = true,
    .overhead = 9,
    .insert = prlru_insert,
    .write_hit = prlru_write_hit,
    .read_hit = prlru_read_hit,
    .remove = lists_remove,
    .cleaned = prlru_cleaned,
    .replace = prlru_replace,
    .victim = prlru_victim,
    .init = prlru_init,
    .destroy = prlru_destroy,
    .rows = &prlru_struct,
    .state = prlru_state,
    .sound = prlru_sound,
};
