/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs.c - page programs in flight: their records, and lists of them.
 *
 * Knows records and lists; does not know the contents of pages.
 */
#include <string.h>

#include "media/jobs.h"
#include "pool.h"
#include "ssd-internal.h"

/* ---- pages --------------------------------------------------------------- */

static IlistLinks chain(const Media *m)
{
    return ILIST_CHAIN(m->job, PageJob, next);
}

static void set_state(PageJob *job, JobState state)
{
#define TO(s) (1U << JOB_##s)
    static const uint8_t legal[N_JOB_STATES] = {
        [JOB_FREE] = TO(TAKEN),
        [JOB_TAKEN] = TO(PLACED) | TO(WAITS),
        [JOB_PLACED] = TO(WAITS) | TO(FREE),
        [JOB_WAITS] = TO(PLACED) | TO(FREE),
    };
#undef TO

    invariant(job->state < N_JOB_STATES && legal[job->state] >> state & 1);
    job->state = (uint8_t)state;
}

/* All of both tables is in a saved state, so no part of them is left as the
 * heap gives it. */
static void grow(Ssd *ssd)
{
    Media *m = ssd->media;
    size_t per_job = ssd->l.units_per_program;
    size_t old = m->n_jobs * per_job;
    size_t all;

    m->job = pool_grow(m->job, chain(m), &m->free_job, &m->n_jobs, 64);
    all = m->n_jobs * per_job;
    m->job_unit = g_renew(uint64_t, m->job_unit, all);
    memset(m->job_unit + old, 0, (all - old) * sizeof(*m->job_unit));
}

uint32_t job_take(Ssd *ssd)
{
    Media *m = ssd->media;
    uint32_t j;

    if (m->free_job == NONE) {
        grow(ssd);
    }
    j = pool_take(chain(m), &m->free_job);
    m->job[j] = (PageJob){.ppa = NO_PAGE};
    set_state(&m->job[j], JOB_TAKEN);
    return j;
}

void job_give(Ssd *ssd, uint32_t j)
{
    invariant(j < ssd->media->n_jobs);
    set_state(&ssd->media->job[j], JOB_FREE);
    pool_give(chain(ssd->media), &ssd->media->free_job, j);
}

void job_forget_all(Ssd *ssd)
{
    g_clear_pointer(&ssd->media->job, g_free);
    g_clear_pointer(&ssd->media->job_unit, g_free);
    ssd->media->free_job = NONE;
    ssd->media->n_jobs = 0;
}

void job_place(Ssd *ssd, uint32_t j, uint64_t ppa)
{
    invariant(j < ssd->media->n_jobs && ppa < ssd->geo->n_pages);
    set_state(&ssd->media->job[j], JOB_PLACED);
    ssd->media->job[j].ppa = ppa;
}

void job_wait(Ssd *ssd, JobFifo *f, uint32_t j)
{
    invariant(j < ssd->media->n_jobs);
    set_state(&ssd->media->job[j], JOB_WAITS);
    ssd->media->job[j].ppa = NO_PAGE;
    ififo_push(chain(ssd->media), f, j);
}

uint32_t job_fifo_pop(Ssd *ssd, JobFifo *f)
{
    return ififo_pop(chain(ssd->media), f);
}
