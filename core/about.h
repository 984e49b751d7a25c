/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * about.h - which vssd made a result, and on which machine.
 *
 * The commit is the last one that changed the sources of the model and the
 * device; changes that were not committed do not show.  It is "" where git is
 * missing or does not know the sources.
 */
#ifndef VSSD_CORE_ABOUT_H
#define VSSD_CORE_ABOUT_H

#include "json.h"
#include "stats.h"

extern const StatTable about_stats; /* of no context: NULL */

/* Write the members of about_stats into the object that is open. */
void about_write(const void *ctx, JsonWriter *w);

#endif
