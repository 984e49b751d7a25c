/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush.h - from dirty slots to programmed pages.
 *
 * For ssd.c and settle.c (events and marked work), for power/ after a failed
 * program, and for a log-block map, which chooses the page itself.
 */
#ifndef VSSD_FTL_BUFFER_FLUSH_H
#define VSSD_FTL_BUFFER_FLUSH_H

#include "layers.h"
#if FTL_LAYER < FTL_BUFFER
#error "ftl/buffer is above this component: docs/architecture.md"
#endif

#include "buffer/buffer-internal.h"
#include "ssd-internal.h"

/* Is there a stream whose page goes to NAND next? */
bool queue_waits(const Ssd *ssd);

/* Give NAND every page that is due and that a plane accepts. */
void write_pump(Ssd *ssd);

/* The same of pages without data, of zones that are being finished (close.c);
 * after it. */
void close_pump(Ssd *ssd);

/* No command is running: start early flushes. */
void buffer_idle(Ssd *ssd);

void write_flush_tick(Ssd *ssd);

/* What the held stream has of these logical units is the stream's (commit.c).
 */
void write_commit(Ssd *ssd, uint64_t first, uint64_t end, uint32_t stream);

void write_page_data_in(Ssd *ssd, uint32_t job);
void write_page_done(Ssd *ssd, uint32_t job);
void write_page_failed(Ssd *ssd, uint32_t job);

/* Before either: a page without data may be the last of a zone. */
void close_page_done(Ssd *ssd, uint32_t job);

/* Fail barriers, and writes that wait for slots to be durable. */
void write_fail_waiters(Ssd *ssd);
void close_give_up(Ssd *ssd);

/* ---- a map that chooses the page ----------------------------------------- */

/* The slot is DIRTY.  It becomes PROGRAMMING, part of a page on its way to
 * NAND. */
void slot_leave_dirty(Ssd *ssd, uint32_t slot);

/* A job of the host has its units (NONE: nothing in that place) and its page:
 * program it. */
void write_submit(Ssd *ssd, uint32_t job);

/* A page has been filled: count the evictions of a write buffer, while commands
 * wait for room. */
void write_count_evictions(Ssd *ssd, uint32_t job);

#endif
