/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superpage.c - dirty units that wait until they fill a superpage, with a write
 * buffer and ftl.superpage.
 *
 * The units of a stream wait from the instant at which the first of them came,
 * or at which the stream's last program left them behind.  After
 * ftl.superpage_wait all of them are due: as many pages of the row as they fill
 * go out, the last one padded, and the stream's next pages fill the rest of the
 * row.  A cache keeps its dirty units as long as its policy wants; only victims
 * leave it, by superpages.
 *
 * Knows the streams' queues; which planes are a row is placement's business.
 */
#include "buffer/superpage.h"

#include "buffer/slots.h"
#include "buffer/stream-queue.h"
#include "row-wait.h"
#include "ssd-internal.h"
#include "wake.h"

void superpage_look(Ssd *ssd)
{
    uint64_t dirty = ssd->buffer->dirty_streams;

    for (; dirty; dirty &= dirty - 1) {
        uint32_t stream = (uint32_t)__builtin_ctzll(dirty);

        row_wait_begin(ssd, &ssd->buffer->row_wait[stream], stream);
    }
}

void superpage_sent(Ssd *ssd, uint32_t stream, uint32_t pages)
{
    RowWait *w = ssd->buffer->row_wait;

    if (pages == ssd->l.row_planes) {
        ssd->inspect.count.superpages_host_filled++;
    } else {
        ssd->inspect.count.superpages_host_short++;
    }
    if (w) {
        ssd->inspect.count.superpages_host_wait_ns +=
            row_wait_end(ssd, &w[stream]) / PS_PER_NS;
    }
}

void superpage_wait_event(Ssd *ssd, uint32_t stream)
{
    StreamQueue *q = stream_queue(ssd, stream);
    RowWait *w = ssd->buffer->row_wait;

    invariant(stream < ssd->l.n_streams);
    if (!row_wait_event(ssd, &w[stream], stream)) {
        return;
    }
    ssd->inspect.count.superpages_host_timeouts++;
    while (q->fresh.head != NONE) {
        slot_force(ssd, q->fresh.head);
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
}
