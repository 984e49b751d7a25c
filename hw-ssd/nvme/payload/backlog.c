/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backlog.c - how much host memory may wait for the store.
 *
 * All waiting work ends by itself, soon or late: data of commands that the
 * drive works on, data that it has programmed, buffers of reads, barriers,
 * ranges to be zeroed.  While that is more than the limit the controller
 * fetches no I/O command.  Data that the store has refused ends when the store
 * takes it; it counts as well, but nothing can be gained by waiting: when it
 * has filled the limit alone, writes are refused.
 *
 * Data in the drive's buffer is bounded by its size, and does not count.  A
 * unit that is programmed before its command ends counts twice until then.
 */
#include "payload-internal.h"

/* Beside the data: of a read, the store's memory for it (in QEMU a
 * coroutine with its stack); of a barrier, the command that waits for it. */
#define READ_COST    (16U << 10)
#define BARRIER_COST (1U << 10)
#define RANGE_COST   (2 * sizeof(ZeroRange))

static uint64_t units_at_store(const Payload *p)
{
    return p->due.length - p->due_zeroes.length;
}

static uint64_t barriers(const Payload *p)
{
    return (uint64_t)p->barriers.length + p->flush_next.length +
           p->flushing.length + p->flushed.length;
}

/* Lazy ones do not while the store refuses some. */
static uint64_t ranges_waiting(const Payload *p)
{
    return p->failed_zeroes.head ? p->due_zeroes.length : p->nzeroes;
}

static uint64_t entry_bytes(const Payload *p)
{
    return p->unit_bytes + meta_of(p, p->unit_blocks);
}

static uint64_t waiting_bytes(const Payload *p)
{
    return (p->command_units + units_at_store(p)) * entry_bytes(p) +
           p->kept_bytes + p->read_bytes + p->nreads * READ_COST +
           barriers(p) * BARRIER_COST + ranges_waiting(p) * RANGE_COST;
}

static uint64_t refused_bytes(const Payload *p)
{
    return (uint64_t)p->failed.length * entry_bytes(p) +
           (uint64_t)p->failed_zeroes.length * RANGE_COST;
}

void payload_set_limit(Payload *p, uint64_t bytes)
{
    p->limit_bytes = bytes;
}

uint64_t payload_backlog_bytes(const Payload *p)
{
    return waiting_bytes(p) + refused_bytes(p);
}

bool payload_congested(Payload *p)
{
    uint64_t waiting = waiting_bytes(p);
    uint64_t all = waiting + refused_bytes(p);

    p->stats.backlog_peak_bytes = MAX(p->stats.backlog_peak_bytes, all);
    return waiting && all > p->limit_bytes;
}

bool payload_refuses(const Payload *p)
{
    return refused_bytes(p) >= p->limit_bytes;
}

bool payload_too_many_ranges(const Payload *p)
{
    return p->nzeroes * RANGE_COST >= p->limit_bytes;
}

/* ---- commands and reads -------------------------------------------------- */

void payload_write_end(Payload *p, uint64_t lba, uint32_t nblocks)
{
    p->command_units -= (lba + nblocks - 1) / p->unit_blocks -
                        lba / p->unit_blocks + 1;
}

void payload_keep_bytes(Payload *p, size_t bytes)
{
    p->kept_bytes += bytes;
}

void payload_free_bytes(Payload *p, size_t bytes)
{
    g_assert(p->kept_bytes >= bytes);
    p->kept_bytes -= bytes;
}

void payload_read_waits(Payload *p, const PayloadRead *rd)
{
    p->nreads++;
    p->read_bytes += rd->held_bytes;
}

void payload_read_ends(Payload *p, const PayloadRead *rd)
{
    p->nreads--;
    p->read_bytes -= rd->held_bytes;
}
