/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reset.h - TRIMs that end when the blocks they empty are erased. */
#ifndef VSSD_FTL_MAP_RESET_H
#define VSSD_FTL_MAP_RESET_H

#include "layers.h"
#if FTL_LAYER < FTL_MAP
#error "ftl/map is above this component: docs/architecture.md"
#endif

#include "map/map-internal.h"
#include "ssd-internal.h"

/* Only with zones, all of them.  At set-up; at the end; the power has gone. */
void reset_init(Ssd *ssd);
void reset_destroy(Ssd *ssd);
void reset_power_lost(Ssd *ssd);

/* How long a TRIM with SsdCmd.erase takes before it begins: its record, and
 * entries of the map. */
uint64_t reset_before_ps(const Ssd *ssd, const SsdCmd *r);

/* It begins: note the blocks of its units. */
void reset_begin(Ssd *ssd, uint32_t cmd, uint64_t first, uint64_t end);

/* All of its units are unmapped: close its stream.  true: the command waits for
 * erases, and reset.c ends it. */
bool reset_unmapped(Ssd *ssd, uint32_t cmd);

/* The block is erased, or is never used again. */
void reset_block_gone(Ssd *ssd, uint32_t block);

/* Blocks of the plane have become FULL: those that hold other data are not
 * waited for. */
void reset_look(Ssd *ssd, uint32_t plane);

/* The drive cannot program any more: no block is emptied.  Also without zones.
 */
void reset_give_up(Ssd *ssd);

#endif
