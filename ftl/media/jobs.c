/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs.c - page programs in flight: their records, and lists of them.
 *
 * Knows records and lists; does not know what a page holds.
 */
#include "media/media.h"
#include "ssd-internal.h"

/* ---- pages -------------------------------------------------------------------- */

uint32_t job_take(Ssd *ssd)
{
    uint32_t j;

    if (ssd->media->free_job == NONE) {
        uint32_t old = ssd->media->n_jobs;

        ssd->media->n_jobs = old ? old * 2 : 64;
        ssd->media->job = g_renew(PageJob, ssd->media->job, ssd->media->n_jobs);
        ssd->media->job_unit =
            g_renew(uint32_t, ssd->media->job_unit,
                    (size_t)ssd->media->n_jobs * ssd->l.units_per_program);
        for (j = old; j < ssd->media->n_jobs; j++) {
            ssd->media->job[j] = (PageJob){.next = ssd->media->free_job};
            ssd->media->free_job = j;
        }
    }
    j = ssd->media->free_job;
    ssd->media->free_job = ssd->media->job[j].next;
    ssd->media->job[j] = (PageJob){.active = true};
    return j;
}

void job_give(Ssd *ssd, uint32_t j)
{
    ssd->media->job[j].active = false;
    ssd->media->job[j].next = ssd->media->free_job;
    ssd->media->free_job = j;
}

void job_fifo_push(Ssd *ssd, JobFifo *f, uint32_t j)
{
    ssd->media->job[j].next = NONE;
    if (f->head == NONE) {
        f->head = j;
    } else {
        ssd->media->job[f->tail].next = j;
    }
    f->tail = j;
}

uint32_t job_fifo_pop(Ssd *ssd, JobFifo *f)
{
    uint32_t j = f->head;

    f->head = ssd->media->job[j].next;
    return j;
}
