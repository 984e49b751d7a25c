/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pass.h - requests without time: what they leave on a drive, and no more.
 *
 * Writes go to pages as ssd_age() puts them, in the order of the requests, and
 * GC runs as under a light load.  TRIMs are commands of the drive at rest.
 * Reads and flushes leave nothing.  The buffer is passed over: data that a
 * write cache would have overwritten there goes to NAND.
 */
#ifndef VSSD_SIM_PASS_H
#define VSSD_SIM_PASS_H

#include <glib.h>

#include "player.h"

typedef struct Pass Pass;

/* ssd is at rest, and outlives the pass; without zones. */
Pass *pass_new(Ssd *ssd);
void pass_free(Pass *p);

/* Does it leave anything? */
static inline bool pass_needs(SsdOp op)
{
    return op == SSD_OP_WRITE || op == SSD_OP_TRIM;
}

/* Such a request, in blocks of the drive.  false: *error says what the drive
 * refused. */
bool pass_take(Pass *p, const SsdCmd *cmd, GError **error);

/* Writes that were taken are on the drive when this returns. */
bool pass_end(Pass *p, GError **error);

#endif
