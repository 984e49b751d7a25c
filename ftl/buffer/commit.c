/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commit.c - units that stay in the buffer until the host commits them: Zone
 * Random Write Areas (Zoned Namespace Command Set 1.1, Zone Random Write Area).
 *
 * They are in a stream of their own, of which no page is programmed
 * (stream-queue.c).  There they can be overwritten in place.  A commit moves
 * them to the stream of their zone, in the order of their addresses.
 */
#include "buffer/flush.h"
#include "buffer/stream-queue.h"
#include "ssd-internal.h"
#include "wake.h"

void write_commit(Ssd *ssd, uint64_t first, uint64_t end, uint32_t stream)
{
    invariant(stream < ssd->l.n_streams && stream != ssd->l.held_stream);
    for (uint64_t lpn = first; lpn < end; lpn++) {
        uint64_t entry = l2p_get(&ssd->l2p, lpn);

        if (map_is_buffered(entry) &&
            ssd->buffer->slot[map_slot(entry)].stream == ssd->l.held_stream) {
            queue_change(ssd, map_slot(entry), stream);
        }
    }
    ssd_wake(ssd, WORK_BUFFER, 0);
}
