/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.c - the drive's clock gets another base.
 *
 * Instants are counts of picoseconds that end after 213 days.  A drive that is
 * loaded, or has run for long, therefore moves all that it has of instants to a
 * base not long ago.  Nothing but the numbers changes: what is over stays over,
 * and what is to come comes as much later.
 */
#include "buffer/buffer-internal.h"
#include "gc/gc-internal.h"
#include "host/host.h"
#include "media/media-internal.h"
#include "ssd-internal.h"
#include "state/state-check.h"

/* Instants that are over long since are only compared: the base will do. */
static void earlier(uint64_t *ps, uint64_t by_ps)
{
    *ps -= MIN(*ps, by_ps);
}

uint64_t ssd_rebased_ns(const Ssd *ssd)
{
    return ssd->rebased_ns;
}

bool ssd_rebase(Ssd *ssd, uint64_t by_ns)
{
    uint64_t by_ps = by_ns * PS_PER_NS;

    if (!ssd_at_rest(ssd) || ssd->inspect.log || ssd->inspect.recording) {
        return false;
    }
    invariant(by_ps <= ssd->now_ps);
    if (ssd->powered) {
        ssd->powered_ns +=
            (ssd->now_ps - ssd->powered_since_ps) / PS_PER_NS;
    }
    ssd->powered_since_ps = ssd->now_ps - by_ps;
    if (ssd->buffer->stalled_since_ps != SIM_NEVER) {
        ssd->buffer->stall_ps += ssd->now_ps - ssd->buffer->stalled_since_ps;
        ssd->buffer->stalled_since_ps = ssd->now_ps - by_ps;
    }
    for (size_t i = 0; i < ssd->events.n; i++) {
        ssd->events.heap[i].at_ps -= by_ps; /* none is before now */
    }
    earlier(&ssd->host->link_in_ps, by_ps);
    earlier(&ssd->host->link_out_ps, by_ps);
    earlier(&ssd->host->dram_in_ps, by_ps);
    earlier(&ssd->host->dram_free_ps, by_ps);
    for (uint32_t i = 0; i < MAX(ssd->cfg->cores, 1); i++) {
        earlier(&ssd->host->core_ps[i], by_ps);
    }
    earlier(&ssd->gc->background.quiet_ps, by_ps);
    earlier(&ssd->gc->background.scan_ps, by_ps);
    earlier(&ssd->inspect.series.next_ps, by_ps);
    earlier(&ssd->inspect.buffer_series.next_ps, by_ps);
    /* Of these only differences are used, modulo 2^64. */
    ssd->inspect.stats_since_ps -= by_ps;
    for (uint32_t i = 0; i < SERIES_POINTS; i++) {
        ssd->inspect.series.point[i].at_ps -= by_ps;
        ssd->inspect.buffer_series.point[i].at_ps -= by_ps;
    }
    nand_rebase(ssd->nand, by_ps);
    if (ssd->media->faults) {
        faults_rebase(ssd->media->faults, by_ps);
    }
    ssd->now_ps -= by_ps;
    ssd->rebased_ns = by_ns;
    return true;
}

void ssd_rebase_loaded(Ssd *ssd)
{
    uint64_t now_ns = ssd->now_ps / PS_PER_NS;

    if (now_ns > SSD_BASE_NS && !ssd_rebase(ssd, now_ns - SSD_BASE_NS)) {
        g_assert_not_reached(); /* it was at rest, and nothing tells of it yet */
    }
}
