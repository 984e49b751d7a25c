/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup.h - what front ends without an NVMe controller do with a configuration
 * before there is a drive, and where all programs find profiles.
 */
#ifndef VSSD_LIB_SETUP_H
#define VSSD_LIB_SETUP_H

#include "ssd.h"

/*
 * The path of a profile (g_free): the name as given if it has a '/' or such a
 * file exists, else NAME.ini in the first of the n folders that has it; NAME
 * may end in .ini itself.  Folders may be NULL.  In none of them: the name as
 * given.
 */
char *setup_find_profile(const char *name, const char *const *folders,
                         size_t n);

/*
 * The same for a program: in the folder "profiles" beside it, which a copy of
 * it brings along, else in that of the installation.
 */
char *setup_find_program_profile(const char *name, const char *installed);

/* Is no line of the file of the option faults= a rule about commands,
 * interrupts or a controller?  user: the program or library that has none, for
 * *error. */
bool setup_check_faults(const SsdConfig *cfg, const char *user, GError **error);

#endif
