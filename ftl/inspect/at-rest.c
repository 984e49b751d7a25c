/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * at-rest.c - is anything of the drive under way?
 *
 * Reads every component; is called by those who check or save one.
 */
#include "controller/controller.h"
#include "host/host.h"
#include "journal/journal.h"
#include "journal/saved.h"
#include "media/jobs.h"
#include "media/media-internal.h"
#include "power/power.h"
#include "ssd-internal.h"
#include "ssd-save.h"

static bool jobs_at_rest(const Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        if (job_at(ssd, j)->state != JOB_FREE) {
            return false;
        }
    }
    return true;
}

bool ssd_at_rest(const Ssd *ssd)
{
    return ssd->commands.running == 0 && ssd->host->done.head == NONE &&
           nand_load(ssd->nand) == 0 && controller_at_rest(ssd) &&
           jobs_at_rest(ssd) && !ssd->power->recovery.on &&
           ssd->journal->saved_queue.n_in_flight == 0 &&
           (!saves(ssd) || ssd->journal->saved_queue.held.head == NONE);
}
