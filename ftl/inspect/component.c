/* SPDX-License-Identifier: GPL-2.0-or-later */
/* component.c - the life of inspect/. */
#include "component.h"
#include "inspect/inspect.h"
#include "lazymem.h"

static bool create(Ssd *ssd, GError **error)
{
    (void)error;
    ssd->inspect.latency = lazy_new(Hist, SSD_N_OPS + 1);
    for (int i = 0; i <= SSD_N_OPS; i++) {
        hist_init_zeroes(&ssd->inspect.latency[i]);
    }
    numbers_reset(ssd);
    return true;
}

static void destroy(Ssd *ssd)
{
    ssd_oplog_close(ssd, NULL);
    ssd_trace_close(ssd, NULL);
    ssd_timeline_close(ssd, NULL);
    lazy_free(ssd->inspect.latency, SSD_N_OPS + 1,
              sizeof(*ssd->inspect.latency));
    g_free(ssd->inspect.busy_base);
}

const Component inspect_component = {
    .create = create,
    .destroy = destroy,
    .reset_stats = inspect_reset,
};
