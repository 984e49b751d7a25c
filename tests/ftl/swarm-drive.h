/* SPDX-License-Identifier: GPL-2.0-or-later */
/* swarm-drive.h - the options of a random drive, from one seed. */
#ifndef VSSD_TESTS_FTL_SWARM_DRIVE_H
#define VSSD_TESTS_FTL_SWARM_DRIVE_H

#include "prng.h"
#include "ssd-config.h"

/* Streams of random numbers.  A value never changes: a seed must mean the same
 * drive and host always. */
enum {
    DRAW_DRIVE = 1,
    DRAW_HOST,
    DRAW_ABORT,
    DRAW_MEDIA,
    DRAW_STREAMS,
    DRAW_BUFFER,
    DRAW_UPKEEP = 20,
    DRAW_WIDTH = 30,
    DRAW_DFTL = 41,
    DRAW_RECOVERY = 50,
    DRAW_LOGS = 52,
    DRAW_HOT = 60,
    DRAW_SLC = 70,
    DRAW_DRAM,
    DRAW_ROWS,
    DRAW_ROW,
    DRAW_CELLS,
    DRAW_HEAT,
    DRAW_POWER,
    DRAW_CONTROLLER = 80,
    DRAW_HMB,
    DRAW_SLC_CACHE,
    DRAW_PARITY = 90,
    DRAW_GROUPS,
    DRAW_SLC_STREAMS,
    DRAW_RANDOM_BLOCK,
    DRAW_DIES,
    DRAW_ZONES,
    DRAW_PARITY_WITH,
    DRAW_WINDOW = 106,
};

/* Random numbers of one seed, a stream for each thing: an addition to one does
 * not change the others. */
typedef struct Draws {
    uint64_t seed;
    bool only_dftl;   /* no map but ftl.map=dftl */
    bool only_logs;   /* no map but log-block maps */
    bool only_parity; /* parity wherever it can be */
    bool only_zones;  /* zones wherever they can be */
    bool no_zones;    /* as vssd-sim has none, which plays what is recorded */
    bool bug;         /* nothing that hides a planted bug */
    const char *set;  /* options of each drive that can have them, or NULL */
    bool has_set;     /* out: the drive has them */
    Prng drive, media, streams, buffer, upkeep, recovery, logs, host;
} Draws;

/* One of the values, each as likely as the others. */
static inline uint64_t one_of(Prng *r, const uint64_t *v, size_t n)
{
    return v[prng_below(r, n)];
}

#define ONE_OF(r, ...)                                                         \
    one_of(r, (const uint64_t[]){__VA_ARGS__},                                 \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* The streams of d->seed; the caller has set the members before them. */
void draws_seed(Draws *d);

/* A configuration that fits together, which the caller frees.  verbose: print
 * its options to stderr. */
SsdConfig *draw_config(Draws *d, bool verbose);

#endif
