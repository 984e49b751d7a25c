/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write.c - buffer slots: from a host write to a programmed page.
 *
 * Knows slots, flush barriers and pages on their way; knows nothing of links,
 * firmware or which slot should go first (buf-*.c decide that).
 *
 * A slot is made by a write (or written again in place), becomes DIRTY, is
 * gathered with others into a page, and ends when that page is programmed.
 * A page holds units of one stream (streams.c), and
 * is sent when it is full, or when something waits for one of its units
 * (a flush barrier, FUA, host.complete_at=program).
 */
#include <string.h>

#include "ftl.h"

/* ---- flush barriers ------------------------------------------------------- */

static Epoch *epoch_at(Ssd *ssd, uint32_t e)
{
    return &ssd->epoch[e & ssd->epoch_mask];
}

static void epochs_advance(Ssd *ssd)
{
    while (ssd->first_epoch != ssd->cur_epoch &&
           epoch_at(ssd, ssd->first_epoch)->left == 0) {
        uint32_t cmd = epoch_at(ssd, ssd->first_epoch)->cmd;

        ssd->first_epoch++;
        if (cmd != NONE) {
            host_account(ssd, &ssd->cmd[cmd], COST_flush);
            host_finish(ssd, cmd, SSD_STATUS_OK);
        }
    }
}

static void epochs_grow(Ssd *ssd)
{
    uint32_t old_mask = ssd->epoch_mask;
    Epoch *old = ssd->epoch;

    ssd->epoch_mask = old_mask * 2 + 1;
    ssd->epoch = g_new0(Epoch, ssd->epoch_mask + 1);
    for (uint32_t e = ssd->first_epoch; e != ssd->cur_epoch + 1; e++) {
        *epoch_at(ssd, e) = old[e & old_mask];
    }
    g_free(old);
}

void write_barrier(Ssd *ssd, uint32_t cmd)
{
    if (ssd->cur_epoch - ssd->first_epoch == ssd->epoch_mask) {
        epochs_grow(ssd);
    }
    epoch_at(ssd, ssd->cur_epoch)->cmd = cmd;
    ssd->cur_epoch++;
    *epoch_at(ssd, ssd->cur_epoch) = (Epoch){.left = 0, .cmd = NONE};
    ssd->n_must = ssd->n_dirty; /* every slot is now of an earlier epoch */
    stream_must_all(ssd);
    epochs_advance(ssd);
    write_pump(ssd);
}

void write_flush_tick(Ssd *ssd)
{
    ssd->tick_armed = false;
    write_barrier(ssd, NONE);
}

/* The next multiple of buffer.flush_interval, once there is something dirty. */
static void arm_tick(Ssd *ssd)
{
    uint64_t every = ssd->cfg->flush_interval_ps;

    if (every > 0 && !ssd->tick_armed) {
        ssd->tick_armed = true;
        eventq_push(&ssd->events, (ssd->now_ps / every + 1) * every,
                    SSD_EVENT_FLUSH_TICK, 0);
    }
}

/* Barriers that commands wait for will not be reached. */
static void fail_barriers(Ssd *ssd)
{
    for (uint32_t e = ssd->first_epoch; e != ssd->cur_epoch; e++) {
        uint32_t cmd = epoch_at(ssd, e)->cmd;

        epoch_at(ssd, e)->cmd = NONE;
        if (cmd != NONE) {
            host_account(ssd, &ssd->cmd[cmd], COST_flush);
            host_finish(ssd, cmd, SSD_STATUS_WRITE_FAULT);
        }
    }
}

/* ---- slots ----------------------------------------------------------------- */

static bool slot_must(const Ssd *ssd, const Slot *s)
{
    return s->force || s->epoch != ssd->cur_epoch;
}

static uint32_t slot_take(Ssd *ssd, uint32_t lpn, uint32_t stream)
{
    uint32_t i = ssd->free_slot;

    ssd->free_slot = ssd->slot[i].next;
    ssd->n_free_slots--;
    ssd->slot[i] = (Slot){
        .lpn = lpn,
        .stream = (uint8_t)stream,
        .older = NONE,
        .newer = NONE,
        .waiters = NONE,
        .epoch = ssd->cur_epoch,
    };
    epoch_at(ssd, ssd->cur_epoch)->left++;
    ssd->map[lpn] = MAP_BUFFERED | i;
    arm_tick(ssd);
    return i;
}

static void make_dirty(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->slot[i];

    s->state = SLOT_DIRTY;
    ssd->n_dirty++;
    ssd->n_must += slot_must(ssd, s);
    stream_insert(ssd, i, slot_must(ssd, s));
    ssd->buf->insert(ssd, i);
}

static void leave_dirty(Ssd *ssd, uint32_t i)
{
    ssd->n_dirty--;
    ssd->n_must -= slot_must(ssd, &ssd->slot[i]);
    stream_remove(ssd, i, slot_must(ssd, &ssd->slot[i]));
    ssd->buf->remove(ssd, i);
}

static void force_slot(Ssd *ssd, Slot *s)
{
    if (s->state == SLOT_DIRTY && !slot_must(ssd, s)) {
        ssd->n_must++;
        ssd->stream[s->stream].n_must++;
    }
    s->force = true;
}

static void tell_waiters(Ssd *ssd, uint32_t w)
{
    while (w != NONE) {
        uint32_t next = ssd->waiter[w].next;
        uint32_t cmd = ssd->waiter[w].cmd;

        ssd->waiter[w].next = ssd->free_waiter;
        ssd->free_waiter = w;
        host_slot_settled(ssd, cmd);
        w = next;
    }
}

void slot_free(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->slot[i];
    uint32_t waiters = s->waiters;

    if (s->state == SLOT_DIRTY) {
        leave_dirty(ssd, i);
    }
    epoch_at(ssd, s->epoch)->left--;
    s->state = SLOT_FREE;
    s->next = ssd->free_slot;
    ssd->free_slot = i;
    ssd->n_free_slots++;
    tell_waiters(ssd, waiters);
    epochs_advance(ssd);
}

void write_fail_waiters(Ssd *ssd)
{
    fail_barriers(ssd);
    for (uint32_t i = 0; i < ssd->l.n_slots; i++) {
        Slot *s = &ssd->slot[i];
        uint32_t waiters = s->state == SLOT_FREE ? NONE : s->waiters;

        for (uint32_t w = waiters; w != NONE; w = ssd->waiter[w].next) {
            ssd->cmd[ssd->waiter[w].cmd].status = SSD_STATUS_WRITE_FAULT;
        }
        s->waiters = NONE;
        tell_waiters(ssd, waiters);
    }
}

static void add_waiter(Ssd *ssd, Slot *s, uint32_t cmd, bool data_in)
{
    uint32_t w;

    if (ssd->free_waiter == NONE) {
        uint32_t old = ssd->n_waiters;

        ssd->n_waiters = old ? old * 2 : 64;
        ssd->waiter = g_renew(Waiter, ssd->waiter, ssd->n_waiters);
        for (w = old; w < ssd->n_waiters; w++) {
            ssd->waiter[w].next = ssd->free_waiter;
            ssd->free_waiter = w;
        }
    }
    w = ssd->free_waiter;
    ssd->free_waiter = ssd->waiter[w].next;
    ssd->waiter[w] = (Waiter){.cmd = cmd,
                              .next = s->waiters,
                              .data_in = data_in};
    s->waiters = w;
    ssd->cmd[cmd].pending++;
    force_slot(ssd, s);
}

/* ---- host writes ----------------------------------------------------------- */

/* The rest of a partly written unit is in NAND: read it first. */
static void start_fill(Ssd *ssd, uint32_t i)
{
    Slot *s = &ssd->slot[i];
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_HOST,
        .ppa = {ppu_page(ssd, s->old_entry - 1)},
        .bytes = (uint32_t)ssd->cfg->unit_bytes,
        .cookie = MAP_BUFFERED | i,
        .parts = unit_parts(ssd, s->old_entry - 1),
    };

    s->state = SLOT_FILLING;
    faulty_submit(ssd, &op);
}

void write_fill_done(Ssd *ssd, uint32_t i, const NandOp *op)
{
    Slot *s = &ssd->slot[i];

    if (s->old_entry && !s->whole &&
        (op->status == NAND_UNCORRECTABLE ||
         spare_poisoned(ssd, s->old_entry - 1))) {
        s->poison = true;
    }
    if (s->dead) {
        ssd->map[s->lpn] = 0;
        slot_free(ssd, i);
        host_room(ssd);
    } else {
        make_dirty(ssd, i);
    }
    write_pump(ssd);
}

/* Write into the slot that already holds the unit. */
static void rewrite_slot(Ssd *ssd, uint32_t i, uint64_t version,
                         uint32_t stream)
{
    Slot *s = &ssd->slot[i];

    if (s->dead) {
        s->dead = false;
        s->poison = false;
        ssd->mapped_units++;
    } else if (ssd->host) {
        ssd->host->superseded(ssd->opaque, s->lpn, s->version);
    }
    s->version = version;
    stream_change(ssd, i, stream, slot_must(ssd, s));
    if (s->state == SLOT_DIRTY) {
        ssd->buf->rewrite(ssd, i);
    }
}

/* A newer version of a unit that is just being programmed. */
static uint32_t queue_behind(Ssd *ssd, uint32_t older, uint32_t stream)
{
    uint32_t lpn = ssd->slot[older].lpn;
    uint32_t i = slot_take(ssd, lpn, stream);

    ssd->mapped_units += ssd->slot[older].dead;
    ssd->slot[i].state = SLOT_BLOCKED;
    ssd->slot[i].older = older;
    ssd->slot[i].poison = ssd->slot[older].poison && !ssd->slot[older].dead;
    ssd->slot[older].newer = i;
    return i;
}

static uint32_t new_slot(Ssd *ssd, uint32_t lpn, bool partial, uint32_t stream)
{
    uint32_t entry = ssd->map[lpn];
    uint32_t i = slot_take(ssd, lpn, stream);

    ssd->slot[i].old_entry = entry;
    ssd->mapped_units += entry == 0;
    if (partial && entry) {
        start_fill(ssd, i);
    } else {
        make_dirty(ssd, i);
    }
    return i;
}

/* What is lost of a unit stays lost until the host writes all of it. */
static void note_extent(Slot *s, bool partial)
{
    if (!partial) {
        s->whole = true;
        s->poison = false;
    }
}

/* Put one unit into the buffer; NONE: there is no room. */
static uint32_t insert_unit(Ssd *ssd, uint32_t lpn, const SsdCmd *req,
                            bool partial)
{
    uint32_t entry = ssd->map[lpn];
    bool buffered = map_is_buffered(entry);
    uint32_t i = map_slot(entry);

    if (buffered && ssd->slot[i].state != SLOT_PROGRAMMING) {
        ssd->buffer_stats.hits++;
        rewrite_slot(ssd, i, req->version, req->stream);
        note_extent(&ssd->slot[i], partial);
        return i;
    }
    if (ssd->n_free_slots == 0) {
        return NONE;
    }
    ssd->buffer_stats.misses++;
    i = buffered ? queue_behind(ssd, i, req->stream)
                 : new_slot(ssd, lpn, partial, req->stream);
    ssd->slot[i].version = req->version;
    note_extent(&ssd->slot[i], partial);
    return i;
}

bool write_insert(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->cmd[cmd];
    unsigned shift = ssd->block_shift;
    uint64_t end = c->req.lba + c->req.nblocks;
    uint64_t last = (end - 1) >> shift;
    bool data_in = !c->req.fua &&
                   ssd->cfg->complete_at == SSD_COMPLETE_AT_DATA_IN;
    bool wait = c->req.fua || ssd->cfg->complete_at != SSD_COMPLETE_AT_BUFFER;

    for (; c->next_lpn <= last; c->next_lpn++) {
        uint64_t lpn = c->next_lpn;
        bool partial = lpn << shift < c->req.lba || (lpn + 1) << shift > end;
        uint32_t i = insert_unit(ssd, (uint32_t)lpn, &c->req, partial);

        if (i == NONE) {
            return false;
        }
        oplog_add(ssd->log, OPLOG_BUFFER, 0, (uint32_t)lpn, ssd->now_ps,
                  ssd->cmd[cmd].serial, 0);
        if (wait) {
            add_waiter(ssd, &ssd->slot[i], cmd, data_in);
        }
    }
    return true;
}

/* ---- pages -------------------------------------------------------------------- */

uint32_t job_take(Ssd *ssd)
{
    uint32_t j;

    if (ssd->free_job == NONE) {
        uint32_t old = ssd->n_jobs;

        ssd->n_jobs = old ? old * 2 : 64;
        ssd->job = g_renew(PageJob, ssd->job, ssd->n_jobs);
        ssd->job_unit = g_renew(uint32_t, ssd->job_unit,
                                (size_t)ssd->n_jobs * ssd->l.units_per_program);
        for (j = old; j < ssd->n_jobs; j++) {
            ssd->job[j] = (PageJob){.next = ssd->free_job};
            ssd->free_job = j;
        }
    }
    j = ssd->free_job;
    ssd->free_job = ssd->job[j].next;
    ssd->job[j] = (PageJob){.active = true};
    return j;
}

void job_give(Ssd *ssd, uint32_t j)
{
    ssd->job[j].active = false;
    ssd->job[j].next = ssd->free_job;
    ssd->free_job = j;
}

/* Choose the units of a page. */
static void gather_page(Ssd *ssd, uint32_t j)
{
    PageJob *job = &ssd->job[j];
    uint32_t *unit = job_units(ssd, j);
    uint32_t most = block_program_units(ssd, job->ppa);
    uint32_t i;

    while (job->n < most &&
           (i = stream_pick(ssd, job->stream)) != NONE) {
        leave_dirty(ssd, i);
        ssd->slot[i].state = SLOT_PROGRAMMING;
        unit[job->n++] = i;
    }
    if (ssd->waiting.head != NONE) {
        ssd->buffer_stats.dirty_evictions += job->n;
    }
}

/* Fill in the spare area of a job's page. */
static void stamp_page(Ssd *ssd, uint32_t j)
{
    const PageJob *job = &ssd->job[j];
    uint32_t first = job->ppa << ssd->page_units_shift;
    uint32_t most = block_program_units(ssd, job->ppa);
    SsdStreamCounters *count = &ssd->stream[job->stream].n;

    for (uint32_t k = 0; k < job->n; k++) {
        const Slot *s = &ssd->slot[job_units(ssd, j)[k]];

        oplog_add(ssd->log, OPLOG_PLACE, 0, s->lpn, ssd->now_ps, 0, first + k);
        ssd->spare_lpn[first + k] = (s->lpn + 1) |
                                    (s->poison ? SPARE_POISON : 0);
        if (ssd->spare_version) {
            ssd->spare_version[first + k] = s->version;
        }
        if (ssd->spare_stream) {
            ssd->spare_stream[first + k] = job->stream;
        }
    }
    for (uint32_t k = job->n; k < most; k++) {
        ssd->spare_lpn[first + k] = SPARE_NONE;
    }
    ssd->padded_units += most - job->n;
    count->padded_units += most - job->n;
    count->host_units += job->n;
}

/* More units than the page takes, which failed in a larger one: the rest is
 * next. */
static void split_job(Ssd *ssd, uint32_t j)
{
    uint32_t most = block_program_units(ssd, ssd->job[j].ppa);
    uint32_t rest;

    if (ssd->job[j].n <= most) {
        return;
    }
    rest = job_take(ssd);
    ssd->job[rest].ppa = NONE;
    ssd->job[rest].stream = ssd->job[j].stream;
    ssd->job[rest].n = ssd->job[j].n - most;
    memcpy(job_units(ssd, rest), job_units(ssd, j) + most,
           ssd->job[rest].n * sizeof(uint32_t));
    ssd->job[j].n = most;
    job_fifo_push(ssd, &ssd->redo, rest);
}

void write_send(Ssd *ssd, uint32_t j, uint32_t plane)
{
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = NAND_CAUSE_HOST,
        .ppa = {block_take_page(ssd, plane, OPEN_HOST, ssd->job[j].stream)},
        .bytes = ssd->geo->page_bytes,
        .cookie = j,
    };

    g_assert(op.ppa.page != NONE);
    ssd->job[j].plane = plane;
    ssd->job[j].ppa = op.ppa.page;
    if (ssd->job[j].n == 0) {
        gather_page(ssd, j);
    } else {
        split_job(ssd, j);
    }
    stamp_page(ssd, j);
    ssd->plane[plane].host_programs++;
    plane_update(ssd, plane);
    faulty_submit(ssd, &op);
    gc_kick(ssd, plane);
}

static void send_page(Ssd *ssd, uint32_t plane, uint32_t stream)
{
    uint32_t j = job_take(ssd);

    ssd->job[j].stream = (uint8_t)stream;
    write_send(ssd, j, plane);
}

static void stall_begins(Ssd *ssd)
{
    if (ssd->n_starved > 0 && ssd->stalled_since_ps == SIM_NEVER) {
        ssd->stalled_since_ps = ssd->now_ps;
    }
}

static void stall_ends(Ssd *ssd)
{
    if (ssd->stalled_since_ps != SIM_NEVER) {
        ssd->stall_ps += ssd->now_ps - ssd->stalled_since_ps;
        ssd->stalled_since_ps = SIM_NEVER;
    }
}

void write_pump(Ssd *ssd)
{
    uint32_t stream;

    if (ssd->given_up || !bad_redo(ssd)) {
        return;
    }
    while ((stream = stream_ready(ssd)) != NONE) {
        uint32_t plane = ssd->alloc->pick(ssd);

        if (plane == NONE) {
            stall_begins(ssd);
            return;
        }
        stall_ends(ssd);
        send_page(ssd, plane, stream);
    }
    stall_ends(ssd);
}

/* Let go the commands that wait for no more than this. */
void write_page_data_in(Ssd *ssd, uint32_t j)
{
    for (uint32_t k = 0; k < ssd->job[j].n; k++) {
        uint32_t *link = &ssd->slot[job_units(ssd, j)[k]].waiters;
        uint32_t ready = NONE;

        while (*link != NONE) {
            uint32_t w = *link;

            if (ssd->waiter[w].data_in) {
                *link = ssd->waiter[w].next;
                ssd->waiter[w].next = ready;
                ready = w;
            } else {
                link = &ssd->waiter[w].next;
            }
        }
        tell_waiters(ssd, ready);
    }
}

/* The slot's unit is in NAND, at ppu. */
static void slot_programmed(Ssd *ssd, uint32_t i, uint32_t ppu)
{
    Slot *s = &ssd->slot[i];
    uint32_t newer = s->newer;
    uint32_t entry = 0;

    if (!s->dead) {
        if (s->old_entry) {
            block_clear_valid(ssd, s->old_entry - 1);
        }
        block_set_valid(ssd, ppu);
        entry = ppu + 1;
    }
    if (newer == NONE) {
        ssd->map[s->lpn] = entry;
    } else {
        ssd->slot[newer].older = NONE;
        ssd->slot[newer].old_entry = entry;
        make_dirty(ssd, newer);
    }
    if (ssd->host) {
        ssd->host->programmed(ssd->opaque, s->lpn, s->version);
    }
    slot_free(ssd, i);
}

void write_page_done(Ssd *ssd, uint32_t j)
{
    PageJob job = ssd->job[j];
    uint32_t first = job.ppa << ssd->page_units_shift;

    for (uint32_t k = 0; k < job.n; k++) {
        slot_programmed(ssd, job_units(ssd, j)[k], first + k);
    }
    job_give(ssd, j);
    block_page_done(ssd, job.ppa / ssd->geo->pages_per_block);
    ssd->plane[job.plane].host_programs--;
    plane_update(ssd, job.plane);
    gc_kick(ssd, job.plane);
    host_room(ssd);
    write_pump(ssd);
}
