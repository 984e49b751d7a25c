/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge.c - how log blocks are emptied: switch, partial and full merges.
 *
 * Knows the copies, their order, and the erases after them.  Knows
 * nothing of host commands, or which log block is emptied when (map-*.c).
 *
 * A log block of one logical block that has been written in order becomes its
 * data block: as it is (switch), or after the rest has been copied behind it
 * (partial).  Else the newest of everything that the logical block has goes to
 * a free block (full); a log block of many logical blocks takes one full merge
 * for each that has a unit in it.  Gaps between two pages are programmed empty.
 *
 * A plane makes one merge at a time, and no page of the host goes there
 * meanwhile; it begins when those under way have ended.  Pages are read ahead
 * (MERGE_WINDOW).  Blocks that a merge replaces are erased when its last copy
 * is programmed: until then a power cut finds the originals.
 */
#include <string.h>

#include "map/hybrid.h"
#include "map/map.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/spare.h"
#include "media/victims.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "ssd-internal.h"
#include "wake.h"

void merge_forget(Merge *m)
{
    *m = (Merge){.log = NONE, .logical = NONE, .to = NONE};
}

/* ---- one logical block --------------------------------------------------- */

/* Place of each unit of a page of the logical block in NAND, or NONE. */
static void sources(const Ssd *ssd, uint32_t logical, uint32_t page,
                    uint64_t *ppu)
{
    uint64_t lpn = logical_lpn(ssd, logical, page, 0);
    uint64_t left = lpn == NO_UNIT ? 0 : ssd->l.user_units - lpn;

    for (uint32_t u = 0; u < ssd->l.units_per_program; u++) {
        ppu[u] = u < left ? map_nand_entry(ssd, lpn + u) - 1 : NO_UNIT;
    }
}

/* Pages up to the last that has something in NAND. */
static uint32_t mapped_pages(const Ssd *ssd, MapPlane *p, uint32_t logical)
{
    uint32_t n = hybrid_block_programs(ssd);

    for (; n > 0; n--) {
        sources(ssd, logical, n - 1, p->origin);
        for (uint32_t u = 0; u < ssd->l.units_per_program; u++) {
            if (p->origin[u] != NO_UNIT) {
                return n;
            }
        }
    }
    return 0;
}

static void begin_logical(Ssd *ssd, MapPlane *p, uint32_t logical)
{
    Merge *m = &p->logs.merge;
    const LogBlock *l = &ssd->map->log_block[m->log];
    uint32_t first = 0;

    invariant(logical < ssd->l.n_planes * ssd->l.logical_blocks &&
              m->to == NONE);
    m->logical = logical;
    m->end = mapped_pages(ssd, p, logical);
    m->kind = MERGE_FULL;
    if (!m->random && l->in_order) {
        m->to = l->block;
        first = hybrid_next(ssd, l->block);
        m->kind = m->end > first ? MERGE_PARTIAL : MERGE_SWITCH;
        m->end = MAX(m->end, first);
    }
    m->read = first;
    m->read_unit = 0;
    m->program = first;
    memset(p->origin, 0xff, ssd->l.units_per_block * sizeof(*p->origin));
    invariant(m->read <= m->end);
}

/* The next logical block to be merged; false: the log block is empty. */
static bool next_logical(Ssd *ssd, MapPlane *p)
{
    Merge *m = &p->logs.merge;
    const LogBlock *l = &ssd->map->log_block[m->log];
    uint64_t first = block_ppu(ssd, l->block);

    invariant(m->log != NONE && (l->block != NONE || m->scan > 0));
    if (!m->random) {
        if (m->scan == 0) {
            m->scan = 1;
            begin_logical(ssd, p, l->logical);
            return true;
        }
        return false;
    }
    for (; m->scan < ssd->l.units_per_block; m->scan++) {
        if (unit_is_valid(ssd, first + m->scan)) {
            uint64_t lpn = spare_lpn(ssd, first + m->scan);

            begin_logical(ssd, p, logical_place(ssd, lpn).logical);
            return true;
        }
    }
    return false;
}

/* ---- the copy loop ------------------------------------------------------- */

/* Read the units of the merge's page that the physical page of the unit holds;
 * false: a unit before it is there, too, and has had it read. */
static bool read_page_of(Ssd *ssd, Merge *m, const uint64_t *ppu, uint32_t unit)
{
    uint64_t page = ppu_page(ssd, ppu[unit]);
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_MERGE,
        .ppa = {page},
        .cookie = m->read,
    };

    for (uint32_t u = 0; u < ssd->l.units_per_program; u++) {
        if (ppu[u] == NO_UNIT || ppu_page(ssd, ppu[u]) != page) {
            continue;
        }
        if (u < unit) {
            return false;
        }
        op.bytes += 1U << ssd->unit_shift;
        op.parts |= unit_parts(ssd, ppu[u]);
    }
    m->reads++;
    m->left[m->read % MERGE_WINDOW]++;
    faulty_submit(ssd, &op);
    return true;
}

/* true: a read is on its way, or there is nothing more to read for the page. */
static bool try_read(Ssd *ssd, MapPlane *p)
{
    Merge *m = &p->logs.merge;
    uint64_t *ppu = &p->origin[m->read * ssd->l.units_per_program];

    if (m->read == m->end || m->read == m->program + MERGE_WINDOW ||
        m->reads == GC_READS_PER_PLANE) {
        return false;
    }
    sources(ssd, m->logical, m->read, ppu); /* they may be trimmed meanwhile */
    while (m->read_unit < ssd->l.units_per_program) {
        uint32_t unit = m->read_unit++;

        if (ppu[unit] != NO_UNIT && read_page_of(ssd, m, ppu, unit)) {
            return true;
        }
    }
    m->read++;
    m->read_unit = 0;
    return true;
}

/* Fill in the job's page; how many units it holds. */
static uint32_t fill_page(Ssd *ssd, MapPlane *p, uint32_t j)
{
    const Merge *m = &p->logs.merge;
    uint64_t first = page_ppu(ssd, job_at(ssd, j)->ppa);
    uint64_t *ppu = &p->origin[m->program * ssd->l.units_per_program];
    uint32_t used = 0;

    invariant(j < ssd->media->n_jobs);
    sources(ssd, m->logical, m->program, ppu);
    for (uint32_t u = 0; u < job_at(ssd, j)->n; u++) {
        job_units(ssd, j)[u] = ppu[u];
        if (ppu[u] == NO_UNIT) {
            spare_blank(ssd, first + u, 1);
        } else {
            spare_copy(ssd, ppu[u], first + u);
            stream_copied(ssd, ppu[u]);
            used++;
        }
    }
    return used;
}

static void program_page(Ssd *ssd, uint32_t plane)
{
    MapPlane *p = &ssd->map->plane[plane];
    Merge *m = &p->logs.merge;
    MergeStats *s = &ssd->map->merge_stats;
    uint32_t j = job_take(ssd);
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = NAND_CAUSE_MERGE,
        .ppa = {nand_block_page(ssd->geo, m->to) +
                m->program * ssd->l.pages_per_program},
        .bytes = ssd->geo->page_bytes,
        .cookie = j,
    };
    uint32_t used;

    invariant(m->to != NONE && m->program < m->read);
    block_pend(ssd, m->to, 1);
    job_at(ssd, j)->plane = plane;
    job_place(ssd, j, op.ppa.page);
    job_at(ssd, j)->n = ssd->l.units_per_program;
    job_at(ssd, j)->gc = true;
    used = fill_page(ssd, p, j);
    s->copied_pages[m->kind] += used > 0 ? ssd->l.pages_per_program : 0;
    s->padded_pages += used > 0 ? 0 : ssd->l.pages_per_program;
    m->program++;
    m->programs++;
    faulty_submit(ssd, &op);
}

static bool try_program(Ssd *ssd, uint32_t plane)
{
    Merge *m = &ssd->map->plane[plane].logs.merge;

    invariant(plane < ssd->l.n_planes);
    if (m->program == m->read || m->left[m->program % MERGE_WINDOW] > 0 ||
        m->programs == GC_PROGRAMS_PER_PLANE) {
        return false;
    }
    program_page(ssd, plane);
    return true;
}

/* ---- ends ---------------------------------------------------------------- */

/* The logical block is in one block now; its former blocks are erased. */
static void commit(Ssd *ssd, uint32_t plane)
{
    Merge *m = &ssd->map->plane[plane].logs.merge;
    uint32_t old = ssd->map->data_block[m->logical];
    uint32_t own = ssd->map->log_of[m->logical];

    invariant(m->program == m->end && m->programs == 0 && m->reads == 0);
    invariant(m->logical != NONE);
    invariant(plane < ssd->l.n_planes);
    ssd->map->merge_stats.merges[m->kind]++;
    ssd->map->data_block[m->logical] = m->to;
    if (own != NONE) {
        uint32_t block = ssd->map->log_block[own].block;

        log_release(ssd, plane, own);
        if (block != m->to) {
            block_start_erase(ssd, block, NAND_CAUSE_MERGE, false);
        }
    }
    if (old != NONE) {
        block_start_erase(ssd, old, NAND_CAUSE_MERGE, false);
    }
    m->logical = NONE;
    m->to = NONE;
}

static void end_merge(Ssd *ssd, uint32_t plane)
{
    MapPlane *p = &ssd->map->plane[plane];
    Merge *m = &p->logs.merge;

    invariant(m->programs == 0 && m->reads == 0);
    invariant(plane < ssd->l.n_planes);
    if (m->random) {
        uint32_t block = ssd->map->log_block[m->log].block;

        ssd->map->merge_stats.emptied++;
        log_release(ssd, plane, m->log);
        block_start_erase(ssd, block, NAND_CAUSE_MERGE, false);
    }
    p->logs.n_ended++;
    merge_forget(m);
    plane_set_starved(ssd, plane, false);
}

/* Has it a block to copy to?  One that is being erased will be there. */
static bool has_destination(Ssd *ssd, uint32_t plane)
{
    Merge *m = &ssd->map->plane[plane].logs.merge;

    invariant(plane < ssd->l.n_planes);
    if (m->to == NONE && m->end > 0) {
        m->to = block_take_free(ssd, plane, OPEN_GC);
    }
    return m->to != NONE || m->end == 0;
}

/* As far as it goes now. */
static void step(Ssd *ssd, uint32_t plane)
{
    MapPlane *p = &ssd->map->plane[plane];
    Merge *m = &p->logs.merge;

    invariant(plane < ssd->l.n_planes);
    while (m->begun) {
        if (m->logical == NONE && !next_logical(ssd, p)) {
            end_merge(ssd, plane);
            return;
        }
        if (!has_destination(ssd, plane)) {
            return;
        }
        while (try_program(ssd, plane) || try_read(ssd, p)) {
        }
        if (m->program < m->end || m->programs > 0) {
            return;
        }
        commit(ssd, plane);
    }
}

void merge_host_quiet(Ssd *ssd, uint32_t plane)
{
    MapPlane *p = &ssd->map->plane[plane];

    invariant(merge_active(ssd, plane));
    if (plane_at(ssd, plane)->host_programs == 0 && !p->logs.merge.begun) {
        p->logs.merge.begun = true;
        step(ssd, plane);
    }
}

void merge_start(Ssd *ssd, uint32_t plane, uint32_t log)
{
    MapPlane *p = &ssd->map->plane[plane];

    invariant(log < ssd->l.n_planes * ssd->l.log_blocks);
    invariant(ssd->map->log_block[log].block != NONE);
    invariant(!merge_active(ssd, plane));
    merge_forget(&p->logs.merge);
    p->logs.merge.log = log;
    p->logs.merge.random = ssd->map->log_block[log].logical == NONE;
    plane_set_starved(ssd, plane, true);
    merge_host_quiet(ssd, plane);
}

/* Go on; if the merge ends, so does the host's wait. */
static void merge_goes_on(Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    step(ssd, plane);
    if (!merge_active(ssd, plane)) {
        ssd_wake(ssd, WORK_BUFFER_WAITS, 0);
    }
}

/* Units that cannot be read are copied all the same, marked. */
void merge_read_done(Ssd *ssd, const NandOp *op)
{
    uint32_t plane = block_plane(ssd, page_block(ssd, op->ppa.page));
    Merge *m = &ssd->map->plane[plane].logs.merge;
    uint64_t first = page_ppu(ssd, op->ppa.page);

    for (uint32_t i = 0; i < ssd->l.units_per_page && op->bad_parts; i++) {
        if (unit_is_valid(ssd, first + i) &&
            (op->bad_parts & unit_parts(ssd, first + i))) {
            spare_poison(ssd, first + i);
        }
    }
    invariant(m->reads > 0);
    invariant(m->begun);
    m->reads--;
    invariant(m->left[op->cookie % MERGE_WINDOW] > 0);
    m->left[op->cookie % MERGE_WINDOW]--;
    merge_goes_on(ssd, plane);
}

void merge_page_done(Ssd *ssd, uint32_t j)
{
    const PageJob job = *job_at(ssd, j);
    Merge *m = &ssd->map->plane[job.plane].logs.merge;
    uint64_t first = page_ppu(ssd, job.ppa);
    uint32_t moved = 0;

    invariant(j < ssd->media->n_jobs);
    invariant(job.gc && job.state == JOB_PLACED);
    for (uint32_t u = 0; u < job.n; u++) {
        uint64_t from = job_units(ssd, j)[u];

        moved += from != NO_UNIT && map_move(ssd, from, first + u);
    }
    ssd->inspect.count.gc_copied_units += moved;
    ssd->map->merge_stats.copied_units[m->kind] += moved;
    block_page_done(ssd, page_block(ssd, job.ppa));
    invariant(m->programs > 0);
    m->programs--;
    job_give(ssd, j);
    merge_goes_on(ssd, job.plane);
}

void merge_erase_done(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    block_erased(ssd, block);
    merge_goes_on(ssd, block_plane(ssd, block));
}

/* ---- statistics ---------------------------------------------------------- */

uint64_t merge_logs_in_use(const Ssd *ssd)
{
    uint64_t in_use = 0;

    for (uint32_t i = 0; i < ssd->l.n_planes && ssd->l.log_blocks > 0; i++) {
        const PlaneLogs *p = &ssd->map->plane[i].logs;

        in_use += p->list.n + (p->sequential != NONE);
    }
    return in_use;
}
