/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssd-sums.h - statistics of a run that was played in parts (core/stats.h). */
#ifndef VSSD_SSD_SUMS_H
#define VSSD_SSD_SUMS_H

#include "json.h"
#include "ssd.h"
#include "stats.h"

/* Append the values of a part, for another process. */
void ssd_stats_gather(const Ssd *ssd, StatSums *into);

/* As ssd_stats_json_drive(), with the values of all parts and the drive of one
 * of them. */
void ssd_stats_json_sums(const Ssd *ssd, const StatSums *sums, JsonWriter *w);

#endif
