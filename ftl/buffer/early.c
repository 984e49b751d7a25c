/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early.c - early flush: dirty slots go to NAND while the host is idle.
 *
 * Knows how many may stay dirty; which ones go is the policy's choice.
 *
 * While no command runs and more than a share of the slots is dirty, as many
 * pages as a chip has dies are sent, then as many again when these are
 * programmed.  A page is sent only to a plane that takes it at once, so that
 * nothing is left to wait for when a command comes.  A batch for which the
 * policy spares every unit is followed by another one: after the first, the
 * policy has put its lists in balance (section 3.3).  Every buffer.early_adapt
 * writes the threshold is adjusted (I. Shin, Micromachines 14:796, 2023,
 * section 3.4, which gives the signs, not the equations):
 *
 *   more dirty victims than in the period before     down by 5 points
 *   else more rewrites of units flushed early  up by 5 points
 *
 * between 5 % and 95 %.
 */
#include "buffer/buf-order.h"
#include "buffer/buffer.h"
#include "buffer/flush.h"
#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "buffer/write.h"
#include "media/media-internal.h"
#include "media/media.h"
#include "placement/placement.h"
#include "ssd-internal.h"

#define EARLY_STEP_PPM  50000
#define EARLY_LEAST_PPM 50000
#define EARLY_MOST_PPM  950000

static bool too_dirty(const Ssd *ssd)
{
    return ssd->buffer->n_unsafe >
           ssd->buffer->early.busy + ssd->buffer->early.limit;
}

/* A slot to flush early that is DIRTY and not on its way, or NONE. */
static uint32_t early_candidate(Ssd *ssd)
{
    uint32_t i = too_dirty(ssd) ? cache_early(ssd) : NONE;

    if (i == NONE || ssd->buffer->slot[i].state != SLOT_DIRTY ||
        slot_must(ssd, &ssd->buffer->slot[i])) {
        return NONE;
    }
    return i;
}

/* One page of one stream; false: there is nothing to flush, or no plane that
 * takes it at once. */
static bool early_page(Ssd *ssd)
{
    uint32_t i = early_candidate(ssd);
    uint32_t stream, plane;
    uint32_t n = 0;

    if (i == NONE) {
        return false;
    }
    stream = ssd->buffer->slot[i].stream;
    if (ssd->placement->placer) {
        plane = ssd->placement->placer->accepts(ssd, ssd->buffer->slot[i].lpn)
                    ? 0
                    : NONE;
    } else {
        plane = alloc_pick(ssd, ssd->buffer->slot[i].lpn, stream);
    }
    if (plane == NONE) {
        return false;
    }
    invariant(plane < ssd->l.n_planes && stream < ssd->l.n_streams);
    while (n < ssd->l.units_per_program && i != NONE &&
           ssd->buffer->slot[i].stream == stream) {
        /* Out of the dirty ones already, or it would be the next again. */
        ssd->buffer->slot[i].early = true;
        queue_make_due(ssd, i, &ssd->buffer->slot[i].force);
        cache_cleaned(ssd, i);
        ssd->buffer->early.busy++;
        ssd->buffer->stats.early_flushes++;
        n++;
        i = early_candidate(ssd);
    }
    if (ssd->placement->placer) {
        write_pump(ssd); /* they are due, and go where they belong */
    } else {
        write_send_page(ssd, plane, stream);
    }
    return true;
}

/* A page for each die of a chip, then the policy's balance; false: the policy
 * spared all that it was asked for. */
static bool early_batch(Ssd *ssd)
{
    uint32_t pages = 0;
    bool spared;

    while (pages < ssd->cfg->nand.dies && early_page(ssd)) {
        pages++;
    }
    spared = pages == 0 && early_candidate(ssd) == NONE;
    cache_early_sent(ssd);
    return !spared;
}

void buffer_idle(Ssd *ssd)
{
    if (ssd->buffer->early.busy > 0 ||
        ssd->buffer->n_must > ssd->buffer->n_victims ||
        ssd->buffer->redo.head != NONE || media_cannot_program(ssd) ||
        !too_dirty(ssd) || ssd->window == SSD_WINDOW_HOLD) {
        return;
    }
    invariant(ssd->commands.running == 0);
    if (!early_batch(ssd) && ssd->buffer->policy->early_sent) {
        early_batch(ssd);
    }
}

static void adjust_threshold(Ssd *ssd)
{
    EarlyFlush *e = &ssd->buffer->early;
    uint32_t ppm = e->threshold_ppm;

    if (e->evictions > e->last_evictions) {
        ppm = MAX(ppm, EARLY_LEAST_PPM + EARLY_STEP_PPM) - EARLY_STEP_PPM;
    } else if (e->rewrites > e->last_rewrites) {
        ppm = MIN(ppm + EARLY_STEP_PPM, EARLY_MOST_PPM);
    }
    e->last_evictions = e->evictions;
    e->last_rewrites = e->rewrites;
    e->evictions = 0;
    e->rewrites = 0;
    e->writes = 0;
    buffer_set_threshold(ssd, ppm);
}

void buffer_count_write(Ssd *ssd)
{
    if (ssd->buffer->policy->early && ssd->cfg->early_adapt > 0 &&
        ++ssd->buffer->early.writes >= ssd->cfg->early_adapt) {
        adjust_threshold(ssd);
    }
}
