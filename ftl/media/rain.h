/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rain.h - parity across dies (ftl.rain): stripes, and what is protected.
 *
 * A stripe is a page (the pages of one program) at the same place of a block in
 * each of l.rain dies; one of them holds the XOR of the others (rain.c).
 * Without ftl.rain only rain_is_on(), rain_writes() and rain_page_lost() may be
 * called.  Other components have no question for it: they ask superblock.h and
 * lost-die.h.
 */
#ifndef VSSD_FTL_RAIN_H
#define VSSD_FTL_RAIN_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/lost-die.h"
#include "media/media-internal.h"
#include "ssd-internal.h"

static inline bool rain_is_on(const Ssd *ssd)
{
    return ssd->l.rain > 0;
}

/* Does the open block of that open_index() hold stripes?  Those of the host's
 * streams and their copies do; metadata does not. */
static inline bool rain_writes(const Ssd *ssd, uint32_t open)
{
    return ssd->l.rain > 0 && open < ssd->l.n_streams + ssd->l.n_stream_classes;
}

void rain_init(Ssd *ssd);
void rain_destroy(Ssd *ssd);

/* From now on parity takes no time (or does again): the drive is preloaded. */
void rain_instant(Ssd *ssd, bool on);

/* The plane of the stripe in its i-th die, 0..l.rain - 1. */
uint32_t rain_plane(const Ssd *ssd, uint32_t plane, uint32_t i);

/* The plane of the stripe whose page at that place of its block, the first one
 * of a program, is parity. */
uint32_t rain_parity_plane(const Ssd *ssd, uint32_t plane, uint32_t page);

/* The first page at that place or behind it that holds data. */
uint32_t rain_next_data(const Ssd *ssd, uint32_t plane, uint32_t page);

/* ---- for block.c --------------------------------------------------------- */

/* A block that holds stripes has been opened; is about to be erased. */
void rain_opened(Ssd *ssd, uint32_t block);
void rain_erasing(Ssd *ssd, uint32_t block);

/* The next page of such an open block has been given away, for data; for
 * parity. */
void rain_data(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page);
void rain_parity(Ssd *ssd, uint32_t block, uint32_t open, uint32_t page);

/* Program that page of parity; more: another plane of the command follows.
 * true: it is programmed at once (Rain.instant). */
bool rain_send(Ssd *ssd, uint64_t page, uint32_t open, bool more);

/* The program of that page failed or was torn: it holds nothing.  With or
 * without parity. */
void rain_page_lost(Ssd *ssd, uint64_t ppa);

/* The power has gone, and with it the parity in the controller's memory. */
void rain_power_lost(Ssd *ssd);

/* ---- for parity.c and rebuild.c ------------------------------------------ */

/* Has every other plane of the stripe gone beyond that page of the open block,
 * which the plane has; or is to open for it? */
bool rain_is_complete(const Ssd *ssd, uint32_t plane, uint32_t open,
                      uint32_t page);

/* Pages that the one can be rebuilt from, at most l.rain - 1 of them that are
 * in NAND; the rest is in the controller's memory.  false: no parity covers
 * it. */
bool rain_others(const Ssd *ssd, uint64_t page, uint64_t *other, uint32_t *n);

/* Stripes with data whose parity is still in the controller's memory. */
uint64_t rain_open_stripes(const Ssd *ssd);

/* Valid units in blocks whose superblock has lost a block. */
uint64_t rain_unprotected_units(const Ssd *ssd);

bool rain_check(const Ssd *ssd, GError **error);

#endif
