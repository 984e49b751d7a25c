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
#include "numtable.h"
#include "ssd-types.h"

/*
 * An entry: 0, unmapped; MAP_BUFFERED | slot, the newest data is in the buffer;
 * else ppu + 1.  MAP_BUFFERED is a sign and a number of 31 bits: it is the same
 * in a table of 32 bits and in one of 64 (numtable.h).
 */
#define MAP_BUFFERED (~NUMTABLE_NARROW_MOST)

typedef struct L2p {
    NumTable entry;        /* by lpn; metadata behind the user's */
    uint64_t mapped_units; /* of the user */
    /* Groups of 1 << group_shift units, so that a TRIM passes over those that
     * hold nothing. */
    unsigned group_shift;
    uint64_t *group_used; /* bitmap by group: it may hold something */
} L2p;

static inline bool map_is_buffered(uint64_t entry)
{
    return (int64_t)entry < 0;
}

static inline uint32_t map_slot(uint64_t entry)
{
    return (uint32_t)(entry & ~MAP_BUFFERED);
}

static inline uint64_t l2p_get(const L2p *l2p, uint64_t lpn)
{
    return numtable_get(&l2p->entry, lpn);
}

static inline void l2p_set(L2p *l2p, uint64_t lpn, uint64_t entry)
{
    numtable_set(&l2p->entry, lpn, entry);
}

/* The table is about to hold something of the unit. */
static inline void l2p_note_used(L2p *l2p, uint64_t lpn)
{
    uint64_t group = lpn >> l2p->group_shift;

    bitmap_set(l2p->group_used, group);
}

#endif
