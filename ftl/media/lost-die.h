/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lost-die.h - a die that has failed, with superblock.parity (lost-die.c). */
#ifndef VSSD_FTL_LOST_DIE_H
#define VSSD_FTL_LOST_DIE_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* Has the die of the plane failed? */
static inline bool plane_is_lost(const Ssd *ssd, uint32_t plane)
{
    return ssd->media->lost_dies.n > 0 &&
           ssd->media->lost_dies.lost[plane / ssd->geo->planes_per_die];
}

/* Units of the user capacity that are the plane's, at most. */
static inline uint64_t plane_share(const Ssd *ssd)
{
    return ssd->l.share_units + ssd->media->lost_dies.more_share;
}

void lost_dies_init(Ssd *ssd);
void lost_dies_destroy(Ssd *ssd);

/* Programs and erases that fail one after the other: then the die is lost. */
#define LOST_DIE_FAILURES 4

/* A program or erase of the plane has failed, or worked.  true: its die is lost
 * now. */
bool lost_die_note(Ssd *ssd, uint32_t plane, bool failed);

/* The die of the plane is lost: its blocks are bad and are to be emptied into
 * other dies.  false: these have no room for its data. */
bool lost_die_begin(Ssd *ssd, uint32_t plane);

/* A block of a lost die is empty: is there no data left in the die? */
void lost_die_emptied(Ssd *ssd, uint32_t plane);

#endif
