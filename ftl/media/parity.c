/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parity.c - parity as a member of rows (superblock.parity): which pages are a
 * stripe, and which of them parity covers.
 *
 * A superblock is of N dies.  A stripe has a page (the pages of one program) of
 * one plane in each of them, at the same place of its blocks.  So a die that is
 * lost takes one page of each stripe.  Parity goes round as in RAID-5: at place
 * s it is in die N - 1 - s mod N of them.  Each block of P programs thus has
 * P / N pages of parity, and planes wear and fill alike.
 *
 * The XOR of a stripe gathers in the controller's memory, from the first page
 * that is programmed; then it is programmed (parity-pump.c).  Until then a page
 * is covered by what is in memory, which a power cut destroys.  A page that
 * comes when its parity is in NAND already (its plane was late) is bare: no
 * parity covers it.  So is one whose parity failed.  If a block is erased
 * before the others of its superblock are empty, these are broken: nothing in
 * them can be rebuilt any more.
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
#include "media/parity.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "ssd-internal.h"

static Parity *parity_of(Ssd *ssd)
{
    return &ssd->media->parity;
}

/* ---- geometry ----------------------------------------------------------- */

void parity_init(Ssd *ssd)
{
    Parity *p = parity_of(ssd);

    if (!parity_is_on(ssd)) {
        return;
    }
    invariant(!p->filled && superblocks_are_on(ssd));
    p->filled = g_new0(uint32_t, ssd->geo->n_blocks);
    p->state = g_new0(uint8_t, ssd->geo->n_blocks);
    p->bare = lazy_new(uint64_t, bitmap_words(ssd->geo->n_pages));
}

void parity_destroy(Ssd *ssd)
{
    Parity *p = parity_of(ssd);

    g_free(p->filled);
    g_free(p->state);
    lazy_free(p->bare, bitmap_words(ssd->geo->n_pages), sizeof(*p->bare));
}

void parity_instant(Ssd *ssd, bool on)
{
    parity_of(ssd)->instant = on;
}

uint32_t parity_member(const Ssd *ssd, uint32_t plane, uint32_t i)
{
    uint32_t planes = ssd->geo->planes_per_die;

    invariant(plane < ssd->l.n_planes && i < ssd->l.parity_dies);
    return superblock_planes(
        ssd, superblock_set(ssd, plane))[i * planes + plane % planes];
}

/* Are the blocks, of one superblock, of the same stripes? */
static bool share_stripes(const Ssd *ssd, uint32_t a, uint32_t b)
{
    uint32_t planes = ssd->geo->planes_per_die;

    return block_plane(ssd, a) % planes == block_plane(ssd, b) % planes;
}

uint32_t parity_plane(const Ssd *ssd, uint32_t plane, uint32_t page)
{
    uint32_t step = page / ssd->l.pages_per_program;

    return parity_member(ssd, plane,
                         ssd->l.parity_dies - 1 - step % ssd->l.parity_dies);
}

uint32_t parity_next_data(const Ssd *ssd, uint32_t plane, uint32_t page)
{
    /* Two pages of parity never follow each other: N is 2 or more. */
    return page < ssd->geo->pages_per_block &&
                   parity_plane(ssd, plane, page) == plane
               ? page + ssd->l.pages_per_program
               : page;
}

static uint64_t page_of(const Ssd *ssd, uint32_t block, uint32_t page)
{
    return nand_block_page(ssd->geo, block) + page;
}

/* ---- superblocks -------------------------------------------------------- */

void parity_opened(Ssd *ssd, uint32_t block)
{
    Parity *p = parity_of(ssd);

    if (!parity_is_on(ssd)) {
        return;
    }
    invariant(p->state[block] == STRIPE_NONE);
    p->filled[block] = 0;
    p->state[block] = STRIPE_WHOLE;
}

/* The others of its superblock cannot be rebuilt without it. */
static void break_others(Ssd *ssd, uint32_t block)
{
    Parity *p = parity_of(ssd);
    const uint32_t *next = ssd->media->superblocks.next;
    uint64_t valid = 0;

    for (uint32_t b = next[block]; b != block; b = next[b]) {
        if (!share_stripes(ssd, b, block)) {
            continue;
        }
        valid += p->state[b] == STRIPE_WHOLE ? ssd->media->block[b].valid : 0;
        p->state[b] = STRIPE_BROKEN;
    }
    ssd->inspect.count.parity_early_erases += valid > 0;
}

void parity_erasing(Ssd *ssd, uint32_t block)
{
    Parity *p = parity_of(ssd);

    if (!parity_is_on(ssd) || p->state[block] == STRIPE_NONE) {
        return;
    }
    if (p->filled[block] > 0) {
        break_others(ssd, block);
    }
    for (uint32_t page = 0; page < p->filled[block]; page++) {
        bitmap_clear(p->bare, page_of(ssd, block, page));
    }
    p->filled[block] = 0;
    p->state[block] = STRIPE_NONE;
}

/* The block of the superblock that has the parity of that page; NONE: there is
 * none (yet). */
static uint32_t parity_block(const Ssd *ssd, uint32_t block, uint32_t page)
{
    const uint32_t *next = ssd->media->superblocks.next;
    uint32_t plane = parity_plane(ssd, block_plane(ssd, block), page);
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

void parity_data(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page)
{
    Parity *p = parity_of(ssd);
    uint32_t q = parity_block(ssd, block, page);

    invariant(page >= p->filled[block]);
    p->filled[block] = page + ssd->l.pages_per_program;
    bitmap_put(p->bare, page_of(ssd, block, page),
               q != NONE && p->filled[q] > page);
    ssd->inspect.count.parity_late_pages += q != NONE && p->filled[q] > page;
}

void parity_given(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page)
{
    Parity *p = parity_of(ssd);

    invariant(parity_block(ssd, block, page) == block);
    ssd->inspect.count.parity_short +=
        !parity_is_complete(ssd, block_plane(ssd, block), open, page);
    p->filled[block] = page + ssd->l.pages_per_program;
    bitmap_clear(p->bare, page_of(ssd, block, page));
    ssd->inspect.count.parity_pages += ssd->l.pages_per_program;
}

bool parity_send(Ssd *ssd, uint64_t page, uint32_t open, bool more)
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
    if (parity_of(ssd)->instant) {
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
    Parity *p = parity_of(ssd);
    const uint32_t *next = ssd->media->superblocks.next;

    for (uint32_t b = next[block]; b != block; b = next[b]) {
        if (share_stripes(ssd, b, block) && p->filled[b] > page) {
            bitmap_set(p->bare, page_of(ssd, b, page));
        }
    }
}

void parity_page_lost(Ssd *ssd, uint64_t ppa)
{
    Parity *p = parity_of(ssd);
    uint32_t block = page_block(ssd, ppa);
    uint32_t page = nand_page_in_block(ssd->geo, ppa);
    uint32_t q;

    if (!parity_is_on(ssd) || p->state[block] == STRIPE_NONE) {
        return;
    }
    q = parity_block(ssd, block, page);
    /* In memory the XOR leaves the lost page out; in NAND it cannot. */
    if (q != NONE && p->filled[q] > page && !bitmap_test(p->bare, ppa)) {
        bare_others(ssd, block, page);
    }
    bitmap_set(p->bare, ppa);
}

void parity_power_lost(Ssd *ssd)
{
    Parity *p = parity_of(ssd);

    if (!parity_is_on(ssd)) {
        return;
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        for (uint32_t page = 0; page < p->filled[b];
             page += ssd->l.pages_per_program) {
            uint32_t q = parity_block(ssd, b, page);

            if (q == NONE || p->filled[q] <= page) {
                bitmap_set(p->bare, page_of(ssd, b, page));
            }
        }
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (p->state[b] != STRIPE_NONE) {
            p->filled[b] = MIN(p->filled[b], nand_next_page(ssd->nand, b));
        }
    }
}

bool parity_is_complete(const Ssd *ssd, uint32_t plane, uint32_t open,
                        uint32_t page)
{
    const Parity *p = &ssd->media->parity;
    bool opened = ssd->media->plane[plane].open[open].block != NONE;
    uint32_t serial = superblock_newest(ssd, plane, open) + !opened;

    for (uint32_t i = 0; i < ssd->l.parity_dies; i++) {
        uint32_t q = parity_member(ssd, plane, i);
        uint32_t newest = superblock_newest(ssd, q, open);
        uint32_t b = superblock_newest_block(ssd, q, open);

        if (q == plane || newest > serial || plane_is_lost(ssd, q)) {
            continue; /* it has gone on, with or without this superblock */
        }
        if (newest < serial || (b != NONE && p->filled[b] <= page &&
                                ssd->media->plane[q].open[open].block == b)) {
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

bool parity_others(const Ssd *ssd, uint64_t page, uint64_t *other, uint32_t *n)
{
    const Parity *p = &ssd->media->parity;
    const uint32_t *next = ssd->media->superblocks.next;
    uint32_t block = page_block(ssd, page);
    uint32_t at = nand_page_in_block(ssd->geo, page);
    uint32_t within = at % ssd->l.pages_per_program;
    uint32_t q;

    at -= within;
    *n = 0;
    if (p->state[block] == STRIPE_NONE && mirror_is_on(ssd)) {
        return mirror_others(ssd, page, other, n);
    }
    if (p->state[block] != STRIPE_WHOLE ||
        bitmap_test(p->bare, page_of(ssd, block, at))) {
        return false;
    }
    q = parity_block(ssd, block, at);
    if (q == NONE || q == block ||
        (p->filled[q] > at && bitmap_test(p->bare, page_of(ssd, q, at)))) {
        return false;
    }
    for (uint32_t b = next[block]; b != block; b = next[b]) {
        uint64_t first = page_of(ssd, b, at);

        if (share_stripes(ssd, b, block) && p->filled[b] > at &&
            !bitmap_test(p->bare, first) && !is_in_flight(ssd, first)) {
            invariant(*n < ssd->l.parity_dies - 1);
            other[(*n)++] = first + within;
        }
    }
    return true;
}

/* ---- statistics, checks ------------------------------------------------- */

uint64_t parity_open_stripes(const Ssd *ssd)
{
    const Parity *p = &ssd->media->parity;
    const uint32_t *next = ssd->media->superblocks.next;
    uint64_t n = 0;

    for (uint32_t b = 0; parity_is_on(ssd) && b < ssd->geo->n_blocks; b++) {
        uint32_t most = 0;

        if (ssd->media->block[b].state != BLOCK_OPEN) {
            continue;
        }
        for (uint32_t m = next[b]; m != b; m = next[m]) {
            most = share_stripes(ssd, b, m) ? MAX(most, p->filled[m]) : most;
        }
        for (uint32_t page = p->filled[b]; page < most;
             page += ssd->l.pages_per_program) {
            n += parity_block(ssd, b, page) == b;
        }
    }
    return n;
}

uint64_t parity_unprotected_units(const Ssd *ssd)
{
    uint64_t n = 0;

    for (uint32_t b = 0; parity_is_on(ssd) && b < ssd->geo->n_blocks; b++) {
        n += ssd->media->parity.state[b] == STRIPE_BROKEN
                 ? ssd->media->block[b].valid
                 : 0;
    }
    return n;
}

bool parity_check(const Ssd *ssd, GError **error)
{
    const Parity *p = &ssd->media->parity;

    if (!parity_is_on(ssd)) {
        return true;
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        CHECK(p->state[b] <= STRIPE_BROKEN &&
                  p->filled[b] <= ssd->geo->pages_per_block,
              "block %u: its pages of stripes", b);
    }
    return true;
}
