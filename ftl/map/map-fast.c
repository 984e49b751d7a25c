/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map-fast.c - fully-associative sector translation: one log block of a plane
 * for sequential writes, the others for all other writes.
 *
 * Source: S.-W. Lee, D.-J. Park, T.-S. Chung, D.-H. Lee, S. Park, H.-J. Song,
 * "A log buffer-based flash translation layer using fully-associative sector
 * translation", ACM Transactions on Embedded Computing Systems 6(3), 2007.
 * A write of offset 0 restarts the sequential log block, and those that follow
 * it in order go there; all others go to the random log blocks, which are
 * filled one after another.  When all are full the oldest is emptied, which
 * merges every logical block that has a unit in it.
 */
#include "map/hybrid.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "ssd-internal.h"

/* The sequential log block for offset 0. */
static uint32_t begin_sequence(Ssd *ssd, const LogicalPage *at)
{
    const PlaneLogs *p = &ssd->map->plane[at->plane].logs;

    if (p->sequential != NONE) {
        merge_start(ssd, at->plane, p->sequential);
        return NONE;
    }
    return log_open(ssd, at->plane, at->logical, false);
}

static bool continues(const Ssd *ssd, const LogicalPage *at)
{
    uint32_t log = ssd->map->log_of[at->logical];

    return log != NONE && ssd->map->log_block[log].in_order &&
           hybrid_next(ssd, ssd->map->log_block[log].block) == at->page;
}

static uint32_t fast_log_for(Ssd *ssd, const LogicalPage *at, bool in_place)
{
    const PlaneLogs *p = &ssd->map->plane[at->plane].logs;

    if (in_place && at->page == 0) {
        return begin_sequence(ssd, at);
    }
    if (in_place && continues(ssd, at)) {
        return ssd->map->log_of[at->logical];
    }
    if (p->list.n > 0 && log_has_room(ssd, p->list.tail)) {
        return p->list.tail;
    }
    if (p->list.n + 1 < ssd->l.log_blocks) {
        return log_open(ssd, at->plane, NONE, true);
    }
    merge_start(ssd, at->plane, p->list.head);
    return NONE;
}

static const OwnBlocks fast_blocks = {
    .least_logs = 2,
    .log_for = fast_log_for,
    HYBRID_OWN_BLOCKS,
};

const MapPolicy map_fast = {
    .name = "fast",
    .help = "by block; a log block takes any unit, one those in order",
    .lacks = HYBRID_LACKS,
    .own_blocks = &fast_blocks,
    HYBRID_POLICY,
};
