/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drive-state.h - a drive that is saved, loaded, cloned or aged. */
#ifndef VSSD_FTL_DRIVE_STATE_H
#define VSSD_FTL_DRIVE_STATE_H

#include "ssd-internal.h"

/* ---- age.c ------------------------------------------------------------- */

/* true: no time passes, and the operation will end by itself. */
bool age_takes(Ssd *ssd, const NandOp *op);
void age_destroy(Ssd *ssd);

/* Is a drive being aged: do operations end without time? */
bool age_is_on(const Ssd *ssd);

/* ---- state.c ----------------------------------------------------------- */

/* The structs whose members are listed to be saved, for a test; NULL past the
 * last. */
const StateStruct *ssd_state_struct(unsigned i);

#endif
