/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signature.h - the first bytes of a file or stream: vssd, and its kind.
 *
 * Before version 1.0 they were VSSD.  Nothing of that time is read.
 */
#ifndef VSSD_CORE_SIGNATURE_H
#define VSSD_CORE_SIGNATURE_H

#include <stdbool.h>
#include <string.h>

/* What an error says of such a file. */
#define SIGNATURE_EARLY "of a version of vssd before 1.0: make it again"

static inline bool signature_is_early(const void *first)
{
    return memcmp(first, "VSSD", 4) == 0;
}

#endif
