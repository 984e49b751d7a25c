/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency-config.h - the options of windows of predictable latency
 * (latency.window, latency.free): their checks; private to ftl/.
 */
#ifndef VSSD_FTL_LATENCY_CONFIG_H
#define VSSD_FTL_LATENCY_CONFIG_H

#include "ssd-config.h"

/* Can the options be combined with windows?  true without latency.window. */
bool latency_check(const SsdConfig *cfg, GError **error);

/* With latency.window: SsdLayout.window_blocks, which has room for the host.
 * Once the layout has its limits of GC. */
bool latency_layout(const SsdConfig *cfg, SsdLayout *l, GError **error);

#endif
