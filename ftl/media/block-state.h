/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block-state.h - which states of a block may follow each other. */
#ifndef VSSD_FTL_BLOCK_STATE_H
#define VSSD_FTL_BLOCK_STATE_H

#include "layers.h"
#if FTL_LAYER != FTL_MEDIA && FTL_LAYER != FTL_ALL
#error "private to ftl/media: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* The one place where the state of a block changes; asserts that it may, and
 * counts blocks in SLC mode. */
void block_set_state(Ssd *ssd, uint32_t block, BlockState state);

#endif
