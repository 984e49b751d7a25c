/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-purge.h - erasing all of the array, for a front end that sanitizes its
 * drive (ftl/gc/purge.c).  Times and errors are as in ssd.h.
 */
#ifndef VSSD_SSD_PURGE_H
#define VSSD_SSD_PURGE_H

#include "ssd.h"

/* Can the drive erase all that holds data?  Not with log-block maps. */
bool ssd_can_purge(const Ssd *ssd);

/*
 * Begin to erase every block that holds something, valid data or not; a purge
 * that is under way begins again.  Valid data moves to other blocks.  Only
 * while ssd_can_purge() and ssd_ready().  It goes on in the background, beside
 * commands, and takes the time of its reads, programs and erases.  To leave
 * nothing of trimmed data in the array, the trims must be durable before.
 *
 * Ends when nothing is left: ask ssd_purge_progress().  ssd_purge_stop() ends
 * it early, as a power cut does; a saved drive has none.
 */
void ssd_purge(Ssd *ssd, uint64_t now_ns);
void ssd_purge_stop(Ssd *ssd);

typedef struct SsdPurge {
    bool on;     /* began, and was not stopped */
    bool failed; /* an erase has failed, its block is retired; or the drive has
                  */
    bool stands; /* nothing is under way in the array that could go on */
    uint32_t total; /* blocks, at the beginning */
    uint32_t left;  /* of them, not yet erased */
} SsdPurge;

SsdPurge ssd_purge_progress(const Ssd *ssd);

/* Estimates of an idle drive: an erase of all blocks; a write of all of the
 * user capacity. */
uint64_t ssd_purge_ns(const Ssd *ssd);
uint64_t ssd_fill_ns(const Ssd *ssd);

/* Does no block of the host hold data? */
bool ssd_is_empty(const Ssd *ssd);

#endif
