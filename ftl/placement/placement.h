/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placement.h - streams and allocation. */
#ifndef VSSD_FTL_PLACEMENT_H
#define VSSD_FTL_PLACEMENT_H

#include "ssd-internal.h"

/* ---- alloc.c ----------------------------------------------------------- */

/* Streams of the seed; see prng_seed(). */
#define PURPOSE_ALLOC 0x66746c2d616c6c6fULL
#define PURPOSE_GC    0x66746c2d67632d76ULL

void alloc_init(Ssd *ssd);
void alloc_destroy(Ssd *ssd);

/* The plane for the next page of a stream; see AllocPolicy.pick(). */
uint32_t alloc_pick(Ssd *ssd, uint32_t lpn, uint32_t stream);

/* Something is under way in the plane that may make it accept a page. */
static inline bool alloc_will_change(const Plane *p)
{
    return p->host_programs > 0 || p->erases > 0 || p->gc.reads > 0 ||
           p->gc.programs > 0 || p->gc.away > 0 || p->gc.trims > 0;
}

/* The first position of the stripe at from, or after it and round, whose plane
 * accepts a page; NONE: there is none. */
uint32_t alloc_next(const Ssd *ssd, uint32_t from);

/* The plane, if it accepts a page; NONE, while something under way there may
 * change that; else the next one in the stripe that does, or NONE. */
uint32_t alloc_insist(Ssd *ssd, uint32_t plane);

/* Placement.alloc_waits_for is not NONE: is there still something to wait for? */
void alloc_look_again(Ssd *ssd);

/* ---- alloc-rows.c ------------------------------------------------------ */

/* With l.row_planes. */
void rows_init(Ssd *ssd);
void rows_destroy(Ssd *ssd);

/* Where a stream begins. */
uint32_t rows_first(const Ssd *ssd, uint32_t stream);

/* As alloc_pick().  Then: the next plane of the same row, if it accepts a page;
 * NONE: the row has no other, or it waits for that one. */
uint32_t rows_pick(Ssd *ssd, uint32_t stream);
uint32_t rows_more(Ssd *ssd, uint32_t stream);

/* ---- hot.c ------------------------------------------------------------- */

/* With ftl.hot_cold: the stream of units that are written often; the others are
 * of stream 0, and the host names none. */
#define HOT_STREAM 1

void hot_init(Ssd *ssd);
void hot_destroy(Ssd *ssd);
void hot_forget(Ssd *ssd);

/* The stream of the unit.  It has been written. */
uint32_t hot_stream(const Ssd *ssd, uint32_t lpn);
void hot_written(Ssd *ssd, uint32_t lpn);

/* ---- streams.c --------------------------------------------------------- */

void stream_init(Ssd *ssd);
void stream_destroy(Ssd *ssd);

/* Nothing is in the buffer. */
void stream_forget_slots(Ssd *ssd);

/* A slot has become DIRTY; leaves.  Whether it is due must not change between
 * the two but by stream_make_due() and stream_all_due(). */
void stream_insert(Ssd *ssd, uint32_t slot);
void stream_remove(Ssd *ssd, uint32_t slot);

/* A slot, DIRTY or not, belongs to another stream now. */
void stream_change(Ssd *ssd, uint32_t slot, uint32_t stream);

/* Set one of the slot's flags that make it due, be it DIRTY or not yet. */
void stream_make_due(Ssd *ssd, uint32_t slot, bool *flag);

/* Every DIRTY slot is of an earlier epoch now, and due. */
void stream_all_due(Ssd *ssd);

/* The stream whose page goes to NAND next, or NONE. */
uint32_t stream_ready(Ssd *ssd);

/* The lists of the streams were loaded. */
void stream_note_slots(Ssd *ssd);

/* Is there enough for another page of the row that the stream has begun? */
bool stream_goes_on(const Ssd *ssd, uint32_t stream);

/* Is there a stream whose page goes to NAND? */
bool stream_waits(const Ssd *ssd);

/* The host has written so many of its blocks to the stream. */
void stream_wrote(Ssd *ssd, uint32_t stream, uint64_t nblocks);

/* ssd_stream_close(), at the drive's now. */
void stream_end_host(Ssd *ssd, uint64_t now_ns, uint32_t stream);

/* The stream's open blocks take no more pages. */
void stream_close_blocks(Ssd *ssd, uint32_t stream);

/* Which DIRTY slot of the stream goes next; NONE: there is none. */
uint32_t stream_pick(const Ssd *ssd, uint32_t stream);

/* The stream whose account pays for a copy of the unit. */
uint32_t stream_account(const Ssd *ssd, uint32_t ppu);
/* The unit is being copied: its stream's account pays. */
void stream_copied(Ssd *ssd, uint32_t ppu);
/* The power has gone: what NAND did not come to end, the job's page and erases,
 * goes out of the accounts again, as NAND has not counted it. */
void stream_uncount_page(Ssd *ssd, uint32_t j);
void stream_uncount_erases(Ssd *ssd);
void stream_reset_stats(Ssd *ssd);
void stream_json(const Ssd *ssd, JsonWriter *w);

#endif
