/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal-internal.h - pages of the drive's own in NAND: translation pages,
 * journal, checkpoints.
 *
 * Knows where such pages are and when they are written; does not know the
 * contents of a translation page.
 */
#ifndef VSSD_FTL_JOURNAL_INTERNAL_H
#define VSSD_FTL_JOURNAL_INTERNAL_H

#include "layers.h"
#if FTL_LAYER < FTL_JOURNAL
#error "ftl/journal is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-types.h"

/* Whose a page of metadata is: who hears of it (meta.c). */
typedef enum MetaOwner {
    META_MAP, /* translation pages */
    N_META_OWNERS,
} MetaOwner;

/* Callbacks to the owner of such pages; required, all of them. */
typedef struct MetaClient {
    /* The page is about to be programmed: it holds the present state. */
    void (*begins)(Ssd *ssd, uint32_t page);
    /* It is durable. */
    void (*written)(Ssd *ssd, uint32_t page);
    /* A read has ended. */
    void (*read)(Ssd *ssd, uint32_t cookie);
} MetaClient;

/* A read of metadata: several operations where its units are apart. */
typedef struct MetaRead {
    uint32_t cookie;  /* the owner's */
    uint32_t pending; /* operations; 0: the record is free */
    uint32_t next;    /* free list */
    uint8_t owner;    /* MetaOwner */
} MetaRead;

/* One of the pages with entries of logical units, saved_units each. */
typedef struct SavedPage {
    uint64_t page;   /* the newest copy in NAND */
    uint64_t seq;    /* of that copy; 0: there is none (of all zeroes, too) */
    uint64_t serial; /* queued: when it was asked for */
    uint32_t next;   /* in the queue */
    bool queued;
    bool in_flight;
    bool changed; /* checkpoints: its entries are out of date */
    uint8_t pad;
} SavedPage;

/* A copy of one on its way to NAND. */
typedef struct SavedFlight {
    uint64_t serial;
    uint64_t seq;
    uint64_t page;  /* where to; NO_PAGE: its program failed, and there is no
                       room */
    uint64_t low;   /* the anchor: its contents */
    uint64_t ends;  /* the anchor: the checkpoint that ends with it, or 0: it is
                       only rewritten */
    uint32_t index; /* of the saved page; NONE: this flight is free */
    uint32_t pad;
} SavedFlight;

typedef struct Saved {
    uint64_t serial;      /* counts requests */
    uint64_t trim_serial; /* with everything up to it, all trims are in NAND */
    Ififo queue;          /* of saved pages, through SavedPage.next */
    uint32_t n_in_flight;
    uint32_t cursor;  /* plane */
    uint32_t n_free;  /* blocks */
    uint32_t n_erasing;
    uint32_t victim;  /* block that is being emptied, or NONE */
    Ififo held;       /* blocks, oldest first, through Block.next */
    CmdFifo waiting; /* flushes, until everything up to Cmd.next_lpn is there */

    /* Checkpoints: all that has changed is written, then the anchor. */
    uint64_t data_pages; /* programs of data since the last one began */
    uint64_t low; /* of the present one: units programmed up to this count are
                     in the saved pages */
    uint64_t anchor_low; /* contents of the anchor: Saved.low of the last one of
                            which all else is in NAND */
    uint64_t all_serial; /* with everything up to it, the anchor may go */
    uint64_t n_begun, n_ended;
    CmdFifo closing; /* shutdowns, until so many (Cmd.next_lpn) have ended */
    bool anchored;   /* the anchor has been asked for */
    uint8_t pad[7];
} Saved;

/* Counters of the host that firmware saves. */
typedef struct HostCounts {
    uint64_t reads, writes; /* commands */
    uint64_t bytes_read, bytes_written;
} HostCounts;

/* With ftl.counters_interval. */
typedef struct CounterSaves {
    HostCounts saved;  /* the last time */
    HostCounts lost;   /* in power cuts, since the last reset of statistics */
    uint64_t saved_ps; /* then; for differences only, modulo 2^64 */
    uint64_t armed;    /* 1: SSD_EVENT_COUNTERS is under way */
    TimeSum lost_ps;   /* time with power that no save has counted */
} CounterSaves;

typedef struct JournalPlane {
    uint32_t programs; /* of metadata, in flight */
    JobFifo wait;      /* pages of metadata that wait for room */
} JournalPlane;

typedef struct Journal {
    OF_JOURNAL JournalPlane *plane;
    const MetaClient *client[N_META_OWNERS]; /* given when the drive is made */
    /* Tables, of which none is there with ftl.recovery=capacitors. */
    OF_JOURNAL uint64_t
        *floor; /* by lpn: versions below it have been trimmed */
    OF_JOURNAL uint64_t
        *saved; /* by lpn: entry of the newest saved page in NAND */
    OF_JOURNAL SavedPage *saved_page; /* in lazy memory */
    OF_JOURNAL SavedFlight *saved_flight;
    OF_JOURNAL uint64_t
        *saved_in_flight;        /* by flight: entries of its page, by unit */
    OF_JOURNAL Open *saved_open; /* by plane */
    uint64_t saved_low;          /* contents of the newest anchor in NAND */
    Saved saved_queue;
    OF_JOURNAL MetaRead *meta_read;
    uint32_t n_meta_reads;
    uint32_t free_meta_read;
    uint64_t meta_version; /* of the metadata programmed last */
    CounterSaves counters;
} Journal;

#endif
