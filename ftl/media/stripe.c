/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stripe.c - the order of the planes (ftl.stripe).
 *
 * Knows which of channel, chip, die and plane varies fastest; does not know who
 * goes by that order.
 */
#include "media/life.h"
#include "ssd-config.h"
#include "ssd-internal.h"

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

/* Which plane is at position pos, if the first letter of order varies fastest.
 */
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

void stripe_init(Ssd *ssd)
{
    uint32_t n = ssd->l.n_planes;

    invariant(!ssd->media->stripe_plane);
    ssd->media->stripe_plane = g_new(uint32_t, n);
    ssd->media->stripe_pos = g_new(uint32_t, n);
    for (uint32_t pos = 0; pos < n; pos++) {
        uint32_t plane =
            plane_at(&ssd->cfg->nand, ssd_stripe_name(ssd->cfg->stripe), pos);
        invariant(plane < n);

        ssd->media->stripe_plane[pos] = plane;
        ssd->media->stripe_pos[plane] = pos;
    }
}

void stripe_destroy(Ssd *ssd)
{
    g_free(ssd->media->stripe_plane);
    g_free(ssd->media->stripe_pos);
}
