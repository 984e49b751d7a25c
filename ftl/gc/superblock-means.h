/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * superblock-means.h - the mean of valid units of each superblock
 * (superblock.width).
 */
#ifndef VSSD_FTL_SUPERBLOCK_MEANS_H
#define VSSD_FTL_SUPERBLOCK_MEANS_H

#include "layers.h"
#if FTL_LAYER != FTL_GC && FTL_LAYER != FTL_ALL
#error "private to ftl/gc: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>

#include "ssd.h"

typedef struct SuperblockMeans
    SuperblockMeans; /* Gc.superblock_means; NULL: no superblock.width */

/* Slots of no block: the range is empty. */
#define SLOTS_NONE_FIRST UINT32_MAX
#define SLOTS_NONE_LAST  0U

/* Callbacks of an index by slot; required, both. */
typedef struct SlotClient {
    /* The slot of a FULL block is another one now. */
    void (*moved)(Ssd *ssd, uint32_t block);
    /* Those of all blocks of the plane are. */
    void (*all_moved)(Ssd *ssd, uint32_t plane);
} SlotClient;

void superblock_means_init(Ssd *ssd);
void superblock_means_destroy(Ssd *ssd);

/* Blocks, superblocks and lists are others now. */
void superblock_means_forget(Ssd *ssd);

/* With Gc.superblock_means: a block of the list by age has become FULL, is FULL
 * no more, has so many more valid units. */
void superblock_means_full(Ssd *ssd, uint32_t block);
void superblock_means_victim(Ssd *ssd, uint32_t block);
void superblock_means_change(Ssd *ssd, uint32_t block, int by);

/* The same: a block has joined a superblock; has left the one that other is of
 * (or was its last one, and is other). */
void superblock_means_joined(Ssd *ssd, uint32_t block);
void superblock_means_left(Ssd *ssd, uint32_t block, uint32_t other);

/* Slots of the plane's set are up to date from here on. */
void superblock_means_prepare(Ssd *ssd, uint32_t plane);

/* The slot of the block's superblock, or NONE.  A slot belongs to one
 * superblock of the set; superblocks that have become FULL later have higher
 * ones, but for few. */
uint32_t superblock_means_slot(const Ssd *ssd, uint32_t block);

/* The least mean of the slots first..last of the plane's set, over superblocks
 * of which each block is FULL; INFINITY: there is none. */
double superblock_means_least(const Ssd *ssd, uint32_t plane, uint32_t first,
                              uint32_t last);

/* For ssd_check(). */
bool superblock_means_check(const Ssd *ssd, GError **error);

#endif
