/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control.h - --control: others pause a run, let it go step by step or at a
 * speed, go back to a mark, and change options (docs/live-format.md).
 */
#ifndef VSSD_SIM_CONTROL_H
#define VSSD_SIM_CONTROL_H

#include <stdbool.h>
#include <glib.h>

#include "live.h"

typedef struct SimControl SimControl;

/*
 * Of the drive of a live view, by the socket path, until sim_control_end().
 * no_marks: the option with which a run cannot go back, or NULL.  NULL: *error
 * is one line that begins with the path.
 */
SimControl *sim_control_new(SimLive *live, const char *path,
                            const char *no_marks, GError **error);

/* c may be NULL. */
void sim_control_end(SimControl *c);

#endif
