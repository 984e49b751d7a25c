/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive-rows.h - short forms of the rows of a Drive (core/state.h); private to
 * state.c.
 */
#ifndef VSSD_FTL_DRIVE_ROWS_H
#define VSSD_FTL_DRIVE_ROWS_H

#include "drive.h"

/* A member of Ssd or of one of its components. */
#define MEMBER(m)                                                              \
    .name = #m, .offset = offsetof(Drive, m),                                  \
    .bytes = sizeof(((Drive *)0)->m), .align = __alignof__(((Drive *)0)->m)
#define VALUE(m)   {MEMBER(m), .kind = STATE_VALUE}
#define NUMBERS(m) {MEMBER(m), .kind = STATE_NUMBERS}
#define KEPT(m)    {MEMBER(m), .kind = STATE_KEPT}
#define TABLE(m, n)                                                            \
    {MEMBER(m), .kind = STATE_TABLE, .elem = sizeof(*((Drive *)0)->m),         \
     .count = (n)}
#define POOL(m, n)                                                             \
    {MEMBER(m), .kind = STATE_POOL, .elem = sizeof(*((Drive *)0)->m),          \
     .count = (n)}

/* A counter that a row of SSD_STATS makes. */
#define COUNTER(id, path, unit, help) VALUE(ssd.inspect.count.id),
#define SUM(id, path, help)           VALUE(ssd.inspect.count.id),
#define NO_COUNTER(...)

#endif
