/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement-internal.h - which stream, plane and open block a page goes to.
 *
 * Knows streams, and the policies of allocation and placement; does not know
 * the contents of the buffer nor the reason of a write.
 */
#ifndef VSSD_FTL_PLACEMENT_INTERNAL_H
#define VSSD_FTL_PLACEMENT_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "prng.h"
#include "ssd-types.h"
#include "vssd-policy.h"

typedef struct Stream {
    StreamQueue queue; /* of buffer/ */
    uint32_t row;   /* alloc-rows.c: its next one, in the order of the stripe */
    uint32_t first; /* first plane of the one that it is at */
    uint32_t left;  /* planes of that which have no page yet, as bits */
    uint32_t taken; /* host blocks written of its present reclaim unit */
    SsdStreamCounters n;    /* since the drive was made */
    SsdStreamCounters base; /* at the last ssd_reset_stats() */
} Stream;

/*
 * A map that says by itself where a page of the host goes (log-block maps) takes
 * the place of the allocation policy.  Required, all of them.
 */
typedef struct Placer {
    /* Program one page of units that wait for the stream; false: no plane takes
     * any. */
    bool (*send)(Ssd *ssd, uint32_t stream);
    /* Does the plane of the unit take a page at once? */
    bool (*accepts)(const Ssd *ssd, uint64_t lpn);
    /* A program of the host in the plane has ended. */
    void (*page_done)(Ssd *ssd, uint32_t plane);
} Placer;

/* Load of GC in a plane, and the host writes that it allows there. */
typedef struct GcLoad {
    bool active;       /* from ftl.gc_low to ftl.gc_high */
    uint32_t reads;    /* page reads in flight */
    uint32_t programs; /* into the plane */
    uint32_t away;     /* of them and those that failed: of its units into other
                          planes of the die */
    uint32_t foreign;  /* of units of others into it */
    uint64_t credit;   /* units that the host may write, << 16 */
} GcLoad;

typedef struct PlacementPlane {
    bool accepting; /* as in Placement.accepting */
    bool starved;   /* would accept a page if GC got on; or merges */
    GcLoad gc;      /* gc/ writes it: gc_load() */
} PlacementPlane;

/* The last look of a stream for a row found none; alloc-rows.c. */
typedef struct RowBlocked {
    uint64_t changes; /* Placement.changes then, + 1 */
    uint32_t plane;   /* one that was worth waiting for */
} RowBlocked;

/* Pieces of the drive that the host may tell a rate of writes of. */
#define RATE_PIECES 8192

typedef struct Placement {
    OF_PLACEMENT PlacementPlane *plane;
    const VssdAllocPolicy *policy;
    const Placer *placer; /* or NULL: the policy places pages */
    OF_PLACEMENT uint64_t *accepting;     /* bitmap by position in the stripe */
    uint32_t stripe_cursor;               /* after a policy that broke a rule */
    OF_PLACEMENT RowBlocked *row_blocked; /* by stream; with superblock.row */
    uint64_t changes;                     /* of accepting */
    uint32_t alloc_chosen;    /* random: plane that waits to be taken, or NONE */
    uint32_t alloc_waits_for; /* plane that alloc_insist() waits for, or NONE */
    Prng rng;
    uint32_t rate_shift;        /* a piece of rate has 2^n units */
    OF_PLACEMENT uint8_t *rate; /* by piece of the drive, RATE_PIECES: what the
                        host says, an SsdWriteRate; NULL without a policy that
                        chooses streams */
    bool chooses_stream;        /* not the host, which has one stream */
    uint32_t n_starved; /* planes */
    OF_PLACEMENT Stream
        *stream; /* l.n_streams, and one for blocks of several */
} Placement;

#endif
