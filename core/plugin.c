/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.c - see plugin.h.
 *
 * Knows the dynamic linker; knows nothing of what is loaded.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <string.h>

struct Plugin {
    void *handle;
};

GQuark plugin_error_quark(void)
{
    return g_quark_from_static_string("vssd-plugin");
}

/* The linker's own words, which name the file, as one line. */
static void *failed(GError **error)
{
    const char *why = dlerror();
    g_autofree char *line = g_strdup(why ? why : "it cannot be loaded");

    g_strdelimit(line, "\n", ' ');
    g_set_error_literal(error, PLUGIN_ERROR, 0, line);
    return NULL;
}

Plugin *plugin_open(const char *path, const char *name, const void **symbol,
                    GError **error)
{
    g_autofree char *file = g_canonicalize_filename(path, NULL);
    void *handle;
    Plugin *p;

    /* The linker takes a folder, a pipe or a device for a bad file late. */
    if (!g_file_test(file, G_FILE_TEST_IS_REGULAR)) {
        g_set_error(error, PLUGIN_ERROR, 0, "%s: there is no such file", path);
        return NULL;
    }
    handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return failed(error);
    }
    *symbol = dlsym(handle, name);
    if (!*symbol) {
        g_set_error(error, PLUGIN_ERROR, 0, "%s: exports no %s", path, name);
        dlclose(handle);
        return NULL;
    }
    p = g_new(Plugin, 1);
    p->handle = handle;
    return p;
}

void plugin_close(Plugin *p)
{
    if (p) {
        dlclose(p->handle);
        g_free(p);
    }
}
