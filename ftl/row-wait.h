/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row-wait.h - how long a partly filled superpage may wait
 * (ftl.superpage_wait).
 *
 * The host has such a wait for each stream, GC one for each plane.
 */
#ifndef VSSD_FTL_ROW_WAIT_H
#define VSSD_FTL_ROW_WAIT_H

#include "ssd-types.h"

/* Set RowWait.until_ps of each of n to none: nothing waits, and no event comes.
 */
void row_waits_init(RowWait *w, uint32_t n);

/* Something waits from now on, unless it has waited already. */
void row_wait_begin(Ssd *ssd, RowWait *w, uint32_t index);

/* It has gone; returns for how long it has waited, in ps. */
uint64_t row_wait_end(const Ssd *ssd, RowWait *w);

/* SSD_EVENT_ROW_WAIT has come.  true: what waits has done so long enough. */
bool row_wait_event(Ssd *ssd, RowWait *w, uint32_t index);

/* The clock is set back. */
void row_wait_rebase(RowWait *w, uint64_t by_ps);

#endif
