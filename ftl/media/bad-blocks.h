/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bad-blocks.h - capacity that bad blocks take from a plane (bad-blocks.c).
 *
 * For block.c, which finds the bad blocks of a new drive.
 */
#ifndef VSSD_FTL_MEDIA_BAD_BLOCKS_H
#define VSSD_FTL_MEDIA_BAD_BLOCKS_H

#include "layers.h"
#if FTL_LAYER != FTL_MEDIA && FTL_LAYER != FTL_ALL
#error "private to ftl/media: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* How much room a plane has, with the blocks that are left. */
void plane_size(Ssd *ssd, uint32_t plane);

/* One block less for the capacity of its plane. */
void block_count_lost(Ssd *ssd, uint32_t block);

#endif
