/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parity-pump.c - when the parity of a stripe is programmed
 * (superblock.parity).
 *
 * As soon as all planes of the stripe have been given their page, which for a
 * whole row is at once; by one multi-plane command where planes of the
 * die are at the same page.  If a plane needs its next page for data before
 * that, parity of the pages that there are goes out first (block_take_page()),
 * so no plane ever waits for another.
 *
 * Knows open blocks; which pages are a stripe is parity.c's business.
 */
#include "media/parity-pump.h"

#include "media/jobs.h"
#include "media/media.h"
#include "media/parity.h"
#include "ssd-internal.h"
#include "wake.h"

#define MOST_PLANES 32

/* Is the plane's next page of that open block the parity of a stripe that is
 * complete? */
static bool is_due(Ssd *ssd, uint32_t plane, uint32_t open)
{
    const Open *o = &ssd->media->plane[plane].open[open];
    bool opened = o->block == NONE;
    bool due;

    if (plane_is_lost(ssd, plane)) {
        return false;
    }
    if (o->block == NONE) {
        if (parity_plane(ssd, plane, 0) != plane ||
            !parity_is_complete(ssd, plane, open, 0)) {
            return false;
        }
        block_open_for_parity(ssd, plane, open);
    }
    due = o->block != NONE && parity_is_of(ssd, o->block) &&
          parity_plane(ssd, plane, o->next_page) == plane &&
          parity_is_complete(ssd, plane, open, o->next_page);
    if (opened && o->block != NONE && !due) {
        ssd_wake(ssd, WORK_GC, plane); /* no end of a program will */
    }
    return due;
}

/* The planes of the die, as a list, that have parity to program at the same
 * place as the first of them. */
static uint32_t due_planes(Ssd *ssd, uint32_t plane, uint32_t open,
                           uint32_t *due)
{
    uint32_t planes = ssd->geo->planes_per_die;
    uint32_t first = plane - plane % planes;
    uint32_t page = 0;
    uint32_t n = 0;

    invariant(planes <= MOST_PLANES);
    for (uint32_t i = first; i < first + planes; i++) {
        const Open *o = &ssd->media->plane[i].open[open];

        if (is_due(ssd, i, open) && (n == 0 || o->next_page == page)) {
            page = o->next_page;
            due[n++] = i;
        }
    }
    return n;
}

void parity_pump(Ssd *ssd, uint32_t plane)
{
    uint32_t n_open = parity_n_open(ssd);
    uint32_t due[MOST_PLANES];
    uint32_t n;

    invariant(plane < ssd->l.n_planes && parity_is_on(ssd));
    for (uint32_t open = 0; open < n_open; open++) {
        while ((n = due_planes(ssd, plane, open, due)) > 0) {
            for (uint32_t i = 0; i < n; i++) {
                block_send_parity(ssd, due[i], open,
                                  i + 1 < n && ssd->cfg->nand.multi_plane);
            }
        }
    }
}

void parity_done(Ssd *ssd, uint32_t job)
{
    const PageJob *j = &ssd->media->job[job];
    uint32_t plane = j->plane;

    invariant(j->parity && j->state == JOB_PLACED);
    block_page_done(ssd, page_block(ssd, j->ppa));
    job_give(ssd, job);
    ssd_wake(ssd, WORK_GC, plane); /* it may have waited for the block */
}

void parity_failed(Ssd *ssd, uint32_t job)
{
    invariant(ssd->media->job[job].parity && ssd->media->may_fail);
    job_give(ssd, job);
}

bool parity_in_flight(const Ssd *ssd, uint32_t plane)
{
    for (uint32_t j = 0; parity_is_on(ssd) && j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state == JOB_PLACED && job->parity && job->plane == plane) {
            return true;
        }
    }
    return false;
}
