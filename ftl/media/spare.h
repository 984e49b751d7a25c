/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spare.h - spare areas: the data beside each unit in NAND.
 *
 * A spare area names the unit (lpn) with its version and stream.  It can say
 * that the unit's data was lost before it came here (poison), or that nothing
 * is here (SPARE_NONE: padding, or a torn page).
 */
#ifndef VSSD_FTL_SPARE_H
#define VSSD_FTL_SPARE_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

void spare_init(Ssd *ssd);
void spare_destroy(Ssd *ssd);

/* They have first values from now on (preloaded.h); nothing was written. */
void spare_computed(Ssd *ssd);

/* Only of a unit that holds something. */
static inline uint64_t spare_lpn(const Ssd *ssd, uint64_t ppu)
{
    const NumTable *t = &ssd->media->spare_lpn;

    return (numtable_get(t, ppu) & t->mask) - 1;
}

static inline bool spare_poisoned(const Ssd *ssd, uint64_t ppu)
{
    return (int64_t)numtable_get(&ssd->media->spare_lpn, ppu) < 0;
}

static inline uint32_t unit_stream(const Ssd *ssd, uint64_t ppu)
{
    return ssd->media->spare_stream ? ssd->media->spare_stream[ppu] : 0;
}

/* With a host: Media.spare_version is there. */
static inline uint64_t unit_version(const Ssd *ssd, uint64_t ppu)
{
    return ssd->media->spare_version[ppu];
}

/* With ftl.recovery: when the page was programmed, as a count; 0: it is torn,
 * or was never written. */
static inline uint64_t page_seq(const Ssd *ssd, uint64_t page)
{
    return ssd->media->spare_seq[page] & SEQ_MASK;
}

/* Is the unit, which holds something, the drive's own? */
static inline bool unit_is_meta(const Ssd *ssd, uint64_t ppu)
{
    return spare_lpn(ssd, ppu) >= ssd->l.user_units;
}

/* The unit holds lpn from now on.  version: nothing is kept of it without a
 * host; stream: nor of it if there is one. */
void spare_write(Ssd *ssd, uint64_t ppu, uint64_t lpn, uint64_t version,
                 uint32_t stream);

/* The same of n units, when nothing is known of their versions and streams:
 * they stay. */
void spare_write_lpns(Ssd *ssd, uint64_t ppu, uint64_t lpn, uint32_t n);

/* So many units from first on hold nothing. */
void spare_blank(Ssd *ssd, uint64_t first, uint32_t n);

/* The unit's data is lost; its name stays. */
void spare_poison(Ssd *ssd, uint64_t ppu);

/* A unit is copied. */
void spare_copy(Ssd *ssd, uint64_t from, uint64_t to);

/* A program of these pages was torn: their spare areas do not say when it was.
 */
void spare_tear(Ssd *ssd, uint64_t page, uint32_t n);

/* The block was being erased: its data can no longer be read. */
void spare_wipe_block(Ssd *ssd, uint32_t block);

/* ---- with ftl.recovery: spare areas say when their page was programmed -- */

/* The next number of a program. */
uint64_t seq_next(Ssd *ssd);

/* Programs up to that number have been found, or (0) none. */
void seq_found(Ssd *ssd, uint64_t seq);
void seq_forget(Ssd *ssd);

/* A program of n pages, of the block that is open for open_index(). */
void spare_stamp_seq(Ssd *ssd, uint64_t page, uint32_t n, uint64_t open);

#endif
