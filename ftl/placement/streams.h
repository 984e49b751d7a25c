/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams.h - streams of the host: reclaim units, and what each has cost.
 *
 * For components that write, copy or erase for a stream (buffer/, map/, gc/),
 * for host/ and ssd.c (units, end of a stream), power/ and inspect/ (counters).
 */
#ifndef VSSD_FTL_PLACEMENT_STREAMS_H
#define VSSD_FTL_PLACEMENT_STREAMS_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "placement/placement-internal.h"
#include "ssd-internal.h"

/* ---- reclaim units ------------------------------------------------------- */

/* The host has written so many of its blocks to the stream. */
void stream_wrote(Ssd *ssd, uint32_t stream, uint64_t nblocks);

/* ssd_stream_close(): its next page begins a reclaim unit. */
void stream_end(Ssd *ssd, uint32_t stream);

/* The same, before its blocks are closed: its next unit is the first one. */
void stream_begin_unit(Ssd *ssd, uint32_t stream);

/* The stream's open blocks take no more pages. */
void stream_close_blocks(Ssd *ssd, uint32_t stream);

/* ---- accounts ------------------------------------------------------------ */

/* A page of the stream is programmed: so many units of the host, and padding.
 */
void stream_programmed(Ssd *ssd, uint32_t stream, uint32_t units,
                       uint32_t padded);
void stream_reset_stats(Ssd *ssd);

/* The unit is being copied: its stream's account pays. */
void stream_copied(Ssd *ssd, uint64_t ppu);

/* A page takes units of several streams. */
void stream_mixed(Ssd *ssd);

/* A victim of GC: its valid units are copied. */
void stream_victim(Ssd *ssd, uint32_t block);

/* The erase of the block begins. */
void stream_erasing(Ssd *ssd, uint32_t block);

/* The power has gone: the unfinished page and erases of the job are subtracted
 * from the accounts, as NAND has not counted them. */
void stream_uncount_page(Ssd *ssd, uint32_t j);
void stream_uncount_erases(Ssd *ssd);

#endif
