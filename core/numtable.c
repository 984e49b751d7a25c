/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numtable.c - elements of wide tables, and of those with first values.
 *
 * A number and its first value are below 2^31 (2^63 if wide): the difference of
 * a narrow element keeps the sign of the element, and fits.
 */
#include "numtable.h"

uint64_t numtable_get_special(const NumTable *t, uint64_t i)
{
    uint64_t first = t->first ? t->first(t->of, i) : 0;

    return first ^
           (t->wide ? (uint64_t)((const int64_t *)t->element)[i]
                    : (uint64_t)(int64_t)((const int32_t *)t->element)[i]);
}

void numtable_set_special(NumTable *t, uint64_t i, uint64_t value)
{
    uint64_t first = t->first ? t->first(t->of, i) : 0;

    invariant(first <= t->mask);
    if (t->wide) {
        ((int64_t *)t->element)[i] = (int64_t)(value ^ first);
    } else {
        invariant(value + t->mask + 1 <= 2 * t->mask + 1);
        ((int32_t *)t->element)[i] = (int32_t)(value ^ first);
    }
}
