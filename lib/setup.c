/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup.c - from the name of a profile to its file; rules of faults that need a
 * controller.
 *
 * Knows names and files; knows nothing of a drive.
 */
#include "setup.h"
#include "options.h"
#include "ssd-setup.h"

#include <string.h>

char *setup_find_profile(const char *name, const char *const *folders, size_t n)
{
    g_autofree char *file = g_str_has_suffix(name, ".ini")
                                ? g_strdup(name)
                                : g_strconcat(name, ".ini", NULL);

    if (strchr(name, '/') || g_file_test(name, G_FILE_TEST_EXISTS)) {
        return g_strdup(name);
    }
    for (size_t i = 0; i < n; i++) {
        g_autofree char *path =
            folders[i] ? g_build_filename(folders[i], file, NULL) : NULL;

        if (path && g_file_test(path, G_FILE_TEST_EXISTS)) {
            return g_steal_pointer(&path);
        }
    }
    return g_strdup(name);
}

char *setup_find_program_profile(const char *name, const char *installed)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = program ? g_path_get_dirname(program) : NULL;
    g_autofree char *beside =
        folder ? g_build_filename(folder, "profiles", NULL) : NULL;
    const char *const folders[] = {beside, installed};

    return setup_find_profile(name, folders, G_N_ELEMENTS(folders));
}

bool setup_check_faults(const SsdConfig *cfg, const char *user, GError **error)
{
    g_autofree char *path = ssd_config_get(cfg, "faults");
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    if (!path || !*path || !g_file_get_contents(path, &text, NULL, NULL)) {
        return true; /* the drive says what is wrong with the file */
    }
    lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i]; i++) {
        if (ssd_is_host_rule(lines[i])) {
            return opt_fail(error, OPT_ERROR_COMBINATION,
                            "%s:%u: rules about commands, interrupts and "
                            "controllers need QEMU: %s has rules about NAND "
                            "only (docs/faults.md)",
                            path, i + 1, user);
        }
    }
    return true;
}
