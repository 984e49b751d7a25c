/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - losing power, getting it back, and starting from an image.
 *
 * Knows what survives: pages whose program had ended; and the map with
 * ftl.recovery=capacitors, which keep it, else recovery.c makes it anew.  The
 * buffer's data survives with buffer.plp only.
 */
#include <string.h>

#include "buffer/buffer.h"
#include "commands.h"
#include "gc/gc.h"
#include "host/host.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "placement/placement.h"
#include "power/power.h"
#include "ssd-internal.h"

static bool drop_all(void *opaque, const Event *e)
{
    (void)opaque;
    (void)e;
    return false;
}

static void fail_commands(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        Cmd *c = &ssd->commands.cmd[i];

        if (c->phase == CMD_SUBMITTED || c->phase == CMD_RUNNING) {
            for (int k = 0; k < N_COSTS; k++) {
                c->cost_ps[k] = 0;
            }
            c->cost_ps[COST_firmware] = ssd->now_ps - c->submit_ps;
            cmd_finish(ssd, i, SSD_STATUS_POWER_LOSS);
        }
    }
}

/* With buffer.plp: remember the newest version of every unit in the buffer. */
static void keep_buffer(Ssd *ssd)
{
    ssd->buffer->kept = g_new(Slot, ssd->buffer->n_unsafe);
    ssd->buffer->n_kept = 0;
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];

        if (state_is_unsafe(s->state) && !s->dead &&
            ssd->l2p.entry[s->lpn] == (MAP_BUFFERED | i)) {
            ssd->buffer->kept[ssd->buffer->n_kept++] = *s;
        }
    }
}

/* Every unit in the buffer goes back to what NAND holds of it. */
static void revert_map(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];
        uint32_t entry;

        if (s->state == SLOT_FREE || !map_is_buffered(ssd->l2p.entry[s->lpn])) {
            continue;
        }
        entry = map_nand_entry(ssd, s->lpn);
        if (entry == 0 &&
            !ssd->buffer->slot[map_slot(ssd->l2p.entry[s->lpn])].dead) {
            ssd->l2p.mapped_units--;
        }
        ssd->l2p.entry[s->lpn] = entry;
    }
}

/* Pages on their way are torn or were never begun: they hold nothing. */
static void tear_pages(Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        uint32_t first = ssd->media->job[j].ppa << ssd->page_units_shift;

        if (!ssd->media->job[j].active || ssd->media->job[j].ppa == NONE) {
            continue;
        }
        if (!ssd->media->job[j].meta) {
            stream_uncount_page(ssd, j);
        }
        spare_blank(ssd, first, ssd->l.units_per_program);
        spare_tear(ssd, ssd->media->job[j].ppa,
                   nand_block_program(ssd->geo, ppu_block(ssd, first)));
        if (ssd->map->policy->own_blocks) {
            ssd->map->policy->own_blocks->torn(ssd, ssd->media->job[j].ppa);
        }
    }
}

static void settle_open(Ssd *ssd, Plane *p)
{
    for (uint32_t k = 0; k < ssd->l.n_open; k++) {
        Open *o = &p->open[k];

        if (o->block == NONE) {
            continue;
        }
        ssd->media->block[o->block].pending = 0;
        o->next_page = nand_next_page(ssd->nand, o->block);
        if (o->next_page == nand_block_pages(ssd->geo, o->block)) {
            block_make_full(ssd, o->block);
            o->block = NONE;
        }
    }
}

/* What a plane was doing. */
static void forget_planes(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        Plane *p = &ssd->media->plane[i];

        p->gc = (PlaneGc){
            .victim = NONE, .next = NONE, .redo = {NONE, NONE}};
        p->host_programs = 0;
        p->meta_programs = 0;
        p->meta_wait = IFIFO_EMPTY;
        p->erases = 0;
        memset(p->staged_of, 0, ssd->l.n_gc_classes * sizeof(*p->staged_of));
    }
}

static void settle_blocks(Ssd *ssd)
{
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        settle_open(ssd, &ssd->media->plane[i]);
        plane_count_open(ssd, i);
    }
    for (uint32_t b = 0; b < ssd->geo->n_blocks; b++) {
        if (ssd->media->block[b].state == BLOCK_VICTIM ||
            ssd->media->block[b].state == BLOCK_CLOSING) {
            block_make_full(ssd, b);
        }
    }
}

void power_lost(Ssd *ssd)
{
    ssd->media->cut_due = false;
    ssd->powered = false;
    background_power_lost(ssd);
    refresh_power_lost(ssd);
    eventq_filter(&ssd->events, drop_all, NULL);
    oplog_add(ssd->inspect.log, OPLOG_POWER_CUT, 0, 0, ssd->now_ps, 0, 0);
    fail_commands(ssd);
    trim_power_lost(ssd);
    gc_forget(ssd);
    nand_power_cut(ssd->nand, ssd->now_ps);
    if (ssd->cfg->plp) {
        keep_buffer(ssd);
    }
    if (!saves(ssd)) {
        revert_map(ssd);
    }
    if (ssd->map->policy->power_lost) {
        ssd->map->policy->power_lost(ssd);
    }
    tear_pages(ssd);
    stream_uncount_erases(ssd);
    forget_planes(ssd);
    if (saves(ssd)) {
        recovery_power_lost(ssd);
    } else {
        settle_blocks(ssd);
    }
    unit_count(ssd);
    if (ssd->map->policy->own_blocks) {
        ssd->map->policy->own_blocks->planes_lost(ssd);
    }
    power_init_memory(ssd);
    g_clear_pointer(&ssd->buffer->waiter, g_free);
    g_clear_pointer(&ssd->media->job, g_free);
    g_clear_pointer(&ssd->media->job_unit, g_free);
    ssd->host->link_in_ps = ssd->now_ps;
    ssd->host->link_out_ps = ssd->now_ps;
    ssd->host->dram_in_ps = ssd->now_ps;
    ssd->host->dram_free_ps = ssd->now_ps;
    for (uint32_t i = 0; i < ssd->cfg->cores; i++) {
        ssd->host->core_ps[i] = ssd->now_ps;
    }
    work_forget(&ssd->work); /* last: some of the above may have marked it */
    if (ssd->client && ssd->client->power_lost) {
        ssd->client->power_lost(ssd->client_opaque);
    }
}

void power_cut(Ssd *ssd, uint64_t now_ns)
{
    g_assert((ssd->client || saves(ssd)) &&
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
    g_assert(!ssd->powered);
    if (ssd->inspect.recording) {
        recording_power(ssd->inspect.recording, true, now_ns);
    }
    ssd->powered = true;
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
    ssd->buffer->free_waiter = NONE;
    ssd->buffer->n_waiters = 0;
    ssd->media->free_job = NONE;
    ssd->media->n_jobs = 0;
    ssd->buffer->first_epoch = 0;
    ssd->buffer->cur_epoch = 0;
    ssd->buffer->epoch[0] = (Epoch){.left = 0, .cmd = NONE};
    ssd->buffer->tick_armed = false;
    ssd->buffer->waiting = IFIFO_EMPTY;
    ssd->media->redo = IFIFO_EMPTY;
    meta_init(ssd);
    ssd->buffer->stalled_since_ps = SIM_NEVER;
}

const HostGate power_gate = {
    .waits = recovery_waits,
    .cut = power_lost,
};
