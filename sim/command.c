/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.c - parts of the command line that commands share. */
#include "command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "filelock.h"
#include "request.h"

bool command_usage(GError **error, const char *format, ...)
{
    va_list args;
    g_autofree char *what = NULL;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, SIM_ERROR, SIM_ERROR_USAGE, what);
    return false;
}

static bool has_value(const GOptionEntry *e)
{
    return e->arg == G_OPTION_ARG_NONE ? *(const gboolean *)e->arg_data
                                       : *(void *const *)e->arg_data != NULL;
}

bool option_given(const OptionTable *table, const char *name)
{
    for (const GOptionEntry *e = table->entries; e->long_name; e++) {
        if (strcmp(e->long_name, name) == 0) {
            return has_value(e);
        }
    }
    g_assert_not_reached();
}

bool options_absent(const OptionTable *table, const char *except,
                    const char *why, GError **error)
{
    g_auto(GStrv) left = g_strsplit(except ? except : "", ",", -1);

    for (const GOptionEntry *e = table->entries; e->long_name; e++) {
        if (has_value(e) &&
            !g_strv_contains((const char *const *)left, e->long_name)) {
            return command_usage(error, "--%s: %s", e->long_name, why);
        }
    }
    return true;
}

bool output_check(const char *option, const char *path, GError **error)
{
    g_autofree char *folder = NULL;
    bool there;

    if (!path) {
        return true;
    }
    folder = g_path_get_dirname(path);
    there = g_file_test(path, G_FILE_TEST_EXISTS);
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        errno = EISDIR;
    } else if (access(there ? path : folder, there ? W_OK : W_OK | X_OK) == 0) {
        return true;
    }
    g_set_error(error, SIM_ERROR, SIM_ERROR_WORKLOAD, "--%s %s: %s", option,
                path, g_strerror(errno));
    return false;
}

static GPtrArray *claimed; /* FileLock */

void output_release(void)
{
    g_clear_pointer(&claimed, g_ptr_array_unref);
}

static void release(void *lock)
{
    filelock_release(lock);
}

bool output_claim(const char *option, const char *path, GError **error)
{
    FileLock *lock;

    if (!path) {
        return true;
    }
    if (!output_check(option, path, error)) {
        return false;
    }
    if (!filelock_take(path, &lock, error)) {
        g_prefix_error(error, "--%s ", option);
        return false;
    }
    if (!claimed) {
        claimed = g_ptr_array_new_with_free_func(release);
        atexit(output_release);
    }
    if (lock) {
        g_ptr_array_add(claimed, lock);
    }
    return true;
}

void help_keywords(GString *out, const OptDesc *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const OptDesc *d = &table[i];
        g_autofree char *range = opt_range(d);

        g_string_append_printf(out, "  %-12s %s", d->key, d->help);
        if (d->type != OPT_STRING && d->max != UINT64_MAX &&
            d->max != UINT64_MAX / 2) {
            g_string_append_printf(out, "; %s", range);
        }
        g_string_append_printf(out, "%s%s\n", d->def ? "; default " : "",
                               d->def ? d->def : "");
    }
}

void help_names(GString *out, const char *title,
                const char *(*name)(unsigned i),
                const char *(*help)(unsigned i))
{
    g_string_append_printf(out, "\n%s:\n", title);
    for (unsigned i = 0; name(i); i++) {
        g_string_append_printf(out, "  %-12s %s\n", name(i), help(i));
    }
}
