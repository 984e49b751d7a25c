/* SPDX-License-Identifier: GPL-2.0-or-later */
/* aside.h - open blocks of a plane that are set aside beside the host's, so
 * that an allocation policy may draw one of them (block.c). */
#ifndef VSSD_FTL_ASIDE_H
#define VSSD_FTL_ASIDE_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "ssd-internal.h"

/* With l.n_aside, of a drive without streams: the first of the open blocks set
 * aside, an open_index(). */
static inline uint32_t aside_first(const Ssd *ssd)
{
    return ssd->l.n_open - ssd->l.n_aside;
}

/* How many blocks of the plane the next page of the host may go to: open ones,
 * and free ones as long as one more may be open. */
uint32_t aside_choices(const Ssd *ssd, uint32_t plane);

/* Make that one of them (0..aside_choices()-1) the host's open block; a free
 * one is opened by block_take_page(). */
void aside_choose(Ssd *ssd, uint32_t plane, uint32_t choice);

#endif
