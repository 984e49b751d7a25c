/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-fifo.c - a write buffer: units leave it in the order in which they came;
 * a unit that is written again keeps its place.
 */
#include "buf-list.h"

static void fifo_insert(Ssd *ssd, uint32_t slot)
{
    list_push_tail(ssd, &ssd->list[0], slot);
}

static void fifo_write_hit(Ssd *ssd, uint32_t slot)
{
    (void)ssd;
    (void)slot;
}

static void fifo_remove(Ssd *ssd, uint32_t slot)
{
    list_remove(ssd, &ssd->list[0], slot);
}

static uint32_t fifo_victim(Ssd *ssd)
{
    return ssd->list[0].head;
}

const BufferPolicy buf_fifo = {
    .name = "fifo",
    .help = "a write buffer that is drained in order of arrival",
    .insert = fifo_insert,
    .write_hit = fifo_write_hit,
    .remove = fifo_remove,
    .victim = fifo_victim,
};

/* Write through: units pass through the buffer in order, and no write
 * completes before its units are in NAND. */
const BufferPolicy buf_none = {
    .name = "none",
    .help = "write through: a write completes when it is in NAND",
    .write_through = true,
    .insert = fifo_insert,
    .write_hit = fifo_write_hit,
    .remove = fifo_remove,
    .victim = fifo_victim,
};
