/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-layout.h - where the chunks of a RAID array are.
 *
 * Terms, as in Linux's md and in Holland and Gibson, "Parity Declustering for
 * Continuous Operation in Redundant Disk Arrays" (ASPLOS 1992):
 *
 *   chunk   chunk_blocks blocks that follow each other on one drive
 *   row     the chunks at the same place of every drive
 *   stripe  `width` chunks of one row: data, then parity (or copies); a row
 *           has n_groups stripes and n_spares spare chunks
 *   role    the place of a chunk in its stripe, 0..width-1: data chunks, then
 *           parity
 *
 * RAID 1, 10, 5 and 6 have their spare chunks on drives of their own, behind
 * the others.  A declustered array spreads them: the chunks of a row are
 * permuted, so that after a failure all drives take part in the rebuild.
 *
 * When a drive fails, each of its chunks gets a spare chunk of the same row.
 * raid_layout_place() says where a chunk is after any number of failures.
 */
#ifndef VSSD_SIM_RAID_LAYOUT_H
#define VSSD_SIM_RAID_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#define RAID_MAX_DRIVES 64
#define RAID_NO_DRIVE   UINT32_MAX

/* X(upper, name, help) */
#define RAID_LEVELS(X)                                                         \
    X(0, "0", "stripes without redundancy")                                    \
    X(1, "1", "a copy on every drive")                                         \
    X(10, "10", "pairs of copies, striped")                                    \
    X(5, "5", "one parity chunk in each stripe, rotating (left-symmetric)")    \
    X(6, "6", "two parity chunks in each stripe, rotating (left-symmetric)")   \
    X(DECLUSTERED, "declustered",                                              \
      "as declustered:4+1: stripes of 4 data and 1 or 2 parity chunks over "   \
      "all drives, spare chunks on all drives")

typedef enum RaidLevel {
#define RAID_LEVEL_ENUM(upper, name, help) RAID_LEVEL_##upper,
    RAID_LEVELS(RAID_LEVEL_ENUM)
#undef RAID_LEVEL_ENUM
        RAID_N_LEVELS,
} RaidLevel;

typedef struct RaidLayout {
    RaidLevel level;
    uint32_t n_drives; /* with those for spare chunks; 2..RAID_MAX_DRIVES */
    uint32_t n_spares; /* spare chunks of a row: failures that they replace */
    uint32_t width;    /* chunks of a stripe */
    uint32_t n_data;   /* of these, data */
    uint32_t n_groups; /* stripes of a row */
    uint32_t chunk_blocks;
    uint64_t n_rows; /* of chunks on each drive */
    bool copies;     /* redundant chunks are copies of the data chunk */
    uint8_t
        *permutation; /* of the drives, of some rows; or NULL: as they are */
} RaidLayout;

/* Drives that have failed, in the order of failure, with the rows from 0 on
 * whose chunks are in their spare chunks by now. */
typedef struct RaidFailure {
    uint32_t drive;
    uint64_t n_rebuilt; /* rows; n_rows: all */
} RaidFailure;

const char *raid_level_name(unsigned level); /* NULL: past the last */
const char *raid_level_help(unsigned level);

/*
 * text: the name of a level, or "declustered:D+P".  n_drives without hot
 * spares, except for declustered, which has its n_spares among them.
 * drive_blocks and chunk_blocks are above 0.  NULL: *error names the option,
 * the value, and the range.  Free with raid_layout_free().
 */
RaidLayout *raid_layout_new(const char *text, uint32_t n_drives,
                            uint32_t n_spares, uint64_t drive_blocks,
                            uint32_t chunk_blocks, GError **error);
void raid_layout_free(RaidLayout *l);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RaidLayout, raid_layout_free)

/* User capacity, in blocks. */
uint64_t raid_layout_blocks(const RaidLayout *l);

static inline uint32_t raid_layout_parities(const RaidLayout *l)
{
    return l->width - l->n_data;
}

/* The drive of a chunk while no drive has failed; role `width` + i is the i-th
 * spare chunk of the row, with group 0. */
uint32_t raid_layout_home(const RaidLayout *l, uint64_t row, uint32_t group,
                          uint32_t role);

/*
 * The drive of a chunk after n failures, or RAID_NO_DRIVE: it is lost, and
 * waits for its rebuild or has no spare chunk.  A row below its failure's
 * n_rebuilt counts as rebuilt.
 */
uint32_t raid_layout_place(const RaidLayout *l, const RaidFailure *failure,
                           uint32_t n, uint64_t row, uint32_t group,
                           uint32_t role);

#endif
