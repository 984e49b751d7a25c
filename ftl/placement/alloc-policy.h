/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc-policy.h - which plane a page of the host goes to: one const struct in
 * one file for each policy; policy.c lists them, docs/adding.md explains how to
 * add one.
 */
#ifndef VSSD_FTL_ALLOC_POLICY_H
#define VSSD_FTL_ALLOC_POLICY_H

#include "layers.h"
#if FTL_LAYER < FTL_PLACEMENT
#error "ftl/placement is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* AllocPolicy.depth of a policy that does not look where there is room. */
#define ALLOC_DEEP 64

/* Does a policy go round the planes, and each stream so by itself
 * (alloc-rows.c)? */
typedef enum AllocRows {
    ROWS_NONE,
    ROWS_FREE,     /* busy planes are skipped */
    ROWS_IN_ORDER, /* busy planes are waited for */
} AllocRows;

struct AllocPolicy {
    const char *name;
    const char *help;
    uint32_t depth; /* programs of the host in flight per plane: 2 are one in
                       the array and one on the bus */
    bool by_lpn;    /* pick needs the units to be written */
    uint8_t rows;   /* AllocRows: of several streams; then pick is not asked */
    bool draws_stream; /* the drive has ftl.random_blocks streams of its own,
                          one of which each unit goes to, at random */
    /* Required.  The plane for the next page of the host, among those that
     * accept one, or NONE: wait.  It may wait (by alloc_insist()) only for
     * something that is under way.  lpn is the first unit of the page, or NONE
     * without by_lpn.  May move its own cursor. */
    uint32_t (*pick)(Ssd *ssd, uint64_t lpn);
};

/* The policy of the configuration, from outside or of the list. */
const AllocPolicy *alloc_choose_policy(const Ssd *ssd);

extern const AllocPolicy *const alloc_policies[]; /* NULL at the end */
extern const AllocPolicy alloc_stripe;
extern const AllocPolicy alloc_static;
extern const AllocPolicy alloc_dynamic;
extern const AllocPolicy alloc_dl;
extern const AllocPolicy alloc_random;
extern const AllocPolicy alloc_random_block;
extern const AllocPolicy alloc_superblock;

#endif
