/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * victims.h - blocks on their way from FULL to FREE or BAD.
 *
 * For components that empty blocks: gc/, log-block maps, and power/ after a
 * failed program or erase.
 */
#ifndef VSSD_FTL_MEDIA_VICTIMS_H
#define VSSD_FTL_MEDIA_VICTIMS_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* The FULL block of the plane with fewest valid units, if it has an invalid
 * one; NONE: there is none.  O(1) on average. */
uint32_t block_least_valid(Ssd *ssd, uint32_t plane);

/* A FULL block goes to the end of the list by age. */
void block_renew(Ssd *ssd, uint32_t block);

/* Put a block whose GC or filling was cut short back among the FULL. */
void block_make_full(Ssd *ssd, uint32_t block);

/* A FULL block is to be emptied, for that cause. */
void block_start_victim(Ssd *ssd, uint32_t block, NandCause cause);

/* Erase a block that is open or FULL and holds nothing valid. */
void block_discard(Ssd *ssd, uint32_t block);

/* more: another block of the die is erased next, at once, by the same command
 * if there are such. */
void block_start_erase(Ssd *ssd, uint32_t block, NandCause cause, bool more);
void block_erased(Ssd *ssd, uint32_t block);

/* Retire a block that is ERASING, or an empty VICTIM: it leaves every list. */
void block_retire(Ssd *ssd, uint32_t block);

/* The same: its erase failed. */
void block_erase_failed(Ssd *ssd, uint32_t block);

/* A program of the block failed: close it, and empty it when it is FULL. */
void block_mark_bad(Ssd *ssd, uint32_t block);

/* Count the block as bad; true: the drive was read-only before. */
bool bad_lose_block(Ssd *ssd, uint32_t block);

#endif
