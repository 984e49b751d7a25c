/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slc-config.h - the options of the SLC cache: their checks, and the streams
 * that use it; private to ftl/.
 */
#ifndef VSSD_FTL_SLC_CONFIG_H
#define VSSD_FTL_SLC_CONFIG_H

#include "ssd-config.h"

/* Is the text a value of ftl.slc_streams?  false: *error is one line. */
bool slc_streams_ok(const char *text, GError **error);

/* The streams of a reclaim group (of the drive, without FDP) whose writes go
 * through the cache, as bits; those from l->n_handles on are 0. */
uint64_t slc_streams(const SsdConfig *cfg, const SsdLayout *l);

/* Can the options of the cache be combined?  false: *error is one line. */
bool slc_config_check(const SsdConfig *cfg, GError **error);

#endif
