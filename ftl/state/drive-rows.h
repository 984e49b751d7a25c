/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive-rows.h - short forms of the rows of a Drive (core/state.h); private to
 * state.c.
 */
#ifndef VSSD_FTL_DRIVE_ROWS_H
#define VSSD_FTL_DRIVE_ROWS_H

#include "drive.h"

/* A member of Ssd or of one of its components, and the name of its row in a
 * stream: that of version 1, when all of them were members of Ssd. */
#define MEMBER(m, was)                                                         \
    .name = "Ssd." #was, .offset = offsetof(Drive, m),                         \
    .bytes = sizeof(((Drive *)0)->m), .align = __alignof__(((Drive *)0)->m)
#define VALUE(m, was) {MEMBER(m, was), .kind = STATE_VALUE}
/* Since version v; with more at its end since then. */
#define VALUE_SINCE(v, m, was)                                                 \
    {MEMBER(m, was), .kind = STATE_VALUE, .since = (v)}
#define VALUE_GROWN(v, m, was)                                                 \
    {MEMBER(m, was), .kind = STATE_VALUE, .grown = (v)}
/* Of another form before version v; and since version `first`. */
#define VALUE_WAS(v, m, was_, old)                                             \
    {MEMBER(m, was_), .kind = STATE_VALUE, .grown = (v), .was = (old)}
#define VALUE_SINCE_WAS(first, v, m, was_, old)                                \
    {MEMBER(m, was_), .kind = STATE_VALUE, .since = (first), .grown = (v),     \
     .was = (old)}
/* Numbers that had 32 bits before version v, or sums that had 64; elements that
 * had another form. */
#define VALUE_WIDENED(v, m, was_)                                              \
    {MEMBER(m, was_), .kind = STATE_VALUE, .grown = (v), .widened = true}
#define VALUE_SINCE_WIDENED(first, v, m, was_)                                 \
    {MEMBER(m, was_), .kind = STATE_VALUE, .since = (first), .grown = (v),     \
     .widened = true}
#define POOL_WIDENED(v, m, was_, n)                                            \
    {MEMBER(m, was_),                                                          \
     .kind = STATE_POOL,                                                       \
     .grown = (v),                                                             \
     .widened = true,                                                          \
     .elem = sizeof(*((Drive *)0)->m),                                         \
     .count = (n)}
#define TABLE_WAS(v, m, was_, n, old)                                          \
    {MEMBER(m, was_),                                                          \
     .kind = STATE_TABLE,                                                      \
     .grown = (v),                                                             \
     .was = (old),                                                             \
     .elem = sizeof(*((Drive *)0)->m),                                         \
     .count = (n)}
#define POOL_WAS(v, m, was_, n, old)                                           \
    {MEMBER(m, was_),                                                          \
     .kind = STATE_POOL,                                                       \
     .grown = (v),                                                             \
     .was = (old),                                                             \
     .elem = sizeof(*((Drive *)0)->m),                                         \
     .count = (n)}
#define NUMBERS(m, was) {MEMBER(m, was), .kind = STATE_NUMBERS}
#define KEPT(m, was)    {MEMBER(m, was), .kind = STATE_KEPT}
#define TABLE_SINCE(v, m, was, n)                                              \
    {MEMBER(m, was), .kind = STATE_TABLE, .since = (v),                        \
     .elem = sizeof(*((Drive *)0)->m), .count = (n)}
#define TABLE(m, was, n)                                                       \
    {MEMBER(m, was), .kind = STATE_TABLE, .elem = sizeof(*((Drive *)0)->m),    \
     .count = (n)}
#define POOL_SINCE(v, m, was, n)                                               \
    {MEMBER(m, was), .kind = STATE_POOL, .since = (v),                         \
     .elem = sizeof(*((Drive *)0)->m), .count = (n)}
#define POOL_GROWN(v, m, was, n)                                               \
    {MEMBER(m, was), .kind = STATE_POOL, .grown = (v),                         \
     .elem = sizeof(*((Drive *)0)->m), .count = (n)}
#define POOL(m, was, n)                                                        \
    {MEMBER(m, was), .kind = STATE_POOL, .elem = sizeof(*((Drive *)0)->m),     \
     .count = (n)}

/* A counter that a row of SSD_STATS makes.  A stream may be without it. */
#define COUNTER(id, path, unit, help)                                          \
    {MEMBER(ssd.inspect.count.id, id), .kind = STATE_VALUE, .optional = true},
#define SUM(id, path, help)                                                    \
    {MEMBER(ssd.inspect.count.id, id), .kind = STATE_VALUE, .optional = true,  \
     .grown = 4, .widened = true},
#define NO_COUNTER(...)

#endif
