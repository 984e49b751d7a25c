/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive-state.h - a drive that is saved, loaded, cloned or aged. */
#ifndef VSSD_FTL_DRIVE_STATE_H
#define VSSD_FTL_DRIVE_STATE_H

#include "ssd-internal.h"

/* ---- state.c ----------------------------------------------------------- */

/* The structs whose members are listed to be saved, for a test; NULL past the
 * last. */
const StateStruct *ssd_state_struct(unsigned i);

#endif
