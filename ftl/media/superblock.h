/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock.h - blocks that were opened as one, at most one of each plane of a
 * set (superblock.c).  Without superblock.width each block is one by itself.
 */
#ifndef VSSD_FTL_SUPERBLOCK_H
#define VSSD_FTL_SUPERBLOCK_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

void superblocks_init(Ssd *ssd);
void superblocks_destroy(Ssd *ssd);

/* Do blocks of several planes belong together?  Else each is by itself, and
 * superblock_newest() and superblock_newest_block() know nothing. */
static inline bool superblocks_are_on(const Ssd *ssd)
{
    return ssd->l.set_planes > 1;
}

/* ---- sets of planes ------------------------------------------------------ */

static inline uint32_t superblock_sets(const Ssd *ssd)
{
    return ssd->l.n_planes / ssd->l.set_planes;
}

/* The set that the plane is of. */
static inline uint32_t superblock_set(const Ssd *ssd, uint32_t plane)
{
    return ssd->media->superblocks.place[plane] / ssd->l.set_planes;
}

/* Its planes, l.set_planes of them. */
static inline const uint32_t *superblock_planes(const Ssd *ssd, uint32_t set)
{
    return &ssd->media->superblocks.plane[set * ssd->l.set_planes];
}

/* ---- superblocks as a whole ---------------------------------------------- */

/* Does a superblock need the pages of all its blocks as long as one of them
 * holds data?  Then they are erased when all are empty. */
static inline bool superblock_is_whole(const Ssd *ssd)
{
    return ssd->l.parity_dies > 0;
}

/* ---- members ------------------------------------------------------------- */

/* The next block of its superblock that is not BAD, round; the block itself if
 * there is no other. */
static inline uint32_t superblock_next(const Ssd *ssd, uint32_t block)
{
    const uint32_t *next = ssd->media->superblocks.next;
    uint32_t b = block;

    if (!superblocks_are_on(ssd)) {
        return block;
    }
    do {
        b = next[b];
    } while (b != block && ssd->media->block[b].state == BLOCK_BAD);
    return b;
}

/* The newest superblock of the plane and open_index(), as a number that counts
 * those of the set; with a block of the plane or without. */
static inline uint32_t superblock_newest(const Ssd *ssd, uint32_t plane,
                                         uint32_t open)
{
    return ssd->media->superblocks.serial[plane * ssd->l.n_open + open];
}

/* The plane's block in it, or NONE. */
static inline uint32_t superblock_newest_block(const Ssd *ssd, uint32_t plane,
                                               uint32_t open)
{
    return ssd->media->superblocks.newest[plane * ssd->l.n_open + open];
}

/* A block has been opened; is about to be erased. */
void superblock_opened(Ssd *ssd, uint32_t block, uint32_t open);
void superblock_erasing(Ssd *ssd, uint32_t block);

/* It has been retired. */
void superblock_retired(Ssd *ssd, uint32_t block);

/* Recovery has found nothing in it that says of which superblock it was. */
void superblock_unnamed(Ssd *ssd, uint32_t block);

bool superblocks_check(const Ssd *ssd, GError **error);

#endif
