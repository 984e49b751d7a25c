/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bad-blocks.c - how many good blocks each plane has left.
 *
 * Knows the loss of capacity by bad blocks, and when the drive is read-only.
 * power/failures.c handles failed operations.
 */
#include "media/bad-blocks.h"
#include "media/life.h"
#include "media/media.h"
#include "media/victims.h"
#include "ssd-internal.h"

/*
 * As layout_gc() in ssd-layout.c, for the spare blocks that are left.
 * Where a block in SLC mode may be emptied and a program may fail meanwhile,
 * the host leaves two blocks more than the layout knows of (plane_reserve()):
 * they come out of the slack, and the marks of GC are above them.
 */
void plane_size(Ssd *ssd, uint32_t plane)
{
    Plane *p = &ssd->media->plane[plane];
    uint32_t spare = MAX(p->spare_blocks, ssd->l.min_spare_blocks);
    uint32_t more = ssd->media->may_fail && ssd->geo->slc_blocks > 0 ? 2 : 0;
    uint32_t slack_blocks = (spare - ssd->l.busy_blocks - more) / 2;
    uint32_t most = spare - (ssd->l.busy_blocks - 1) - slack_blocks;
    uint32_t low = ssd->l.gc_low_blocks;
    uint32_t high = ssd->l.gc_high_blocks;

    invariant(spare >= ssd->l.busy_blocks + more);
    invariant(plane < ssd->l.n_planes);
    if (more > 0) {
        low = MAX(low, ssd->l.gc_free_blocks + more);
        high = MAX(high, low + 1);
    }
    p->slack_units = (uint64_t)slack_blocks * ssd->l.data_units;
    p->gc_high_blocks = MIN(high, most);
    p->gc_soft_blocks = MIN(ssd->l.gc_soft_blocks, most);
    p->gc_low_blocks = MIN(low, p->gc_high_blocks - 1);
    invariant(p->gc_low_blocks < p->gc_high_blocks);
}

bool bad_enough_left(const Ssd *ssd, GError **error)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (ssd->media->plane[i].spare_blocks < ssd->l.min_spare_blocks) {
            g_set_error(error, OPT_ERROR, OPT_ERROR_COMBINATION,
                        "media.factory_bad=%.4g%%: leaves plane %u with %u "
                        "spare blocks, at least %u are needed (more "
                        "ftl.op_percent, or another seed)",
                        ssd->cfg->nand.factory_bad_ppm / 1e4, i,
                        ssd->media->plane[i].spare_blocks,
                        ssd->l.min_spare_blocks);
            return false;
        }
    }
    return true;
}

bool bad_lose_block(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);
    bool was_read_only = ssd->media->read_only;

    invariant(ssd->media->may_fail && ssd->media->block[block].bad);
    invariant(block < ssd->geo->n_blocks);
    ssd->media->n_grown_bad++;
    block_count_lost(ssd, block);
    plane_size(ssd, plane);
    if (ssd->media->plane[plane].spare_blocks < ssd->l.min_spare_blocks) {
        ssd->media->read_only = true;
    }
    return was_read_only;
}

void block_count_lost(Ssd *ssd, uint32_t block)
{
    Plane *p = &ssd->media->plane[block_plane(ssd, block)];

    invariant(block < ssd->geo->n_blocks);
    if (!nand_block_is_cache(ssd->geo, block) && !saved_has_block(ssd, block)) {
        p->spare_blocks -= MIN(p->spare_blocks, 1);
    }
}
