/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row-wait.h - the time limit of a partly filled row
 * (superblock.row_wait).
 *
 * buffer/ has a RowWait for each stream, gc/ one for each plane.
 */
#ifndef VSSD_FTL_ROW_WAIT_H
#define VSSD_FTL_ROW_WAIT_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

/* Make n of them: no wait, no event.  w NULL: nothing is done. */
void row_waits_init(RowWait *w, uint32_t n);

/* Start the time limit, unless it runs: SSD_EVENT_ROW_WAIT with the index comes
 * after superblock.row_wait. */
void row_wait_begin(Ssd *ssd, RowWait *w, uint32_t index);

/* End the wait before its limit.  For how long it ran, in ps; 0: it did not. */
uint64_t row_wait_end(const Ssd *ssd, RowWait *w);

/* Does a wait run that has reached its limit? */
bool row_wait_due(const Ssd *ssd, const RowWait *w);

/* SSD_EVENT_ROW_WAIT has come.  true: the limit is reached; the wait runs until
 * row_wait_end().  false: no wait, or a later limit. */
bool row_wait_event(Ssd *ssd, RowWait *w, uint32_t index);

/* The drive's clock is set back by so much; the limit moves with it, modulo
 * 2^64 ps, as it may have been reached before the clock's new zero. */
void row_wait_rebase(RowWait *w, uint64_t by_ps);

#endif
