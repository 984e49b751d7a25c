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
#include "ssd-internal.h"

/* ---- where an address belongs ------------------------------------------------- */

LogicalPage logical_place(const Ssd *ssd, uint32_t lpn)
{
    uint32_t n = ssd->l.units_per_program;
    uint32_t program = lpn / n;
    uint32_t plane = ssd->media->stripe_plane[program % ssd->l.n_planes];
    uint32_t in_plane = program / ssd->l.n_planes;
    uint32_t per_block = hybrid_block_programs(ssd);

    return (LogicalPage){
        .plane = plane,
        .logical = plane * ssd->l.logical_blocks + in_plane / per_block,
        .page = in_plane % per_block,
        .unit = lpn % n,
    };
}

uint32_t logical_lpn(const Ssd *ssd, uint32_t logical, uint32_t page,
                     uint32_t unit)
{
    uint32_t plane = logical / ssd->l.logical_blocks;
    uint64_t in_plane = (uint64_t)(logical % ssd->l.logical_blocks) *
                            hybrid_block_programs(ssd) +
                        page;
    uint64_t program =
        in_plane * ssd->l.n_planes + ssd->media->stripe_pos[plane];
    uint64_t lpn = program * ssd->l.units_per_program + unit;

    return lpn < ssd->l.user_units ? (uint32_t)lpn : NONE;
}

uint32_t hybrid_take_page(Ssd *ssd, uint32_t block)
{
    ssd->media->block[block].pending++;
    return block * ssd->geo->pages_per_block + nand_next_page(ssd->nand, block);
}

/* ---- log blocks ------------------------------------------------------------------ */

static void list_append(Ssd *ssd, PlaneLogs *p, uint32_t log)
{
    ssd->map->log_block[log].older = p->newest;
    ssd->map->log_block[log].newer = NONE;
    if (p->newest == NONE) {
        p->oldest = log;
    } else {
        ssd->map->log_block[p->newest].newer = log;
    }
    p->newest = log;
    p->n++;
}

static void list_remove(Ssd *ssd, PlaneLogs *p, uint32_t log)
{
    const LogBlock *l = &ssd->map->log_block[log];

    if (l->older == NONE) {
        p->oldest = l->newer;
    } else {
        ssd->map->log_block[l->older].newer = l->newer;
    }
    if (l->newer == NONE) {
        p->newest = l->older;
    } else {
        ssd->map->log_block[l->newer].older = l->older;
    }
    p->n--;
}

uint32_t log_open(Ssd *ssd, uint32_t plane, uint32_t logical, bool listed)
{
    PlaneLogs *p = &ssd->media->plane[plane].logs;
    uint32_t log = p->free;
    uint32_t block = block_take_free(ssd, plane, OPEN_HOST);

    if (block == NONE) {
        return NONE;
    }
    p->free = ssd->map->log_block[log].newer;
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
        list_append(ssd, p, log);
    } else {
        p->sequential = log;
    }
    ssd->map->merge_stats.logs++;
    return log;
}

void log_renew(Ssd *ssd, uint32_t plane, uint32_t log)
{
    PlaneLogs *p = &ssd->media->plane[plane].logs;

    list_remove(ssd, p, log);
    list_append(ssd, p, log);
}

void log_release(Ssd *ssd, uint32_t plane, uint32_t log)
{
    PlaneLogs *p = &ssd->media->plane[plane].logs;
    LogBlock *l = &ssd->map->log_block[log];

    if (l->logical != NONE) {
        ssd->map->log_of[l->logical] = NONE;
    }
    if (p->sequential == log) {
        p->sequential = NONE;
    } else {
        list_remove(ssd, p, log);
    }
    *l = (LogBlock){.block = NONE, .newer = p->free};
    p->free = log;
}
