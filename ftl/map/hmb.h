/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hmb.h - map entries in the host memory buffer; private to ftl/map.
 *
 * Takes the entries that leave the cache, least recently used out first; an
 * entry that is used again goes back into the cache.  The host may take its
 * memory back at any time, so it holds only what NAND has, or is about to have.
 *
 * Without ftl.hmb it is empty, and stays so.
 */
#ifndef VSSD_FTL_HMB_H
#define VSSD_FTL_HMB_H

#include "layers.h"
#if FTL_LAYER != FTL_MAP && FTL_LAYER != FTL_ALL
#error "private to ftl/map: docs/architecture.md"
#endif

#include "map/cmt.h"

/* Allocate room for so many entries (0: no ftl.hmb); free it. */
void hmb_init(Cmt *h, uint64_t entries);
void hmb_destroy(Cmt *h);

/* Drop all entries, as after a power cut. */
void hmb_clear(Cmt *h);

/* Is the entry of the lpn there? */
bool hmb_holds(const Cmt *h, uint64_t lpn);

/* The entry joins, at the most entries that the host has room for: the oldest
 * ones leave.  Fewer than there are: the same. */
void hmb_put(Cmt *h, uint64_t lpn, uint32_t most);
void hmb_shrink(Cmt *h, uint32_t most);

/* Remove an entry.  false: it is not there. */
bool hmb_take(Cmt *h, uint64_t lpn);

#endif
