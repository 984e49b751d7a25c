/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-retry.h - read retry: levels of the read reference voltage, and soft
 * decoding; pure functions of the options.  docs/reliability.md has the
 * formulas.
 *
 * The attempts to read a page are numbered from 0.  Those up to
 * media.retry_limit sense it once and decode it; then media.soft_reads more
 * sense it, and what all of these have seen is decoded after the last.
 */
#ifndef VSSD_NAND_RETRY_H
#define VSSD_NAND_RETRY_H

#include "nand.h"

typedef enum RetryMemory {
    RETRY_MEMORY_OFF,
    RETRY_MEMORY_BLOCK,
    RETRY_MEMORY_DIE,
} RetryMemory;

/* The number of the last attempt. */
static inline uint32_t retry_last(const NandConfig *c)
{
    return c->retry_limit + c->soft_reads;
}

/* Is it one for soft decoding? */
static inline bool retry_is_soft(const NandConfig *c, uint32_t attempt)
{
    return attempt > c->retry_limit;
}

/* Does it end without decoding, since more senses follow? */
static inline bool retry_only_senses(const NandConfig *c, uint32_t attempt)
{
    return retry_is_soft(c, attempt) && attempt < retry_last(c);
}

/* The level of an attempt: from the first one outwards, the higher one before
 * the lower, each of 0..most once; attempt is at most `most`. */
uint32_t retry_level(uint32_t first, uint32_t attempt, uint32_t most);

/*
 * The level, a real number, at which a page has the fewest wrong bits:
 * wear is PE relative to the rated cycles, t the age in media.retention_unit,
 * z of the standard normal distribution and the page's own.
 */
double retry_best_level(const NandConfig *cfg, double wear, double t, double z);

/* The RBER of a read at the level, relative to that at level 0. */
double retry_level_factor(const NandConfig *cfg, double level, double best);

/* The level of 0..media.retry_limit with the least RBER. */
uint32_t retry_nearest_level(const NandConfig *cfg, double best);

#endif
