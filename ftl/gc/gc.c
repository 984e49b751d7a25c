/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc.c - GC: when to start, how far to read ahead, and the copy loop.
 *
 * Knows blocks and pages; knows nothing about host commands, or which block is
 * best (gc-*.c decide that).
 *
 * GC of a plane is independent of the others: valid units are read into
 * controller memory, packed into full pages and programmed into the plane's
 * block that is open for GC (of each class, if streams are kept apart).  Units
 * that do not fill a page wait for those of the next victim, so GC writes no
 * padding (but for copies_are_last()) and each victim with an
 * invalid unit gains room: that is why it cannot run in circles.  A victim is
 * erased when the last of its copies is programmed; until then a power cut
 * finds the originals.
 *
 * Blocks are emptied for other reasons, too: wear (wear.c), age (background.c).
 * Background work pauses when the host comes back; and with
 * ftl.gc_preempt GC waits, while there is room, as long as reads of the
 * host wait for the die.
 *
 * With superblock.width blocks of several planes are chosen and erased
 * together; each plane empties its own (gc-unit.c).  If the array has
 * multi-plane commands, a copy goes to the plane of the die that is behind in
 * its superblock: only where there is room as for the host, so that the
 * independence of planes holds.  Above all, the last free block takes none:
 * whatever is in a block that was opened then has its original in the plane
 * (gc_take_back()).
 *
 * With superblock.row the planes of a row collect pages of copies until
 * all of them can be programmed (copy-rows.c), in other planes where need be.
 *
 * Blocks in SLC mode (media/slc-cache.c) are emptied in the same way
 * ("folded"): when little of the cache is left, and in idle time; while there
 * is room. Those of ftl.slc_dynamic give a block back, so GC takes them, too.
 */
#include <string.h>

#include "gc/copies.h"
#include "gc/copy-rows.h"
#include "gc/gc-policy.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "gc/gc-unit.h"
#include "gc/hold.h"
#include "gc/pace.h"
#include "gc/reasons.h"
#include "inspect/inspect.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "map/reset.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/row.h"
#include "media/slc-cache.h"
#include "media/spare.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "ssd-internal.h"
#include "wake.h"

void gc_release(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    block_release(ssd, block);
    copies_try_erase(ssd, block);
    gc_pump(ssd, plane);
}

/* The units of a page that cannot be programmed stay where they were. */
static void drop_job(Ssd *ssd, uint32_t j)
{
    PageJob *job = job_at(ssd, j);

    copies_count_foreign(ssd, copies_source(ssd, j), job->plane, (uint32_t)-1);
    for (uint32_t i = 0; i < job->n; i++) {
        copies_ended(ssd, ppu_block(ssd, job_units(ssd, j)[i]));
    }
    job_give(ssd, j);
}

/* true: a page that had failed is on its way again. */
static bool try_redo(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    uint64_t ppa;

    if (g->redo.head == NONE) {
        return false;
    }
    if (plane_is_lost(ssd, plane)) {
        drop_job(ssd, job_fifo_pop(ssd, &g->redo));
        return true;
    }
    ppa = copies_take_page(ssd, plane, job_at(ssd, g->redo.head)->stream);
    if (ppa == NO_PAGE) {
        return false;
    }
    copies_send(ssd, job_fifo_pop(ssd, &g->redo), ppa, false);
    return true;
}

/* Host pages that each page of the victim allows: a victim that is emptied
 * for other reasons than room need not pay for it. */
static uint64_t credit_rate(const Ssd *ssd, uint32_t block, NandCause cause)
{
    uint32_t valid = block_valid(ssd, block);
    /* One of translation pages has no parity, and may hold more. */
    uint64_t gain = ssd->l.data_units - MIN(valid, ssd->l.data_units);

    invariant(valid <= ssd->l.units_per_block);
    return cause == NAND_CAUSE_GC
               ? (gain << 16) / nand_block_pages(ssd->geo, block)
               : (uint64_t)ssd->l.units_per_page << 16;
}

/* Where room is short it is for the victim that came first, whose erase makes
 * more.  With nand.gc_hold GC of another plane may have the channel. */
static bool must_wait(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    if (p->free.n <= plane_reserve(ssd, p)) {
        return plane_load(ssd, plane)->reads > 0 && !plane_is_lost(ssd, plane);
    }
    return ssd->cfg->nand.gc_hold && nand_held_by_other(ssd->nand, plane);
}

static void count_victim(Ssd *ssd, uint32_t block, NandCause cause)
{
    const GcPlane *g = &ssd->gc->plane[block_plane(ssd, block)];

    if (nand_block_is_slc(ssd->geo, block)) {
        ssd->inspect.count.slc_folds_idle += g->background;
        ssd->inspect.count.slc_folds_demand += !g->background;
    }
    ssd->gc->background_stats.wear_victims += cause == NAND_CAUSE_WEAR;
    ssd->gc->background_stats.refresh_victims += cause == NAND_CAUSE_REFRESH;
    if (cause == NAND_CAUSE_GC) {
        ssd->gc->background_stats.soft_victims += g->background;
        numbers_victim(ssd, block);
        stream_victim(ssd, block);
    }
    if (G_UNLIKELY(ssd->inspect.timeline)) {
        timeline_victim(ssd->inspect.timeline, block, cause);
    }
}

static void tell_host(const Ssd *ssd, uint32_t block)
{
    uint64_t first = block_ppu(ssd, block);

    if (!ssd->client || !ssd->client->moving || block_valid(ssd, block) == 0) {
        return;
    }
    while (!unit_is_valid(ssd, first)) {
        first++;
    }
    if (!unit_is_meta(ssd, first)) {
        ssd->client->moving(ssd->client_opaque, block_stream(ssd, block),
                            spare_lpn(ssd, first), block_valid(ssd, block));
    }
}

static bool pick_victim(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    bool calls = superblocks_are_on(ssd) && g->next == NONE;
    NandCause cause;
    uint32_t block;

    if (must_wait(ssd, plane)) {
        return false;
    }
    block = reasons_victim(ssd, plane, &cause);
    if (block == NONE) {
        return false;
    }
    invariant(block_plane(ssd, block) == plane);
    invariant(g->victim == NONE && cause_is_copy(cause));
    calls = calls && !block_has_failed(ssd, block) &&
            !nand_block_is_slc(ssd->geo, block) &&
            (superblock_is_whole(ssd) ||
             (cause == NAND_CAUSE_GC && gc_gains(ssd, block))) &&
            (!gc_only_zones(ssd) || gc_valid(ssd, block) == 0);
    g->rate = credit_rate(ssd, block, cause);
    count_victim(ssd, block, cause);
    tell_host(ssd, block);
    block_start_victim(ssd, block, cause);
    g->victim = block;
    g->scan = 0;
    if (calls) {
        unit_call(ssd, block);
    }
    return true;
}

static uint32_t valid_units_of_page(const Ssd *ssd, uint64_t page,
                                    uint64_t *parts)
{
    uint32_t upp = ssd->l.units_per_page;
    uint32_t n = 0;

    *parts = 0;
    for (uint32_t i = 0; i < upp; i++) {
        if (unit_is_valid(ssd, page * upp + i)) {
            *parts |= unit_parts(ssd, page * upp + i);
            n++;
        }
    }
    return n;
}

static bool of_one_class(const Ssd *ssd, uint64_t page)
{
    uint64_t first = page_ppu(ssd, page);

    for (uint32_t i = 1; i < ssd->l.units_per_page; i++) {
        if (gc_class(ssd, first + i) != gc_class(ssd, first)) {
            return false;
        }
    }
    return true;
}

/* Move a wholly valid page inside its plane; false: there is no room now. */
static bool copy_back(Ssd *ssd, uint32_t plane, uint64_t page)
{
    const Plane *p = plane_at(ssd, plane);
    GcPlane *g = &ssd->gc->plane[plane];
    GcLoad *load = gc_load(ssd, plane);
    uint32_t upp = ssd->l.units_per_page;
    uint64_t ppa;
    uint32_t j;

    if (load->programs == GC_PROGRAMS_PER_PLANE) {
        return false;
    }
    if (p->free.n <= plane_reserve(ssd, p) &&
        (g->n_staged > 0 || load->reads > 0)) {
        /* Where room is short it is for the victim that came first, whose
         * erase makes more. */
        return false;
    }
    ppa = copies_take_page(ssd, plane, gc_class(ssd, page * upp));
    if (ppa == NO_PAGE) {
        return false;
    }
    j = copies_new_job(ssd, plane, upp, gc_class(ssd, page * upp));
    job_at(ssd, j)->copyback = true;
    for (uint32_t i = 0; i < upp; i++) {
        job_units(ssd, j)[i] = page * upp + i;
    }
    block_pend(ssd, page_block(ssd, page), upp);
    copies_send(ssd, j, ppa, false);
    invariant(job_at(ssd, j)->state == JOB_PLACED);
    return true;
}

/*
 * GC has processed a page of its victim: the host may write as much as that
 * gains, and twice as much above the minimum of free blocks. Unused credit
 * does not grow beyond a block.
 */
static void give_credit(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    const GcPlane *g = &ssd->gc->plane[plane];
    GcLoad *load = gc_load(ssd, plane);
    uint64_t most = (uint64_t)ssd->l.units_per_block << 16;

    load->credit += p->free.n > plane_reserve(ssd, p) ? 2 * g->rate : g->rate;
    load->credit = MIN(load->credit, most);
    pace_page(ssd, plane);
}

/* Read the next page of the victim that holds something; false: none left, or
 * it has been copied inside the array. */
static bool read_next(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    GcLoad *load = gc_load(ssd, plane);
    uint32_t victim = g->victim;

    while (g->scan < nand_block_pages(ssd->geo, victim)) {
        uint64_t page = nand_block_page(ssd->geo, victim) + g->scan++;
        uint64_t parts;
        uint32_t n = valid_units_of_page(ssd, page, &parts);
        NandOp op = {
            .kind = NAND_READ,
            .cause = block_cause(ssd, victim),
            .ppa = {page},
            .bytes = n << ssd->unit_shift,
            .parts = parts,
        };

        give_credit(ssd, plane);
        /* Copyback corrects nothing, and does not make data young. */
        if (n == ssd->l.units_per_page && ssd->cfg->nand.copyback &&
            op.cause != NAND_CAUSE_REFRESH && of_one_class(ssd, page) &&
            copy_back(ssd, plane, page)) {
            return false;
        }
        if (n > 0) {
            block_pend(ssd, victim, 1);
            load->reads++;
            faulty_submit(ssd, &op);
            return true;
        }
    }
    g->victim = NONE;
    pace_victim(ssd, plane);
    copies_try_erase(ssd, victim);
    return false;
}

/* GC may have got on so far that the host need not wait any longer. */
static void let_host(Ssd *ssd, uint32_t plane)
{
    if (!plane_accepts(ssd, plane)) {
        plane_update(ssd, plane);
    }
    if (plane_accepts(ssd, plane)) {
        ssd_wake(ssd, WORK_BUFFER_WAITS, 0);
    }
}

/* Is this the time for reads of the host?  Not where room is short. */
static bool yields(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    GcPlane *g = &ssd->gc->plane[plane];

    if (!ssd->cfg->gc_preempt || nand_host_reads(ssd->nand, plane) == 0 ||
        p->free.n <= plane_reserve(ssd, p)) {
        return false;
    }
    ssd->gc->background_stats.yields += !g->yielded;
    g->yielded = true;
    return true;
}

/* The victim was taken while the host was idle, and now the host is back.  A
 * superblock once begun is emptied: others wait for it. */
static bool paused(const Ssd *ssd, uint32_t plane)
{
    const GcPlane *g = &ssd->gc->plane[plane];

    return g->background && !ssd->cfg->nand.gc_hold &&
           !ssd->gc->background.idle && !hold_prepares(ssd) &&
           !ssd->gc->background.folds &&
           !slc_wants_fold(ssd, plane_at(ssd, plane)) &&
           !plane_load(ssd, plane)->active && !superblocks_are_on(ssd);
}

/* Has the plane read as much as it needs for now? */
static bool has_enough(const Ssd *ssd, uint32_t plane)
{
    return plane_load(ssd, plane)->reads == GC_READS_PER_PLANE ||
           copy_rows_full(ssd, plane);
}

static void step(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    GcPlane *g = &ssd->gc->plane[plane];
    bool more = !media_cannot_program(ssd);
    bool changed = true; /* since no page could be programmed */

    pace_look(ssd, plane);
    if (hold_keeps(ssd, plane)) {
        return;
    }
    if (p->free.n <= p->gc_low_blocks || p->n_retiring > 0 ||
        meta_is_short(ssd, plane)) {
        pace_active(ssd, plane, true);
    }
    while (more && !yields(ssd, plane)) {
        more =
            changed && (try_redo(ssd, plane) || copy_rows_program(ssd, plane));
        changed = more;
        if (has_enough(ssd, plane)) {
            continue;
        }
        if (g->victim != NONE && !paused(ssd, plane)) {
            changed |= !read_next(ssd, plane); /* a read brings units later */
            more = true;
        } else if (g->victim == NONE && pick_victim(ssd, plane)) {
            read_next(ssd, plane);
            changed = more = true;
        }
    }
    while (!media_cannot_program(ssd) && copies_are_last(ssd, plane) &&
           copy_rows_program(ssd, plane)) {
    }
    pace_look(ssd, plane);
    if (g->victim == NONE && plane_is_short(ssd, p) &&
        !gc_waits_for_unit(ssd, plane)) {
        unit_look_again(ssd, plane); /* nothing else will make room */
    }
}

/* A step of the plane; it may have been the last one that others waited for. */
static void step_of_unit(Ssd *ssd, uint32_t plane)
{
    step(ssd, plane);
    if (superblock_is_whole(ssd)) {
        unit_stopped(ssd, plane);
    }
}

/* Go on with the plane, and with those that it has called or that have waited
 * for it. */
static void plane_goes_on(Ssd *ssd, uint32_t plane)
{
    const uint32_t *planes = superblock_planes(ssd, superblock_set(ssd, plane));

    step_of_unit(ssd, plane);
    while (ssd->gc->called) {
        ssd->gc->called = false;
        for (uint32_t k = 0; k < ssd->l.set_planes; k++) {
            uint32_t i = planes[k];
            const GcPlane *g = &ssd->gc->plane[i];

            if (g->victim == NONE &&
                (g->next != NONE || gc_load(ssd, i)->active || g->forced ||
                 g->held > 0 || ssd->gc->background.idle ||
                 gc_has_empty(ssd, &ssd->media->plane[i]))) {
                step_of_unit(ssd, i);
            }
        }
    }
}

void gc_resume(Ssd *ssd, uint64_t page)
{
    uint32_t plane = block_plane(ssd, page_block(ssd, page));
    uint32_t n = ssd->geo->planes_per_die;

    if (nand_host_reads(ssd->nand, plane) > 0) {
        return;
    }
    plane = plane / n * n;
    for (uint32_t i = plane; i < plane + n; i++) {
        if (ssd->gc->plane[i].yielded) {
            ssd->gc->plane[i].yielded = false;
            plane_goes_on(ssd, i);
        }
    }
}

void gc_pump(Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    if (ssd->gc->off) {
        return;
    }
    if (ssd->l.n_zones > 0 && ssd->map->resets[plane] > 0) {
        reset_look(ssd, plane);
    }
    if (reasons_want(ssd, plane) || copy_rows_wait(ssd, plane)) {
        plane_goes_on(ssd, plane);
    }
}

/* The victim of the last time counts until its block is free: else each page
 * that comes meanwhile would have one more erased, and the erases fill the
 * plane's queue for seconds. */
void gc_force(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    GcPlane *g = &ssd->gc->plane[plane];
    GcLoad *load = gc_load(ssd, plane);

    invariant(plane < ssd->l.n_planes);
    unit_look_again(ssd, plane);
    if (p->erases == 0 && g->victim == NONE && load->reads == 0 &&
        load->programs == 0 && load->away == 0) {
        g->forced = true;
        plane_goes_on(ssd, plane);
    }
}

bool gc_row_waits(const Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (copy_rows_wait(ssd, i) && ssd->gc->row_wait[i].armed) {
            return true; /* else its time is over, and no plane takes it */
        }
    }
    return false;
}

void gc_row_wait_event(Ssd *ssd, uint32_t plane)
{
    if (copy_rows_event(ssd, plane)) {
        plane_goes_on(ssd, plane);
    }
}

/*
 * GC also moves units that it cannot read, marked: a host read of one fails.
 */
static void gc_read_done(Ssd *ssd, const NandOp *op)
{
    uint64_t page = op->ppa.page;
    uint32_t upp = ssd->l.units_per_page;
    uint32_t block = page_block(ssd, page);
    uint32_t plane = block_plane(ssd, block);
    GcPlane *g = &ssd->gc->plane[plane];
    GcLoad *load = gc_load(ssd, plane);

    invariant(load->reads > 0);
    load->reads--;
    for (uint32_t i = 0; i < upp; i++) {
        uint64_t ppu = page * upp + i;

        if (unit_is_valid(ssd, ppu)) {
            if (op->bad_parts & unit_parts(ssd, ppu)) {
                spare_poison(ssd, ppu);
            }
            g->staged[g->n_staged++] = ppu;
            g->staged_of[gc_class(ssd, ppu)]++;
            block_pend(ssd, block, 1);
        }
    }
    copies_ended(ssd, block); /* the read itself */
    plane_goes_on(ssd, plane);
    let_host(ssd, plane);
}

/* Planes of the die, or of the row, that may have waited for a program in
 * this one. */
static void others_go_on(Ssd *ssd, uint32_t plane)
{
    uint32_t n =
        ssd->l.whole_rows ? ssd->l.row_planes : ssd->geo->planes_per_die;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t i =
            ssd->l.whole_rows ? row_of(ssd, plane)[k] : plane / n * n + k;

        if (i != plane) {
            gc_pump(ssd, i);
            let_host(ssd, i);
        }
    }
}

static void gc_page_done(Ssd *ssd, uint32_t j)
{
    PageJob *job = job_at(ssd, j);
    uint64_t *unit = job_units(ssd, j);
    uint64_t first = page_ppu(ssd, job->ppa);
    uint32_t plane = job->plane;
    uint32_t from;

    from = copies_source(ssd, j);
    for (uint32_t i = 0; i < job->n; i++) {
        if (map_move(ssd, unit[i], first + i)) {
            ssd->inspect.count.gc_copied_units++;
            ssd->inspect.count.slc_folded_units +=
                nand_block_is_slc(ssd->geo, ppu_block(ssd, unit[i]));
            map_changed(ssd, spare_lpn(ssd, first + i), MAP_MOVED);
        }
        copies_ended(ssd, ppu_block(ssd, unit[i]));
    }
    invariant(gc_load(ssd, plane)->programs > 0);
    block_page_done(ssd, page_block(ssd, job->ppa));
    gc_load(ssd, plane)->programs--;
    copies_count_foreign(ssd, from, plane, (uint32_t)-1);
    job_give(ssd, j);
    plane_goes_on(ssd, plane);
    let_host(ssd, plane);
    if (from != plane) {
        plane_goes_on(ssd, from);
        let_host(ssd, from);
    }
    if (copies_leave(ssd)) {
        others_go_on(ssd, plane);
    }
}

void gc_page_failed(Ssd *ssd, uint32_t j)
{
    PageJob *job = job_at(ssd, j);
    GcPlane *g = &ssd->gc->plane[job->plane];
    GcLoad *load = gc_load(ssd, job->plane);

    invariant(job->gc && media_may_fail(ssd));
    invariant(load->programs > 0);
    load->programs--;
    if (!media_cannot_program(ssd) && !plane_is_lost(ssd, job->plane)) {
        job_wait(ssd, &g->redo, j);
        return;
    }
    drop_job(ssd, j);
}

static void gc_erase_done(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    block_erased(ssd, block);
    ssd_wake(ssd, WORK_META, plane);
    map_room(ssd, plane);
    ssd_wake(ssd, WORK_GC, plane);
    let_host(ssd, plane); /* GC may have ended, without another notification */
}

const CopyOps gc_copies = {
    .read_done = gc_read_done,
    .page_done = gc_page_done,
    .erase_done = gc_erase_done,
};
