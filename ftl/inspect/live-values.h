/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live-values.h - the counters and gauges of a picture. */
#ifndef VSSD_FTL_INSPECT_LIVE_VALUES_H
#define VSSD_FTL_INSPECT_LIVE_VALUES_H

#include "inspect/inspect.h"
#include "ssd-live.h"

/* Members of the statistics, as numbers. */
typedef struct LiveValues LiveValues;

/* counters: else gauges.  host outlives them. */
LiveValues *live_values_new(const Ssd *ssd, const SsdLiveHost *host,
                            bool counters);
void live_values_free(LiveValues *v);
uint32_t live_values_n(const LiveValues *v);
const char *live_values_path(const LiveValues *v, uint32_t i);

/* Their values; now is drive_stats_init_brief() of the drive. */
void live_values_u64(const LiveValues *v, const DriveStats *now, uint64_t *to);
void live_values_f64(const LiveValues *v, const DriveStats *now, double *to);

#endif
