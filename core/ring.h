/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - places in an array that is used as a ring, of any size.
 *
 * Knows places only; the owner has the array.  Every call takes O(1).
 */
#ifndef VSSD_CORE_RING_H
#define VSSD_CORE_RING_H

#include <glib.h>
#include <stdint.h>

#include "invariant.h"

typedef struct Ring {
    uint32_t head, n, size; /* n places from head on are in use */
} Ring;

/* The place after `at`. */
static inline uint32_t ring_after(uint32_t at, uint32_t size)
{
    invariant(at < size);
    return at + 1 == size ? 0 : at + 1;
}

/* The place of the k-th element, from 0; k <= n: the next free one, too. */
static inline uint32_t ring_place(const Ring *r, uint32_t k)
{
    invariant(k <= r->n && k < r->size);
    return k < r->size - r->head ? r->head + k : k - (r->size - r->head);
}

/* One more at the end: returns its place.  The ring is not full. */
static inline uint32_t ring_push(Ring *r)
{
    uint32_t place;

    invariant(r->n < r->size);
    place = ring_place(r, r->n);
    r->n++;
    return place;
}

/* The first one leaves: returns its place.  The ring is not empty. */
static inline uint32_t ring_pop(Ring *r)
{
    uint32_t place = r->head;

    invariant(r->n > 0);
    r->head = ring_after(place, r->size);
    r->n--;
    return place;
}

#endif
