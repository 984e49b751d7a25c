/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * needs.h - needs of a configuration that a policy may lack, as bits.
 *
 * A policy declares the needs that it cannot meet (`lacks`); ssd-config.c
 * derives the needs of the options, and refuses conflicts by the names of both
 * options.
 */
#ifndef VSSD_FTL_NEEDS_H
#define VSSD_FTL_NEEDS_H

#include <stdint.h>

typedef enum SsdNeed {
    NEED_ALLOC = 1 << 0, /* an allocation policy of the user's choice */
    NEED_GC = 1 << 1,    /* a GC policy of the user's choice */
    NEED_SUPERBLOCKS = 1 << 2,
    NEED_BACKGROUND = 1
        << 3, /* GC while the host is idle, or beside its reads */
    NEED_STATIC_WEAR = 1 << 4,
    NEED_REFRESH = 1 << 5,
    NEED_STREAMS = 1 << 6, /* of the host, or of hot and cold data */
    NEED_SLC = 1 << 7,
    NEED_COPYBACK = 1 << 8,
    NEED_BAD_BLOCKS = 1 << 9, /* from the start, or by failures */
    NEED_RECOVERY = 1 << 10,  /* a map that is found again in NAND */
    NEED_PLP = 1 << 11,
    NEED_CLOSE = 1 << 12,  /* open blocks that media/ can close */
    NEED_LOSSES = 1 << 13, /* counters that a power cut takes back */
} SsdNeed;

/* Needs that the map, or the recovery, of the configuration cannot meet. */
uint32_t ssd_map_lacks(unsigned map);
uint32_t ssd_recovery_lacks(unsigned recovery);

#endif
