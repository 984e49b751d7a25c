/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain.h - the bottleneck: how busy each stage is, and the wait for it.
 *
 * Utilizations and shares are 0..1.  An Explain owns nothing.
 */
#ifndef VSSD_FTL_EXPLAIN_H
#define VSSD_FTL_EXPLAIN_H

#include "ssd-internal.h"

/* The stages of a drive, in the order in which a write meets them. */
#define STAGES(X)                                                              \
    X(LINK_IN, link_in, "host link toward the drive")                          \
    X(LINK_OUT, link_out, "host link toward the host")                         \
    X(CORES, cores, "firmware cores")                                          \
    X(DRAM, dram, "DRAM")                                                      \
    X(BUFFER, buffer, "write buffer")                                          \
    X(CHANNELS, channels, "channels")                                          \
    X(DIES, dies, "dies")                                                      \
    X(ECC, ecc, "ECC decoders")

typedef enum StageKind {
#define STAGE_ENUM(upper, lower, text) STAGE_##upper,
    STAGES(STAGE_ENUM)
#undef STAGE_ENUM
        N_STAGES,
} StageKind;

typedef struct Stage {
    uint32_t servers;   /* that work side by side, GC's own core included; 0:
                           takes no time, or is not limited */
    double utilization; /* mean of the servers; of the buffer: the share of the
                           time in which a command waits for room */
    double busiest;     /* of one server; as the mean where it is not known */
    uint32_t which;     /* channel or die; else 0 */
    double wait_ns;     /* mean of the commands */
} Stage;

typedef struct Explain {
    Stage stage[N_STAGES];
    double work[NAND_N_CAUSES]; /* shares of the time of dies, by cause; 0 of
                                   none */
    double in_flight;           /* mean number of commands (Little's law) */
    double latency_ns;          /* mean */
    double cost_ns[N_COSTS];    /* its parts */
    const char *bound_by;       /* a stage, "one_die", "one_channel", or
                                   "latency": no stage is busy */
} Explain;

/* Fill in *e for the time since the last reset of statistics; 0 without time or
 * commands. */
void explain_init(Explain *e, const Ssd *ssd);

/* As in statistics: "link_in"; static.  NULL past the last. */
const char *stage_name(unsigned i);

#endif
