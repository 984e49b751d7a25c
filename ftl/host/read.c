/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.c - READ commands: units from the buffer and from NAND.
 *
 * A read sends the NAND reads of all its pages at once; DRAM accesses of
 * buffered units run beside them.  With a policy that caches, a unit from NAND
 * needs room in the buffer first.
 *
 * Knows a command's units; does not know how commands wait for each other.
 */
#include "buffer/buffer.h"
#include "buffer/reads.h"
#include "commands.h"
#include "controller/controller.h"
#include "host/ahead.h"
#include "host/host-private.h"
#include "host/host.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "map/map.h"
#include "media/faulty.h"
#include "media/media.h"
#include "media/spare.h"
#include "ssd-internal.h"

static void check_spare(const Ssd *ssd, uint64_t lpn, uint64_t ppu)
{
    /* The map led to the right place: asked of every read that has a host. */
    invariant(!ssd->client || spare_lpn(ssd, ppu) == lpn);
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

    for (uint64_t ppu = op->ppa.page * upp; ppu < (op->ppa.page + 1) * upp;
         ppu++) {
        uint64_t wanted = unit_lba_parts(ssd, ppu, c->req.lba,
                                         c->req.lba + c->req.nblocks - 1);
        uint64_t bad = op->bad_parts & wanted;

        if (bad) {
            note_bad(c, unit_first_lba(ssd, ppu, bad));
        }
    }
}

/* Units of a READ that are in one physical page, collected for one operation:
 * slots that keep them, as a chain, or none. */
typedef struct ReadRun {
    uint64_t page;
    uint32_t units;
    uint32_t first, last; /* slots, or NONE */
    uint64_t parts;
} ReadRun;

static const ReadRun empty_run = {.page = NO_PAGE, .first = NONE, .last = NONE};

static void run_send(Ssd *ssd, uint32_t cmd, ReadRun *run)
{
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_HOST,
        .ppa = {run->page},
        .bytes = run->units << ssd->unit_shift,
        .cookie = run->first == NONE ? cmd : COOKIE_SLOT | run->first,
        .parts = run->parts,
    };

    if (run->units > 0) {
        invariant(run->page < ssd->geo->n_pages &&
                  run->units <= ssd->l.units_per_page);
        ssd->commands.cmd[cmd].pending++;
        faulty_submit(ssd, &op);
        *run = empty_run;
    }
}

static void run_add(Ssd *ssd, uint32_t cmd, ReadRun *run, uint64_t ppu,
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
    slot_join_read(ssd, slot, cmd, run->last);
    if (run->first == NONE) {
        run->first = slot;
    }
    run->last = slot;
}

/* The data is in the drive's memory: send it to the host. */
static void read_ready(Ssd *ssd, uint32_t cmd)
{
    const Cmd *c = &ssd->commands.cmd[cmd];

    eventq_push(&ssd->events, host_link_out(ssd, c), SSD_EVENT_CMD_DONE, cmd);
}

static void log_lookup(Ssd *ssd, uint32_t cmd, uint64_t lpn)
{
    uint64_t entry = l2p_get(&ssd->l2p, lpn);
    OplogWhere where = OPLOG_IN_NAND;

    if (map_is_buffered(entry)) {
        const Slot *s = &ssd->buffer->slot[map_slot(entry)];

        where = s->dead                     ? OPLOG_UNMAPPED
                : state_is_unsafe(s->state) ? OPLOG_IN_BUFFER
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

    invariant(s->state != SLOT_FREE);
    if (s->dead) {
        return;
    }
    c->data_ps = dram_end(ssd, c->data_ps, 1);
    if (s->poison) {
        note_bad(c, (uint64_t)s->lpn << ssd->block_shift);
    }
    if (s->state == SLOT_LOADING) {
        slot_wait(ssd, i, cmd, WAIT_LOADED);
    }
    buffer_read_hit(ssd, i);
}

/* Is the unit to be kept in the buffer once it is read?  A lost unit is not,
 * nor any unit when the drive can make no more room. */
static bool read_keeps(Ssd *ssd, uint64_t ppu)
{
    return buffer_keeps_reads(ssd) && !spare_poisoned(ssd, ppu) &&
           (!media_cannot_program(ssd) || buffer_room(ssd));
}

/* Room for one more unit, for which others do not wait already? */
static bool read_has_room(Ssd *ssd, uint32_t cmd)
{
    return (ssd->buffer->waiting.head == NONE ||
            ssd->buffer->waiting.head == cmd) &&
           buffer_room(ssd);
}

static void read_nand(Ssd *ssd, uint32_t cmd, uint64_t lpn, ReadRun *run,
                      bool keeps)
{
    uint64_t ppu = l2p_get(&ssd->l2p, lpn) - 1;
    uint32_t slot = NONE;

    check_spare(ssd, lpn, ppu);
    if (spare_poisoned(ssd, ppu)) {
        note_bad(&ssd->commands.cmd[cmd], (uint64_t)lpn << ssd->block_shift);
    }
    buffer_read_miss(ssd);
    if (keeps) {
        slot = slot_load(ssd, cmd, lpn, map_version(ssd, lpn));
    }
    run_add(ssd, cmd, run, ppu, slot);
}

bool read_units(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;
    ReadRun run = empty_run;

    invariant(cmd < ssd->commands.n_cmds);
    trim_before(ssd, c->next_lpn, last);
    for (; c->next_lpn <= last; c->next_lpn++) {
        uint64_t lpn = c->next_lpn;
        uint64_t entry = l2p_get(&ssd->l2p, lpn);
        bool in_nand = entry && !map_is_buffered(entry);
        bool keeps;

        if (in_nand && ssd->cfg->read_ahead && ahead_hit(ssd, cmd, lpn)) {
            oplog_add(ssd->inspect.log, OPLOG_LOOKUP, OPLOG_CACHED, lpn,
                      ssd->now_ps, ssd->commands.cmd[cmd].serial, 0);
            continue;
        }
        keeps = in_nand && read_keeps(ssd, entry - 1);
        if (keeps && !media_cannot_program(ssd) && !read_has_room(ssd, cmd)) {
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

void read_start(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;

    invariant(cmd < ssd->commands.n_cmds);
    note_buffer(ssd);
    c->next_lpn = c->req.lba >> ssd->block_shift;
    trim_before(ssd, c->next_lpn, last);
    if (c->req.internal) {
        return;
    }
    ssd->inspect.counters.host_units_read += last - c->next_lpn + 1;
    ssd->inspect.counters.host_bytes_read +=
        (uint64_t)c->req.nblocks * ssd->info.block_bytes;
}

void read_looked_up(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    invariant(cmd < ssd->commands.n_cmds);
    if (ssd->cfg->read_ahead) {
        ahead_note_read(ssd, cmd);
    }
    if (c->pending == 0) {
        eventq_push(&ssd->events, MAX(c->data_ps, ssd->now_ps),
                    SSD_EVENT_CMD_DATA, cmd);
    }
}

void host_data(Ssd *ssd, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    cmd_account(ssd, &ssd->commands.cmd[cmd], COST_buffer);
    read_ready(ssd, cmd);
}

/* The operation that ended last began after the command: it waited for room. */
static void account_read(Ssd *ssd, Cmd *c, const NandOp *op)
{
    uint64_t spent = 0;

    invariant(ssd->now_ps >= c->mark_ps + spent);
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
    bool by_dram = buffer_keeps_reads(ssd) || ssd->controller->dram_move_ps;

    invariant(c->pending > 0);
    if (--c->pending > 0 || c->waits) {
        return;
    }
    if (op && by_dram) {
        account_read(ssd, c, op);
    }
    if (op && buffer_keeps_reads(ssd)) {
        /* The last unit goes into DRAM. */
        c->data_ps =
            MAX(c->data_ps, ssd->now_ps + ssd->controller->dram_unit_ps);
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

void read_nand_done(Ssd *ssd, uint32_t cmd, const NandOp *op)
{
    invariant(cmd < ssd->commands.n_cmds);
    if (op->status == NAND_UNCORRECTABLE) {
        note_bad_parts(ssd, &ssd->commands.cmd[cmd], op);
    }
    if (ssd->controller->dram_move_ps) {
        Cmd *c = &ssd->commands.cmd[cmd];
        uint64_t passed_ps =
            host_dram_passed(ssd, op->bytes >> ssd->unit_shift);

        c->data_ps = MAX(c->data_ps, passed_ps);
    }
    read_part_done(ssd, cmd, op);
}

void read_load_settled(Ssd *ssd, uint32_t cmd, uint64_t lpn, bool bad)
{
    invariant(lpn < ssd->l.user_units + ssd->l.meta_units);
    invariant(cmd < ssd->commands.n_cmds);
    if (bad) {
        note_bad(&ssd->commands.cmd[cmd], (uint64_t)lpn << ssd->block_shift);
    }
    read_part_done(ssd, cmd, NULL);
}
