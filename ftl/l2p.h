/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * l2p.h - the table from logical unit to buffer slot or physical unit.
 *
 * Below every component: the buffer, recovery and GC write it as they move a
 * unit.  map/ models the cost of a lookup.
 */
#ifndef VSSD_FTL_L2P_H
#define VSSD_FTL_L2P_H

#include "bitmap.h"
#include "ssd-types.h"

/*
 * An entry: 0, unmapped; MAP_BUFFERED | slot, the newest data is in the buffer;
 * else ppu + 1.  MAP_BUFFERED is a sign and a number of 31 bits: it is the same
 * in a table of 32 bits and in one of 64 (numtable.h).
 */
#define MAP_BUFFERED 0x80000000U

typedef struct L2p {
    uint32_t *entry;       /* by lpn; metadata behind the user's */
    uint64_t mapped_units; /* of the user */
    /* Groups of 1 << group_shift units, so that a TRIM passes over those that
     * hold nothing. */
    unsigned group_shift;
    uint64_t *group_used; /* bitmap by group: it may hold something */
} L2p;

static inline bool map_is_buffered(uint32_t entry)
{
    return entry & MAP_BUFFERED;
}

static inline uint32_t map_slot(uint32_t entry)
{
    return entry & ~MAP_BUFFERED;
}

/* The table is about to hold something of the unit. */
static inline void l2p_note_used(L2p *l2p, uint32_t lpn)
{
    uint32_t group = lpn >> l2p->group_shift;

    bitmap_set(l2p->group_used, group);
}

#endif
