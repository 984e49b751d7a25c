/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * meta.c - pages of the drive's own in NAND: written, read, moved by GC.
 *
 * Knows the place of metadata and its cost; knows nothing of its contents:
 * they are its owner's, and the model keeps none.
 *
 * A page of metadata has the size of a program unit.  Its units
 * are ordinary units whose place in the map is behind the user's, so spare
 * areas, valid counts, GC, bad blocks and power cuts treat them as any
 * other.  They go to blocks of their own, and in GC make a class of their
 * own; only where room is so short that GC puts a page wherever it can
 * (take_any_page() in gc.c) may a block hold both.
 *
 * Each page is always in the same plane, so that a plane's room for metadata
 * is fixed (SsdLayout).  A write takes a block as the host does: never the free
 * ones that belong to GC.  So it waits for GC, and GC waits
 * for no write of metadata.
 *
 * With superblock.parity a page has two copies (mirror.h), written by a job
 * each.  Their contents are those of the instant at which the first of them
 * begins, and the page is durable when both are.  A copy whose die has failed
 * is not written.
 */
#include "inspect/oplog.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/aged-ops.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/media.h"
#include "media/mirror.h"
#include "media/lost-die.h"
#include "media/spare.h"
#include "pool.h"
#include "ssd-internal.h"
#include "wake.h"

static NandCause cause_of(MetaOwner owner)
{
    return owner == META_MAP ? NAND_CAUSE_MAP : NAND_CAUSE_META;
}

/* ---- who hears of it ----------------------------------------------------- */

static void tell_begins(Ssd *ssd, MetaOwner owner, uint32_t page)
{
    ssd->journal->client[owner]->begins(ssd, mirror_first(ssd, page));
}

static void tell_written(Ssd *ssd, MetaOwner owner, uint32_t page)
{
    ssd->journal->client[owner]->written(ssd, mirror_first(ssd, page));
}

static void tell_read(Ssd *ssd, MetaOwner owner, uint32_t cookie)
{
    ssd->journal->client[owner]->read(ssd, cookie);
}

/* ---- writes -------------------------------------------------------------- */

void meta_create(Ssd *ssd)
{
    invariant(!ssd->journal->plane);
    ssd->journal->plane = g_new0(JournalPlane, ssd->l.n_planes);
}

void meta_set_client(Ssd *ssd, MetaOwner owner, const MetaClient *client)
{
    invariant(owner < G_N_ELEMENTS(ssd->journal->client));
    invariant(client && !ssd->journal->client[owner]);
    ssd->journal->client[owner] = client;
}

void meta_destroy(Ssd *ssd)
{
    g_free(ssd->journal->plane);
    g_free(ssd->journal->meta_read);
}

void meta_init(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->journal->plane[i] = (JournalPlane){.wait = IFIFO_EMPTY};
    }
    g_clear_pointer(&ssd->journal->meta_read, g_free);
    ssd->journal->n_meta_reads = 0;
    ssd->journal->free_meta_read = NONE;
}

/* Versions count up.  With ftl.recovery the upper bits say how far the page
 * knows of other programs, so that recovery can tell which of them it does not.
 */
#define LOW_SHIFT 20

static void next_version(Ssd *ssd)
{
    ssd->journal->meta_version++;
    if (saves(ssd)) {
        ssd->journal->meta_version =
            MAX(ssd->journal->meta_version, saved_low_seq(ssd) << LOW_SHIFT);
    }
}

static uint64_t copy_low_seq(const Ssd *ssd, uint32_t copy)
{
    uint64_t entry = l2p_get(&ssd->l2p, meta_lpn(ssd, copy));

    if (!entry) {
        return mirror_is_on(ssd) && plane_is_lost(ssd, meta_plane(ssd, copy))
                   ? UINT64_MAX
                   : 0;
    }
    return unit_version(ssd, entry - 1) >> LOW_SHIFT;
}

uint64_t meta_low_seq(const Ssd *ssd, uint32_t page)
{
    uint64_t low = copy_low_seq(ssd, page);

    return mirror_is_on(ssd) ? MIN(low, copy_low_seq(ssd, mirror_of(ssd, page)))
                             : low;
}

void meta_preloaded(Ssd *ssd)
{
    const NumTable *t = &ssd->l2p.entry;
    LazyWalk w;

    next_version(ssd);
    numtable_walk(t, &w);
    for (uint64_t lpn = numtable_next(t, &w, ssd->l.user_units); lpn < t->n;
         lpn = numtable_next(t, &w, lpn + 1)) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        if (entry) {
            spare_write(ssd, entry - 1, lpn, ssd->journal->meta_version, 0);
        }
    }
    lazy_walk_end(&w);
}

/* Fill in the spare areas of a page of metadata. */
static void stamp(Ssd *ssd, uint32_t page, uint64_t first, OplogType type)
{
    uint64_t lpn = meta_lpn(ssd, page);

    invariant(page < ssd->l.n_meta_pages);
    next_version(ssd);
    for (uint32_t k = 0; k < ssd->l.units_per_program; k++) {
        oplog_add(ssd->inspect.log, type, 2, lpn + k, ssd->now_ps, 0,
                  first + k);
        spare_write(ssd, first + k, lpn + k, ssd->journal->meta_version, 0);
    }
}

/* The page is at first from now on. */
static void settle(Ssd *ssd, uint32_t page, uint64_t first)
{
    for (uint32_t k = 0; k < ssd->l.units_per_program; k++) {
        uint64_t lpn = meta_lpn(ssd, page) + k;
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        invariant(!map_is_buffered(entry));
        if (entry) {
            block_clear_valid(ssd, entry - 1);
        }
        l2p_set(&ssd->l2p, lpn, first + k + 1);
        block_set_valid(ssd, first + k);
    }
}

/* Is the other copy written, too, or to be written? */
static bool other_goes_on(const Ssd *ssd, uint32_t page)
{
    return mirror_is_on(ssd) && mirror_write(ssd, mirror_of(ssd, page)) != NONE;
}

/* The contents of both copies are fixed when the first of them begins.  true:
 * they were not. */
static bool fix_contents(Ssd *ssd, uint32_t j)
{
    PageJob *job = ssd->media->job;
    uint32_t other = NONE;
    bool were = job[j].fixed;

    if (mirror_is_on(ssd)) {
        job[j].fixed = true;
        other = mirror_write(ssd, mirror_of(ssd, job[j].meta_page));
    }
    if (other != NONE) {
        job[other].fixed = true;
    }
    return !were;
}

static void send(Ssd *ssd, uint32_t j)
{
    PageJob *job = job_at(ssd, j);
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = cause_of(job->owner),
        .ppa = {block_take_page(ssd, job->plane, OPEN_META, 0)},
        .bytes = ssd->geo->page_bytes,
        .cookie = j,
    };

    invariant(job->meta && op.ppa.page != NO_PAGE);
    invariant(j < ssd->media->n_jobs);
    job_place(ssd, j, op.ppa.page);
    ssd->journal->plane[job->plane].programs++;
    stamp(ssd, job->meta_page, job->ppa << ssd->page_units_shift, OPLOG_PLACE);
    if (fix_contents(ssd, j)) {
        tell_begins(ssd, job->owner, job->meta_page);
    }
    faulty_submit(ssd, &op);
}

void meta_pump(Ssd *ssd, uint32_t plane)
{
    JournalPlane *p = &ssd->journal->plane[plane];
    bool more = meta_is_short(ssd, plane);

    while (p->wait.head != NONE && !media_cannot_program(ssd) &&
           p->programs < META_PROGRAMS_PER_PLANE &&
           block_can_take_page(ssd, plane, OPEN_META, 0)) {
        send(ssd, job_fifo_pop(ssd, &p->wait));
        more = true;
    }
    if (more) {
        ssd->media->client->plane_changed(ssd, plane);
        ssd_wake(ssd, WORK_GC, plane);
    }
}

/* A copy waits for room; false: its die has failed. */
static bool queue_copy(Ssd *ssd, uint32_t copy, MetaOwner owner)
{
    uint32_t plane = meta_plane(ssd, copy);
    uint32_t j;

    if (plane_is_lost(ssd, plane)) {
        return false;
    }
    j = job_take(ssd);
    job_at(ssd, j)->meta = true;
    job_at(ssd, j)->meta_page = copy;
    job_at(ssd, j)->owner = (uint8_t)owner;
    job_at(ssd, j)->plane = plane;
    job_at(ssd, j)->n = ssd->l.units_per_program;
    job_wait(ssd, &ssd->journal->plane[plane].wait, j);
    return true;
}

void meta_write(Ssd *ssd, uint32_t page, MetaOwner owner)
{
    bool first;
    bool second;

    invariant(page < ssd->l.n_map_pages);
    invariant(ssd->journal->client[owner]);
    first = queue_copy(ssd, page, owner);
    second = mirror_is_on(ssd) && queue_copy(ssd, mirror_of(ssd, page), owner);
    if (!first && !second) { /* it stays in memory */
        tell_begins(ssd, owner, page);
        tell_written(ssd, owner, page);
        return;
    }
    if (first) {
        meta_pump(ssd, meta_plane(ssd, page));
    }
    if (second) {
        meta_pump(ssd, meta_plane(ssd, mirror_of(ssd, page)));
    }
}

void meta_page_done(Ssd *ssd, uint32_t j)
{
    PageJob job = *job_at(ssd, j);

    invariant(j < ssd->media->n_jobs);
    invariant(job.meta && job.state == JOB_PLACED);
    invariant(ssd->journal->plane[job.plane].programs > 0);
    settle(ssd, job.meta_page, job.ppa << ssd->page_units_shift);
    job_give(ssd, j);
    block_page_done(ssd, page_block(ssd, job.ppa));
    ssd->journal->plane[job.plane].programs--;
    ssd->media->client->plane_changed(ssd, job.plane);
    if (!other_goes_on(ssd, job.meta_page)) {
        tell_written(ssd, job.owner, job.meta_page);
    }
    ssd_wake(ssd, WORK_META, job.plane);
    ssd_wake(ssd, WORK_GC, job.plane);
    ssd_wake(ssd, WORK_BUFFER_WAITS, 0);
}

/* The copy is not written: its die has failed, or the drive. */
static void drop(Ssd *ssd, uint32_t j)
{
    PageJob job = *job_at(ssd, j);

    job_give(ssd, j);
    if (other_goes_on(ssd, job.meta_page)) {
        return;
    }
    if (!job.fixed) {
        tell_begins(ssd, job.owner, job.meta_page);
    }
    tell_written(ssd, job.owner, job.meta_page);
}

void meta_page_failed(Ssd *ssd, uint32_t j)
{
    uint32_t plane = job_at(ssd, j)->plane;

    invariant(job_at(ssd, j)->meta && media_may_fail(ssd));
    invariant(ssd->journal->plane[plane].programs > 0);
    ssd->journal->plane[plane].programs--;
    if (plane_is_lost(ssd, plane)) {
        drop(ssd, j);
        return;
    }
    job_wait(ssd, &ssd->journal->plane[plane].wait, j);
    if (media_cannot_program(ssd)) {
        meta_give_up(ssd);
    }
}

bool meta_waits(const Ssd *ssd)
{
    for (uint32_t i = 0; ssd->l.meta_units > 0 && i < ssd->l.n_planes; i++) {
        if (ssd->journal->plane[i].wait.head != NONE) {
            return true;
        }
    }
    return false;
}

void meta_give_up(Ssd *ssd)
{
    invariant(media_cannot_program(ssd));
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        while (ssd->journal->plane[i].wait.head != NONE) {
            drop(ssd, job_fifo_pop(ssd, &ssd->journal->plane[i].wait));
        }
    }
}

/* Nothing of the copy is in NAND. */
static void forget_copy(Ssd *ssd, uint32_t copy)
{
    for (uint32_t k = 0; k < ssd->l.units_per_program; k++) {
        uint64_t lpn = meta_lpn(ssd, copy) + k;
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        if (entry) {
            block_clear_valid(ssd, entry - 1);
            l2p_set(&ssd->l2p, lpn, 0);
        }
    }
}

void meta_dies_lost(Ssd *ssd)
{
    for (uint32_t i = 0; mirror_is_on(ssd) && i < ssd->l.n_meta_pages; i++) {
        if (plane_is_lost(ssd, meta_plane(ssd, i))) {
            forget_copy(ssd, i);
        }
    }
    for (uint32_t i = 0; ssd->l.meta_units > 0 && i < ssd->l.n_planes; i++) {
        while (plane_is_lost(ssd, i) &&
               ssd->journal->plane[i].wait.head != NONE) {
            drop(ssd, job_fifo_pop(ssd, &ssd->journal->plane[i].wait));
        }
    }
}

/* ---- reads --------------------------------------------------------------- */

static IlistLinks read_chain(const Journal *j)
{
    return ILIST_CHAIN(j->meta_read, MetaRead, next);
}

static uint32_t read_take(Ssd *ssd)
{
    Journal *j = ssd->journal;

    j->meta_read = pool_grow(j->meta_read, read_chain(j), &j->free_meta_read,
                             &j->n_meta_reads, 16);
    return pool_take(read_chain(j), &j->free_meta_read);
}

/* Units of the page that are in one physical page: one operation. */
static void read_run(Ssd *ssd, uint32_t i, uint64_t lpn, uint32_t n)
{
    NandOp op = {
        .kind = NAND_READ,
        .cause = cause_of(ssd->journal->meta_read[i].owner),
        .ppa = {ppu_page(ssd, l2p_get(&ssd->l2p, lpn) - 1)},
        .bytes = n << ssd->unit_shift,
        .cookie = i,
    };

    invariant(i < ssd->journal->n_meta_reads);
    for (uint32_t k = 0; k < n; k++) {
        op.parts |= unit_parts(ssd, l2p_get(&ssd->l2p, lpn + k) - 1);
    }
    ssd->journal->meta_read[i].pending++;
    faulty_submit(ssd, &op);
}

void meta_read(Ssd *ssd, uint32_t page, uint32_t first, uint32_t n,
               MetaOwner owner, uint32_t cookie)
{
    uint32_t copy = meta_copy_in_nand(ssd, page) ? page : mirror_of(ssd, page);
    uint64_t lpn = meta_lpn(ssd, copy) + first;
    uint32_t i = read_take(ssd);
    uint32_t from = 0;

    invariant(n > 0 && first + n <= ssd->l.units_per_program);
    invariant(page < ssd->l.n_map_pages);
    ssd->journal->meta_read[i] =
        (MetaRead){.owner = (uint8_t)owner, .cookie = cookie};
    for (uint32_t k = 1; k <= n; k++) {
        if (k == n || ppu_page(ssd, l2p_get(&ssd->l2p, lpn + k) - 1) !=
                          ppu_page(ssd, l2p_get(&ssd->l2p, lpn + from) - 1)) {
            read_run(ssd, i, lpn + from, k - from);
            from = k;
        }
    }
}

void meta_read_done(Ssd *ssd, const NandOp *op)
{
    MetaRead *r = &ssd->journal->meta_read[op->cookie];
    MetaRead done = *r;

    invariant(op->cookie < ssd->journal->n_meta_reads);
    invariant(r->pending > 0);
    if (--r->pending == 0) {
        pool_give(read_chain(ssd->journal), &ssd->journal->free_meta_read,
                  op->cookie);
        tell_read(ssd, done.owner, done.cookie);
    }
}

/* ---- without modelled time ----------------------------------------------- */

/* The pages of a program hold data, and no time has passed. */
static void program_at_once(Ssd *ssd, uint64_t first, NandCause cause,
                            bool aged)
{
    NandOp op = {.kind = NAND_PROGRAM, .cause = cause, .ppa = {first}};

    if (aged) {
        age_op(ssd, &op);
        return;
    }
    for (uint32_t i = 0; i < ssd->l.pages_per_program; i++) {
        oplog_add(ssd->inspect.log, OPLOG_PRELOAD_PAGE, 0, first + i,
                  ssd->now_ps, 0, 0);
        nand_preload_page(ssd->nand, (NandPpa){first + i});
    }
}

static void preload_copy(Ssd *ssd, uint32_t page, MetaOwner owner, bool aged)
{
    uint32_t plane = meta_plane(ssd, page);
    uint64_t ppa;

    if (meta_copy_in_nand(ssd, page) || plane_is_lost(ssd, plane) ||
        ssd->journal->plane[plane].wait.head != NONE) {
        return;
    }
    ppa = block_take_page(ssd, plane, OPEN_META, 0);
    if (ppa == NO_PAGE) {
        return;
    }
    program_at_once(ssd, ppa, cause_of(owner), aged);
    stamp(ssd, page, ppa << ssd->page_units_shift, OPLOG_PRELOAD);
    settle(ssd, page, ppa << ssd->page_units_shift);
    block_page_done(ssd, page_block(ssd, ppa));
    ssd->media->client->plane_changed(ssd, plane);
}

void meta_preload(Ssd *ssd, uint32_t page, MetaOwner owner, bool aged)
{
    invariant(page < ssd->l.n_map_pages);
    preload_copy(ssd, page, owner, aged);
    if (mirror_is_on(ssd)) {
        preload_copy(ssd, mirror_of(ssd, page), owner, aged);
    }
}
