/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outside-config.h - options whose value is a policy from outside: "so:FILE",
 * or "call:NAME" for one of the process (ssd_config_set_policy()).
 */
#ifndef VSSD_FTL_OUTSIDE_CONFIG_H
#define VSSD_FTL_OUTSIDE_CONFIG_H

#include "options.h"
#include "ssd-config.h"

/* Set the option to the policy of a file, if the value is one of a file; else
 * the option has no policy from outside any more.  *taken: nothing is left to
 * do. */
bool outside_set(SsdConfig *cfg, const OptDesc *d, const char *value,
                 bool *taken, GError **error);

/* The value of an option of ssd_options as a user types it (g_free). */
char *outside_get(const SsdConfig *cfg, const OptDesc *d);

/* Streams that a policy of ftl.placement adds. */
uint32_t outside_streams(const SsdConfig *cfg);

/* A copied configuration has the policies, too; one that ends has not. */
void outside_config_copied(SsdConfig *cfg);
void outside_config_clear(SsdConfig *cfg);

#endif
