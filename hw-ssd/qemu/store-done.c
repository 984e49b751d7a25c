/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store-done.c - requests of the store that have ended, handed to the
 * controller.
 */
#include "qemu/osdep.h"

#include "vssd.h"

void vssd_job_finish(VssdDev *s, VssdJob *job)
{
    NvmeStoreReq *req = job->req;
    int ret = job->ret;

    g_assert(vssd_has_lock(s));
    if (ret < 0 && !req->lazy && req->op != NVME_STORE_READ) {
        s->store.refused_by = job->blk;
        s->store.refused_errno = -ret;
    }
    g_free(job);
    nvme_store_done(s->ctrl, vssd_now(s), req, ret);
}

bool vssd_store_reap(VssdDev *s)
{
    GSList *jobs = g_slist_reverse(s->store.done_jobs);

    g_assert(vssd_has_lock(s));
    s->store.done_jobs = NULL;
    for (GSList *l = jobs; l; l = l->next) {
        vssd_job_finish(s, l->data);
    }
    g_slist_free(jobs);
    return jobs != NULL;
}
