/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map-internal.h - where each logical unit is.
 *
 * Knows the map, TRIM, the map on demand (DFTL) and log-block maps; does not know
 * why a unit is written or moved.
 */
#ifndef VSSD_FTL_MAP_INTERNAL_H
#define VSSD_FTL_MAP_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_MAP
#error "ftl/map is above this component: docs/architecture.md"
#endif

#include "ssd-types.h"

/*
 * A block of the log.  It belongs to one logical block, or (logical is NONE)
 * takes units of any of its plane.
 */
typedef struct LogBlock {
    uint32_t block; /* NONE: the record is free */
    uint32_t logical;
    uint32_t older, newer; /* list of the plane; newer: list of free records */
    bool in_order; /* every page lies where it would in a data block, and no
                      unit of such a page is valid in the data block */
} LogBlock;

typedef enum MergeKind {
    MERGE_SWITCH,  /* the log block becomes the data block as it is */
    MERGE_PARTIAL, /* the rest is copied behind its pages first */
    MERGE_FULL,    /* everything is copied to a free block */
    N_MERGE_KINDS,
} MergeKind;

typedef struct MergeStats {
    uint64_t merges[N_MERGE_KINDS]; /* of logical blocks */
    uint64_t copied_pages[N_MERGE_KINDS];
    uint64_t copied_units[N_MERGE_KINDS];
    uint64_t padded_pages; /* programmed with nothing in them */
    uint64_t emptied;  /* log blocks of many logical blocks */
    uint64_t logs;     /* log blocks opened */
} MergeStats;

typedef struct Map {
    const MapPolicy *policy;
    uint64_t *trim_left;  /* bitmap by group (L2p.group_used): a TRIM under way is
                             still to unmap it */
    uint32_t n_trim_left; /* groups */
    CmdFifo trims;        /* TRIMs under way; their Cmd.next_lpn: the next group */
    void *policy_data;        /* of the mapping scheme */
    uint64_t policy_bytes;    /* host memory that it takes */
    /* Log-block maps; else NULL.  Logical blocks count plane by plane, and so
     * do records of log blocks. */
    uint32_t *data_block; /* by logical block, or NONE */
    uint32_t *log_of;     /* by logical block: record of its own log, or NONE */
    LogBlock *log_block;  /* records */
    MergeStats merge_stats;
} Map;

#endif
