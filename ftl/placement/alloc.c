/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - what page allocation policies share: the stripe, and how to insist
 * on a plane without ever waiting in vain.
 *
 * Knows the planes that accept a page (block.c keeps them as bits by position
 * in the stripe).  Knows nothing about which plane is best (alloc-*.c decide
 * that).
 */
#include "bitmap.h"
#include "media/media.h"
#include "placement/alloc-policy.h"
#include "placement/placement.h"
#include "ssd-internal.h"
#include "wake.h"

static const char letters[] = "cwdp";

/* The 24 orders of four letters, in alphabetical order of their positions in
 * "cwdp", so that the first is that one. */
const char *ssd_stripe_name(unsigned i)
{
    static const char names[24][5] = {
        "cwdp", "cwpd", "cdwp", "cdpw", "cpwd", "cpdw", "wcdp", "wcpd",
        "wdcp", "wdpc", "wpcd", "wpdc", "dcwp", "dcpw", "dwcp", "dwpc",
        "dpcw", "dpwc", "pcwd", "pcdw", "pwcd", "pwdc", "pdcw", "pdwc",
    };

    return i < G_N_ELEMENTS(names) ? names[i] : NULL;
}

/* Which plane is at position pos, if the first letter of order varies fastest. */
static uint32_t plane_at(const NandConfig *c, const char *order, uint32_t pos)
{
    const uint32_t count[] = {c->channels, c->chips, c->dies, c->planes};
    uint32_t index[G_N_ELEMENTS(count)];

    for (const char *o = order; *o; o++) {
        unsigned level = 0;

        while (letters[level] != *o) {
            level++;
        }
        index[level] = pos % count[level];
        pos /= count[level];
    }
    return ((index[0] * c->chips + index[1]) * c->dies + index[2]) * c->planes +
           index[3];
}

void alloc_init(Ssd *ssd)
{
    uint32_t n = ssd->l.n_planes;

    ssd->placement->accepting = g_new0(uint64_t, bitmap_words(n));
    ssd->media->stripe_plane = g_new(uint32_t, n);
    ssd->media->stripe_pos = g_new(uint32_t, n);
    for (uint32_t pos = 0; pos < n; pos++) {
        uint32_t plane = plane_at(&ssd->cfg->nand,
                                  ssd_stripe_name(ssd->cfg->stripe), pos);

        ssd->media->stripe_plane[pos] = plane;
        ssd->media->stripe_pos[plane] = pos;
    }
    rows_init(ssd);
    ssd->placement->alloc_chosen = NONE;
    ssd->placement->alloc_waits_for = NONE;
    ssd->placement->chip_token = g_new0(uint32_t, ssd->geo->n_channels);
    ssd->placement->die_token = g_new0(uint32_t, ssd->geo->n_dies);
    ssd->placement->plane_token = g_new0(uint32_t, ssd->geo->n_dies);
    prng_seed(&ssd->placement->rng, ssd->cfg->seed, PURPOSE_ALLOC);
}

void alloc_destroy(Ssd *ssd)
{
    g_free(ssd->placement->accepting);
    g_free(ssd->media->stripe_plane);
    g_free(ssd->media->stripe_pos);
    rows_destroy(ssd);
    g_free(ssd->placement->chip_token);
    g_free(ssd->placement->die_token);
    g_free(ssd->placement->plane_token);
}

uint32_t alloc_pick(Ssd *ssd, uint32_t lpn, uint32_t stream)
{
    return ssd->l.row_planes ? rows_pick(ssd, stream)
                             : ssd->placement->policy->pick(ssd, lpn);
}

uint32_t alloc_next(const Ssd *ssd, uint32_t from)
{
    uint32_t n = ssd->l.n_planes;
    uint64_t pos = bitmap_next(ssd->placement->accepting, from, n);

    if (pos == n) {
        pos = bitmap_next(ssd->placement->accepting, 0, n);
    }
    return pos == n ? NONE : (uint32_t)pos;
}

uint32_t alloc_insist(Ssd *ssd, uint32_t plane)
{
    const Plane *p = &ssd->media->plane[plane];
    uint32_t pos;

    ssd->placement->alloc_waits_for = NONE;
    if (p->accepting) {
        return plane;
    }
    if (alloc_will_change(p)) {
        ssd->placement->alloc_waits_for = plane;
        return NONE;
    }
    pos = alloc_next(ssd, ssd->media->stripe_pos[plane]);
    return pos == NONE ? NONE : ssd->media->stripe_plane[pos];
}

void alloc_look_again(Ssd *ssd)
{
    if (!alloc_will_change(
            &ssd->media->plane[ssd->placement->alloc_waits_for])) {
        ssd->placement->alloc_waits_for = NONE;
        ssd_wake(ssd, WORK_BUFFER, 0);
    }
}
