/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write-rows.c - dirty units that wait until they fill a row, with a write
 * buffer and superblock.row.
 *
 * The wait of a stream begins when its first dirty unit enters the buffer, or
 * when a program leaves dirty units of the stream in it.  After
 * superblock.row_wait all of them are due: the drive programs as many pages of
 * the row as they fill, the last one padded; the stream's next pages fill the
 * rest of the row.  A cache has no such limit: its dirty units stay until the
 * policy evicts them, and victims are programmed by rows.  Nor has a drive with
 * zones for units that fill no page: a zone has no room for padding.  In a
 * window of predictable latency (gc/hold.c) no wait ends.
 *
 * Knows the streams' queues; placement/ knows which planes are a row.
 */
#include "buffer/write-rows.h"

#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "media/row-wait.h"
#include "ssd-internal.h"
#include "wake.h"
#include "placement/placement.h"

/* Dirty units of the stream that do not wait for ever. */
static uint32_t going(const Ssd *ssd, uint32_t stream)
{
    const StreamQueue *q = &stream_at(ssd, stream)->queue;
    uint32_t n = q->fresh.n + q->due.n;

    if (ssd->l.n_zones == 0) {
        return n;
    }
    return stream == ssd->l.held_stream ? 0 : n - n % ssd->l.units_per_program;
}

void write_rows_begin_waits(Ssd *ssd)
{
    uint64_t dirty = ssd->buffer->dirty_streams;

    for (; dirty; dirty &= dirty - 1) {
        uint32_t stream = (uint32_t)__builtin_ctzll(dirty);

        if (going(ssd, stream) > 0) {
            row_wait_begin(ssd, &ssd->buffer->row_wait[stream], stream);
        }
    }
}

void write_rows_sent(Ssd *ssd, uint32_t stream, uint32_t pages)
{
    RowWait *w = ssd->buffer->row_wait;

    if (pages == ssd->l.row_pages) {
        ssd->inspect.count.rows_host_filled++;
    } else {
        ssd->inspect.count.rows_host_short++;
    }
    if (w) {
        ssd->inspect.count.rows_host_wait_ns +=
            row_wait_end(ssd, &w[stream]) / PS_PER_NS;
    }
}

void write_rows_wait_event(Ssd *ssd, uint32_t stream)
{
    StreamQueue *q = stream_queue(ssd, stream);
    RowWait *w = ssd->buffer->row_wait;
    uint32_t n = going(ssd, stream);

    invariant(stream < ssd->l.n_streams);
    if (!row_wait_event(ssd, &w[stream], stream)) {
        return;
    }
    if (n == 0 || ssd->window == SSD_WINDOW_HOLD) {
        row_wait_end(ssd, &w[stream]); /* trimmed meanwhile; begins later */
        return;
    }
    ssd->inspect.count.rows_host_timeouts++;
    while (q->fresh.head != NONE && q->due.n < n) {
        slot_force(ssd, q->fresh.head);
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
}
