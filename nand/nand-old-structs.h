/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-old-structs.h - structs of the array in streams of versions 1 to 3, in
 * which sums of durations had 64 bits; for rows of a saved state.
 */
#ifndef VSSD_NAND_OLD_STRUCTS_H
#define VSSD_NAND_OLD_STRUCTS_H

#include "nand.h"

typedef struct NandStatsV3 {
    uint64_t ops[NAND_N_KINDS][NAND_N_CAUSES];
    uint64_t time_ps[NAND_N_CAUSES][NAND_N_TIMES];
    uint64_t bus_bytes[NAND_N_CAUSES];
    uint64_t bus_busy_ps, die_busy_ps; /* as those of channels and dies */
    uint64_t suspends, multi_plane;
    uint64_t joined[NAND_N_KINDS];
    uint64_t cached, read_retries, uncorrectable;
    uint64_t program_failures, erase_failures;
    uint64_t reads_by_retries[NAND_RETRY_BINS];
    uint64_t soft_decodes, level_hits, level_misses, lost_pages, backups;
    uint64_t ecc_busy_ps, ecc_wait_ps;
    uint64_t slc_programs, slc_erases;
} NandStatsV3;

#define STATS(m) STATE_MOVE(NandStatsV3, NandStats, m)

static const StateMove nand_stats_moves[] = {
    STATS(ops),
    STATS(time_ps),
    STATS(bus_bytes),
    STATS(suspends),
    STATS(multi_plane),
    STATS(joined),
    STATS(cached),
    STATS(read_retries),
    STATS(uncorrectable),
    STATS(program_failures),
    STATS(erase_failures),
    STATS(reads_by_retries),
    STATS(soft_decodes),
    STATS(level_hits),
    STATS(level_misses),
    STATS(lost_pages),
    STATS(backups),
    STATS(ecc_busy_ps),
    STATS(ecc_wait_ps),
    STATS(slc_programs),
    STATS(slc_erases),
};

#undef STATS

/* Before version 3 it had fewer members. */
static const StateWas nand_stats_was = {
    .bytes = sizeof(NandStatsV3),
    .move = nand_stats_moves,
    .n_moves = G_N_ELEMENTS(nand_stats_moves),
    .grown = 3,
};

#endif
