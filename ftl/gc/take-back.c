/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * take-back.c - a plane without a free block gets one.
 *
 * Knows victims that are not erased yet, and their copies; does not know how the
 * plane came to be without.
 */
#include "gc/gc.h"
#include "inspect/oplog.h"
#include "journal/saved.h"
#include "map/map.h"
#include "media/media.h"
#include "media/owned.h"
#include "media/spare.h"
#include "media/victims.h"
#include "ssd-internal.h"

/* The copy of the unit that the map leads to is in the block, and ppu holds
 * the same version of it. */
static bool is_original(const Ssd *ssd, uint64_t ppu, uint32_t block)
{
    uint64_t entry;

    invariant(ppu < ssd->l.raw_units);
    if (numtable_get(&ssd->media->spare_lpn, ppu) == SPARE_NONE ||
        unit_is_valid(ssd, ppu) || !ssd->media->spare_version) {
        return false;
    }
    entry = map_nand_entry(ssd, spare_lpn(ssd, ppu));
    return entry && ppu_block(ssd, entry - 1) == block &&
           unit_version(ssd, entry - 1) == unit_version(ssd, ppu);
}

static bool may_discard(const Ssd *ssd, uint32_t block)
{
    return block != NONE && !block_has_failed(ssd, block) &&
           (block_state(ssd, block) == BLOCK_OPEN ||
            block_state(ssd, block) == BLOCK_FULL);
}

/*
 * A power cut may tear so many pages of the block that GC had opened
 * last that the rest of its victim does not fit any more.  While a plane has no
 * free block, whatever that block holds came from victims that are not erased
 * yet: let the map lead to the originals again (or to any copy that is alike),
 * and erase the block.  So every return of power finds a free block in each
 * plane, however often it goes. GC that runs out of room makes use of it, too.
 *
 * Where blocks may go bad, the block may be one, or an original may be in one:
 * then the plane stays as it is, and the drive turns read-only.
 */
void gc_take_back(Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);
    uint32_t first = plane * ssd->geo->blocks_per_plane;

    invariant(p->free.n == 0 && p->erases == 0);
    invariant(ssd->gc->plane[plane].victim == NONE);
    invariant(plane < ssd->l.n_planes);
    if (p->last_gc_block == NONE || /* of a saved state that somebody made */
        ((media_may_fail(ssd) || saves(ssd)) &&
         !may_discard(ssd, p->last_gc_block))) {
        media_set_read_only(ssd);
        return;
    }
    for (uint32_t i = 0; i < ssd->geo->blocks_per_plane; i++) {
        uint64_t ppu = block_ppu(ssd, first + i);
        uint32_t n = nand_next_page(ssd->nand, first + i)
                     << ssd->page_units_shift;

        for (; block_state(ssd, first + i) == BLOCK_FULL && n > 0; n--, ppu++) {
            if (is_original(ssd, ppu, p->last_gc_block)) {
                oplog_add(ssd->inspect.log, OPLOG_TAKE_BACK, 0,
                          spare_lpn(ssd, ppu), ssd->now_ps, 0, ppu);
                map_move(ssd, map_nand_entry(ssd, spare_lpn(ssd, ppu)) - 1,
                         ppu);
            }
        }
    }
    if (block_valid(ssd, p->last_gc_block) == 0) {
        block_discard(ssd, p->last_gc_block);
    } else {
        invariant(media_may_fail(ssd) || saves(ssd) ||
                  !ssd->media->spare_version);
        media_set_read_only(ssd);
    }
}
