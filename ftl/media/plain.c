/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.c - valid units of the space behind the zones (zones.conventional), by
 * plane: set-up, and counting all of them again.
 *
 * A saved drive has no such numbers: they follow from its spare areas.
 */
#include "media/plain.h"

#include "bitmap.h"
#include "check.h"

void plain_init(Ssd *ssd)
{
    if (ssd->l.plain_units > 0) {
        ssd->media->plain_valid = g_new0(uint64_t, ssd->l.n_planes);
    }
}

void plain_destroy(Ssd *ssd)
{
    g_free(ssd->media->plain_valid);
}

void plain_forget(Ssd *ssd, uint32_t plane)
{
    if (ssd->media->plain_valid) {
        ssd->media->plain_valid[plane] = 0;
    }
}

static void count_plain(const Ssd *ssd, uint64_t *n)
{
    uint64_t end = ssd->l.raw_units;

    for (uint64_t ppu = bitmap_next(ssd->media->valid, 0, end); ppu < end;
         ppu = bitmap_next(ssd->media->valid, ppu + 1, end)) {
        n[block_plane(ssd, ppu_block(ssd, ppu))] +=
            spare_lpn(ssd, ppu) >= ssd->l.plain_first;
    }
}

void plain_loaded(Ssd *ssd)
{
    if (ssd->media->plain_valid) {
        memset(ssd->media->plain_valid, 0,
               ssd->l.n_planes * sizeof(*ssd->media->plain_valid));
        count_plain(ssd, ssd->media->plain_valid);
    }
}

bool plain_check(const Ssd *ssd, GError **error)
{
    g_autofree uint64_t *n = NULL;

    if (!ssd->media->plain_valid) {
        return true;
    }
    n = g_new0(uint64_t, ssd->l.n_planes);
    count_plain(ssd, n);
    for (uint32_t i = 0; i < ssd->l.n_planes; i++) {
        CHECK(n[i] == ssd->media->plain_valid[i],
              "plane %u: %" G_GUINT64_FORMAT " valid units behind the zones, "
              "counted %" G_GUINT64_FORMAT,
              i, n[i], ssd->media->plain_valid[i]);
    }
    return true;
}
