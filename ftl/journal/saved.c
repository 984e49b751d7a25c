/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved.c - pages with map entries of logical units, in blocks of their own:
 * NAND keeps them for a return of power, beside the data and its spare areas.
 *
 * Knows when a page of these is written, where to, and which blocks of theirs
 * can be erased.  Knows nothing of their use in recovery (recovery.c).
 *
 * A saved page has entries of saved_units logical units, 8 bytes each: where
 * the unit is, or below which version all copies of it have been trimmed. Trims
 * change the pages in memory; a flush, and the erase of a block
 * (saved_holds()), wait until NAND has the pages that trims have changed.
 *
 * With ftl.recovery=checkpoint all that has changed is written now and then,
 * and at a shutdown; then a page that says so, the anchor, which is the last
 * index.
 *
 * The last saved_blocks of each plane hold these pages, wherever there is room:
 * the spare area has the page's index and when it was written, and the newest
 * counts.  A block without such a page is erased; when few blocks are free, the
 * block with the fewest is emptied by rewriting its pages, which needs no
 * read, because memory has their contents.
 */
#include <string.h>

#include "commands.h"
#include "journal/journal.h"
#include "journal/known.h"
#include "journal/saved.h"
#include "lazymem.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/life.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/spare.h"
#include "ssd-internal.h"
#include "wake.h"

static void saved_changed(Ssd *ssd, uint64_t lpn)
{
    invariant(lpn / ssd->l.saved_units < ssd->l.n_saved);
    ssd->journal->saved_page[lpn / ssd->l.saved_units].changed = true;
}

/* ---- tables -------------------------------------------------------------- */

static void page_done(Ssd *ssd);

static const SavedClient saved_client = {
    .changed = saved_changed,
    .page_done = page_done,
};

static uint64_t entries_in_flight(const Ssd *ssd)
{
    return (uint64_t)ssd->l.n_saved_flights * ssd->l.saved_units;
}

void saved_create(Ssd *ssd)
{
    if (!saves(ssd)) {
        return;
    }
    invariant(!ssd->journal->saved_page);
    ssd->journal->floor = lazy_new(uint64_t, saved_map_units(ssd));
    ssd->journal->saved = lazy_new(uint64_t, saved_map_units(ssd));
    ssd->journal->saved_in_flight = lazy_new(uint64_t, entries_in_flight(ssd));
    ssd->journal->saved_page = lazy_new(SavedPage, ssd->l.n_saved);
    ssd->journal->saved_flight = g_new0(SavedFlight, ssd->l.n_saved_flights);
    ssd->journal->saved_open = g_new0(Open, ssd->l.n_planes);
    media_set_saved(ssd, &saved_client);
    saved_forget(ssd);
}

void saved_destroy(Ssd *ssd)
{
    lazy_free(ssd->journal->floor, saved_map_units(ssd),
              sizeof(*ssd->journal->floor));
    lazy_free(ssd->journal->saved, saved_map_units(ssd),
              sizeof(*ssd->journal->saved));
    lazy_free(ssd->journal->saved_in_flight, entries_in_flight(ssd),
              sizeof(*ssd->journal->saved_in_flight));
    lazy_free(ssd->journal->saved_page, ssd->l.n_saved,
              sizeof(*ssd->journal->saved_page));
    g_free(ssd->journal->saved_flight);
    g_free(ssd->journal->saved_open);
}

uint64_t saved_memory(const Ssd *ssd)
{
    return !saves(ssd) ? 0
                       : 2 * saved_map_units(ssd) * sizeof(uint64_t) +
                             entries_in_flight(ssd) * sizeof(uint64_t) +
                             (uint64_t)ssd->geo->n_pages *
                                 sizeof(*ssd->media->spare_seq) +
                             ssd->l.n_saved * sizeof(*ssd->journal->saved_page);
}

/* Blocks of which the erase waits. */
static IlistLinks held_chain(const Ssd *ssd)
{
    return ILIST_CHAIN(ssd->media->block, Block, next);
}

/* Everything that memory knows. */
void saved_forget(Ssd *ssd)
{
    ssd->journal->saved_queue = (Saved){
        .queue = IFIFO_EMPTY,
        .victim = NONE,
        .held = IFIFO_EMPTY,
        .waiting = IFIFO_EMPTY,
        .closing = IFIFO_EMPTY,
    };
    lazy_clear(ssd->journal->floor, saved_map_units(ssd),
               sizeof(*ssd->journal->floor));
    lazy_clear(ssd->journal->saved_page, ssd->l.n_saved,
               sizeof(*ssd->journal->saved_page));
    for (uint32_t f = 0; f < ssd->l.n_saved_flights; f++) {
        ssd->journal->saved_flight[f] =
            (SavedFlight){.index = NONE, .page = NO_PAGE};
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->journal->saved_open[i].block = NONE;
        ssd->journal->saved_open[i].next_page = 0;
    }
}

/* ---- the queue ----------------------------------------------------------- */

static IlistLinks chain(const Ssd *ssd)
{
    return ILIST_CHAIN(ssd->journal->saved_page, SavedPage, next);
}

static uint64_t push(Ssd *ssd, uint32_t index)
{
    Saved *q = &ssd->journal->saved_queue;
    SavedPage *sp = &ssd->journal->saved_page[index];

    invariant(index < ssd->l.n_saved);
    if (!sp->queued) {
        sp->queued = true;
        sp->serial = ++q->serial;
        ififo_push(chain(ssd), &q->queue, index);
    }
    return sp->serial;
}

/* Everything that was asked for up to this serial is in NAND. */
static uint64_t done_serial(const Ssd *ssd)
{
    const Saved *q = &ssd->journal->saved_queue;
    uint64_t first = q->serial + 1;

    if (q->queue.head != NONE) {
        first = ssd->journal->saved_page[q->queue.head].serial;
    }
    for (uint32_t f = 0; q->n_in_flight > 0 && f < ssd->l.n_saved_flights;
         f++) {
        if (ssd->journal->saved_flight[f].index != NONE) {
            first = MIN(first, ssd->journal->saved_flight[f].serial);
        }
    }
    return first - 1;
}

/* The page that goes next: one of the victim's, if only those may; NONE: there
 * is none. */
static uint32_t pull(Ssd *ssd, bool of_victim)
{
    Saved *q = &ssd->journal->saved_queue;
    uint32_t before = NONE;
    uint32_t k = q->queue.head;

    while (k != NONE &&
           (ssd->journal->saved_page[k].in_flight ||
            (of_victim && (!saved_in_nand(&ssd->journal->saved_page[k]) ||
                           page_block(ssd, ssd->journal->saved_page[k].page) !=
                               q->victim)))) {
        before = k;
        k = ssd->journal->saved_page[k].next;
    }
    if (k == NONE) {
        return NONE;
    }
    ififo_remove_after(chain(ssd), &q->queue, before, k);
    invariant(ssd->journal->saved_page[k].queued);
    ssd->journal->saved_page[k].queued = false;
    return k;
}

/* ---- room ---------------------------------------------------------------- */

/* See that blocks are free: one in each plane on average, and at least two. */
static void clean(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;
    uint64_t page;

    while (q->victim == NONE &&
           q->n_free + q->n_erasing < MAX(ssd->l.n_planes, 2)) {
        saved_choose_victim(ssd);
        if (q->victim == NONE) {
            return;
        }
        page = nand_block_page(ssd->geo, q->victim);
        for (uint32_t i = 0; i < saved_pages_taken(ssd, q->victim);
             i += ssd->l.pages_per_program) {
            uint32_t index = saved_live_index(ssd, page + i);

            if (index != NONE && !ssd->journal->saved_page[index].in_flight) {
                push(ssd, index);
            }
        }
        saved_erase_dead(ssd, q->victim);
    }
}

/* ---- on the way ---------------------------------------------------------- */

static uint64_t *flight_entries(Ssd *ssd, uint32_t f)
{
    return &ssd->journal->saved_in_flight[(size_t)f * ssd->l.saved_units];
}

static uint32_t units_of(const Ssd *ssd, uint32_t index, uint64_t *first)
{
    *first = (uint64_t)index * ssd->l.saved_units;
    return (uint32_t)MIN(ssd->l.saved_units,
                         saved_map_units(ssd) -
                             MIN(*first, saved_map_units(ssd)));
}

/* Contents of the page in the present state. */
static void capture(Ssd *ssd, uint32_t index, uint64_t *entry)
{
    uint64_t first;
    uint32_t n = units_of(ssd, index, &first);

    invariant(index < ssd->l.n_saved);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t in_nand = ssd->nand_entry(ssd, first + i);

        entry[i] =
            in_nand ? SAVED_MAPPED | in_nand : ssd->journal->floor[first + i];
    }
    ssd->journal->saved_page[index].changed = false;
}

static bool is_anchor(const Ssd *ssd, uint32_t index)
{
    return index == ssd->l.n_saved - 1;
}

static uint32_t free_flight(const Ssd *ssd)
{
    for (uint32_t f = 0; f < ssd->l.n_saved_flights; f++) {
        if (ssd->journal->saved_flight[f].index == NONE) {
            return f;
        }
    }
    return NONE;
}

/* The spare area of a flight's page. */
static void stamp(Ssd *ssd, uint32_t f)
{
    const SavedFlight *fl = &ssd->journal->saved_flight[f];
    uint64_t first = page_ppu(ssd, fl->page);

    spare_blank(ssd, first, ssd->l.units_per_program);
    spare_write(ssd, first, ssd->l.user_units + fl->index, fl->seq, 0);
}

static void send(Ssd *ssd, uint32_t f, uint32_t plane)
{
    SavedFlight *fl = &ssd->journal->saved_flight[f];
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = NAND_CAUSE_META,
        .bytes = ssd->geo->page_bytes,
        .cookie = f,
    };

    invariant(fl->index < ssd->l.n_saved);
    invariant(plane < ssd->l.n_planes);
    invariant(f < ssd->l.n_saved_flights);
    fl->page = saved_take_page(ssd, plane);
    stamp(ssd, f);
    op.ppa.page = fl->page;
    faulty_submit(ssd, &op);
}

static void begin_flight(Ssd *ssd, uint32_t index, uint32_t plane)
{
    uint32_t f = free_flight(ssd);
    SavedPage *sp = &ssd->journal->saved_page[index];

    invariant(index < ssd->l.n_saved);
    invariant(f != NONE && !sp->in_flight);
    ssd->journal->saved_flight[f] = (SavedFlight){
        .serial = sp->serial,
        .seq = seq_next(ssd),
        .index = index,
        .low = ssd->journal->saved_queue.anchor_low,
        .ends = ssd->journal->saved_queue.anchored
                    ? ssd->journal->saved_queue.n_begun
                    : 0,
    };
    sp->in_flight = true;
    ssd->journal->saved_queue.n_in_flight++;
    capture(ssd, index, flight_entries(ssd, f));
    send(ssd, f, plane);
}

/* The flight has ended: its page is the newest of its index. */
static void land(Ssd *ssd, uint32_t f)
{
    SavedFlight *fl = &ssd->journal->saved_flight[f];
    SavedPage *sp = &ssd->journal->saved_page[fl->index];
    uint64_t old = saved_in_nand(sp) ? sp->page : NO_PAGE;
    uint64_t first;
    uint32_t n = units_of(ssd, fl->index, &first);

    invariant(fl->index < ssd->l.n_saved && fl->page != NO_PAGE);
    invariant(f < ssd->l.n_saved_flights);
    memcpy(&ssd->journal->saved[first], flight_entries(ssd, f),
           n * sizeof(uint64_t));
    sp->page = fl->page;
    sp->seq = fl->seq;
    sp->in_flight = false;
    if (is_anchor(ssd, fl->index)) {
        ssd->journal->saved_low = fl->low;
        ssd->journal->saved_queue.n_ended =
            MAX(ssd->journal->saved_queue.n_ended, fl->ends);
    }
    block_journal_live(ssd, page_block(ssd, fl->page), 1);
    fl->index = NONE;
    invariant(ssd->journal->saved_queue.n_in_flight > 0);
    ssd->journal->saved_queue.n_in_flight--;
    if (old != NO_PAGE) {
        block_journal_live(ssd, page_block(ssd, old), -1);
        saved_erase_dead(ssd, page_block(ssd, old));
    }
}

/* Does somebody wait for pages to be written? */
static bool wanted(const Ssd *ssd)
{
    const Saved *q = &ssd->journal->saved_queue;

    return q->waiting.head != NONE || q->held.head != NONE ||
           q->victim != NONE || q->n_ended != q->n_begun;
}

/* A flight whose program failed tries again; else a page of the queue goes. */
static bool send_one(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;
    uint32_t plane = saved_find_room(ssd, false);
    bool of_victim = plane == NONE;
    uint32_t index;

    if (of_victim) {
        plane = saved_find_room(ssd, true);
    }
    if (plane == NONE) {
        return false;
    }
    for (uint32_t f = 0; media_may_fail(ssd) && f < ssd->l.n_saved_flights;
         f++) {
        if (ssd->journal->saved_flight[f].index != NONE &&
            ssd->journal->saved_flight[f].page == NO_PAGE) {
            send(ssd, f, plane);
            return true;
        }
    }
    if (q->n_in_flight == ssd->l.n_saved_flights) {
        return false;
    }
    index = pull(ssd, of_victim);
    if (index == NONE) {
        return false;
    }
    begin_flight(ssd, index, plane);
    return true;
}

/* There is no room, and nothing under way that would make some: too many blocks
 * went bad, or the power went too often.  The drive takes no more. */
static void give_up(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;
    uint32_t cmd;

    media_set_read_only(ssd);
    q->victim = NONE;
    q->n_ended = q->n_begun;
    while ((cmd = fifo_pop(ssd, &q->waiting)) != NONE ||
           (cmd = fifo_pop(ssd, &q->closing)) != NONE) {
        cmd_account(ssd, &ssd->commands.cmd[cmd], COST_flush);
        cmd_finish(ssd, cmd, SSD_STATUS_WRITE_FAULT);
    }
    invariant(q->waiting.head == NONE && q->closing.head == NONE);
}

static bool array_works(const Ssd *ssd)
{
    for (uint32_t f = 0; f < ssd->l.n_saved_flights; f++) {
        if (ssd->journal->saved_flight[f].index != NONE &&
            ssd->journal->saved_flight[f].page != NO_PAGE) {
            return true;
        }
    }
    return ssd->journal->saved_queue.n_erasing > 0;
}

static void pump(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;

    while (wanted(ssd) && send_one(ssd)) {
    }
    if (wanted(ssd) && (q->queue.head != NONE || q->n_in_flight > 0) &&
        !array_works(ssd)) {
        give_up(ssd);
    }
}

/* Whoever has waited long enough goes on. */
static void release(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;
    uint64_t done = done_serial(ssd);

    while (q->waiting.head != NONE &&
           ssd->commands.cmd[q->waiting.head].next_lpn <= done) {
        uint32_t cmd = fifo_pop(ssd, &q->waiting);

        cmd_account(ssd, &ssd->commands.cmd[cmd], COST_flush);
        cmd_finish(ssd, cmd, ssd->commands.cmd[cmd].status);
    }
    while (q->held.head != NONE && block_at(ssd, q->held.head)->hold <= done) {
        uint32_t block = ififo_pop(held_chain(ssd), &q->held);

        ssd_wake(ssd, WORK_GC_RELEASE, block);
    }
}

/* ---- checkpoints --------------------------------------------------------- */

/* Everything that was programmed up to this count has ended, and the map knows
 * of it. */
uint64_t saved_low_seq(const Ssd *ssd)
{
    uint64_t first = ssd->media->prog_seq + 1;

    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        if (job_at(ssd, j)->state == JOB_PLACED) {
            first = MIN(first, page_seq(ssd, job_at(ssd, j)->ppa));
        }
    }
    return first - 1;
}

/* Saved pages that are out of date, from k on; n_saved: none is. */
static uint32_t next_changed(const Ssd *ssd, LazyWalk *w, uint64_t k)
{
    const SavedPage *sp = ssd->journal->saved_page;

    k = lazy_walk_index(w, k, sizeof(*sp));
    while (k < ssd->l.n_saved && !sp[k].changed) {
        k = lazy_walk_index(w, k + 1, sizeof(*sp));
    }
    return (uint32_t)k;
}

/* The first; lazy_walk_end() follows the last one. */
static uint32_t first_changed(const Ssd *ssd, LazyWalk *w)
{
    const SavedPage *sp = ssd->journal->saved_page;

    lazy_walk_begin(w, sp, ssd->l.n_saved * sizeof(*sp));
    return next_changed(ssd, w, 0);
}

static void begin_checkpoint(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;
    LazyWalk w;

    invariant(q->n_ended == q->n_begun);
    invariant(has_checkpoints(ssd));
    q->n_begun++;
    q->low = saved_low_seq(ssd);
    q->data_pages = 0;
    q->anchored = false;
    for (uint32_t k = first_changed(ssd, &w); k < ssd->l.n_saved;
         k = next_changed(ssd, &w, k + 1)) {
        push(ssd, k);
    }
    lazy_walk_end(&w);
    q->all_serial = q->serial;
}

/* The present checkpoint gets on, or the next one is begun. */
static void step_checkpoint(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;

    if (q->n_ended == q->n_begun &&
        ((q->data_pages >= ssd->cfg->checkpoint_pages &&
          ssd->window != SSD_WINDOW_HOLD) ||
         (q->closing.head != NONE &&
          ssd->commands.cmd[q->closing.head].next_lpn > q->n_begun))) {
        begin_checkpoint(ssd);
    }
    if (q->n_ended != q->n_begun && !q->anchored &&
        done_serial(ssd) >= q->all_serial) {
        q->anchored = true;
        q->anchor_low = q->low;
        push(ssd, ssd->l.n_saved - 1);
    }
}

static void page_done(Ssd *ssd)
{
    ssd->journal->saved_queue.data_pages++;
    if (has_checkpoints(ssd) && ssd->commands.submitted &&
        ssd->journal->saved_queue.data_pages >= ssd->cfg->checkpoint_pages &&
        !media_is_read_only(ssd)) {
        step_checkpoint(ssd);
        pump(ssd);
    }
}

/* A shutdown waits for a checkpoint that begins now or later. */
static bool close_drive(Ssd *ssd, uint32_t cmd)
{
    Saved *q = &ssd->journal->saved_queue;

    invariant(has_checkpoints(ssd) && !media_is_read_only(ssd));
    invariant(cmd < ssd->commands.n_cmds);
    ssd->commands.cmd[cmd].next_lpn = q->n_begun + 1;
    fifo_push(ssd, &q->closing, cmd);
    step_checkpoint(ssd);
    pump(ssd);
    return false;
}

static void end_closing(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;

    while (q->closing.head != NONE &&
           ssd->commands.cmd[q->closing.head].next_lpn <= q->n_ended) {
        uint32_t cmd = fifo_pop(ssd, &q->closing);

        cmd_account(ssd, &ssd->commands.cmd[cmd], COST_flush);
        cmd_finish(ssd, cmd, ssd->commands.cmd[cmd].status);
    }
}

/* Without time: each page that has something to say is the next of a block. */
void saved_preload(Ssd *ssd)
{
    Saved *q = &ssd->journal->saved_queue;
    LazyWalk w;

    invariant(q->n_in_flight == 0 && q->queue.head == NONE);
    q->low = ssd->media->prog_seq;
    q->anchor_low = q->low;
    ssd->journal->saved_page[ssd->l.n_saved - 1].changed = true;
    for (uint32_t k = first_changed(ssd, &w); k < ssd->l.n_saved;
         k = next_changed(ssd, &w, k + 1)) {
        uint32_t plane = saved_find_room(ssd, true);
        uint32_t f = free_flight(ssd);

        if (plane == NONE) {
            lazy_walk_end(&w);
            return; /* too many blocks were bad from the beginning */
        }
        invariant(f != NONE);
        q->n_in_flight++;
        ssd->journal->saved_flight[f] = (SavedFlight){
            .seq = seq_next(ssd), .index = k, .low = q->anchor_low};
        capture(ssd, k, flight_entries(ssd, f));
        ssd->journal->saved_flight[f].page = saved_take_page(ssd, plane);
        stamp(ssd, f);
        for (uint32_t i = 0; i < ssd->l.pages_per_program; i++) {
            nand_preload_page(
                ssd->nand, (NandPpa){ssd->journal->saved_flight[f].page + i});
        }
        block_unpend(ssd, page_block(ssd, ssd->journal->saved_flight[f].page));
        land(ssd, f);
    }
    lazy_walk_end(&w);
    q->data_pages = 0;
}

static void saving_goes_on(Ssd *ssd)
{
    clean(ssd);
    end_closing(ssd);
    if (has_checkpoints(ssd)) {
        step_checkpoint(ssd); /* for those that still wait, too */
    }
    pump(ssd);
    release(ssd);
}

void saved_program_done(Ssd *ssd, const NandOp *op)
{
    SavedFlight *fl = &ssd->journal->saved_flight[op->cookie];
    uint32_t block = page_block(ssd, op->ppa.page);

    invariant(op->cookie < ssd->l.n_saved_flights);
    invariant(fl->index != NONE && fl->page == op->ppa.page);
    block_unpend(ssd, block);
    if (op->status == NAND_FAILED) {
        spare_blank(ssd, op->ppa.page << ssd->page_units_shift, 1);
        block_journal_bad(ssd, block);
        fl->page = NO_PAGE;
        if (ssd->journal->saved_open[block_plane(ssd, block)].block == block) {
            ssd->journal->saved_open[block_plane(ssd, block)].block = NONE;
        }
    } else {
        land(ssd, op->cookie);
    }
    saved_erase_dead(ssd, block);
    saving_goes_on(ssd);
}

void saved_erase_done(Ssd *ssd, const NandOp *op)
{
    uint32_t block = page_block(ssd, op->ppa.page);

    block_journal_erasing(ssd, block, false);
    invariant(ssd->journal->saved_queue.n_erasing > 0);
    ssd->journal->saved_queue.n_erasing--;
    if (op->status == NAND_FAILED) {
        block_journal_bad(ssd, block);
        block_journal_retire(ssd, block);
    } else {
        ssd->journal->saved_queue.n_free++;
    }
    saving_goes_on(ssd);
}

/* ---- calls of other components ------------------------------------------ */

void saved_trim(Ssd *ssd, uint64_t lpn, uint64_t version)
{
    Saved *q = &ssd->journal->saved_queue;
    uint64_t serial = push(ssd, (uint32_t)(lpn / ssd->l.saved_units));

    invariant(saves(ssd));
    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    ssd->journal->floor[lpn] = version + 1;
    q->trim_serial = MAX(q->trim_serial, serial);
}

/* A Flush, or a write that waits for a unit that was trimmed meanwhile. */
bool saved_flush(Ssd *ssd, uint32_t cmd)
{
    Saved *q = &ssd->journal->saved_queue;

    invariant(cmd < ssd->commands.n_cmds);
    if (has_checkpoints(ssd) &&
        ssd->commands.cmd[cmd].req.op == SSD_OP_SHUTDOWN &&
        !media_is_read_only(ssd)) {
        return close_drive(ssd, cmd);
    }
    if (!saves(ssd) || done_serial(ssd) >= q->trim_serial) {
        return true;
    }
    ssd->commands.cmd[cmd].next_lpn = q->trim_serial;
    fifo_push(ssd, &q->waiting, cmd);
    pump(ssd);
    return false;
}

/*
 * A unit of the block may have been trimmed, and NAND not know it yet, while an
 * older version is still elsewhere: without the block, recovery would take that
 * one for the newest.
 */
bool saved_holds(Ssd *ssd, uint32_t block)
{
    Saved *q = &ssd->journal->saved_queue;
    const Block *b = block_at(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    if (!saves(ssd) || done_serial(ssd) >= q->trim_serial ||
        (b->hold > 0 && b->hold <= done_serial(ssd))) {
        return false;
    }
    if (!b->held) {
        block_hold(ssd, block, q->trim_serial);
        ififo_push(held_chain(ssd), &q->held, block);
        /* No more than that: GC calls this. */
        pump(ssd);
    }
    return true;
}

/* ---- after a power cut --------------------------------------------------- */

void saved_power_lost(Ssd *ssd)
{
    invariant(saves(ssd) && !ssd->powered);
    for (uint32_t f = 0; f < ssd->l.n_saved_flights; f++) {
        const SavedFlight *fl = &ssd->journal->saved_flight[f];

        if (fl->index != NONE && fl->page != NO_PAGE) {
            spare_blank(ssd, fl->page << ssd->page_units_shift,
                        ssd->l.units_per_program);
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        for (uint32_t k = 0; k < ssd->l.saved_blocks; k++) {
            block_journal_lost(ssd, saved_first_block(ssd, i) + k);
        }
    }
    saved_forget(ssd);
}

/* The array says that this page is there: it counts if it is the newest. */
void saved_found(Ssd *ssd, uint64_t page)
{
    uint32_t index = saved_index(ssd, page);
    uint64_t seq = unit_version(ssd, page << ssd->page_units_shift);
    SavedPage *sp;

    invariant(page < ssd->geo->n_pages);
    if (index == NONE) {
        return;
    }
    sp = &ssd->journal->saved_page[index];
    if (saved_in_nand(sp) && sp->seq > seq) {
        return;
    }
    if (saved_in_nand(sp)) {
        block_journal_live(ssd, page_block(ssd, sp->page), -1);
    }
    sp->page = page;
    sp->seq = seq;
    seq_found(ssd, seq);
    block_journal_live(ssd, page_block(ssd, page), 1);
}

uint64_t saved_loaded(Ssd *ssd, uint64_t page)
{
    uint32_t index = saved_live_index(ssd, page);
    uint64_t low = 0;
    uint64_t first;
    uint32_t n;

    if (index == NONE) {
        return 0;
    }
    if (is_anchor(ssd, index)) {
        low = ssd->journal->saved_low;
        seq_found(ssd, low);
    }
    n = units_of(ssd, index, &first);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t entry = ssd->journal->saved[first + i];

        if (entry && !(entry & SAVED_MAPPED)) {
            ssd->journal->floor[first + i] = entry;
        }
    }
    return low;
}

/* The saved pages are out of date. */
static void mark_changed(Ssd *ssd)
{
    LazyWalk changed;
    KnownWalk w;

    invariant(has_checkpoints(ssd));
    for (uint32_t k = first_changed(ssd, &changed); k < ssd->l.n_saved;
         k = next_changed(ssd, &changed, k + 1)) {
        ssd->journal->saved_page[k].changed = false;
    }
    lazy_walk_end(&changed);
    known_begin(ssd, &w);
    for (uint64_t lpn = known_next(&w, 0); lpn < saved_map_units(ssd);
         lpn = known_next(&w, lpn + 1)) {
        uint64_t now = l2p_get(&ssd->l2p, lpn)
                           ? SAVED_MAPPED | l2p_get(&ssd->l2p, lpn)
                           : ssd->journal->floor[lpn];

        if (now != saved_entry(ssd, lpn)) {
            saved_changed(ssd, lpn);
        }
    }
    known_end(&w);
}

void saved_ready(Ssd *ssd, uint64_t low)
{
    invariant(saves(ssd) && ssd->powered);
    invariant(ssd->journal->saved_queue.n_in_flight == 0);
    if (has_checkpoints(ssd)) {
        ssd->journal->saved_queue.anchor_low = low;
        mark_changed(ssd);
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        for (uint32_t k = 0; k < ssd->l.saved_blocks; k++) {
            saved_erase_dead(ssd, saved_first_block(ssd, i) + k);
        }
    }
    saving_goes_on(ssd);
}
