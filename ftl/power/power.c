/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - losing power, and getting it back.
 *
 * Knows when; what each component loses is in its table (component.h).  Pages
 * whose program had ended survive; and the map with ftl.recovery=capacitors,
 * which keep it, else recovery.c rebuilds it.  The buffer's data survives with
 * buffer.plp only.
 */
#include "component.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "inspect/timeline.h"
#include "media/media-internal.h"
#include "power/power.h"

static bool drop_all(void *opaque, const Event *e)
{
    (void)opaque;
    (void)e;
    return false;
}

void power_lost(Ssd *ssd)
{
    invariant(ssd->powered);
    ssd->powered = false;
    ssd->inspect.gate.power_cuts++;
    eventq_filter(&ssd->events, drop_all, NULL);
    /* The logs say it before what follows from it. */
    oplog_add(ssd->inspect.log, OPLOG_POWER_CUT, 0, 0, ssd->now_ps, 0, 0);
    if (ssd->inspect.timeline) {
        timeline_power(ssd->inspect.timeline, false);
    }
    components_power_dropped(ssd);
    nand_power_cut(ssd->nand, ssd->now_ps);
    oplog_lost_pages(ssd->inspect.log);
    components_power_settled(ssd);
    work_forget(&ssd->work); /* some of the above may have marked it */
    if (ssd->client && ssd->client->power_lost) {
        invariant(ssd->commands.running == 0);
        ssd->client->power_lost(ssd->client_opaque);
    }
}

void power_cut(Ssd *ssd, uint64_t now_ns)
{
    invariant((ssd->client || saves(ssd)) &&
              (ssd->powered || ssd->media->faults));
    if (ssd->inspect.recording) {
        recording_power(ssd->inspect.recording, false, now_ns);
    }
    if (ssd->powered) {
        power_lost(ssd);
    }
}

void power_return(Ssd *ssd, uint64_t now_ns)
{
    invariant(!ssd->powered);
    invariant(nand_load(ssd->nand) == 0);
    if (ssd->inspect.recording) {
        recording_power(ssd->inspect.recording, true, now_ns);
    }
    if (ssd->inspect.timeline) {
        timeline_power(ssd->inspect.timeline, true);
    }
    ssd->powered = true;
    components_power_on(ssd);
}

const HostGate power_gate = {
    .waits = recovery_waits,
    .cut = power_lost,
};
