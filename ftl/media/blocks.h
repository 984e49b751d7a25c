/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocks.h - what is known of a block, for the components that fill or empty
 * it.
 *
 * Block and Plane are published: those above read their members, by block_at()
 * and plane_at(), and cannot write them.
 */
#ifndef VSSD_FTL_MEDIA_BLOCKS_H
#define VSSD_FTL_MEDIA_BLOCKS_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

static inline const Block *block_at(const Ssd *ssd, uint32_t block)
{
    return &ssd->media->block[block];
}

static inline const Plane *plane_at(const Ssd *ssd, uint32_t plane)
{
    return &ssd->media->plane[plane];
}

static inline BlockState block_state(const Ssd *ssd, uint32_t block)
{
    return (BlockState)ssd->media->block[block].state;
}

/* Units that are current. */
static inline uint32_t block_valid(const Ssd *ssd, uint32_t block)
{
    return ssd->media->block[block].valid;
}

/* A program of it failed: it is to be emptied, then retired. */
static inline bool block_has_failed(const Ssd *ssd, uint32_t block)
{
    return ssd->media->block[block].bad;
}

/* Whose units it takes since it was opened; l.n_streams: those of several. */
static inline uint32_t block_stream(const Ssd *ssd, uint32_t block)
{
    return ssd->media->block[block].stream;
}

/* VICTIM: why it is emptied. */
static inline NandCause block_cause(const Ssd *ssd, uint32_t block)
{
    return (NandCause)ssd->media->block[block].cause;
}

#endif
