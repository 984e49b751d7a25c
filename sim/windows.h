/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows.h - one trace in windows that are played side by side.
 *
 * A pass without time (pass.h) goes over the trace.  Where a window begins, the
 * process forks, and the child plays the window on its copy of the drive: first
 * an overlap, which is the end of the window before, so that buffer, queues and
 * GC are busy as they would be; then the window itself, which counts; then more
 * until the last request of the window has ended.
 *
 * Results are sums over the windows, exactly.  That the drive of a window is
 * not quite the one that would be there is an error, at the seams: the second
 * half of each overlap is measured in both of its windows, and compared.
 */
#ifndef VSSD_SIM_WINDOWS_H
#define VSSD_SIM_WINDOWS_H

#include <glib.h>

#include "player.h"
#include "stats.h"

typedef struct WindowsConfig {
    uint64_t requests; /* of a window; 0: there are no windows */
    uint64_t overlap;  /* 2..requests */
    unsigned jobs;     /* windows that are played at a time */
} WindowsConfig;

/* The same requests at the seams, as their windows have measured them. */
typedef struct WindowsSeam {
    Hist end;     /* at the end of the window that counts them, ns */
    Hist overlap; /* in the overlap of the next one */
} WindowsSeam;

typedef struct Windows {
    WindowsConfig cfg;
    uint64_t n;
    uint64_t n_outside;      /* requests that were played and do not count */
    uint64_t pass_cpu_ns;    /* of the pass, reading the trace included */
    uint64_t play_cpu_ns;    /* of all windows */
    uint64_t peak_rss_bytes; /* of the largest of their processes */
    uint64_t host_bytes, nand_bytes; /* written, sums over the windows */
    WindowsSeam seam;
    StatSums *drive; /* members of the drive */
    PlayerResult result;
} Windows;

/* How much more the overlap says, as a share: of the mean, and of quantile ppm.
 * 0 without seams. */
double windows_mean_error(const Windows *w);
double windows_quantile_error(const Windows *w, uint32_t ppm);

/* The share of the pass in the processor time of a run in one piece, which is
 * that of the windows without what they play twice. */
double windows_pass_share(const Windows *w);

/*
 * Play a source of the open loop on a drive with nothing in flight, which is
 * afterwards in no state to be used; player: wrap, progress and stopped are
 * used.  NULL: as for player_run(), or a process of a window has failed;
 * *error says which, and no process is left.
 */
Windows *windows_play(const WindowsConfig *cfg, Array *array,
                      const PlayerConfig *player, const RequestSource *source,
                      GError **error);
void windows_free(Windows *w);

#endif
