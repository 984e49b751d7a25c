/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of placement/. */
#include "component.h"
#include "media/media.h"
#include "placement/alloc-policy.h"
#include "placement/life.h"
#include "placement/streams.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    alloc_policy_init(ssd, alloc_policies[ssd->cfg->alloc]);
    stream_init(ssd);
    hot_init(ssd);
    outside_streams_init(ssd); /* it may choose streams, as hot units do */
    alloc_init(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    alloc_destroy(ssd);
    hot_destroy(ssd);
    stream_destroy(ssd);
}

/* Pages on their way will not be programmed, blocks not be erased. */
static void power_dropped(Ssd *ssd)
{
    for (uint32_t j = 0; j < ssd->media->n_jobs; j++) {
        const PageJob *job = &ssd->media->job[j];

        if (job->state == JOB_PLACED && !job->meta && !job->parity) {
            stream_uncount_page(ssd, j);
        }
    }
    stream_uncount_erases(ssd);
}

static void power_settled(Ssd *ssd)
{
    if (saves(ssd)) {
        hot_forget(ssd);
        outside_streams_forget(ssd);
    }
}

const Component placement_component = {
    .create = create,
    .destroy = destroy,
    .power_dropped = power_dropped,
    .power_settled = power_settled,
    .reset_stats = stream_reset_stats,
};
