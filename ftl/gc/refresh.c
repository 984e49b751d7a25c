/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refresh.c - the blocks whose data needs a refresh (ftl.refresh_*).
 *
 * Knows only data that a drive's firmware has: the reads that it has made of a
 * block since its erase, read retries included; when, by the clock that it has
 * while the power is on, the block's oldest data was programmed; and how many
 * retries a read of it needed at most.  Knows nothing of bit errors, nor of how
 * long the drive was off.
 *
 * The clock begins at media.preload_hours: the age of the data at the start.  A
 * power cut leaves the time of the first program (it is in the block's spare
 * areas); the reads it leaves where capacitors keep the map, else they are
 * counted again.
 */
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "journal/saved.h"
#include "lazymem.h"
#include "media/media.h"
#include "ssd-internal.h"
#include "wake.h"

#define NS_PER_HOUR 3600000000000ULL

static uint64_t clock_ns(const Ssd *ssd)
{
    invariant(ssd->now_ps >= ssd->powered_since_ps);
    return ssd->cfg->nand.preload_hours * NS_PER_HOUR + ssd->powered_ns +
           (ssd->now_ps - ssd->powered_since_ps) / PS_PER_NS;
}

bool refresh_is_on(const Ssd *ssd)
{
    const SsdConfig *cfg = ssd->cfg;

    return cfg->refresh_reads || cfg->refresh_hours || cfg->refresh_retries;
}

void refresh_init(Ssd *ssd)
{
    if (refresh_is_on(ssd) || ssd->cfg->read_reclaim) {
        invariant(!ssd->gc->history);
        ssd->gc->history = lazy_new(BlockHistory, ssd->geo->n_blocks);
    }
}

void refresh_destroy(Ssd *ssd)
{
    lazy_free(ssd->gc->history, ssd->geo->n_blocks, sizeof(*ssd->gc->history));
}

void refresh_opened(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    if (ssd->gc->history) {
        ssd->gc->history[block] = (BlockHistory){.since_ns = clock_ns(ssd)};
    }
}

void refresh_preloaded(Ssd *ssd, uint32_t block)
{
    invariant(block < ssd->geo->n_blocks);
    if (ssd->gc->history) {
        ssd->gc->history[block].since_ns = 0;
    }
}

/* Is the block due for a refresh at once (ftl.read_reclaim)? */
static bool reclaims(const Ssd *ssd, const BlockHistory *h)
{
    return ssd->cfg->read_reclaim && h->retries >= ssd->cfg->read_reclaim;
}

void refresh_read(Ssd *ssd, const NandOp *op)
{
    uint32_t block = page_block(ssd, op->ppa.page);
    BlockHistory *h = &ssd->gc->history[block];

    invariant(ssd->gc->history);
    h->reads += 1U + op->retries;
    h->retries = MAX(h->retries, op->retries);
    if (reclaims(ssd, h) && block_state(ssd, block) == BLOCK_FULL) {
        ssd->gc->plane[block_plane(ssd, block)].reclaim = true;
        ssd_wake(ssd, WORK_GC, block_plane(ssd, block));
    }
}

uint32_t reclaim_victim(Ssd *ssd, uint32_t plane)
{
    uint32_t first = plane * ssd->geo->blocks_per_plane;

    if (!reclaim_wants(ssd, plane) || media_is_read_only(ssd)) {
        return NONE;
    }
    for (uint32_t b = first; b < first + ssd->geo->blocks_per_plane; b++) {
        if (block_state(ssd, b) == BLOCK_FULL &&
            reclaims(ssd, &ssd->gc->history[b])) {
            ssd->inspect.count.reclaim_victims++;
            return b;
        }
    }
    ssd->gc->plane[plane].reclaim = false;
    return NONE;
}

void refresh_copied(Ssd *ssd, uint32_t from, uint32_t to)
{
    invariant(from < ssd->geo->n_blocks && to < ssd->geo->n_blocks);
    invariant(from != to);
    if (ssd->gc->history) {
        ssd->gc->history[from].reads++;
        ssd->gc->history[to].since_ns = MIN(ssd->gc->history[to].since_ns,
                                        ssd->gc->history[from].since_ns);
    }
}

bool refresh_needs(const Ssd *ssd, uint32_t block)
{
    const SsdConfig *cfg = ssd->cfg;
    const BlockHistory *h = &ssd->gc->history[block];
    uint64_t pages = nand_block_pages(ssd->geo, block);

    invariant(ssd->gc->history);
    invariant(block < ssd->geo->n_blocks);
    return (cfg->refresh_reads && h->reads > cfg->refresh_reads * pages) ||
           (cfg->refresh_hours && clock_ns(ssd) - h->since_ns >
                                      cfg->refresh_hours * NS_PER_HOUR) ||
           (cfg->refresh_retries && h->retries >= cfg->refresh_retries);
}

void refresh_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered && ssd->now_ps >= ssd->powered_since_ps);
    ssd->powered_ns +=
        (ssd->now_ps - ssd->powered_since_ps) / PS_PER_NS;
    ssd->powered_since_ps = ssd->now_ps;
    for (uint32_t b = 0;
         ssd->gc->history && saves(ssd) && b < ssd->geo->n_blocks; b++) {
        ssd->gc->history[b].reads = 0;
        ssd->gc->history[b].retries = 0;
    }
}

void refresh_power_on(Ssd *ssd)
{
    invariant(ssd->powered && ssd->now_ps >= ssd->powered_since_ps);
    ssd->powered_since_ps = ssd->now_ps;
}
