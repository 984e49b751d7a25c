/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reset.c - the reset of a zone: a TRIM that ends when the blocks that it
 * leaves empty are erased.
 *
 * Before that the drive records it, and clears entries of the map
 * (zones.reset_record, zones.reset_unit).
 *
 * Knows which blocks held units of the range, and which command waits for the
 * erase of each.  gc/ erases an empty block of a zoned drive at once; the
 * erases of several planes run in parallel.  Where programs fail, a block
 * may also hold units of another zone: the command does not wait for that.
 */
#include "map/reset.h"

#include "bitmap.h"
#include "commands.h"
#include "lazymem.h"
#include "map/map.h"
#include "media/media.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "placement/streams.h"
#include "wake.h"

void reset_init(Ssd *ssd)
{
    if (ssd->l.n_zones > 0) {
        ssd->map->reset_of = lazy_new(uint32_t, ssd->geo->n_blocks);
        ssd->map->resets = g_new0(uint32_t, ssd->l.n_planes);
    }
}

void reset_destroy(Ssd *ssd)
{
    if (ssd->map->reset_of) {
        lazy_free(ssd->map->reset_of, ssd->geo->n_blocks,
                  sizeof(*ssd->map->reset_of));
        g_free(ssd->map->resets);
    }
}

void reset_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    if (ssd->map->reset_of) {
        lazy_clear(ssd->map->reset_of, ssd->geo->n_blocks,
                   sizeof(*ssd->map->reset_of));
        memset(ssd->map->resets, 0, ssd->l.n_planes * sizeof(uint32_t));
    }
}

static void note(Ssd *ssd, uint32_t cmd, uint32_t block)
{
    if (ssd->map->reset_of[block] == 0) {
        ssd->map->reset_of[block] = cmd + 1;
        ssd->map->resets[block_plane(ssd, block)]++;
        ssd->commands.cmd[cmd].pending++;
    }
}

static void forget(Ssd *ssd, uint32_t block)
{
    uint32_t plane = block_plane(ssd, block);

    invariant(ssd->map->resets[plane] > 0);
    ssd->map->reset_of[block] = 0;
    ssd->map->resets[plane]--;
}

uint64_t reset_before_ps(const Ssd *ssd, const SsdCmd *r)
{
    uint64_t first = r->lba >> ssd->block_shift;
    uint64_t end = (r->lba + r->nblocks) >> ssd->block_shift;
    uint64_t held = 0;

    for (uint64_t lpn = first; ssd->cfg->t_zone_unit_ps && lpn < end; lpn++) {
        held += l2p_get(&ssd->l2p, lpn) != 0;
    }
    return ssd->cfg->t_zone_record_ps + held * ssd->cfg->t_zone_unit_ps;
}

void reset_begin(Ssd *ssd, uint32_t cmd, uint64_t first, uint64_t end)
{
    uint32_t stream = ssd->commands.cmd[cmd].req.stream;

    invariant(ssd->commands.cmd[cmd].pending == 0);
    ssd->commands.cmd[cmd].pending = 1; /* until all is unmapped */
    for (uint64_t lpn = first; lpn < end; lpn++) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        if (entry && !map_is_buffered(entry)) {
            note(ssd, cmd, ppu_block(ssd, entry - 1));
        }
    }
    for (uint32_t i = 0; stream < ssd->l.n_streams && i < ssd->l.n_planes;
         i++) {
        uint32_t block = plane_at(ssd, i)->open[stream].block;

        if (block != NONE) {
            note(ssd, cmd, block);
        }
    }
}

static void finish(Ssd *ssd, uint32_t cmd)
{
    cmd_account(ssd, &ssd->commands.cmd[cmd], COST_die_wait);
    cmd_finish(ssd, cmd, SSD_STATUS_OK);
}

static void let_go(Ssd *ssd, uint32_t block)
{
    uint32_t cmd = ssd->map->reset_of[block] - 1;

    forget(ssd, block);
    invariant(ssd->commands.cmd[cmd].pending > 0);
    if (--ssd->commands.cmd[cmd].pending == 0) {
        finish(ssd, cmd);
    }
}

bool reset_unmapped(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    if (c->req.stream < ssd->l.n_streams) {
        stream_end(ssd, c->req.stream);
    }
    c->trimmed = true;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (ssd->map->resets[i] > 0) {
            reset_look(ssd, i);
            ssd_wake(ssd, WORK_GC, i);
        }
    }
    invariant(c->pending > 0);
    return --c->pending > 0;
}

void reset_block_gone(Ssd *ssd, uint32_t block)
{
    if (ssd->map->reset_of && ssd->map->reset_of[block]) {
        let_go(ssd, block);
    }
}

/* Will the block be erased without another command?  A victim that GC has not
 * emptied waits for more copies, which may not come; a drive that cannot
 * program has no GC. */
static bool is_waited_for(const Ssd *ssd, const Block *b)
{
    if (b->state == BLOCK_ERASING || b->state == BLOCK_CLOSING) {
        return true;
    }
    return !media_cannot_program(ssd) && b->valid == 0 &&
           (b->state == BLOCK_FULL ||
            (b->state == BLOCK_VICTIM && b->pending == 0));
}

void reset_look(Ssd *ssd, uint32_t plane)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane;
    uint32_t end = first + ssd->geo->blocks_per_plane;

    for (uint32_t b = first; ssd->map->resets[plane] > 0 && b < end; b++) {
        uint32_t of = ssd->map->reset_of[b];

        /* While its units are being unmapped it waits for all of them. */
        if (of && ssd->commands.cmd[of - 1].trimmed &&
            !is_waited_for(ssd, block_at(ssd, b))) {
            let_go(ssd, b);
        }
    }
}

void reset_give_up(Ssd *ssd)
{
    invariant(media_cannot_program(ssd));
    for (uint32_t i = 0; ssd->map->resets && i < ssd->l.n_planes; i++) {
        if (ssd->map->resets[i] > 0) {
            reset_look(ssd, i);
        }
    }
}
