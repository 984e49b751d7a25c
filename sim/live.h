/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.h - --live FILE: pictures of the drive while it is played
 * (docs/live-format.md).
 *
 * Whoever plays says that time has passed; the clock of the machine says when a
 * picture is due.
 */
#ifndef VSSD_SIM_LIVE_H
#define VSSD_SIM_LIVE_H

#include <stdbool.h>
#include <glib.h>

#include "ssd-live.h"

typedef struct SimLive {
    Ssd *ssd;
    SsdLiveHost host;
    unsigned left; /* calls until the clock is read again */
} SimLive;

/* A view of the drive, which outlives it.  NULL: *error is one line. */
SimLive *sim_live_new(Ssd *ssd, const char *path, GError **error);

void sim_live_look(SimLive *l); /* of sim_live_passed() */

/* Time has passed in the drive.  l NULL: nobody wants to know. */
static inline void sim_live_passed(SimLive *l)
{
    if (l && l->left-- == 0) {
        sim_live_look(l);
    }
}

/* End the view, if l is not NULL, and free it.  false: not all pictures could
 * be written. */
bool sim_live_end(SimLive *l, GError **error);

#endif
