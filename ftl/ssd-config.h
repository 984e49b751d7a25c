/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssd-config.h - the whole configuration of a drive; private to ftl/. */
#ifndef VSSD_SSD_CONFIG_H
#define VSSD_SSD_CONFIG_H

#include "nand.h"
#include "options.h"
#include "ssd-options.h"
#include "ssd.h"
#include "vssd-policy.h"

typedef struct OutsidePolicy OutsidePolicy; /* outside.h */

struct SsdConfig {
    NandConfig nand;
    uint32_t block_bytes; /* host's logical block; not an option of a profile */
    /* Of TRIM (trim.c), for tests: units in a group of the map, as a power of two;
     * groups that one event unmaps.  Not options either. */
    uint32_t trim_group_shift;
    uint32_t trim_step;
    bool wide_tables;     /* likewise: as if there were 2^31 units or more */
    char *profile;        /* name of the file that was loaded, or NULL */
    OutsidePolicy *outside[VSSD_POLICY_KINDS]; /* in place of the option's
                                                  policy; or NULL */
#define SSD_FIELD(type, ctype, field, ...) ctype field;
    SSD_OPTIONS(SSD_FIELD)
#undef SSD_FIELD
};

extern const OptDesc ssd_options[]; /* of SsdConfig, without those of nand */
extern const size_t ssd_n_options;

typedef enum SsdStreamsGc {
    SSD_STREAMS_GC_SEPARATE,
    SSD_STREAMS_GC_MERGE,
} SsdStreamsGc;

typedef enum SsdWear {
    SSD_WEAR_FIFO,
    SSD_WEAR_DYNAMIC,
    SSD_WEAR_STATIC,
} SsdWear;

typedef enum SsdRecovery {
    SSD_RECOVERY_CAPACITORS,
    SSD_RECOVERY_SCAN,
    SSD_RECOVERY_CHECKPOINT,
} SsdRecovery;

typedef enum SsdCompleteAt {
    SSD_COMPLETE_AT_BUFFER,
    SSD_COMPLETE_AT_DATA_IN,
    SSD_COMPLETE_AT_PROGRAM,
} SsdCompleteAt;

typedef enum SsdSlcWhenFull {
    SSD_SLC_DIRECT,
    SSD_SLC_FOLD,
} SsdSlcWhenFull;

typedef enum SsdGcPace {
    SSD_GC_PACE_LATE,
    SSD_GC_PACE_EVEN,
} SsdGcPace;

typedef enum SsdFreeAt {
    SSD_FREE_AT_PROGRAM,
    SSD_FREE_AT_DATA_IN,
} SsdFreeAt;

/* Planes of superblock.row, at most: bits of a word. */
#define SSD_MOST_ROW_PLANES 32

/* Streams of a drive, at most: Buffer.dirty_streams. */
#define SSD_MOST_STREAMS 64
#define SSD_OF_SEVERAL   0xff

/* Size of the saved entry of a logical unit. */
#define SAVED_ENTRY_BYTES 8

/* Numbers of units are below 1 << this. */
#define SSD_UNIT_BITS NAND_PAGE_BITS

/* Sizes that follow from a configuration; see ssd_layout(). */
typedef struct SsdLayout {
    uint32_t units_per_page;
    uint32_t pages_per_program; /* 1, or with nand.one_shot a word line's */
    uint32_t units_per_program;
    uint32_t units_per_block;
    uint32_t data_units;  /* of them, those that are not parity */
    uint32_t parity_dies; /* with superblock.parity: of a superblock; or 0 */
    uint32_t n_planes;
    bool wide;          /* numbers of units take 64 bits in tables */
    uint64_t raw_units; /* addresses of physical units, SLC blocks' included */
    uint64_t user_units;
    uint32_t n_slots; /* units that the buffer holds */
    uint32_t slot_records; /* the same, and some for those that are leaving */

    uint32_t n_streams;    /* 0..n_streams-1; 1 without streams and FDP */
    uint32_t n_groups;     /* fdp.groups; 1 without FDP */
    uint32_t n_handles;    /* streams of a group, one after the other */
    uint32_t group_planes; /* planes of a group, one after the other */
    uint32_t row_planes;   /* with several, or with superblock.row: planes where
                              a stream writes in step (alloc-rows.c); 0: streams
                              share their turns */
    uint32_t row_pages;    /* of them, those that hold data, not parity */
    uint32_t set_planes;   /* planes whose blocks make superblocks, one of each;
                              1: each block is one by itself (superblock.c) */
    bool whole_rows;       /* superblock.row: a row is the unit of programs */
    uint32_t deal_rows;    /* rows that consecutive units of a stream are laid
                              over, at most; 0: they fill one after the other.
                              A row is one plane without superblock.row */
    uint32_t deal_units;   /* units of such a row */
    uint32_t preload_programs; /* of each plane, after which the order of a
                                  preload begins again (preloaded.h); 0: it is
                                  not computed */
    bool deal_waits;           /* until there are units for all of them */
    uint64_t slc_handles;      /* streams of a group that use the SLC cache, as
                                  bits (ftl.slc_streams) */
    bool slc_some;             /* not all of them do */
    uint32_t n_stream_classes; /* 1, or one for each stream of a group
                              (streams.gc); with fdp.isolation one for all
                              handles that are initially isolated */
    uint8_t class_of[SSD_MOST_STREAMS]; /* by stream */
    uint8_t of_class[SSD_MOST_STREAMS]; /* which stream of a group has the class
                                alone, or SSD_OF_SEVERAL */
    uint32_t n_gc_classes; /* and one for copies of wear levelling, and one for
                              metadata */
    uint32_t cold_class;   /* which of them these are, or UINT32_MAX */
    uint32_t meta_class;
    uint32_t n_open;       /* open blocks in a plane, at most */
    uint32_t n_aside;      /* of them, the last ones: set aside (block.c) */

    /*
     * Metadata: pages of the drive's own (meta.c), as large as a program unit.
     * Their units follow those of the user in the map; each page has a fixed
     * plane, so a plane holds at most meta_share_units of them, beside its
     * share of the user capacity.
     */
    uint32_t n_map_pages;  /* translation pages (dftl.c), the first ones; with
                              parity as many follow, their second copies */
    uint32_t map_entries;  /* units whose entries one of them holds */
    uint32_t cache_entry_bytes; /* in DRAM: the number of a unit, its address */
    uint32_t n_meta_pages; /* all of them; 0: the drive has none */
    uint64_t meta_units;
    uint64_t meta_share_units;

    /*
     * Room in a plane.  share is the plane's part of the user capacity; a
     * plane may hold up to share + slack valid units before the allocator
     * passes it over, and the spare blocks beyond that keep GC going:
     * for each stream one open for the host; one open for metadata, if there is
     * any; for each class one open for
     * GC, one that is emptied but for units that do not fill a page, and
     * one free (gc_free_blocks; these are busy_blocks); and at least one with
     * something to gain.
     */
    uint32_t busy_blocks;
    uint32_t gc_free_blocks; /* free blocks that the host leaves to GC */
    uint32_t min_spare_blocks;
    uint64_t share_units;
    uint64_t slack_units;
    uint32_t spare_blocks;
    uint32_t gc_low_blocks;
    uint32_t gc_high_blocks;
    uint32_t gc_soft_blocks; /* 0: none */
    uint32_t window_blocks;  /* latency.free; 0: no latency.window */
    uint32_t slc_dynamic_blocks; /* ftl.slc_dynamic, in each plane */

    /* Pages kept in NAND for a return of power (saved.c); 0: none. */
    uint32_t n_saved;      /* pages of it */
    uint32_t saved_units;  /* logical units with an entry in one of them */
    uint32_t saved_blocks; /* in each plane, the last ones, that hold them */
    uint32_t n_saved_flights; /* on their way at a time */
    /* A write buffer evicts a page when it holds so many dirty units. */
    uint32_t ready_units;
    /* Zones (zones.enabled); all of them 0 without. */
    uint32_t n_zones;
    uint64_t zone_units;       /* of the capacity of a zone */
    uint64_t zone_stride;      /* units from the start of a zone to the next */
    uint32_t zone_superblocks; /* that a zone takes; a block of each plane */
    uint32_t zones_active;     /* at most */
    uint32_t zones_open;
    uint32_t zrwa_units; /* of a Zone Random Write Area, or 0 */
    uint32_t zrwa_granule;
    uint32_t zones_zrwa;
    uint32_t held_stream; /* of their units; UINT32_MAX: there is none */
    /* Behind the zones, with zones.conventional; all of them 0 without. */
    uint64_t plain_units;
    uint64_t plain_first;  /* unit */
    uint64_t plain_share;  /* units of them in a plane, without the slack */
    uint32_t plain_stream; /* of all their writes */
    uint32_t log_blocks; /* in a plane; 0: no log-block map */
    uint32_t logical_blocks; /* in a plane, of such a map */
} SsdLayout;

/* Derive the layout.  false: the options do not fit together. */
bool ssd_layout(const SsdConfig *cfg, SsdLayout *l, GError **error);

/* The scripted faults of the drive; *faults is NULL if there are none.  false:
 * *error names the file and line. */
bool ssd_config_faults(const SsdConfig *cfg, const SsdLayout *l,
                       Faults **faults, GError **error);

/* A deep copy; free with ssd_config_free(). */
SsdConfig *ssd_config_copy(const SsdConfig *cfg);

/* Is the value of the option a time? */
bool ssd_config_is_time(const char *key);

/* Names of enumerated options, NULL past the last. */
const char *ssd_alloc_name(unsigned i);
const char *ssd_stripe_name(unsigned i);

/* Does each stream go round the planes by itself? */
bool ssd_alloc_in_rows(unsigned policy);
bool ssd_alloc_draws_block(unsigned policy);
const char *ssd_map_name(unsigned i);

/* Log blocks that a map needs in each plane; 0: it has none. */
uint32_t ssd_map_least_logs(unsigned i);
const char *ssd_gc_name(unsigned i);
const char *ssd_buffer_name(unsigned i);
const char *ssd_placement_name(unsigned i);
const char *ssd_streams_gc_name(unsigned i);
const char *ssd_wear_name(unsigned i);
const char *ssd_recovery_name(unsigned i);
const char *ssd_planes_name(unsigned i);
const char *ssd_slc_when_full_name(unsigned i);
const char *ssd_complete_at_name(unsigned i);
const char *ssd_free_at_name(unsigned i);
const char *ssd_gc_pace_name(unsigned i);

/* Does the mapping scheme keep the map in NAND, in translation pages? */
bool ssd_map_in_nand(unsigned policy);

/* Bytes of DRAM that the buffer policy takes beside each unit; programs of the
 * host in flight in a plane, as the allocation policy wants. */
uint32_t ssd_buffer_overhead(const SsdConfig *cfg);
uint32_t ssd_alloc_depth(const SsdConfig *cfg);

#endif
