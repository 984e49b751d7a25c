/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-lru.c - a cache of clean and dirty units that evicts the least recently
 * used one.
 */
#include "buffer/buf-list.h"
#include "buffer/buffer-internal.h"
#include "buffer/buffer-policy.h"
#include "ssd-internal.h"

static void lru_insert(Ssd *ssd, uint32_t slot)
{
    lists_push(ssd, 0, slot);
}

static void lru_cleaned(Ssd *ssd, uint32_t slot)
{
    (void)ssd;
    (void)slot;
}

static uint32_t lru_victim(Ssd *ssd)
{
    return ssd->buffer->list[0].tail;
}

const BufferPolicy buf_lru = {
    .name = "lru",
    .help = "a cache that evicts the least recently used unit",
    .caches = true,
    .insert = lru_insert,
    .write_hit = lists_touch,
    .read_hit = lists_touch,
    .remove = lists_remove,
    .cleaned = lru_cleaned,
    .replace = lists_replace,
    .victim = lru_victim,
};
