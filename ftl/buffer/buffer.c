/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buffer.c - slots of the buffer: allocation and eviction.
 *
 * Knows the states of slots, room and victims; knows nothing of
 * commands but that they wait, nor which slot is the best victim (buf-*.c).
 *
 * With a policy that caches, the map leads to a slot as long as the unit is in
 * the buffer, and Slot.old_entry to its copy in NAND.  A CLEAN slot is evicted
 * at once.  Any other is marked as victim and freed when it is clean; the
 * command that needs the room waits.
 */
#include "buffer/barriers.h"
#include "buffer/buf-order.h"
#include "buffer/buffer.h"
#include "buffer/flush.h"
#include "buffer/life.h"
#include "buffer/reads.h"
#include "buffer/slot-state.h"
#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "commands.h"
#include "media/spare.h"
#include "pool.h"
#include "media/row-wait.h"
#include "short-way.h"
#include "ssd-internal.h"

/* ---- start --------------------------------------------------------------- */

void buffer_set_threshold(Ssd *ssd, uint32_t ppm)
{
    ssd->buffer->early.threshold_ppm = ppm;
    ssd->buffer->early.limit =
        (uint32_t)((uint64_t)ssd->l.n_slots * ppm / 1000000);
}

/* Free slots. */
static IlistLinks slot_chain(const Ssd *ssd)
{
    return ILIST_CHAIN(ssd->buffer->slot, Slot, next);
}

void buffer_set_client(Ssd *ssd, const BufferClient *client)
{
    invariant(client && client->programmed);
    ssd->buffer->client = client;
}

void buffer_create(Ssd *ssd)
{
    ssd->buffer->free_slot = NONE;
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        ssd->buffer->slot[i] = (Slot){.state = SLOT_FREE};
    }
    pool_add(slot_chain(ssd), &ssd->buffer->free_slot, 0,
             ssd->buffer->n_slot_records);
    ssd->buffer->n_free_slots = ssd->l.n_slots;
    ssd->buffer->n_released = 0;
    ssd->buffer->n_unsafe = 0;
    ssd->buffer->n_dirty = 0;
    ssd->buffer->n_must = 0;
    ssd->buffer->n_evicting = 0;
    ssd->buffer->n_victims = 0;
    ssd->buffer->n_promised = 0;
    queue_forget_slots(ssd);
    g_clear_pointer(&ssd->buffer->waiter, g_free);
    ssd->buffer->free_waiter = NONE;
    ssd->buffer->n_waiters = 0;
    ssd->buffer->first_epoch = 0;
    ssd->buffer->cur_epoch = 0;
    ssd->buffer->epoch[0] = (Epoch){.left = 0, .cmd = NONE};
    ssd->buffer->tick_armed = false;
    row_waits_init(ssd->buffer->row_wait, ssd->l.n_streams);
    ssd->buffer->waiting = IFIFO_EMPTY;
    ssd->buffer->redo = IFIFO_EMPTY;
    ssd->buffer->closing = IFIFO_EMPTY;
    ssd->buffer->stalled_since_ps = SIM_NEVER;
    ssd->buffer->early = (EarlyFlush){.busy = 0};
    buffer_set_threshold(ssd, ssd->cfg->early_threshold_ppm);
    cache_forget(ssd);
    invariant(ssd->buffer->early.limit <= ssd->l.n_slots);
}

void slot_force(Ssd *ssd, uint32_t i)
{
    invariant(i < ssd->buffer->n_slot_records);
    if (SHORT_WAY && ssd->buffer->slot[i].force) {
        return;
    }
    queue_make_due(ssd, i, &ssd->buffer->slot[i].force);
}

/* ---- slots --------------------------------------------------------------- */

uint32_t slot_take(Ssd *ssd, uint64_t lpn, uint32_t stream)
{
    uint32_t i = pool_take(slot_chain(ssd), &ssd->buffer->free_slot);

    invariant(ssd->buffer->n_free_slots > 0);
    ssd->buffer->n_free_slots--;
    ssd->buffer->slot[i] = (Slot){
        .lpn = lpn,
        .stream = (uint8_t)stream,
        .older = NONE,
        .newer = NONE,
        .waiters = NONE,
    };
    l2p_set(&ssd->l2p, lpn, MAP_BUFFERED | i);
    l2p_note_used(&ssd->l2p, lpn);
    return i;
}

uint32_t slot_load(Ssd *ssd, uint32_t cmd, uint64_t lpn, uint64_t version)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);
    uint32_t i = slot_take(ssd, lpn, unit_stream(ssd, entry - 1));

    invariant(entry && !map_is_buffered(entry));
    slot_set_state(ssd, i, SLOT_LOADING);
    ssd->buffer->slot[i].old_entry = entry;
    ssd->buffer->slot[i].version = version;
    ssd->buffer->slot[i].source = entry - 1;
    buffer_insert(ssd, i);
    buffer_took(ssd, cmd);
    return i;
}

void slot_join_read(Ssd *ssd, uint32_t i, uint32_t cmd, uint32_t last)
{
    invariant(ssd->buffer->slot[i].state == SLOT_LOADING);
    ssd->buffer->slot[i].before = cmd;
    ssd->buffer->slot[i].after = NONE;
    if (last != NONE) {
        invariant(ssd->buffer->slot[last].state == SLOT_LOADING);
        ssd->buffer->slot[last].after = i;
    }
}

void slot_unsafe(Ssd *ssd, uint32_t i)
{
    invariant(i < ssd->buffer->n_slot_records);
    write_join_epoch(ssd, &ssd->buffer->slot[i]);
    ssd->buffer->n_unsafe++;
    stream_queue(ssd, ssd->buffer->slot[i].stream)->n_unsafe++;
}

static void slot_safe(Ssd *ssd, Slot *s)
{
    write_leave_epoch(ssd, s);
    invariant(ssd->buffer->n_unsafe > 0);
    ssd->buffer->n_unsafe--;
    invariant(stream_queue(ssd, s->stream)->n_unsafe > 0);
    stream_queue(ssd, s->stream)->n_unsafe--;
}

void slot_make_dirty(Ssd *ssd, uint32_t i)
{
    slot_set_state(ssd, i, SLOT_DIRTY);
    ssd->buffer->n_dirty++;
    queue_insert(ssd, i);
}

void slot_leave_dirty(Ssd *ssd, uint32_t i)
{
    invariant(ssd->buffer->n_dirty > 0);
    ssd->buffer->n_dirty--;
    queue_remove(ssd, i);
    slot_set_state(ssd, i, SLOT_PROGRAMMING); /* state for the policy */
    if (ssd->buffer->slot[i].listed) {
        cache_cleaned(ssd, i);
    }
}

void slot_tell_waiters(Ssd *ssd, uint32_t w)
{
    while (w != NONE) {
        uint32_t i = istack_pop(waiter_chain(ssd), &w);

        pool_give(waiter_chain(ssd), &ssd->buffer->free_waiter, i);
        cmd_slot_settled(ssd, ssd->buffer->waiter[i].cmd);
    }
}

static void unlist(Ssd *ssd, uint32_t i)
{
    if (ssd->buffer->slot[i].listed) {
        cache_remove(ssd, i);
    }
}

/* The slot's early flush, if it was one, has ended. */
static void end_early(Ssd *ssd, Slot *s)
{
    invariant(ssd->buffer->early.busy >= s->early);
    ssd->buffer->early.busy -= s->early;
    s->early_done = s->early_done || s->early;
    s->early = false;
}

/* Its room is there for others: now that it is freed, or earlier. */
static void give_room(Ssd *ssd, Slot *s)
{
    ssd->buffer->n_free_slots++;
    invariant(ssd->buffer->n_evicting >= s->evict);
    ssd->buffer->n_evicting -= s->evict;
}

void slot_free(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];
    uint32_t waiters = s->waiters;

    unlist(ssd, i);
    if (s->state == SLOT_DIRTY) {
        slot_leave_dirty(ssd, i);
    }
    end_early(ssd, s);
    if (state_is_unsafe(s->state)) {
        slot_safe(ssd, s);
    }
    if (s->released) {
        invariant(ssd->buffer->n_released > 0);
        ssd->buffer->n_released--;
    } else {
        give_room(ssd, s);
    }
    slot_set_state(ssd, i, SLOT_FREE);
    pool_give(slot_chain(ssd), &ssd->buffer->free_slot, i);
    slot_tell_waiters(ssd, waiters);
    write_epochs_advance(ssd);
}

void slot_cleaned(Ssd *ssd, uint32_t i, uint64_t entry)
{
    Slot *s = &ssd->buffer->slot[i];
    uint32_t waiters = s->waiters;

    invariant(s->state == SLOT_PROGRAMMING && s->listed);
    end_early(ssd, s);
    slot_safe(ssd, s);
    slot_set_state(ssd, i, SLOT_CLEAN);
    s->old_entry = entry;
    s->waiters = NONE;
    s->force = false;
    s->sent = false;
    slot_tell_waiters(ssd, waiters);
    write_epochs_advance(ssd);
}

static void release(Ssd *ssd, Slot *s)
{
    invariant(!s->released);
    give_room(ssd, s);
    s->released = true;
    ssd->buffer->n_released++;
}

void slot_sent(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];

    invariant(i < ssd->buffer->n_slot_records);
    if (s->sent || ssd->cfg->free_at != SSD_FREE_AT_DATA_IN) {
        return;
    }
    s->sent = true;
    if (s->evict || !buffer_caches(ssd->buffer)) {
        release(ssd, s);
    }
}

void slot_wait(Ssd *ssd, uint32_t i, uint32_t cmd, WaitFor what)
{
    uint32_t w;

    invariant(i < ssd->buffer->n_slot_records);
    invariant(cmd < ssd->commands.n_cmds);
    ssd->buffer->waiter =
        pool_grow(ssd->buffer->waiter, waiter_chain(ssd),
                  &ssd->buffer->free_waiter, &ssd->buffer->n_waiters, 64);
    w = pool_take(waiter_chain(ssd), &ssd->buffer->free_waiter);
    ssd->buffer->waiter[w] = (Waiter){.cmd = cmd, .what = (uint8_t)what};
    istack_push(waiter_chain(ssd), &ssd->buffer->slot[i].waiters, w);
    ssd->commands.cmd[cmd].pending++;
}

/* ---- calls of the policy ------------------------------------------------ */

void buffer_insert(Ssd *ssd, uint32_t i)
{
    if (buffer_caches(ssd->buffer)) {
        cache_insert(ssd, i);
    }
}

void buffer_read_miss(Ssd *ssd)
{
    ssd->buffer->stats.read_misses++;
}

void buffer_wait(Ssd *ssd, uint32_t cmd)
{
    fifo_push(ssd, &ssd->buffer->waiting, cmd);
}

uint32_t buffer_end_wait(Ssd *ssd)
{
    invariant(ssd->buffer->waiting.head != NONE);
    return fifo_pop(ssd, &ssd->buffer->waiting);
}

void buffer_pass(Ssd *ssd, uint32_t cmd)
{
    invariant(ssd->buffer->waiting.head == NONE);
    ssd->buffer->waiting.tail = cmd; /* that of a saved drive is the same */
}

void buffer_new_version(Ssd *ssd, uint64_t version)
{
    invariant(version > ssd->buffer->last_version && version < 1ULL << 48);
    ssd->buffer->last_version = version;
}

void buffer_read_hit(Ssd *ssd, uint32_t i)
{
    invariant(ssd->buffer->slot[i].state != SLOT_FREE);
    ssd->buffer->stats.read_hits++;
    if (ssd->buffer->slot[i].listed) {
        cache_read(ssd, i);
    }
}

static void count_rewrite(Ssd *ssd, Slot *s)
{
    if (s->early || s->early_done) {
        ssd->buffer->stats.rewrites_after_flush++;
        ssd->buffer->early.rewrites++;
        s->early_done = false;
    }
}

void buffer_write_hit(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];

    invariant(ssd->buffer->slot[i].state != SLOT_FREE);
    count_rewrite(ssd, s);
    if (s->listed) {
        cache_written(ssd, i);
    }
}

void buffer_replace(Ssd *ssd, uint32_t older, uint32_t newer)
{
    invariant(older < ssd->buffer->n_slot_records);
    invariant(newer < ssd->buffer->n_slot_records);
    invariant(ssd->buffer->slot[older].state == SLOT_PROGRAMMING);
    invariant(ssd->buffer->slot[older].lpn == ssd->buffer->slot[newer].lpn);
    if (!buffer_caches(ssd->buffer)) {
        return;
    }
    count_rewrite(ssd, &ssd->buffer->slot[older]);
    if (!ssd->buffer->slot[older].listed) {
        buffer_insert(ssd, newer);
        return;
    }
    cache_replace(ssd, older, newer);
    cache_written(ssd, newer);
}

/* ---- room ---------------------------------------------------------------- */

static bool has_room(const Ssd *ssd)
{
    return ssd->buffer->n_free_slots > 0 && ssd->buffer->free_slot != NONE;
}

static void give_up_clean(Ssd *ssd, uint32_t i)
{
    invariant(ssd->buffer->slot[i].state == SLOT_CLEAN);
    invariant(l2p_get(&ssd->l2p, ssd->buffer->slot[i].lpn) ==
              (MAP_BUFFERED | i));
    ssd->buffer->stats.clean_evictions++;
    l2p_set(&ssd->l2p, ssd->buffer->slot[i].lpn,
            ssd->buffer->slot[i].old_entry);
    slot_free(ssd, i);
}

static void start_eviction(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];

    invariant(!s->evict);
    unlist(ssd, i);
    if (state_is_unsafe(s->state)) {
        ssd->buffer->stats.dirty_evictions++;
        ssd->buffer->early.evictions++;
    }
    queue_make_due(ssd, i, &s->evict);
    ssd->buffer->n_evicting++;
    if (s->sent) {
        release(ssd, s);
    }
}

static void evict_slot(Ssd *ssd, uint32_t i, uint32_t *stream)
{
    invariant(i < ssd->buffer->n_slot_records && ssd->buffer->slot[i].listed);
    if (ssd->buffer->slot[i].state == SLOT_CLEAN) {
        give_up_clean(ssd, i);
    } else {
        start_eviction(ssd, i);
        *stream = ssd->buffer->slot[i].stream;
    }
}

/* Evict a victim, and those that leave with it. false: nothing more can be
 * evicted now.  *stream: of a slot that must be programmed first. */
static bool evict(Ssd *ssd, uint32_t *stream)
{
    uint32_t i = cache_victim(ssd);
    uint64_t lpn;

    if (i == NONE) {
        return false;
    }
    lpn = ssd->buffer->slot[i].lpn;
    while (i != NONE) {
        evict_slot(ssd, i, stream);
        i = cache_follower(ssd, lpn);
    }
    return true;
}

bool buffer_is_open(const Ssd *ssd, uint64_t units)
{
    return ssd->buffer->waiting.head == NONE && ssd->buffer->n_released == 0 &&
           ssd->buffer->n_free_slots >= units;
}

bool buffer_room(Ssd *ssd)
{
    uint32_t i;

    if (has_room(ssd)) {
        return true;
    }
    if (!buffer_caches(ssd->buffer) || ssd->buffer->policy->follows) {
        return false;
    }
    i = cache_victim(ssd);
    if (i == NONE || ssd->buffer->slot[i].state != SLOT_CLEAN) {
        return false;
    }
    give_up_clean(ssd, i);
    return has_room(ssd);
}

static uint64_t last_lpn(const Ssd *ssd, const Cmd *c)
{
    return (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;
}

/* Slots that a write needs at one instant (buffer.atomic). */
static uint32_t wanted_at_once(const Ssd *ssd, const Cmd *c)
{
    uint64_t bytes = (uint64_t)c->req.nblocks * ssd->info.block_bytes;
    uint64_t last = last_lpn(ssd, c);
    uint32_t n = 0;

    if (c->req.op != SSD_OP_WRITE || bytes > ssd->cfg->atomic_bytes) {
        return 0;
    }
    for (uint64_t lpn = c->next_lpn; lpn <= last; lpn++) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        n += !map_is_buffered(entry) ||
             ssd->buffer->slot[map_slot(entry)].state == SLOT_PROGRAMMING;
    }
    return n;
}

bool buffer_takes_whole(const Ssd *ssd, const Cmd *c)
{
    return ssd->cfg->atomic_bytes == 0 ||
           ssd->buffer->n_free_slots >= wanted_at_once(ssd, c);
}

static void promise(Ssd *ssd, Cmd *c)
{
    c->promised++;
    ssd->buffer->n_promised++;
}

void buffer_took(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    invariant(cmd < ssd->commands.n_cmds);
    if (c->promised > 0) {
        invariant(c->promised > 0);
        c->promised--;
        invariant(ssd->buffer->n_promised > 0);
        ssd->buffer->n_promised--;
    }
}

void buffer_settle(Ssd *ssd, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    invariant(ssd->buffer->n_promised >= ssd->commands.cmd[cmd].promised);
    ssd->buffer->n_promised -= ssd->commands.cmd[cmd].promised;
    ssd->commands.cmd[cmd].promised = 0;
}

/* Victims leave by the page of their stream: those that would follow fill it
 * up. */
static void fill_victims(Ssd *ssd, uint32_t stream)
{
    const SlotList *due = &stream_queue(ssd, stream)->due;
    uint32_t units =
        ssd->l.units_per_program * (ssd->l.whole_rows ? ssd->l.row_planes : 1);
    uint32_t i;

    invariant(stream < ssd->l.n_streams);
    while (due->n % units != 0 && (i = cache_victim(ssd)) != NONE &&
           ssd->buffer->slot[i].state == SLOT_DIRTY &&
           ssd->buffer->slot[i].stream == stream) {
        start_eviction(ssd, i);
    }
}

/* Is there less room, or less on its way, than is promised?  A unit that has
 * left may be one that the command would have rewritten: it needs one more. */
static bool lacks_room(Ssd *ssd, Cmd *c)
{
    uint32_t at_once = MAX(wanted_at_once(ssd, c), 1);

    while (c->promised < at_once) {
        promise(ssd, c);
    }
    return ssd->buffer->n_free_slots + ssd->buffer->n_evicting <
           ssd->buffer->n_promised;
}

bool buffer_make_room(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = last_lpn(ssd, c);
    uint32_t stream = NONE;

    invariant(cmd < ssd->commands.n_cmds);
    if (!buffer_caches(ssd->buffer)) {
        return false;
    }
    c->room_lpn = MAX(c->room_lpn, c->next_lpn);
    for (; c->room_lpn <= last; c->room_lpn++) {
        if (!map_is_buffered(l2p_get(&ssd->l2p, c->room_lpn))) {
            promise(ssd, c);
        }
    }
    while (lacks_room(ssd, c) && evict(ssd, &stream)) {
    }
    if (stream != NONE && !ssd->buffer->policy->follows) {
        fill_victims(ssd, stream);
    }
    return has_room(ssd) && buffer_takes_whole(ssd, c);
}
