/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mirror.h - the second copies of translation pages (superblock.parity with
 * ftl.map=dftl), in another die; mirror.c.
 *
 * Pages 0..l.n_map_pages - 1 of metadata are the first copies; the second copy
 * of page p is page p + l.n_map_pages.
 */
#ifndef VSSD_FTL_MIRROR_H
#define VSSD_FTL_MIRROR_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* Do translation pages have two copies? */
static inline bool mirror_is_on(const Ssd *ssd)
{
    return ssd->l.n_meta_pages > ssd->l.n_map_pages;
}

/* The other copy of a page. */
static inline uint32_t mirror_of(const Ssd *ssd, uint32_t page)
{
    return page < ssd->l.n_map_pages ? page + ssd->l.n_map_pages
                                     : page - ssd->l.n_map_pages;
}

/* The first copy of a page. */
static inline uint32_t mirror_first(const Ssd *ssd, uint32_t page)
{
    return page < ssd->l.n_map_pages ? page : page - ssd->l.n_map_pages;
}

/* The plane of the second copy of a page that is in the plane: the same one of
 * the next die of its superblocks, round. */
uint32_t mirror_plane(const Ssd *ssd, uint32_t plane);

/* The write of that copy which waits or is under way, a job; NONE: there is
 * none. */
uint32_t mirror_write(const Ssd *ssd, uint32_t page);

/* As parity_others(), for a page that holds translation pages and is in no
 * stripe: what the other copies of its valid units are read from. */
bool mirror_others(const Ssd *ssd, uint64_t page, uint64_t *other, uint32_t *n);

#endif
