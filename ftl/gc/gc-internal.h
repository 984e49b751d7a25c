/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-internal.h - garbage collection, wear levelling, refresh, and work while
 * the host is idle.
 *
 * Knows victims and copies; does not know host commands.
 */
#ifndef VSSD_FTL_GC_INTERNAL_H
#define VSSD_FTL_GC_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_GC
#error "ftl/gc is above this component: docs/architecture.md"
#endif

#include "prng.h"
#include "ssd-types.h"

typedef struct AgeTrees AgeTrees;       /* age-tree.h */
typedef struct SuperblockMeans SuperblockMeans; /* superblock-means.h */
typedef struct SlotClient SlotClient;

/* Idle time of the host, and the work in it (background.c). */
typedef struct Background {
    bool idle;          /* no command has run for ftl.idle */
    bool idle_armed;    /* events that are on their way */
    bool scan_armed;
    uint64_t quiet_ps;  /* no command has run since */
    uint64_t scan_ps;   /* when the next scan begins */
    bool folds;         /* no command has run for ftl.slc_fold_delay */
    bool fold_armed;    /* an event */
} Background;

/* The firmware's data about a block; see refresh.c. */
typedef struct BlockHistory {
    uint64_t since_ns; /* by its clock, when the oldest data was programmed */
    uint32_t reads;    /* since the block was opened */
    uint32_t retries;  /* that a read of them needed, at most */
} BlockHistory;

/* Blocks emptied for other reasons than that room was short. */
typedef struct BackgroundStats {
    uint64_t soft_victims;
    uint64_t wear_victims;
    uint64_t refresh_victims;
    uint64_t yields; /* GC waited for reads of the host */
} BackgroundStats;

/* State of GC in a plane; beside it, GcLoad (placement/). */
typedef struct GcPlane {
    bool forced;     /* a victim is wanted, whatever there is of free blocks */
    bool background; /* the victim was taken while the host was idle */
    bool yielded;    /* to reads of the host; it will be woken */
    bool reclaim;    /* a FULL block may be due: reclaim_victim() */
    uint32_t victim; /* or NONE */
    uint32_t scan;   /* next page of the victim to look at */
    uint32_t n_staged;         /* units read, not yet on their way */
    OF_GC uint64_t *staged;    /* their ppus, in controller memory */
    OF_GC uint32_t *staged_of; /* how many of them, by class */
    uint32_t
        next; /* FULL: victim of its superblock, to be taken next; or NONE */
    uint32_t held; /* empty victims that wait for others of their superblock */
    JobFifo redo;
    uint64_t rate; /* credit of each page of the victim, for GcLoad.credit */
    /* Since a victim was read last, for pace.c: */
    uint64_t pace_from_ps; /* GC is at work; SIM_NEVER: it is not */
    uint64_t pace_busy_ps; /* it was before that */
    uint64_t pace_earned;  /* units that the host may write, << 16 */
    uint32_t most_erased;  /* of its blocks */
    uint32_t least_erased; /* none has been erased less often */
    uint32_t
        wear_due; /* erases of a block that calls for a move; 0: none does */
    uint32_t scanned; /* blocks that the scan has looked at */
} GcPlane;

/* Every block that holds something is to be erased (purge.c). */
typedef struct Purge {
    OF_GC uint64_t *mark; /* blocks that are to be; NULL: there is no purge */
    uint32_t left;        /* of them */
    uint32_t total;       /* at the beginning */
    bool failed;          /* an erase has */
} Purge;

/* The pace of host writes (pace.c). */
typedef struct GcPace {
    uint64_t unit_ps;     /* a plane takes so long for a unit, in the mean */
    uint64_t distance_ps; /* of two units that the host writes */
    uint32_t n_active;    /* planes with GcLoad.active */
} GcPace;

typedef struct Gc {
    OF_GC GcPlane *plane;
    bool off; /* the map empties blocks by itself */
    OF_GC AgeTrees *age_trees;               /* or NULL */
    OF_GC SuperblockMeans *superblock_means; /* or NULL */
    const SlotClient *slot_client;
    OF_GC PlaneWear
        *wear; /* by plane; NULL with ftl.wear=fifo, as the next one */
    OF_GC uint64_t
        *wear_order; /* by block: FREE ones in the order of the list */
    uint32_t
        wear_size; /* number of leaves of PlaneWear's trees, a power of two */
    Prng rng;
    OF_GC uint32_t *unit_called; /* by superblock_set(): planes with a
                                    GcPlane.next; NULL, as the next one,
                                    without superblocks */
    OF_GC uint32_t *held_first;  /* by plane: the first of those that
                              GcPlane.held counts, by Block.next, or NONE */
    OF_GC RowWait *row_wait;     /* by plane: copy-rows.c; NULL without
                                    superblock.row */
    bool called; /* planes of the unit are to look for their next victim */
    bool alone;  /* a victim is being chosen without regard to its superblock */
    Background background;
    GcPace pace;
    bool period_armed;           /* periodic.c: its event is on its way */
    OF_GC BlockHistory *history; /* by block; NULL without ftl.refresh_... and
                                    ftl.read_reclaim */
    BackgroundStats background_stats;
    Purge purge;
} Gc;

#endif
