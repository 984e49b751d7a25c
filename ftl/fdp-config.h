/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdp-config.h - options of Flexible Data Placement; private to ftl/. */
#ifndef VSSD_FDP_CONFIG_H
#define VSSD_FDP_CONFIG_H

#include "ssd-config.h"

/* Are these values of fdp.isolation, and of fdp.handles of a drive with so many
 * handles?  NULL and empty: yes. */
bool fdp_isolation_ok(const char *text, GError **error);
bool fdp_handles_ok(const char *text, uint32_t ruhs, GError **error);

/* Do the options fit together?  false: *error names one, and its range. */
bool fdp_check(const SsdConfig *cfg, GError **error);

/* Set SsdLayout.n_stream_classes, class_of and of_class; n_streams, n_groups
 * and n_handles are known. */
void fdp_classes(const SsdConfig *cfg, SsdLayout *l);

/* Streams beside stream 0 that the drive fills by itself, and the host names
 * none. */
uint32_t fdp_own_streams(const SsdConfig *cfg);

/* The handles that are initially isolated, as bits. */
uint64_t fdp_initial(const SsdConfig *cfg);

/* The handles of the i-th namespace of a new drive; how many.  handle has room
 * for SSD_MOST_STREAMS; the options were checked. */
uint32_t fdp_handles(const SsdConfig *cfg, uint32_t i, uint16_t *handle);

/* Bytes of a reclaim unit. */
uint64_t fdp_ru_bytes(const SsdConfig *cfg, const SsdLayout *l);

#endif
