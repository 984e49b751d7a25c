/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin.h - a symbol of a shared object that is loaded while the program runs.
 */
#ifndef VSSD_CORE_PLUGIN_H
#define VSSD_CORE_PLUGIN_H

#include <glib.h>

typedef struct Plugin Plugin;

#define PLUGIN_ERROR plugin_error_quark()
GQuark plugin_error_quark(void);

/* Load the file; *symbol is the address of that name.  A path without '/' is of
 * the current folder.  NULL: *error is one line that names the file. */
Plugin *plugin_open(const char *path, const char *name, const void **symbol,
                    GError **error);

/* The symbol must not be used any more.  NULL is permitted. */
void plugin_close(Plugin *p);

#endif
