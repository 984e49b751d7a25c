/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slc-cache.h - the SLC cache: how large it is, which block the host opens in
 * SLC mode, and when it is to be folded.
 *
 * For media/ itself, placement/ (may the host have a page?), gc/ (folding) and
 * inspect/ (sizes).  docs/slc-cache.md.
 */
#ifndef VSSD_FTL_SLC_CACHE_H
#define VSSD_FTL_SLC_CACHE_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* A block in SLC mode that becomes a normal one when it is erased. */
static inline bool slc_is_dynamic(const Ssd *ssd, uint32_t block)
{
    return nand_block_is_slc(ssd->geo, block) &&
           !nand_block_is_cache(ssd->geo, block);
}

/* Do writes of the stream go through the cache (ftl.slc_streams)? */
static inline bool slc_has_stream(const Ssd *ssd, uint32_t stream)
{
    return ssd->l.slc_handles >> stream % ssd->l.n_handles & 1;
}

/* Blocks of the plane that the dynamic part may have now. */
uint32_t slc_limit(const Ssd *ssd, const Plane *p);

/* Of the plane's blocks, those that the host can still open in SLC mode. */
uint32_t slc_left(const Ssd *ssd, const Plane *p);

/* The host opens a block of the plane for a stream: is it one in SLC mode? Then
 * there is one: of nand.slc_blocks, or another that is free. */
bool slc_opens(const Ssd *ssd, uint32_t plane, uint32_t stream);

/* Is so little of the cache left in the plane that it is to be folded at once?
 */
bool slc_wants_fold(const Ssd *ssd, const Plane *p);

/* The FULL dynamic block of the plane that was filled first, or NONE. */
uint32_t slc_oldest(const Ssd *ssd, const Plane *p);

/* With ftl.slc_when_full=fold: the cache is full, and has blocks. */
bool slc_holds_host(const Ssd *ssd, const Plane *p);

/* Bytes of the whole drive, in SLC mode: what the cache can hold now, the
 * blocks of it that are not free, and the rest. */
typedef struct SlcSize {
    uint64_t size, used, left;
} SlcSize;

SlcSize slc_size(const Ssd *ssd);

#endif
