/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.c - units that GC has read: from memory into pages of a plane, and the
 * end of their victims.
 *
 * Knows staged units, the pages that take them, and when an empty victim is
 * erased; does not know which victim is next, nor when a page is programmed
 * (gc.c, copy-rows.c).
 */
#include "gc/copies.h"

#include <string.h>

#include "gc/gc-private.h"
#include "gc/gc.h"
#include "gc/gc-unit.h"
#include "gc/purge.h"
#include "inspect/inspect.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/lost-die.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/parity-pump.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "media/row-wait.h"
#include "ssd-internal.h"

void copies_try_erase(Ssd *ssd, uint32_t block)
{
    const Block *b = block_at(ssd, block);
    const Plane *p = plane_at(ssd, block_plane(ssd, block));
    GcPlane *g = &ssd->gc->plane[block_plane(ssd, block)];

    if (ssd->media->lost_dies.n > 0 && b->valid > 0 && g->victim != block &&
        b->pending == 0 && b->state == BLOCK_VICTIM) {
        /* Some of its copies went to a die that is lost. */
        block_make_full(ssd, block);
        return;
    }
    if (g->victim == block || b->pending > 0 || b->valid > 0 ||
        saved_holds(ssd, block)) {
        return;
    }
    if (b->bad) {
        purge_erased(ssd, block, true);
        block_retire(ssd, block);
        lost_die_emptied(ssd, block_plane(ssd, block));
    } else if (nand_block_is_cache(ssd->geo, block) && p->free.n == 0) {
        /* Its erase would free no block for GC, and a power cut might
         * need the originals (gc_take_back()): later. */
        block_make_full(ssd, block);
    } else if (!unit_holds(ssd, block)) {
        unit_erase(ssd, block);
    }
}

void copies_ended(Ssd *ssd, uint32_t block)
{
    block_unpend(ssd, block);
    copies_try_erase(ssd, block);
}

/* Forget staged units that the host has overwritten or trimmed meanwhile. */
void copies_drop_stale(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    uint32_t n = g->n_staged;
    uint32_t kept = 0;

    invariant(plane < ssd->l.n_planes);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ppu = g->staged[i];

        if (unit_is_valid(ssd, ppu)) {
            g->staged[kept++] = ppu;
        } else {
            invariant(g->staged_of[gc_class(ssd, ppu)] > 0);
            g->staged_of[gc_class(ssd, ppu)]--;
            copies_ended(ssd, ppu_block(ssd, ppu));
        }
    }
    g->n_staged = kept;
}

bool copies_end_with_padding(const Ssd *ssd, uint32_t plane)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    const GcLoad *load = plane_load(ssd, plane);
    bool rests = plane_is_lost(ssd, plane)
                     ? plane_at(ssd, plane)->n_retiring == 0
                     : !load->active && g->redo.head == NONE;

    invariant(plane < ssd->l.n_planes);
    return rests && g->n_staged > 0 && g->victim == NONE && g->next == NONE &&
           load->reads == 0 &&
           (superblock_is_whole(ssd) || purge_is_last(ssd, plane));
}

/* Program a job's units to the page. */
void copies_send(Ssd *ssd, uint32_t j, uint64_t ppa, bool more)
{
    PageJob *job = job_at(ssd, j);
    const uint64_t *unit = job_units(ssd, j);
    uint64_t first = page_ppu(ssd, ppa);
    NandOp op = {
        .kind = job->copyback ? NAND_COPYBACK : NAND_PROGRAM,
        .cause = block_cause(ssd, ppu_block(ssd, unit[0])),
        .ppa = {ppa},
        .from = {ppu_page(ssd, unit[0])},
        .bytes = job->copyback ? 0 : ssd->geo->page_bytes,
        .cookie = j,
        .more = more,
    };

    job_place(ssd, j, ppa);
    if (job->copyback) {
        refresh_copied(ssd, ppu_block(ssd, unit[0]), page_block(ssd, ppa));
    }
    gc_load(ssd, job->plane)->programs++;
    for (uint32_t i = 0; i < job->n; i++) {
        spare_copy(ssd, unit[i], first + i);
        stream_copied(ssd, unit[i]);
        /* The map is large and read at random: the entry is there when the
         * page is programmed (gc_page_done()). */
        numtable_prefetch(&ssd->l2p.entry, spare_lpn(ssd, first + i));
    }
    if (job->n < ssd->l.units_per_program && !job->copyback) {
        spare_blank(ssd, first + job->n, ssd->l.units_per_program - job->n);
    }
    faulty_submit(ssd, &op);
}

uint32_t copies_new_job(Ssd *ssd, uint32_t plane, uint32_t n, uint32_t class)
{
    uint32_t j = job_take(ssd);

    invariant(class < ssd->l.n_gc_classes);
    invariant(n > 0 && n <= ssd->l.units_per_program);
    job_at(ssd, j)->plane = plane;
    job_at(ssd, j)->n = n;
    job_at(ssd, j)->stream = (uint8_t)class;
    job_at(ssd, j)->gc = true;
    return j;
}

/* The plane that a job's units come from. */
uint32_t copies_source(Ssd *ssd, uint32_t j)
{
    return copies_leave(ssd)
               ? block_plane(ssd, ppu_block(ssd, job_units(ssd, j)[0]))
               : job_at(ssd, j)->plane;
}

/* A page of the plane's begins its way to another one, or (by -1) is there. */
void copies_count_foreign(Ssd *ssd, uint32_t from, uint32_t to, uint32_t by)
{
    if (from != to) {
        invariant(by == 1 || (gc_load(ssd, from)->away > 0 &&
                              gc_load(ssd, to)->foreign > 0));
        gc_load(ssd, from)->away += by;
        gc_load(ssd, to)->foreign += by;
        plane_update(ssd, to);
    }
}

uint32_t copies_next_class(const Ssd *ssd, uint32_t plane)
{
    const GcPlane *g = &ssd->gc->plane[plane];
    bool last = copies_are_last(ssd, plane);
    uint32_t any = NONE;

    if (g->n_staged < ssd->l.units_per_program && !last) {
        return NONE;
    }
    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        if (g->staged_of[k] >= ssd->l.units_per_program) {
            return k;
        }
        any = any == NONE && g->staged_of[k] > 0 ? k : any;
    }
    return last ? any : NONE;
}

/* The first units of the class that are staged make a page. */
void copies_program(Ssd *ssd, uint32_t plane, uint64_t ppa, uint32_t class,
                    bool more)
{
    GcPlane *g = &ssd->gc->plane[plane];
    uint32_t n = MIN(ssd->l.units_per_program, g->staged_of[class]);
    uint32_t to = block_plane(ssd, page_block(ssd, ppa));
    uint32_t j = copies_new_job(ssd, to, n, class);
    uint32_t kept = 0;
    uint32_t taken = 0;

    for (uint32_t i = 0; i < g->n_staged; i++) {
        uint64_t ppu = g->staged[i];

        if (taken < n && gc_class(ssd, ppu) == class) {
            job_units(ssd, j)[taken++] = ppu;
        } else {
            g->staged[kept++] = ppu;
        }
    }
    invariant(taken == n);
    invariant(n == ssd->l.units_per_program || copies_are_last(ssd, plane));
    g->n_staged = kept;
    g->staged_of[class] -= n;
    copies_count_foreign(ssd, plane, to, 1);
    copies_send(ssd, j, ppa, more);
}

/*
 * The plane has no page left and nothing is on its way that would free one:
 * several victims are partly copied, and none wholly.  Forget these copies and
 * start with one victim again.  Where programs may fail, failures have taken
 * the room, and the drive turns read-only.
 */
static void start_over(Ssd *ssd, uint32_t plane)
{
    GcPlane *g = &ssd->gc->plane[plane];
    uint32_t first = plane * ssd->geo->blocks_per_plane;

    if (media_may_fail(ssd)) {
        media_set_read_only(ssd);
        return;
    }
    invariant(plane_at(ssd, plane)->free.n == 0);
    invariant(g->redo.head == NONE);
    g->n_staged = 0;
    memset(g->staged_of, 0, ssd->l.n_gc_classes * sizeof(*g->staged_of));
    if (ssd->gc->row_wait) {
        ssd->gc->row_wait[plane].late = 0;
        row_wait_end(ssd, &ssd->gc->row_wait[plane]);
    }
    g->victim = NONE;
    unit_hold_none(ssd, plane);
    for (uint32_t b = first; b < first + ssd->geo->blocks_per_plane; b++) {
        if (block_state(ssd, b) == BLOCK_VICTIM) {
            block_make_full(ssd, b);
        }
    }
    gc_take_back(ssd, plane);
}

/* A page of whatever block is open for GC: failures and power cuts may
 * have left no room for one of each class. */
static uint64_t take_any_page(Ssd *ssd, uint32_t plane)
{
    for (uint32_t k = 0; k < ssd->l.n_gc_classes; k++) {
        const Open *o =
            &plane_at(ssd, plane)->open[open_index(ssd, OPEN_GC, k)];

        if (o->block != NONE && block_can_take_page(ssd, plane, OPEN_GC, k)) {
            block_set_stream(ssd, o->block, ssd->l.n_streams);
            stream_mixed(ssd);
            return block_take_page(ssd, plane, OPEN_GC, k);
        }
    }
    return NO_PAGE;
}

/* The next page for GC; NONE: none until something on its way ends. */
uint64_t copies_take_page(Ssd *ssd, uint32_t plane, uint32_t class)
{
    const Plane *p = plane_at(ssd, plane);
    GcLoad *load = gc_load(ssd, plane);
    uint64_t page = block_take_page(ssd, plane, OPEN_GC, class);

    if (page == NO_PAGE) {
        unit_release(ssd, plane);
    }
    if (page == NO_PAGE && p->erases == 0 && load->programs == 0 &&
        load->away == 0 && load->reads == 0 && p->n_held == 0 &&
        !parity_in_flight(ssd, plane)) {
        page = take_any_page(ssd, plane);
        if (page == NO_PAGE) {
            start_over(ssd, plane);
        }
    }
    return page;
}
