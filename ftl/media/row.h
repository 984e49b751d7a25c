/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row.h - planes that are written in step: a page of each is a row (row.c).
 *
 * A row is the size of a multi-plane program, a page of each plane of a die;
 * without nand.multi_plane it is one plane.  With superblock.row it is a page
 * of each of that many planes.  With l.row_planes only.
 */
#ifndef VSSD_FTL_ROW_H
#define VSSD_FTL_ROW_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* ---- planes -------------------------------------------------------------- */

static inline uint32_t row_count(const Ssd *ssd)
{
    return ssd->l.row_planes ? ssd->l.n_planes / ssd->l.row_planes : 0;
}

/* The planes of a row by its number, 0..row_count() - 1; rows of one plane go
 * in the order of ftl.stripe. */
static inline const uint32_t *row_planes(const Ssd *ssd, uint32_t row)
{
    return ssd->l.row_planes == 1
               ? &ssd->media->stripe_plane[row]
               : &ssd->media->superblocks.plane[row * ssd->l.row_planes];
}

/* The planes of the plane's row. */
static inline const uint32_t *row_of(const Ssd *ssd, uint32_t plane)
{
    uint32_t at = ssd->media->superblocks.place[plane];

    return &ssd->media->superblocks.plane[at - at % ssd->l.row_planes];
}

/* May two pages that follow each other in a row be of one command? */
static inline bool row_is_command(const Ssd *ssd, uint32_t plane, uint32_t next)
{
    return ssd->cfg->nand.multi_plane &&
           plane / ssd->geo->planes_per_die == next / ssd->geo->planes_per_die;
}

/* ---- pages --------------------------------------------------------------- */

/* Of the planes of a row those, as bits, whose open block of that open_index()
 * is at the lowest page: they go on.  0: no die of the row is left. */
uint32_t row_behind(const Ssd *ssd, const uint32_t *plane, uint32_t open);

/* ---- units --------------------------------------------------------------- */

/* Dies that are filled side by side: of each, planes and the pages of a plane
 * that one program takes. */
typedef struct RowDeal {
    uint32_t dies;
    uint32_t planes;
    uint32_t pages;
    bool planes_first; /* ftl.stripe: the plane varies faster than the die */
} RowDeal;

/* How consecutive pages are laid over so many rows (over planes without
 * superblock.row). */
RowDeal row_deal(const Ssd *ssd, uint32_t rows);

/* Which of the consecutive pages is at this page of a die's plane: round the
 * dies and the planes before the next page of the word lines. */
static inline uint32_t row_dealt_page(const RowDeal *d, uint32_t die,
                                      uint32_t plane, uint32_t page)
{
    return d->planes_first ? (page * d->dies + die) * d->planes + plane
                           : (page * d->planes + plane) * d->dies + die;
}

#endif
