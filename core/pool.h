/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - records of a table that are taken and given back.
 *
 * The free records are a singly linked list (istack_ of ilist.h) through a
 * member of the record.  The table belongs to the owner, who makes it larger
 * when the list is empty: pool_grow() does that for a table of GLib's memory.
 * Indices stay valid then, pointers do not.  The record that was given back
 * last is taken first; of new ones, the lowest index.
 */
#ifndef VSSD_CORE_POOL_H
#define VSSD_CORE_POOL_H

#include <string.h>

#include "ilist.h"

/* Indices must leave room for marks such as map entries and index + 1. */
#define POOL_MOST (1U << 30)

/* Records first .. end - 1 of the table are free from now on. */
static inline void pool_add(IlistLinks l, uint32_t *free, uint32_t first,
                            uint32_t end)
{
    invariant(first <= end && end <= POOL_MOST);
    while (end-- > first) {
        istack_push(l, free, end);
    }
}

/* Take a record; there is one. */
static inline uint32_t pool_take(IlistLinks l, uint32_t *free)
{
    invariant(*free != ILIST_NONE);
    return istack_pop(l, free);
}

static inline void pool_give(IlistLinks l, uint32_t *free, uint32_t i)
{
    istack_push(l, free, i);
}

/*
 * Double the table of *n records (at least `least`), if none is free.  The new
 * ones are all zeroes but for the link.  Returns the table, which may have
 * moved.
 * For `links` only the offsets and the size are used.
 */
static inline void *pool_grow(void *table, IlistLinks links, uint32_t *free,
                              uint32_t *n, uint32_t least)
{
    uint32_t old = *n;

    if (*free != ILIST_NONE) {
        return table;
    }
    invariant(least > 0 && old < POOL_MOST / 2);
    *n = old ? old * 2 : least;
    links.base = g_realloc_n(table, *n, links.stride);
    memset(links.base + old * links.stride, 0, (*n - old) * links.stride);
    pool_add(links, free, old, *n);
    return links.base;
}

#endif
