/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numtable.h - a large table of numbers of 32 or 64 bits, in lazy memory.
 *
 * The width is chosen when the table is made.  Elements are signed, so that
 * one form serves both widths: a narrow one is sign-extended when it is read.
 * A table may use
 *
 *   0..mask         numbers: below 2^31, or of a wide table below 2^63
 *   flag | number   the same with a mark; flag is ~mask
 *   UINT64_MAX      all ones, in either width
 *
 * All elements begin as 0; or as numbers that a function of the index gives,
 * which cost no memory until an element changes: the table then holds each
 * element XOR its first value.
 */
#ifndef VSSD_CORE_NUMTABLE_H
#define VSSD_CORE_NUMTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <glib.h>

#include "invariant.h"
#include "lazymem.h"

/* The first value of an element: a number.  It may change from 0 to a number,
 * and the element with it, as long as the element is 0. */
typedef uint64_t NumTableFirst(const void *of, uint64_t i);

typedef struct NumTable {
    void *element; /* int32_t or int64_t; NULL: there is no table */
    uint64_t n;
    uint64_t mask;
    bool wide;
    bool special;         /* it is wide, or has first values */
    NumTableFirst *first; /* or NULL: all are 0 */
    const void *of;
} NumTable;

/* Numbers up to this fit in a narrow table. */
#define NUMTABLE_NARROW_MOST 0x7fffffffULL

/* n elements. */
static inline NumTable numtable_new(uint64_t n, bool wide)
{
    return (NumTable){
        .element = lazy_alloc(n, wide ? 8 : 4),
        .n = n,
        .mask = wide ? (uint64_t)INT64_MAX : NUMTABLE_NARROW_MOST,
        .wide = wide,
        .special = wide,
    };
}

/* From now on elements, of which all are 0, have first values. */
static inline void numtable_set_first(NumTable *t, NumTableFirst *first,
                                      const void *of)
{
    t->first = first;
    t->of = of;
    t->special = true;
}

/* Bytes of an element. */
static inline size_t numtable_bytes(const NumTable *t)
{
    return t->wide ? 8 : 4;
}

/* There may be no table. */
static inline void numtable_free(NumTable *t)
{
    lazy_free(t->element, t->n, numtable_bytes(t));
    t->element = NULL;
}

/* numtable.c: of special tables. */
uint64_t numtable_get_special(const NumTable *t, uint64_t i);
void numtable_set_special(NumTable *t, uint64_t i, uint64_t value);

static inline uint64_t numtable_get(const NumTable *t, uint64_t i)
{
    if (G_UNLIKELY(t->special)) {
        return numtable_get_special(t, i);
    }
    return (uint64_t)(int64_t)((const int32_t *)t->element)[i];
}

/* value must have one of the forms above. */
static inline void numtable_set(NumTable *t, uint64_t i, uint64_t value)
{
    if (G_UNLIKELY(t->special)) {
        numtable_set_special(t, i, value);
    } else {
        invariant(value + t->mask + 1 <= 2 * t->mask + 1);
        ((int32_t *)t->element)[i] = (int32_t)value;
    }
}

/* Elements i..i + n - 1 become first, first + 1 and so on: numbers. */
static inline void numtable_count_up(NumTable *t, uint64_t i, uint64_t n,
                                     uint64_t first)
{
    invariant(first + n - 1 <= t->mask);
    if (G_UNLIKELY(t->special)) {
        for (uint64_t k = 0; k < n; k++) {
            numtable_set_special(t, i + k, first + k);
        }
    } else {
        for (uint64_t k = 0; k < n; k++) {
            ((int32_t *)t->element)[i + k] = (int32_t)(first + k);
        }
    }
}

/* The same value for elements i..i + n - 1. */
static inline void numtable_fill(NumTable *t, uint64_t i, uint64_t n,
                                 uint64_t value)
{
    if (G_UNLIKELY(t->special)) {
        for (uint64_t k = 0; k < n; k++) {
            numtable_set_special(t, i + k, value);
        }
    } else {
        invariant(value + t->mask + 1 <= 2 * t->mask + 1);
        for (uint64_t k = 0; k < n; k++) {
            ((int32_t *)t->element)[i + k] = (int32_t)value;
        }
    }
}

/* How many elements from i on, of n at most, are 0. */
static inline uint64_t numtable_zeroes(const NumTable *t, uint64_t i,
                                       uint64_t n)
{
    uint64_t k = 0;

    if (G_UNLIKELY(t->special)) {
        while (k < n && numtable_get_special(t, i + k) == 0) {
            k++;
        }
    } else {
        while (k < n && ((const int32_t *)t->element)[i + k] == 0) {
            k++;
        }
    }
    return k;
}

static inline void numtable_prefetch(const NumTable *t, uint64_t i)
{
    __builtin_prefetch((const char *)t->element + i * numtable_bytes(t));
}

/* The first index from i on whose element may be other than its first value;
 * n: none.  The walk began with numtable_walk(). */
static inline uint64_t numtable_next(const NumTable *t, LazyWalk *w, uint64_t i)
{
    return lazy_walk_index(w, i, numtable_bytes(t));
}

static inline void numtable_walk(const NumTable *t, LazyWalk *w)
{
    lazy_walk_begin(w, t->element, t->n * numtable_bytes(t));
}

/* Accesses are spread over all of it (lazy_spread()). */
static inline void numtable_spread(NumTable *t)
{
    lazy_spread(t->element, t->n, numtable_bytes(t));
}

/* Most of the table will be used (lazy_dense()). */
static inline void numtable_dense(NumTable *t)
{
    lazy_dense(t->element, t->n, numtable_bytes(t));
}

/* The first n elements are 0 again, of a table without first values. */
static inline void numtable_clear_first(NumTable *t, uint64_t n)
{
    invariant(!t->first);
    lazy_clear(t->element, n, numtable_bytes(t));
}

#endif
