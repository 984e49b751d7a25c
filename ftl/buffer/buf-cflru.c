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
#include "buffer/buffer-policy.h"

enum {
    CLEAN,
    DIRTY,
    WORKING, /* outside the region */
};

/* So many may be outside of the region. */
static uint32_t most_working(const VssdShape *s)
{
    return s->slots -
           (uint32_t)((uint64_t)s->slots * s->buffer_window_ppm / 1000000);
}

static void enter_region(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, v->list->clean(v, slot) ? CLEAN : DIRTY);
}

static void used(VssdView *v, uint32_t slot)
{
    uint32_t most = most_working(v->shape);

    if (most == 0) {
        enter_region(v, slot);
        return;
    }
    v->list->move(v, slot, WORKING);
    if (v->list->count(v, WORKING) > most) {
        enter_region(v, v->list->oldest(v, WORKING));
    }
}

static void cleaned(VssdView *v, uint32_t slot)
{
    if (v->list->list_of(v, slot) == DIRTY) {
        v->list->move(v, slot, CLEAN);
    }
}

static uint32_t victim(VssdView *v)
{
    static const uint32_t order[] = {CLEAN, DIRTY, WORKING};
    uint32_t slot = VSSD_NONE;

    for (unsigned i = 0; i < G_N_ELEMENTS(order) && slot == VSSD_NONE; i++) {
        slot = v->list->oldest(v, order[i]);
    }
    return slot;
}

static uint32_t early(VssdView *v)
{
    return v->list->oldest(v, DIRTY);
}

BUFFER_POLICY(cflru, "cflru",
              "a cache that gives up clean units first, then dirty ones",
              BUFFER_PART(.insert = used, .written = used, .read = used,
                          .cleaned = cleaned, .victim = victim));

BUFFER_POLICY(cflru_ef, "cflru-ef",
              "cflru that flushes dirty units early, while the drive is idle",
              BUFFER_PART(.insert = used, .written = used, .read = used,
                          .cleaned = cleaned, .victim = victim,
                          .early = early));
