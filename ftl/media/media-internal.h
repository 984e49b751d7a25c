/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * media-internal.h - blocks, planes and page programs in flight.
 *
 * Knows which blocks are free, open, full or bad, which units of them are
 * valid, the spare areas, and the page programs in flight. Does not know host
 * commands, nor which block is best for data.
 */
#ifndef VSSD_FTL_MEDIA_INTERNAL_H
#define VSSD_FTL_MEDIA_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "nand-faults.h"
#include "numtable.h"
#include "ssd-types.h"

/* Spare area of a unit that holds nothing (padding, torn). */
#define SPARE_NONE 0ULL

typedef enum JobState {
    JOB_FREE,
    JOB_TAKEN,  /* has no page yet */
    JOB_PLACED, /* has a page, which is programmed at once */
    JOB_WAITS,  /* for a page, in a JobFifo: it failed, or there was no room */
    N_JOB_STATES,
} JobState;

typedef struct PageJob {
    uint64_t ppa; /* PLACED: first page of the program; else NO_PAGE */
    uint32_t plane;
    uint32_t n;    /* units used; the rest is padding */
    uint32_t next; /* free list; JobFifo */
    uint8_t stream; /* gc: the class of its units */
    bool gc;       /* unit[] holds source ppus instead of slots */
    bool copyback; /* gc: all of one page, inside the array */
    uint8_t state; /* JobState */
    bool meta;      /* a page of metadata, all of it; unit[] is not used */
    uint8_t owner;  /* MetaOwner of it */
    bool parity;    /* a page of parity; unit[] is not used */
    bool fixed;     /* meta, of two copies: its contents are (journal/meta.c) */
    uint32_t meta_page;
} PageJob;

#define META_PROGRAMS_PER_PLANE 2

typedef enum BlockState {
    BLOCK_FREE,
    BLOCK_OPEN,
    BLOCK_CLOSING, /* no page left to take, programs still in flight */
    BLOCK_FULL,    /* in a bucket of its plane, may be picked for GC */
    BLOCK_VICTIM,  /* being emptied by GC */
    BLOCK_ERASING,
    BLOCK_BAD,    /* never used again */
    BLOCK_SAVED,  /* belongs to saved.c */
    BLOCK_LOST,   /* after a power cut, until recovery has looked at it */
    BLOCK_MAPPED, /* belongs to a log-block map (hybrid.c) */
    N_BLOCK_STATES,
} BlockState;

typedef struct Block {
    uint32_t valid; /* units */
    uint32_t next, prev; /* free, slc_free, slc_full, or a bucket of the plane;
                            VICTIM: those that wait to be erased */
    uint32_t pending; /* OPEN, CLOSING: programs in flight; VICTIM: copies that
                         have not ended */
    uint32_t older, newer; /* FULL: Plane.by_age */
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

/* Who writes into an open block.  The host has one for each stream, GC
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

typedef struct Plane {
    IlistN free;     /* but not those of nand.slc_blocks */
    IlistN slc_free; /* those */
    /* Blocks that were never taken are not linked, but for the first of them:
     * they come behind the head of `free`, which counts them. */
    uint32_t n_fresh;       /* of these */
    uint32_t next_fresh;    /* the first of them is this block or a later one */
    Ilist slc_full;         /* oldest first */
    uint32_t host_programs; /* in flight */
    uint32_t erases;        /* in flight */
    uint64_t valid;         /* units */
    uint64_t meta_valid;    /* of them, metadata */
    OF_MEDIA Open *open;    /* by open_index(); l.n_open of them */
    uint32_t n_host_open; /* of those, the host's that are open */
    uint32_t n_aside;     /* and those that are set aside */
    Ilist by_age; /* FULL blocks, but not those in SLC mode; oldest first */
    uint32_t clock;     /* programs of the host in the plane */
    OF_MEDIA uint32_t *bucket; /* heads of FULL blocks by valid count */
    uint32_t min_valid; /* no FULL block has fewer */
    /* Room, as in SsdLayout; less with each block that goes bad. */
    uint32_t spare_blocks;
    uint64_t slack_units;
    uint32_t gc_low_blocks;
    uint32_t gc_high_blocks;
    uint32_t gc_soft_blocks;
    uint32_t n_retiring; /* FULL blocks that are bad */
    uint32_t n_folding;  /* victims of nand.slc_blocks */
    uint32_t n_slc;      /* other blocks in SLC mode, but free, bad and erased
                            ones: slc-cache.c */
    uint32_t last_gc_block; /* last one opened for GC, or NONE */
    uint32_t n_held;        /* victims of which the erase waits: Block.held */
    bool tell_gains; /* the client hears of each unit that becomes invalid */
} Plane;

/* GC reads ahead by this many pages per plane. */
#define GC_READS_PER_PLANE 2
#define GC_PROGRAMS_PER_PLANE 2

/*
 * Spare area of a page, beside its units': when its program was submitted, as a
 * count from 1 (0: torn, or never written), and open_index() of who filled the
 * block then.
 */
#define SEQ_BITS 56
#define SEQ_MASK ((1ULL << SEQ_BITS) - 1)

/*
 * Callbacks about blocks to the components that choose and empty them; given
 * when the drive is made.  Required, all of them.
 */
typedef struct MediaClient {
    /* The free block of the plane that is to be opened next; there is one. */
    uint32_t (*choose_free)(Ssd *ssd, uint32_t plane, OpenKind kind);
    /* A block, not in SLC mode, has come to the end of the free list; has left
     * it. */
    void (*freed)(Ssd *ssd, uint32_t block);
    void (*free_taken)(Ssd *ssd, uint32_t block);
    /* The block has been opened, by whom is an open_index(). */
    void (*opened)(Ssd *ssd, uint32_t block, uint32_t open);
    /* It is about to be a victim; is empty, and is retired; its erase begins;
     * has ended. */
    void (*taken)(Ssd *ssd, uint32_t block);
    void (*retired)(Ssd *ssd, uint32_t block);
    void (*erasing)(Ssd *ssd, uint32_t block);
    /* Whether the plane may be given a page of the host may have changed. */
    void (*plane_changed)(Ssd *ssd, uint32_t plane);
    void (*erased)(Ssd *ssd, uint32_t block);
    /* The power has gone; the program of the page had not ended. */
    void (*torn)(Ssd *ssd, uint64_t page);
} MediaClient;

/* Callbacks to the keeper of saved pages; required, all of them. */
typedef struct SavedClient {
    /* Another copy of the unit is the current one. */
    void (*changed)(Ssd *ssd, uint64_t lpn);
    /* A program of data has ended. */
    void (*page_done)(Ssd *ssd);
} SavedClient;

/* The same, of FULL blocks that are not in SLC mode, for an index of them;
 * there is one if superblocks_are_on(). */
typedef struct FullIndex {
    /* The block has come to the end of Plane.by_age; has left that list. */
    void (*listed)(Ssd *ssd, uint32_t block);
    void (*unlisted)(Ssd *ssd, uint32_t block);
    /* It has become FULL; is FULL no more; has so many more valid units. */
    void (*full)(Ssd *ssd, uint32_t block);
    void (*victim)(Ssd *ssd, uint32_t block);
    void (*changed)(Ssd *ssd, uint32_t block, int by);
    /* It has joined a superblock; has left the one that other is of (or was its
     * last one, and is other).  Any block. */
    void (*joined)(Ssd *ssd, uint32_t block);
    void (*left)(Ssd *ssd, uint32_t block, uint32_t other);
} FullIndex;

/* Blocks that belong together (superblock.c). */
typedef struct Superblocks {
    OF_MEDIA uint32_t *plane;  /* by set, and in the order of the set */
    OF_MEDIA uint32_t *place;  /* by plane: where it is in that */
    OF_MEDIA uint32_t *serial; /* by plane, open_index(): the newest one; NULL,
                                  as the next two, without superblock.width */
    OF_MEDIA uint32_t *newest; /* and the plane's block in it, or NONE */
    OF_MEDIA uint32_t *next;   /* by block: the next one, round */
} Superblocks;

/* A block that holds stripes of superblock.parity; see parity.c. */
typedef enum StripeState {
    STRIPE_NONE, /* it holds none */
    STRIPE_WHOLE,
    STRIPE_BROKEN, /* a block of its superblock is gone */
} StripeState;

/* A read that failed, and its data is rebuilt from its stripe (rebuild.c). */
typedef struct Rebuild {
    NandOp op;      /* the read; bad_parts: those that are lost for good */
    uint64_t lost;  /* parts that an other page of the stripe lost, too */
    uint32_t reads; /* under way */
    uint32_t next;  /* free list */
} Rebuild;

/* Parity as a member of rows (parity.c); all NULL without superblock.parity. */
typedef struct Parity {
    OF_MEDIA uint32_t *filled; /* by block: pages given away, 0: no stripes */
    OF_MEDIA uint8_t *state;   /* by block: StripeState */
    OF_MEDIA uint64_t *bare;   /* bitmap by page, the first of a program: no
                                  parity covers it */
    bool instant;              /* it takes no time: the drive is preloaded */
} Parity;

/* Dies that have failed (lost-die.c); NULL without superblock.parity. */
typedef struct LostDies {
    OF_MEDIA uint32_t *failures; /* by die: one after the other */
    OF_MEDIA uint8_t *lost;      /* by die: it has failed */
    uint32_t n;
    uint64_t more_share; /* of each plane that is left, in units */
    uint64_t since_ps;   /* on the clock as it was never set back, + 1: the data
                            of one is being rebuilt; 0: it is not */
} LostDies;

/* Reads whose data is being rebuilt (rebuild.c). */
typedef struct Rebuilds {
    Rebuild *rebuild;
    uint32_t n;
    uint32_t free;
    uint32_t under_way;
} Rebuilds;

typedef struct Media {
    const MediaClient *client;
    const FullIndex *index; /* or NULL: there is none */
    const SavedClient *saved; /* or NULL: there are no saved pages */
    Faults *faults; /* or NULL */
    bool may_fail;  /* programs and erases */
    bool cut_due;   /* a rule has cut the power: act on it at once */
    bool read_only; /* too few good blocks are left */
    bool cannot_program;  /* nor can it program the buffer */
    uint32_t free_for_gc; /* free blocks that the host leaves to GC */
    uint32_t n_factory_bad;
    uint32_t n_grown_bad;
    uint64_t preload_next; /* ppu */
    uint32_t preload_left; /* units of its page */
    OF_MEDIA NumTable spare_lpn; /* by ppu: lpn + 1, or SPARE_NONE; with the
                                    mark, the data was lost before it came
                                    here */
    OF_MEDIA uint64_t *spare_version; /* by ppu; NULL without a host */
    OF_MEDIA uint8_t *spare_stream;   /* by ppu; NULL if there is one stream */
    OF_MEDIA uint64_t
        *spare_seq;          /* by page; NULL with ftl.recovery=capacitors */
    uint64_t prog_seq;       /* the last one given */
    OF_MEDIA uint64_t *valid;      /* bitmap by ppu */
    OF_MEDIA uint64_t *programmed; /* by stream, and of none (programmed.h):
                                      units since the drive was made */
    OF_MEDIA uint64_t *programmed_base; /* at the last ssd_reset_stats() */
    OF_MEDIA Block *block;
    OF_MEDIA Plane *plane;
    OF_MEDIA uint64_t *plain_valid; /* by plane (plain.h); NULL without
                                       zones.conventional */
    OF_MEDIA uint32_t
        *stripe_plane; /* position in the order of ftl.stripe -> plane */
    OF_MEDIA uint32_t *stripe_pos; /* plane -> position */
    PageJob *job;
    uint64_t *job_unit; /* units_per_program entries for each job */
    uint32_t n_jobs;
    uint32_t free_job;
    Superblocks superblocks;
    Parity parity;
    LostDies lost_dies;
    Rebuilds rebuilds;
} Media;

#endif
