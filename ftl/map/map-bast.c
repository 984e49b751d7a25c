/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map-bast.c - block-associative sector translation: each log block belongs to
 * one logical block.
 *
 * Source: J. Kim, J. M. Kim, S. H. Noh, S. L. Min, Y. Cho, "A space-efficient
 * flash translation layer for CompactFlash systems", IEEE Transactions on
 * Consumer Electronics 48(2), 2002.  A log block is emptied when it is full and
 * its logical block is written again, or when another logical block needs one and
 * all are in use; then it is the one that has not been written for longest.
 */
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "ssd-internal.h"

static uint32_t bast_log_for(Ssd *ssd, const LogicalPage *at, bool in_place)
{
    PlaneLogs *p = &ssd->map->plane[at->plane].logs;
    uint32_t log = ssd->map->log_of[at->logical];

    (void)in_place;
    if (log == NONE) {
        if (p->list.n < ssd->l.log_blocks) {
            return log_open(ssd, at->plane, at->logical, true);
        }
        merge_start(ssd, at->plane, p->list.head);
        return NONE;
    }
    if (!log_has_room(ssd, log)) {
        merge_start(ssd, at->plane, log);
        return NONE;
    }
    log_renew(ssd, at->plane, log);
    return log;
}

static const OwnBlocks bast_blocks = {
    .least_logs = 1,
    .log_for = bast_log_for,
    HYBRID_OWN_BLOCKS,
};

const MapPolicy map_bast = {
    .name = "bast",
    .help = "by block; a log block belongs to one logical block",
    .lacks = HYBRID_LACKS,
    .own_blocks = &bast_blocks,
    HYBRID_POLICY,
};
