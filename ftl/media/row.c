/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row.c - which planes of a row go on.
 *
 * Open blocks of the planes of a row stay at the same page, so that they can go
 * on by one command.  If they are not (a program has failed, a plane had no
 * room) those go on alone that are behind, until they have caught up.
 *
 * Knows open blocks; does not know who fills them, nor when.
 */
#include "media/row.h"

#include "media/media.h"
#include "media/parity.h"

#include <string.h>

/* Where the open block goes on, with data; one in SLC mode in pages of the word
 * lines that it has filled. */
static uint32_t next_page(const Ssd *ssd, uint32_t plane, uint32_t open)
{
    const Open *o = &ssd->media->plane[plane].open[open];
    uint32_t page = o->block == NONE ? 0 : o->next_page;

    if (o->block != NONE && ssd->geo->slc_mode &&
        nand_block_is_slc(ssd->geo, o->block)) {
        return o->next_page * (ssd->cfg->nand.cell + 1);
    }
    return parity_is_in(ssd, open) ? parity_next_data(ssd, plane, page) : page;
}

uint32_t row_behind(const Ssd *ssd, const uint32_t *plane, uint32_t open)
{
    uint32_t pages = ssd->geo->pages_per_block;
    uint32_t n = ssd->l.row_planes;
    uint32_t page[SSD_MOST_ROW_PLANES];
    uint32_t highest = 0;
    uint32_t lowest = UINT32_MAX;
    uint32_t bits = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool lost = plane_is_lost(ssd, plane[i]);

        page[i] = lost ? UINT32_MAX : next_page(ssd, plane[i], open);
        highest = lost ? highest : MAX(highest, page[i]);
        lowest = MIN(lowest, page[i]);
    }
    if (ssd->l.whole_rows && lowest + pages / 2 < highest) {
        /* One that has filled its block first is ahead, not behind. */
        lowest = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
            page[i] += page[i] < highest - pages / 2 ? pages : 0;
            lowest = MIN(lowest, page[i]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        bits |= (uint32_t)(page[i] == lowest) << i;
    }
    return lowest == UINT32_MAX ? 0 : bits;
}

RowDeal row_deal(const Ssd *ssd, uint32_t rows)
{
    const char *order = ssd_stripe_name(ssd->cfg->stripe);
    uint32_t pages = ssd->l.deal_units / ssd->l.units_per_program;
    uint32_t of_die = ssd->geo->planes_per_die;
    RowDeal d = {
        .planes = pages % of_die == 0 ? of_die : 1,
        .pages = ssd->l.pages_per_program,
        .planes_first = strchr(order, 'p') < strchr(order, 'd'),
    };

    d.dies = rows * pages / d.planes;
    return d;
}
