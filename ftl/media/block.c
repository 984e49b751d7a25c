/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block.c - blocks and planes: free lists, open blocks, counts of valid units.
 *
 * Knows in which state each block is and keeps the FULL blocks of a plane in
 * buckets by their number of valid units, so that finding and moving one costs
 * O(1).  Knows nothing about the meaning of units or which block is best.
 *
 * Room: the host never takes the last free block of a plane (one for each class
 * of GC, and one more if programs may fail); it belongs to GC, which
 * gives back a block for each one that it takes.  Emptying a block in SLC mode
 * gives none back, so meanwhile the host leaves one more.  A plane that
 * holds more than its share of the drive (SsdLayout) is passed over, so every
 * plane keeps enough invalid units for GC to gain by.
 */
#include "bitmap.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "lazymem.h"
#include "media/aside.h"
#include "media/bad-blocks.h"
#include "media/block-state.h"
#include "media/faulty.h"
#include "media/life.h"
#include "media/media.h"
#include "media/plain.h"
#include "media/parity.h"
#include "media/slc-cache.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "media/victims.h"
#include "ssd-internal.h"
#include "wake.h"

/* Free blocks; FULL blocks by valid units, or in SLC mode. */
static IlistLinks links(const Ssd *ssd)
{
    return ILIST_LINKS(ssd->media->block, Block, next, prev);
}

/* ---- FULL blocks by age ------------------------------------------------- */

static IlistLinks age_links(const Ssd *ssd)
{
    return ILIST_LINKS(ssd->media->block, Block, newer, older);
}

static void age_append(Ssd *ssd, Plane *p, uint32_t block)
{
    ilist_push_tail(age_links(ssd), &p->by_age, block);
    if (ssd->media->index) {
        ssd->media->index->listed(ssd, block);
    }
}

static void age_remove(Ssd *ssd, Plane *p, uint32_t block)
{
    ilist_remove(age_links(ssd), &p->by_age, block);
    if (ssd->media->index) {
        ssd->media->index->unlisted(ssd, block);
    }
}

void block_renew(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    invariant(ssd->media->block[block].state == BLOCK_FULL);
    invariant(block < ssd->geo->n_blocks);
    age_remove(ssd, p, block);
    age_append(ssd, p, block);
}

/* ---- FULL blocks by valid units ------------------------------------------ */

static void bucket_insert(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];
    uint32_t valid = ssd->media->block[block].valid;

    ihead_push(links(ssd), &p->bucket[valid], block);
    p->min_valid = MIN(p->min_valid, valid);
}

static void bucket_remove(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    ihead_remove(links(ssd), &p->bucket[ssd->media->block[block].valid], block);
}

uint32_t block_least_valid(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->media->plane[plane];

    invariant(plane < ssd->l.n_planes);
    while (p->min_valid < ssd->l.data_units) {
        if (p->bucket[p->min_valid] != NONE) {
            return p->bucket[p->min_valid];
        }
        p->min_valid++;
    }
    return NONE;
}

static void link_free(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    block_set_state(ssd, block, BLOCK_FREE);
    if (nand_block_is_cache(ssd->geo, block)) {
        ilistn_push_tail(links(ssd), &p->slc_free, block);
    } else {
        if (nand_block_is_slc(ssd->geo, block)) {
            nand_set_slc(ssd->nand, block, false); /* opened before a cut */
        }
        ilistn_push_tail(links(ssd), &p->free, block);
    }
}

static void free_push(Ssd *ssd, uint32_t block)
{
    link_free(ssd, block);
    if (!nand_block_is_cache(ssd->geo, block)) {
        ssd->media->client->freed(ssd, block);
    }
}

/* ---- blocks that were never taken ---------------------------------------- */

/*
 * A block is linked when it becomes the head of the list, so the memory of a
 * large drive's blocks is touched as they are used.  That needs a list that is
 * taken from its head only: the order is the same as if all were linked.
 */
static bool links_late(const Ssd *ssd)
{
    return ssd->cfg->wear == SSD_WEAR_FIFO;
}

/* Link the first of them, in front of all others. */
static void link_fresh(Ssd *ssd, Plane *p)
{
    while (!block_is_good(ssd, p->next_fresh)) {
        p->next_fresh++;
    }
    invariant(p->n_fresh > 0 && p->next_fresh < ssd->geo->n_blocks);
    invariant(ssd->media->block[p->next_fresh].state == BLOCK_FREE);
    p->n_fresh--;
    ilist_push_head(links(ssd), &p->free.ends, p->next_fresh++);
}

static void note_free(Ssd *ssd)
{
    if (ssd->now_ps >= ssd->inspect.series.next_ps) {
        numbers_sample(ssd);
    }
}

static uint32_t slc_free_pop(Ssd *ssd, Plane *p)
{
    uint32_t block = p->slc_free.head;

    invariant(p->slc_free.n > 0 &&
              ssd->media->block[block].state == BLOCK_FREE);
    ilistn_remove(links(ssd), &p->slc_free, block);
    note_free(ssd);
    return block;
}

/* Which one is wear levelling's business. */
static uint32_t free_take(Ssd *ssd, uint32_t plane, OpenKind kind)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t block;

    invariant(p->free.n > 0);
    block = ssd->media->client->choose_free(ssd, plane, kind);
    invariant(block_plane(ssd, block) == plane);
    invariant(ssd->media->block[block].state == BLOCK_FREE);
    ilistn_remove(links(ssd), &p->free, block);
    if (p->n_fresh > 0) {
        invariant(links_late(ssd));
        link_fresh(ssd, p);
    }
    ssd->media->client->free_taken(ssd, block);
    note_free(ssd);
    return block;
}

/* The host fills blocks in SLC mode as long as there are any. */
static uint32_t take_free_block(Ssd *ssd, uint32_t plane, OpenKind kind,
                                uint32_t stream)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t block;

    if (kind != OPEN_HOST || !ssd->geo->has_slc ||
        !slc_opens(ssd, plane, stream)) {
        return free_take(ssd, plane, kind);
    }
    if (p->slc_free.n > 0) {
        return slc_free_pop(ssd, p);
    }
    block = free_take(ssd, plane, kind);
    nand_set_slc(ssd->nand, block, true);
    return block;
}

static void init_plane(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t n = ssd->l.units_per_block + 1;

    p->bucket = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        p->bucket[i] = NONE;
    }
    p->min_valid = ssd->l.units_per_block;
    p->by_age = ILIST_EMPTY;
    p->spare_blocks = ssd->l.spare_blocks;
    p->open = g_new0(Open, ssd->l.n_open);
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        p->open[k].block = NONE;
    }
    p->last_gc_block = NONE;
    p->slc_full = ILIST_EMPTY;
    p->tell_gains = true;
    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        uint32_t block = plane * ssd->geo->blocks_per_plane + i;

        if (nand_factory_bad(ssd->nand, block)) {
            block_set_state(ssd, block, BLOCK_BAD);
            ssd->media->n_factory_bad++;
            block_count_lost(ssd, block);
        } else if (saved_has_block(ssd, block)) {
            continue;
        } else if (!links_late(ssd) || nand_block_is_slc(ssd->geo, block)) {
            link_free(ssd, block);
        } else {
            p->n_fresh++;
        }
    }
    p->next_fresh = (plane + 1) * ssd->geo->blocks_per_plane;
    if (p->n_fresh > 0) {
        p->next_fresh -= ssd->geo->blocks_per_plane - ssd->geo->slc_blocks;
        p->free = (IlistN){.ends = ILIST_EMPTY, .n = p->n_fresh};
        link_fresh(ssd, p);
    }
    plane_size(ssd, plane);
    invariant(p->free.n + p->slc_free.n <= ssd->geo->blocks_per_plane);
}

void block_init(Ssd *ssd)
{
    invariant(!ssd->media->block);
    ssd->media->block = lazy_new(Block, ssd->geo->n_blocks);
    ssd->media->plane = g_new0(Plane, ssd->l.n_planes);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        init_plane(ssd, i);
    }
    plain_init(ssd);
}

uint32_t block_take_free(Ssd *ssd, uint32_t plane, OpenKind kind)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t block;

    invariant(plane < ssd->l.n_planes);
    if (p->free.n == 0) {
        return NONE;
    }
    block = free_take(ssd, plane, kind);
    block_set_state(ssd, block, BLOCK_MAPPED);
    ssd->media->block[block].stream = 0;
    ssd->media->block[block].pending = 0;
    return block;
}

void block_destroy(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        g_free(ssd->media->plane[i].bucket);
        g_free(ssd->media->plane[i].open);
    }
    plain_destroy(ssd);
    g_free(ssd->media->plane);
    lazy_free(ssd->media->block, ssd->geo->n_blocks,
              sizeof(*ssd->media->block));
}

void block_make_full(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    block_set_state(ssd, block, BLOCK_FULL);
    ssd->media->block[block].pending = 0;
    ssd->media->plane[block_plane(ssd, block)].n_retiring +=
        ssd->media->block[block].bad;
    if (nand_block_is_slc(ssd->geo, block)) {
        ilist_push_tail(links(ssd),
                        &ssd->media->plane[block_plane(ssd, block)].slc_full,
                        block);
    } else {
        bucket_insert(ssd, block);
        age_append(ssd, &ssd->media->plane[block_plane(ssd, block)], block);
        if (ssd->media->index) {
            ssd->media->index->full(ssd, block);
        }
    }
}

/* Is there a free block that this kind may open? */
bool block_can_take_page(const Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream)
{
    const Plane *p = &ssd->media->plane[plane];

    invariant(plane < ssd->l.n_planes);
    return open_takes_data(ssd, plane, open_index(ssd, kind, stream)) ||
           block_can_open(ssd, p, kind);
}

static void open_block(Ssd *ssd, uint32_t plane, OpenKind kind, uint32_t stream)
{
    Plane *p = &ssd->media->plane[plane];
    Open *o = &p->open[open_index(ssd, kind, stream)];
    Block *b;

    invariant(o->block == NONE);
    o->block = take_free_block(ssd, plane, kind, stream);
    o->next_page = 0;
    b = &ssd->media->block[o->block];
    block_set_state(ssd, o->block, BLOCK_OPEN);
    b->stream = (uint8_t)stream;
    if (kind == OPEN_HOST) {
        p->n_host_open++;
    } else if (kind == OPEN_META) {
        b->stream = (uint8_t)ssd->l.n_streams;
    } else {
        p->last_gc_block = o->block;
        b->stream = (uint8_t)copies_stream(ssd, plane, stream);
    }
    superblock_opened(ssd, o->block, open_index(ssd, kind, stream));
    ssd->media->client->opened(ssd, o->block, open_index(ssd, kind, stream));
    ssd->media->client->plane_changed(ssd, plane);
}

void plane_tell_gains(Ssd *ssd, uint32_t plane, bool tell)
{
    ssd->media->plane[plane].tell_gains = tell;
}

/* Count Plane.n_host_open again. */
static void plane_count_open(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->media->plane[plane];

    invariant(plane < ssd->l.n_planes);
    p->n_host_open = 0;
    for (uint32_t k = 0; k < ssd->l.n_streams; k++) {
        p->n_host_open += open_takes_data(ssd, plane, k);
    }
}

/* ---- open blocks set aside ----------------------------------------------- */

uint32_t aside_choices(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t n = (p->open[0].block != NONE) + p->n_aside;

    invariant(ssd->l.n_streams == 1 && plane < ssd->l.n_planes);
    return n <= ssd->l.n_aside && block_can_open(ssd, p, OPEN_HOST)
               ? n + MAX(p->free.n, plane_reserve(ssd, p)) -
                     plane_reserve(ssd, p) + p->slc_free.n
               : n;
}

void aside_choose(Ssd *ssd, uint32_t plane, uint32_t choice)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t first = aside_first(ssd);
    Open *o = &p->open[0];
    Open had = *o;

    invariant(choice < aside_choices(ssd, plane));
    if (had.block == NONE || choice == 0) {
        return;
    }
    if (choice <= p->n_aside) {
        *o = p->open[first + choice - 1];
        p->open[first + choice - 1] = had;
    } else {
        p->open[first + p->n_aside++] = had;
        o->block = NONE;
    }
    plane_count_open(ssd, plane);
}

/* The open block is one no more.  A block that was set aside takes the place of
 * the host's, and the last of them the place of another: what is set aside has
 * no gap, and is nothing while the host has no open block. */
static void open_clear(Ssd *ssd, Plane *p, uint32_t open)
{
    uint32_t first = aside_first(ssd);

    p->open[open].block = NONE;
    if (p->n_aside > 0 && (open == 0 || open >= first)) {
        Open *last = &p->open[first + --p->n_aside];
        Open moved = *last;

        last->block = NONE;
        if (open != first + p->n_aside) {
            p->open[open] = moved;
        }
    }
}

void block_close(Ssd *ssd, uint32_t plane, uint32_t open)
{
    Open *o = &ssd->media->plane[plane].open[open];
    Block *b = &ssd->media->block[o->block];

    invariant(open < ssd->l.n_open && o->block < ssd->geo->n_blocks);
    invariant(plane < ssd->l.n_planes);
    if (b->pending > 0) {
        block_set_state(ssd, o->block, BLOCK_CLOSING);
    } else {
        block_make_full(ssd, o->block);
    }
    open_clear(ssd, &ssd->media->plane[plane], open);
    plane_count_open(ssd, plane);
    ssd->media->client->plane_changed(ssd, plane);
}

/* The next page (the pages of one program) of the open block. */
static inline uint64_t next_page(Ssd *ssd, uint32_t plane, uint32_t open)
{
    Open *o = &ssd->media->plane[plane].open[open];
    uint64_t page = nand_block_page(ssd->geo, o->block) + o->next_page;

    if (ssd->media->spare_seq) {
        spare_stamp_seq(ssd, page, nand_block_program(ssd->geo, o->block),
                        open);
    }
    o->next_page += nand_block_program(ssd->geo, o->block);
    ssd->media->block[o->block].pending++;
    return page;
}

/* Nothing, or nothing but parity, goes into the open block any more. */
static inline void close_full(Ssd *ssd, uint32_t plane, uint32_t open)
{
    const Open *o = &ssd->media->plane[plane].open[open];

    if (o->next_page == nand_block_pages(ssd->geo, o->block)) {
        block_close(ssd, plane, open);
    } else if (!open_takes_data(ssd, plane, open)) {
        plane_count_open(ssd, plane);
        ssd->media->client->plane_changed(ssd, plane);
    }
}

static bool is_parity(const Ssd *ssd, uint32_t plane, uint32_t open)
{
    const Open *o = &ssd->media->plane[plane].open[open];

    return o->block != NONE && parity_is_of(ssd, o->block) &&
           parity_plane(ssd, plane, o->next_page) == plane;
}

uint32_t open_pages_left(const Ssd *ssd, uint32_t plane, uint32_t open)
{
    const Open *o = &ssd->media->plane[plane].open[open];
    uint32_t program = nand_block_program(ssd->geo, o->block);
    uint32_t n = 0;

    invariant(o->block != NONE);
    for (uint32_t page = o->next_page;
         page < nand_block_pages(ssd->geo, o->block); page += program) {
        n += !parity_is_of(ssd, o->block) ||
             parity_plane(ssd, plane, page) != plane;
    }
    return n * program;
}

void block_send_parity(Ssd *ssd, uint32_t plane, uint32_t open, bool more)
{
    const Open *o = &ssd->media->plane[plane].open[open];
    uint32_t block = o->block;
    uint32_t at = o->next_page;
    uint64_t page;

    invariant(is_parity(ssd, plane, open));
    parity_given(ssd, block, open, at);
    page = next_page(ssd, plane, open);
    if (parity_send(ssd, page, open, more)) {
        block_page_done(ssd, block);
    }
    close_full(ssd, plane, open);
}

uint64_t block_take_page(Ssd *ssd, uint32_t plane, OpenKind kind,
                         uint32_t stream)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t open = open_index(ssd, kind, stream);
    Open *o = &p->open[open];
    uint32_t block;
    uint32_t at;
    uint64_t page;

    invariant(plane < ssd->l.n_planes);
    if (!block_can_take_page(ssd, plane, kind, stream)) {
        return NO_PAGE;
    }
    /* Parity goes out now, whatever other planes have yet to add. */
    if (is_parity(ssd, plane, open)) {
        block_send_parity(ssd, plane, open, false);
    }
    if (o->block == NONE) {
        open_block(ssd, plane, kind, stream);
        if (is_parity(ssd, plane, open)) {
            block_send_parity(ssd, plane, open, false);
        }
    }
    block = o->block;
    at = o->next_page;
    page = next_page(ssd, plane, open);
    ssd->media->block[block].mtime = p->clock += kind == OPEN_HOST;
    if (parity_is_of(ssd, block)) {
        parity_data(ssd, block, open, at);
        ssd_wake(ssd, WORK_PARITY, parity_plane(ssd, plane, at));
    }
    close_full(ssd, plane, open);
    return page;
}

void block_open_for_parity(Ssd *ssd, uint32_t plane, uint32_t open)
{
    bool host = open < ssd->l.n_streams;
    OpenKind kind = host ? OPEN_HOST : OPEN_GC;

    invariant(parity_is_in(ssd, open));
    invariant(ssd->media->plane[plane].open[open].block == NONE);
    if (block_can_open(ssd, &ssd->media->plane[plane], kind) &&
        !(host && slc_opens(ssd, plane, open))) {
        open_block(ssd, plane, kind, host ? open : open - ssd->l.n_streams);
    }
}

void block_page_done(Ssd *ssd, uint32_t block)
{
    Block *b = &ssd->media->block[block];

    invariant(block < ssd->geo->n_blocks);
    if (ssd->media->saved) {
        ssd->media->saved->page_done(ssd);
    }
    invariant(b->pending > 0);
    b->pending--;
    if (b->state == BLOCK_CLOSING && b->pending == 0) {
        block_make_full(ssd, block);
    }
}

static inline void change_valid(Ssd *ssd, uint32_t block, int by)
{
    Block *b = &ssd->media->block[block];

    if (b->state == BLOCK_FULL && !nand_block_is_slc(ssd->geo, block)) {
        bucket_remove(ssd, block);
        b->valid += (uint32_t)by;
        bucket_insert(ssd, block);
        if (ssd->media->index) {
            ssd->media->index->changed(ssd, block, by);
        }
    } else {
        b->valid += (uint32_t)by;
    }
}

/* Metadata of the plane is counted separately. */
static void change_meta_valid(Ssd *ssd, uint32_t plane, uint64_t ppu, int by)
{
    if (ssd->l.meta_units > 0 && unit_is_meta(ssd, ppu)) {
        ssd->media->plane[plane].meta_valid += (uint64_t)by;
    }
}

/* From valid to not, or back: the bit changes, whether or not it says what is
 * different from preloaded data (preloaded.h). */
static inline void flip_valid(Ssd *ssd, uint64_t ppu)
{
    ssd->media->valid[ppu / BITMAP_WORD] ^= 1ULL << ppu % BITMAP_WORD;
}

void block_set_valid(Ssd *ssd, uint64_t ppu)
{
    Media *m = ssd->media;
    uint32_t block = ppu_block(ssd, ppu);
    uint32_t plane = block_plane(ssd, block);

    invariant(ppu < ssd->l.raw_units);
    invariant(!unit_is_valid(ssd, ppu));
    if (m->saved) {
        m->saved->changed(ssd, spare_lpn(ssd, ppu));
    }
    flip_valid(ssd, ppu);
    m->plane[plane].valid++;
    change_meta_valid(ssd, plane, ppu, 1);
    plain_change(ssd, plane, ppu, 1);
    change_valid(ssd, block, 1);
}

void block_count_preloaded(Ssd *ssd, uint32_t block, uint32_t n)
{
    invariant(block < ssd->geo->n_blocks);
    ssd->media->plane[block_plane(ssd, block)].valid += n;
    change_valid(ssd, block, (int)n);
}

void block_preload(Ssd *ssd, uint32_t plane, uint32_t open, uint32_t programs)
{
    Open *o = &ssd->media->plane[plane].open[open];
    uint32_t pages = programs * ssd->l.pages_per_program;

    invariant(o->block != NONE && !parity_is_on(ssd) && !ssd->media->saved);
    nand_preload_pages(
        ssd->nand,
        (NandPpa){nand_block_page(ssd->geo, o->block) + o->next_page}, pages);
    o->next_page += pages;
    invariant(o->next_page < ssd->geo->pages_per_block);
    block_count_preloaded(ssd, o->block, programs * ssd->l.units_per_program);
}

void block_set_valid_run(Ssd *ssd, uint64_t ppu, uint32_t n)
{
    Media *m = ssd->media;
    uint32_t block = ppu_block(ssd, ppu);

    invariant(n > 0 && ppu_block(ssd, ppu + n - 1) == block);
    for (uint32_t i = 0; i < n; i++) {
        invariant(!unit_is_valid(ssd, ppu + i));
        invariant(ssd->l.meta_units == 0 || !unit_is_meta(ssd, ppu + i));
        if (m->saved) {
            m->saved->changed(ssd, spare_lpn(ssd, ppu + i));
        }
        flip_valid(ssd, ppu + i);
        plain_change(ssd, block_plane(ssd, block), ppu + i, 1);
    }
    m->plane[block_plane(ssd, block)].valid += n;
    change_valid(ssd, block, (int)n);
}

void block_clear_valid(Ssd *ssd, uint64_t ppu)
{
    Media *m = ssd->media;
    uint32_t block = ppu_block(ssd, ppu);
    uint32_t plane = block_plane(ssd, block);

    invariant(unit_is_valid(ssd, ppu));
    flip_valid(ssd, ppu);
    invariant(m->plane[plane].valid > 0);
    m->plane[plane].valid--;
    change_meta_valid(ssd, plane, ppu, -1);
    plain_change(ssd, plane, ppu, -1);
    change_valid(ssd, block, -1);
    if (m->lost_dies.n > 0 && m->block[block].valid == 0 &&
        plane_is_lost(ssd, plane)) {
        ssd_wake(ssd, WORK_GC, plane); /* the rest of the superblock waits */
    }
    if (m->plane[plane].tell_gains) {
        m->client->plane_changed(ssd, plane);
    }
}

void block_start_victim(Ssd *ssd, uint32_t block, NandCause cause)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    invariant(cause < NAND_N_CAUSES);
    invariant(block < ssd->geo->n_blocks);
    invariant(ssd->media->block[block].state == BLOCK_FULL);
    ssd->media->block[block].cause = (uint8_t)cause;
    ssd->media->client->taken(ssd, block);
    invariant(p->n_retiring >= ssd->media->block[block].bad);
    p->n_retiring -= ssd->media->block[block].bad;
    if (nand_block_is_slc(ssd->geo, block)) {
        ilist_remove(links(ssd), &p->slc_full, block);
    } else {
        bucket_remove(ssd, block);
        age_remove(ssd, p, block);
        if (ssd->media->index) {
            ssd->media->index->victim(ssd, block);
        }
    }
    block_set_state(ssd, block, BLOCK_VICTIM);
    ssd->media->block[block].pending = 0;
    ssd->media->client->plane_changed(ssd, block_plane(ssd, block));
}

void block_start_erase(Ssd *ssd, uint32_t block, NandCause cause, bool more)
{
    Block *b = &ssd->media->block[block];
    NandOp op = {
        .kind = NAND_ERASE,
        .cause = cause,
        .ppa = {nand_block_page(ssd->geo, block)},
        .more = more,
    };

    invariant(block < ssd->geo->n_blocks);
    invariant(b->valid == 0 && b->pending == 0);
    b->hold = 0;
    superblock_erasing(ssd, block);
    block_set_state(ssd, block, BLOCK_ERASING);
    ssd->media->client->erasing(ssd, block);
    ssd->media->plane[block_plane(ssd, block)].erases++;
    ssd->media->client->plane_changed(ssd, block_plane(ssd, block));
    faulty_submit(ssd, &op);
}

void block_discard(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    invariant(ssd->media->block[block].valid == 0);
    invariant(block < ssd->geo->n_blocks);
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        if (p->open[k].block == block) {
            block_close(ssd, block_plane(ssd, block), k);
            break;
        }
    }
    block_start_victim(ssd, block, ssd->media->block[block].cause);
    block_start_erase(ssd, block, NAND_CAUSE_GC, false);
}

void block_erased(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    invariant(ssd->media->block[block].state == BLOCK_ERASING);
    invariant(block < ssd->geo->n_blocks);
    invariant(ssd->media->plane[plane].erases > 0);
    ssd->media->plane[plane].erases--;
    ssd->media->client->erased(ssd, block);
    free_push(ssd, block);
    note_free(ssd);
    ssd->media->client->plane_changed(ssd, plane);
}

void block_retire(Ssd *ssd, uint32_t block)
{
    Block *b = &ssd->media->block[block];
    uint32_t plane = block_plane(ssd, block);

    invariant(block < ssd->geo->n_blocks);
    invariant(b->valid == 0 && b->pending == 0);
    invariant(b->state == BLOCK_ERASING || b->state == BLOCK_VICTIM);
    ssd->media->client->retired(ssd, block);
    invariant(ssd->media->plane[plane].erases > 0 || b->state != BLOCK_ERASING);
    ssd->media->plane[plane].erases -= b->state == BLOCK_ERASING;
    block_set_state(ssd, block, BLOCK_BAD);
    superblock_retired(ssd, block);
    ssd->media->client->plane_changed(ssd, plane);
}

void block_erase_failed(Ssd *ssd, uint32_t block)
{
    invariant(ssd->media->may_fail);
    ssd->media->block[block].bad = true;
    block_retire(ssd, block);
}

/* ---- after a power cut --------------------------------------------------- */

static void forget_plane(Ssd *ssd, Plane *p)
{
    p->free = ILISTN_EMPTY;
    p->n_fresh = 0;
    p->next_fresh =
        (uint32_t)(p + 1 - ssd->media->plane) * ssd->geo->blocks_per_plane;
    p->slc_free = ILISTN_EMPTY;
    p->slc_full = ILIST_EMPTY;
    p->valid = 0;
    p->meta_valid = 0;
    plain_forget(ssd, (uint32_t)(p - ssd->media->plane));
    p->by_age = ILIST_EMPTY;
    for (uint32_t v = 0; v <= ssd->l.units_per_block; v++) {
        p->bucket[v] = NONE;
    }
    p->min_valid = ssd->l.units_per_block;
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        p->open[k].block = NONE;
    }
    p->n_host_open = 0;
    p->n_aside = 0;
    p->n_retiring = 0;
    p->n_folding = 0;
    p->n_slc = 0;
    p->last_gc_block = NONE;
    p->clock = 0;
}

void block_forget_all(Ssd *ssd)
{
    invariant(!ssd->powered || ssd->l2p.mapped_units == 0);
    invariant(!ssd->preloaded.on);
    lazy_clear(ssd->media->valid, bitmap_words(ssd->l.raw_units),
               sizeof(*ssd->media->valid));
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        Block *block = &ssd->media->block[b];

        if (block->state != BLOCK_BAD && block->state != BLOCK_SAVED) {
            block_set_state(ssd, b, BLOCK_LOST);
            *block = (Block){.state = block->state, .bad = block->bad};
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        forget_plane(ssd, &ssd->media->plane[i]);
    }
}

/* Is the block that was open when the power went to be filled on? */
static bool fills_on(const Ssd *ssd, uint32_t block)
{
    uint32_t next = nand_next_page(ssd->nand, block);

    return next < nand_block_pages(ssd->geo, block) &&
           (next == 0 || !ssd->cfg->close_open);
}

/* From the last one on: what takes the place of another has been looked at. */
static void settle_open(Ssd *ssd, Plane *p)
{
    for (uint32_t k = ssd->l.n_open; k-- > 0;) {
        Open *o = &p->open[k];

        if (o->block == NONE) {
            continue;
        }
        ssd->media->block[o->block].pending = 0;
        o->next_page = nand_next_page(ssd->nand, o->block);
        invariant(o->next_page <= nand_block_pages(ssd->geo, o->block));
        if (!fills_on(ssd, o->block)) {
            block_make_full(ssd, o->block);
            open_clear(ssd, p, k);
        }
    }
}

void media_settle_blocks(Ssd *ssd)
{
    invariant(!ssd->powered);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        settle_open(ssd, &ssd->media->plane[i]);
        plane_count_open(ssd, i);
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (ssd->media->block[b].state == BLOCK_VICTIM ||
            ssd->media->block[b].state == BLOCK_CLOSING) {
            block_make_full(ssd, b);
        }
    }
}

static void tear_pages(Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state == JOB_PLACED) {
            ssd->media->client->torn(ssd, job->ppa);
            parity_page_lost(ssd, job->ppa);
            spare_blank(ssd, job->ppa << ssd->page_units_shift,
                        block_program_units(ssd, job->ppa));
            spare_tear(ssd, job->ppa,
                       nand_block_program(ssd->geo, page_block(ssd, job->ppa)));
        }
    }
}

void media_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    ssd->media->cut_due = false;
    tear_pages(ssd);
    parity_power_lost(ssd);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        Plane *p = &ssd->media->plane[i];

        p->host_programs = 0;
        p->erases = 0;
        p->n_held = 0;
    }
}

void plane_host_program(Ssd *ssd, uint32_t plane, int by)
{
    Plane *p = &ssd->media->plane[plane];

    invariant(by > 0 || p->host_programs > 0);
    p->host_programs += (uint32_t)by;
}

void block_found(Ssd *ssd, uint32_t block, uint32_t open)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];
    uint32_t next = nand_next_page(ssd->nand, block);

    invariant(ssd->media->block[block].state == BLOCK_LOST);
    invariant(open == NONE ||
              (open < ssd->l.n_open && p->open[open].block == NONE));
    invariant(block < ssd->geo->n_blocks);
    if (next == 0 && !ssd->media->block[block].bad) {
        superblock_erasing(ssd, block);
        free_push(ssd, block);
        return;
    }
    ssd->media->block[block].mtime = ++p->clock;
    if (open != NONE) {
        block_set_state(ssd, block, BLOCK_OPEN);
        p->open[open] = (Open){block, next};
        plane_count_open(ssd, block_plane(ssd, block));
    } else {
        block_make_full(ssd, block);
    }
}

void block_mark_bad(Ssd *ssd, uint32_t block)
{
    Block *b = &ssd->media->block[block];
    uint32_t plane = block_plane(ssd, block);

    invariant(ssd->media->may_fail && !b->bad);
    invariant(block < ssd->geo->n_blocks);
    invariant(b->state == BLOCK_OPEN || b->state == BLOCK_CLOSING);
    b->bad = true;
    block_set_state(ssd, block, BLOCK_CLOSING);
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        if (ssd->media->plane[plane].open[k].block == block) {
            open_clear(ssd, &ssd->media->plane[plane], k);
            break;
        }
    }
    plane_count_open(ssd, plane);
    ssd->media->client->plane_changed(ssd, plane);
}
