/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * logs.c - log blocks of a plane: their records and lists, and where an address
 * belongs.
 *
 * Knows records; which log block a page goes to is hybrid.c's, how one is emptied
 * merge.c's.
 */
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "media/owned.h"
#include "pool.h"
#include "ssd-internal.h"

/* ---- where an address belongs -------------------------------------------- */

LogicalPage logical_place(const Ssd *ssd, uint64_t lpn)
{
    uint32_t n = ssd->l.units_per_program;
    uint64_t program = lpn / n;
    uint32_t plane = ssd->media->stripe_plane[program % ssd->l.n_planes];
    uint64_t in_plane = program / ssd->l.n_planes;
    uint32_t per_block = hybrid_block_programs(ssd);

    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    return (LogicalPage){
        .plane = plane,
        .logical =
            plane * ssd->l.logical_blocks + (uint32_t)(in_plane / per_block),
        .page = (uint32_t)(in_plane % per_block),
        .unit = (uint32_t)(lpn % n),
    };
}

uint64_t logical_lpn(const Ssd *ssd, uint32_t logical, uint32_t page,
                     uint32_t unit)
{
    uint32_t plane = logical / ssd->l.logical_blocks;
    uint64_t in_plane = (uint64_t)(logical % ssd->l.logical_blocks) *
                            hybrid_block_programs(ssd) +
                        page;
    uint64_t program =
        in_plane * ssd->l.n_planes + ssd->media->stripe_pos[plane];
    uint64_t lpn = program * ssd->l.units_per_program + unit;

    invariant(logical < ssd->l.n_planes * ssd->l.logical_blocks);
    return lpn < ssd->l.user_units ? lpn : NO_UNIT;
}

uint64_t hybrid_take_page(Ssd *ssd, uint32_t block)
{
    invariant(nand_next_page(ssd->nand, block) < ssd->geo->pages_per_block);
    invariant(block_state(ssd, block) == BLOCK_MAPPED);
    block_pend(ssd, block, 1);
    return nand_block_page(ssd->geo, block) + nand_next_page(ssd->nand, block);
}

/* ---- log blocks ---------------------------------------------------------- */

static IlistLinks links(const Ssd *ssd)
{
    return ILIST_LINKS(ssd->map->log_block, LogBlock, newer, older);
}

uint32_t log_open(Ssd *ssd, uint32_t plane, uint32_t logical, bool listed)
{
    PlaneLogs *p = &ssd->map->plane[plane].logs;
    uint32_t log;
    uint32_t block = block_take_free(ssd, plane, OPEN_HOST);

    invariant(plane < ssd->l.n_planes);
    if (block == NONE) {
        return NONE;
    }
    invariant(listed || p->sequential == NONE);
    invariant(logical == NONE || ssd->map->log_of[logical] == NONE);
    log = pool_take(links(ssd), &p->free);
    ssd->map->log_block[log] = (LogBlock){
        .block = block,
        .logical = logical,
        .older = NONE,
        .newer = NONE,
        .in_order = logical != NONE,
    };
    if (logical != NONE) {
        ssd->map->log_of[logical] = log;
    }
    if (listed) {
        ilistn_push_tail(links(ssd), &p->list, log);
    } else {
        p->sequential = log;
    }
    ssd->map->merge_stats.logs++;
    return log;
}

void log_renew(Ssd *ssd, uint32_t plane, uint32_t log)
{
    PlaneLogs *p = &ssd->map->plane[plane].logs;

    invariant(ssd->map->log_block[log].block != NONE);
    invariant(log < ssd->l.n_planes * ssd->l.log_blocks);
    invariant(plane < ssd->l.n_planes);
    ilistn_remove(links(ssd), &p->list, log);
    ilistn_push_tail(links(ssd), &p->list, log);
}

void log_release(Ssd *ssd, uint32_t plane, uint32_t log)
{
    PlaneLogs *p = &ssd->map->plane[plane].logs;
    LogBlock *l = &ssd->map->log_block[log];

    invariant(l->block != NONE);
    invariant(l->logical == NONE || ssd->map->log_of[l->logical] == log);
    invariant(plane < ssd->l.n_planes);
    invariant(log < ssd->l.n_planes * ssd->l.log_blocks);
    if (l->logical != NONE) {
        ssd->map->log_of[l->logical] = NONE;
    }
    if (p->sequential == log) {
        p->sequential = NONE;
    } else {
        ilistn_remove(links(ssd), &p->list, log);
    }
    *l = (LogBlock){.block = NONE};
    pool_give(links(ssd), &p->free, log);
}
