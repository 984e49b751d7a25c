/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf-lru.c - a cache of clean and dirty units that evicts the least recently
 * used one.
 */
#include "buffer/buffer-policy.h"

static void lru_used(VssdView *v, uint32_t slot)
{
    v->list->move(v, slot, 0);
}

static uint32_t lru_victim(VssdView *v)
{
    return v->list->oldest(v, 0);
}

BUFFER_POLICY(lru, "lru", "a cache that evicts the least recently used unit",
              BUFFER_PART(.written = lru_used, .read = lru_used,
                          .victim = lru_victim));
