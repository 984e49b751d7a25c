/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lost-die.c - a die that has failed, in a drive with superblock.parity.
 *
 * When several programs and erases of a die fail one after the other, firmware
 * gives the die up.  No page goes there any more.  All its blocks are bad, so
 * GC empties them: their pages are rebuilt and go to other dies.  Each plane of
 * these takes a larger share of the user capacity, out of its spare blocks; if
 * they have too few, the drive turns read-only, and data is rebuilt as it is
 * read.
 *
 * Knows blocks and room; does not know how a block is emptied.
 */
#include "media/lost-die.h"

#include "inspect/inspect.h"
#include "media/bad-blocks.h"
#include "media/media.h"
#include "media/parity.h"
#include "media/victims.h"
#include "ssd-internal.h"

static uint32_t die_of(const Ssd *ssd, uint32_t plane)
{
    return plane / ssd->geo->planes_per_die;
}

void lost_dies_init(Ssd *ssd)
{
    LostDies *d = &ssd->media->lost_dies;

    invariant(!d->lost);
    if (parity_is_on(ssd)) {
        d->failures = g_new0(uint32_t, ssd->geo->n_dies);
        d->lost = g_new0(uint8_t, ssd->geo->n_dies);
    }
}

void lost_dies_destroy(Ssd *ssd)
{
    g_free(ssd->media->lost_dies.failures);
    g_free(ssd->media->lost_dies.lost);
}

bool lost_die_note(Ssd *ssd, uint32_t plane, bool failed)
{
    LostDies *d = &ssd->media->lost_dies;
    uint32_t die = die_of(ssd, plane);

    invariant(plane < ssd->l.n_planes);
    if (!parity_is_on(ssd)) {
        return false;
    }
    d->failures[die] = failed ? d->failures[die] + 1 : 0;
    return failed && d->failures[die] >= LOST_DIE_FAILURES &&
           !plane_is_lost(ssd, plane);
}

/* No page goes into the block any more. */
static void condemn(Ssd *ssd, uint32_t block)
{
    Block *b = &ssd->media->block[block];
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    if (b->bad) {
        return;
    }
    switch (b->state) {
    case BLOCK_OPEN:
    case BLOCK_CLOSING:
        block_mark_bad(ssd, block);
        if (b->pending == 0) {
            block_make_full(ssd, block);
        }
        break;
    case BLOCK_FULL:
        b->bad = true;
        p->n_retiring++;
        break;
    case BLOCK_VICTIM:
        if (b->valid == 0 && b->pending == 0) {
            return; /* it waits for its erase, which fails */
        }
        b->bad = true;
        break;
    default:
        return;
    }
    ssd->media->n_grown_bad++;
}

/* Units of a plane's share of the capacity, beyond what it was at first. */
static uint64_t more_share(const Ssd *ssd)
{
    uint64_t lost =
        (uint64_t)ssd->media->lost_dies.n * ssd->geo->planes_per_die;
    uint64_t left = ssd->l.n_planes - lost;

    return (ssd->l.user_units + left - 1) / left - ssd->l.share_units;
}

static uint32_t blocks_of(const Ssd *ssd, uint64_t units)
{
    return (uint32_t)((units + ssd->l.data_units - 1) / ssd->l.data_units);
}

/* The planes that are left take over the share of the others. */
static bool take_over(Ssd *ssd, uint32_t blocks)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!plane_is_lost(ssd, i) && ssd->media->plane[i].spare_blocks <
                                          ssd->l.min_spare_blocks + blocks) {
            return false;
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (!plane_is_lost(ssd, i)) {
            ssd->media->plane[i].spare_blocks -= blocks;
            plane_size(ssd, i);
        }
    }
    return true;
}

bool lost_die_begin(Ssd *ssd, uint32_t plane)
{
    LostDies *d = &ssd->media->lost_dies;
    uint32_t planes = ssd->geo->planes_per_die;
    uint32_t first = die_of(ssd, plane) * planes;
    uint64_t before = d->n ? d->more_share : 0;

    invariant(!plane_is_lost(ssd, plane));
    d->lost[die_of(ssd, plane)] = 1;
    d->n++;
    if (d->n == ssd->geo->n_dies) {
        return false;
    }
    if (ssd->media->read_only ||
        !take_over(ssd,
                   blocks_of(ssd, more_share(ssd)) - blocks_of(ssd, before))) {
        return false;
    }
    d->more_share = more_share(ssd);
    d->since_ps = ssd->now_ps - ssd->origin_ps + 1;
    for (uint32_t i = first; i < first + planes; i++) {
        for (uint32_t k = 0; k < ssd->geo->blocks_per_plane; k++) {
            condemn(ssd, i * ssd->geo->blocks_per_plane + k);
        }
    }
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        ssd->media->client->plane_changed(ssd, i);
    }
    return true;
}

void lost_die_emptied(Ssd *ssd, uint32_t plane)
{
    uint32_t planes = ssd->geo->planes_per_die;
    uint32_t first = die_of(ssd, plane) * planes;
    LostDies *d = &ssd->media->lost_dies;

    if (!plane_is_lost(ssd, plane) || d->since_ps == 0) {
        return;
    }
    for (uint32_t i = first; i < first + planes; i++) {
        if (ssd->media->plane[i].valid > 0) {
            return;
        }
    }
    ssd->inspect.count.parity_die_ns +=
        (ssd->now_ps - ssd->origin_ps + 1 - d->since_ps) / PS_PER_NS;
    d->since_ps = 0;
}
