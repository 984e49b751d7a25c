/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write-rows.h - dirty units that wait until they fill a row
 * (write-rows.c).
 */
#ifndef VSSD_FTL_BUFFER_SUPERPAGE_H
#define VSSD_FTL_BUFFER_SUPERPAGE_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* SSD_EVENT_ROW_WAIT of the stream has come: if the limit is reached, all its
 * dirty units are due.  stream < l.n_streams. */
void write_rows_wait_event(Ssd *ssd, uint32_t stream);

/* ---- for write.c --------------------------------------------------------- */

/* All programs have been sent for which there are planes: start the wait of
 * each stream with dirty units.  Only with Buffer.row_wait. */
void write_rows_begin_waits(Ssd *ssd);

/* 1..l.row_planes pages of a row of the stream have been sent: count them, and
 * end the stream's wait. */
void write_rows_sent(Ssd *ssd, uint32_t stream, uint32_t pages);

#endif
