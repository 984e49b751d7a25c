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
#include "media/life.h"
#include "media/media.h"
#include "media/parity.h"
#include "media/row.h"
#include "media/spare.h"
#include "outside.h"
#include "placement/placement.h"
#include "ssd-internal.h"

/* The tables say where the units are. */
static void store_run(Ssd *ssd, uint64_t lpn, uint64_t ppu, uint32_t n)
{
    numtable_count_up(&ssd->l2p.entry, lpn, n, ppu + 1);
    spare_write_lpns(ssd, ppu, lpn, n);
    block_set_valid_run(ssd, ppu, n);
}

/* The map holds something of these. */
static void note_used(Ssd *ssd, uint64_t lpn, uint64_t n)
{
    unsigned shift = ssd->l2p.group_shift;

    for (uint64_t g = lpn >> shift; g <= (lpn + n - 1) >> shift; g++) {
        l2p_note_used(&ssd->l2p, g << shift);
    }
    ssd->l2p.mapped_units += n;
}

/* Units of the host become the next physical ones. */
static void put_run(Ssd *ssd, uint64_t lpn, uint64_t ppu, uint32_t n)
{
    for (uint32_t i = 0; ssd->inspect.log && i < n; i++) {
        oplog_add(ssd->inspect.log, OPLOG_PRELOAD, 0, lpn + i, ssd->now_ps, 0,
                  ppu + i);
    }
    note_used(ssd, lpn, n);
    if (ssd->l.n_groups > 1) {
        memset(&ssd->media->spare_stream[ppu],
               (int)(plane_group(ssd, block_plane(ssd, ppu_block(ssd, ppu))) *
                     ssd->l.n_handles),
               n);
    }
    if (ssd->preloaded.on && preloaded_take(&ssd->preloaded, lpn, ppu, n)) {
        block_count_preloaded(ssd, ppu_block(ssd, ppu), n);
    } else {
        store_run(ssd, lpn, ppu, n);
    }
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

/* The first unit of the next program.  Parity takes no time, also that of a row
 * which some planes leave out. */
static uint64_t preload_program(Ssd *ssd, uint64_t lpn)
{
    uint64_t ppu;

    parity_instant(ssd, true);
    ppu = preload_page(ssd, lpn);
    if (!ssd->preloaded.on) { /* else the block was never written */
        spare_blank(ssd, ppu, ssd->l.units_per_program);
    }
    if (parity_is_on(ssd)) {
        ssd_settle(ssd);
    }
    parity_instant(ssd, false);
    return ppu;
}

/* The physical unit for the next preloaded unit. */
static uint64_t preload_take(Ssd *ssd, uint64_t lpn)
{
    Media *m = ssd->media;

    if (m->preload_left == 0) {
        m->preload_next = preload_program(ssd, lpn);
        m->preload_left = ssd->l.units_per_program;
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

/* Units of one program, at this die's plane among those that are dealt out
 * from lpn on. */
static void put_dealt(Ssd *ssd, const RowDeal *d, uint64_t lpn, uint32_t die,
                      uint32_t plane)
{
    uint32_t n = ssd->l.units_per_page;
    uint64_t ppu = preload_program(ssd, lpn);

    for (uint32_t page = 0; page < d->pages; page++) {
        put_run(ssd, lpn + (uint64_t)row_dealt_page(d, die, plane, page) * n,
                ppu + (uint64_t)page * n, n);
    }
}

/* Units from lpn on, none of which is there, are laid over the dies as the
 * host's are (buffer/deal.c).  How many; 0: too few for a row. */
static uint64_t preload_rows(Ssd *ssd, uint64_t lpn, uint64_t last)
{
    uint64_t row_units = ssd->l.deal_units;
    uint64_t most = ssd->l.deal_rows * row_units;
    const MapPolicy *map = ssd->map->policy;
    const Media *m = ssd->media;
    uint64_t rows;
    RowDeal d;

    if (most == 0 || m->preload_left > 0 || map->own_blocks || map->aged) {
        return 0;
    }
    rows = numtable_zeroes(&ssd->l2p.entry, lpn, MIN(most, last + 1 - lpn)) /
           row_units;
    d = row_deal(ssd, (uint32_t)rows);
    for (uint32_t die = 0; die < d.dies; die++) {
        for (uint32_t plane = 0; plane < d.planes; plane++) {
            put_dealt(ssd, &d, lpn, die, plane);
        }
    }
    return rows * row_units;
}

/* Periods that the plane's open block and share have room for, of most; one
 * program more is left for both. */
static uint64_t plane_periods(const Ssd *ssd, uint32_t plane, uint64_t most)
{
    const Preloaded *p = &ssd->preloaded;
    const Open *o = &plane_at(ssd, plane)->open[open_index(ssd, OPEN_GC, 0)];
    uint64_t units = (uint64_t)o->next_page * ssd->l.units_per_page;
    uint64_t n;

    if (o->block == NONE || units != p->filled[o->block]) {
        return 0;
    }
    n = (p->block_units - units - ssd->l.units_per_program) / p->plane_units;
    n = MIN(n, most);
    while (n > 0 && plane_has_share(ssd, plane, (n + 1) * p->plane_units)) {
        n--;
    }
    return n;
}

/* One from outside may do anything. */
static bool order_is_ours(const Ssd *ssd)
{
    const Outside *alloc = ssd->outside[VSSD_POLICY_ALLOC];

    return !alloc || !alloc->from;
}

/* Whole periods from lpn on, of which no program changes more than how far the
 * blocks are filled.  How many units; 0: look at each. */
static uint64_t preload_periods(Ssd *ssd, uint64_t lpn, uint64_t last)
{
    Preloaded *p = &ssd->preloaded;
    const Media *m = ssd->media;
    uint32_t open = open_index(ssd, OPEN_GC, 0);
    uint64_t n;

    if (!preloaded_repeats(p, lpn) || m->preload_left > 0 || ssd->inspect.log ||
        !order_is_ours(ssd)) {
        return 0;
    }
    n = (last + 1 - lpn) / p->period_units;
    for (uint32_t i = 0; i < ssd->l.n_planes && n > 0; i++) {
        n = plane_accepts(ssd, i) ? plane_periods(ssd, i, n) : 0;
    }
    for (uint32_t i = 0; i < ssd->l.n_planes && n > 0; i++) {
        preloaded_skip(p, plane_at(ssd, i)->open[open].block, (uint32_t)n);
        block_preload(ssd, i, open, (uint32_t)n * ssd->l.preload_programs);
    }
    if (n > 0) {
        preloaded_skipped(p, (uint32_t)n);
        note_used(ssd, lpn, n * p->period_units);
    }
    return n * p->period_units;
}

/* The first preload of a large drive: its places are computed.  All of it, but
 * stored: the tables will be used. */
static void preload_begin(Ssd *ssd, uint64_t lpn, uint64_t last)
{
    Preloaded *p = &ssd->preloaded;

    if (p->wanted && !p->on && ssd->l2p.mapped_units == 0) {
        preloaded_begin(ssd, lpn);
        spare_computed(ssd);
    } else if (!p->on && last - lpn >= ssd->l.user_units / 2) {
        ssd_expect_full(ssd);
    }
}

int ssd_preload(Ssd *ssd, uint64_t lba, uint64_t nblocks)
{
    const MapPolicy *map = ssd->map->policy;
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
    preload_begin(ssd, lba >> ssd->block_shift, last);
    for (uint64_t lpn = lba >> ssd->block_shift; lpn <= last; lpn++) {
        uint64_t many = preload_periods(ssd, lpn, last);
        uint64_t ppu;
        uint32_t more;

        many = many > 0 ? many : preload_rows(ssd, lpn, last);
        if (many > 0) {
            lpn += many - 1;
            continue;
        }
        if (l2p_get(&ssd->l2p, lpn)) {
            continue;
        }
        ppu = map->own_blocks ? map->own_blocks->preload(ssd, lpn)
                              : preload_take(ssd, lpn);
        more = preload_more(ssd, lpn + 1, last);
        put_run(ssd, lpn, ppu, 1 + more);
        if (map->aged) {
            map->aged(ssd, lpn, false);
        }
        lpn += more;
    }
    if (saves(ssd)) {
        meta_preloaded(ssd);
    }
    return 0;
}
