/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timing.c - a command's way through the parts of the controller.
 *
 * Knows the order in which a command needs cores, link and DRAM; does not know
 * what it waits for in the buffer or in NAND.
 */
#include "buffer/reads.h"
#include "controller/cmb.h"
#include "controller/controller.h"
#include "gc/gc.h"
#include "host/host-private.h"
#include "host/host.h"
#include "ssd-internal.h"
#include "thermal/thermal.h"

static uint64_t n_bytes(const Ssd *ssd, const Cmd *c)
{
    return (uint64_t)c->req.nblocks * ssd->info.block_bytes;
}

static uint64_t link_bytes(const Ssd *ssd, const Cmd *c)
{
    return n_bytes(ssd, c) + (uint64_t)c->req.nblocks * c->req.metadata_bytes;
}

static bool has_data(const Cmd *c)
{
    return c->req.op == SSD_OP_READ || c->req.op == SSD_OP_WRITE;
}

static bool crosses_link(const Cmd *c)
{
    return has_data(c) && !c->req.inside;
}

static uint64_t n_units(const Ssd *ssd, const Cmd *c)
{
    return ((c->req.lba + c->req.nblocks - 1) >> ssd->block_shift) -
           (c->req.lba >> ssd->block_shift) + 1;
}

/* ---- use ----------------------------------------------------------------- */

HostUse host_use(const Ssd *ssd)
{
    const HostPath *h = ssd->host;
    HostUse u = controller_use(ssd);

    u.wait_ps[HOST_BUFFER] = h->room_wait_ps;
    u.busy_ps[HOST_BUFFER] =
        h->room_busy_ps + (ssd->buffer->waiting.head == NONE
                               ? 0
                               : ssd->now_ps - h->room_since_ps);
    return u;
}

void host_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    ssd->host->room_busy_ps = host_use(ssd).busy_ps[HOST_BUFFER];
    ssd->host->gate_ps = ssd->now_ps;
    for (unsigned i = 0; i < N_PACES; i++) {
        ssd->host->pace_ps[i] = ssd->now_ps;
    }
}

/* ---- the way in ---------------------------------------------------------- */

bool host_enters_dram(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    bool writes = c->req.op == SSD_OP_WRITE;
    bool maps = ssd->controller->dram_map_ps && has_data(c);
    uint64_t end_ps = ssd->now_ps;

    invariant(cmd < ssd->commands.n_cmds);
    if (!ssd->controller->dram_move_ps || (!writes && !maps) || c->linked) {
        return false;
    }
    c->linked = true;
    if (maps) {
        end_ps = dram_map(ssd, n_units(ssd, c));
    }
    if (writes) { /* behind those that came before it, and their entries */
        end_ps = dram_enter(ssd, end_ps, n_units(ssd, c));
    }
    c->data_ps = end_ps - ssd->now_ps;
    eventq_push(&ssd->events, end_ps, SSD_EVENT_CMD_START, cmd);
    return true;
}

/* Time of a core before the command begins to act. */
static uint64_t start_work_ps(const Ssd *ssd, const Cmd *c)
{
    uint64_t ps = ssd->cfg->t_firmware_ps;

    switch (c->req.op) {
    case SSD_OP_WRITE:
        ps += ssd->cfg->t_write_ps;
        /* fall through */
    case SSD_OP_READ:
        return ps + (ssd->cfg->t_unit_ps ? n_units(ssd, c) * ssd->cfg->t_unit_ps
                                         : 0);
    case SSD_OP_TRIM:
        return ps + ssd->cfg->t_trim_ps +
               (c->req.erase ? 0 : n_units(ssd, c) * ssd->cfg->t_trimmed_ps);
    default:
        return ps + ssd->cfg->t_flush_ps;
    }
}

/*
 * A drive that is too warm, or in a lower power state, lets reads and writes
 * pass at a share of the link's rate, both directions together.  When the
 * command may go on.
 */
static uint64_t gate_pass(Ssd *ssd, const Cmd *c, uint64_t from_ps)
{
    uint32_t share_ppm = thermal_share(ssd);
    uint64_t start_ps = from_ps;

    if (share_ppm < 1000000 && has_data(c)) {
        uint64_t ps = link_data_ps(ssd, n_bytes(ssd, c));

        start_ps = MAX(ssd->host->gate_ps, from_ps);
        ssd->host->gate_ps =
            start_ps + (uint64_t)((unsigned __int128)ps * 1000000 / share_ppm);
    }
    return start_ps;
}

/* The command takes this long of a limit, from when the limit is free on. */
static uint64_t pace_take(Ssd *ssd, HostPace pace, uint64_t from_ps,
                          uint64_t ps)
{
    uint64_t *next = &ssd->host->pace_ps[pace];
    uint64_t own_ps = MAX(*next, from_ps);

    *next = own_ps + ps;
    return own_ps;
}

static void pace_wait(Ssd *ssd, HostPace pace, uint64_t from_ps, uint64_t ps,
                      uint64_t *start_ps)
{
    uint64_t turn_ps = pace_take(ssd, pace, from_ps, ps);

    *start_ps = MAX(*start_ps, turn_ps);
}

bool host_writes_urgent(const Ssd *ssd, uint64_t now_ps)
{
    return ssd->host->pace_ps[PACE_GC] > now_ps + ssd->cfg->t_urgent_ps;
}

/* The limit of writes acts behind the buffer: as many writes as it holds do not
 * wait for their turn. */
static void write_wait(Ssd *ssd, const Cmd *c, uint64_t from_ps,
                       uint64_t *start_ps)
{
    uint64_t ps = PS_PER_NS * NS_PER_S / ssd->cfg->most_write_iops;
    uint64_t held = MAX(ssd->l.n_slots / n_units(ssd, c), 1);
    uint64_t turn_ps = pace_take(ssd, PACE_WRITES, from_ps, ps);

    turn_ps -= MIN((held - 1) * ps, turn_ps);
    *start_ps = MAX(*start_ps, turn_ps);
}

/* When the limits of the controller let the command start.  Each limit has a
 * queue of its own: a read does not wait for that of writes. */
static uint64_t pace_pass(Ssd *ssd, const Cmd *c, uint64_t from_ps)
{
    const uint64_t s = PS_PER_NS * NS_PER_S;
    const SsdConfig *cfg = ssd->cfg;
    bool writes = c->req.op == SSD_OP_WRITE;
    uint64_t ps = from_ps;

    if (!crosses_link(c)) {
        return from_ps;
    }
    if (cfg->most_iops) {
        pace_wait(ssd, PACE_ALL, from_ps, s / cfg->most_iops, &ps);
    }
    if (cfg->most_write_iops && writes) {
        write_wait(ssd, c, from_ps, &ps);
    }
    if (cfg->most_write_mb_s && writes) {
        pace_wait(ssd, PACE_WRITE_DATA, from_ps,
                  n_bytes(ssd, c) * 1000000 / cfg->most_write_mb_s, &ps);
    }
    if (writes && pace_ps(ssd) > 0) {
        pace_wait(ssd, PACE_GC, from_ps, pace_ps(ssd) * n_units(ssd, c), &ps);
    }
    if (c->req.append) { /* it holds the write pointers meanwhile */
        pace_wait(ssd, PACE_APPENDS, ps, cfg->t_append_ps, &ps);
        ps += cfg->t_append_ps;
    }
    return ps;
}

static uint64_t fetch_list(Ssd *ssd, const Cmd *c, uint64_t from_ps)
{
    if (!ssd->cfg->pcie_nvme || !crosses_link(c)) {
        return from_ps;
    }
    return c->req.in_cmb & SSD_IN_CMB_LIST
               ? link_take_list(ssd, from_ps, n_bytes(ssd, c))
               : link_fetch_list(ssd, from_ps, n_bytes(ssd, c));
}

/* Data of a write that is in the controller memory buffer has entered DRAM once
 * already, and is read from there. */
static uint64_t take_data(Ssd *ssd, const Cmd *c, uint64_t from_ps)
{
    uint64_t ps = link_take_data(ssd, from_ps, link_bytes(ssd, c));

    if (ssd->controller->dram_move_ps) {
        uint64_t moved_ps = dram_move(ssd, 2 * n_units(ssd, c));

        ps = MAX(ps, moved_ps);
    }
    return link_behind(ssd, ps);
}

/* Data of a write comes to the drive; writes stay in order. */
static uint64_t bring_data(Ssd *ssd, const Cmd *c, uint64_t from_ps)
{
    if (!crosses_link(c)) {
        return link_behind(ssd, from_ps);
    }
    return c->req.in_cmb & SSD_IN_CMB_DATA
               ? take_data(ssd, c, from_ps)
               : link_from_host(ssd, from_ps, link_bytes(ssd, c));
}

uint64_t host_start_ps(Ssd *ssd, Cmd *c)
{
    bool warms = G_UNLIKELY(ssd->thermal->on);
    uint64_t ps = core_run_at(ssd, warms ? thermal_command(ssd) : ssd->now_ps,
                              start_work_ps(ssd, c));
    uint64_t linked_ps;
    uint64_t end_ps;

    ps = pace_pass(ssd, c, ps);
    c->firmware_ps = ps - ssd->now_ps;
    if (warms) {
        ps = gate_pass(ssd, c, ps);
    }
    linked_ps = fetch_list(ssd, c, ps);
    if (c->req.op != SSD_OP_WRITE) {
        return ps; /* the list is there before the data */
    }
    linked_ps = bring_data(ssd, c, linked_ps);
    if (ssd->controller->dram_move_ps) {
        return linked_ps;
    }
    end_ps = dram_enter(ssd, linked_ps, n_units(ssd, c));
    c->data_ps = end_ps - linked_ps;
    return end_ps;
}

/* ---- the way out --------------------------------------------------------- */

uint64_t host_dram_passed(Ssd *ssd, uint64_t units)
{
    return dram_move(ssd, units) +
           (buffer_keeps_reads(ssd) ? dram_access_ps(ssd) : 0);
}

uint64_t host_link_out(Ssd *ssd, const Cmd *c)
{
    if (!crosses_link(c)) {
        return ssd->now_ps;
    }
    if (c->req.in_cmb & SSD_IN_CMB_DATA) { /* which is in DRAM */
        return ssd->controller->dram_move_ps ? dram_move(ssd, n_units(ssd, c))
                                             : ssd->now_ps;
    }
    return link_to_host(ssd, ssd->now_ps, link_bytes(ssd, c));
}

bool host_end_takes_time(const Ssd *ssd)
{
    return ssd->cfg->t_complete_ps > 0 || ssd->cfg->pcie_nvme;
}

uint64_t host_end_ps(Ssd *ssd, Cmd *c)
{
    uint64_t ps = core_run(ssd, ssd->cfg->t_complete_ps);
    uint64_t end_ps = ps;

    if (ssd->cfg->pcie_nvme && !c->req.internal) {
        end_ps = c->req.in_cmb & SSD_IN_CMB_COMPLETION
                     ? link_complete_inside(ssd, ps)
                     : link_complete(ssd, ps);
    }
    c->cost_ps[COST_firmware] += ps - ssd->now_ps;
    c->cost_ps[COST_link] += end_ps - ps;
    return end_ps;
}
