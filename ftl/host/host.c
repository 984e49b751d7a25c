/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.c - host commands: firmware, link, DRAM, and what they wait for.
 *
 * Knows commands and their latency, split by cause; leaves slots to write.c
 * and units to map.c.
 *
 *   READ   firmware; NAND reads of all its pages at once, DRAM for buffered
 *          units beside them; data over the link; done.  With a policy that
 *          caches, what NAND holds needs room in the buffer first
 *   WRITE  firmware; data over the link; DRAM; room in the buffer; done, or
 *          (FUA, host.complete_at=program) done when durable
 *   TRIM   firmware; done (trim.c)   FLUSH  firmware; barrier reached (with close:
 *          its stream's units are in NAND); done
 *
 * The link carries one transfer at a time in each direction, and writes enter
 * DRAM one after another; with buffer.mb_s all that enters or leaves DRAM, or
 * goes through it, shares its rate.
 */
#include <errno.h>

#include "buffer/buffer.h"
#include "commands.h"
#include "gc/gc.h"
#include "host/host.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/media.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "wake.h"

static void record_done(Ssd *ssd, const Cmd *c)
{
    const SsdCompletion done = {
        .submit_ns = c->submit_ps / PS_PER_NS,
        .complete_ns = sim_ceil_ns(c->complete_ps),
        .status = c->status,
        .bad_lba = c->bad_lba,
    };

    recording_done(ssd->inspect.recording, c->serial, &done, c->req.lba);
}

static void host_finish(Ssd *ssd, uint32_t cmd, SsdStatus status)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t ns;

    c->complete_ps = ssd->now_ps;
    c->phase = CMD_DONE;
    c->status = status;
    if (--ssd->commands.running == 0) {
        background_quiet(ssd);
    }
    fifo_push(ssd, &ssd->host->done, cmd);
    oplog_add(ssd->inspect.log, OPLOG_CMD_DONE, status, 0, ssd->now_ps,
              c->serial, 0);
    if (G_UNLIKELY(ssd->inspect.recording)) {
        record_done(ssd, c);
    }
    ns = sim_ceil_ns(c->complete_ps - c->submit_ps);
    ssd->inspect.counters.commands[c->req.op]++;
    hist_add(&ssd->inspect.latency[c->req.op], ns);
    hist_add(&ssd->inspect.latency[SSD_N_OPS], ns);
}

/* When a transfer that is ready at from_ps ends; the link is taken till then. */
static uint64_t link_transfer(Ssd *ssd, uint64_t *busy_ps, uint64_t from_ps,
                              const Cmd *c)
{
    uint64_t bytes = (uint64_t)c->req.nblocks * ssd->info.block_bytes;
    uint64_t ps = 0;

    if (ssd->host->link_den) {
        ps = (uint64_t)(((unsigned __int128)bytes * ssd->host->link_num +
                         ssd->host->link_den - 1) /
                        ssd->host->link_den);
    }
    *busy_ps = MAX(*busy_ps, from_ps) + ps;
    return *busy_ps;
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
        [1] = {2500, 8, 10},      [2] = {5000, 8, 10},
        [3] = {8000, 128, 130},   [4] = {16000, 128, 130},
        [5] = {32000, 128, 130},  [6] = {64000, 236, 256},
    };
    const SsdConfig *cfg = ssd->cfg;

    ssd->host->link_num = 1000000;
    ssd->host->link_den = cfg->link_mb_s;
    if (cfg->pcie_gen) {
        ssd->host->link_num = 8 * 1000000 * gen[cfg->pcie_gen].code_den;
        ssd->host->link_den = gen[cfg->pcie_gen].mt_s * cfg->pcie_lanes *
                        gen[cfg->pcie_gen].code_num;
    }
    ssd->host->core_ps = g_new0(uint64_t, MAX(cfg->cores, 1));
}

/* When firmware has done its part: the core that is free first takes it. */
static uint64_t firmware_end(Ssd *ssd)
{
    uint32_t first = 0;

    if (ssd->cfg->cores == 0) {
        return ssd->now_ps + ssd->cfg->t_firmware_ps;
    }
    for (uint32_t i = 1; i < ssd->cfg->cores; i++) {
        if (ssd->host->core_ps[i] < ssd->host->core_ps[first]) {
            first = i;
        }
    }
    ssd->host->core_ps[first] = MAX(ssd->host->core_ps[first], ssd->now_ps) +
                          ssd->cfg->t_firmware_ps;
    return ssd->host->core_ps[first];
}

/* ---- DRAM ----------------------------------------------------------------------- */

/* With buffer.mb_s DRAM moves one unit after another, whoever's they are: when
 * has it moved those that come now? */
static uint64_t dram_moved(Ssd *ssd, uint64_t units)
{
    ssd->host->dram_free_ps = MAX(ssd->host->dram_free_ps, ssd->now_ps) +
                        units * ssd->buffer->dram_move_ps;
    return ssd->host->dram_free_ps;
}

static uint64_t dram_access_ps(const Ssd *ssd)
{
    return ssd->buffer->dram_unit_ps - ssd->buffer->dram_move_ps;
}

/* When a command whose last access to DRAM ends at from_ps (or now) has put there,
 * or taken from there, so many units more. */
static uint64_t dram_end(Ssd *ssd, uint64_t from_ps, uint64_t units)
{
    uint64_t end_ps =
        MAX(from_ps, ssd->now_ps) + units * ssd->buffer->dram_unit_ps;

    if (ssd->buffer->dram_move_ps) {
        uint64_t moved_ps = dram_moved(ssd, units);

        end_ps = MAX(end_ps, moved_ps + dram_access_ps(ssd));
    }
    return end_ps;
}

/* What a read of NAND brought goes through DRAM, at its rate, on its way to the
 * host; and is kept there or not. */
static uint64_t dram_passed(Ssd *ssd, uint64_t units)
{
    return dram_moved(ssd, units) +
           (buffer_keeps_reads(ssd) ? dram_access_ps(ssd) : 0);
}

/* ---- reads --------------------------------------------------------------------- */

static void check_spare(const Ssd *ssd, uint32_t lpn, uint32_t ppu)
{
    /* The map led to the right place: asked of every read that has a host. */
    g_assert(!ssd->client || spare_lpn(ssd, ppu) == lpn);
}

/* The block cannot be read; of several, the command reports the first. */
static void note_bad(Cmd *c, uint64_t lba)
{
    uint64_t last = c->req.lba + c->req.nblocks - 1;

    c->bad_lba = MIN(c->bad_lba, CLAMP(lba, c->req.lba, last));
}

static void note_bad_parts(const Ssd *ssd, Cmd *c, const NandOp *op)
{
    uint32_t upp = ssd->l.units_per_page;

    for (uint32_t ppu = op->ppa.page * upp; ppu < (op->ppa.page + 1) * upp;
         ppu++) {
        uint64_t wanted = unit_lba_parts(ssd, ppu, c->req.lba,
                                         c->req.lba + c->req.nblocks - 1);
        uint64_t bad = op->bad_parts & wanted;

        if (bad) {
            note_bad(c, unit_first_lba(ssd, ppu, bad));
        }
    }
}

/* Units of a READ that lie in one physical page, collected for one operation:
 * slots that keep them, as a chain, or none. */
typedef struct ReadRun {
    uint32_t page;
    uint32_t units;
    uint32_t first, last; /* slots, or NONE */
    uint64_t parts;
} ReadRun;

static const ReadRun empty_run = {.page = NONE, .first = NONE, .last = NONE};

static void run_send(Ssd *ssd, uint32_t cmd, ReadRun *run)
{
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_HOST,
        .ppa = {run->page},
        .bytes = run->units << ssd->unit_shift,
        .cookie = run->first == NONE ? cmd : MAP_BUFFERED | run->first,
        .parts = run->parts,
    };

    if (run->units > 0) {
        ssd->commands.cmd[cmd].pending++;
        faulty_submit(ssd, &op);
        *run = empty_run;
    }
}

static void run_add(Ssd *ssd, uint32_t cmd, ReadRun *run, uint32_t ppu,
                    uint32_t slot)
{
    if (run->page != ppu_page(ssd, ppu) ||
        (run->first == NONE) != (slot == NONE)) {
        run_send(ssd, cmd, run);
    }
    run->page = ppu_page(ssd, ppu);
    run->parts |= unit_parts(ssd, ppu);
    run->units++;
    if (slot == NONE) {
        return;
    }
    ssd->buffer->slot[slot].before = cmd;
    ssd->buffer->slot[slot].after = NONE;
    if (run->first == NONE) {
        run->first = slot;
    } else {
        ssd->buffer->slot[run->last].after = slot;
    }
    run->last = slot;
}

/* The data is in the drive's memory: send it to the host. */
static void read_ready(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t end = link_transfer(ssd, &ssd->host->link_out_ps, ssd->now_ps, c);

    eventq_push(&ssd->events, end, SSD_EVENT_CMD_DONE, cmd);
}

static void log_lookup(Ssd *ssd, uint32_t cmd, uint32_t lpn)
{
    uint32_t entry = ssd->l2p.entry[lpn];
    OplogWhere where = OPLOG_IN_NAND;

    if (map_is_buffered(entry)) {
        const Slot *s = &ssd->buffer->slot[map_slot(entry)];

        where = s->dead                      ? OPLOG_UNMAPPED
                : state_is_unsafe(s->state)  ? OPLOG_IN_BUFFER
                                             : OPLOG_CACHED;
    } else if (entry == 0) {
        where = OPLOG_UNMAPPED;
    }
    oplog_add(ssd->inspect.log, OPLOG_LOOKUP, where, lpn, ssd->now_ps,
              ssd->commands.cmd[cmd].serial,
              where == OPLOG_IN_NAND ? entry - 1 : 0);
}

/* The unit is in the buffer, or will be when a read of it has ended. */
static void read_slot(Ssd *ssd, uint32_t cmd, uint32_t i)
{
    const Slot *s = &ssd->buffer->slot[i];
    Cmd *c = &ssd->commands.cmd[cmd];

    if (s->dead) {
        return;
    }
    ssd->buffer->stats.read_hits++;
    c->data_ps = dram_end(ssd, c->data_ps, 1);
    if (s->poison) {
        note_bad(c, (uint64_t)s->lpn << ssd->block_shift);
    }
    if (s->state == SLOT_LOADING) {
        slot_wait(ssd, i, cmd, WAIT_LOADED);
    }
    buffer_read_hit(ssd, i);
}

/* A slot for a unit that is being read from NAND. */
static uint32_t loading_slot(Ssd *ssd, uint32_t cmd, uint32_t lpn)
{
    uint32_t entry = ssd->l2p.entry[lpn];
    uint64_t version = map_version(ssd, lpn);
    uint32_t i = slot_take(ssd, lpn, unit_stream(ssd, entry - 1));

    ssd->buffer->slot[i].state = SLOT_LOADING;
    ssd->buffer->slot[i].old_entry = entry;
    ssd->buffer->slot[i].version = version;
    ssd->buffer->slot[i].newer = entry - 1;
    buffer_insert(ssd, i);
    buffer_took(ssd, cmd);
    return i;
}

/* Is the unit to be kept in the buffer once it is read?  What is lost is not,
 * nor anything when the drive can make no more room. */
static bool read_keeps(Ssd *ssd, uint32_t ppu)
{
    return buffer_keeps_reads(ssd) && !spare_poisoned(ssd, ppu) &&
           (!ssd->media->given_up || buffer_room(ssd));
}

/* Room for one more unit, for which others do not wait already? */
static bool read_has_room(Ssd *ssd, uint32_t cmd)
{
    return (ssd->buffer->waiting.head == NONE ||
            ssd->buffer->waiting.head == cmd) &&
           buffer_room(ssd);
}

static void read_nand(Ssd *ssd, uint32_t cmd, uint32_t lpn, ReadRun *run,
                      bool keeps)
{
    uint32_t ppu = ssd->l2p.entry[lpn] - 1;
    uint32_t slot = NONE;

    check_spare(ssd, lpn, ppu);
    if (spare_poisoned(ssd, ppu)) {
        note_bad(&ssd->commands.cmd[cmd], (uint64_t)lpn << ssd->block_shift);
    }
    ssd->buffer->stats.read_misses++;
    if (keeps) {
        slot = loading_slot(ssd, cmd, lpn);
    }
    run_add(ssd, cmd, run, ppu, slot);
}

/* Look up the command's units and read what is in NAND.  false: some wait for
 * room in the buffer. */
static bool read_units(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;
    ReadRun run = empty_run;

    trim_before(ssd, c->next_lpn, last);
    for (; c->next_lpn <= last; c->next_lpn++) {
        uint32_t lpn = (uint32_t)c->next_lpn;
        uint32_t entry = ssd->l2p.entry[lpn];
        bool in_nand = entry && !map_is_buffered(entry);
        bool keeps = in_nand && read_keeps(ssd, entry - 1);

        if (keeps && !ssd->media->given_up && !read_has_room(ssd, cmd)) {
            break;
        }
        log_lookup(ssd, cmd, lpn);
        if (in_nand) {
            read_nand(ssd, cmd, lpn, &run, keeps);
        } else if (entry) {
            read_slot(ssd, cmd, map_slot(entry));
        }
    }
    run_send(ssd, cmd, &run);
    return c->next_lpn > last;
}

/* Every unit has been looked up. */
static void read_looked_up(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    if (c->pending == 0) {
        eventq_push(&ssd->events, MAX(c->data_ps, ssd->now_ps),
                    SSD_EVENT_CMD_DATA, cmd);
    }
}

/* The command joins those that wait for room. */
static void wait_for_room(Ssd *ssd, uint32_t cmd)
{
    ssd->commands.cmd[cmd].waits = true;
    fifo_push(ssd, &ssd->buffer->waiting, cmd);
    if (ssd->buffer->waiting.head == cmd || buffer_make_room(ssd, cmd)) {
        ssd_wake(ssd, WORK_HOST, 0);
    } else {
        ssd_wake(ssd, WORK_BUFFER, 0);
    }
}

/* Does the command know where its units are?  If not, host_map_ready() comes. */
static bool map_ready(Ssd *ssd, uint32_t cmd)
{
    return !ssd->map->policy->lookup || ssd->map->policy->lookup(ssd, cmd);
}

static void read_mapped(Ssd *ssd, uint32_t cmd)
{
    ssd->commands.cmd[cmd].data_ps = ssd->now_ps;
    if (read_units(ssd, cmd)) {
        read_looked_up(ssd, cmd);
    } else {
        wait_for_room(ssd, cmd);
    }
}

static void start_read(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;

    note_buffer(ssd);
    c->next_lpn = c->req.lba >> ssd->block_shift;
    trim_before(ssd, c->next_lpn, last);
    ssd->inspect.counters.host_units_read += last - c->next_lpn + 1;
    ssd->inspect.counters.host_bytes_read += (uint64_t)c->req.nblocks *
                                     ssd->info.block_bytes;
    if (map_ready(ssd, cmd)) {
        read_mapped(ssd, cmd);
    }
}

void host_data(Ssd *ssd, uint32_t cmd)
{
    cmd_account(ssd, &ssd->commands.cmd[cmd], COST_buffer);
    read_ready(ssd, cmd);
}

/* The operation that ended last began after the command: it waited for room. */
static void account_read(Ssd *ssd, Cmd *c, const NandOp *op)
{
    uint64_t spent = 0;

    for (int i = 0; i < NAND_N_TIMES; i++) {
        spent += op->time_ps[i];
    }
    c->cost_ps[COST_buffer] += ssd->now_ps - c->mark_ps - spent;
    c->cost_ps[COST_die_wait] += op->time_ps[NAND_TIME_DIE_WAIT];
    c->cost_ps[COST_bus_wait] += op->time_ps[NAND_TIME_BUS_WAIT];
    c->cost_ps[COST_bus] += op->time_ps[NAND_TIME_BUS];
    c->cost_ps[COST_cell] += op->time_ps[NAND_TIME_CELL];
    c->cost_ps[COST_ecc] += op->time_ps[NAND_TIME_ECC];
    c->mark_ps = ssd->now_ps;
}

/* A part of the command's data has come, by op or by another's operation. */
static void read_part_done(Ssd *ssd, uint32_t cmd, const NandOp *op)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    bool by_dram = buffer_keeps_reads(ssd) || ssd->buffer->dram_move_ps;

    if (--c->pending > 0 || c->waits) {
        return;
    }
    if (op && by_dram) {
        account_read(ssd, c, op);
    }
    if (op && buffer_keeps_reads(ssd)) {
        /* The last unit goes into DRAM. */
        c->data_ps = MAX(c->data_ps, ssd->now_ps + ssd->buffer->dram_unit_ps);
    }
    if (c->data_ps > ssd->now_ps) {
        eventq_push(&ssd->events, c->data_ps, SSD_EVENT_CMD_DATA, cmd);
        return;
    }
    if (!op) {
        cmd_account(ssd, c, COST_buffer);
    } else if (!by_dram) {
        account_read(ssd, c, op);
    }
    read_ready(ssd, cmd);
}

static void host_read_done(Ssd *ssd, uint32_t cmd, const NandOp *op)
{
    if (op->status == NAND_UNCORRECTABLE) {
        note_bad_parts(ssd, &ssd->commands.cmd[cmd], op);
    }
    if (ssd->buffer->dram_move_ps) {
        Cmd *c = &ssd->commands.cmd[cmd];

        uint64_t passed_ps = dram_passed(ssd, op->bytes >> ssd->unit_shift);

        c->data_ps = MAX(c->data_ps, passed_ps);
    }
    read_part_done(ssd, cmd, op);
}

static void host_load_settled(Ssd *ssd, uint32_t cmd, uint32_t lpn, bool bad)
{
    if (bad) {
        note_bad(&ssd->commands.cmd[cmd], (uint64_t)lpn << ssd->block_shift);
    }
    read_part_done(ssd, cmd, NULL);
}

/* ---- writes --------------------------------------------------------------------- */

static uint64_t stall_clock(const Ssd *ssd)
{
    return ssd->buffer->stall_ps + (ssd->buffer->stalled_since_ps == SIM_NEVER
                                ? 0
                                : ssd->now_ps - ssd->buffer->stalled_since_ps);
}

/* Every unit of the write is in the buffer. */
static void write_inserted(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t waited = ssd->now_ps - c->mark_ps;
    uint64_t stalled = MIN(stall_clock(ssd) - c->stall_ps, waited);

    c->cost_ps[COST_gc_wait] += stalled;
    c->cost_ps[COST_buffer] += waited - stalled;
    c->mark_ps = ssd->now_ps;
    if (c->pending == 0) {
        host_finish(ssd, cmd, SSD_STATUS_OK);
    }
}

static void host_slot_settled(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;

    if (c->req.op == SSD_OP_FLUSH) {
        if (--c->pending == 0) {
            write_end_close(ssd, cmd);
        }
        return;
    }
    /* Not while some of its units still wait for room. */
    if (--c->pending == 0 && c->phase == CMD_RUNNING && c->next_lpn > last &&
        (!c->trimmed || saved_flush(ssd, cmd))) {
        cmd_account(ssd, c, COST_flush);
        host_finish(ssd, cmd, c->status);
    }
}

static void start_write(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t first = c->req.lba >> ssd->block_shift;
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;

    trim_before(ssd, first, last);
    c->next_lpn = first;
    c->stall_ps = stall_clock(ssd);
    ssd->inspect.counters.host_units_written += last - first + 1;
    ssd->inspect.counters.host_bytes_written += (uint64_t)c->req.nblocks *
                                        ssd->info.block_bytes;
    if (!ssd->placement->hot_count) { /* else write.c does it, unit by unit */
        stream_wrote(ssd, c->req.stream, c->req.nblocks);
    }
    note_buffer(ssd);
    buffer_count_write(ssd);
    map_ready(ssd, cmd); /* it has its turn meanwhile: versions stay in order */
    wait_for_room(ssd, cmd);
}

/* A write that waits no longer for room came too late: the drive gave up. */
static void host_map_ready(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    cmd_account(ssd, c, COST_map);
    if (c->req.op == SSD_OP_READ) {
        read_mapped(ssd, cmd);
    } else if (!c->waits) {
        host_finish(ssd, cmd, SSD_STATUS_READ_ONLY);
    } else {
        c->stall_ps = stall_clock(ssd);
        if (ssd->buffer->waiting.head == cmd) {
            ssd_wake(ssd, WORK_HOST, 0);
        }
    }
}

/* Take the command from those that wait for room. */
static uint32_t end_waiting(Ssd *ssd)
{
    uint32_t cmd = fifo_pop(ssd, &ssd->buffer->waiting);

    ssd->commands.cmd[cmd].waits = false;
    buffer_settle(ssd, cmd);
    return cmd;
}

static uint64_t last_lpn(const Ssd *ssd, uint32_t cmd)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;

    return (r->lba + r->nblocks - 1) >> ssd->block_shift;
}

/* Go on with the first command that waits; false: it still has to. */
static bool go_on(Ssd *ssd)
{
    uint32_t cmd = ssd->buffer->waiting.head;
    bool reads = ssd->commands.cmd[cmd].req.op == SSD_OP_READ;

    if (!reads) {
        trim_before(ssd, ssd->commands.cmd[cmd].next_lpn, last_lpn(ssd, cmd));
    }
    if (!(reads ? read_units(ssd, cmd) : write_insert(ssd, cmd))) {
        return false;
    }
    end_waiting(ssd);
    if (reads) {
        read_looked_up(ssd, cmd);
    } else {
        write_inserted(ssd, cmd);
    }
    return true;
}

void host_room(Ssd *ssd)
{
    while (ssd->buffer->waiting.head != NONE) {
        bool known =
            ssd->commands.cmd[ssd->buffer->waiting.head].map_pending == 0;
        bool all = known && go_on(ssd);

        ssd_wake(ssd, WORK_BUFFER, 0);
        if (!all && !(known &&
                      buffer_make_room(ssd, ssd->buffer->waiting.head))) {
            return;
        }
    }
}

/* The drive has given up: reads go on without the buffer. */
void host_fail_waiting(Ssd *ssd)
{
    while (ssd->buffer->waiting.head != NONE) {
        uint32_t cmd = end_waiting(ssd);
        Cmd *c = &ssd->commands.cmd[cmd];
        bool begun = c->next_lpn > c->req.lba >> ssd->block_shift;

        if (c->req.op == SSD_OP_READ) {
            bool all = read_units(ssd, cmd);

            g_assert(all);
            read_looked_up(ssd, cmd);
            continue;
        }
        if (c->map_pending > 0) {
            continue; /* host_map_ready() ends it */
        }
        cmd_account(ssd, c, COST_buffer);
        host_finish(ssd, cmd, begun ? SSD_STATUS_WRITE_FAULT
                                    : SSD_STATUS_READ_ONLY);
    }
}

/* ---- the rest ------------------------------------------------------------------- */

/* A shutdown drains the buffer in any case. */
static void start_flush(Ssd *ssd, uint32_t cmd)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;

    if (r->op == SSD_OP_FLUSH && r->close) {
        write_start_close(ssd, cmd);
    } else if (r->op == SSD_OP_FLUSH && no_drain(ssd)) {
        host_finish(ssd, cmd, SSD_STATUS_OK);
    } else if (write_flush_fails(ssd)) {
        host_finish(ssd, cmd, SSD_STATUS_WRITE_FAULT);
    } else {
        write_barrier(ssd, cmd);
    }
}

/* Split the time since submission: firmware, link, and DRAM of a write. */
static void account_start(Ssd *ssd, Cmd *c)
{
    uint64_t passed = ssd->now_ps - c->submit_ps;

    c->cost_ps[COST_firmware] = c->firmware_ps;
    c->cost_ps[COST_buffer] = c->req.op == SSD_OP_WRITE ? c->data_ps : 0;
    c->cost_ps[COST_link] = passed - c->cost_ps[COST_firmware] -
                            c->cost_ps[COST_buffer];
    c->mark_ps = ssd->now_ps;
}

static uint64_t n_units(const Ssd *ssd, const Cmd *c)
{
    return ((c->req.lba + c->req.nblocks - 1) >> ssd->block_shift) -
           (c->req.lba >> ssd->block_shift) + 1;
}

/* With buffer.mb_s a write's turn in DRAM is known when its data has crossed the
 * link.  true: it was not there yet. */
static bool enters_dram(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    if (!ssd->buffer->dram_move_ps || c->req.op != SSD_OP_WRITE || c->linked) {
        return false;
    }
    c->linked = true;
    ssd->host->dram_in_ps =
        dram_end(ssd, ssd->host->dram_in_ps, n_units(ssd, c));
    c->data_ps = ssd->host->dram_in_ps - ssd->now_ps;
    eventq_push(&ssd->events, ssd->host->dram_in_ps, SSD_EVENT_CMD_START, cmd);
    return true;
}

void host_start(Ssd *ssd, uint32_t cmd)
{
    if (enters_dram(ssd, cmd)) {
        return;
    }
    account_start(ssd, &ssd->commands.cmd[cmd]);
    if (!ssd->host->gate->waits(ssd, cmd)) {
        host_start_now(ssd, cmd);
    }
}

void host_start_now(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    if (c->status == SSD_STATUS_ABORTED) {
        host_finish(ssd, cmd, SSD_STATUS_ABORTED);
        return;
    }
    c->phase = CMD_RUNNING;
    if (ssd->media->read_only &&
        (c->req.op == SSD_OP_WRITE || c->req.op == SSD_OP_TRIM)) {
        host_finish(ssd, cmd, SSD_STATUS_READ_ONLY);
        return;
    }
    switch (c->req.op) {
    case SSD_OP_READ:
        start_read(ssd, cmd);
        break;
    case SSD_OP_WRITE:
        start_write(ssd, cmd);
        break;
    case SSD_OP_TRIM:
        trim_start(ssd, cmd);
        break;
    case SSD_OP_FLUSH:
    case SSD_OP_SHUTDOWN:
        start_flush(ssd, cmd);
        break;
    default:
        g_assert_not_reached();
    }
}

void host_done(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    cmd_account(ssd, c, COST_link);
    host_finish(ssd, cmd, c->bad_lba == NO_LBA ? SSD_STATUS_OK
                                               : SSD_STATUS_UNRECOVERED_READ);
}

/* ---- submission ------------------------------------------------------------------ */

static uint32_t cmd_take(Ssd *ssd)
{
    uint32_t i;

    if (ssd->commands.free_cmd == NONE) {
        uint32_t old = ssd->commands.n_cmds;

        ssd->commands.n_cmds = old ? old * 2 : 64;
        ssd->commands.cmd =
            g_renew(Cmd, ssd->commands.cmd, ssd->commands.n_cmds);
        for (i = ssd->commands.n_cmds; i-- > old;) {
            ssd->commands.cmd[i].phase = CMD_FREE;
            ssd->commands.cmd[i].next = ssd->commands.free_cmd;
            ssd->commands.free_cmd = i;
        }
    }
    i = ssd->commands.free_cmd;
    ssd->commands.free_cmd = ssd->commands.cmd[i].next;
    return i;
}

static bool range_is_bad(const Ssd *ssd, const SsdCmd *r)
{
    return r->op != SSD_OP_FLUSH && r->op != SSD_OP_SHUTDOWN &&
           (r->nblocks == 0 || r->lba >= ssd->info.nblocks ||
            r->nblocks > ssd->info.nblocks - r->lba);
}

static bool closes(const SsdCmd *r)
{
    return r->op == SSD_OP_FLUSH && r->close;
}

static bool stream_is_bad(const Ssd *ssd, const SsdCmd *r)
{
    return (r->op == SSD_OP_WRITE || closes(r)) &&
           r->stream >= ssd->info.host_streams;
}

static int check_submit(const Ssd *ssd, const SsdCmd *r)
{
    if (!ssd->powered) {
        return -ENODEV;
    }
    if (range_is_bad(ssd, r) || stream_is_bad(ssd, r)) {
        return -EINVAL;
    }
    return ssd->commands.running >= ssd->info.queue_depth ? -EBUSY : 0;
}

/*
 * When the command begins to act: firmware, then the data of a write over the
 * link and into DRAM.  Both are first come, first served, so writes reach the
 * buffer in the order of their versions.
 */
static uint64_t start_ps(Ssd *ssd, Cmd *c)
{
    uint64_t ps = firmware_end(ssd);
    uint64_t linked_ps;

    c->firmware_ps = ps - ssd->now_ps;
    if (c->req.op != SSD_OP_WRITE) {
        return ps;
    }
    linked_ps = link_transfer(ssd, &ssd->host->link_in_ps, ps, c);
    if (ssd->buffer->dram_move_ps) {
        return linked_ps;
    }
    ssd->host->dram_in_ps = MAX(ssd->host->dram_in_ps, linked_ps) +
                      n_units(ssd, c) * ssd->buffer->dram_unit_ps;
    c->data_ps = ssd->host->dram_in_ps - linked_ps;
    return ssd->host->dram_in_ps;
}

int host_submit(Ssd *ssd, uint64_t now_ns, const SsdCmd *req)
{
    uint32_t i;
    int ret = check_submit(ssd, req);

    if (ret) {
        return ret;
    }
    if (req->op == SSD_OP_WRITE && ssd->client) {
        g_assert(req->version > ssd->buffer->last_version &&
                 req->version < 1ULL << 48);
        ssd->buffer->last_version = req->version;
    } else if (req->op == SSD_OP_WRITE && saves(ssd)) {
        ssd->buffer->last_version++;
    }
    if (!ssd->commands.submitted && has_checkpoints(ssd) &&
        ssd->l2p.mapped_units > 0) {
        saved_preload(ssd);
    }
    ssd->commands.submitted = true;
    i = cmd_take(ssd);
    ssd->commands.cmd[i] = (Cmd){
        .req = *req,
        .serial = ++ssd->commands.last_serial,
        .submit_ps = ssd->now_ps,
        .mark_ps = ssd->now_ps,
        .bad_lba = NO_LBA,
        .phase = CMD_SUBMITTED,
        .next = NONE,
    };
    if (!ssd->client && saves(ssd)) {
        ssd->commands.cmd[i].req.version = ssd->buffer->last_version;
    }
    ssd->commands.running++;
    background_stop(ssd);
    oplog_unit(ssd->inspect.log, OPLOG_CMD,
               req->op | (req->fua ? 0x80 : 0) | (closes(req) ? 0x40 : 0),
               closes(req) ? req->stream : 0, req->nblocks, ssd->now_ps,
               ssd->commands.cmd[i].serial, req->lba);
    if (G_UNLIKELY(ssd->inspect.recording)) {
        recording_cmd(ssd->inspect.recording, req, now_ns);
    }
    eventq_push(&ssd->events, start_ps(ssd, &ssd->commands.cmd[i]),
                SSD_EVENT_CMD_START, i);
    if (ssd->media->faults && faults_cmd(ssd->media->faults, ssd->now_ps)) {
        ssd->host->gate->cut(ssd);
    }
    return 0;
}

bool host_abort(Ssd *ssd, uint64_t now_ns, uint64_t tag)
{
    for (uint32_t i = 0; i < ssd->commands.n_cmds; i++) {
        Cmd *c = &ssd->commands.cmd[i];

        if (c->phase == CMD_SUBMITTED && c->req.tag == tag) {
            c->status = SSD_STATUS_ABORTED;
            if (ssd->inspect.recording) {
                recording_abort(ssd->inspect.recording, c->serial, now_ns);
            }
            return true;
        }
    }
    return false;
}

/* ---- completion ------------------------------------------------------------------- */

/*
 * ps to ns, part by part: each part is the difference of two rounded sums, so
 * the parts sum to the rounded latency.
 */
static void convert_costs(const Cmd *c, SsdBreakdown *b)
{
    uint64_t *out = (uint64_t *)b;
    uint64_t sum_ps = 0;
    uint64_t sum_ns = 0;

    G_STATIC_ASSERT(sizeof(*b) == N_COSTS * sizeof(uint64_t));
    for (int i = 0; i < N_COSTS; i++) {
        if (c->cost_ps[i] == 0) {
            out[i] = 0;
            continue;
        }
        sum_ps += c->cost_ps[i];
        out[i] = sim_ceil_ns(sum_ps) - sum_ns;
        sum_ns += out[i];
    }
    g_assert(sum_ps == c->complete_ps - c->submit_ps);
}

static void fetch(Ssd *ssd, SsdCompletion *done)
{
    uint32_t i = fifo_pop(ssd, &ssd->host->done);
    Cmd *c = &ssd->commands.cmd[i];

    *done = (SsdCompletion){
        .tag = c->req.tag,
        .submit_ns = c->submit_ps / PS_PER_NS,
        .complete_ns = sim_ceil_ns(c->complete_ps),
        .status = c->status,
        .bad_lba = c->status == SSD_STATUS_UNRECOVERED_READ ? c->bad_lba : 0,
    };
    convert_costs(c, &done->cost);
    c->phase = CMD_FREE;
    c->next = ssd->commands.free_cmd;
    ssd->commands.free_cmd = i;
}

size_t host_fetch(Ssd *ssd, SsdCompletion *done, size_t max)
{
    size_t n = 0;

    while (n < max && ssd->host->done.head != NONE) {
        fetch(ssd, &done[n++]);
    }
    return n;
}

const CmdOps host_cmd_ops = {
    .finish = host_finish,
    .slot_settled = host_slot_settled,
    .load_settled = host_load_settled,
    .read_done = host_read_done,
    .map_ready = host_map_ready,
};
