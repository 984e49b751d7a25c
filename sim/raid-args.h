/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid-args.h - options of a command: how many drives, and as which array.
 */
#ifndef VSSD_SIM_RAID_ARGS_H
#define VSSD_SIM_RAID_ARGS_H

#include <glib.h>

#include "array.h"
#include "command.h"

extern const OptionTable array_options;

/* Drives to make, hot spares included; 0: *error. */
unsigned raid_args_drives(GError **error);

/* The array of these drives, as many as raid_args_drives() said; NULL: *error.
 * The drives outlive it. */
Array *raid_args_array(Ssd *const *drive, GError **error);

/* Help of --raid. */
void raid_args_help(GString *out);

#endif
