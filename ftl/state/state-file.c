/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state-file.c - a saved drive in a file of its own.
 *
 * Knows the form of the file; core/replace.h writes it.
 */
#include "replace.h"
#include "ssd-internal.h"
#include "ssd-save.h"

#include <errno.h>

static bool cannot(const char *path, const char *what, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err),
                "state file %s: %s: %s", path, what, g_strerror(err));
    return false;
}

typedef struct Saving {
    const Ssd *ssd;
    bool (*more)(void *opaque, FILE *out, GError **error);
    void *opaque;
} Saving;

static bool write_drive(void *opaque, FILE *out, GError **error)
{
    const Saving *s = opaque;

    return ssd_save(s->ssd, out, error) &&
           (!s->more || s->more(s->opaque, out, error));
}

bool ssd_save_file_with(const Ssd *ssd, const char *path,
                        bool (*more)(void *opaque, FILE *out, GError **error),
                        void *opaque, GError **error)
{
    Saving saving = {ssd, more, opaque};

    if (!replace_file(path, write_drive, &saving, error)) {
        g_prefix_error(error, "state file ");
        return false;
    }
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
