/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - the live view of a drive, for the files of inspect/, and its hook
 * for those who set the clock back.
 */
#ifndef VSSD_FTL_INSPECT_LIVE_H
#define VSSD_FTL_INSPECT_LIVE_H

#include "inspect/live-slow.h"
#include "ssd-live.h"

typedef struct Live Live;
typedef struct LivePicture LivePicture;

/* ---- live.c: reports of ftl/ --------------------------------------------- */

/* All instants become earlier (ssd_rebase()). */
void live_rebase(Live *l, uint64_t by_ps);

/* The drive is destroyed: end the view without a picture. */
void live_drop(Live *l);

/* ---- live-picture.c: for live.c ------------------------------------------ */

/* The sections that this drive has.  host outlives it. */
LivePicture *live_picture_new(const Ssd *ssd, const SsdLiveHost *host);
void live_picture_free(LivePicture *p);

void live_picture_layout(const LivePicture *p, GString *out);

/* Bytes of a picture, and the picture that the last call made. */
size_t live_picture_bytes(const LivePicture *p);
const void *live_picture_at(const LivePicture *p);

/* sim_ns: on the clock as it was never set back.  whole: look at all cells. */
void live_picture_make(LivePicture *p, LiveSlow *slow, uint64_t sim_ns,
                       uint64_t host_ns, bool whole);

#endif
