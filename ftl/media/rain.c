/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rain.c - parity across dies (ftl.rain): which pages are a stripe, and which
 * of them parity covers.
 *
 * N dies that follow each other in a superpage are a group.  A stripe has a
 * page (the pages of one program) of one plane in each of them, at the same
 * place of blocks that were opened in step: a superblock.  So a die that is
 * lost takes one page of each stripe.  Parity goes round as in RAID-5: at
 * place s it is in die N - 1 - s mod N of the group.  Each block of P programs
 * thus has P / N pages of parity, and planes wear and fill alike.
 *
 * The XOR of a stripe gathers in the controller's memory, from the first page
 * that is programmed; then it is programmed (parity.c).  Until then a page is
 * covered by what is in memory, which a power cut destroys.  A page that comes
 * when its parity is in NAND already (its plane was late) is bare: no parity
 * covers it.  So is one whose parity failed.  If a block is erased before the
 * others of its superblock are empty, these are broken: nothing in them can be
 * rebuilt any more.
 *
 * All this is what firmware finds in the spare areas of parity pages, so it
 * survives a power cut.  Knows no data, and not when parity is programmed.
 */
#include "bitmap.h"
#include "check.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "lazymem.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/mirror.h"
#include "media/rain.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "ssd-internal.h"

static Rain *rain_of(Ssd *ssd)
{
    return &ssd->media->rain;
}

/* ---- geometry ----------------------------------------------------------- */

void rain_init(Ssd *ssd)
{
    Rain *r = rain_of(ssd);

    r->free_rebuild = NONE;
    if (!rain_is_on(ssd)) {
        return;
    }
    invariant(!r->filled && superblocks_are_on(ssd));
    r->failures = g_new0(uint32_t, ssd->geo->n_dies);
    r->lost = g_new0(uint8_t, ssd->geo->n_dies);
    r->filled = g_new0(uint32_t, ssd->geo->n_blocks);
    r->state = g_new0(uint8_t, ssd->geo->n_blocks);
    r->bare = lazy_new(uint64_t, bitmap_words(ssd->geo->n_pages));
}

void rain_destroy(Ssd *ssd)
{
    Rain *r = rain_of(ssd);

    g_free(r->filled);
    g_free(r->failures);
    g_free(r->lost);
    g_free(r->state);
    g_free(r->rebuild);
    lazy_free(r->bare, bitmap_words(ssd->geo->n_pages), sizeof(*r->bare));
}

void rain_instant(Ssd *ssd, bool on)
{
    rain_of(ssd)->instant = on;
}

uint32_t rain_plane(const Ssd *ssd, uint32_t plane, uint32_t i)
{
    uint32_t planes = ssd->geo->planes_per_die;

    invariant(plane < ssd->l.n_planes && i < ssd->l.rain);
    return superblock_planes(
        ssd, superblock_set(ssd, plane))[i * planes + plane % planes];
}

/* Are the blocks, of one superblock, of the same stripes? */
static bool share_stripes(const Ssd *ssd, uint32_t a, uint32_t b)
{
    uint32_t planes = ssd->geo->planes_per_die;

    return block_plane(ssd, a) % planes == block_plane(ssd, b) % planes;
}

uint32_t rain_parity_plane(const Ssd *ssd, uint32_t plane, uint32_t page)
{
    uint32_t step = page / ssd->l.pages_per_program;

    return rain_plane(ssd, plane, ssd->l.rain - 1 - step % ssd->l.rain);
}

uint32_t rain_next_data(const Ssd *ssd, uint32_t plane, uint32_t page)
{
    /* Two pages of parity never follow each other: N is 2 or more. */
    return page < ssd->geo->pages_per_block &&
                   rain_parity_plane(ssd, plane, page) == plane
               ? page + ssd->l.pages_per_program
               : page;
}

static uint64_t page_of(const Ssd *ssd, uint32_t block, uint32_t page)
{
    return nand_block_page(ssd->geo, block) + page;
}

/* ---- superblocks -------------------------------------------------------- */

void rain_opened(Ssd *ssd, uint32_t block)
{
    Rain *r = rain_of(ssd);

    invariant(r->state[block] == STRIPE_NONE);
    r->filled[block] = 0;
    r->state[block] = STRIPE_WHOLE;
}

/* The others of its superblock cannot be rebuilt without it. */
static void break_others(Ssd *ssd, uint32_t block)
{
    Rain *r = rain_of(ssd);
    const uint32_t *next = ssd->media->superblocks.next;
    uint64_t valid = 0;

    for (uint32_t b = next[block]; b != block; b = next[b]) {
        if (!share_stripes(ssd, b, block)) {
            continue;
        }
        valid += r->state[b] == STRIPE_WHOLE ? ssd->media->block[b].valid : 0;
        r->state[b] = STRIPE_BROKEN;
    }
    ssd->inspect.count.rain_early_erases += valid > 0;
}

void rain_erasing(Ssd *ssd, uint32_t block)
{
    Rain *r = rain_of(ssd);

    if (r->state[block] == STRIPE_NONE) {
        return;
    }
    if (r->filled[block] > 0) {
        break_others(ssd, block);
    }
    for (uint32_t p = 0; p < r->filled[block]; p++) {
        bitmap_clear(r->bare, page_of(ssd, block, p));
    }
    r->filled[block] = 0;
    r->state[block] = STRIPE_NONE;
}

/* The block of the superblock that has the parity of that page; NONE: there is
 * none (yet). */
static uint32_t parity_block(const Ssd *ssd, uint32_t block, uint32_t page)
{
    const uint32_t *next = ssd->media->superblocks.next;
    uint32_t plane = rain_parity_plane(ssd, block_plane(ssd, block), page);
    uint32_t b = block;

    do {
        if (block_plane(ssd, b) == plane) {
            return b;
        }
        b = next[b];
    } while (b != block);
    return NONE;
}

/* ---- cover -------------------------------------------------------------- */

void rain_data(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page)
{
    Rain *r = rain_of(ssd);
    uint32_t q = parity_block(ssd, block, page);

    invariant(page >= r->filled[block]);
    r->filled[block] = page + ssd->l.pages_per_program;
    bitmap_put(r->bare, page_of(ssd, block, page),
               q != NONE && r->filled[q] > page);
    ssd->inspect.count.rain_late_pages += q != NONE && r->filled[q] > page;
}

void rain_parity(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page)
{
    Rain *r = rain_of(ssd);

    invariant(parity_block(ssd, block, page) == block);
    ssd->inspect.count.rain_short +=
        !rain_is_complete(ssd, block_plane(ssd, block), open, page);
    r->filled[block] = page + ssd->l.pages_per_program;
    bitmap_clear(r->bare, page_of(ssd, block, page));
    ssd->inspect.count.rain_parity_pages += ssd->l.pages_per_program;
}

bool rain_send(Ssd *ssd, uint64_t page, uint32_t open, bool more)
{
    uint32_t plane = block_plane(ssd, page_block(ssd, page));
    bool host = open < ssd->l.n_streams;
    NandOp op = {
        .kind = NAND_PROGRAM,
        .cause = host ? NAND_CAUSE_HOST : NAND_CAUSE_GC,
        .ppa = {page},
        .bytes = ssd->geo->page_bytes,
        .more = more,
    };
    uint32_t j;

    spare_blank(ssd, page << ssd->page_units_shift, ssd->l.units_per_program);
    if (rain_of(ssd)->instant) {
        for (uint32_t i = 0; i < ssd->l.pages_per_program; i++) {
            oplog_add(ssd->inspect.log, OPLOG_PRELOAD_PAGE, 0, page + i,
                      ssd->now_ps, 0, 0);
            nand_preload_page(ssd->nand, (NandPpa){page + i});
        }
        return true;
    }
    j = job_take(ssd);
    ssd->media->job[j].plane = plane;
    ssd->media->job[j].parity = true;
    job_place(ssd, j, page);
    op.cookie = j;
    faulty_submit(ssd, &op);
    return false;
}

/* No parity covers the other pages of the stripe. */
static void bare_others(Ssd *ssd, uint32_t block, uint32_t page)
{
    Rain *r = rain_of(ssd);
    const uint32_t *next = ssd->media->superblocks.next;

    for (uint32_t b = next[block]; b != block; b = next[b]) {
        if (share_stripes(ssd, b, block) && r->filled[b] > page) {
            bitmap_set(r->bare, page_of(ssd, b, page));
        }
    }
}

void rain_page_lost(Ssd *ssd, uint64_t ppa)
{
    Rain *r = rain_of(ssd);
    uint32_t block = page_block(ssd, ppa);
    uint32_t page = nand_page_in_block(ssd->geo, ppa);
    uint32_t q;

    if (!rain_is_on(ssd) || r->state[block] == STRIPE_NONE) {
        return;
    }
    q = parity_block(ssd, block, page);
    /* In memory the XOR leaves the lost page out; in NAND it cannot. */
    if (q != NONE && r->filled[q] > page && !bitmap_test(r->bare, ppa)) {
        bare_others(ssd, block, page);
    }
    bitmap_set(r->bare, ppa);
}

void rain_power_lost(Ssd *ssd)
{
    Rain *r = rain_of(ssd);

    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        for (uint32_t page = 0; page < r->filled[b];
             page += ssd->l.pages_per_program) {
            uint32_t q = parity_block(ssd, b, page);

            if (q == NONE || r->filled[q] <= page) {
                bitmap_set(r->bare, page_of(ssd, b, page));
            }
        }
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (r->state[b] != STRIPE_NONE) {
            r->filled[b] = MIN(r->filled[b], nand_next_page(ssd->nand, b));
        }
    }
}

bool rain_is_complete(const Ssd *ssd, uint32_t plane, uint32_t open,
                      uint32_t page)
{
    const Rain *r = &ssd->media->rain;
    bool opened = ssd->media->plane[plane].open[open].block != NONE;
    uint32_t serial = superblock_newest(ssd, plane, open) + !opened;

    for (uint32_t i = 0; i < ssd->l.rain; i++) {
        uint32_t p = rain_plane(ssd, plane, i);
        uint32_t newest = superblock_newest(ssd, p, open);
        uint32_t b = superblock_newest_block(ssd, p, open);

        if (p == plane || newest > serial || plane_is_lost(ssd, p)) {
            continue; /* it has gone on, with or without this superblock */
        }
        if (newest < serial || (b != NONE && r->filled[b] <= page &&
                                ssd->media->plane[p].open[open].block == b)) {
            return false;
        }
    }
    return true;
}

/* Is it on its way to NAND, so that the controller still has the data? */
static bool is_in_flight(const Ssd *ssd, uint64_t ppa)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state == JOB_PLACED && job->ppa == ppa) {
            return true;
        }
    }
    return false;
}

bool rain_others(const Ssd *ssd, uint64_t page, uint64_t *other, uint32_t *n)
{
    const Rain *r = &ssd->media->rain;
    const uint32_t *next = ssd->media->superblocks.next;
    uint32_t block = page_block(ssd, page);
    uint32_t at = nand_page_in_block(ssd->geo, page);
    uint32_t within = at % ssd->l.pages_per_program;
    uint32_t q;

    at -= within;
    *n = 0;
    if (r->state[block] == STRIPE_NONE && mirror_is_on(ssd)) {
        return mirror_others(ssd, page, other, n);
    }
    if (r->state[block] != STRIPE_WHOLE ||
        bitmap_test(r->bare, page_of(ssd, block, at))) {
        return false;
    }
    q = parity_block(ssd, block, at);
    if (q == NONE || q == block ||
        (r->filled[q] > at && bitmap_test(r->bare, page_of(ssd, q, at)))) {
        return false;
    }
    for (uint32_t b = next[block]; b != block; b = next[b]) {
        uint64_t first = page_of(ssd, b, at);

        if (share_stripes(ssd, b, block) && r->filled[b] > at &&
            !bitmap_test(r->bare, first) && !is_in_flight(ssd, first)) {
            invariant(*n < ssd->l.rain - 1);
            other[(*n)++] = first + within;
        }
    }
    return true;
}

/* ---- statistics, checks ------------------------------------------------- */

uint64_t rain_open_stripes(const Ssd *ssd)
{
    const Rain *r = &ssd->media->rain;
    const uint32_t *next = ssd->media->superblocks.next;
    uint64_t n = 0;

    for (uint32_t b = 0; rain_is_on(ssd) && b < ssd->geo->n_blocks; b++) {
        uint32_t most = 0;

        if (ssd->media->block[b].state != BLOCK_OPEN) {
            continue;
        }
        for (uint32_t m = next[b]; m != b; m = next[m]) {
            most = share_stripes(ssd, b, m) ? MAX(most, r->filled[m]) : most;
        }
        for (uint32_t page = r->filled[b]; page < most;
             page += ssd->l.pages_per_program) {
            n += parity_block(ssd, b, page) == b;
        }
    }
    return n;
}

uint64_t rain_unprotected_units(const Ssd *ssd)
{
    uint64_t n = 0;

    for (uint32_t b = 0; rain_is_on(ssd) && b < ssd->geo->n_blocks; b++) {
        n += ssd->media->rain.state[b] == STRIPE_BROKEN
                 ? ssd->media->block[b].valid
                 : 0;
    }
    return n;
}

bool rain_check(const Ssd *ssd, GError **error)
{
    const Rain *r = &ssd->media->rain;

    if (!rain_is_on(ssd)) {
        return true;
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        CHECK(r->state[b] <= STRIPE_BROKEN &&
                  r->filled[b] <= ssd->geo->pages_per_block,
              "block %u: its pages of stripes", b);
    }
    return true;
}
