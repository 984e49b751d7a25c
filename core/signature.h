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

/* Is it that signature, or the one that its kind had before? */
static inline bool signature_is(const void *first, const char *signature)
{
    return (signature_is_early(first) || memcmp(first, signature, 4) == 0) &&
           memcmp((const char *)first + 4, signature + 4, 4) == 0;
}

#endif
