/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.c - units that a read from NAND brings into the buffer.
 *
 * Knows who waits for them; does not know why they were read.
 */
#include "buffer/reads.h"
#include "buffer/slot-state.h"
#include "buffer/slots.h"
#include "buffer/write.h"
#include "commands.h"
#include "media/media.h"
#include "pool.h"
#include "ssd-internal.h"
#include "wake.h"

/* Notify the commands that wait for the unit to be read, and only them. */
static void tell_loaded(Ssd *ssd, uint32_t i, bool bad)
{
    uint32_t *link = &ssd->buffer->slot[i].waiters;

    while (*link != NONE) {
        uint32_t w = *link;

        if (ssd->buffer->waiter[w].what != WAIT_LOADED) {
            link = &ssd->buffer->waiter[w].next;
            continue;
        }
        istack_unlink(waiter_chain(ssd), link);
        pool_give(waiter_chain(ssd), &ssd->buffer->free_waiter, w);
        cmd_load_settled(ssd, ssd->buffer->waiter[w].cmd,
                          ssd->buffer->slot[i].lpn, bad);
    }
}

/* Units that cannot be read are not kept. */
static void unit_loaded(Ssd *ssd, uint32_t i, bool bad)
{
    Slot *s = &ssd->buffer->slot[i];

    invariant(s->state == SLOT_LOADING);
    if (s->dead || s->evict || bad) {
        l2p_set(&ssd->l2p, s->lpn, s->old_entry);
        slot_free(ssd, i);
    } else {
        slot_set_state(ssd, i, SLOT_CLEAN);
    }
}

/* ---- units read from NAND ------------------------------------------------ */

void buffer_loaded(Ssd *ssd, uint32_t first, const NandOp *op)
{
    uint32_t cmd = ssd->buffer->slot[first].before;
    uint32_t next;

    invariant(first < ssd->buffer->n_slot_records);
    for (uint32_t i = first; i != NONE; i = next) {
        Slot *s = &ssd->buffer->slot[i];
        bool bad = op->status == NAND_UNCORRECTABLE &&
                   op->bad_parts & unit_parts(ssd, s->source);

        next = s->after;
        s->newer = NONE;
        invariant(s->state == SLOT_LOADING || s->state == SLOT_FILLING);
        tell_loaded(ssd, i, bad);
        if (s->state == SLOT_FILLING) {
            write_filled(ssd, i, bad);
        } else {
            unit_loaded(ssd, i, bad);
        }
    }
    if (cmd != NONE) {
        cmd_read_done(ssd, cmd, op);
    }
    ssd_wake(ssd, WORK_HOST, 0);
    ssd_wake(ssd, WORK_BUFFER, 0);
}
