/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - a fio job file as keywords of a workload.
 *
 * Takes one job of the file, with the options of [global].  Options that say
 * how fio does its I/O (ioengine, direct, filename...) are passed over, unknown
 * ones that change the requests are refused.
 */
#ifndef VSSD_SIM_JOB_H
#define VSSD_SIM_JOB_H

#include <glib.h>

/* section NULL: the only one.  NULL: *error names file, line and reason. */
char *job_keywords(const char *path, const char *section, GError **error);

#endif
