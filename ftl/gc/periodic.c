/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * periodic.c - GC that starts at regular times (ftl.gc_period).
 *
 * Source: S. Zertal, "A Data Layout Strategy to Enhance the Internal SSD
 * Parallelism", IJAEE 5(1), 2015, section II.A: "a garbage collector is run
 * periodically".  The paper gives neither the period nor where a run ends; here
 * a plane's ends at ftl.gc_high.  Between two runs GC starts at ftl.gc_low as
 * without it, so a plane never lacks room.  The periods continue when the clock
 * gets another base (clock.c).
 *
 * Knows when GC starts; knows nothing of victims and copies (gc.c).  There is
 * an event only while a plane has too few free blocks, so an idle drive comes
 * to rest.
 */
#include "gc/gc-private.h"
#include "gc/gc.h"
#include "gc/pace.h"
#include "gc/periodic.h"
#include "media/blocks.h"
#include "media/media-internal.h"
#include "ssd-internal.h"
#include "wake.h"

static bool is_due(const Ssd *ssd, uint32_t plane)
{
    const Plane *p = plane_at(ssd, plane);

    return p->free.n + p->erases < p->gc_high_blocks;
}

void periodic_taken(Ssd *ssd, uint32_t plane)
{
    uint64_t period = ssd->cfg->t_gc_period_ps;

    if (period == 0 || ssd->gc->period_armed || !ssd->powered ||
        !is_due(ssd, plane)) {
        return;
    }
    ssd->gc->period_armed = true;
    eventq_push(&ssd->events, next_multiple_ps(ssd, period),
                SSD_EVENT_BACKGROUND, BACKGROUND_PERIOD);
}

void periodic_event(Ssd *ssd)
{
    invariant(ssd->cfg->t_gc_period_ps > 0);
    ssd->gc->period_armed = false;
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        if (is_due(ssd, i)) {
            pace_active(ssd, i, true);
            ssd_wake(ssd, WORK_GC, i);
        }
    }
}

void periodic_forget(Ssd *ssd)
{
    ssd->gc->period_armed = false;
    for (size_t i = 0; i < eventq_count(&ssd->events); i++) {
        const Event *e = eventq_get(&ssd->events, i);

        ssd->gc->period_armed |= event_kind(e) == SSD_EVENT_BACKGROUND &&
                                 event_index(e) == BACKGROUND_PERIOD;
    }
}

void periodic_power_lost(Ssd *ssd)
{
    ssd->gc->period_armed = false;
}
