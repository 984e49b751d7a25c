/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state-check.h - check of a drive that was loaded from a stream. */
#ifndef VSSD_FTL_STATE_CHECK_H
#define VSSD_FTL_STATE_CHECK_H

#include "ssd-internal.h"

/* Leave a function that has a GError **error: false, and the fault. */
#define CHECK(condition, what)                                                 \
    do {                                                                       \
        if (!(condition)) {                                                    \
            g_set_error(error, STATE_ERROR, 0, "it is damaged: %s", what);     \
            return false;                                                      \
        }                                                                      \
    } while (0)

/*
 * The drive is at rest, every number in it can be used, and ssd_check() holds.
 * To be called before anything else is done with it.  false: *error names the
 * fault in one line.
 */
bool ssd_state_check(const Ssd *ssd, GError **error);

/* saved-check.c: its part for a drive with saved pages. */
bool ssd_saved_check(const Ssd *ssd, GError **error);

#endif
