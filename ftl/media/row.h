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

#endif
