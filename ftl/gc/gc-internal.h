/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc-internal.h - garbage collection, wear levelling, refresh, and what runs
 * while the host is idle.
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
typedef struct StripeMeans StripeMeans; /* stripe-means.h */
typedef struct SlotClient SlotClient;

/* How long the host has been idle, and what is done meanwhile (background.c). */
typedef struct Background {
    bool idle;          /* no command has run for ftl.idle */
    bool idle_armed;    /* events that are on their way */
    bool scan_armed;
    uint64_t quiet_ps;  /* no command has run since */
    uint64_t scan_ps;   /* when the next scan begins */
} Background;

/* What the drive's firmware knows of a block; see refresh.c. */
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

typedef struct Gc {
    const GcPolicy *policy;
    bool off; /* the map empties blocks by itself */
    AgeTrees *age_trees; /* or NULL */
    StripeMeans *stripe_means; /* or NULL */
    const SlotClient *slot_client;
    PlaneWear *wear; /* by plane; NULL with ftl.wear=fifo, as the next one */
    uint64_t *wear_order; /* by block: FREE ones in the order of the list */
    uint32_t wear_size;   /* leaves of PlaneWear's trees, a power of two */
    Prng rng;
    uint32_t *unit_called;   /* by unit: planes with a PlaneGc.next */
    uint32_t *held_first;    /* by plane: the first of those that PlaneGc.held
                                counts, by Block.next, or NONE */
    bool called; /* a plane is to look for its next victim */
    bool alone; /* a victim is being chosen without regard to its stripe */
    Background background;
    BlockHistory *history; /* by block; NULL without ftl.refresh_... */
    BackgroundStats background_stats;
    uint64_t n_victims;
    uint64_t victim_units; /* of them, and how many of these were valid */
    uint64_t victim_valid;
    uint64_t n_stripes; /* chosen as a whole (ftl.gc_unit), and their blocks */
    uint64_t stripe_blocks;
} Gc;

#endif
