/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload.c - a drive that holds data from the beginning, without modelled
 * time.
 *
 * Knows the place of the first data of a drive: in pages as the host's, which
 * no GC has moved.  Does not know the data.
 */
#include <errno.h>
#include <string.h>

#include "gc/gc.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "journal/journal.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/parity.h"
#include "media/spare.h"
#include "placement/placement.h"
#include "ssd-internal.h"

/* Units of the host become the next physical ones. */
static void put_run(Ssd *ssd, uint64_t lpn, uint64_t ppu, uint32_t n)
{
    unsigned shift = ssd->l2p.group_shift;

    for (uint32_t i = 0; ssd->inspect.log && i < n; i++) {
        oplog_add(ssd->inspect.log, OPLOG_PRELOAD, 0, lpn + i, ssd->now_ps, 0,
                  ppu + i);
    }
    numtable_count_up(&ssd->l2p.entry, lpn, n, ppu + 1);
    for (uint64_t g = lpn >> shift; g <= (lpn + n - 1) >> shift; g++) {
        l2p_note_used(&ssd->l2p, g << shift);
    }
    spare_write_lpns(ssd, ppu, lpn, n);
    if (ssd->l.n_groups > 1) {
        memset(&ssd->media->spare_stream[ppu],
               (int)(plane_group(ssd, block_plane(ssd, ppu_block(ssd, ppu))) *
                     ssd->l.n_handles),
               n);
    }
    ssd->l2p.mapped_units += n;
    block_set_valid_run(ssd, ppu, n);
}

/* A page for preloaded units, as the host's: its first unit. */
static uint64_t preload_page(Ssd *ssd, uint64_t lpn)
{
    uint32_t stream;
    uint32_t plane = alloc_pick_aged(ssd, lpn, &stream);
    uint64_t page;
    uint32_t block;

    invariant(plane != NONE);
    /* Never in SLC mode; rows for parity are those of the host. */
    page = parity_is_on(ssd) ? block_take_page(ssd, plane, OPEN_HOST, stream)
                             : block_take_page(ssd, plane, OPEN_GC, 0);
    for (uint32_t i = 0; i < ssd->l.pages_per_program; i++) {
        oplog_add(ssd->inspect.log, OPLOG_PRELOAD_PAGE, 0, page + i,
                  ssd->now_ps, 0, 0);
        nand_preload_page(ssd->nand, (NandPpa){page + i});
    }
    block = page_block(ssd, page);
    block_page_done(ssd, block);
    refresh_preloaded(ssd, block);
    /* Of what decides whether the plane accepts pages, its valid units alone
     * have changed: what opens or closes a block says so itself. */
    if (plane_has_share(ssd, plane, 0)) {
        plane_update(ssd, plane);
    }
    return page << ssd->page_units_shift;
}

/* The physical unit for the next preloaded unit.  Parity takes no time, also
 * that of a row which some planes leave out. */
static uint64_t preload_take(Ssd *ssd, uint64_t lpn)
{
    Media *m = ssd->media;

    if (m->preload_left == 0) {
        parity_instant(ssd, true);
        m->preload_next = preload_page(ssd, lpn);
        m->preload_left = ssd->l.units_per_program;
        spare_blank(ssd, m->preload_next, m->preload_left);
        if (parity_is_on(ssd)) {
            ssd_settle(ssd);
        }
        parity_instant(ssd, false);
    }
    m->preload_left--;
    return m->preload_next++;
}

/* How many more units from lpn on go behind the one taken: of the same page,
 * and none of them is there.  A map that writes pages of its own wants one by
 * one. */
static uint32_t preload_more(Ssd *ssd, uint64_t lpn, uint64_t last)
{
    Media *m = ssd->media;
    uint32_t n;

    if (ssd->map->policy->own_blocks || ssd->map->policy->aged) {
        return 0;
    }
    n = (uint32_t)numtable_zeroes(&ssd->l2p.entry, lpn,
                                  MIN(m->preload_left, last + 1 - lpn));
    m->preload_left -= n;
    m->preload_next += n;
    return n;
}

int ssd_preload(Ssd *ssd, uint64_t lba, uint64_t nblocks)
{
    const OwnBlocks *own = ssd->map->policy->own_blocks;
    uint64_t last;

    invariant(!ssd->commands.submitted);
    if (nblocks == 0 || lba >= ssd->info.nblocks ||
        nblocks > ssd->info.nblocks - lba) {
        return -EINVAL;
    }
    if (ssd->inspect.recording) {
        recording_preload(ssd->inspect.recording, lba, nblocks);
    }
    last = (lba + nblocks - 1) >> ssd->block_shift;
    for (uint64_t lpn = lba >> ssd->block_shift; lpn <= last; lpn++) {
        uint64_t ppu;
        uint32_t more;

        if (l2p_get(&ssd->l2p, lpn)) {
            continue;
        }
        ppu = own ? own->preload(ssd, lpn) : preload_take(ssd, lpn);
        more = preload_more(ssd, lpn + 1, last);
        put_run(ssd, lpn, ppu, 1 + more);
        if (ssd->map->policy->aged) {
            ssd->map->policy->aged(ssd, lpn, false);
        }
        lpn += more;
    }
    if (saves(ssd)) {
        meta_preloaded(ssd);
    }
    return 0;
}
