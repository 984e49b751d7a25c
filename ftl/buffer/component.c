/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of buffer/. */
#include "buffer/barriers.h"
#include "buffer/buf-order.h"
#include "buffer/buffer-policy.h"
#include "buffer/life.h"
#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "component.h"
#include "lazymem.h"

static bool create(Ssd *ssd, GError **error)
{
    Buffer *b = ssd->buffer;

    (void)error;
    cache_init(ssd, buffer_policies[ssd->cfg->buffer]);
    invariant(!b->slot && ssd->l.n_slots > 0);
    b->n_slot_records = ssd->l.slot_records;
    b->slot = lazy_new(Slot, b->n_slot_records);
    if (ssd->l.whole_rows && !buffer_caches(b)) {
        b->row_wait = g_new0(RowWait, ssd->l.n_streams);
    }
    if (ssd->l.deal_rows > 0 && !buffer_caches(b)) {
        b->deal = g_new(uint32_t, ssd->l.deal_rows * ssd->l.deal_units);
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

    lazy_free(b->list, b->n_lists, sizeof(*b->list));
    lazy_free(b->slot, b->n_slot_records, sizeof(*b->slot));
    g_free(b->waiter);
    g_free(b->epoch);
    g_free(b->row_wait);
    g_free(b->deal);
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
    N_LISTS,
    N_WAITERS,
    N_EPOCHS,
    N_STREAMS,
    N_KEPT,
    /* bounds only: */
    N_ROOM,
    N_USER_UNITS,
    N_RAW_UNITS,
    N_STATES,
    N_LIST_NUMBERS,
    N_COUNTS,
};

static const StateRow slot_rows[] = {
    STATE_INDEX_ROW(Slot, lpn, N_USER_UNITS),
    STATE_VALUE_ROW(Slot, source),
    STATE_LINK_ROW(Slot, next, N_SLOTS),
    STATE_LINK_ROW(Slot, prev, N_SLOTS),
    STATE_LINK_ROW(Slot, after, N_SLOTS),
    STATE_NUMBER_ROW(Slot, before),
    STATE_LINK_ROW(Slot, older, N_SLOTS),
    STATE_LINK_ROW(Slot, newer, N_SLOTS),
    STATE_COUNT_ROW(Slot, old_entry, N_RAW_UNITS),
    STATE_NUMBER_ROW(Slot, waiters),
    STATE_NUMBER_ROW(Slot, epoch),
    STATE_VALUE_ROW(Slot, version),
    STATE_INDEX_ROW(Slot, state, N_STATES),
    STATE_INDEX_ROW(Slot, stream, N_STREAMS),
    STATE_VALUE_ROW(Slot, force),
    STATE_VALUE_ROW(Slot, poison),
    STATE_VALUE_ROW(Slot, whole),
    STATE_VALUE_ROW(Slot, dead),
    STATE_VALUE_ROW(Slot, listed),
    STATE_VALUE_ROW(Slot, evict),
    STATE_VALUE_ROW(Slot, sent),
    STATE_VALUE_ROW(Slot, released),
    STATE_VALUE_ROW(Slot, early),
    STATE_VALUE_ROW(Slot, early_done),
    STATE_INDEX_ROW(Slot, list, N_LIST_NUMBERS),
};

static const StateStruct slot_struct = STATE_STRUCT(Slot, slot_rows);

static const StateRow buffer_rows[] = {
    STATE_UNSAVED_ROW(Buffer, client),
    STATE_UNSAVED_ROW(Buffer, policy),
    STATE_TABLE_OF_ROW(Buffer, slot, N_SLOTS, slot_struct),
    STATE_UNSAVED_ROW(Buffer, n_slot_records),
    STATE_LINK_ROW(Buffer, free_slot, N_SLOTS),
    STATE_COUNT_ROW(Buffer, n_free_slots, N_ROOM),
    STATE_COUNT_ROW(Buffer, n_released, N_SLOTS),
    STATE_COUNT_ROW(Buffer, n_unsafe, N_SLOTS),
    STATE_COUNT_ROW(Buffer, n_dirty, N_SLOTS),
    STATE_COUNT_ROW(Buffer, n_must, N_SLOTS),
    STATE_TABLE_ROW(Buffer, list, N_LISTS),
    STATE_UNSAVED_ROW(Buffer, n_lists),
    STATE_COUNT_ROW(Buffer, n_listed, N_SLOTS),
    STATE_COUNT_ROW(Buffer, n_evicting, N_SLOTS),
    STATE_COUNT_ROW(Buffer, n_victims, N_SLOTS),
    STATE_NUMBER_ROW(Buffer, n_promised),
    STATE_VALUE_ROW(Buffer, early),
    STATE_VALUE_ROW(Buffer, last_version),
    STATE_VALUE_ROW(Buffer, waiting),
    STATE_VALUE_ROW(Buffer, pump_waits),
    STATE_INDEX_ROW(Buffer, stream_cursor, N_STREAMS),
    STATE_UNSAVED_ROW(Buffer, dirty_streams), /* follows from the streams */
    STATE_VALUE_ROW(Buffer, stall_ps),
    STATE_VALUE_ROW(Buffer, stalled_since_ps),
    STATE_VALUE_ROW(Buffer, redo),
    STATE_VALUE_ROW(Buffer, closing),
    STATE_POOL_ROW(Buffer, waiter, N_WAITERS),
    STATE_NUMBER_ROW(Buffer, n_waiters),
    STATE_LINK_ROW(Buffer, free_waiter, N_WAITERS),
    STATE_POOL_ROW(Buffer, epoch, N_EPOCHS),
    STATE_NUMBER_ROW(Buffer, epoch_mask),
    STATE_NUMBER_ROW(Buffer, first_epoch),
    STATE_NUMBER_ROW(Buffer, cur_epoch),
    STATE_VALUE_ROW(Buffer, tick_armed),
    STATE_TABLE_ROW(Buffer, row_wait, N_STREAMS),
    STATE_UNSAVED_ROW(Buffer, deal),
    STATE_POOL_OF_ROW(Buffer, kept, N_KEPT, slot_struct),
    STATE_COUNT_ROW(Buffer, n_kept, N_ROOM),
    STATE_VALUE_ROW(Buffer, stats),
};

static const StateStruct buffer_struct = STATE_STRUCT(Buffer, buffer_rows);

static const StateStruct *rows(unsigned i)
{
    static const StateStruct *const all[] = {&buffer_struct, &slot_struct};

    return i < G_N_ELEMENTS(all) ? all[i] : NULL;
}

static void count(const Ssd *ssd, uint64_t *n)
{
    n[N_SLOTS] = ssd->buffer->n_slot_records;
    n[N_LISTS] = ssd->buffer->n_lists;
    n[N_WAITERS] = ssd->buffer->n_waiters;
    n[N_EPOCHS] = (uint64_t)ssd->buffer->epoch_mask + 1;
    n[N_STREAMS] = ssd->l.n_streams;
    n[N_KEPT] = ssd->buffer->n_kept;
    n[N_ROOM] = ssd->l.n_slots;
    n[N_USER_UNITS] = ssd->l.user_units;
    n[N_RAW_UNITS] = ssd->l.raw_units;
    n[N_STATES] = N_SLOT_STATES;
    n[N_LIST_NUMBERS] = MAX(ssd->buffer->n_lists, 1);
}

static bool state(Ssd *ssd, State *s)
{
    uint64_t counts[N_COUNTS];

    if (!state_values(s, &buffer_struct, ssd->buffer)) {
        return false;
    }
    count(ssd, counts);
    if (!state_tables(s, &buffer_struct, ssd->buffer, counts)) {
        return false;
    }
    if (s->loading) {
        queue_note_slots(ssd);
    }
    return true;
}

/* ---- the table ----------------------------------------------------------- */

static void options_changed(Ssd *ssd, const SsdConfig *before)
{
    if (ssd->cfg->flush_interval_ps != before->flush_interval_ps) {
        write_arm_tick_again(ssd);
    }
}

const Component buffer_component = {
    .create = create,
    .destroy = destroy,
    .options_changed = options_changed,
    .power_dropped = power_dropped,
    .power_settled = buffer_create,
    .rows = rows,
    .state = state,
    .check = buffer_check,
};
