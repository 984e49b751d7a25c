/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timing.c - when the drive's shared parts have served a command: firmware
 * cores, host link, DRAM.
 *
 * The link carries one transfer at a time in each direction, and writes enter
 * DRAM one after another.  With buffer.mb_s all that enters or leaves DRAM, or
 * goes through it, shares its rate.
 *
 * Knows how busy each part is; does not know waits in the buffer or in NAND.
 */
#include "buffer/reads.h"
#include "host/host-private.h"
#include "host/host.h"
#include "ssd-internal.h"
#include "thermal/thermal.h"

/* ---- use ---------------------------------------------------------------- */

/*
 * A part that is free at *free_ps serves a command that is there at from_ps for
 * so long.  When it has done; it is busy till then.
 */
static uint64_t part_serve(Ssd *ssd, HostPart part, uint64_t *free_ps,
                           uint64_t from_ps, uint64_t ps)
{
    uint64_t start_ps = MAX(*free_ps, from_ps);

    ssd->host->use.wait_ps[part] += start_ps - from_ps;
    ssd->host->use.busy_ps[part] += ps;
    *free_ps = start_ps + ps;
    return *free_ps;
}

/* What a part that is booked until then has not served yet.  A gap between now
 * and its last service counts as service: it is at most a command's firmware
 * time. */
static uint64_t ahead(const Ssd *ssd, uint64_t until_ps)
{
    return until_ps - MIN(until_ps, ssd->now_ps);
}

HostUse host_use(const Ssd *ssd)
{
    const HostPath *h = ssd->host;
    HostUse u = h->use;
    uint64_t ahead_ps[N_HOST_PARTS] = {
        [HOST_LINK_IN] = ahead(ssd, h->link_in_ps),
        [HOST_LINK_OUT] = ahead(ssd, h->link_out_ps),
        [HOST_DRAM] = ahead(ssd, ssd->buffer->dram_move_ps ? h->dram_free_ps
                                                           : h->dram_in_ps),
    };

    for (uint32_t i = 0; i < ssd->cfg->cores; i++) {
        ahead_ps[HOST_CORES] += ahead(ssd, h->core_ps[i]);
    }
    for (unsigned i = 0; i < N_HOST_PARTS; i++) {
        u.busy_ps[i] -= MIN(u.busy_ps[i], ahead_ps[i]);
    }
    u.busy_ps[HOST_BUFFER] +=
        ssd->buffer->waiting.head == NONE ? 0 : ssd->now_ps - h->room_since_ps;
    return u;
}

/* ---- link -------------------------------------------------------------- */

/* Of the command's data; 0: the link takes no time. */
static uint64_t link_ps(const Ssd *ssd, const Cmd *c)
{
    uint64_t bytes = (uint64_t)c->req.nblocks * ssd->info.block_bytes;

    return ssd->host->link_den
               ? (uint64_t)(((unsigned __int128)bytes * ssd->host->link_num +
                             ssd->host->link_den - 1) /
                            ssd->host->link_den)
               : 0;
}

static uint64_t link_transfer(Ssd *ssd, HostPart way, uint64_t *busy_ps,
                              uint64_t from_ps, const Cmd *c)
{
    return part_serve(ssd, way, busy_ps, from_ps, link_ps(ssd, c));
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

    if (share_ppm < 1000000 &&
        (c->req.op == SSD_OP_READ || c->req.op == SSD_OP_WRITE)) {
        start_ps = MAX(ssd->host->gate_ps, from_ps);
        ssd->host->gate_ps =
            start_ps + (uint64_t)((unsigned __int128)link_ps(ssd, c) * 1000000 /
                                  share_ppm);
    }
    return start_ps;
}

uint64_t host_link_out(Ssd *ssd, const Cmd *c)
{
    return link_transfer(ssd, HOST_LINK_OUT, &ssd->host->link_out_ps,
                         ssd->now_ps, c);
}

/*
 * PCIe carries GT/s x lanes bits, 8b/10b coded up to generation 2 and 128b/130b
 * from 3 to 5 (PCI Express Base Specification, section 4.2); generation 6 is
 * PAM4 in 256-byte flits of which 236 are transaction layer bytes.
 */
void host_init_link(Ssd *ssd)
{
    static const struct {
        uint64_t mt_s, code_num, code_den;
    } gen[] = {
        [1] = {2500, 8, 10},     [2] = {5000, 8, 10},
        [3] = {8000, 128, 130},  [4] = {16000, 128, 130},
        [5] = {32000, 128, 130}, [6] = {64000, 236, 256},
    };
    const SsdConfig *cfg = ssd->cfg;

    invariant(cfg->pcie_gen < G_N_ELEMENTS(gen));
    invariant(!ssd->host->core_ps);
    ssd->host->link_num = 1000000;
    ssd->host->link_den = cfg->link_mb_s;
    if (cfg->pcie_gen) {
        ssd->host->link_num = 8 * 1000000 * gen[cfg->pcie_gen].code_den;
        ssd->host->link_den = gen[cfg->pcie_gen].mt_s * cfg->pcie_lanes *
                              gen[cfg->pcie_gen].code_num;
    }
    ssd->host->core_ps = g_new0(uint64_t, MAX(cfg->cores, 1));
}

void host_power_lost(Ssd *ssd)
{
    invariant(!ssd->powered);
    ssd->host->use = host_use(ssd);
    ssd->host->gate_ps = ssd->now_ps;
    ssd->host->link_in_ps = ssd->now_ps;
    ssd->host->link_out_ps = ssd->now_ps;
    ssd->host->dram_in_ps = ssd->now_ps;
    ssd->host->dram_free_ps = ssd->now_ps;
    for (uint32_t i = 0; i < ssd->cfg->cores; i++) {
        ssd->host->core_ps[i] = ssd->now_ps;
    }
}

/* ---- firmware ---------------------------------------------------------- */

/* When firmware has done its part of a command that is there at from_ps: the
 * core that is free first takes it. */
static uint64_t firmware_end(Ssd *ssd, uint64_t from_ps)
{
    uint32_t first = 0;

    if (ssd->cfg->cores == 0) {
        return from_ps + ssd->cfg->t_firmware_ps;
    }
    for (uint32_t i = 1; i < ssd->cfg->cores; i++) {
        if (ssd->host->core_ps[i] < ssd->host->core_ps[first]) {
            first = i;
        }
    }
    return part_serve(ssd, HOST_CORES, &ssd->host->core_ps[first], from_ps,
                      ssd->cfg->t_firmware_ps);
}

/* ---- DRAM -------------------------------------------------------------- */

/* With buffer.mb_s DRAM moves one unit after another, whoever's they are: when
 * has it moved those that come now? */
static uint64_t dram_moved(Ssd *ssd, uint64_t units)
{
    return part_serve(ssd, HOST_DRAM, &ssd->host->dram_free_ps, ssd->now_ps,
                      units * ssd->buffer->dram_move_ps);
}

static uint64_t dram_access_ps(const Ssd *ssd)
{
    invariant(ssd->buffer->dram_unit_ps >= ssd->buffer->dram_move_ps);
    return ssd->buffer->dram_unit_ps - ssd->buffer->dram_move_ps;
}

uint64_t host_dram_end(Ssd *ssd, uint64_t from_ps, uint64_t units)
{
    uint64_t end_ps =
        MAX(from_ps, ssd->now_ps) + units * ssd->buffer->dram_unit_ps;

    if (ssd->buffer->dram_move_ps) {
        uint64_t moved_ps = dram_moved(ssd, units);

        end_ps = MAX(end_ps, moved_ps + dram_access_ps(ssd));
    }
    return end_ps;
}

uint64_t host_dram_passed(Ssd *ssd, uint64_t units)
{
    return dram_moved(ssd, units) +
           (buffer_keeps_reads(ssd) ? dram_access_ps(ssd) : 0);
}

/* ---- a command's way in ------------------------------------------------ */

static uint64_t n_units(const Ssd *ssd, const Cmd *c)
{
    return ((c->req.lba + c->req.nblocks - 1) >> ssd->block_shift) -
           (c->req.lba >> ssd->block_shift) + 1;
}

bool host_enters_dram(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    invariant(cmd < ssd->commands.n_cmds);
    if (!ssd->buffer->dram_move_ps || c->req.op != SSD_OP_WRITE || c->linked) {
        return false;
    }
    c->linked = true;
    ssd->host->dram_in_ps =
        host_dram_end(ssd, ssd->host->dram_in_ps, n_units(ssd, c));
    c->data_ps = ssd->host->dram_in_ps - ssd->now_ps;
    eventq_push(&ssd->events, ssd->host->dram_in_ps, SSD_EVENT_CMD_START, cmd);
    return true;
}

/*
 * When the command begins to act: firmware, then the data of a write over the
 * link and into DRAM.  Both are first come, first served, so writes reach the
 * buffer in the order of their versions.
 */
uint64_t host_start_ps(Ssd *ssd, Cmd *c)
{
    bool warms = G_UNLIKELY(ssd->thermal->on);
    uint64_t ps = firmware_end(ssd, warms ? thermal_command(ssd) : ssd->now_ps);
    uint64_t linked_ps;

    c->firmware_ps = ps - ssd->now_ps;
    if (warms) {
        ps = gate_pass(ssd, c, ps);
    }
    if (c->req.op != SSD_OP_WRITE) {
        return ps;
    }
    linked_ps = link_transfer(ssd, HOST_LINK_IN, &ssd->host->link_in_ps, ps, c);
    if (ssd->buffer->dram_move_ps) {
        return linked_ps;
    }
    ps = part_serve(ssd, HOST_DRAM, &ssd->host->dram_in_ps, linked_ps,
                    n_units(ssd, c) * ssd->buffer->dram_unit_ps);
    c->data_ps = ps - linked_ps;
    return ps;
}
