/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.c - the drive's clock gets another base.
 *
 * Instants are counts of picoseconds that end after 213 days.  A drive that is
 * loaded, or has run for long, therefore subtracts one number from all of them.
 * Nothing else changes, and each coming event happens as much earlier on the
 * clock.
 *
 * Three kinds of instants:
 *   - of events and of work in progress: none is before the new zero;
 *   - "busy until", which are compared with the present: those before the new
 *     zero become zero;
 *   - those of which only differences are used: modulo 2^64.
 */
#include "buffer/buffer-internal.h"
#include "controller/controller-internal.h"
#include "gc/gc.h"
#include "host/host.h"
#include "journal/journal-internal.h"
#include "media/media-internal.h"
#include "media/rebuild.h"
#include "power/power-internal.h"
#include "media/row-wait.h"
#include "ssd-internal.h"
#include "ssd-save.h"
#include "thermal/thermal.h"

/* "Busy until". */
static void earlier(uint64_t *ps, uint64_t by_ps)
{
    *ps -= MIN(*ps, by_ps);
}

uint64_t ssd_rebased_ns(const Ssd *ssd)
{
    return ssd->rebased_ns;
}

/* ---- what has instants ------------------------------------------------- */

/* When the oldest command was submitted whose completion is not fetched. */
static uint64_t oldest_command_ps(const Ssd *ssd)
{
    uint64_t oldest_ps = ssd->now_ps;

    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        const Cmd *c = &ssd->commands.cmd[i];

        if (c->phase != CMD_FREE) {
            oldest_ps = MIN(oldest_ps, c->submit_ps);
        }
    }
    return oldest_ps;
}

static void set_commands_back(Ssd *ssd, uint64_t by_ps)
{
    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        Cmd *c = &ssd->commands.cmd[i];

        if (c->phase == CMD_FREE) {
            continue;
        }
        c->submit_ps -= by_ps;
        c->mark_ps -= by_ps;
        if (c->req.op == SSD_OP_READ && c->phase == CMD_RUNNING) {
            earlier(&c->data_ps, by_ps);
        }
        if (c->phase == CMD_DONE) {
            c->complete_ps -= by_ps;
        }
    }
}

static void set_host_back(HostPath *h, uint64_t by_ps)
{
    h->room_since_ps -= by_ps; /* modulo 2^64 */
    earlier(&h->gate_ps, by_ps);
    for (unsigned i = 0; i < N_PACES; i++) {
        earlier(&h->pace_ps[i], by_ps);
    }
}

static void set_controller_back(Controller *c, uint32_t cores, uint64_t by_ps)
{
    earlier(&c->link_in_ps, by_ps);
    earlier(&c->link_out_ps, by_ps);
    earlier(&c->dram_in_ps, by_ps);
    earlier(&c->dram_free_ps, by_ps);
    earlier(&c->gc_core_ps, by_ps);
    for (uint32_t i = 0; i < MAX(cores, 1); i++) {
        earlier(&c->core_ps[i], by_ps);
    }
}

static void set_power_back(Ssd *ssd, uint64_t by_ps)
{
    if (ssd->powered) {
        ssd->powered_ns += (ssd->now_ps - ssd->powered_since_ps) / PS_PER_NS;
    }
    ssd->powered_since_ps = ssd->now_ps - by_ps;
    ssd->power->recovery.start_ps -= by_ps;
    ssd->power->recovery.step_start_ps -= by_ps;
}

static void set_series_back(Series *s, uint64_t by_ps)
{
    earlier(&s->next_ps, by_ps);
}

static void set_inspect_back(Inspect *in, uint64_t by_ps)
{
    in->stats_since_ps -= by_ps; /* modulo 2^128 */
    set_series_back(&in->series, by_ps);
    set_series_back(&in->buffer_series, by_ps);
}

static void set_row_waits_back(Ssd *ssd, uint64_t by_ps)
{
    for (uint32_t i = 0; ssd->buffer->row_wait && i < ssd->l.n_streams; i++) {
        row_wait_rebase(&ssd->buffer->row_wait[i], by_ps);
    }
    for (uint32_t i = 0; ssd->gc->row_wait && i < ssd->l.n_planes; i++) {
        row_wait_rebase(&ssd->gc->row_wait[i], by_ps);
    }
}

/* ---- the clock --------------------------------------------------------- */

uint64_t ssd_rebase_most_ns(const Ssd *ssd)
{
    if (ssd->inspect.log || ssd->inspect.recording) {
        return 0;
    }
    return nand_oldest_ps(ssd->nand, oldest_command_ps(ssd)) / PS_PER_NS;
}

bool ssd_rebase(Ssd *ssd, uint64_t by_ns)
{
    uint64_t by_ps = by_ns * PS_PER_NS;

    if (by_ns > ssd_rebase_most_ns(ssd)) {
        return false;
    }
    thermal_rebase(ssd, by_ps);
    nand_rebase(ssd->nand, by_ps);
    rebuild_rebase(ssd, by_ps);
    set_commands_back(ssd, by_ps);
    set_controller_back(ssd->controller, ssd->cfg->cores, by_ps);
    set_host_back(ssd->host, by_ps);
    set_power_back(ssd, by_ps);
    set_inspect_back(&ssd->inspect, by_ps);
    if (ssd->inspect.timeline) {
        timeline_rebase(ssd->inspect.timeline, by_ps);
    }
    if (ssd->inspect.live) {
        live_rebase(ssd->inspect.live, by_ps);
    }
    ssd->journal->counters.saved_ps -= by_ps; /* modulo 2^64 */
    if (ssd->buffer->stalled_since_ps != SIM_NEVER) {
        ssd->buffer->stall_ps += ssd->now_ps - ssd->buffer->stalled_since_ps;
        ssd->buffer->stalled_since_ps = ssd->now_ps - by_ps;
    }
    earlier(&ssd->gc->background.quiet_ps, by_ps);
    earlier(&ssd->gc->background.scan_ps, by_ps);
    pace_rebase(ssd, by_ps);
    if (ssd->media->faults) {
        faults_rebase(ssd->media->faults, by_ps);
    }
    set_row_waits_back(ssd, by_ps);
    eventq_gather(&ssd->events);
    for (size_t i = 0; i < ssd->events.n; i++) {
        invariant(ssd->events.heap[i].at_ps >= ssd->now_ps);
        ssd->events.heap[i].at_ps -= by_ps;
    }
    eventq_changed(&ssd->events);
    ssd->now_ps -= by_ps;
    ssd->origin_ps -= by_ps;
    ssd->rebased_ns = by_ns;
    return true;
}

void ssd_rebase_loaded(Ssd *ssd)
{
    uint64_t now_ns = ssd->now_ps / PS_PER_NS;

    if (now_ns > SSD_BASE_NS && !ssd_rebase(ssd, now_ns - SSD_BASE_NS)) {
        g_assert_not_reached(); /* it was at rest, and no counter includes that
                                   yet */
    }
}
