/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy-rows.h - copies that fill rows, or with no superblock.row pages
 * (copy-rows.c).
 */
#ifndef VSSD_FTL_GC_COPY_ROWS_H
#define VSSD_FTL_GC_COPY_ROWS_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include "gc/gc-internal.h"
#include "ssd-internal.h"

/* These two do nothing without superblock.row. */
void copy_rows_init(Ssd *ssd);
void copy_rows_destroy(Ssd *ssd);

/* No plane waits; none has staged units.  Does nothing without superblock.row.
 */
void copy_rows_power_lost(Ssd *ssd);

/* Does a page of the plane wait for others?  false without superblock.row. */
bool copy_rows_wait(const Ssd *ssd, uint32_t plane);

/* true: pages of staged units are on their way. */
bool copy_rows_program(Ssd *ssd, uint32_t plane);

/* Has the plane read as much as it may hold back? */
bool copy_rows_full(const Ssd *ssd, uint32_t plane);

/* SSD_EVENT_ROW_WAIT of the plane has come.  true: its pages wait no longer. */
bool copy_rows_event(Ssd *ssd, uint32_t plane);

#endif
