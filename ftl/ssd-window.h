/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssd-window.h - windows of predictable latency, for a front end that has them
 * (ftl/gc/hold.c, docs/latency.md).  Times and errors are as in ssd.h.
 *
 * Source of the terms: NVM Express Base 2.0, Predictable Latency Mode: in a
 * deterministic window the drive does no work of its own choice; between two
 * of them, in a non-deterministic one, it prepares the next.
 */
#ifndef VSSD_SSD_WINDOW_H
#define VSSD_SSD_WINDOW_H

#include "ssd.h"

typedef enum SsdWindow {
    SSD_WINDOW_NONE,    /* no windows: the drive works as it likes */
    SSD_WINDOW_HOLD,    /* it holds back GC, wear levelling, refresh, folding of
                           the SLC cache, periodic and early flushes, and
                           checkpoints */
    SSD_WINDOW_PREPARE, /* it does these, and GC beside commands of the host
                           until latency.free of each plane's blocks are free */
    SSD_N_WINDOWS,
} SsdWindow;

/* Why the drive has ended SSD_WINDOW_HOLD by itself. */
typedef enum SsdWindowEnd {
    SSD_WINDOW_END_NONE,   /* it has not, since the last ssd_set_window() */
    SSD_WINDOW_END_ROOM,   /* a plane has no free block left for the host */
    SSD_WINDOW_END_URGENT, /* work that cannot wait: a bad block, a purge, room
                              for the drive's own pages */
    SSD_N_WINDOW_ENDS,
} SsdWindowEnd;

/* What the configuration promises; all 0: latency.window=0. */
typedef struct SsdWindowPlan {
    uint64_t window_ns;        /* latency.window */
    uint64_t read_bytes;       /* that the array can read in it */
    uint64_t write_bytes;      /* room of it, at least */
    uint64_t prepare_ns;       /* for all of that room; an estimate */
    uint64_t prepare_least_ns; /* for a block of each plane */
} SsdWindowPlan;

void ssd_window_plan(const Ssd *ssd, SsdWindowPlan *plan);

/*
 * Begin a window; needs latency.window, unless it is SSD_WINDOW_NONE.  Copies
 * under way end, with the erase of a block that they leave empty; a victim
 * that is not empty stays as it is.  A drive that has to end
 * SSD_WINDOW_HOLD goes on with SSD_WINDOW_PREPARE.  A power cut ends windows.
 */
void ssd_set_window(Ssd *ssd, uint64_t now_ns, SsdWindow window);

typedef struct SsdWindowState {
    SsdWindow now;
    SsdWindowEnd end;
    uint64_t room_bytes; /* that the host can program before SSD_WINDOW_HOLD
                            ends for want of room, at least */
    uint64_t read_bytes; /* of the host, ever; a reset of statistics sets it
                            to 0 */
} SsdWindowState;

void ssd_window_state(const Ssd *ssd, SsdWindowState *state);

#endif
