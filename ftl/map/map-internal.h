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
    bool in_order; /* every page is where it would be in a data block, and no
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

/* Pages that a merge reads ahead of the one that it programs. */
#define MERGE_WINDOW 2

/* A log block that is being emptied, one logical block after another. */
typedef struct Merge {
    uint32_t log;     /* record, or NONE: the plane merges nothing */
    uint32_t logical; /* which is merged now, or NONE */
    uint32_t to;      /* the block that it is copied to, or NONE: not yet */
    uint32_t scan;    /* random: unit of the log block to look at next; else 1
                         once its logical block has been taken up */
    uint32_t end;     /* pages of the logical block to copy end here; counted,
                         as the following, in programs from its beginning */
    uint32_t read, read_unit;    /* the next to be read */
    uint32_t program;            /* which is to be programmed next */
    uint32_t left[MERGE_WINDOW]; /* by page: reads in flight for it */
    uint32_t reads;              /* in flight, and so programs */
    uint32_t programs;
    uint8_t kind; /* MergeKind */
    bool begun;   /* the host's programs in the plane have ended */
    bool random;  /* the log block holds units of many logical blocks */
} Merge;

typedef struct PlaneLogs {
    IlistN list;         /* records in the order of the policy, the one to be
                            emptied first */
    uint32_t free;       /* records */
    uint32_t sequential; /* record beside that list, or NONE */
    uint64_t n_ended;    /* merges of log blocks */
    Merge merge;
} PlaneLogs;

/* With a log-block map. */
typedef struct MapPlane {
    PlaneLogs logs;
    OF_MAP uint64_t *origin; /* by unit of a full merge's destination: which ppu
                         was copied there, or NONE; a part of Map.origins */
} MapPlane;

typedef struct Map {
    const MapPolicy *policy;
    OF_MAP uint64_t *trim_left; /* bitmap by group (L2p.group_used): a TRIM
                            under way is still to unmap it */
    uint32_t n_trim_left; /* groups */
    CmdFifo trims;        /* TRIMs under way; their Cmd.next_lpn: the next group */
    /* With zones (reset.c), else NULL: by block, the command that waits for its
     * erase, + 1, or 0; by plane, how many blocks are waited for. */
    OF_MAP uint32_t *reset_of;
    OF_MAP uint32_t *resets;
    OF_MAP void *policy_data; /* of the mapping scheme */
    uint64_t policy_bytes;    /* host memory that it takes */
    /* Log-block maps; else NULL.  Logical blocks count plane by plane, and so
     * do records of log blocks. */
    OF_MAP uint32_t *data_block; /* by logical block, or NONE */
    OF_MAP uint32_t
        *log_of; /* by logical block: record of its own log, or NONE */
    OF_MAP LogBlock *log_block; /* records */
    OF_MAP MapPlane *plane;
    OF_MAP uint64_t *origins; /* MapPlane.origin of all planes, lazy memory */
    MergeStats merge_stats;
} Map;

#endif
