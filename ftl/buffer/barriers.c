/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * barriers.c - flush barriers: epochs of slots, and the commands that wait for
 * them.
 *
 * Knows how many slots of each epoch are not durable; does not know how they become
 * so.
 */
#include "buffer/barriers.h"
#include "buffer/stream-queue.h"
#include "commands.h"
#include "journal/saved.h"
#include "ssd-internal.h"
#include "media/media.h"

/* ---- flush barriers ------------------------------------------------------ */

static Epoch *epoch_at(Ssd *ssd, uint32_t e)
{
    return &ssd->buffer->epoch[e & ssd->buffer->epoch_mask];
}

void write_epochs_advance(Ssd *ssd)
{
    while (ssd->buffer->first_epoch != ssd->buffer->cur_epoch &&
           epoch_at(ssd, ssd->buffer->first_epoch)->left == 0) {
        uint32_t cmd = epoch_at(ssd, ssd->buffer->first_epoch)->cmd;

        ssd->buffer->first_epoch++;
        if (cmd != NONE && saved_flush(ssd, cmd)) {
            cmd_account(ssd, &ssd->commands.cmd[cmd], COST_flush);
            cmd_finish(ssd, cmd, SSD_STATUS_OK);
        }
    }
}

static void epochs_grow(Ssd *ssd)
{
    uint32_t old_mask = ssd->buffer->epoch_mask;
    Epoch *old = ssd->buffer->epoch;

    ssd->buffer->epoch_mask = old_mask * 2 + 1;
    ssd->buffer->epoch = g_new0(Epoch, ssd->buffer->epoch_mask + 1);
    for (uint32_t e = ssd->buffer->first_epoch; e != ssd->buffer->cur_epoch + 1;
         e++) {
        *epoch_at(ssd, e) = old[e & old_mask];
    }
    g_free(old);
    invariant(ssd->buffer->cur_epoch - ssd->buffer->first_epoch <
              ssd->buffer->epoch_mask);
}

void write_begin_epoch(Ssd *ssd, uint32_t cmd)
{
    invariant(cmd == NONE || cmd < ssd->commands.n_cmds);
    if (ssd->buffer->cur_epoch - ssd->buffer->first_epoch ==
        ssd->buffer->epoch_mask) {
        epochs_grow(ssd);
    }
    epoch_at(ssd, ssd->buffer->cur_epoch)->cmd = cmd;
    ssd->buffer->cur_epoch++;
    *epoch_at(ssd, ssd->buffer->cur_epoch) = (Epoch){.left = 0, .cmd = NONE};
    queue_all_due(ssd);
    write_epochs_advance(ssd);
}

/* At a multiple of buffer.flush_interval, once there is something dirty. */
void write_arm_tick(Ssd *ssd)
{
    uint64_t every = ssd->cfg->flush_interval_ps;

    if (every > 0 && !ssd->buffer->tick_armed) {
        ssd->buffer->tick_armed = true;
        eventq_push(&ssd->events, next_multiple_ps(ssd, every),
                    SSD_EVENT_FLUSH_TICK, 0);
    }
}

static bool is_no_tick(void *opaque, const Event *e)
{
    (void)opaque;
    return event_kind(e) != SSD_EVENT_FLUSH_TICK;
}

void write_arm_tick_again(Ssd *ssd)
{
    eventq_filter(&ssd->events, is_no_tick, NULL);
    ssd->buffer->tick_armed = false;
    if (epoch_at(ssd, ssd->buffer->cur_epoch)->left > 0) {
        write_arm_tick(ssd);
    }
}

/* Barriers that commands wait for will not be reached. */
void write_fail_barriers(Ssd *ssd)
{
    invariant(media_cannot_program(ssd));
    for (uint32_t e = ssd->buffer->first_epoch; e != ssd->buffer->cur_epoch;
         e++) {
        uint32_t cmd = epoch_at(ssd, e)->cmd;

        epoch_at(ssd, e)->cmd = NONE;
        if (cmd != NONE) {
            cmd_account(ssd, &ssd->commands.cmd[cmd], COST_flush);
            cmd_finish(ssd, cmd, SSD_STATUS_WRITE_FAULT);
        }
    }
}

void write_join_epoch(Ssd *ssd, Slot *s)
{
    s->epoch = ssd->buffer->cur_epoch;
    epoch_at(ssd, s->epoch)->left++;
    write_arm_tick(ssd);
}

void write_leave_epoch(Ssd *ssd, Slot *s)
{
    invariant(epoch_at(ssd, s->epoch)->left > 0);
    epoch_at(ssd, s->epoch)->left--;
}
