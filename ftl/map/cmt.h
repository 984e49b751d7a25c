/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmt.h - the cached mapping table of dftl.c: which units' entries are in
 * memory.
 *
 * Each entry is in one of the lists, in the order in which it came to the head
 * of it; who moves entries, and which one goes, is the policy's (cmt-order.c).
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

#define CMT_LISTS 2

typedef struct CmtEntry {
    uint64_t lpn;
    uint32_t chain;      /* next of its hash bucket, + 1; or of the free list */
    uint32_t next, prev; /* of its list, from the head */
    uint32_t dirty_next, dirty_prev; /* the owner's, as dirty is */
    uint8_t list;                    /* CMT_LISTS: given back */
    uint8_t dirty;
} CmtEntry;

typedef struct Cmt {
    CmtEntry *entry;   /* most of them */
    /* No istack_ of core: lazy_new() fills it with zeroes, which are "none". */
    uint32_t *bucket;  /* n_buckets: first entry, + 1; 0: none */
    uint32_t most;     /* entries */
    uint32_t n_buckets; /* a power of two */
    uint32_t n_made;   /* entries that have ever been used */
    uint32_t free;     /* entries given back, + 1; 0: none */
    IlistN list[CMT_LISTS];
} Cmt;

void cmt_init(Cmt *c, uint32_t most);
void cmt_destroy(Cmt *c);
void cmt_clear(Cmt *c);

static inline uint32_t cmt_used(const Cmt *c)
{
    return c->list[0].n + c->list[1].n;
}

/* Is it the number of an entry? */
static inline bool cmt_is_used(const Cmt *c, uint32_t i)
{
    return i < c->n_made && c->entry[i].list < CMT_LISTS;
}

/* The entry of the unit, or CMT_NONE. */
uint32_t cmt_find(const Cmt *c, uint64_t lpn);

void cmt_remove(Cmt *c, uint32_t i);

/* To the head of a list. */
void cmt_move(Cmt *c, uint32_t i, uint32_t list);

/* A clean entry for a unit that has none, at the head of list 0; the table is
 * not full. */
uint32_t cmt_insert(Cmt *c, uint64_t lpn);

/* Is every number valid, of units below n_lpns? For a table that was loaded;
 * sizes are as cmt_init() made them. */
bool cmt_check(const Cmt *c, uint64_t n_lpns);

#endif
