/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs.h - page programs in flight.
 *
 * A job belongs to who has taken it, until it is given back: that component
 * writes its members and the units of its page.
 */
#ifndef VSSD_FTL_JOBS_H
#define VSSD_FTL_JOBS_H

#include "layers.h"
#if FTL_LAYER < FTL_MEDIA
#error "ftl/media is above this component: docs/architecture.md"
#endif

#include "media/media-internal.h"
#include "ssd-internal.h"

/* It has no page; all other members are 0.  May move the records of others. */
uint32_t job_take(Ssd *ssd);
void job_give(Ssd *ssd, uint32_t job);

static inline PageJob *job_at(const Ssd *ssd, uint32_t job)
{
    return &ssd->media->job[job];
}

/* Slots, or source ppus: l.units_per_program of them. */
static inline uint64_t *job_units(const Ssd *ssd, uint32_t job)
{
    return &ssd->media->job_unit[(size_t)job * ssd->l.units_per_program];
}

/* It has the page, or pages from there on. */
void job_place(Ssd *ssd, uint32_t job, uint64_t ppa);
/* It has no page, and waits for one at the end of the list. */
void job_wait(Ssd *ssd, JobFifo *f, uint32_t job);
uint32_t job_fifo_pop(Ssd *ssd, JobFifo *f);

/* The power has gone: there is none. */
void job_forget_all(Ssd *ssd);

#endif
