/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.h - what a drive consists of: every struct of ftl/.
 *
 * Data only, and the questions that the data answers by itself.  What the files
 * do with it is in ftl.h, which they include; state.c saves all that is here.
 */
#ifndef VSSD_FTL_DRIVE_H
#define VSSD_FTL_DRIVE_H

#include <inttypes.h>

#include "eventq.h"
#include "nand-faults.h"
#include "nand.h"
#include "oplog.h"
#include "prng.h"
#include "recording.h"
#include "ssd-config.h"
#include "ssd.h"

#include "age-tree.h"
#include "stripe-means.h"

#define NONE UINT32_MAX

/* Events of the drive; the array's own come first. */
enum {
    SSD_EVENT_CMD_START = NAND_N_EVENTS, /* firmware, and link of a write */
    SSD_EVENT_CMD_DATA,                  /* DRAM access has ended */
    SSD_EVENT_CMD_DONE,
    SSD_EVENT_FLUSH_TICK, /* buffer.flush_interval */
    SSD_EVENT_FAULT,      /* a rule cuts the power now */
    SSD_EVENT_BACKGROUND, /* index: BackgroundEvent */
    SSD_EVENT_RECOVERED,  /* index: a step of recovery has nothing to read */
    SSD_EVENT_TRIM,       /* the next step of TRIMs */
};

/* ---- map ----------------------------------------------------------------- */

/*
 * Entry of the map: 0, unmapped; MAP_BUFFERED | slot, the newest data is in
 * the buffer; else ppu + 1.
 */
#define MAP_BUFFERED 0x80000000U

/* Spare area of a unit that holds nothing (padding, torn). */
#define SPARE_NONE 0U

/* Bit of a spare area: the unit's data was lost before it came here. */
#define SPARE_POISON 0x80000000U

/* ---- buffer -------------------------------------------------------------- */

typedef enum SlotState {
    SLOT_FREE,
    SLOT_LOADING,     /* a read of its unit from NAND is under way */
    SLOT_CLEAN,       /* same as the copy in NAND */
    SLOT_FILLING,     /* waits for the rest of its unit to be read from NAND */
    SLOT_BLOCKED,     /* an older version of the unit is being programmed */
    SLOT_DIRTY,       /* may be programmed at any time */
    SLOT_PROGRAMMING, /* part of a page on its way to NAND */
    N_SLOT_STATES,
} SlotState;

/*
 * One unit in the buffer.  Per lpn there is at most one slot that is not
 * PROGRAMMING, and at most one that is; the map leads to the newer.
 *
 * The records that follow SLOT_FREE, LOADING and CLEAN in the list of states
 * are of units whose newest data is not in NAND: each belongs to an epoch.
 */
typedef struct Slot {
    uint32_t lpn;
    uint32_t next, prev; /* free list; list of the buffer policy */
    uint32_t after, before; /* DIRTY: list of the stream, due or fresh;
                               LOADING, FILLING: the next slot of the same
                               read, and the command it is for (or NONE) */
    uint32_t older;      /* BLOCKED: the slot being programmed */
    uint32_t newer;      /* PROGRAMMING: the slot that waits for it;
                            LOADING, FILLING: the physical unit that is read */
    uint32_t old_entry;  /* map entry (0 or ppu + 1) of the copy in NAND that
                            stays valid until this slot is programmed; kept
                            by the oldest slot of the lpn */
    uint32_t waiters;    /* commands to be told when the slot is durable */
    uint32_t epoch;      /* of flush, at creation */
    uint64_t version;
    uint8_t state; /* SlotState */
    uint8_t stream;
    bool force;    /* a command waits for it: do not wait for a full page */
    bool poison;   /* part of the unit could not be read and is lost */
    bool whole;    /* the host has written all of it */
    bool dead;     /* trimmed while it could not be freed: reads as unmapped */
    bool listed;   /* the policy has it in its lists */
    bool evict;    /* chosen as victim: free it as soon as it is in NAND */
    bool sent;     /* PROGRAMMING: its data has crossed the bus */
    bool released; /* its room is another unit's already */
    bool early;    /* on its way to NAND by early flush */
    bool early_done; /* was, and has not been written again */
    uint8_t list;    /* of the policy: in which of Ssd.list it is */
    uint8_t writes;  /* of the policy: how often it was written (saturates) */
} Slot;

/* Slots in the order of a list; the ends are NONE when it is empty. */
typedef struct SlotList {
    uint32_t head, tail;
    uint32_t n;
} SlotList;

#define BUFFER_LISTS 4

typedef enum WaitFor {
    WAIT_DURABLE,
    WAIT_DATA_IN, /* until its data has crossed the bus, no longer */
    WAIT_LOADED,  /* a READ: until the unit has been read from NAND */
} WaitFor;

/* A command that waits for a slot. */
typedef struct Waiter {
    uint32_t cmd;
    uint32_t next;
    uint8_t what; /* WaitFor */
} Waiter;

/*
 * A flush barrier.  Slots made since the barrier before it carry its number;
 * it is reached when no slot of it or of an earlier one is left.
 */
typedef struct Epoch {
    uint32_t left; /* slots not yet durable */
    uint32_t cmd;  /* the command to complete, or NONE */
} Epoch;

/* ---- pages on their way to NAND ------------------------------------------ */

typedef struct PageJob {
    uint32_t plane;
    uint32_t ppa;  /* first page of the program; NONE: it failed, and waits */
    uint32_t n;    /* units used; the rest is padding */
    uint32_t next; /* free list; JobFifo */
    uint8_t stream; /* gc: the class of its units */
    bool gc;       /* unit[] holds source ppus instead of slots */
    bool copyback; /* gc: all of one page, inside the array */
    bool active;
    bool meta;      /* a page of metadata, all of it; unit[] is not used */
    uint8_t owner;  /* MetaOwner of it */
    uint32_t meta_page;
} PageJob;

/* Pages that must be programmed again, because their program failed. */
typedef struct JobFifo {
    uint32_t head;
    uint32_t tail;
} JobFifo;

/* ---- metadata ------------------------------------------------------------- */

/* Whose a page of metadata is: who hears of it (meta.c). */
typedef enum MetaOwner {
    META_MAP, /* translation pages */
    N_META_OWNERS,
} MetaOwner;

/* A read of metadata: several operations where its units lie apart. */
typedef struct MetaRead {
    uint32_t cookie;  /* the owner's */
    uint32_t pending; /* operations; 0: the record is free */
    uint32_t next;    /* free list */
    uint8_t owner;    /* MetaOwner */
} MetaRead;

#define META_PROGRAMS_PER_PLANE 2

/* ---- blocks and planes ---------------------------------------------------- */

typedef enum BlockState {
    BLOCK_FREE,
    BLOCK_OPEN,
    BLOCK_CLOSING, /* no page left to take, programs still in flight */
    BLOCK_FULL,   /* in a bucket of its plane, may be picked for cleaning */
    BLOCK_VICTIM, /* being cleaned */
    BLOCK_ERASING,
    BLOCK_BAD, /* never used again */
    BLOCK_SAVED, /* belongs to saved.c */
    BLOCK_LOST,  /* after a power cut, until recovery has looked at it */
    BLOCK_MAPPED, /* in the books of a log-block map (hybrid.c) */
    N_BLOCK_STATES,
} BlockState;

typedef struct Block {
    uint32_t valid; /* units */
    uint32_t next, prev;
    uint32_t pending; /* OPEN, CLOSING: programs in flight; VICTIM: copies that
                         have not ended */
    uint32_t older, newer; /* FULL: list of the plane by when they became so */
    uint32_t mtime;        /* Plane.clock when data in it last changed */
    uint8_t state;    /* BlockState */
    uint8_t stream;   /* since it was opened; l.n_streams: of several */
    bool bad;         /* a program of it failed: empty it, then retire it */
    bool held;        /* VICTIM, empty: its erase waits, see saved_holds() */
    bool erasing;     /* SAVED */
    uint8_t cause;    /* NandCause; VICTIM: why it is emptied */
    union {
        uint32_t live;  /* SAVED: pages that are the newest of their index */
        uint32_t young; /* LOST: from this page on all have been read */
    };
    uint64_t hold;    /* held: the serial of saved.c that it waits for; 0: none */
} Block;

/* Who writes into an open block.  The host has one for each stream, cleaning
 * one for each of its classes (gc_class()), new metadata one. */
typedef enum OpenKind {
    OPEN_HOST,
    OPEN_GC,
    OPEN_META,
} OpenKind;

typedef struct Open {
    uint32_t block; /* or NONE */
    uint32_t next_page;
} Open;

typedef struct PlaneGc {
    bool active; /* from ftl.gc_low to ftl.gc_high */
    bool forced; /* a victim is wanted, whatever there is of free blocks */
    bool folding; /* blocks in SLC mode are emptied */
    bool background; /* the victim was taken while the host was silent */
    bool yielded; /* to reads of the host; it will be woken */
    uint32_t victim; /* or NONE */
    uint32_t scan;   /* next page of the victim to look at */
    uint32_t reads;  /* page reads in flight */
    uint32_t programs; /* into the plane */
    uint32_t away;   /* of them and those that failed: of its units into other
                        planes of the die */
    uint32_t guests; /* of units of others into it */
    uint32_t n_staged; /* units read, not yet on their way */
    uint32_t next; /* FULL: victim of its stripe, to be taken next; or NONE */
    uint32_t held; /* empty victims that wait for others of their stripe */
    uint32_t trims;    /* victims that wait for trims, see Block.held */
    uint64_t rate;     /* what each page of the victim gives to credit */
    uint64_t credit;   /* units that the host may write, << 16 */
    JobFifo redo;
} PlaneGc;

/* ---- log-block maps (hybrid.c, merge.c) ------------------------------------ */

/*
 * A block of the log.  It belongs to one logical block, or (logical is NONE)
 * takes units of any of its plane.
 */
typedef struct LogBlock {
    uint32_t block; /* NONE: the record is free */
    uint32_t logical;
    uint32_t older, newer; /* list of the plane; newer: list of free records */
    bool in_order; /* every page lies where it would in a data block, and no
                      unit of such a page is valid in the data block */
} LogBlock;

typedef enum MergeKind {
    MERGE_SWITCH,  /* the log block becomes the data block as it is */
    MERGE_PARTIAL, /* the rest is copied behind its pages first */
    MERGE_FULL,    /* everything is copied to a free block */
    N_MERGE_KINDS,
} MergeKind;

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
    uint32_t read, read_unit; /* what is to be read next */
    uint32_t program; /* which is to be programmed next */
    uint32_t left[MERGE_WINDOW]; /* by page: reads in flight for it */
    uint32_t reads;   /* in flight, and so programs */
    uint32_t programs;
    uint8_t kind;     /* MergeKind */
    bool begun;       /* the host's programs in the plane have ended */
    bool random;      /* the log block holds units of many logical blocks */
} Merge;

typedef struct PlaneLogs {
    uint32_t oldest, newest; /* records in the order of the policy, or NONE */
    uint32_t n;              /* of them */
    uint32_t free;           /* records */
    uint32_t sequential;     /* record beside that list, or NONE */
    uint64_t n_ended;        /* merges of log blocks */
    Merge merge;
} PlaneLogs;

typedef struct MergeStats {
    uint64_t merges[N_MERGE_KINDS]; /* of logical blocks */
    uint64_t copied_pages[N_MERGE_KINDS];
    uint64_t copied_units[N_MERGE_KINDS];
    uint64_t padded_pages; /* programmed with nothing in them */
    uint64_t emptied;  /* log blocks of many logical blocks */
    uint64_t logs;     /* log blocks opened */
} MergeStats;

typedef struct Plane {
    uint32_t free_head, free_tail;
    uint32_t n_free;
    uint32_t slc_free_head, slc_free_tail; /* those in SLC mode */
    uint32_t n_slc_free;
    uint32_t slc_full_head, slc_full_tail; /* oldest first */
    uint32_t host_programs; /* in flight */
    uint32_t erases;        /* in flight */
    uint64_t valid;         /* units */
    uint64_t meta_valid;    /* of them, metadata */
    uint32_t meta_programs; /* in flight */
    JobFifo meta_wait;      /* pages of metadata that wait for room */
    Open *open; /* by open_index(); l.n_open of them */
    uint32_t n_host_open; /* of those, the host's that are open */
    uint32_t oldest, newest; /* FULL blocks, but not those in SLC mode */
    uint32_t clock;     /* programs of the host in the plane */
    uint32_t *bucket;   /* heads of FULL blocks by valid count */
    uint32_t min_valid; /* no FULL block has fewer */
    uint32_t *staged;   /* ppus in controller memory, gc.n_staged of them */
    uint32_t *staged_of; /* how many of them, by class */
    PlaneGc gc;
    /* Room, as in SsdLayout; less with each block that goes bad. */
    uint32_t spare_blocks;
    uint64_t slack_units;
    uint32_t gc_low_blocks;
    uint32_t gc_high_blocks;
    uint32_t gc_soft_blocks;
    uint32_t most_erased;  /* of its blocks */
    uint32_t least_erased; /* none has been erased less often */
    uint32_t wear_due; /* erases of a block that calls for a move; 0: none does */
    uint32_t scanned;  /* blocks that the scan has looked at */
    uint32_t n_retiring; /* FULL blocks that are bad */
    uint32_t n_folding;  /* victims in SLC mode */
    uint32_t last_gc_block; /* last one opened for cleaning, or NONE */
    bool accepting;
    bool starved; /* would accept a page if cleaning got on; merges */
    PlaneLogs logs;
    uint32_t *origin; /* by unit of a full merge's destination: which ppu was
                         copied there, or NONE; NULL without log blocks */
} Plane;

/* Cleaning reads ahead by this many pages per plane. */
#define GC_READS_PER_PLANE 2
#define GC_PROGRAMS_PER_PLANE 2

/* ---- commands -------------------------------------------------------------- */

typedef enum CmdPhase {
    CMD_FREE,
    CMD_SUBMITTED, /* before it has any effect */
    CMD_RUNNING,
    CMD_DONE, /* its completion waits to be fetched */
} CmdPhase;

typedef enum CostIndex {
#define COST_INDEX(name, help) COST_##name,
    SSD_COSTS(COST_INDEX)
#undef COST_INDEX
    N_COSTS,
} CostIndex;

typedef struct Cmd {
    SsdCmd req;
    uint64_t serial;      /* counts submissions, from 1 */
    uint64_t submit_ps;
    uint64_t mark_ps;     /* up to here cost_ps accounts for the time */
    uint64_t stall_ps;    /* Ssd.stall_ps at mark_ps */
    uint64_t firmware_ps; /* time of and for a core */
    uint64_t data_ps;     /* READ: when the part that comes from DRAM is there;
                             WRITE: DRAM time */
    uint64_t complete_ps;
    uint64_t cost_ps[N_COSTS];
    uint64_t bad_lba;   /* READ: first uncorrectable block, or NO_LBA */
    uint64_t next_lpn;  /* READ, WRITE: next unit to look up, or to put into
                           the buffer; what Saved.waiting and Ssd.trims say */
    uint64_t room_lpn;  /* waits for room: from here on none is promised yet */
    uint32_t promised;  /* room that others must not take */
    uint32_t pending;   /* READ: NAND operations and slots being loaded; WRITE:
                           slots to be durable */
    uint32_t map_pending; /* READ, WRITE: what the mapping scheme waits for,
                             before anything else is done */
    uint32_t next;      /* free list, list of those waiting for room, FIFO of
                           completions */
    bool waits;         /* for room */
    bool linked;        /* WRITE, with buffer.mb_s: it is over the link */
    bool trimmed;       /* a unit of it was, before it was in NAND */
    uint8_t phase;      /* CmdPhase */
    uint8_t status;     /* SsdStatus */
} Cmd;

#define NO_LBA UINT64_MAX

typedef struct CmdFifo {
    uint32_t head;
    uint32_t tail;
} CmdFifo;

/* ---- streams --------------------------------------------------------------- */

typedef struct Stream {
    SlotList due, fresh; /* its DIRTY slots, oldest first: those that must not
                            wait for a full page, and the others */
    uint32_t n_victims;  /* of those due, victims and due for no other reason */
    uint32_t n_unsafe;   /* slots whose newest data is not in NAND */
    uint32_t row;   /* alloc-rows.c: its next one, in the order of the stripe */
    uint32_t first; /* first plane of the one that it is at */
    uint32_t left;  /* planes of that which have no page yet, as bits */
    uint32_t taken; /* host blocks written of its present reclaim unit */
    SsdStreamCounters n;    /* since the drive was made */
    SsdStreamCounters base; /* at the last ssd_reset_stats() */
} Stream;

typedef struct BufferStats {
    uint64_t read_hits;
    uint64_t read_misses;
    uint64_t write_hits;
    uint64_t write_misses;
    uint64_t clean_evictions;
    uint64_t dirty_evictions;
    uint64_t early_flushes;
    uint64_t rewrites_after_flush;
} BufferStats;

/* Values over time, in a bounded number of points. */
#define SERIES_POINTS 128
#define SERIES_VALUES 8

typedef struct SeriesPoint {
    uint64_t at_ps;
    uint64_t value[SERIES_VALUES];
} SeriesPoint;

typedef struct Series {
    uint64_t interval_ps; /* between points, at least */
    uint64_t next_ps;     /* no point before that */
    uint32_t n;
    SeriesPoint point[SERIES_POINTS];
} Series;

/* When to flush before there is a need; see buffer.c. */
typedef struct EarlyFlush {
    uint32_t threshold_ppm; /* share of slots that may be dirty */
    uint32_t limit;         /* the same, in slots */
    uint32_t busy;          /* slots on their way */
    uint32_t writes;        /* commands since the last adjustment */
    uint32_t evictions, last_evictions; /* of dirty slots: since then, and in
                                           the period before */
    uint32_t rewrites, last_rewrites;   /* of slots flushed early */
} EarlyFlush;

/* ---- what NAND keeps for a return of power ------------------------------------ */

/*
 * Spare area of a page, beside its units': when its program was submitted, as a
 * count from 1 (0: torn, or never written), and open_index() of who filled the
 * block then.
 */
#define SEQ_BITS 56
#define SEQ_MASK ((1ULL << SEQ_BITS) - 1)

/* One of the pages that tell of the logical units, saved_units each. */
typedef struct SavedPage {
    uint32_t page; /* the newest copy in NAND, or NONE */
    uint32_t next; /* in the queue */
    uint64_t seq;  /* of that copy */
    uint64_t serial; /* queued: when it was asked for */
    bool queued;
    bool flying;
    bool changed; /* checkpoints: what it would say is not what it says */
    uint8_t pad[5];
} SavedPage;

/* A copy of one on its way to NAND. */
typedef struct SavedFlight {
    uint64_t serial;
    uint64_t seq;
    uint32_t index; /* of the saved page; NONE: this flight is free */
    uint32_t page;  /* where to; NONE: its program failed, and there is no room */
    uint64_t low;   /* the anchor: what it says */
    uint64_t ends;  /* the anchor: the checkpoint that ends with it, or 0: it is
                       only written anew */
} SavedFlight;

typedef struct Saved {
    uint64_t serial;      /* counts what has been asked for */
    uint64_t trim_serial; /* with everything up to it, all trims are in NAND */
    uint32_t head, tail;  /* queue of saved pages */
    uint32_t n_flying;
    uint32_t cursor;  /* plane */
    uint32_t n_free;  /* blocks */
    uint32_t n_erasing;
    uint32_t victim;  /* block that is being emptied, or NONE */
    uint32_t held_head, held_tail; /* blocks, oldest first, by Block.next */
    CmdFifo waiting; /* flushes, until everything up to Cmd.next_lpn is there */

    /* Checkpoints: all that has changed is written, then the anchor. */
    uint64_t data_pages; /* programs of data since the last one began */
    uint64_t low; /* of the present one: what was programmed up to this count is
                     in the saved pages */
    uint64_t anchor_low; /* what the anchor says: Saved.low of the last one of
                            which all else is in NAND */
    uint64_t all_serial; /* with everything up to it, the anchor may go */
    uint64_t n_begun, n_ended;
    CmdFifo closing; /* shutdowns, until so many (Cmd.next_lpn) have ended */
    bool anchored;   /* the anchor has been asked for */
    uint8_t pad[7];
} Saved;

/* Where recovery has got to in a plane. */
typedef struct RecoveryPlane {
    uint32_t block; /* in the plane */
    uint32_t page;  /* in the block; of the doubts, in the plane */
    uint32_t low, high; /* so many pages of the block, at least and at most, are
                           not blank; high 0: nothing is known */
} RecoveryPlane;

#define RECOVERY_STEPS 8

typedef struct RecoveryTimes {
    uint64_t ready_ps; /* from the return of power on */
    uint64_t step_ps[RECOVERY_STEPS];
    uint64_t step_reads[RECOVERY_STEPS];
} RecoveryTimes;

typedef struct Recovery {
    bool on; /* the power is, the drive is not ready yet */
    uint8_t pad[3];
    uint32_t step;
    uint32_t n_reads; /* in flight */
    uint32_t n;       /* that ended */
    uint64_t start_ps, step_start_ps;
    uint64_t most_ready_ps;
    uint64_t low; /* as Saved.low, of the anchor that was found; 0: none was */
    uint32_t n_doubts;
    RecoveryTimes times; /* of the last one, or the present one so far */
    CmdFifo waiting; /* commands */
} Recovery;

typedef struct Age Age;
/* The host's silence, and what is done in it; see background.c. */
typedef struct Background {
    bool idle;          /* the silence has lasted ftl.idle */
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
    uint64_t yields; /* cleaning waited for reads of the host */
} BackgroundStats;

typedef struct PlaneWear PlaneWear; /* wear.c */
typedef struct GcPolicy GcPolicy;
typedef struct AllocPolicy AllocPolicy;
typedef struct BufferPolicy BufferPolicy;
typedef struct MapPolicy MapPolicy;

struct Ssd {
    SsdConfig *cfg;
    SsdLayout l;
    SsdInfo info;
    const SsdHostOps *host;
    void *opaque;
    const GcPolicy *gc;
    const AllocPolicy *alloc;
    const BufferPolicy *buf;
    const MapPolicy *mapper;

    EventQueue events;
    Nand *nand;
    const NandGeometry *geo;
    Faults *faults; /* or NULL */
    bool may_fail;  /* programs and erases */
    bool cut_due;   /* a rule has cut the power: act on it at once */
    bool read_only; /* too few good blocks are left */
    bool given_up;  /* nor can it program what is in the buffer */
    uint32_t free_for_gc; /* free blocks that the host leaves to cleaning */
    uint32_t n_factory_bad;
    uint32_t n_grown_bad;
    uint64_t now_ps;
    uint64_t rebased_ns; /* by how much the clock was last set back */
    bool power_on;
    bool submitted; /* the first ssd_submit() has been */
    uint32_t preload_next; /* ppu */
    uint32_t preload_left; /* units of its page */

    /* Shifts, because units, pages and blocks are counted all the time. */
    unsigned unit_shift;       /* bytes to units */
    unsigned block_shift;      /* host blocks to units */
    unsigned page_units_shift; /* physical units to pages */
    uint64_t first_unit_parts; /* unit_parts() of a page's first unit */
    unsigned trim_shift;       /* units to groups of the map (trim.c) */

    uint32_t *map;           /* by lpn; metadata behind the user's */
    uint64_t *group_used; /* bitmap by group of the map (trim.c): it may hold
                             something */
    uint64_t *trim_left;  /* the same: a TRIM under way is still to unmap it */
    uint32_t n_trim_left; /* groups */
    CmdFifo trims;        /* TRIMs under way; their Cmd.next_lpn: the next group */
    uint32_t *spare_lpn;     /* by ppu: lpn + 1, or SPARE_NONE */
    uint64_t *spare_version; /* by ppu; NULL without a host */
    uint8_t *spare_stream;   /* by ppu; NULL if there is one stream */
    uint64_t *spare_seq;     /* by page; NULL with capacitors, as what follows */
    uint64_t prog_seq;       /* the last one given */
    uint64_t *floor; /* by lpn: versions below it have been trimmed */
    uint64_t *saved; /* by lpn: what the newest saved page in NAND says */
    SavedPage *saved_page;
    SavedFlight *saved_flight;
    uint64_t *saved_flying; /* by flight: what its page says, by unit */
    Open *saved_open;       /* by plane */
    uint64_t saved_low;     /* what the newest anchor in NAND says */
    uint32_t *doubt; /* recovery: lpns of which two copies must be compared, by
                        where the older one lies */
    Saved saved_queue;
    Recovery recovery;
    RecoveryPlane *recovery_plane;
    uint64_t *valid;         /* bitmap by ppu */
    uint64_t mapped_units;  /* of the user */

    MetaRead *meta_read;
    uint32_t n_meta_reads;
    uint32_t free_meta_read;
    uint64_t meta_version; /* of the metadata programmed last */
    void *map_data;        /* of the mapping scheme */
    uint64_t map_bytes;    /* host memory that it takes */

    /* Log-block maps; else NULL.  Logical blocks count plane by plane, and so
     * do records of log blocks. */
    uint32_t *data_block; /* by logical block, or NONE */
    uint32_t *log_of;     /* by logical block: record of its own log, or NONE */
    LogBlock *log_block;  /* records */
    MergeStats merge_stats;

    Block *block;
    Plane *plane;
    AgeTrees *age_trees; /* or NULL */
    StripeMeans *stripe_means; /* or NULL */
    PlaneWear *wear; /* by plane; NULL with ftl.wear=fifo, as the next one */
    uint64_t *wear_order; /* by block: FREE ones in the order of the list */
    uint32_t wear_size;   /* leaves of PlaneWear's trees, a power of two */
    uint64_t *accepting;    /* bitmap by position in the stripe */
    uint32_t *stripe_plane; /* position in the stripe -> plane */
    uint32_t *stripe_pos;   /* plane -> position */
    uint32_t stripe_cursor;
    uint32_t *row_first; /* rows in the order of the stripe: the first plane of
                            each; NULL without l.row_planes */
    uint32_t alloc_chosen;    /* random: plane that waits to be taken, or NONE */
    uint32_t alloc_waits_for; /* plane that alloc_insist() waits for, or NONE */
    uint32_t channel_token;   /* dynamic: whose turn it is */
    uint32_t *chip_token;     /* by channel */
    uint32_t *die_token;      /* by chip */
    uint32_t *plane_token;    /* by die */
    Prng alloc_rng;
    Prng gc_rng;
    uint8_t *hot_count;  /* see hot.c; NULL without ftl.hot_cold */
    uint32_t hot_writes; /* since they were halved */
    uint32_t *mate; /* by block: the next one of its stripe, round; NULL without
                       ftl.gc_unit */
    uint32_t *stripe_serial; /* by plane and open_index(): the newest stripe */
    uint32_t *stripe_block;  /* and the plane's block in it, or NONE */
    uint32_t *unit_called;   /* by unit: planes with a PlaneGc.next */
    uint32_t *held_first;    /* by plane: the first of those that PlaneGc.held
                                counts, by Block.next, or NONE */
    bool gc_called; /* a plane is to look for its next victim */
    bool gc_alone; /* a victim is being chosen without regard to its stripe */
    uint32_t n_starved; /* planes */
    bool pump_waits;    /* write_pump() has found no plane for what is due */

    Slot *slot;
    uint32_t n_slot_records; /* l.n_slots, and some for released ones */
    uint32_t free_slot;
    uint32_t n_free_slots; /* units for which there is room */
    uint32_t n_released;   /* slots in use whose room counts as free */
    uint32_t n_unsafe;     /* slots whose newest data is not in NAND */
    uint32_t n_dirty;      /* slots that are DIRTY */
    uint32_t n_must; /* of those, how many must not wait for a full page */
    Stream *stream; /* l.n_streams, and one for blocks of several */
    uint32_t stream_cursor;
    uint64_t dirty_streams; /* as bits: those with DIRTY slots */
    uint64_t mixed_pages; /* that cleaning could not keep apart */
    SlotList list[BUFFER_LISTS]; /* of the buffer policy */
    void *policy_data;           /* of the buffer policy */
    uint32_t n_evicting; /* victims that are not free yet */
    uint32_t n_victims;  /* of those, DIRTY and due for no other reason */
    uint32_t n_promised; /* sum of Cmd.promised */
    uint64_t dram_unit_ps; /* an access, and moving the unit */
    uint64_t dram_move_ps; /* of that, by buffer.mb_s; 0: takes no time */
    EarlyFlush early;
    Background background;
    BlockHistory *history; /* by block; NULL without ftl.refresh_... */
    uint64_t powered_ns;   /* with power, up to powered_since_ps */
    uint64_t powered_since_ps; /* the last return of power; or cut, while off */
    uint64_t last_version;
    Waiter *waiter;
    uint32_t n_waiters;
    uint32_t free_waiter;
    Epoch *epoch; /* ring, first_epoch..cur_epoch */
    uint32_t epoch_mask;
    uint32_t first_epoch, cur_epoch;
    bool tick_armed;
    Slot *kept; /* without power, buffer.plp: what the buffer held */
    uint32_t n_kept;

    PageJob *job;
    uint32_t *job_unit; /* units_per_program entries for each job */
    uint32_t n_jobs;
    uint32_t free_job;
    JobFifo redo; /* of the host */

    Cmd *cmd;
    uint32_t n_cmds;
    uint32_t free_cmd;
    uint64_t last_serial;
    uint32_t running;   /* submitted and not yet completed */
    CmdFifo waiting;    /* writes that wait for slots */
    CmdFifo done;
    uint64_t link_in_ps; /* host link is busy until, toward the drive */
    uint64_t link_out_ps;
    uint64_t dram_in_ps; /* DRAM is busy with writes until */
    uint64_t dram_free_ps; /* buffer.mb_s: DRAM moves data until */
    uint64_t *core_ps;   /* by core: busy until */
    uint64_t link_num, link_den; /* ps = bytes * num / den; den 0: no time */

    /* Total time in which a full page was ready and only cleaning could have
     * made room for it. */
    uint64_t stall_ps;
    uint64_t stalled_since_ps; /* or SIM_NEVER */

    Hist *latency; /* by SsdOp, then one for all */
    SsdCounters counters;
    BufferStats buffer_stats;
    BackgroundStats background_stats;
    NandStats nand_base; /* counts up to the last ssd_reset_stats() */
    uint64_t *busy_base; /* of channels, dies, planes; or NULL: no reset yet */
    uint64_t stats_since_ps;
    uint64_t gc_copied_units;
    uint64_t gc_victims;
    uint64_t gc_victim_units; /* of them, and how many of these were valid */
    uint64_t gc_victim_valid;
    uint64_t gc_stripes; /* chosen as a whole (ftl.gc_unit), and their blocks */
    uint64_t gc_stripe_blocks;
    Series series; /* free blocks */
    Series buffer_series; /* see numbers_sample_buffer() */
    uint64_t padded_units;

    Oplog *log; /* or NULL */
    Age *age;   /* or NULL: ssd_age() has not been called */
    Recording *recording; /* or NULL */
};

/* ---- questions ------------------------------------------------------------- */

static inline uint32_t spare_lpn(const Ssd *ssd, uint32_t ppu)
{
    return (ssd->spare_lpn[ppu] & ~SPARE_POISON) - 1;
}

static inline bool spare_poisoned(const Ssd *ssd, uint32_t ppu)
{
    return ssd->spare_lpn[ppu] & SPARE_POISON;
}

/* A bit for each of NAND_PAGE_PARTS that holds some of the unit. */
static inline uint64_t unit_parts(const Ssd *ssd, uint32_t ppu)
{
    uint64_t offset = ppu & (ssd->l.units_per_page - 1);

    return ssd->first_unit_parts
           << (offset * NAND_PAGE_PARTS >> ssd->page_units_shift);
}

/* Free blocks of the plane that the host leaves to cleaning. */
static inline uint32_t plane_reserve(const Ssd *ssd, const Plane *p)
{
    return ssd->free_for_gc + (p->n_folding > 0);
}

/* Is there no free block for the host? */
static inline bool plane_is_short(const Ssd *ssd, const Plane *p)
{
    return p->n_free <= plane_reserve(ssd, p);
}

#endif
