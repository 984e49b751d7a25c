/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of buffer/. */
#include "buffer/buffer-policy.h"
#include "buffer/life.h"
#include "buffer/slots.h"
#include "component.h"
#include "lazymem.h"
#include "placement/alloc-policy.h"
#include "placement/placement.h"

/*
 * A released slot lives on until its page is programmed: alloc->depth pages per
 * plane may be under way, and as many wait for another try.
 */
static void init_slots(Ssd *ssd)
{
    Buffer *b = ssd->buffer;

    invariant(!b->slot && ssd->l.n_slots > 0);
    b->n_slot_records = ssd->l.n_slots;
    if (ssd->cfg->free_at == SSD_FREE_AT_DATA_IN) {
        b->n_slot_records += 2 * ssd->placement->policy->depth *
                             ssd->l.n_planes * ssd->l.units_per_program;
    }
    b->slot = lazy_new(Slot, b->n_slot_records);
}

static bool create(Ssd *ssd, GError **error)
{
    Buffer *b = ssd->buffer;

    (void)error;
    b->policy = buffer_choose_policy(ssd);
    init_slots(ssd);
    if (ssd->l.whole_rows && !b->policy->caches) {
        b->row_wait = g_new0(RowWait, ssd->l.n_streams);
    }
    b->epoch_mask = 15;
    b->epoch = g_new0(Epoch, b->epoch_mask + 1);
    buffer_create(ssd);
    invariant(b->n_free_slots == ssd->l.n_slots);
    return true;
}

static void destroy(Ssd *ssd)
{
    Buffer *b = ssd->buffer;

    if (b->policy->destroy) {
        b->policy->destroy(ssd);
    }
    lazy_free(b->slot, b->n_slot_records, sizeof(*b->slot));
    g_free(b->waiter);
    g_free(b->epoch);
    g_free(b->row_wait);
    g_free(b->kept);
}

/* Every unit in the buffer goes back to its copy in NAND. */
static void revert_map(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];
        uint64_t entry;

        if (s->state == SLOT_FREE ||
            !map_is_buffered(l2p_get(&ssd->l2p, s->lpn))) {
            continue;
        }
        invariant(map_slot(l2p_get(&ssd->l2p, s->lpn)) <
                  ssd->buffer->n_slot_records);
        entry = ssd->nand_entry(ssd, s->lpn);
        if (entry == 0 &&
            !ssd->buffer->slot[map_slot(l2p_get(&ssd->l2p, s->lpn))].dead) {
            invariant(ssd->l2p.mapped_units > 0);
            ssd->l2p.mapped_units--;
        }
        l2p_set(&ssd->l2p, s->lpn, entry);
    }
}

static void power_dropped(Ssd *ssd)
{
    if (ssd->cfg->plp) {
        buffer_keep(ssd);
    }
    if (!saves(ssd)) {
        revert_map(ssd);
    }
}

const Component buffer_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = buffer_create,
};
