/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand.h - the array of NAND dies behind their channels.
 *
 * Knows geometry, timing, contention and the rules of the medium (erase before
 * program, pages of a block in order, no second program).  Knows nothing of
 * logical addresses, mapping or hosts: an operation carries a cookie that the
 * owner understands.
 *
 * Time: picoseconds.  The owner keeps the event queue and hands each event of
 *       kind NAND_EVENT_* to nand_event().
 * Rules: a broken rule of the medium is the owner's bug and aborts with the
 *       operation that broke it.
 */
#ifndef VSSD_NAND_H
#define VSSD_NAND_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "bitmap.h"
#include "divide.h"
#include "eventq.h"
#include "nand-media-options.h"
#include "nand-options.h"
#include "options.h"
#include "simtime.h"
#include "state.h"

typedef struct NandConfig {
#define NAND_FIELD(type, ctype, field, ...) ctype field;
    NAND_OPTIONS(NAND_FIELD)
    NAND_MEDIA_OPTIONS(NAND_FIELD)
#undef NAND_FIELD
    uint64_t seed; /* of everything random in the array; not an option */
} NandConfig;

extern const OptDesc nand_options[];
extern const size_t nand_n_options;

/* Every row at its default. */
void nand_config_defaults(NandConfig *cfg);

/* The rows of nand_options checked together; true: a Nand can be made. */
bool nand_config_check(const NandConfig *cfg, GError **error);

/*
 * Physical page: ((plane * blocks + block) * pages + page), where plane is
 * ((channel * chips + chip) * dies + die) * planes + plane of the die.
 * A struct, so that the compiler keeps it apart from other numbers.
 */
#define NAND_PAGE_BITS 40

typedef struct NandPpa {
    uint64_t page;
} NandPpa;

/* Sizes that follow from a NandConfig. */
typedef struct NandGeometry {
    uint32_t n_channels;
    uint32_t n_dies;   /* in the whole array */
    uint32_t n_planes; /* in the whole array */
    uint32_t planes_per_die;
    uint32_t dies_per_channel;
    uint32_t blocks_per_plane;
    uint32_t pages_per_block;
    uint32_t n_blocks; /* in the whole array */
    uint64_t n_pages;  /* in the whole array */
    uint32_t page_bytes;
    uint32_t pages_per_program; /* 1, or with nand.one_shot a word line's */
    uint32_t slc_blocks;        /* the first ones of each plane: always in SLC
                                   mode */
    uint32_t slc_pages;         /* pages of a block in SLC mode */
    bool has_slc;               /* are or may there be any? */
    const uint64_t *slc_mode;   /* by block, as bits: is it in SLC mode?  The
                                   array's.  NULL without nand_allow_slc() */
    Divider by_pages_per_block;
    Divider by_blocks_per_plane;
    Divider by_planes_per_die;
} NandGeometry;

/* Blocks count plane by plane, pages block by block. */
static inline uint32_t nand_page_block(const NandGeometry *g, uint64_t page)
{
    return (uint32_t)divide(g->by_pages_per_block, page);
}

static inline uint32_t nand_page_in_block(const NandGeometry *g, uint64_t page)
{
    return (uint32_t)divide_rest(g->by_pages_per_block, page);
}

static inline uint32_t nand_block_plane(const NandGeometry *g, uint32_t block)
{
    return (uint32_t)divide(g->by_blocks_per_plane, block);
}

static inline uint32_t nand_block_in_plane(const NandGeometry *g,
                                           uint32_t block)
{
    return (uint32_t)divide_rest(g->by_blocks_per_plane, block);
}

static inline uint32_t nand_plane_die(const NandGeometry *g, uint32_t plane)
{
    return (uint32_t)divide(g->by_planes_per_die, plane);
}

/* The first page of a block. */
static inline uint64_t nand_block_page(const NandGeometry *g, uint32_t block)
{
    return (uint64_t)block * g->pages_per_block;
}

/* Is the block always in SLC mode (nand.slc_blocks)? */
static inline bool nand_block_is_cache(const NandGeometry *g, uint32_t block)
{
    return g->slc_blocks && nand_block_in_plane(g, block) < g->slc_blocks;
}

/* Is it in SLC mode now? */
static inline bool nand_block_is_slc(const NandGeometry *g, uint32_t block)
{
    return g->has_slc && (g->slc_mode ? bitmap_test(g->slc_mode, block)
                                      : nand_block_is_cache(g, block));
}

/* Pages that a block has; the rest of its addresses is not used. */
static inline uint32_t nand_block_pages(const NandGeometry *g, uint32_t block)
{
    return nand_block_is_slc(g, block) ? g->slc_pages : g->pages_per_block;
}

/* Pages that one program of the block takes. */
static inline uint32_t nand_block_program(const NandGeometry *g, uint32_t block)
{
    return nand_block_is_slc(g, block) ? 1 : g->pages_per_program;
}

typedef enum NandOpKind {
    NAND_READ,
    NAND_PROGRAM,
    NAND_ERASE,
    NAND_COPYBACK, /* read one page, program it elsewhere in its plane */
    NAND_N_KINDS,
} NandOpKind;

/* How an operation ended. */
typedef enum NandStatus {
    NAND_OK,
    NAND_FAILED, /* program, copyback: its pages count as programmed and hold
                    nothing; erase: the block must not be used any more */
    NAND_UNCORRECTABLE, /* read: the parts in bad_parts are lost */
} NandStatus;

/* A page is looked at in this many equal parts, as bits of a mask. */
#define NAND_PAGE_PARTS 64

/* Why an operation is done; rows of the accounts. */
#define NAND_CAUSES(X)                                                         \
    X(HOST, host)                                                              \
    X(GC, gc)                                                                  \
    X(WEAR, wear)                                                              \
    X(REFRESH, refresh)                                                        \
    X(META, meta)                                                              \
    X(MAP, map)                                                                \
    X(MERGE, merge)

typedef enum NandCause {
#define NAND_CAUSE_ENUM(upper, lower) NAND_CAUSE_##upper,
    NAND_CAUSES(NAND_CAUSE_ENUM)
#undef NAND_CAUSE_ENUM
    NAND_N_CAUSES,
} NandCause;

/* Parts of the time of an operation or a resource. */
#define NAND_TIMES(X)                                                          \
    X(DIE_WAIT, die_wait) /* for its die; suspended */                         \
    X(BUS_WAIT, bus_wait) /* for the channel, or its turn in a multi-plane     \
                             command */                                        \
    X(BUS, bus)           /* command, address, data, status on the channel */  \
    X(CELL, cell)         /* array operation, and the busy times around it */  \
    X(ECC, ecc)           /* decoding, and waiting for the decoder */

typedef enum NandTime {
#define NAND_TIME_ENUM(upper, lower) NAND_TIME_##upper,
    NAND_TIMES(NAND_TIME_ENUM)
#undef NAND_TIME_ENUM
    NAND_N_TIMES,
} NandTime;

/*
 * One operation.  The first block is the owner's to fill in: nand_submit() takes
 * no other member from its caller.  The second is filled in by the array and may
 * be read in the done callback, as may bad_parts, fail, cut and stretch_milli,
 * to which the array adds (ECC, scripted faults).  The times add up:
 * done - submit_ps = the sum of time_ps[].
 */
typedef struct NandOp {
    NandOpKind kind;
    NandCause cause;
    NandPpa ppa;     /* ERASE: any page of the block; PROGRAM: the first of
                        nand_block_program() pages; COPYBACK: where to */
    NandPpa from;    /* COPYBACK: where from, in the same plane */
    uint32_t bytes;  /* READ, PROGRAM: data over the bus, 0..page_bytes; PROGRAM:
                        of each page */
    uint32_t cookie; /* the owner's */
    uint64_t parts;  /* READ: which parts of the page are wanted; 0: all */
    uint64_t bad_parts; /* READ, in: those that are uncorrectable by decree;
                           done: those that are */
    bool fail;          /* PROGRAM, COPYBACK, ERASE: fails by decree */
    bool cut;           /* the power goes when the array takes it up */
    uint32_t stretch_milli; /* array time, in thousandths; 0: as it is */
    bool strong; /* READ: of data under a code that always corrects; and the
                    page may be blank */
    bool more; /* the next to be submitted is for the same unit: wait for it */

    uint8_t status;  /* NandStatus */
    uint8_t retries; /* READ: beyond the first attempt */
    bool grouped;    /* the command has several planes */
    bool second;     /* COPYBACK: the program half */
    bool again;      /* READ: ECC failed, and it is in its queue again */
    uint8_t phase;
    uint8_t step;
    uint16_t suspends; /* so far */
    uint32_t next;     /* link in the queue of the channel, or of free places */
    uint32_t next_joined; /* next operation of the same multi-plane command */
    uint32_t leader;   /* first operation of it */
    uint32_t block; /* in the whole array, as plane, die and channel are */
    uint32_t plane;
    uint32_t die;
    uint32_t channel;
    uint32_t unit;    /* the resource that it occupies alone (nand.lock) */
    uint64_t mark_ps; /* since when the present phase lasts */
    uint64_t cell_start_ps;
    uint64_t cell_end_ps;
    uint64_t time_ps[NAND_N_TIMES];
    uint64_t submit_ps;
    uint64_t left_ps; /* of the array time, when suspended */
    uint64_t id;      /* counts submissions, from 1 */
    int64_t order;    /* in the queue of its unit: lower ones came first */
    uint64_t group;   /* id of the first operation of the same command */
    uint64_t first_level; /* READ: level of the reference voltage of its first
                             attempt (media.retry_memory) */
    bool in_register;     /* READ: the page was in the register of its plane */
} NandOp;

/* Does the host wait for it?  Translation pages count: most of them are read for
 * its commands. */
static inline bool nand_for_host(const NandOp *op)
{
    return op->cause == NAND_CAUSE_HOST || op->cause == NAND_CAUSE_MAP;
}

/* Reads are counted by their retries up to so many. */
#define NAND_RETRY_BINS 16

typedef struct NandStats {
    uint64_t ops[NAND_N_KINDS][NAND_N_CAUSES]; /* PROGRAM: pages */
    TimeSum time_ps[NAND_N_CAUSES][NAND_N_TIMES]; /* summed over operations */
    uint64_t bus_bytes[NAND_N_CAUSES]; /* data over channels, both ways */
    uint64_t suspends;
    uint64_t multi_plane; /* commands that joined two planes or more */
    uint64_t joined[NAND_N_KINDS]; /* operations in them, counted as in ops */
    uint64_t cached;      /* operations that overlapped with another's data */
    uint64_t read_retries;
    uint64_t uncorrectable; /* reads */
    uint64_t program_failures;
    uint64_t erase_failures;
    uint64_t reads_by_retries[NAND_RETRY_BINS]; /* that needed any: 1, 2, ...;
                                                   the last bin: or more */
    uint64_t soft_decodes; /* reads for which retries were not enough */
    uint64_t level_hits;   /* reads that a recorded level served at once */
    uint64_t level_misses; /* that it did not */
    uint64_t lost_pages; /* that a torn program of their word line destroyed */
    uint64_t backups;    /* pages copied before such programs */
    TimeSum ecc_busy_ps; /* summed over decoders, what is booked included */
    TimeSum ecc_wait_ps; /* of pages for their decoder */
    uint64_t slc_programs; /* pages of blocks in SLC mode; copybacks, too */
    uint64_t slc_erases;   /* of blocks in SLC mode */
} NandStats;

/* Events that the array puts into the owner's queue. */
enum {
    NAND_EVENT_BUS_DONE,  /* index: operation */
    NAND_EVENT_CELL_DONE, /* index: operation */
    NAND_EVENT_RETRY,     /* index: unit that may be suspended now */
    NAND_N_EVENTS,
};

typedef struct Nand Nand;
typedef struct Faults Faults; /* nand-faults.h */

/*
 * done runs when an operation has finished (inside nand_event()); op is valid
 * until it returns.  It may submit further operations.
 */
typedef void NandDone(void *opaque, const NandOp *op, uint64_t now_ps);

/* cfg must have passed nand_config_check(); q must outlive the array. */
Nand *nand_create(const NandConfig *cfg, EventQueue *q, NandDone *done,
                  void *opaque);
void nand_destroy(Nand *nand);

/* Options with OptDesc.running have the values of cfg from now on: the rules of
 * suspension, for waiting operations and those under way, too. */
void nand_set_options(Nand *nand, const NandConfig *cfg, uint64_t now_ps);

/* A phase of an operation, and the resources that it holds. */
typedef enum NandSpan {
    NAND_SPAN_IN = 1,  /* channel: command, address, data of a program */
    NAND_SPAN_STATUS,  /* channel: status read */
    NAND_SPAN_OUT,     /* channel: data of a read */
    NAND_SPAN_CELL,    /* plane: the array works */
    NAND_SPAN_GAP,     /* plane: tDBSY before its turn in a command */
    NAND_SPAN_SUSPEND, /* plane: the array comes to rest */
    NAND_SPAN_ECC,     /* channel's decoder, waiting for it included */
} NandSpan;

/*
 * Who watches the array: for a log, or a test.  All three are required, are
 * leaf calls, and run at the instant that they report; span reports a phase
 * that has just ended, and op is unchanged since.
 */
typedef struct NandWatch {
    void (*submit)(void *opaque, const NandOp *op, uint64_t now_ps);
    void (*span)(void *opaque, const NandOp *op, NandSpan span,
                 uint64_t from_ps, uint64_t now_ps);
    void (*done)(void *opaque, const NandOp *op, uint64_t now_ps);
} NandWatch;

/* watch may be NULL, and then nothing is reported; else it must outlive the
 * array or the next call. */
void nand_watch(Nand *nand, const NandWatch *watch, void *opaque);

/*
 * Scripted faults (nand-faults.h), before the first operation; they must
 * outlive the array.  cut runs inside nand_event() when a rule cuts the power:
 * the owner calls nand_power_cut() once nand_event() has returned.
 */
void nand_set_faults(Nand *nand, Faults *faults, void (*cut)(void *opaque));

/* Capacitors keep the power until the programs in the array have ended: with
 * media.paired_pages, a cut destroys nothing. */
void nand_set_protected(Nand *nand, bool is_protected);

/* data_in, if not NULL, runs when the data of a PROGRAM has crossed the bus; the
 * rest is as for done. */
void nand_on_data_in(Nand *nand, NandDone *data_in);

/* may, if not NULL, is asked each time before a read suspends an operation.  A
 * read that may not waits for the end of the operation; it does not ask again.
 */
typedef bool NandMaySuspend(void *opaque, uint64_t now_ps);
void nand_on_suspend(Nand *nand, NandMaySuspend *may);

/*
 * With nand.gc_hold: call this when GC of a plane has the channel no longer.
 * GC has it from the first of its operations on, as long as one of the same
 * plane is queued or running, or was submitted as the last one ended.
 */
typedef void NandReleased(void *opaque, uint32_t channel);
void nand_on_released(Nand *nand, NandReleased *released);

/* Does GC of another plane have the plane's channel? */
bool nand_held_by_other(const Nand *nand, uint32_t plane);

/* What an operation does at an instant. */
typedef enum NandDoing {
    NAND_WAITS,     /* for its die */
    NAND_HOLDS,     /* its die, and waits for the channel, or for its turn */
    NAND_TRANSFERS, /* command, address, data or status on the channel */
    NAND_WORKS,     /* the array does */
    NAND_RESTS,     /* suspended, or on the way there */
    NAND_DECODES,   /* it has left its die */
} NandDoing;

typedef void NandSee(void *opaque, const NandOp *op, NandDoing doing);

/* Call see, a leaf call, for each operation submitted and not done, in no
 * particular order. */
void nand_each_op(const Nand *nand, NandSee *see, void *opaque);

/* The transfer of an operation that NAND_TRANSFERS. */
NandSpan nand_transfer(const NandOp *op);

const NandGeometry *nand_geometry(const Nand *nand);
const NandStats *nand_stats(const Nand *nand);

/*
 * Queue an operation on its die (the first block of *op counts).  In which
 * order a die takes them up is nand.schedule's business, but operations on one
 * block are taken up in the order in which they came, unless both are reads; and
 * a read may end while a program of its block, taken up before, is suspended.
 * Programs of one block must come in page order, each page once per erase.
 */
void nand_submit(Nand *nand, const NandOp *op, uint64_t now_ps);

/* A read of the page will be submitted soon: what nand_submit() looks at is
 * fetched from memory.  Changes nothing. */
void nand_hint_read(const Nand *nand, uint64_t page);

/* Dispatch an event whose kind is below NAND_N_EVENTS. */
void nand_event(Nand *nand, const Event *e);

/* Resource that operations occupy alone (nand.lock); index of NAND_EVENT_RETRY.
 */
uint32_t nand_units(const Nand *nand);

/* Longest time of a read of so many bytes on the channel, and elsewhere, if
 * nothing delays it and ECC does not fail. */
void nand_longest_read(const Nand *nand, uint32_t bytes, uint64_t *bus_ps,
                       uint64_t *cell_ps);

/* Operations queued or running in the whole array. */
uint32_t nand_load(const Nand *nand);

/* Planes that take turns (nand.lock). */
uint32_t nand_unit_planes(const Nand *nand);

/* Operations queued or running on the die of a plane. */
uint32_t nand_die_load(const Nand *nand, uint32_t plane);

/* Reads of the host, queued or running on the die of a plane. */
uint32_t nand_host_reads(const Nand *nand, uint32_t plane);

/* Does the channel carry something, or does GC have it? */
bool nand_channel_busy(const Nand *nand, uint32_t channel);

/*
 * Busy time in ps up to now_ps, running phases included: of a channel, while
 * it carries something; of a die, while an operation holds any of it; of a
 * plane, while its array works.
 */
typedef struct NandBusy {
    TimeSum *channel; /* by channel; n_channels of them, and so on */
    TimeSum *die;
    TimeSum *plane;
} NandBusy;

TimeSum nand_die_busy_ps(const Nand *nand, uint32_t die, uint64_t now_ps);

/* Fill in the arrays, which are the caller's. */
void nand_get_busy(const Nand *nand, uint64_t now_ps, const NandBusy *busy);

/* Was the block bad when it left the factory?  It must not be used. */
bool nand_factory_bad(const Nand *nand, uint32_t block);

/*
 * State of the medium that no controller can see, for tests.  Attempts to read
 * pages of a block since its last erase, retries and copybacks included, but
 * not `strong` reads nor those of 0 bytes; 0 while media.errors is off.
 */
uint32_t nand_read_count(const Nand *nand, uint32_t block);

/* Likewise: how old the oldest data of a block is, in hours, those without power
 * (media.off_hours) included: since the first program after its erase, or that of
 * the block that a copyback was from; 0 while media.errors is off. */
double nand_data_hours(const Nand *nand, uint32_t block, uint64_t now_ps);

/* Likewise: has a torn program destroyed the page (media.paired_pages=on)?
 * Every read of it is uncorrectable, until its block is erased. */
bool nand_page_lost(const Nand *nand, NandPpa ppa);

/* Call lost for each such page, in ascending order.  The time is in proportion
 * to the blocks that lost pages since the array was made. */
void nand_each_lost_page(const Nand *nand,
                         void (*lost)(void *opaque, NandPpa ppa), void *opaque);

/*
 * SLC mode.  Blocks of nand.slc_blocks are in it for ever.  After
 * nand_allow_slc(), before the first operation, the owner may choose it for any
 * other block that is erased, nothing of which is in the array: the block's
 * programs carry the mode's prefix command, and it keeps the mode until its
 * next erase has ended.  A power cut does not change it.
 */
void nand_allow_slc(Nand *nand);
void nand_set_slc(Nand *nand, uint32_t block, bool slc);

/*
 * Wear of a block as program/erase cycles of its own kind: media.rated_cycles
 * of them wear it out, or media.slc_rated_cycles if nand_block_is_cache().  A
 * cycle in SLC mode of any other block counts media.rated_cycles /
 * media.slc_rated_cycles.  Without media.start_cycles.
 */
uint64_t nand_wear_cycles(const Nand *nand, uint32_t block);

/* Those of nand_erase_count() that were in SLC mode. */
uint32_t nand_slc_erases(const Nand *nand, uint32_t block);

/* Erases of a block (plane * blocks_per_plane + block), those that failed included:
 * as many as the owner has seen end, in nand_age() or the done callback. */
uint32_t nand_erase_count(const Nand *nand, uint32_t block);

/*
 * The page of the block that the next program must go to; pages below it are
 * programmed, being programmed, failed or torn.  After a failed or interrupted
 * erase: the number of its pages.
 */
uint32_t nand_next_page(const Nand *nand, uint32_t block);

/*
 * Without modelled time: the next pages of a block, from ppa on, hold data, as
 * if programmed long ago.  For a drive that starts from an image.
 */
void nand_preload_pages(Nand *nand, NandPpa ppa, uint32_t pages);

static inline void nand_preload_page(Nand *nand, NandPpa ppa)
{
    nand_preload_pages(nand, ppa, 1);
}

/*
 * Lose power: every queued or running operation stops where it is and no done
 * callback runs for it.  A page whose program was in the array is torn: it
 * counts as programmed and holds nothing, and with media.paired_pages=on
 * neither do the earlier pages of its word line.  One whose program had not got
 * there is as it was, and the next to be programmed.  A block whose erase was
 * queued or running must be erased (again) before use.  Data ages by
 * media.off_hours.  The owner drops the array's events from its queue.
 */
void nand_power_cut(Nand *nand, uint64_t now_ps);

/*
 * Save the array, or load into one just made from the same configuration.  Its
 * events are the owner's to save.  Loading does not check numbers; a state
 * from a file needs nand_rest_check(), then nand_check().
 */
bool nand_state(Nand *nand, State *s);

/* Nothing is in flight, and every number can be used. */
bool nand_rest_check(const Nand *nand, GError **error);

/* When the oldest operation in the array was submitted, if before most_ps; else
 * that. */
uint64_t nand_oldest_ps(const Nand *nand, uint64_t most_ps);

/* All instants that the array knows become by_ps (<= nand_oldest_ps()) earlier.
 */
void nand_rebase(Nand *nand, uint64_t by_ps);

/* The structs whose rows these are, for a test; NULL past the last. */
const StateStruct *nand_state_struct(unsigned i);

/*
 * Without modelled time, for a drive that is aged (ftl/state/age.c): an operation as it
 * would be when it has ended well.  Blocks are worn, operations counted, and no
 * rule of the medium is bent; nothing on the block may be in flight.
 */
void nand_age(Nand *nand, const NandOp *op, uint64_t now_ps);

/* The same of a block that is erased: so many erases more, the last of which
 * left it empty, then programs of its first pages.  Operations are not counted.
 * Not with blocks in SLC mode. */
void nand_age_block(Nand *nand, uint32_t block, uint32_t erases, uint32_t pages,
                    uint64_t now_ps);

/* Every rule of the array's own tables; false and *error if one fails. */
bool nand_check(const Nand *nand, GError **error);

#endif
