/* SPDX-License-Identifier: GPL-2.0-or-later */
/* planes.h - the state of each component for a plane, in a saved drive. */
#ifndef VSSD_FTL_STATE_PLANES_H
#define VSSD_FTL_STATE_PLANES_H

#include "ssd-internal.h"
#include "state.h"

/* Save or load all planes.  false: there is an error. */
bool state_planes(Ssd *ssd, State *s);

extern const StateStruct state_media_plane, state_journal_plane,
    state_placement_plane, state_gc_plane, state_map_plane;

#endif
