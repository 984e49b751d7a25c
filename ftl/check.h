/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - how the tables of a drive are checked (ssd_check()). */
#ifndef VSSD_FTL_CHECK_H
#define VSSD_FTL_CHECK_H

#include "options.h"

/* Leave a function that has a GError **error: false, and the fault in one line
 * (a format and its arguments). */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            g_set_error(error, OPT_ERROR, OPT_ERROR_VALUE, __VA_ARGS__);       \
            return false;                                                      \
        }                                                                      \
    } while (0)

#endif
