/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * close.c - the end of a stream: a FLUSH with close.
 *
 * Its units leave the buffer, and its open blocks take no more.  Finish of a
 * zone pads in between: pages without data go where the stream's next pages
 * would, round the planes, as many at a time as planes take.  Data of the host
 * goes first.  Half written blocks keep data less well, so drives fill them.
 *
 * Of a command that pads, Cmd.next_lpn counts the programs that are left, and
 * Cmd.pending those on their way.
 */
#include "buffer/buffer.h"
#include "buffer/flush.h"
#include "buffer/reads.h"
#include "buffer/slot-state.h"
#include "buffer/slots.h"
#include "buffer/write.h"
#include "commands.h"
#include "media/jobs.h"
#include "media/media.h"
#include "placement/placement.h"
#include "placement/streams.h"
#include "ssd-internal.h"
#include "wake.h"

/* Units whose program fails are programmed again where the stream is: so it
 * waits for those on their way, too. */
void write_start_close(Ssd *ssd, uint32_t cmd)
{
    uint32_t stream = ssd->commands.cmd[cmd].req.stream;

    invariant(cmd < ssd->commands.n_cmds && stream < ssd->l.n_streams);
    stream_begin_unit(ssd, stream);
    if (media_cannot_program(ssd) &&
        stream_at(ssd, stream)->queue.n_unsafe > 0) {
        cmd_finish(ssd, cmd, SSD_STATUS_WRITE_FAULT);
        return;
    }
    for (uint32_t i = 0; i < ssd->buffer->n_slot_records; i++) {
        const Slot *s = &ssd->buffer->slot[i];

        if (state_is_unsafe(s->state) && s->stream == stream) {
            slot_wait(ssd, i, cmd, WAIT_DURABLE);
            slot_force(ssd, i);
        }
    }
    if (ssd->commands.cmd[cmd].pending == 0) {
        write_end_close(ssd, cmd);
    } else {
        ssd_wake(ssd, WORK_BUFFER, 0);
    }
}

static void end(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    stream_close_blocks(ssd, c->req.stream);
    cmd_account(ssd, c, COST_flush);
    cmd_finish(ssd, cmd, c->status);
}

/* ---- padding ------------------------------------------------------------- */

/* Programs without data that follow the stream's units.  The page of the last
 * of them is padded already. */
static uint64_t programs_left(const Ssd *ssd, const SsdCmd *r)
{
    uint64_t units = r->nblocks >> ssd->block_shift;

    return ssd->l.n_zones > 0 && ssd->cfg->zone_pads &&
                   !media_cannot_program(ssd)
               ? MIN(units, ssd->l.zone_units) / ssd->l.units_per_program
               : 0;
}

void write_end_close(Ssd *ssd, uint32_t cmd)
{
    Cmd *c = &ssd->commands.cmd[cmd];

    invariant(cmd < ssd->commands.n_cmds && c->pending == 0);
    c->next_lpn = programs_left(ssd, &c->req);
    if (c->next_lpn == 0) {
        end(ssd, cmd);
        return;
    }
    fifo_push(ssd, &ssd->buffer->closing, cmd);
    ssd_wake(ssd, WORK_BUFFER, 0);
}

/* false: the plane of the next page takes none now. */
static bool send(Ssd *ssd, Cmd *c)
{
    uint32_t plane = alloc_pick(ssd, NO_UNIT, c->req.stream);
    uint32_t n;

    if (plane == NONE) {
        return false;
    }
    n = write_send_row(ssd, plane, c->req.stream, c->next_lpn);
    invariant(n <= c->next_lpn);
    c->next_lpn -= n;
    c->pending += n;
    return true;
}

/* In turns, so that each gets its share of the planes. */
void close_pump(Ssd *ssd)
{
    CmdFifo *f = &ssd->buffer->closing;
    uint32_t last = NONE; /* the first one since a page was sent */

    while (f->head != NONE && f->head != last && !media_cannot_program(ssd)) {
        uint32_t cmd = fifo_pop(ssd, f);
        Cmd *c = &ssd->commands.cmd[cmd];

        if (c->next_lpn > 0 && send(ssd, c)) {
            last = NONE;
        } else if (last == NONE) {
            last = cmd;
        }
        fifo_push(ssd, f, cmd);
    }
}

/* Commands that have nothing more to wait for. */
static void end_all(Ssd *ssd)
{
    CmdFifo all = ssd->buffer->closing;
    uint32_t cmd;

    ssd->buffer->closing = IFIFO_EMPTY;
    while ((cmd = fifo_pop(ssd, &all)) != NONE) {
        const Cmd *c = &ssd->commands.cmd[cmd];

        if (c->next_lpn == 0 && c->pending == 0) {
            end(ssd, cmd);
        } else {
            fifo_push(ssd, &ssd->buffer->closing, cmd);
        }
    }
}

void close_page_done(Ssd *ssd, uint32_t job)
{
    const PageJob *j = job_at(ssd, job);
    uint32_t i = j->n == 0 ? ssd->buffer->closing.head : NONE;

    for (; i != NONE; i = ssd->commands.cmd[i].next) {
        Cmd *c = &ssd->commands.cmd[i];

        if (c->req.stream == j->stream) {
            invariant(c->pending > 0);
            if (--c->pending == 0 && c->next_lpn == 0) {
                end_all(ssd);
            }
            return;
        }
    }
}

void close_give_up(Ssd *ssd)
{
    for (uint32_t i = ssd->buffer->closing.head; i != NONE;
         i = ssd->commands.cmd[i].next) {
        ssd->commands.cmd[i].next_lpn = 0;
    }
    end_all(ssd);
}
