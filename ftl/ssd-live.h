/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-live.h - the live view: pictures of a running drive in a file that others
 * read (docs/live-format.md).
 *
 * The drive reads no clock: the front end passes host_ns, CLOCK_MONOTONIC of
 * the host.  A picture changes nothing in the drive, and runs no event.
 */
#ifndef VSSD_SSD_LIVE_H
#define VSSD_SSD_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <glib.h>

#include "ssd.h"
#include "stats.h"

/* What a front end knows beside the drive.  It outlives the view. */
typedef struct SsdLiveHost {
    const char *name;  /* of the drive, for people; or NULL */
    uint32_t n_queues; /* submission queues; 0: one, of all commands */
    /* With n_queues: fill in the commands of each queue that are in the drive.
     */
    void (*queue_depths)(void *opaque, uint16_t *depth);
    /* Optional (NULL): statistics of the front end, and the context of their
     * rows, which is valid until the next call. */
    const StatTable *stats;
    const void *(*stats_now)(void *opaque);
    void *opaque;
} SsdLiveHost;

/*
 * Make the file, and the first picture.  A live file of a drive that has ended
 * is replaced.  false: the file cannot be written, is another drive's, or is
 * no live file; *error is one line that begins with "live " and the path.
 */
bool ssd_live_open(Ssd *ssd, const char *path, const SsdLiveHost *host,
                   uint64_t host_ns, GError **error);

/*
 * Make a picture if one is due and a reader wants it.  Returns the host_ns from
 * which on another call is of use; earlier calls cost a comparison.
 * SSD_TIME_NEVER: there is no view, or its file could not be written.
 */
uint64_t ssd_live_update(Ssd *ssd, uint64_t host_ns);

/*
 * For a process that is a fork of the one that opened the view.  resume: it
 * writes pictures from now on, behind those that another fork has written.
 * release: another fork has ended the view; the file is no longer locked.
 */
void ssd_live_resume(Ssd *ssd);
void ssd_live_release(Ssd *ssd);

/* The last picture, and the end of the view, if there is one; the file stays.
 * false: not all pictures could be written.  ssd_destroy() ends the view
 * without a picture. */
bool ssd_live_close(Ssd *ssd, uint64_t host_ns, GError **error);

#endif
