/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mirror.c - two copies of each translation page, with superblock.parity.
 *
 * A translation page stays in one plane, and is rewritten when an entry of it
 * has to go.  Pages in several dies are rewritten at different times, so a
 * stripe of them would have many late pages.  Instead each has a second copy,
 * in the next die of the stripes of its plane: a stripe of two, whose parity is
 * the data itself.  A copy that cannot be read is rebuilt from the other one,
 * by the same reads as any page of a stripe (rebuild.c).
 *
 * Knows where copies are; does not know when they are written (journal/).
 */
#include "media/mirror.h"

#include "media/media.h"
#include "media/spare.h"
#include "media/superblock.h"
#include "ssd-internal.h"

#define MOST_OTHERS SSD_MOST_ROW_PLANES

uint32_t mirror_write(const Ssd *ssd, uint32_t page)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state != JOB_FREE && job->meta && job->meta_page == page) {
            return j;
        }
    }
    return NONE;
}

uint32_t mirror_plane(const Ssd *ssd, uint32_t plane)
{
    const uint32_t *planes = superblock_planes(ssd, superblock_set(ssd, plane));
    uint32_t at = ssd->media->superblocks.place[plane] % ssd->l.set_planes;

    invariant(mirror_is_on(ssd));
    return planes[(at + ssd->geo->planes_per_die) % ssd->l.set_planes];
}

/* Of a unit of a translation page, that of the other copy. */
static uint64_t other_lpn(const Ssd *ssd, uint64_t lpn)
{
    uint64_t unit = lpn - ssd->l.user_units;
    uint32_t n = ssd->l.units_per_program;

    return ssd->l.user_units +
           (uint64_t)mirror_of(ssd, (uint32_t)(unit / n)) * n + unit % n;
}

static bool add(uint64_t *other, uint32_t *n, uint64_t page)
{
    for (uint32_t i = 0; i < *n; i++) {
        if (other[i] == page) {
            return true;
        }
    }
    if (*n == MOST_OTHERS) {
        return false;
    }
    other[(*n)++] = page;
    return true;
}

bool mirror_others(const Ssd *ssd, uint64_t page, uint64_t *other, uint32_t *n)
{
    uint64_t first = page_ppu(ssd, page);

    invariant(mirror_is_on(ssd));
    *n = 0;
    for (uint32_t k = 0; k < ssd->l.units_per_page; k++) {
        uint64_t lpn, entry;

        if (!unit_is_valid(ssd, first + k)) {
            continue;
        }
        if (!unit_is_meta(ssd, first + k)) {
            return false;
        }
        lpn = other_lpn(ssd, spare_lpn(ssd, first + k));
        if (mirror_write(ssd, (uint32_t)((lpn - ssd->l.user_units) /
                                         ssd->l.units_per_program)) != NONE) {
            continue; /* the controller still has it */
        }
        entry = l2p_get(&ssd->l2p, lpn);
        if (!entry || !add(other, n, ppu_page(ssd, entry - 1))) {
            return false;
        }
    }
    return true;
}
