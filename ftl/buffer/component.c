/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of buffer/. */
#include "buffer/buffer-policy.h"
#include "buffer/life.h"
#include "buffer/slots.h"
#include "buffer/stream-queue.h"
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

/* ---- saved state --------------------------------------------------------- */

enum {
    N_SLOTS,
    N_WAITERS,
    N_EPOCHS,
    N_ROW_STREAMS,
    N_KEPT,
    N_COUNTS,
};

static const StateRow slot_rows[] = {
    STATE_VALUE_ROW(Slot, lpn),       STATE_VALUE_ROW(Slot, source),
    STATE_VALUE_ROW(Slot, next),      STATE_VALUE_ROW(Slot, prev),
    STATE_VALUE_ROW(Slot, after),     STATE_VALUE_ROW(Slot, before),
    STATE_VALUE_ROW(Slot, older),     STATE_VALUE_ROW(Slot, newer),
    STATE_VALUE_ROW(Slot, old_entry), STATE_VALUE_ROW(Slot, waiters),
    STATE_VALUE_ROW(Slot, epoch),     STATE_VALUE_ROW(Slot, version),
    STATE_VALUE_ROW(Slot, state),     STATE_VALUE_ROW(Slot, stream),
    STATE_VALUE_ROW(Slot, force),     STATE_VALUE_ROW(Slot, poison),
    STATE_VALUE_ROW(Slot, whole),     STATE_VALUE_ROW(Slot, dead),
    STATE_VALUE_ROW(Slot, listed),    STATE_VALUE_ROW(Slot, evict),
    STATE_VALUE_ROW(Slot, sent),      STATE_VALUE_ROW(Slot, released),
    STATE_VALUE_ROW(Slot, early),     STATE_VALUE_ROW(Slot, early_done),
    STATE_VALUE_ROW(Slot, list),      STATE_VALUE_ROW(Slot, writes),
};

static const StateStruct slot_struct = STATE_STRUCT(Slot, slot_rows);

static const StateRow buffer_rows[] = {
    STATE_KEPT_ROW(Buffer, client),
    STATE_KEPT_ROW(Buffer, policy),
    STATE_TABLE_OF_ROW(Buffer, slot, N_SLOTS, slot_struct),
    STATE_KEPT_ROW(Buffer, n_slot_records),
    STATE_VALUE_ROW(Buffer, free_slot),
    STATE_VALUE_ROW(Buffer, n_free_slots),
    STATE_VALUE_ROW(Buffer, n_released),
    STATE_VALUE_ROW(Buffer, n_unsafe),
    STATE_VALUE_ROW(Buffer, n_dirty),
    STATE_VALUE_ROW(Buffer, n_must),
    STATE_VALUE_ROW(Buffer, list),
    STATE_KEPT_ROW(Buffer, policy_data), /* BufferPolicy.state */
    STATE_VALUE_ROW(Buffer, n_evicting),
    STATE_VALUE_ROW(Buffer, n_victims),
    STATE_VALUE_ROW(Buffer, n_promised),
    STATE_VALUE_ROW(Buffer, early),
    STATE_VALUE_ROW(Buffer, last_version),
    STATE_VALUE_ROW(Buffer, waiting),
    STATE_VALUE_ROW(Buffer, pump_waits),
    STATE_VALUE_ROW(Buffer, stream_cursor),
    STATE_KEPT_ROW(Buffer, dirty_streams), /* follows from the streams */
    STATE_VALUE_ROW(Buffer, stall_ps),
    STATE_VALUE_ROW(Buffer, stalled_since_ps),
    STATE_VALUE_ROW(Buffer, redo),
    STATE_POOL_ROW(Buffer, waiter, N_WAITERS),
    STATE_VALUE_ROW(Buffer, n_waiters),
    STATE_VALUE_ROW(Buffer, free_waiter),
    STATE_POOL_ROW(Buffer, epoch, N_EPOCHS),
    STATE_VALUE_ROW(Buffer, epoch_mask),
    STATE_VALUE_ROW(Buffer, first_epoch),
    STATE_VALUE_ROW(Buffer, cur_epoch),
    STATE_VALUE_ROW(Buffer, tick_armed),
    STATE_TABLE_ROW(Buffer, row_wait, N_ROW_STREAMS),
    STATE_POOL_OF_ROW(Buffer, kept, N_KEPT, slot_struct),
    STATE_VALUE_ROW(Buffer, n_kept),
    STATE_VALUE_ROW(Buffer, stats),
};

static const StateStruct buffer_struct = STATE_STRUCT(Buffer, buffer_rows);

/* Its own, then those of the policies. */
static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const own[] = {&buffer_struct, &slot_struct};

    if (i < G_N_ELEMENTS(own)) {
        return own[i];
    }
    i -= G_N_ELEMENTS(own);
    for (const BufferPolicy *const *p = buffer_policies; *p; p++) {
        if ((*p)->rows && i-- == 0) {
            return (*p)->rows;
        }
    }
    return NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_SLOTS] = ssd->buffer->n_slot_records;
    n[N_WAITERS] = ssd->buffer->n_waiters;
    n[N_EPOCHS] = (uint64_t)ssd->buffer->epoch_mask + 1;
    n[N_ROW_STREAMS] = ssd->l.n_streams;
    n[N_KEPT] = ssd->buffer->n_kept;
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &buffer_struct, ssd->buffer)) {
        return false;
    }
    count(ssd, counts);
    invariant(!ssd->buffer->policy_data == !ssd->buffer->policy->state);
    if (!state_tables(s, &buffer_struct, ssd->buffer, counts) ||
        (ssd->buffer->policy->state && !ssd->buffer->policy->state(ssd, s))) {
        return false;
    }
    if (s->loading) {
        queue_note_slots(ssd);
    }
    return true;
}

/* ---- the table ----------------------------------------------------------- */

const Component buffer_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = buffer_create,
    .rows = rows,
    .state = state,
    .check = buffer_check,
};
