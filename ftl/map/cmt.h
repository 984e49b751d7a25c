/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmt.h - the cached mapping table of dftl.c: which units' entries are in
 * memory.
 *
 * Segmented LRU, as A. Gupta, Y. Kim and B. Urgaonkar, "DFTL: a flash
 * translation layer employing demand-based selective caching of page-level
 * address mappings", ASPLOS 2009, section 3.2 describes: an entry comes to the
 * probationary segment; used again, it goes to the protected one, which holds
 * half of the table at most and gives its least recently used entry back to the
 * probationary segment; the least recently used entry there is the one to go.
 *
 * Knows numbers of units and their order.  Knows nothing of addresses, pages or
 * time.  Every call takes O(1).
 */
#ifndef VSSD_FTL_CMT_H
#define VSSD_FTL_CMT_H

#include "layers.h"
#if FTL_LAYER != FTL_MAP && FTL_LAYER != FTL_ALL
#error "private to ftl/map: docs/architecture.md"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "ilist.h"

#define CMT_NONE ILIST_NONE

enum {
    CMT_PROBATION,
    CMT_PROTECTED,
    CMT_SEGMENTS,
};

typedef struct CmtEntry {
    uint64_t lpn;
    uint32_t chain;      /* next of its hash bucket, + 1; or of the free list */
    uint32_t next, prev; /* of its segment, most recently used first */
    uint32_t dirty_next, dirty_prev; /* the owner's, as dirty is */
    uint8_t segment;
    uint8_t dirty;
} CmtEntry;

/* An order of somebody else's in place of segmented LRU: who keeps each entry
 * in one of the lists.  Required, all of them. */
typedef struct CmtOrder {
    void (*insert)(void *opaque, uint32_t i);
    void (*used)(void *opaque, uint32_t i);
    uint32_t (*victim)(void *opaque); /* there are entries */
} CmtOrder;

typedef struct Cmt {
    CmtEntry *entry;   /* most of them */
    /* No istack_ of core: lazy_new() fills it with zeroes, which are "none". */
    uint32_t *bucket;  /* n_buckets: first entry, + 1; 0: none */
    uint32_t most;     /* entries */
    uint32_t n_buckets; /* a power of two */
    uint32_t n_made;   /* entries that have ever been used */
    uint32_t free;     /* entries given back, + 1; 0: none */
    IlistN list[CMT_SEGMENTS]; /* most recently used first */
    const CmtOrder *order;     /* or NULL */
    void *order_opaque;
} Cmt;

void cmt_init(Cmt *c, uint32_t most);
void cmt_destroy(Cmt *c);
void cmt_clear(Cmt *c);

static inline uint32_t cmt_used(const Cmt *c)
{
    return c->list[CMT_PROBATION].n + c->list[CMT_PROTECTED].n;
}

/* The entry of the unit, or CMT_NONE. */
uint32_t cmt_find(const Cmt *c, uint64_t lpn);

/* The entry is used again. */
void cmt_touch(Cmt *c, uint32_t i);

/* The entry to go, if the table is full; else CMT_NONE. */
uint32_t cmt_victim(const Cmt *c);

void cmt_remove(Cmt *c, uint32_t i);

/* For CmtOrder: the entry to the head of a list. */
void cmt_move(Cmt *c, uint32_t i, uint8_t segment);

/* A clean entry for a unit that has none; the table is not full. */
uint32_t cmt_insert(Cmt *c, uint64_t lpn);

/* Is every number valid, of units below n_lpns? For a table that was loaded;
 * sizes are as cmt_init() made them. */
bool cmt_check(const Cmt *c, uint64_t n_lpns);

#endif
