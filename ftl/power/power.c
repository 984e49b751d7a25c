/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - losing power, getting it back, and starting from an image.
 *
 * Knows the data that survives: pages whose program had ended; and the map with
 * ftl.recovery=capacitors, which keep it, else recovery.c rebuilds it.  The
 * buffer's data survives with buffer.plp only.
 */
#include "buffer/life.h"
#include "commands.h"
#include "controller/controller.h"
#include "gc/gc.h"
#include "host/ahead.h"
#include "host/host.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "journal/counters.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "map/reset.h"
#include "media/faulty.h"
#include "media/jobs.h"
#include "media/life.h"
#include "media/rebuild.h"
#include "power/power.h"
#include "placement/streams.h"
#include "ssd-internal.h"
#include "thermal/thermal.h"

static bool drop_all(void *opaque, const Event *e)
{
    (void)opaque;
    (void)e;
    return false;
}

static void fail_commands(Ssd *ssd)
{
    invariant(!ssd->powered);
    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        Cmd *c = &ssd->commands.cmd[i];

        if (c->phase == CMD_SUBMITTED || c->phase == CMD_RUNNING ||
            c->phase == CMD_ENDING) {
            for (int k = 0; k < N_COSTS; k++) {
                c->cost_ps[k] = 0;
            }
            c->cost_ps[COST_firmware] = ssd->now_ps - c->submit_ps;
            cmd_finish(ssd, i, SSD_STATUS_POWER_LOSS);
        }
    }
}

/* Every unit in the buffer goes back to its copy in NAND. */
static void revert_map(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];
        uint64_t entry;

        if (s->state == SLOT_FREE ||
            !map_is_buffered(l2p_get(&ssd->l2p, s->lpn))) {
            continue;
        }
        invariant(map_slot(l2p_get(&ssd->l2p, s->lpn)) <
                  ssd->buffer->n_slot_records);
        entry = map_nand_entry(ssd, s->lpn);
        if (entry == 0 &&
            !ssd->buffer->slot[map_slot(l2p_get(&ssd->l2p, s->lpn))].dead) {
            invariant(ssd->l2p.mapped_units > 0);
            ssd->l2p.mapped_units--;
        }
        l2p_set(&ssd->l2p, s->lpn, entry);
    }
}

/* Pages on their way will not be programmed: accounts and maps forget them. */
static void forget_pages(Ssd *ssd)
{
    const OwnBlocks *own = ssd->map->policy->own_blocks;

    invariant(!ssd->powered);
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state != JOB_PLACED) {
            continue;
        }
        if (!job->meta && !job->parity) {
            stream_uncount_page(ssd, j);
        }
        if (own) {
            own->torn(ssd, job->ppa);
        }
    }
}

void power_lost(Ssd *ssd)
{
    invariant(ssd->powered);
    ssd->powered = false;
    background_power_lost(ssd);
    refresh_power_lost(ssd);
    eventq_filter(&ssd->events, drop_all, NULL);
    oplog_add(ssd->inspect.log, OPLOG_POWER_CUT, 0, 0, ssd->now_ps, 0, 0);
    if (ssd->inspect.timeline) {
        timeline_power(ssd->inspect.timeline, false);
    }
    fail_commands(ssd);
    counters_power_lost(ssd);
    trim_power_lost(ssd);
    reset_power_lost(ssd);
    gc_forget(ssd);
    nand_power_cut(ssd->nand, ssd->now_ps);
    invariant(nand_load(ssd->nand) == 0);
    oplog_lost_pages(ssd->inspect.log);
    if (ssd->cfg->plp) {
        buffer_keep(ssd);
    }
    if (!saves(ssd)) {
        revert_map(ssd);
    }
    if (ssd->map->policy->power_lost) {
        ssd->map->policy->power_lost(ssd);
    }
    forget_pages(ssd);
    stream_uncount_erases(ssd);
    media_power_lost(ssd);
    rebuild_forget(ssd);
    gc_power_lost(ssd);
    if (saves(ssd)) {
        recovery_power_lost(ssd);
    } else {
        media_settle_blocks(ssd);
    }
    unit_count(ssd);
    if (ssd->map->policy->own_blocks) {
        ssd->map->policy->own_blocks->planes_lost(ssd);
    }
    power_init_memory(ssd);
    invariant(ssd->buffer->n_unsafe == 0 && ssd->buffer->n_dirty == 0);
    host_power_lost(ssd);
    controller_power_lost(ssd);
    ahead_forget(ssd);
    thermal_power(ssd, false);
    work_forget(&ssd->work); /* last: some of the above may have marked it */
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
    counters_power_on(ssd);
    thermal_power(ssd, true);
    refresh_power_on(ssd);
    if (saves(ssd)) {
        faulty_arm(ssd);
        recovery_start(ssd);
    } else {
        power_ready(ssd);
    }
}

void power_init_memory(Ssd *ssd)
{
    buffer_create(ssd);
    job_forget_all(ssd);
    meta_init(ssd);
    invariant(ssd->buffer->n_evicting == 0 && ssd->buffer->n_promised == 0);
}

const HostGate power_gate = {
    .waits = recovery_waits,
    .cut = power_lost,
};
