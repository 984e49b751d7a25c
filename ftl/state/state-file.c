/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state-file.c - a saved drive in a file of its own.
 *
 * Knows files; a crash while saving leaves the old file as it was: the new one is
 * written beside it, synced, and takes its name.
 */
#include "ssd-internal.h"
#include "ssd-save.h"

#include <errno.h>
#include <unistd.h>

static bool cannot(const char *path, const char *what, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
                "state file %s: %s: %s", path, what, g_strerror(err));
    return false;
}

/* So that the new name survives, too; best effort where a folder cannot be
 * opened. */
static void sync_folder(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    FILE *f = fopen(folder, "rb");

    if (f) {
        (void)fsync(fileno(f));
        fclose(f);
    }
}

static bool write_to(const Ssd *ssd, FILE *file, const char *path,
                     bool (*more)(void *opaque, FILE *out, GError **error),
                     void *opaque, GError **error)
{
    if (!ssd_save(ssd, file, error) || (more && !more(opaque, file, error))) {
        g_prefix_error(error, "state file %s: ", path);
        return false;
    }
    if (fflush(file) != 0 || fsync(fileno(file)) != 0) {
        return cannot(path, "cannot be written", errno, error);
    }
    return true;
}

bool ssd_save_file_with(const Ssd *ssd, const char *path,
                        bool (*more)(void *opaque, FILE *out, GError **error),
                        void *opaque, GError **error)
{
    g_autofree char *beside = g_strdup_printf("%s.%d.new", path, (int)getpid());
    FILE *file = fopen(beside, "wb");
    bool ok;

    if (!file) {
        return cannot(path, "cannot be created", errno, error);
    }
    ok = write_to(ssd, file, path, more, opaque, error);
    if (fclose(file) != 0 && ok) {
        ok = cannot(path, "cannot be written", errno, error);
    }
    if (ok && rename(beside, path) != 0) {
        ok = cannot(path, "cannot be replaced", errno, error);
    }
    if (!ok) {
        (void)unlink(beside);
        return false;
    }
    sync_folder(path);
    return true;
}

bool ssd_save_file(const Ssd *ssd, const char *path, GError **error)
{
    return ssd_save_file_with(ssd, path, NULL, NULL, error);
}

Ssd *ssd_load_file_with(const SsdConfig *cfg, const SsdHostOps *host,
                        void *opaque, const char *path, uint64_t *end,
                        GError **error)
{
    FILE *file = fopen(path, "rb");
    GError *why = NULL;
    Ssd *ssd;

    if (!file) {
        cannot(path, "cannot be opened", errno, error);
        return NULL;
    }
    if (end) {
        ssd = ssd_load_first(cfg, host, opaque, file, &why);
        *end = (uint64_t)ftello(file);
    } else {
        ssd = ssd_load(cfg, host, opaque, file, &why);
    }
    fclose(file);
    if (why) {
        g_propagate_prefixed_error(error, why, "state file %s: ", path);
    }
    return ssd;
}

Ssd *ssd_load_file(const SsdConfig *cfg, const SsdHostOps *host, void *opaque,
                   const char *path, GError **error)
{
    return ssd_load_file_with(cfg, host, opaque, path, NULL, error);
}
