/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dftl.h - the tables of the map on demand; private to dftl.c and dftl-state.c.
 */
#ifndef VSSD_FTL_DFTL_H
#define VSSD_FTL_DFTL_H

#include "layers.h"
#if FTL_LAYER != FTL_MAP && FTL_LAYER != FTL_ALL
#error "private to ftl/map: docs/architecture.md"
#endif

#include "map/cmt.h"
#include "map/hmb.h"
#include "ssd-internal.h"

typedef enum PageState {
    PAGE_IDLE,
    PAGE_READING, /* to be written back, first its old copy */
    PAGE_WAITING, /* for room */
    PAGE_WRITING,
    N_PAGE_STATES,
} PageState;

/*
 * A translation page.  The table is in lazy memory: a record of zeroes is one
 * that was never used, which page_at() fills in.  No other has 0 as loaders and
 * as writers: a waiter is in one list at most.
 */
typedef struct DftlPage {
    uint32_t dirty;   /* its cached entries that are, or NONE */
    uint32_t loaders; /* waiters: for a part to be read */
    uint32_t writers; /* for the next time that it is programmed */
    uint32_t sent;    /* for the program under way */
    uint32_t evicted; /* entries that left dirty and are not yet written */
    uint32_t next;    /* in the list of stale pages */
    uint8_t state;    /* PageState */
    uint8_t loading;  /* bits: parts (NAND pages) that are being read */
    bool stale;  /* it has entries to be updated that are not in the cache */
    bool listed; /* it is in a list of stale pages */
    bool for_gc; /* why it is written */
} DftlPage;

/* A command that waits, for entries lpn..lpn + n - 1 of a part. */
typedef struct DftlWaiter {
    uint32_t cmd;
    uint64_t lpn, n;
    uint32_t part;
    uint32_t next; /* free list; list of the page */
} DftlWaiter;

/* Through DftlPage.next. */
typedef Ififo PageFifo;

typedef struct DftlStats {
    uint64_t lookups, hits, misses;
    uint64_t evictions_clean, evictions_dirty;
    uint64_t reads;           /* of translation pages, for lookups */
    uint64_t writes_host;     /* that evictions called for, */
    uint64_t writes_gc;       /* and GC or trims */
    uint64_t most_stale;      /* pages at a time */
    uint64_t hmb_hits;        /* of misses */
} DftlStats;

typedef struct Dftl {
    Cmt cmt;
    DftlPage *page; /* l.n_map_pages of them; use page_at() */
    DftlWaiter *waiter;
    uint32_t n_waiters;
    uint32_t free_waiter;
    uint32_t throttled; /* waiters: writes, until fewer evicted entries wait */
    uint32_t n_evicted; /* entries that left dirty and are not yet written */
    uint32_t n_stale;   /* pages */
    PageFifo gathered;  /* stale pages, until the victim has been emptied */
    PageFifo *ready;    /* by plane: those that may be written */
    uint32_t *n_writes; /* by plane: of them, being written */
    DftlStats stats;
    Cmt hmb; /* ftl.hmb: entries in host memory; none of them is in cmt */
    uint32_t hmb_room; /* entries that the host has room for now */
} Dftl;

static inline uint32_t page_of(const Ssd *ssd, uint64_t lpn)
{
    return (uint32_t)(lpn / ssd->l.map_entries);
}

static inline bool page_is_used(const DftlPage *p)
{
    return p->loaders != 0 || p->writers != 0;
}

static inline DftlPage *page_at(Dftl *d, uint32_t i)
{
    DftlPage *p = &d->page[i];

    if (!page_is_used(p)) {
        *p = (DftlPage){
            .dirty = NONE,
            .loaders = NONE,
            .writers = NONE,
            .sent = NONE,
        };
    }
    return p;
}

/* ---- dftl-state.c -------------------------------------------------------- */

/* As MapPolicy says of them. */
bool dftl_state(Ssd *ssd, State *s);
bool dftl_check(const Ssd *ssd, bool at_rest, GError **error);
extern const StatTable dftl_stats;

#endif
