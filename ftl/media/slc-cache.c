/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slc-cache.c - the policy of the SLC cache (docs/slc-cache.md).
 *
 * The static part are the blocks of nand.slc_blocks, which are always in SLC
 * mode.  The dynamic part are other free blocks that the host opens in SLC
 * mode: up to ftl.slc_dynamic of a plane, up to ftl.slc_share of the blocks
 * that hold nothing in the native mode, and none of a drive whose capacity is
 * all there in the native mode: then the blocks above it are GC's.  So the
 * cache becomes smaller as the drive fills.  The limit is for new blocks: those
 * that the cache has above it stay until GC needs their room, or they are
 * folded for another reason.
 *
 * Room: a dynamic block is taken only while more blocks are free than GC frees
 * (ftl.gc_high), so GC's guarantees (block.c) hold: emptying a dynamic block
 * takes at most one block in two and gives back one, as for any other victim.
 *
 * With rows (superblock.row, streams with nand.multi_plane) all planes of a row
 * open blocks of one mode, so that they stay in step.
 *
 * Knows how much there is; which block is emptied, and how, is gc/'s business.
 */
#include "media/slc-cache.h"

#include "media/media.h"
#include "media/row.h"

/* Blocks of the plane, times the share of its part of the user capacity that
 * has no data in the native mode.  All that is in the cache is taken to be
 * valid. */
static uint64_t slc_by_capacity(const Ssd *ssd, const Plane *p)
{
    uint64_t part = MAX(ssd->l.user_units / ssd->l.n_planes, 1);
    uint64_t blocks = p->n_slc + ssd->geo->slc_blocks -
                      MIN(ssd->geo->slc_blocks, p->slc_free.n);
    uint64_t cached = blocks * ssd->geo->slc_pages * ssd->l.units_per_page;
    uint64_t native = p->valid - MIN(p->valid, p->meta_valid + cached);

    return (part - MIN(part, native)) * ssd->geo->blocks_per_plane / part;
}

uint32_t slc_limit(const Ssd *ssd, const Plane *p)
{
    uint64_t room = p->free.n + p->n_slc;

    if (ssd->l.slc_dynamic_blocks == 0) {
        return 0;
    }
    room -= MIN(room, p->gc_high_blocks);
    room = room * ssd->cfg->slc_share_ppm / 1000000;
    room = MIN(room, ssd->l.slc_dynamic_blocks);
    return (uint32_t)MIN(room, slc_by_capacity(ssd, p));
}

/* Dynamic blocks that the plane can still open. */
static uint32_t dynamic_left(const Ssd *ssd, const Plane *p, uint32_t limit)
{
    uint32_t least = MAX(plane_reserve(ssd, p), p->gc_high_blocks);
    uint32_t left = limit - MIN(limit, p->n_slc);

    return MIN(left, p->free.n - MIN(p->free.n, least));
}

uint32_t slc_left(const Ssd *ssd, const Plane *p)
{
    return p->slc_free.n + dynamic_left(ssd, p, slc_limit(ssd, p));
}

/* Another plane of the row has just begun a block for the stream: +1 in SLC
 * mode, -1 in the other; 0: none has. */
static int mode_of_row(const Ssd *ssd, const uint32_t *row, uint32_t stream)
{
    for (uint32_t i = 0; i < ssd->l.row_planes; i++) {
        const Open *o =
            &ssd->media->plane[row[i]].open[open_index(ssd, OPEN_HOST, stream)];

        if (o->block != NONE &&
            o->next_page <= nand_block_pages(ssd->geo, o->block) / 2) {
            return nand_block_is_slc(ssd->geo, o->block) ? 1 : -1;
        }
    }
    return 0;
}

static bool row_opens_slc(const Ssd *ssd, uint32_t plane, uint32_t stream)
{
    bool in_step = ssd->l.slc_dynamic_blocks || ssd->l.parity_dies;
    const uint32_t *row =
        in_step && ssd->l.row_planes > 1 ? row_of(ssd, plane) : NULL;
    int mode = row ? mode_of_row(ssd, row, stream) : 1;

    for (uint32_t i = 0; mode == 0 && i < ssd->l.row_planes; i++) {
        mode = slc_left(ssd, &ssd->media->plane[row[i]]) > 0 ? 0 : -1;
    }
    return mode >= 0;
}

/* Where the host waits for folding, the plane accepted a page while a block was
 * left; folding may have lowered the limit since then. */
static bool has_left(const Ssd *ssd, const Plane *p)
{
    uint32_t accepted = ssd->cfg->slc_when_full == SSD_SLC_FOLD &&
                        ssd->l.slc_dynamic_blocks > 0;

    return p->slc_free.n > 0 ||
           dynamic_left(ssd, p, slc_limit(ssd, p) + accepted) > 0;
}

bool slc_opens(const Ssd *ssd, uint32_t plane, uint32_t stream)
{
    const Plane *p = &ssd->media->plane[plane];

    invariant(plane < ssd->l.n_planes && stream < ssd->l.n_streams);
    if (!slc_has_stream(ssd, stream) || ssd->media->parity.instant) {
        return false;
    }
    return has_left(ssd, p) && (row_opens_slc(ssd, plane, stream) ||
                                p->free.n <= plane_reserve(ssd, p));
}

/* ---- folding ------------------------------------------------------------- */

bool slc_wants_fold(const Ssd *ssd, const Plane *p)
{
    uint32_t limit;
    uint64_t all;
    uint64_t left;

    if (ssd->cfg->slc_fold_at_ppm == 0) {
        return false;
    }
    limit = slc_limit(ssd, p);
    all = ssd->geo->slc_blocks + limit;
    left = p->slc_free.n + dynamic_left(ssd, p, limit);
    return left * 1000000 < all * ssd->cfg->slc_fold_at_ppm;
}

uint32_t slc_oldest(const Ssd *ssd, const Plane *p)
{
    uint32_t block = p->n_slc > 0 ? p->slc_full.head : NONE;

    while (block != NONE && nand_block_is_cache(ssd->geo, block)) {
        block = ssd->media->block[block].next;
    }
    return block;
}

bool slc_holds_host(const Ssd *ssd, const Plane *p)
{
    return ssd->cfg->slc_when_full == SSD_SLC_FOLD && ssd->geo->has_slc &&
           slc_left(ssd, p) == 0 &&
           ssd->geo->slc_blocks + slc_limit(ssd, p) > 0;
}

SlcSize slc_size(const Ssd *ssd)
{
    uint64_t bytes = (uint64_t)ssd->geo->slc_pages * ssd->geo->page_bytes;
    SlcSize s = {0};

    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        const Plane *p = &ssd->media->plane[i];

        s.size += (ssd->geo->slc_blocks + slc_limit(ssd, p)) * bytes;
        s.used += (ssd->geo->slc_blocks -
                   MIN(ssd->geo->slc_blocks, p->slc_free.n) + p->n_slc) *
                  bytes;
        s.left += slc_left(ssd, p) * bytes;
    }
    return s;
}
