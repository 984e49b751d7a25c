/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace.h - a file that is replaced wholly, or not at all. */
#ifndef VSSD_CORE_REPLACE_H
#define VSSD_CORE_REPLACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the new contents.  false: *error names the fault of "it". */
typedef bool ReplaceWriter(void *opaque, FILE *out, GError **error);

/*
 * Write a new file beside `path`, sync it, and give it the name; a crash leaves
 * the old file or the new one.  The folder may be one that other users can
 * write: the new file's name cannot be guessed, and links or pipes of other
 * users are refused.  A link stays, and its target is replaced.  The mode of
 * the old file is kept.  A pipe or a device is written as it is.  false: *error
 * is one line that names the path.
 */
bool replace_file(const char *path, ReplaceWriter *writer, void *opaque,
                  GError **error);
bool replace_text(const char *path, const GString *text, GError **error);

#endif
