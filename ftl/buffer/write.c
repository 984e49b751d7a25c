/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.c - buffer slots: from a host write to a programmed page.
 *
 * Knows slots, flush barriers and pages on their way; knows nothing of links,
 * firmware, room (buffer.c) or which slot should go first (buf-*.c).
 *
 * A slot is made by a write (or written again in place), becomes DIRTY, is
 * gathered with others of its stream (streams.c) into a page, and when that page
 * is programmed it ends, or stays, clean.  A write buffer sends a page when it is
 * full, or when something waits for one of its units (a flush barrier, FUA,
 * host.complete_at=program); a cache when a unit is due.
 */
#include <string.h>

#include "buffer/barriers.h"
#include "buffer/buffer-policy.h"
#include "buffer/buffer.h"
#include "buffer/deal.h"
#include "buffer/flush.h"
#include "buffer/life.h"
#include "buffer/reads.h"
#include "buffer/slot-state.h"
#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "buffer/write-rows.h"
#include "buffer/write.h"
#include "commands.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/media.h"
#include "media/row.h"
#include "media/spare.h"
#include "placement/alloc-policy.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "short-way.h"
#include "ssd-internal.h"
#include "wake.h"

/* With buffer.plp a unit is safe once the buffer has it: the payload's owner
 * hears that, and no more. */
static void tell_buffered(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && ssd->cfg->plp) {
        ssd->client->programmed(ssd->client_opaque, s->lpn, s->version);
    }
}

static void tell_programmed(const Ssd *ssd, const Slot *s)
{
    if (ssd->client && !ssd->cfg->plp) {
        ssd->client->programmed(ssd->client_opaque, s->lpn, s->version);
    }
}

/* The slot of unit k of a page of the host; NULL: the page is empty there. */
static Slot *job_slot(Ssd *ssd, uint32_t job, uint32_t k)
{
    uint32_t i = (uint32_t)job_units(ssd, job)[k]; /* NO_UNIT: NONE */

    return i == NONE ? NULL : &ssd->buffer->slot[i];
}

void write_barrier(Ssd *ssd, uint32_t cmd)
{
    write_begin_epoch(ssd, cmd);
    ssd_wake(ssd, WORK_BUFFER, 0);
}

void write_flush_tick(Ssd *ssd)
{
    ssd->buffer->tick_armed = false;
    if (ssd->window == SSD_WINDOW_HOLD) {
        write_arm_tick(ssd);
    } else {
        write_barrier(ssd, NONE);
    }
}

/* Take those that wait for the unit to be durable out of the slot's list. */
static uint32_t take_durable_waiters(Ssd *ssd, Slot *s)
{
    uint32_t *link = &s->waiters;
    uint32_t taken = NONE;

    while (*link != NONE) {
        uint32_t w = *link;

        if (ssd->buffer->waiter[w].what == WAIT_LOADED) {
            link = &ssd->buffer->waiter[w].next;
            continue;
        }
        istack_push(waiter_chain(ssd), &taken,
                    istack_unlink(waiter_chain(ssd), link));
    }
    return taken;
}

void write_fail_waiters(Ssd *ssd)
{
    invariant(media_cannot_program(ssd));
    write_fail_barriers(ssd);
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        Slot *s = &ssd->buffer->slot[i];
        uint32_t waiters = s->state == SLOT_FREE ? NONE
                                                 : take_durable_waiters(ssd, s);

        for (uint32_t w = waiters; w != NONE; w = ssd->buffer->waiter[w].next) {
            ssd->commands.cmd[ssd->buffer->waiter[w].cmd].status =
                SSD_STATUS_WRITE_FAULT;
        }
        slot_tell_waiters(ssd, waiters);
    }
}

/* ---- host writes --------------------------------------------------------- */

/* The rest of a partly written unit is in NAND: read it first. */
static void start_fill(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->buffer->slot[i];
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_HOST,
        .ppa = {ppu_page(ssd, s->old_entry - 1)},
        .bytes = (uint32_t)ssd->cfg->unit_bytes,
        .cookie = COOKIE_SLOT | i,
        .parts = unit_parts(ssd, s->old_entry - 1),
    };

    invariant(s->old_entry && !map_is_buffered(s->old_entry));
    slot_set_state(ssd, i, SLOT_FILLING);
    s->source = s->old_entry - 1;
    s->after = NONE;
    s->before = NONE;
    faulty_submit(ssd, &op);
}

void write_filled(Ssd *ssd, uint32_t i, bool bad)
{
    Slot *s = &ssd->buffer->slot[i];

    invariant(i < ssd->buffer->n_slot_records);
    if (s->old_entry && !s->whole &&
        (bad || spare_poisoned(ssd, s->old_entry - 1))) {
        s->poison = true;
    }
    invariant(s->state == SLOT_FILLING);
    if (s->dead) {
        l2p_set(&ssd->l2p, s->lpn, 0);
        slot_free(ssd, i);
    } else {
        slot_make_dirty(ssd, i);
    }
}

/* The data of a slot that NAND held is overtaken. */
static void dirty_again(Ssd *ssd, uint32_t i)
{
    bool loading = ssd->buffer->slot[i].state == SLOT_LOADING;

    slot_unsafe(ssd, i);
    if (loading) {
        slot_set_state(ssd, i, SLOT_FILLING);
    } else {
        slot_make_dirty(ssd, i);
    }
}

/* Write into the slot that already holds the unit. */
static void rewrite_slot(Ssd *ssd, uint32_t i, uint64_t version,
                         uint32_t stream)
{
    Slot *s = &ssd->buffer->slot[i];
    bool unsafe = state_is_unsafe(s->state);

    if (s->dead) {
        s->dead = false;
        s->poison = false;
        ssd->l2p.mapped_units++;
    } else if (unsafe) {
        tell_superseded(ssd, s);
    }
    s->version = version;
    queue_change(ssd, i, stream);
    if (!unsafe) {
        dirty_again(ssd, i);
    }
    buffer_write_hit(ssd, i);
}

/* A newer version of a unit that is just being programmed. */
static uint32_t queue_behind(Ssd *ssd, uint32_t older, uint32_t stream)
{
    uint64_t lpn = ssd->buffer->slot[older].lpn;
    uint32_t i = slot_take(ssd, lpn, stream);

    invariant(ssd->buffer->slot[older].newer == NONE);
    slot_unsafe(ssd, i);
    ssd->l2p.mapped_units += ssd->buffer->slot[older].dead;
    slot_set_state(ssd, i, SLOT_BLOCKED);
    ssd->buffer->slot[i].older = older;
    ssd->buffer->slot[i].poison =
        ssd->buffer->slot[older].poison && !ssd->buffer->slot[older].dead;
    ssd->buffer->slot[older].newer = i;
    buffer_replace(ssd, older, i);
    return i;
}

/* Is the slot that something will wait for as well due from the start?  Not
 * where fresh units are dealt out: it would leave them, and that counts. */
static bool begins_due(Ssd *ssd, uint32_t stream)
{
    return stream_queue(ssd, stream)->n_dealt == 0;
}

/* force: something will wait for it (slot_force()). */
static uint32_t new_slot(Ssd *ssd, uint64_t lpn, bool partial, uint32_t stream,
                         bool force)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);
    uint32_t i = slot_take(ssd, lpn, stream);

    ssd->buffer->slot[i].force = SHORT_WAY && force && begins_due(ssd, stream);
    slot_unsafe(ssd, i);
    ssd->buffer->slot[i].old_entry = entry;
    ssd->l2p.mapped_units += entry == 0;
    if (partial && entry) {
        start_fill(ssd, i);
    } else {
        slot_make_dirty(ssd, i);
    }
    buffer_insert(ssd, i);
    return i;
}

/* The lost part of a unit stays lost until the host writes all of it. */
static void note_extent(Slot *s, bool partial)
{
    if (!partial) {
        s->whole = true;
        s->poison = false;
    }
}

/* The unit of a command has been written; the drive has chosen its stream. */
static void note_stream(Ssd *ssd, uint32_t cmd, uint64_t lpn, uint32_t stream)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;
    uint64_t from = MAX((uint64_t)lpn << ssd->block_shift, r->lba);
    uint64_t to = MIN((lpn + 1ULL) << ssd->block_shift, r->lba + r->nblocks);

    stream_wrote(ssd, stream, to - from);
    chooser_wrote(ssd, lpn, stream);
}

/* Put one unit into the buffer; NONE: there is no room. */
static uint32_t insert_unit(Ssd *ssd, uint32_t cmd, uint64_t lpn, bool partial,
                            uint32_t stream, bool force)
{
    uint64_t version = ssd->commands.cmd[cmd].req.version;
    uint64_t entry = l2p_get(&ssd->l2p, lpn);
    bool buffered = map_is_buffered(entry);
    uint32_t i = map_slot(entry);

    if (buffered && ssd->buffer->slot[i].state != SLOT_PROGRAMMING) {
        ssd->buffer->stats.write_hits++;
        rewrite_slot(ssd, i, version, stream);
        note_extent(&ssd->buffer->slot[i], partial);
        return i;
    }
    if (!buffer_room(ssd)) {
        return NONE;
    }
    buffer_took(ssd, cmd);
    if (buffered && ssd->buffer->slot[i].listed) {
        ssd->buffer->stats.write_hits++;
    } else {
        ssd->buffer->stats.write_misses++;
    }
    i = buffered ? queue_behind(ssd, i, stream)
                 : new_slot(ssd, lpn, partial, stream, force);
    ssd->buffer->slot[i].version = version;
    note_extent(&ssd->buffer->slot[i], partial);
    return i;
}

/* A write that enters as a whole waits for room.  When nothing is on its way to
 * NAND, no more would become free: program what the buffer has. */
static void make_progress(Ssd *ssd)
{
    const Buffer *b = ssd->buffer;

    if (!buffer_caches(b) && b->n_dirty == b->n_unsafe &&
        b->n_must < b->n_dirty) {
        write_barrier(ssd, NONE);
    }
}

bool write_insert(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    unsigned shift = ssd->block_shift;
    uint64_t end = c->req.lba + c->req.nblocks;
    uint64_t last = (end - 1) >> shift;
    bool fua = c->req.fua && !no_drain(ssd);
    bool data_in = !fua && ssd->cfg->complete_at == SSD_COMPLETE_AT_DATA_IN;
    bool wait = fua || ssd->buffer->policy->write_through ||
                ssd->cfg->complete_at != SSD_COMPLETE_AT_BUFFER;

    invariant(cmd < ssd->commands.n_cmds);
    if (!buffer_takes_whole(ssd, c)) {
        make_progress(ssd);
        return false;
    }
    for (; c->next_lpn <= last; c->next_lpn++) {
        uint64_t lpn = c->next_lpn;
        bool partial = lpn << shift < c->req.lba || (lpn + 1) << shift > end;
        uint32_t stream = ssd->placement->chooses_stream
                              ? chooser_stream(ssd, lpn)
                              : c->req.stream;
        uint32_t i = insert_unit(ssd, cmd, lpn, partial, stream, wait);

        if (i == NONE) {
            return false;
        }
        if (ssd->placement->chooses_stream) {
            note_stream(ssd, cmd, lpn, stream);
        }
        oplog_unit(ssd->inspect.log, OPLOG_BUFFER, 0, stream, lpn, ssd->now_ps,
                   ssd->commands.cmd[cmd].serial, 0);
        tell_buffered(ssd, &ssd->buffer->slot[i]);
        if (wait) {
            slot_wait(ssd, i, cmd, data_in ? WAIT_DATA_IN : WAIT_DURABLE);
            slot_force(ssd, i);
        }
    }
    return true;
}

/* ---- after a power cut --------------------------------------------------- */

void write_restore(Ssd *ssd, const Slot *kept)
{
    bool partial = kept->state == SLOT_FILLING && !kept->whole;
    uint32_t i = new_slot(ssd, kept->lpn, partial, kept->stream, false);
    Slot *s = &ssd->buffer->slot[i];

    invariant(kept->lpn < ssd->l.user_units && kept->stream < ssd->l.n_streams);
    s->version = kept->version;
    s->whole = kept->whole;
    s->poison = kept->poison;
    oplog_add(ssd->inspect.log, OPLOG_RESTORE, 0, kept->lpn, ssd->now_ps, 0, 0);
}

void write_count_evictions(Ssd *ssd, uint32_t j)
{
    if (ssd->buffer->waiting.head == NONE || buffer_caches(ssd->buffer)) {
        return;
    }
    for (uint32_t k = 0; k < job_at(ssd, j)->n; k++) {
        ssd->buffer->stats.dirty_evictions += job_units(ssd, j)[k] != NO_UNIT;
    }
}

/* Choose the units of a page. */
static void gather_page(Ssd *ssd, uint32_t j)
{
    PageJob *job = job_at(ssd, j);
    uint64_t *unit = job_units(ssd, j);
    uint32_t most = block_program_units(ssd, job->ppa);
    uint32_t i;

    while (job->n < most &&
           (i = queue_pick(ssd, job->stream)) != NONE) {
        slot_leave_dirty(ssd, i);
        unit[job->n++] = i;
    }
    write_count_evictions(ssd, j);
}

/* Fill in the spare area of a job's page. */
static void stamp_page(Ssd *ssd, uint32_t j)
{
    const PageJob *job = job_at(ssd, j);
    uint64_t first = page_ppu(ssd, job->ppa);
    uint32_t most = block_program_units(ssd, job->ppa);
    uint32_t used = job->n;

    for (uint32_t k = 0; k < job->n; k++) {
        const Slot *s = job_slot(ssd, j, k);

        if (!s) {
            spare_blank(ssd, first + k, 1);
            used--;
            continue;
        }
        oplog_unit(ssd->inspect.log, OPLOG_PLACE, 0, job->stream, s->lpn,
                   ssd->now_ps, 0, first + k);
        spare_write(ssd, first + k, s->lpn, s->version, job->stream);
        if (s->poison) {
            spare_poison(ssd, first + k);
        }
    }
    spare_blank(ssd, first + job->n, most - job->n);
    stream_programmed(ssd, job->stream, used, most - used);
    if (ssd->geo->has_slc) {
        if (nand_block_is_slc(ssd->geo, page_block(ssd, job->ppa))) {
            ssd->inspect.count.slc_host_units += used;
        } else {
            ssd->inspect.count.slc_direct_units += used;
        }
    }
}

/* More units than the page takes, which failed in a larger one: the rest is
 * next. */
static void split_job(Ssd *ssd, uint32_t j)
{
    uint32_t most = block_program_units(ssd, job_at(ssd, j)->ppa);
    uint32_t rest;

    if (job_at(ssd, j)->n <= most) {
        return;
    }
    invariant(media_may_fail(ssd));
    rest = job_take(ssd);
    job_at(ssd, rest)->stream = job_at(ssd, j)->stream;
    job_at(ssd, rest)->n = job_at(ssd, j)->n - most;
    memcpy(job_units(ssd, rest), job_units(ssd, j) + most,
           job_at(ssd, rest)->n * sizeof(uint64_t));
    job_at(ssd, j)->n = most;
    job_wait(ssd, &ssd->buffer->redo, rest);
}

/* more: another plane of the same command follows. */
static void submit_page(Ssd *ssd, uint32_t j, bool more)
{
    uint32_t plane = job_at(ssd, j)->plane;
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = NAND_CAUSE_HOST,
        .ppa = {job_at(ssd, j)->ppa},
        .bytes = ssd->geo->page_bytes,
        .cookie = j,
        .more = more,
    };

    stamp_page(ssd, j);
    plane_host_program(ssd, plane, 1);
    plane_charge_host(ssd, plane);
    plane_update(ssd, plane);
    faulty_submit(ssd, &op);
}

void write_submit(Ssd *ssd, uint32_t j)
{
    invariant(j < ssd->media->n_jobs);
    submit_page(ssd, j, false);
    ssd_wake(ssd, WORK_GC, job_at(ssd, j)->plane);
}

/* A page of the plane for the job. */
static void take_page(Ssd *ssd, uint32_t j, uint32_t plane)
{
    job_at(ssd, j)->plane = plane;
    alloc_draw_block(ssd, plane);
    job_place(ssd, j,
              block_take_page(ssd, plane, OPEN_HOST, job_at(ssd, j)->stream));
}

/* A page of the plane for the stream, and units for it.  begins: of a row. */
static uint32_t gather(Ssd *ssd, uint32_t plane, uint32_t stream, bool begins)
{
    uint32_t j = job_take(ssd);

    job_at(ssd, j)->stream = (uint8_t)stream;
    take_page(ssd, j, plane);
    if (begins) {
        deal_out(ssd, stream, job_at(ssd, j)->ppa);
    }
    gather_page(ssd, j);
    ssd->inspect.count.rows_host_padded += job_at(ssd, j)->n == 0;
    return j;
}

void write_send_page(Ssd *ssd, uint32_t plane, uint32_t stream)
{
    invariant(plane < ssd->l.n_planes);
    invariant(stream < ssd->l.n_streams);
    write_submit(ssd, gather(ssd, plane, stream, false));
}

uint32_t write_send_row(Ssd *ssd, uint32_t plane, uint32_t stream,
                        uint64_t empty)
{
    uint32_t job[32];
    uint32_t n = 0;

    do {
        invariant(n < G_N_ELEMENTS(job));
        job[n] = gather(ssd, plane, stream, n == 0);
        n++;
    } while ((empty ? n < empty
                    : ssd->cfg->row_padding || queue_goes_on(ssd, stream)) &&
             (plane = rows_more(ssd, stream)) != NONE);
    for (uint32_t i = 0; i < n; i++) {
        submit_page(ssd, job[i],
                    i + 1 < n &&
                        row_is_command(ssd, job_at(ssd, job[i])->plane,
                                       job_at(ssd, job[i + 1])->plane));
    }
    if (ssd->l.whole_rows) {
        write_rows_sent(ssd, stream, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        ssd_wake(ssd, WORK_GC, job_at(ssd, job[i])->plane);
    }
    return n;
}

static void stall_begins(Ssd *ssd)
{
    if (ssd->placement->n_starved > 0 &&
        ssd->buffer->stalled_since_ps == SIM_NEVER) {
        ssd->buffer->stalled_since_ps = ssd->now_ps;
    }
}

static void stall_ends(Ssd *ssd)
{
    if (ssd->buffer->stalled_since_ps != SIM_NEVER) {
        ssd->buffer->stall_ps += ssd->now_ps - ssd->buffer->stalled_since_ps;
        ssd->buffer->stalled_since_ps = SIM_NEVER;
    }
}

static void tell_overflow(const Ssd *ssd, uint32_t stream, uint32_t other)
{
    if (ssd->client && ssd->client->overflowed) {
        ssd->client->overflowed(ssd->client_opaque, stream, other);
    }
}

/* The stream's group is full: its DIRTY units go to another one.  false: it is
 * not, or no group has room. */
static bool overflow(Ssd *ssd, uint32_t stream)
{
    uint32_t other = alloc_overflow(ssd, stream);
    uint32_t slot;

    if (other == NONE) {
        return false;
    }
    while ((slot = queue_pick(ssd, stream)) != NONE) {
        queue_change(ssd, slot, other);
        ssd->inspect.count.overflowed_units++;
    }
    tell_overflow(ssd, stream, other);
    return true;
}

/* The same for a page that failed. */
static bool overflow_job(Ssd *ssd, uint32_t j)
{
    uint32_t other = alloc_overflow(ssd, job_at(ssd, j)->stream);

    if (other == NONE) {
        return false;
    }
    tell_overflow(ssd, job_at(ssd, j)->stream, other);
    job_at(ssd, j)->stream = (uint8_t)other;
    for (uint32_t k = 0; k < job_at(ssd, j)->n; k++) {
        if (job_slot(ssd, j, k)) {
            queue_change(ssd, (uint32_t)job_units(ssd, j)[k], other);
            ssd->inspect.count.overflowed_units++;
        }
    }
    return true;
}

/* A page of the stream, where the allocator or the map says; false: it has to
 * wait. */
static bool send_next(Ssd *ssd, uint32_t stream)
{
    uint64_t lpn;
    uint32_t plane;

    if (ssd->placement->placer) {
        if (!ssd->placement->placer->send(ssd, stream)) {
            return false;
        }
        stall_ends(ssd);
        return true;
    }
    lpn = ssd->placement->policy->by_unit
              ? ssd->buffer->slot[queue_pick(ssd, stream)].lpn
              : NO_UNIT;
    plane = alloc_pick(ssd, lpn, stream);
    if (plane == NONE) {
        return overflow(ssd, stream);
    }
    stall_ends(ssd);
    write_send_row(ssd, plane, stream, 0);
    return true;
}

/* Give NAND the pages of the host that failed; false: no plane takes one. */
static bool redo(Ssd *ssd)
{
    while (ssd->buffer->redo.head != NONE) {
        uint32_t j = ssd->buffer->redo.head;
        uint32_t slot = (uint32_t)job_units(ssd, j)[0];
        uint32_t plane = alloc_pick(ssd, ssd->buffer->slot[slot].lpn,
                                    job_at(ssd, j)->stream);

        if (plane == NONE && overflow_job(ssd, j)) {
            continue;
        }
        if (plane == NONE) {
            return false;
        }
        job_fifo_pop(ssd, &ssd->buffer->redo);
        take_page(ssd, j, plane);
        split_job(ssd, j);
        write_submit(ssd, j);
    }
    return true;
}

static void pump(Ssd *ssd)
{
    uint32_t most = ssd->l.row_planes ? ssd->l.n_streams : 1;
    uint32_t waits = 0; /* streams in a row that found no plane */
    uint32_t stream;

    ssd->buffer->pump_waits = true;
    if (media_cannot_program(ssd) || !redo(ssd)) {
        return;
    }
    while (ssd->buffer->n_dirty > 0 && (stream = queue_ready(ssd)) != NONE) {
        if (send_next(ssd, stream)) {
            waits = 0;
        } else if (++waits == most) {
            stall_begins(ssd);
            return;
        }
    }
    ssd->buffer->pump_waits = ssd->buffer->closing.head != NONE;
    stall_ends(ssd);
}

/* Is there no unit that could go to NAND, nor a time that runs until then? */
static bool has_nothing(const Ssd *ssd)
{
    const Buffer *b = ssd->buffer;

    return b->n_dirty == 0 && b->redo.head == NONE && !b->row_wait &&
           b->stalled_since_ps == SIM_NEVER && !media_cannot_program(ssd);
}

void write_pump(Ssd *ssd)
{
    if (SHORT_WAY && has_nothing(ssd)) {
        ssd->buffer->pump_waits = ssd->buffer->closing.head != NONE;
        return;
    }
    pump(ssd);
    if (ssd->buffer->row_wait) {
        write_rows_begin_waits(ssd);
    }
}

/* Let go the commands that wait for no more than this. */
void write_page_data_in(Ssd *ssd, uint32_t j)
{
    invariant(j < ssd->media->n_jobs);
    for (uint32_t k = 0; k < job_at(ssd, j)->n; k++) {
        Slot *s = job_slot(ssd, j, k);
        uint32_t ready = NONE;
        uint32_t *link;

        if (!s) {
            continue;
        }
        slot_sent(ssd, (uint32_t)job_units(ssd, j)[k]);
        link = &s->waiters;
        while (*link != NONE) {
            uint32_t w = *link;

            if (ssd->buffer->waiter[w].what == WAIT_DATA_IN) {
                istack_push(waiter_chain(ssd), &ready,
                            istack_unlink(waiter_chain(ssd), link));
            } else {
                link = &ssd->buffer->waiter[w].next;
            }
        }
        slot_tell_waiters(ssd, ready);
    }
    if (ssd->cfg->free_at == SSD_FREE_AT_DATA_IN) {
        ssd_wake(ssd, WORK_HOST, 0);
    }
}

/* The slot's unit is in NAND, at ppu. */
static void slot_programmed(Ssd *ssd, uint32_t i, uint64_t ppu)
{
    Slot *s = &ssd->buffer->slot[i];
    uint32_t newer = s->newer;
    uint64_t entry = 0;

    if (!s->dead) {
        if (s->old_entry) {
            block_clear_valid(ssd, s->old_entry - 1);
        }
        block_set_valid(ssd, ppu);
        if (ssd->buffer->client) {
            ssd->buffer->client->programmed(ssd, s->lpn);
        }
        entry = ppu + 1;
    }
    if (newer != NONE) {
        invariant(ssd->buffer->slot[newer].older == i);
        ssd->buffer->slot[newer].older = NONE;
        ssd->buffer->slot[newer].old_entry = entry;
        slot_make_dirty(ssd, newer);
    } else if (!s->listed || s->dead) {
        l2p_set(&ssd->l2p, s->lpn, entry);
    }
    tell_programmed(ssd, s);
    if (s->listed && !s->dead) {
        slot_cleaned(ssd, i, entry);
    } else {
        slot_free(ssd, i);
    }
}

void write_page_done(Ssd *ssd, uint32_t j)
{
    PageJob job = *job_at(ssd, j);
    uint64_t first = page_ppu(ssd, job.ppa);

    invariant(j < ssd->media->n_jobs);
    for (uint32_t k = 0; k < job.n; k++) {
        if (job_units(ssd, j)[k] != NO_UNIT) {
            slot_programmed(ssd, (uint32_t)job_units(ssd, j)[k], first + k);
        }
    }
    note_buffer(ssd);
    job_give(ssd, j);
    block_page_done(ssd, page_block(ssd, job.ppa));
    plane_host_program(ssd, job.plane, -1);
    plane_update(ssd, job.plane);
    ssd_wake(ssd, WORK_GC, job.plane);
    if (ssd->placement->placer) {
        ssd->placement->placer->page_done(ssd, job.plane);
    }
    ssd_wake(ssd, WORK_HOST, 0);
    ssd_wake(ssd, WORK_BUFFER, 0);
}

void write_page_failed(Ssd *ssd, uint32_t j)
{
    invariant(media_may_fail(ssd) && !job_at(ssd, j)->gc);
    plane_host_program(ssd, job_at(ssd, j)->plane, -1);
    if (job_at(ssd, j)->n == 0) { /* padding: there is nothing to repeat */
        job_give(ssd, j);
        return;
    }
    job_wait(ssd, &ssd->buffer->redo, j);
}

/* A handle of FDP goes on being the same. */
void write_disown(Ssd *ssd, uint32_t stream)
{
    uint32_t slot;

    invariant(stream < ssd->l.n_streams);
    if (stream == 0 || ssd->cfg->ruhs) {
        return;
    }
    while ((slot = queue_pick(ssd, stream)) != NONE) {
        queue_change(ssd, slot, 0);
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
}
