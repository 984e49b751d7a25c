/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recovery.c - a drive whose memory was lost with the power: it reads NAND
 * step by step, and rebuilds its tables.
 *
 * Without a checkpoint every spare area of data is read.  With one, the anchor
 * says up to which count of programs the saved pages are complete; of each
 * block its last pages are read, as far as they are younger.  An entry of a
 * saved page counts if the page that it names is older than that: then its
 * block has not been erased since.
 *
 * Knows spare areas and saved pages; uses nothing else, but for the table
 * of bad blocks and the erase counts (docs/power.md).  Knows nothing of how a
 * saved page came to be (saved.c).
 *
 * Each step is a row of a table.  In a step every plane reads one page after
 * another, all planes at a time; a step begins when the one before it has
 * ended. Of the copies of a unit the newest intact version counts, of the same
 * version the one that was programmed last.
 */
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "commands.h"
#include "gc/gc.h"
#include "host/host.h"
#include "journal/journal.h"
#include "journal/known.h"
#include "journal/saved.h"
#include "lazymem.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/faulty.h"
#include "media/life.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "placement/life.h"
#include "placement/placement.h"
#include "power/power.h"
#include "ssd-internal.h"

/* In a spare area: for each unit its number, version and stream; and for the
 * page when it was programmed, by whom, and of which superblock
 * (superblock.width); each with room for a code. */
#define SPARE_BYTES 16

typedef struct RecoveryStep {
    const char *name;
    bool whole; /* pages with an entry for each unit of a saved page */
    /* From the plane's place on, the next page to read, and how much of it;
     * false: the plane has none left. */
    bool (*next)(Ssd *ssd, uint32_t plane, NandOp *op);
    /* A page has been read: use its contents, and continue in the plane. */
    void (*seen)(Ssd *ssd, uint32_t plane, uint64_t page, bool blank);
    void (*end)(Ssd *ssd); /* or NULL: all planes have ended */
} RecoveryStep;

void recovery_init(Ssd *ssd)
{
    if (saves(ssd)) {
        invariant(!ssd->power->recovery_plane);
        ssd->power->recovery_plane = g_new0(RecoveryPlane, ssd->l.n_planes);
        ssd->power->recovery.waiting = IFIFO_EMPTY;
    }
}

void recovery_destroy(Ssd *ssd)
{
    g_free(ssd->power->recovery_plane);
    g_free(ssd->power->candidate);
}

void recovery_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    if (saves(ssd)) {
        ssd->power->recovery.on = false;
        ssd->power->recovery.n_candidates = 0;
        ssd->power->recovery.n_reads = 0;
        ssd->power->recovery.waiting = IFIFO_EMPTY;
    }
}

/* ---- steps --------------------------------------------------------------- */

static uint32_t spare_bytes(const Ssd *ssd)
{
    return MIN((ssd->l.units_per_page + 1) * SPARE_BYTES,
               ssd->geo->page_bytes);
}

static uint32_t cursor_block(const Ssd *ssd, uint32_t plane)
{
    invariant(plane < ssd->l.n_planes);
    invariant(ssd->power->recovery_plane[plane].block <
              ssd->geo->blocks_per_plane);
    return plane * ssd->geo->blocks_per_plane +
           ssd->power->recovery_plane[plane].block;
}

static void skip_block(RecoveryPlane *at)
{
    at->block++;
    at->page = 0;
}

/* The page at the plane's place, if there is one; else the place is at the
 * beginning of the next block. */
static bool page_at(const Ssd *ssd, uint32_t plane, uint64_t *page)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];
    uint32_t block = cursor_block(ssd, plane);

    if (block_state(ssd, block) == BLOCK_BAD ||
        at->page >= nand_block_pages(ssd->geo, block)) {
        skip_block(at);
        return false;
    }
    *page = nand_block_page(ssd->geo, block) + at->page;
    return true;
}

static uint32_t first_saved(const Ssd *ssd)
{
    return ssd->geo->blocks_per_plane - ssd->l.saved_blocks;
}

static bool is_blank(const Ssd *ssd, uint64_t page)
{
    invariant(page < ssd->geo->n_pages);
    return nand_page_in_block(ssd->geo, page) >=
           nand_next_page(ssd->nand, page_block(ssd, page));
}

/* On to the next page, or if this one is blank to the next block; true: it is
 * not. */
static bool plane_goes_on(Ssd *ssd, uint32_t plane, bool blank)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    if (blank) {
        skip_block(at);
    } else {
        at->page++;
    }
    return !blank;
}

/* Where the saved pages are: the spare areas of their blocks, up to the first
 * blank page of each. */
static bool next_found(Ssd *ssd, uint32_t plane, NandOp *op)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    at->block = MAX(at->block, first_saved(ssd));
    while (at->block < ssd->geo->blocks_per_plane) {
        if (!page_at(ssd, plane, &op->ppa.page)) {
            continue;
        }
        if (at->page % ssd->l.pages_per_program == 0) {
            op->bytes = spare_bytes(ssd);
            return true;
        }
        at->page++;
    }
    return false;
}

static void seen_found(Ssd *ssd, uint32_t plane, uint64_t page, bool blank)
{
    if (plane_goes_on(ssd, plane, blank)) {
        saved_found(ssd, page);
    }
}

/* The newest of them. */
static bool next_loaded(Ssd *ssd, uint32_t plane, NandOp *op)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    at->block = MAX(at->block, first_saved(ssd));
    while (at->block < ssd->geo->blocks_per_plane) {
        if (!page_at(ssd, plane, &op->ppa.page)) {
            continue;
        }
        if (saved_is_newest(ssd, op->ppa.page -
                                     at->page % ssd->l.pages_per_program)) {
            op->bytes = ssd->geo->page_bytes;
            return true;
        }
        at->page++;
    }
    return false;
}

static void seen_loaded(Ssd *ssd, uint32_t plane, uint64_t page, bool blank)
{
    if (plane_goes_on(ssd, plane, blank)) {
        uint64_t low = saved_loaded(ssd, page);

        if (low > 0) {
            ssd->power->recovery.low = low;
        }
    }
}

/* Every spare area of data. */
static bool next_scanned(Ssd *ssd, uint32_t plane, NandOp *op)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    while (at->block < first_saved(ssd)) {
        if (page_at(ssd, plane, &op->ppa.page)) {
            op->bytes = spare_bytes(ssd);
            return true;
        }
    }
    return false;
}

static bool is_newer(const Ssd *ssd, uint64_t ppu, uint64_t than)
{
    uint64_t a = unit_version(ssd, ppu);
    uint64_t b = unit_version(ssd, than);

    invariant(ppu < ssd->l.raw_units);
    invariant(than < ssd->l.raw_units);
    return a > b || (a == b && page_seq(ssd, ppu_page(ssd, ppu)) >
                                   page_seq(ssd, ppu_page(ssd, than)));
}

static void set_entry(Ssd *ssd, uint64_t lpn, uint64_t entry)
{
    l2p_set(&ssd->l2p, lpn, entry);
    if (lpn < ssd->l.user_units) {
        l2p_note_used(&ssd->l2p, lpn);
    }
}

/* A copy of a unit: in the map it stays, unless a newer one is found. */
static void found_unit(Ssd *ssd, uint64_t ppu)
{
    uint64_t lpn;

    invariant(ppu < ssd->l.raw_units);
    if (numtable_get(&ssd->media->spare_lpn, ppu) == SPARE_NONE) {
        return;
    }
    lpn = spare_lpn(ssd, ppu);
    if (unit_version(ssd, ppu) >= ssd->journal->floor[lpn] &&
        (l2p_get(&ssd->l2p, lpn) == 0 ||
         is_newer(ssd, ppu, l2p_get(&ssd->l2p, lpn) - 1))) {
        set_entry(ssd, lpn, ppu + 1);
    }
}

static void found_page(Ssd *ssd, uint64_t page)
{
    invariant(page < ssd->geo->n_pages);
    for (uint32_t i = 0; i < ssd->l.units_per_page; i++) {
        found_unit(ssd, (page << ssd->page_units_shift) + i);
    }
    seq_found(ssd, page_seq(ssd, page));
}

static void seen_scanned(Ssd *ssd, uint32_t plane, uint64_t page, bool blank)
{
    if (plane_goes_on(ssd, plane, blank)) {
        found_page(ssd, page);
    }
}

/* ---- steps with a checkpoint --------------------------------------------- */

/*
 * Where each block ends: its last page, if that is blank its first, and then
 * halfway between a page that is blank and one that is not, until they meet.
 */
static bool next_end(Ssd *ssd, uint32_t plane, NandOp *op)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    for (; at->block < first_saved(ssd); at->block++) {
        uint32_t block = cursor_block(ssd, plane);
        uint32_t n = nand_block_pages(ssd->geo, block);

        if (block_state(ssd, block) == BLOCK_BAD) {
            continue;
        }
        if (at->high == 0) {
            at->high = n;
        }
        at->page = at->low > 0     ? (at->low + at->high) / 2
                   : at->high == n ? n - 1
                                   : 0;
        op->ppa.page = nand_block_page(ssd->geo, block) + at->page;
        op->bytes = spare_bytes(ssd);
        return true;
    }
    return false;
}

/* Is the page older than the checkpoint?  One that is torn does not say. */
static bool is_old(const Ssd *ssd, uint64_t page)
{
    uint64_t seq = page_seq(ssd, page);

    return seq > 0 && seq <= ssd->power->recovery.low;
}

/* The page is young, and so are all behind it in its block. */
static void found_young(Ssd *ssd, uint64_t page)
{
    block_set_young(ssd, page_block(ssd, page),
                    nand_page_in_block(ssd->geo, page));
    found_page(ssd, page);
}

/* The block has so many pages that are not blank; the last one has been read. */
static void found_end(Ssd *ssd, uint32_t plane, uint32_t n)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];
    uint32_t block = cursor_block(ssd, plane);
    uint64_t page = nand_block_page(ssd->geo, block) + n;

    invariant(n <= nand_block_pages(ssd->geo, block));
    block_set_young(ssd, block, n);
    if (n > 0 && !is_old(ssd, page - 1)) {
        found_young(ssd, page - 1);
    }
    skip_block(at);
    at->low = 0;
    at->high = 0;
}

static void seen_end(Ssd *ssd, uint32_t plane, uint64_t page, bool blank)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    if (blank) {
        at->high = at->page;
    } else {
        at->low = at->page + 1;
    }
    invariant(at->low <= at->high);
    if (at->low == at->high) {
        found_end(ssd, plane, at->low);
    }
}

/* Of each block whose last page is young, those before it, backwards. */
static bool next_young(Ssd *ssd, uint32_t plane, NandOp *op)
{
    RecoveryPlane *at = &ssd->power->recovery_plane[plane];

    for (; at->block < first_saved(ssd); at->block++) {
        uint32_t block = cursor_block(ssd, plane);
        uint32_t young = block_at(ssd, block)->young;

        if (block_state(ssd, block) == BLOCK_BAD || young == 0 ||
            young >= nand_next_page(ssd->nand, block)) {
            continue;
        }
        op->ppa.page = nand_block_page(ssd->geo, block) + young - 1;
        op->bytes = spare_bytes(ssd);
        return true;
    }
    return false;
}

static void seen_young(Ssd *ssd, uint32_t plane, uint64_t page, bool blank)
{
    invariant(page_block(ssd, page) == cursor_block(ssd, plane));
    if (is_old(ssd, page)) {
        ssd->power->recovery_plane[plane].block++;
    } else {
        found_young(ssd, page);
    }
}

/* The unit is where the saved page says, if that has not been read: pages that
 * have not are older than the checkpoint. */
static bool is_believed(const Ssd *ssd, uint64_t entry)
{
    uint64_t page;
    uint32_t block;

    if (!(entry & SAVED_MAPPED)) {
        return false;
    }
    page = ppu_page(ssd, (entry & ~SAVED_MAPPED) - 1);
    block = page_block(ssd, page);
    return block_state(ssd, block) == BLOCK_LOST &&
           nand_page_in_block(ssd->geo, page) < block_at(ssd, block)->young;
}

/* Has the host written the page, or GC? */
static bool is_of_host(const Ssd *ssd, uint64_t page)
{
    return ssd->media->spare_seq[page] >> SEQ_BITS < ssd->l.n_streams;
}

/* The unit where the saved pages say that it is. */
static uint64_t candidate_ppu(const Ssd *ssd, uint64_t lpn)
{
    return (saved_entry(ssd, lpn) & ~SAVED_MAPPED) - 1;
}

static gint by_place(gconstpointer a, gconstpointer b, gpointer ssd)
{
    uint64_t x = candidate_ppu(ssd, *(const uint64_t *)a);
    uint64_t y = candidate_ppu(ssd, *(const uint64_t *)b);

    return (x > y) - (x < y);
}

/*
 * Entries of the saved pages, compared with the copies that have been found.  A
 * young copy by the host is newer than an old one.  One by GC need not be: it
 * was under way while a newer version was programmed.
 */
static void believe(Ssd *ssd)
{
    g_autoptr(GArray) candidates = g_array_new(false, false, sizeof(uint64_t));
    KnownWalk w;

    invariant(has_checkpoints(ssd));
    known_begin(ssd, &w);
    for (uint64_t lpn = known_next(&w, 0); lpn < saved_map_units(ssd);
         lpn = known_next(&w, lpn + 1)) {
        uint64_t entry = saved_entry(ssd, lpn);

        if (!is_believed(ssd, entry)) {
            continue;
        }
        if (l2p_get(&ssd->l2p, lpn) == 0) {
            set_entry(ssd, lpn, entry & ~SAVED_MAPPED);
        } else if (!is_of_host(ssd,
                               ppu_page(ssd, l2p_get(&ssd->l2p, lpn) - 1))) {
            g_array_append_val(candidates, lpn);
        }
    }
    known_end(&w);
    g_array_sort_with_data(candidates, by_place, ssd);
    g_free(ssd->power->candidate);
    ssd->power->recovery.n_candidates = candidates->len;
    ssd->power->candidate = (uint64_t *)g_array_steal(candidates, NULL);
}

/* The next candidate of the plane: those of one are adjacent. */
static uint32_t candidate_at(const Ssd *ssd, uint32_t plane)
{
    uint32_t low = 0;
    uint32_t high = ssd->power->recovery.n_candidates;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        uint32_t block =
            ppu_block(ssd, candidate_ppu(ssd, ssd->power->candidate[mid]));

        if (block_plane(ssd, block) < plane) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low + ssd->power->recovery_plane[plane].page;
}

static bool next_candidate(Ssd *ssd, uint32_t plane, NandOp *op)
{
    uint32_t i = candidate_at(ssd, plane);
    uint64_t ppu;

    if (i >= ssd->power->recovery.n_candidates) {
        return false;
    }
    ppu = candidate_ppu(ssd, ssd->power->candidate[i]);
    op->ppa.page = ppu_page(ssd, ppu);
    op->bytes = spare_bytes(ssd);
    return block_plane(ssd, ppu_block(ssd, ppu)) == plane;
}

static void seen_candidate(Ssd *ssd, uint32_t plane, uint64_t page, bool blank)
{
    invariant(candidate_at(ssd, plane) < ssd->power->recovery.n_candidates);
    found_unit(ssd, candidate_ppu(
                        ssd, ssd->power->candidate[candidate_at(ssd, plane)]));
    ssd->power->recovery_plane[plane].page++;
}

static const RecoveryStep scan_steps[] = {
    {"find", false, next_found, seen_found, NULL},
    {"load", true, next_loaded, seen_loaded, NULL},
    {"scan", false, next_scanned, seen_scanned, NULL},
    {.name = NULL},
};

static const RecoveryStep checkpoint_steps[] = {
    {"find", false, next_found, seen_found, NULL},
    {"load", true, next_loaded, seen_loaded, NULL},
    {"blocks", false, next_end, seen_end, NULL},
    {"pages", false, next_young, seen_young, believe},
    {"versions", false, next_candidate, seen_candidate, NULL},
    {.name = NULL},
};

static const RecoveryStep *step_at(const Ssd *ssd, uint32_t i)
{
    const RecoveryStep *steps = has_checkpoints(ssd) ? checkpoint_steps
                                                     : scan_steps;

    return steps[i].name ? &steps[i] : NULL;
}

/* ---- reading ------------------------------------------------------------- */

static void read_next(Ssd *ssd, uint32_t plane)
{
    Recovery *r = &ssd->power->recovery;
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_META,
        .strong = true,
    };

    invariant(ssd->power->recovery.on && step_at(ssd, r->step));
    if (step_at(ssd, r->step)->next(ssd, plane, &op)) {
        invariant(op.bytes > 0);
        invariant(block_plane(ssd, page_block(ssd, op.ppa.page)) == plane);
        r->n_reads++;
        r->times.step_reads[r->step]++;
        faulty_submit(ssd, &op);
    }
}

static void begin_step(Ssd *ssd)
{
    Recovery *r = &ssd->power->recovery;

    invariant(r->on && r->n_reads == 0);
    invariant(r->step < RECOVERY_STEPS);
    r->step_start_ps = ssd->now_ps;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->power->recovery_plane[i] = (RecoveryPlane){.block = 0};
        read_next(ssd, i);
    }
    if (r->n_reads == 0) {
        eventq_push(&ssd->events, ssd->now_ps, SSD_EVENT_RECOVERED, r->step);
    }
}

void recovery_start(Ssd *ssd)
{
    Recovery *r = &ssd->power->recovery;

    invariant(ssd->powered && !r->on);
    invariant(r->waiting.head == NONE);
    r->on = true;
    r->low = 0;
    r->n_candidates = 0;
    r->step = 0;
    r->start_ps = ssd->now_ps;
    r->cpu_free_ps = ssd->now_ps;
    r->cpu_ps = 0;
    r->times = (RecoveryTimes){.ready_ps = 0};
    begin_step(ssd);
}

bool recovery_waits(Ssd *ssd, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    if (ssd->power->recovery.on) {
        fifo_push(ssd, &ssd->power->recovery.waiting, cmd);
    }
    return ssd->power->recovery.on;
}

/* ---- the tables --------------------------------------------------------- */

/* A block by its spare areas. */
typedef struct Found {
    uint64_t seq;       /* of the newest intact page; 0: there is none */
    uint64_t first_seq; /* of the oldest */
    uint32_t block;
    uint32_t open; /* open_index() of who filled it, or NONE */
} Found;

static Found look_at(const Ssd *ssd, uint32_t block)
{
    const uint64_t *seq = &ssd->media->spare_seq[(uint64_t)block *
                                          ssd->geo->pages_per_block];
    Found f = {.block = block, .open = NONE};

    invariant(block < ssd->geo->n_blocks);
    for (uint32_t i = 0; i < nand_next_page(ssd->nand, block); i++) {
        if (seq[i] == 0) {
            continue;
        }
        f.seq = seq[i] & SEQ_MASK;
        f.first_seq = f.first_seq ? f.first_seq : f.seq;
        f.open = (uint32_t)(seq[i] >> SEQ_BITS);
    }
    return f;
}

static int compare_found(const void *a, const void *b)
{
    const Found *x = a;
    const Found *y = b;

    if (x->seq != y->seq) {
        return x->seq < y->seq ? -1 : 1;
    }
    return x->block < y->block ? -1 : x->block > y->block;
}

/* Whose units are in it: of the stream for which it was opened, or of several. */
static uint32_t stream_of(const Ssd *ssd, const Found *f)
{
    uint64_t first = block_ppu(ssd, f->block);
    uint32_t several = ssd->l.n_streams;
    uint32_t stream = f->open;

    if (f->open == NONE || several == 1) {
        return 0;
    }
    if (f->open >= ssd->l.n_streams) {
        invariant(stream >= ssd->l.n_streams);
        stream = copies_stream(ssd, block_plane(ssd, f->block),
                               stream - ssd->l.n_streams);
        if (stream == several) {
            return several;
        }
    }
    for (uint32_t i = 0; i < ssd->l.units_per_block; i++) {
        if (unit_is_valid(ssd, first + i) &&
            unit_stream(ssd, first + i) != stream) {
            return several;
        }
    }
    return stream;
}

static bool has_room(const Ssd *ssd, uint32_t block)
{
    uint32_t next = nand_next_page(ssd->nand, block);

    invariant(block < ssd->geo->n_blocks);
    return next > 0 && next < nand_block_pages(ssd->geo, block) &&
           !block_has_failed(ssd, block) && !ssd->cfg->close_open;
}

/* The blocks of a plane, oldest first; how many. */
static uint32_t find_blocks(const Ssd *ssd, uint32_t plane, Found *found)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t n = 0;

    invariant(plane < ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        if (block_state(ssd, first + i) == BLOCK_LOST) {
            found[n++] = look_at(ssd, first + i);
        }
    }
    qsort(found, n, sizeof(*found), compare_found);
    return n;
}

/* Of several that have room for the same kind and stream, the newest is filled
 * on; the others are as good as full. */
static void rebuild_plane(Ssd *ssd, uint32_t plane, Found *found)
{
    g_autofree uint32_t *open = g_new(uint32_t, ssd->l.n_open);
    uint32_t n = find_blocks(ssd, plane, found);
    uint64_t last_gc = 0;

    invariant(plane < ssd->l.n_planes);
    memset(open, 0xff, ssd->l.n_open * sizeof(*open));
    for (uint32_t i = 0; i < n; i++) {
        const Found *f = &found[i];

        if (f->open == NONE) {
            continue;
        }
        if (has_room(ssd, f->block)) {
            open[f->open] = f->block;
        }
        if (f->open >= ssd->l.n_streams && f->first_seq > last_gc) {
            last_gc = f->first_seq;
            plane_set_last_gc(ssd, plane, f->block);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const Found *f = &found[i];
        bool fills = f->open != NONE && open[f->open] == f->block;

        if (f->seq == 0) {
            superblock_unnamed(ssd, f->block);
        }
        block_set_stream(ssd, f->block, stream_of(ssd, f));
        block_found(ssd, f->block, fills ? f->open : NONE);
    }
}

static void rebuild(Ssd *ssd)
{
    g_autofree Found *found = g_new(Found, ssd->geo->blocks_per_plane);
    KnownWalk w;

    known_begin(ssd, &w);
    for (uint64_t lpn = known_next(&w, 0); lpn < saved_map_units(ssd);
         lpn = known_next(&w, lpn + 1)) {
        if (l2p_get(&ssd->l2p, lpn)) {
            ssd->l2p.mapped_units += lpn < ssd->l.user_units;
            block_set_valid(ssd, l2p_get(&ssd->l2p, lpn) - 1);
        }
    }
    known_end(&w);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        rebuild_plane(ssd, i, found);
    }
    saved_find_blocks(ssd);
}

/* ---- on and on ----------------------------------------------------------- */

static void finish(Ssd *ssd)
{
    Recovery *r = &ssd->power->recovery;
    uint32_t cmd;

    invariant(r->on && r->n_reads == 0);
    rebuild(ssd);
    meta_dies_lost(ssd);
    r->on = false;
    r->n_candidates = 0;
    r->n++;
    r->times.ready_ps = ssd->now_ps - r->start_ps;
    r->most_ready_ps = MAX(r->most_ready_ps, r->times.ready_ps);
    power_ready(ssd);
    saved_ready(ssd, r->low);
    if (ssd->map->policy->recovered) {
        ssd->map->policy->recovered(ssd);
    }
    while ((cmd = fifo_pop(ssd, &r->waiting)) != NONE) {
        cmd_account(ssd, &ssd->commands.cmd[cmd], COST_firmware);
        host_start_now(ssd, cmd);
    }
    invariant(!r->on);
}

static void end_step(Ssd *ssd)
{
    Recovery *r = &ssd->power->recovery;

    invariant(r->on && r->n_reads == 0);
    invariant(r->step < recovery_n_steps(ssd));
    r->times.step_ps[r->step] = ssd->now_ps - r->step_start_ps;
    if (step_at(ssd, r->step)->end) {
        step_at(ssd, r->step)->end(ssd);
    }
    r->step++;
    if (step_at(ssd, r->step)) {
        begin_step(ssd);
    } else {
        finish(ssd);
    }
}

/* Entries of a page that one of the saved pages fills in part. */
static uint64_t entries_of_saved(const Ssd *ssd)
{
    return (ssd->l.saved_units + ssd->l.pages_per_program - 1) /
           ssd->l.pages_per_program;
}

/* The controller processes a page that was read, after those before it; the
 * next read does not wait for that. */
static void look_into(Ssd *ssd, bool blank)
{
    Recovery *r = &ssd->power->recovery;
    uint64_t entries = blank                          ? 1
                       : step_at(ssd, r->step)->whole ? entries_of_saved(ssd)
                                                      : ssd->l.units_per_page;

    r->cpu_ps += entries * ssd->cfg->t_recovery_ps;
    r->cpu_free_ps =
        MAX(r->cpu_free_ps, ssd->now_ps) + entries * ssd->cfg->t_recovery_ps;
}

void recovery_read_done(Ssd *ssd, const NandOp *op)
{
    Recovery *r = &ssd->power->recovery;
    uint32_t plane = op->plane;
    bool blank = is_blank(ssd, op->ppa.page);

    invariant(r->on && op->cause == NAND_CAUSE_META);
    invariant(r->n_reads > 0);
    r->n_reads--;
    look_into(ssd, blank);
    step_at(ssd, r->step)->seen(ssd, plane, op->ppa.page, blank);
    read_next(ssd, plane);
    if (r->n_reads > 0) {
        return;
    }
    if (r->cpu_free_ps > ssd->now_ps) {
        eventq_push(&ssd->events, r->cpu_free_ps, SSD_EVENT_RECOVERED, r->step);
    } else {
        end_step(ssd);
    }
}

void recovery_event(Ssd *ssd, uint32_t step)
{
    invariant(ssd->power->recovery.on && step == ssd->power->recovery.step);
    end_step(ssd);
}

/* ---- bounds -------------------------------------------------------------- */

/* Reads of so many pages in each plane, of so many bytes: dies do not wait for
 * each other but at the channel. */
static uint64_t longest_reads(const Ssd *ssd, uint64_t pages, uint32_t bytes)
{
    uint64_t in_die = pages * ssd->geo->planes_per_die;
    uint64_t in_channel = in_die * ssd->geo->dies_per_channel;
    uint64_t bus_ps;
    uint64_t cell_ps;

    nand_longest_read(ssd->nand, bytes, &bus_ps, &cell_ps);
    return in_die * cell_ps + in_channel * bus_ps;
}

uint64_t recovery_longest_ps(const Ssd *ssd)
{
    uint64_t pages = (uint64_t)ssd->geo->blocks_per_plane *
                     ssd->geo->pages_per_block;
    uint64_t saved = (uint64_t)ssd->l.saved_blocks * ssd->geo->pages_per_block;

    uint64_t entries = ssd->l.n_planes * (pages * ssd->l.units_per_page +
                                          saved * entries_of_saved(ssd));

    return saves(ssd) ? longest_reads(ssd, pages, spare_bytes(ssd)) +
                            longest_reads(ssd, saved, ssd->geo->page_bytes) +
                            entries * ssd->cfg->t_recovery_ps
                      : 0;
}

/* ---- queries of callers ------------------------------------------------- */

bool ssd_ready(const Ssd *ssd)
{
    return ssd->powered && !ssd->power->recovery.on;
}

uint64_t ssd_recovery_ns(const Ssd *ssd)
{
    return sim_ceil_ns(ssd->power->recovery.times.ready_ps);
}

uint32_t recovery_n_steps(const Ssd *ssd)
{
    uint32_t n = 0;

    while (step_at(ssd, n)) {
        n++;
    }
    return n;
}

const char *recovery_step_name(const Ssd *ssd, uint32_t i)
{
    invariant(i < recovery_n_steps(ssd));
    return step_at(ssd, i)->name;
}
