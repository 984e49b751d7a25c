/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * purge.c - purge: every block that holds something, valid or not, is emptied
 * and erased, so that no cell keeps data that the host has trimmed.
 *
 * Knows which blocks are still to be erased; gc.c empties them as it does a
 * block that needs a refresh, and erases count as such.  Units that are valid
 * move to other blocks, which the purge leaves alone.  Open blocks are closed
 * at the beginning.
 *
 * Few erases of a plane are under way at a time, so that reads of the host do
 * not wait for seconds.  When a plane has nothing more to read, its last units
 * make a page with padding: their blocks could not be erased otherwise.
 *
 * A block that was retired without an erase, since a program of it had failed,
 * is left out: the drive neither reads nor erases it again.  An erase that
 * fails makes the purge fail; it goes on.  A power cut ends a purge.
 */
#include "gc/purge.h"

#include "bitmap.h"
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "media/media.h"
#include "media/victims.h"
#include "wake.h"

#define MOST_ERASES 2 /* of a plane, under way */

bool purge_is_possible(const Ssd *ssd)
{
    return !ssd->gc->off;
}

uint64_t purge_estimate_ps(const Ssd *ssd)
{
    return (uint64_t)ssd->geo->blocks_per_plane * nand_unit_planes(ssd->nand) *
           ssd->cfg->nand.t_erase_ps;
}

/* The next block of the plane that is still to be erased, from `from` on. */
static uint32_t next_marked(const Ssd *ssd, uint32_t from, uint32_t end)
{
    return (uint32_t)bitmap_next(ssd->gc->purge.mark, from, end);
}

static bool holds_something(const Ssd *ssd, uint32_t block)
{
    switch (block_state(ssd, block)) {
    case BLOCK_FULL:
    case BLOCK_CLOSING:
    case BLOCK_VICTIM:
    case BLOCK_ERASING:
        return true;
    default:
        return false;
    }
}

/* Blocks that nothing was written to yet stay open.  From the last one on,
 * since those set aside take the place of others. */
static void close_open(Ssd *ssd, uint32_t plane)
{
    for (uint32_t k = ssd->l.n_open; k-- > 0;) {
        const Open *o = &plane_at(ssd, plane)->open[k];

        if (o->block != NONE && o->next_page > 0) {
            block_close(ssd, plane, k);
        }
    }
}

void purge_begin(Ssd *ssd)
{
    Purge *p = &ssd->gc->purge;

    invariant(purge_is_possible(ssd) && ssd->powered);
    purge_stop(ssd);
    *p = (Purge){.mark = g_new0(uint64_t, bitmap_words(ssd->geo->n_blocks))};
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        close_open(ssd, i);
        ssd_wake(ssd, WORK_GC, i);
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (holds_something(ssd, b)) {
            bitmap_set(p->mark, b);
            p->left++;
        }
    }
    p->total = p->left;
}

void purge_stop(Ssd *ssd)
{
    g_free(ssd->gc->purge.mark);
    ssd->gc->purge.mark = NULL;
    ssd->gc->purge.left = 0;
}

uint32_t purge_victim(Ssd *ssd, uint32_t plane)
{
    uint32_t b = plane * ssd->geo->blocks_per_plane;
    uint32_t end = b + ssd->geo->blocks_per_plane;

    invariant(plane < ssd->l.n_planes);
    if (!purge_is_on(ssd) ||
        plane_at(ssd, plane)->erases + ssd->gc->plane[plane].held >=
            MOST_ERASES) {
        return NONE;
    }
    b = next_marked(ssd, b, end);
    while (b < end && block_state(ssd, b) != BLOCK_FULL) {
        b = next_marked(ssd, b + 1, end);
    }
    return b < end ? b : NONE;
}

bool purge_is_last(const Ssd *ssd, uint32_t plane)
{
    uint32_t b = plane * ssd->geo->blocks_per_plane;
    uint32_t end = b + ssd->geo->blocks_per_plane;

    invariant(plane < ssd->l.n_planes);
    if (!purge_is_on(ssd)) {
        return false;
    }
    for (b = next_marked(ssd, b, end); b < end;
         b = next_marked(ssd, b + 1, end)) {
        if (block_state(ssd, b) == BLOCK_FULL ||
            block_state(ssd, b) == BLOCK_CLOSING) {
            return false;
        }
    }
    return true;
}

void purge_erased(Ssd *ssd, uint32_t block, bool ok)
{
    Purge *p = &ssd->gc->purge;

    if (!purge_is_on(ssd) || !bitmap_test(p->mark, block)) {
        return;
    }
    invariant(p->left > 0);
    bitmap_clear(p->mark, block);
    p->failed |= !ok;
    p->left--;
}
