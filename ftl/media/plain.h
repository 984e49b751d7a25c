/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.h - with zones.conventional: how many valid units of the space behind
 * the zones each plane has (Media.plain_valid); private to ftl/.
 *
 * Zones fill their blocks exactly, in whatever plane; of the other space a
 * plane gets no more than its share (plane_has_share()).
 */
#ifndef VSSD_FTL_MEDIA_PLAIN_H
#define VSSD_FTL_MEDIA_PLAIN_H

#include "layers.h"

#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "media/spare.h"
#include "ssd-internal.h"

/* At set-up; at the end.  Nothing without zones.conventional. */
void plain_init(Ssd *ssd);
void plain_destroy(Ssd *ssd);

/* Count again: the drive has been loaded. */
void plain_loaded(Ssd *ssd);

/* The power has gone: recovery counts each unit again. */
void plain_forget(Ssd *ssd, uint32_t plane);

bool plain_check(const Ssd *ssd, GError **error);

/* The unit, of which the spare area tells the address, becomes valid (1) or
 * invalid (-1). */
static inline void plain_change(Ssd *ssd, uint32_t plane, uint64_t ppu, int by)
{
    uint64_t *n = ssd->media->plain_valid;

    if (G_UNLIKELY(n) && spare_lpn(ssd, ppu) >= ssd->l.plain_first) {
        n[plane] += (uint64_t)by;
    }
}

#endif
