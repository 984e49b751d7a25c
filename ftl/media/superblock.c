/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock.c - which blocks are a superblock.
 *
 * A superblock has a block of each plane of a set at most, all of one
 * open_index().  A plane that opens a block joins the newest superblock of its
 * set, or begins one if it is in that already.  So blocks that are allocated in
 * step are in one superblock, a bad block is replaced by any block of its
 * plane, and a plane that lags behind catches up (as the superblocks that
 * firmware puts together by a table, not those of fixed block numbers).
 *
 * Its blocks are linked in a ring.  A block leaves it when it is erased.  One
 * that is retired leaves it, too, unless the superblock has parity (parity.c):
 * the others need its pages as long as they hold data.
 *
 * Spare areas name the superblock, so recovery finds it again, unless nothing
 * of a block is intact.  Knows nothing of the data, nor of which superblock is
 * emptied.
 */
#include "media/superblock.h"

#include "check.h"
#include "media/media.h"
#include "media/parity.h"

/* The planes of the die that begins at that position of ftl.stripe, if it is of
 * the group: how many planes there are then. */
static uint32_t add_die(Ssd *ssd, uint32_t group, uint32_t pos, uint32_t n)
{
    Superblocks *s = &ssd->media->superblocks;
    uint32_t first = ssd->media->stripe_plane[pos];

    if (first % ssd->geo->planes_per_die != 0 ||
        plane_group(ssd, first) != group) {
        return n;
    }
    for (uint32_t i = 0; i < ssd->geo->planes_per_die; i++) {
        s->place[first + i] = n;
        s->plane[n++] = first + i;
    }
    return n;
}

/* The planes of a set follow each other: those of a die, dies in the order of
 * ftl.stripe, and one reclaim group (fdp.groups) after the other. */
static void order_planes(Ssd *ssd)
{
    Superblocks *s = &ssd->media->superblocks;
    uint32_t n = 0;

    s->plane = g_new(uint32_t, ssd->l.n_planes);
    s->place = g_new(uint32_t, ssd->l.n_planes);
    for (uint32_t group = 0; group < ssd->l.n_groups; group++) {
        for (uint32_t pos = 0; pos < ssd->l.n_planes; pos++) {
            n = add_die(ssd, group, pos, n);
        }
    }
    invariant(n == ssd->l.n_planes);
}

void superblocks_init(Ssd *ssd)
{
    Superblocks *s = &ssd->media->superblocks;
    uint32_t n = ssd->l.n_planes * ssd->l.n_open;

    invariant(!s->plane && ssd->l.n_planes % ssd->l.set_planes == 0);
    order_planes(ssd);
    if (!superblocks_are_on(ssd)) {
        return;
    }
    s->serial = g_new0(uint32_t, n);
    s->newest = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        s->newest[i] = NONE;
    }
    s->next = g_new(uint32_t, ssd->geo->n_blocks);
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        s->next[b] = b;
    }
}

void superblocks_destroy(Ssd *ssd)
{
    Superblocks *s = &ssd->media->superblocks;

    g_free(s->plane);
    g_free(s->place);
    g_free(s->serial);
    g_free(s->newest);
    g_free(s->next);
}

/* ---- members ------------------------------------------------------------- */

/* The superblock that the plane's next block belongs to. */
static uint32_t next_serial(const Ssd *ssd, uint32_t plane, uint32_t open)
{
    const uint32_t *planes = superblock_planes(ssd, superblock_set(ssd, plane));
    uint32_t newest = 0;

    for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
        newest = MAX(newest, superblock_newest(ssd, planes[i], open));
    }
    return newest + (superblock_newest(ssd, plane, open) == newest);
}

/* A block of the set in that superblock; NONE: there is none. */
static uint32_t member(const Ssd *ssd, uint32_t plane, uint32_t open,
                       uint32_t serial)
{
    const uint32_t *planes = superblock_planes(ssd, superblock_set(ssd, plane));

    for (uint32_t i = 0; i < ssd->l.set_planes; i++) {
        uint32_t with = superblock_newest_block(ssd, planes[i], open);

        if (with != NONE && superblock_newest(ssd, planes[i], open) == serial) {
            return with;
        }
    }
    return NONE;
}

void superblock_opened(Ssd *ssd, uint32_t block, uint32_t open)
{
    Superblocks *s = &ssd->media->superblocks;
    uint32_t plane = block_plane(ssd, block);
    uint32_t own = plane * ssd->l.n_open + open;
    uint32_t serial;
    uint32_t with;

    /* With parity, pages that have none are of no superblock. */
    if (!superblocks_are_on(ssd) || nand_block_is_slc(ssd->geo, block) ||
        (ssd->l.parity_dies && !parity_is_in(ssd, open))) {
        return;
    }
    invariant(s->next[block] == block && open < ssd->l.n_open);
    parity_opened(ssd, block);
    serial = next_serial(ssd, plane, open);
    with = member(ssd, plane, open, serial);
    s->serial[own] = serial;
    s->newest[own] = block;
    if (with != NONE) {
        s->next[block] = s->next[with];
        s->next[with] = block;
        ssd->media->index->joined(ssd, block);
    }
}

static void leave(Ssd *ssd, uint32_t block)
{
    Superblocks *s = &ssd->media->superblocks;
    uint32_t first = block_plane(ssd, block) * ssd->l.n_open;
    uint32_t other = superblock_next(ssd, block);
    uint32_t b = block;

    while (s->next[b] != block) {
        b = s->next[b];
    }
    s->next[b] = s->next[block];
    s->next[block] = block;
    for (uint32_t i = first; i < first + ssd->l.n_open; i++) {
        if (s->newest[i] == block) {
            s->newest[i] = NONE;
        }
    }
    ssd->media->index->left(ssd, block, other);
}

void superblock_erasing(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    if (superblocks_are_on(ssd)) {
        parity_erasing(ssd, block);
        leave(ssd, block);
    }
}

void superblock_retired(Ssd *ssd, uint32_t block)
{
    invariant(ssd->media->block[block].state == BLOCK_BAD);
    if (superblocks_are_on(ssd) && ssd->l.parity_dies) {
        ssd->media->index->left(ssd, block, superblock_next(ssd, block));
    } else if (superblocks_are_on(ssd)) {
        leave(ssd, block);
    }
}

void superblock_unnamed(Ssd *ssd, uint32_t block)
{
    invariant(ssd->media->block[block].state == BLOCK_LOST);
    if (superblocks_are_on(ssd) && !ssd->l.parity_dies) {
        leave(ssd, block);
    }
}

/* ---- checks -------------------------------------------------------------- */

/* May a block in that state have others? */
static bool has_others(const Ssd *ssd, uint32_t block)
{
    BlockState state = ssd->media->block[block].state;

    return state != BLOCK_FREE && state != BLOCK_ERASING &&
           (state != BLOCK_BAD || ssd->l.parity_dies);
}

/* A ring of few blocks, one of a plane. */
static bool check_ring(const Ssd *ssd, uint32_t block, GError **error)
{
    const uint32_t *next = ssd->media->superblocks.next;
    uint32_t plane = block_plane(ssd, block);
    uint32_t left = ssd->l.set_planes;
    uint32_t b = block;

    do {
        b = next[b];
        CHECK(b < ssd->geo->n_blocks && left-- > 0 &&
                  superblock_set(ssd, block_plane(ssd, b)) ==
                      superblock_set(ssd, plane) &&
                  (b == block || block_plane(ssd, b) != plane),
              "block %u: the other blocks of its superblock", block);
    } while (b != block);
    CHECK(next[block] == block || has_others(ssd, block),
          "block %u: free, bad or being erased, but of a superblock", block);
    return true;
}

bool superblocks_check(const Ssd *ssd, GError **error)
{
    const Superblocks *s = &ssd->media->superblocks;

    for (uint32_t b = 0; superblocks_are_on(ssd) && b < ssd->geo->n_blocks;
         b++) {
        if (!check_ring(ssd, b, error)) {
            return false;
        }
    }
    for (uint32_t i = 0;
         superblocks_are_on(ssd) && i < ssd->l.n_planes * ssd->l.n_open; i++) {
        CHECK(s->newest[i] == NONE ||
                  (s->newest[i] < ssd->geo->n_blocks &&
                   block_plane(ssd, s->newest[i]) == i / ssd->l.n_open),
              "plane %u: block %u of its newest superblock", i / ssd->l.n_open,
              s->newest[i]);
    }
    return true;
}
