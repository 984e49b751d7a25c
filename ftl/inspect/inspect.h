/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inspect.h - statistics and accounts. */
#ifndef VSSD_FTL_INSPECT_H
#define VSSD_FTL_INSPECT_H

#include "ssd-internal.h"

/* ---- accounts.c -------------------------------------------------------- */

/* Count from now on. */
void accounts_reset(Ssd *ssd);

/* Append to the object "nand" of the statistics. */
void accounts_json(const Ssd *ssd, JsonWriter *w);

/* ---- numbers.c --------------------------------------------------------- */

/* Begin the series anew. */
void numbers_reset(Ssd *ssd);

/* The number of free blocks has changed, and Series.next_ps has come. */
void numbers_sample(Ssd *ssd);

/* The buffer has changed, or is about to, and Series.next_ps has come. */
void numbers_sample_buffer(Ssd *ssd);
void numbers_buffer_json(const Ssd *ssd, JsonWriter *w);

static inline void note_buffer(Ssd *ssd)
{
    if (ssd->now_ps >= ssd->inspect.buffer_series.next_ps) {
        numbers_sample_buffer(ssd);
    }
}

/* A block is to be cleaned. */
void numbers_victim(Ssd *ssd, uint32_t block);

/* Append to the objects "gc" and "nand" of the statistics. */
void numbers_gc_json(const Ssd *ssd, JsonWriter *w);
void numbers_wear_json(const Ssd *ssd, JsonWriter *w);

/* ---- stream-stats.c ---------------------------------------------------- */

/* Append "streams" and "streams_merged" to the statistics. */
void stream_json(const Ssd *ssd, JsonWriter *w);

#endif
