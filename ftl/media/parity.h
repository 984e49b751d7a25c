/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parity.h - parity as a member of rows (superblock.parity): stripes, and what
 * is protected.
 *
 * A stripe is a page (the pages of one program) at the same place of a block in
 * each of l.parity_dies dies; one of them holds the XOR of the others
 * (parity.c). Without superblock.parity only parity_is_on(), parity_is_in() and
 * parity_page_lost() may be called.  Other components have no question for it:
 * they ask superblock.h and lost-die.h.
 */
#ifndef VSSD_FTL_PARITY_H
#define VSSD_FTL_PARITY_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/lost-die.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

static inline bool parity_is_on(const Ssd *ssd)
{
    return ssd->l.parity_dies > 0;
}

/* open_index() of the first ones: of blocks that can hold stripes.  Those of
 * the host's streams and their copies do; metadata does not. */
static inline uint32_t parity_n_open(const Ssd *ssd)
{
    return ssd->l.parity_dies == 0
               ? 0
               : ssd->l.n_streams + MIN(ssd->l.meta_class, ssd->l.n_gc_classes);
}

static inline bool parity_is_in(const Ssd *ssd, uint32_t open)
{
    return open < parity_n_open(ssd);
}

/* Does the block, which is not free, hold stripes?  One in SLC mode does not.
 */
static inline bool parity_is_of(const Ssd *ssd, uint32_t block)
{
    return ssd->l.parity_dies > 0 &&
           ssd->media->parity.state[block] != STRIPE_NONE;
}

void parity_init(Ssd *ssd);
void parity_destroy(Ssd *ssd);

/* From now on parity takes no time (or does again): the drive is preloaded. */
void parity_instant(Ssd *ssd, bool on);

/* The plane of the stripe in its i-th die, 0..l.parity_dies - 1. */
uint32_t parity_member(const Ssd *ssd, uint32_t plane, uint32_t i);

/* The plane of the stripe whose page at that place of its block, the first one
 * of a program, is parity. */
uint32_t parity_plane(const Ssd *ssd, uint32_t plane, uint32_t page);

/* The first page at that place or behind it that holds data. */
uint32_t parity_next_data(const Ssd *ssd, uint32_t plane, uint32_t page);

/* ---- for block.c --------------------------------------------------------- */

/* A block that holds stripes has been opened; is about to be erased. */
void parity_opened(Ssd *ssd, uint32_t block);
void parity_erasing(Ssd *ssd, uint32_t block);

/* The next page of such an open block has been given away, for data; for
 * parity. */
void parity_data(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page);
void parity_given(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page);

/* Program that page of parity; more: another plane of the command follows.
 * true: it is programmed at once (Parity.instant). */
bool parity_send(Ssd *ssd, uint64_t page, uint32_t open, bool more);

/* The program of that page failed or was torn: it holds nothing.  With or
 * without parity. */
void parity_page_lost(Ssd *ssd, uint64_t ppa);

/* The power has gone, and with it the parity in the controller's memory. */
void parity_power_lost(Ssd *ssd);

/* ---- for parity.c and rebuild.c ------------------------------------------ */

/* Has every other plane of the stripe gone beyond that page of the open block,
 * which the plane has; or is to open for it? */
bool parity_is_complete(const Ssd *ssd, uint32_t plane, uint32_t open,
                        uint32_t page);

/* Pages that the one can be rebuilt from, at most l.parity_dies - 1 of them
 * that are in NAND; the rest is in the controller's memory.  false: no parity
 * covers it. */
bool parity_others(const Ssd *ssd, uint64_t page, uint64_t *other, uint32_t *n);

/* Stripes with data whose parity is still in the controller's memory. */
uint64_t parity_open_stripes(const Ssd *ssd);

/* Valid units in blocks whose superblock has lost a block. */
uint64_t parity_unprotected_units(const Ssd *ssd);

bool parity_check(const Ssd *ssd, GError **error);

#endif
