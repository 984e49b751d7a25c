/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.c - host commands: submission, waiting, completion.
 *
 * Knows commands and their latency, split by cause; leaves slots to write.c
 * and units to map.c.
 *
 *   READ   firmware; NAND reads of all its pages at once, DRAM for buffered
 *          units beside them; data over the link; done (read.c)
 *   WRITE  firmware; data over the link; DRAM; room in the buffer; done, or
 *          (FUA, host.complete_at=program) done when durable
 *   TRIM   firmware; done (trim.c)
 *   FLUSH  firmware; barrier reached (with close: its stream's units are in
 *          NAND); done
 */
#include <errno.h>

#include "buffer/buffer.h"
#include "commands.h"
#include "controller/cmb.h"
#include "controller/controller.h"
#include "gc/gc.h"
#include "host/ahead.h"
#include "host/host-private.h"
#include "host/host.h"
#include "inspect/inspect.h"
#include "inspect/oplog.h"
#include "inspect/recording.h"
#include "journal/counters.h"
#include "journal/saved.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "map/reset.h"
#include "media/faulty.h"
#include "media/media.h"
#include "placement/streams.h"
#include "short-way.h"
#include "ssd-internal.h"
#include "thermal/thermal.h"
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

/* The completion is at the host. */
static void complete(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t ns;

    c->complete_ps = ssd->now_ps;
    cmd_set_phase(c, CMD_DONE);
    invariant(ssd->commands.running > 0);
    if (--ssd->commands.running == 0) {
        background_quiet(ssd);
        if (G_UNLIKELY(ssd->thermal->on)) {
            thermal_quiet(ssd);
        }
    }
    fifo_push(ssd, &ssd->host->done, cmd);
    oplog_add(ssd->inspect.log, OPLOG_CMD_DONE, c->status, 0, ssd->now_ps,
              c->serial, 0);
    if (G_UNLIKELY(ssd->inspect.recording)) {
        record_done(ssd, c);
    }
    if (G_UNLIKELY(ssd->inspect.timeline)) {
        timeline_cmd(ssd->inspect.timeline, c);
    }
    invariant(c->complete_ps >= c->submit_ps);
    ns = sim_ceil_ns(c->complete_ps - c->submit_ps);
    if (c->req.internal) {
        return;
    }
    ssd->inspect.counters.commands[c->req.op]++;
    if (c->status == SSD_STATUS_OK && c->req.op == SSD_OP_SHUTDOWN) {
        counters_save(ssd);
    } else if (c->status != SSD_STATUS_POWER_LOSS) {
        counters_changed(ssd);
    }
    live_note_cmd(ssd->inspect.slow, c);
    hist_add(&ssd->inspect.latency[c->req.op], ns);
    hist_add(&ssd->inspect.latency[SSD_N_OPS], ns);
}

static void host_finish(Ssd *ssd, uint32_t cmd, SsdStatus status)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    c->status = status;
    if (status == SSD_STATUS_POWER_LOSS || !host_end_takes_time(ssd)) {
        complete(ssd, cmd);
        return;
    }
    cmd_set_phase(c, CMD_ENDING);
    eventq_push(&ssd->events, host_end_ps(ssd, c), SSD_EVENT_CMD_END, cmd);
}

void host_end(Ssd *ssd, uint32_t cmd)
{
    invariant(ssd->commands.cmd[cmd].phase == CMD_ENDING);
    complete(ssd, cmd);
}

/* ---- room in the buffer ------------------------------------------------- */

/* The command joins those that wait for room. */
static void wait_for_room(Ssd *ssd, uint32_t cmd)
{
    invariant(!ssd->commands.cmd[cmd].waits);
    ssd->commands.cmd[cmd].waits = true;
    if (ssd->buffer->waiting.head == NONE) {
        ssd->host->room_since_ps = ssd->now_ps;
    }
    buffer_wait(ssd, cmd);
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
    read_start(ssd, cmd);
    if (map_ready(ssd, cmd)) {
        read_mapped(ssd, cmd);
    }
}

/* ---- writes -------------------------------------------------------------- */

static uint64_t stall_clock(const Ssd *ssd)
{
    return ssd->buffer->stall_ps +
           (ssd->buffer->stalled_since_ps == SIM_NEVER
                ? 0
                : ssd->now_ps - ssd->buffer->stalled_since_ps);
}

/* The command changes what was read ahead. */
static void drop_ahead(Ssd *ssd, const Cmd *c)
{
    if (ssd->cfg->read_ahead) {
        ahead_drop(ssd, c->req.lba >> ssd->block_shift,
                   (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift);
    }
}

static void write_ends(Ssd *ssd, uint32_t cmd)
{
    if (ssd->commands.cmd[cmd].pending == 0) {
        host_finish(ssd, cmd, SSD_STATUS_OK);
    }
}

/* Every unit of the write is in the buffer. */
static void write_inserted(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t waited = ssd->now_ps - c->mark_ps;
    uint64_t stalled = MIN(stall_clock(ssd) - c->stall_ps, waited);

    invariant(ssd->now_ps >= c->mark_ps);
    c->cost_ps[COST_gc_wait] += stalled;
    c->cost_ps[COST_buffer] += waited - stalled;
    c->mark_ps = ssd->now_ps;
    drop_ahead(ssd, c); /* what was read since it began */
    write_ends(ssd, cmd);
}

static void host_slot_settled(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;

    if (c->req.op == SSD_OP_FLUSH) {
        invariant(c->pending > 0);
        if (--c->pending == 0) {
            write_end_close(ssd, cmd);
        }
        return;
    }
    /* Not while some of its units still wait for room. */
    invariant(c->pending > 0);
    if (--c->pending == 0 && c->phase == CMD_RUNNING && c->next_lpn > last &&
        (!c->trimmed || saved_flush(ssd, cmd))) {
        cmd_account(ssd, c, COST_flush);
        host_finish(ssd, cmd, c->status);
    }
}

/* The write is counted, and starts with its first unit. */
static void begin_write(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t first = c->req.lba >> ssd->block_shift;
    uint64_t last = (c->req.lba + c->req.nblocks - 1) >> ssd->block_shift;

    trim_before(ssd, first, last);
    drop_ahead(ssd, c);
    c->next_lpn = first;
    c->stall_ps = stall_clock(ssd);
    if (!c->req.internal) {
        ssd->inspect.counters.host_units_written += last - first + 1;
        ssd->inspect.counters.host_bytes_written +=
            (uint64_t)c->req.nblocks * ssd->info.block_bytes;
    }
    if (!ssd->placement
             ->chooses_stream) { /* else write.c does it, unit by unit */
        stream_wrote(ssd, c->req.stream, c->req.nblocks);
    }
    note_buffer(ssd);
    buffer_count_write(ssd);
}

static void start_write(Ssd *ssd, uint32_t cmd)
{
    begin_write(ssd, cmd);
    map_ready(ssd, cmd); /* it has its turn meanwhile: versions stay in order */
    wait_for_room(ssd, cmd);
}

/* A write that no longer waits for a slot was too late: the drive has failed.
 */
static void map_known(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    invariant(c->map_pending == 0 && c->phase == CMD_RUNNING);
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

/* Firmware has to look at what was read of the map. */
static void host_map_ready(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];
    uint64_t work_ps = c->map_misses * ssd->cfg->t_map_miss_ps;

    cmd_account(ssd, c, COST_map);
    if (work_ps == 0) {
        map_known(ssd, cmd);
        return;
    }
    c->map_pending = 1;
    controller_pend(ssd);
    eventq_push(&ssd->events, core_run(ssd, work_ps), SSD_EVENT_CMD_MAPPED,
                cmd);
}

void host_mapped(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    c->map_pending = 0;
    controller_unpend(ssd);
    cmd_account(ssd, c, COST_firmware);
    map_known(ssd, cmd);
}

/* Take the command from those that wait for room. */
static uint32_t end_waiting(Ssd *ssd)
{
    uint32_t cmd = buffer_end_wait(ssd);

    invariant(ssd->commands.cmd[cmd].waits);
    ssd->commands.cmd[cmd].waits = false;
    ssd->host->room_wait_ps += ssd->now_ps - ssd->commands.cmd[cmd].mark_ps;
    if (ssd->buffer->waiting.head == NONE) {
        ssd->host->room_busy_ps += ssd->now_ps - ssd->host->room_since_ps;
    }
    buffer_settle(ssd, cmd);
    return cmd;
}

static uint64_t last_lpn(const Ssd *ssd, uint32_t cmd)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;

    return (r->lba + r->nblocks - 1) >> ssd->block_shift;
}

static uint64_t n_units(const Ssd *ssd, const Cmd *c)
{
    return ((c->req.lba + c->req.nblocks - 1) >> ssd->block_shift) -
           (c->req.lba >> ssd->block_shift) + 1;
}

/* Go on with the first command that waits; false: it still has to. */
static bool first_goes_on(Ssd *ssd)
{
    uint32_t cmd = ssd->buffer->waiting.head;
    bool reads = ssd->commands.cmd[cmd].req.op == SSD_OP_READ;

    invariant(cmd < ssd->commands.n_cmds &&
              ssd->commands.cmd[cmd].map_pending == 0);
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
        bool all = known && first_goes_on(ssd);

        ssd_wake(ssd, WORK_BUFFER, 0);
        if (!all && !(known &&
                      buffer_make_room(ssd, ssd->buffer->waiting.head))) {
            return;
        }
    }
}

/* The drive has failed: reads go on without the buffer. */
void host_fail_waiting(Ssd *ssd)
{
    invariant(media_cannot_program(ssd));
    while (ssd->buffer->waiting.head != NONE) {
        uint32_t cmd = end_waiting(ssd);
        Cmd *c = &ssd->commands.cmd[cmd];
        bool begun = c->next_lpn > c->req.lba >> ssd->block_shift;

        if (c->req.op == SSD_OP_READ) {
            bool all = read_units(ssd, cmd);

            invariant(all);
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

/* ---- the rest ------------------------------------------------------------ */

/* A shutdown drains the buffer in any case, but with zones: a padded page would
 * leave too little room in the zone's blocks. */
static void start_flush(Ssd *ssd, uint32_t cmd)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;

    invariant(r->op == SSD_OP_FLUSH || r->op == SSD_OP_SHUTDOWN);
    if (r->op == SSD_OP_FLUSH && r->close) {
        write_start_close(ssd, cmd);
    } else if ((r->op == SSD_OP_FLUSH || ssd->l.n_zones > 0) && no_drain(ssd)) {
        host_finish(ssd, cmd, SSD_STATUS_OK);
    } else if (write_flush_fails(ssd)) {
        host_finish(ssd, cmd, SSD_STATUS_WRITE_FAULT);
    } else {
        write_barrier(ssd, cmd);
    }
}

static void start_trim(Ssd *ssd, uint32_t cmd)
{
    const SsdCmd *r = &ssd->commands.cmd[cmd].req;
    uint64_t before_ps = r->erase ? reset_before_ps(ssd, r) : 0;

    if (before_ps == 0) {
        trim_start(ssd, cmd);
    } else {
        eventq_push(&ssd->events, ssd->now_ps + before_ps, SSD_EVENT_RESET,
                    cmd);
    }
}

/* Split the time since submission: firmware, link, and DRAM of a write. */
static void account_start(Ssd *ssd, Cmd *c)
{
    uint64_t passed = ssd->now_ps - c->submit_ps;

    invariant(passed >= c->firmware_ps);
    c->cost_ps[COST_firmware] = c->firmware_ps;
    c->cost_ps[COST_buffer] =
        c->req.op == SSD_OP_WRITE || c->linked ? c->data_ps : 0;
    c->cost_ps[COST_link] = passed - c->cost_ps[COST_firmware] -
                            c->cost_ps[COST_buffer];
    c->mark_ps = ssd->now_ps;
}

/* Would host_room() put the write into the buffer as soon as the event's work
 * is done, as the first one and as a whole? */
static bool enters_at_once(const Ssd *ssd, const Cmd *c)
{
    return c->req.op == SSD_OP_WRITE && c->status != SSD_STATUS_ABORTED &&
           !media_is_read_only(ssd) && !ssd->map->policy->lookup &&
           buffer_is_open(ssd, n_units(ssd, c));
}

/* The same, without joining those that wait for room. */
static void write_at_once(Ssd *ssd, uint32_t cmd)
{
    bool all;

    invariant(ssd->work.any == 0); /* nothing would come before host_room() */
    cmd_set_phase(&ssd->commands.cmd[cmd], CMD_RUNNING);
    begin_write(ssd, cmd);
    ssd->host->room_since_ps = ssd->now_ps;
    buffer_pass(ssd, cmd);
    all = write_insert(ssd, cmd);
    invariant(all && ssd->commands.cmd[cmd].mark_ps == ssd->now_ps);
    write_ends(ssd, cmd);
    ssd_wake(ssd, WORK_BUFFER, 0);
}

void host_start(Ssd *ssd, uint32_t cmd)
{
    invariant(cmd < ssd->commands.n_cmds);
    if (host_enters_dram(ssd, cmd)) {
        return;
    }
    account_start(ssd, &ssd->commands.cmd[cmd]);
    if (ssd->host->gate->waits(ssd, cmd)) {
        return;
    }
    if (SHORT_WAY && enters_at_once(ssd, &ssd->commands.cmd[cmd])) {
        write_at_once(ssd, cmd);
    } else {
        host_start_now(ssd, cmd);
    }
}

void host_start_now(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    invariant(cmd < ssd->commands.n_cmds);
    if (c->status == SSD_STATUS_ABORTED) {
        host_finish(ssd, cmd, SSD_STATUS_ABORTED);
        return;
    }
    cmd_set_phase(c, CMD_RUNNING);
    if (media_is_read_only(ssd) &&
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
        drop_ahead(ssd, c);
        start_trim(ssd, cmd);
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

    invariant(c->req.op == SSD_OP_READ);
    invariant(cmd < ssd->commands.n_cmds);
    cmd_account(ssd, c, COST_link);
    host_finish(ssd, cmd, c->bad_lba == NO_LBA ? SSD_STATUS_OK
                                               : SSD_STATUS_UNRECOVERED_READ);
}

/* ---- submission ---------------------------------------------------------- */

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

static bool is_inside(const SsdCmd *r)
{
    return r->inside && (r->op == SSD_OP_READ || r->op == SSD_OP_WRITE);
}

static bool stream_is_bad(const Ssd *ssd, const SsdCmd *r)
{
    if (r->op == SSD_OP_TRIM && r->erase) {
        return ssd->l.n_zones == 0;
    }
    return (r->op == SSD_OP_WRITE || closes(r)) &&
           r->stream >= ssd->info.host_streams &&
           (r->op != SSD_OP_WRITE || r->stream != ssd->l.held_stream);
}

static bool is_plain(const Ssd *ssd, uint64_t lba)
{
    return ssd->l.plain_units > 0 &&
           lba >> ssd->block_shift >= ssd->l.plain_first;
}

/* A write is of zones, or of the space behind them. */
static bool is_of_both(const Ssd *ssd, const SsdCmd *r)
{
    return r->op == SSD_OP_WRITE && !is_plain(ssd, r->lba) &&
           is_plain(ssd, r->lba + r->nblocks - 1);
}

static bool internal_is_bad(const SsdCmd *r)
{
    return r->internal && (r->op == SSD_OP_SHUTDOWN || !r->inside);
}

static int check_submit(const Ssd *ssd, const SsdCmd *r)
{
    if (!ssd->powered) {
        return -ENODEV;
    }
    if (range_is_bad(ssd, r) || stream_is_bad(ssd, r) || internal_is_bad(r) ||
        is_of_both(ssd, r)) {
        return -EINVAL;
    }
    return ssd->commands.running >= ssd->info.queue_depth ? -EBUSY : 0;
}

void host_fetched(Ssd *ssd, uint32_t cmd)
{
    eventq_push(&ssd->events, host_start_ps(ssd, &ssd->commands.cmd[cmd]),
                SSD_EVENT_CMD_START, cmd);
}

int host_submit(Ssd *ssd, uint64_t now_ns, const SsdCmd *req)
{
    uint32_t i;
    int ret = check_submit(ssd, req);

    if (ret) {
        return ret;
    }
    if (req->op == SSD_OP_WRITE && ssd->client) {
        buffer_new_version(ssd, req->version);
    } else if (req->op == SSD_OP_WRITE && saves(ssd)) {
        buffer_new_version(ssd, ssd->buffer->last_version + 1);
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
        .next = NONE,
    };
    if (req->op == SSD_OP_WRITE && is_plain(ssd, req->lba)) {
        ssd->commands.cmd[i].req.stream = (uint16_t)ssd->l.plain_stream;
    }
    cmd_set_phase(&ssd->commands.cmd[i], CMD_SUBMITTED);
    if (!ssd->client && saves(ssd)) {
        ssd->commands.cmd[i].req.version = ssd->buffer->last_version;
    }
    ssd->commands.running++;
    background_stop(ssd);
    oplog_unit(ssd->inspect.log, OPLOG_CMD,
               req->op | (req->fua ? 0x80 : 0) | (closes(req) ? 0x40 : 0) |
                   (is_inside(req) ? 0x20 : 0),
               closes(req) ? req->stream : 0, req->nblocks, ssd->now_ps,
               ssd->commands.cmd[i].serial, req->lba);
    if (G_UNLIKELY(ssd->inspect.recording)) {
        recording_cmd(ssd->inspect.recording, req, now_ns);
    }
    if (ssd->cfg->pcie_nvme) {
        eventq_push(&ssd->events,
                    req->in_cmb & SSD_IN_CMB_ENTRY ? link_take_command(ssd)
                                                   : link_fetch_command(ssd),
                    SSD_EVENT_CMD_FETCHED, i);
    } else {
        host_fetched(ssd, i);
    }
    if (faulty_cmd(ssd)) {
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

/* ---- completion ---------------------------------------------------------- */

/*
 * ps to ns, part by part: each part is the difference of two rounded sums, so
 * the parts sum to the rounded latency.  Counts them for ssd_explain_text().
 * b: zeroes.
 */
static void convert_costs(Ssd *ssd, const Cmd *c, SsdBreakdown *b)
{
    uint64_t *out = (uint64_t *)b;
    uint64_t sum_ps = 0;
    uint64_t sum_ns = 0;

    G_STATIC_ASSERT(sizeof(*b) == N_COSTS * sizeof(uint64_t));
    for (int i = 0; i < N_COSTS; i++) {
        if (c->cost_ps[i] == 0) {
            continue;
        }
        sum_ps += c->cost_ps[i];
        ssd->inspect.costs.ps[i] += c->cost_ps[i];
        out[i] = sim_ceil_ns(sum_ps) - sum_ns;
        sum_ns += out[i];
    }
    ssd->inspect.costs.n++;
    invariant(sum_ps == c->complete_ps - c->submit_ps);
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
    convert_costs(ssd, c, &done->cost);
    cmd_give(ssd, i);
}

size_t host_fetch(Ssd *ssd, SsdCompletion *done, size_t max)
{
    size_t n = 0;

    while (n < max && ssd->host->done.head != NONE) {
        fetch(ssd, &done[n++]);
    }
    return n;
}

void host_set_gate(Ssd *ssd, const HostGate *gate)
{
    invariant(gate && gate->waits && gate->cut);
    ssd->host->gate = gate;
}

const CmdOps host_cmd_ops = {
    .finish = host_finish,
    .slot_settled = host_slot_settled,
    .load_settled = read_load_settled,
    .read_done = read_nand_done,
    .map_ready = host_map_ready,
};
