/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hybrid.c - log-block maps: logical blocks, their data blocks, the log, and
 * which page of the host goes where.
 *
 * Knows the place of an address and the blocks that hold its units.  Knows
 * nothing of how a log block is emptied (merge.c), or which log block takes a
 * page (map-bast.c, map-fast.c).
 *
 * Pages go round the planes by their address (ftl.stripe); those of one plane
 * make its logical blocks, as large as an erase block.  A logical block has at
 * most one data block, in which a unit is at its offset; other units are in
 * log blocks. "Page" means here a program unit.  As NAND
 * is programmed in order, the data block takes a page of the host only if it is
 * the next one there, and only while the logical block has no log block of its
 * own.
 *
 * L2p.entry says where each unit is, so a page in the log may hold any units.
 * Blocks of these tables are BLOCK_MAPPED.
 *
 * It never runs out of blocks: a plane has one for each logical block, its log
 * blocks, and two (layout_logs()); a merge takes one, and gives back one at
 * least.
 */
#include "buffer/buffer-policy.h"
#include "buffer/flush.h"
#include "inspect/oplog.h"
#include "lazymem.h"
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/jobs.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/spare.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "pool.h"
#include "ssd-internal.h"

/* How many dirty units are looked at for a page that can go now, or to fill it. */
#define LOOK_AT 256

/* ---- tables ------------------------------------------------------------- */

static uint32_t n_logical(const Ssd *ssd)
{
    return ssd->l.n_planes * ssd->l.logical_blocks;
}

static void init_logs(Ssd *ssd, uint32_t plane)
{
    PlaneLogs *p = &ssd->map->plane[plane].logs;
    uint32_t first = plane * ssd->l.log_blocks;
    uint32_t end = first + ssd->l.log_blocks;

    invariant(plane < ssd->l.n_planes);
    *p = (PlaneLogs){.list = ILISTN_EMPTY, .free = NONE, .sequential = NONE};
    merge_forget(&p->merge);
    for (uint32_t log = first; log < end; log++) {
        ssd->map->log_block[log] = (LogBlock){.block = NONE};
    }
    pool_add(ILIST_CHAIN(ssd->map->log_block, LogBlock, newer), &p->free, first,
             end);
    ssd->map->plane[plane].origin =
        ssd->map->origins + (uint64_t)plane * ssd->l.units_per_block;
}

static uint64_t n_origins(const Ssd *ssd)
{
    return (uint64_t)ssd->l.n_planes * ssd->l.units_per_block;
}

void hybrid_init(Ssd *ssd)
{
    invariant(!ssd->map->data_block);
    ssd->map->data_block = g_new(uint32_t, n_logical(ssd));
    ssd->map->log_of = g_new(uint32_t, n_logical(ssd));
    for (uint32_t i = 0; i < n_logical(ssd); i++) {
        ssd->map->data_block[i] = NONE;
        ssd->map->log_of[i] = NONE;
    }
    ssd->map->log_block = g_new(LogBlock, ssd->l.n_planes * ssd->l.log_blocks);
    ssd->map->plane = g_new0(MapPlane, ssd->l.n_planes);
    ssd->map->origins = lazy_new(uint64_t, n_origins(ssd));
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        init_logs(ssd, i);
    }
    ssd->map->policy_bytes =
        ssd->l.n_planes * (ssd->l.logical_blocks * 2 * sizeof(uint32_t) +
                           ssd->l.log_blocks * sizeof(LogBlock) +
                           ssd->l.units_per_block * sizeof(uint64_t));
}

void hybrid_destroy(Ssd *ssd)
{
    lazy_free(ssd->map->origins, n_origins(ssd), sizeof(uint64_t));
    g_free(ssd->map->plane);
    g_free(ssd->map->data_block);
    g_free(ssd->map->log_of);
    g_free(ssd->map->log_block);
}

/* ---- which block takes a page -------------------------------------------- */

/* Where a page of the host goes. */
typedef struct Target {
    uint32_t block;
    bool random;   /* the page may hold units of any logical block */
    bool in_place; /* units are at their offset in the page */
} Target;

/* May the block be erased, because nothing in it is valid or will be? */
static bool is_dead(const Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    return block_valid(ssd, block) == 0 && block_at(ssd, block)->pending == 0 &&
           nand_next_page(ssd->nand, block) > 0;
}

/* Blocks without valid units, after trims or newer data elsewhere, are freed.
 */
static void drop_dead(Ssd *ssd, const LogicalPage *at)
{
    uint32_t *data = &ssd->map->data_block[at->logical];
    uint32_t log = ssd->map->log_of[at->logical];

    if (log != NONE && is_dead(ssd, ssd->map->log_block[log].block)) {
        uint32_t block = ssd->map->log_block[log].block;

        log_release(ssd, at->plane, log);
        block_start_erase(ssd, block, NAND_CAUSE_MERGE, false);
    }
    if (*data != NONE && ssd->map->log_of[at->logical] == NONE &&
        hybrid_next(ssd, *data) != at->page && is_dead(ssd, *data)) {
        block_start_erase(ssd, *data, NAND_CAUSE_MERGE, false);
        *data = NONE;
    }
}

/* Does the page go to the data block?  *block may be NONE, as long as there is no
 * free block for a new one. */
static bool goes_to_data(Ssd *ssd, const LogicalPage *at, uint32_t *block)
{
    uint32_t *data = &ssd->map->data_block[at->logical];

    if (ssd->map->log_of[at->logical] != NONE) {
        return false;
    }
    if (*data == NONE && at->page == 0) {
        *data = block_take_free(ssd, at->plane, OPEN_HOST);
        *block = *data;
        return true;
    }
    *block = *data;
    return *data != NONE && hybrid_next(ssd, *data) == at->page;
}

static bool log_target(Ssd *ssd, const LogicalPage *at, bool in_place,
                       Target *t)
{
    uint32_t log = ssd->map->policy->own_blocks->log_for(ssd, at, in_place);
    LogBlock *l;

    if (log == NONE) {
        return false;
    }
    l = &ssd->map->log_block[log];
    invariant(l->block != NONE);
    t->block = l->block;
    t->random = l->logical == NONE;
    l->in_order = l->in_order && in_place &&
                  hybrid_next(ssd, l->block) == at->page;
    t->in_place = l->in_order;
    return true;
}

/* false: something has to end first; it is under way. */
static bool find_target(Ssd *ssd, const LogicalPage *at, bool in_place,
                        Target *t)
{
    const PlaneLogs *p = &ssd->map->plane[at->plane].logs;

    *t = (Target){.in_place = true};
    while (plane_accepts(ssd, at->plane)) {
        uint64_t ended = p->n_ended;

        drop_dead(ssd, at);
        if (goes_to_data(ssd, at, &t->block)) {
            return t->block != NONE;
        }
        if (log_target(ssd, at, in_place, t)) {
            return true;
        }
        if (ended == p->n_ended) {
            return false;
        }
        /* A merge that had nothing to copy has ended already. */
    }
    return false;
}

/* The log block that took the page is complete, and in order: it is switched. */
static void switch_complete(Ssd *ssd, const LogicalPage *at)
{
    uint32_t log = ssd->map->log_of[at->logical];

    if (log != NONE && ssd->map->log_block[log].in_order &&
        !log_has_room(ssd, log)) {
        merge_start(ssd, at->plane, log);
    }
}

/* ---- the host's pages ---------------------------------------------------- */

/* Units of a page that wait in the buffer. */
typedef struct Waiting {
    bool in_place; /* nothing of it would stay valid elsewhere */
    bool complete; /* all its units */
} Waiting;

static bool is_dirty(const Ssd *ssd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);

    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    return map_is_buffered(entry) &&
           ssd->buffer->slot[map_slot(entry)].state == SLOT_DIRTY;
}

static Waiting look_at_page(const Ssd *ssd, const LogicalPage *at)
{
    Waiting w = {.in_place = true, .complete = true};

    for (uint32_t u = 0; u < ssd->l.units_per_program; u++) {
        uint64_t lpn = logical_lpn(ssd, at->logical, at->page, u);

        if (lpn != NO_UNIT && !is_dirty(ssd, lpn)) {
            w.complete = false;
            w.in_place = w.in_place && l2p_get(&ssd->l2p, lpn) == 0;
        }
    }
    return w;
}

static uint32_t take_slot(Ssd *ssd, uint64_t lpn)
{
    uint32_t i = map_slot(l2p_get(&ssd->l2p, lpn));

    invariant(map_is_buffered(l2p_get(&ssd->l2p, lpn)));
    invariant(i < ssd->buffer->n_slot_records);
    slot_leave_dirty(ssd, i);
    return i;
}

/* The page's dirty units, each at its offset or one after another. */
static void gather_own(Ssd *ssd, uint32_t j, const LogicalPage *at,
                       bool in_place)
{
    PageJob *job = job_at(ssd, j);
    uint64_t *unit = job_units(ssd, j);

    invariant(j < ssd->media->n_jobs);
    for (uint32_t u = 0; u < ssd->l.units_per_program; u++) {
        uint64_t lpn = logical_lpn(ssd, at->logical, at->page, u);

        if (lpn != NO_UNIT && is_dirty(ssd, lpn)) {
            unit[job->n++] = take_slot(ssd, lpn);
        } else if (in_place) {
            unit[job->n++] = NO_UNIT;
        }
    }
}

/* May the unit fill up a page of the log?  A unit that makes a page by itself
 * does not. */
static bool fits(const Ssd *ssd, uint64_t lpn, const LogicalPage *at,
                 const Target *t)
{
    LogicalPage other = logical_place(ssd, lpn);

    return other.plane == at->plane &&
           (t->random || other.logical == at->logical) &&
           !look_at_page(ssd, &other).complete;
}

/* From a list of the stream: more for a page of the log. */
static void gather_from(Ssd *ssd, uint32_t j, const SlotList *list,
                        const LogicalPage *at, const Target *t)
{
    PageJob *job = job_at(ssd, j);
    uint32_t i = list->head;

    invariant(j < ssd->media->n_jobs);
    for (uint32_t n = 0; i != NONE && n < LOOK_AT &&
                         job->n < ssd->l.units_per_program; n++) {
        uint32_t next = ssd->buffer->slot[i].after;

        if (fits(ssd, ssd->buffer->slot[i].lpn, at, t)) {
            job_units(ssd, j)[job->n++] =
                take_slot(ssd, ssd->buffer->slot[i].lpn);
        }
        i = next;
    }
}

static void send_to(Ssd *ssd, uint32_t stream, const LogicalPage *at,
                    const Target *t)
{
    uint32_t j = job_take(ssd);

    invariant(stream < ssd->l.n_streams);
    job_at(ssd, j)->stream = (uint8_t)stream;
    job_at(ssd, j)->plane = at->plane;
    job_place(ssd, j, hybrid_take_page(ssd, t->block));
    gather_own(ssd, j, at, t->in_place);
    if (!t->in_place) {
        gather_from(ssd, j, &stream_at(ssd, stream)->queue.due, at, t);
        gather_from(ssd, j, &stream_at(ssd, stream)->queue.fresh, at, t);
    }
    invariant(job_at(ssd, j)->n > 0);
    invariant(job_at(ssd, j)->n <= ssd->l.units_per_program);
    write_count_evictions(ssd, j);
    write_submit(ssd, j);
    switch_complete(ssd, at);
}

/* A page with the first unit of the list that can go now. */
static bool send_from(Ssd *ssd, uint32_t stream, const SlotList *list)
{
    uint64_t last = NO_UNIT;
    uint32_t i = list->head;

    for (uint32_t n = 0; i != NONE && n < LOOK_AT; n++) {
        uint64_t lpn = ssd->buffer->slot[i].lpn;

        if (lpn / ssd->l.units_per_program != last) { /* not looked at yet */
            LogicalPage at = logical_place(ssd, lpn);
            Target t;

            last = lpn / ssd->l.units_per_program;
            if (plane_accepts(ssd, at.plane) &&
                find_target(ssd, &at, look_at_page(ssd, &at).in_place, &t)) {
                send_to(ssd, stream, &at, &t);
                return true;
            }
        }
        i = ssd->buffer->slot[i].after;
    }
    return false;
}

/* Due units go first; the rest only where a page of them would go anyway. */
static bool hybrid_send(Ssd *ssd, uint32_t stream)
{
    const Stream *st = stream_at(ssd, stream);
    bool due = st->queue.due.n > 0;

    invariant(stream < ssd->l.n_streams);
    if (alloc_next(ssd, 0) == NONE) {
        return false; /* no plane accepts a page */
    }
    if (due && send_from(ssd, stream, &st->queue.due)) {
        return true;
    }
    return (!due ||
            (!buffer_caches(ssd->buffer) &&
             st->queue.due.n + st->queue.fresh.n >= ssd->l.ready_units)) &&
           send_from(ssd, stream, &st->queue.fresh);
}

static bool hybrid_accepts(const Ssd *ssd, uint64_t lpn)
{
    invariant(lpn < ssd->l.user_units);
    return plane_accepts(ssd, logical_place(ssd, lpn).plane);
}

static void hybrid_page_done(Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    if (merge_active(ssd, plane)) {
        merge_host_quiet(ssd, plane);
    }
}

/* ---- without modelled time ----------------------------------------------- */

/* The data block's pages up to the unit's hold something from the beginning. */
uint64_t hybrid_preload(Ssd *ssd, uint64_t lpn)
{
    LogicalPage at = logical_place(ssd, lpn);
    uint32_t *data = &ssd->map->data_block[at.logical];
    uint32_t n = ssd->l.pages_per_program;
    uint64_t first;

    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    if (*data == NONE) {
        *data = block_take_free(ssd, at.plane, OPEN_GC);
        invariant(*data != NONE);
    }
    invariant(block_plane(ssd, *data) == at.plane);
    first = nand_block_page(ssd->geo, *data);
    while (hybrid_next(ssd, *data) <= at.page) {
        uint64_t page = first + nand_next_page(ssd->nand, *data);

        for (uint32_t i = 0; i < n; i++) {
            oplog_add(ssd->inspect.log, OPLOG_PRELOAD_PAGE, 0, page + i,
                      ssd->now_ps, 0, 0);
            nand_preload_page(ssd->nand, (NandPpa){page + i});
        }
        spare_blank(ssd, page << ssd->page_units_shift,
                    ssd->l.units_per_program);
    }
    return (first << ssd->page_units_shift) +
           at.page * ssd->l.units_per_program + at.unit;
}

/* How many of the units, in their order, are of one page; are those all that is
 * mapped of it? */
static uint32_t run_of(const Ssd *ssd, const uint64_t *lpn, uint64_t n,
                       bool *in_place)
{
    uint32_t most = ssd->l.units_per_program;
    uint64_t first = lpn[0] / most * most;
    uint32_t used = 1;
    uint32_t elsewhere = 0;

    invariant(n > 0 && lpn[0] < ssd->l.user_units);
    while (used < n && lpn[used] > lpn[used - 1] &&
           lpn[used] < first + most) {
        used++;
    }
    for (uint64_t l = first; l < MIN(first + most, ssd->l.user_units); l++) {
        elsewhere += l2p_get(&ssd->l2p, l) != 0;
    }
    for (uint32_t i = 0; i < used; i++) {
        invariant(elsewhere >= (l2p_get(&ssd->l2p, lpn[i]) != 0));
        elsewhere -= l2p_get(&ssd->l2p, lpn[i]) != 0;
    }
    *in_place = elsewhere == 0;
    return used;
}

uint64_t hybrid_age_page(Ssd *ssd, const uint64_t *lpn, uint64_t n,
                         uint64_t *ppu, uint32_t *used)
{
    LogicalPage at = logical_place(ssd, lpn[0]);
    bool in_place;
    uint64_t first;
    uint64_t ppa;
    Target t;

    invariant(n > 0);
    *used = run_of(ssd, lpn, n, &in_place);
    if (!find_target(ssd, &at, in_place, &t)) {
        return NO_UNIT;
    }
    ppa = hybrid_take_page(ssd, t.block);
    first = page_ppu(ssd, ppa);
    for (uint32_t i = 0; i < *used; i++) {
        ppu[i] = first + (t.in_place ? lpn[i] % ssd->l.units_per_program : i);
    }
    return ppa;
}

void hybrid_age_done(Ssd *ssd, uint64_t lpn)
{
    LogicalPage at = logical_place(ssd, lpn);

    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    switch_complete(ssd, &at);
}

/* ---- power --------------------------------------------------------------- */

/* A page of a block was on its way: a log block with a hole is no data block. */
void hybrid_torn(Ssd *ssd, uint64_t ppa)
{
    uint32_t block = page_block(ssd, ppa);
    uint32_t first = block_plane(ssd, block) * ssd->l.log_blocks;

    invariant(!ssd->powered && ppa < ssd->geo->n_pages);
    if (nand_next_page(ssd->nand, block) <= nand_page_in_block(ssd->geo, ppa)) {
        return; /* it had not reached the cells */
    }
    for (uint32_t log = first; log < first + ssd->l.log_blocks; log++) {
        if (ssd->map->log_block[log].block == block) {
            ssd->map->log_block[log].in_order = false;
        }
    }
}

/*
 * The copies of an unfinished full merge are discarded: the originals are all
 * there, as nothing is erased before the merge has ended.  The block is erased
 * when the power is back.
 */
static void abandon(Ssd *ssd, const MapPlane *p, uint32_t block)
{
    uint64_t first = block_ppu(ssd, block);

    invariant(block_state(ssd, block) == BLOCK_MAPPED);
    invariant(block < ssd->geo->n_blocks);
    for (uint32_t i = 0; i < ssd->l.units_per_block; i++) {
        uint64_t from = p->origin[i];

        if (from != NO_UNIT && unit_is_valid(ssd, first + i)) {
            oplog_add(ssd->inspect.log, OPLOG_TAKE_BACK, 0,
                      spare_lpn(ssd, from), ssd->now_ps, 0, from);
            map_move(ssd, first + i, from);
        }
    }
    block_abandon(ssd, block);
}

void hybrid_planes_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    block_mapped_lost(ssd);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        MapPlane *p = &ssd->map->plane[i];
        Merge *m = &p->logs.merge;

        if (m->log != NONE && m->kind == MERGE_FULL && m->logical != NONE &&
            m->to != NONE) {
            abandon(ssd, p, m->to);
        }
        merge_forget(m);
        plane_set_starved(ssd, i, false);
    }
}

const Placer hybrid_placer = {
    .send = hybrid_send,
    .accepts = hybrid_accepts,
    .page_done = hybrid_page_done,
};
