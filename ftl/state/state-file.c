/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state-file.c - a saved drive in a file of its own.
 *
 * Knows files; a crash while saving leaves the old file as it was: the new one
 * is written beside it, synced, and takes its name.  The folder may be one that
 * other users can write: nothing that they made there is opened.
 */
#include "ssd-internal.h"
#include "ssd-save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAMES_TRIED = 100, /* for the new file; a name that exists is left alone */
    NEW_MODE = 0666,   /* less the umask */
};

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

/* The file behind PATH: a symbolic link stays, and its target is replaced. NULL
 * with errno where there is none that can be named.  Freed by the caller. */
static char *behind_links(const char *path)
{
    struct stat st;
    char *full, *copy;

    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? g_strdup(path) : NULL;
    }
    full = realpath(path, NULL);
    if (!full) {
        return NULL;
    }
    copy = g_strdup(full);
    free(full);
    return copy;
}

/* The mode of the file that is replaced, or that of a new one; false with errno
 * where PATH is something else than a file. */
static bool mode_for(const char *path, bool *replaces, mode_t *mode)
{
    struct stat st;

    *replaces = stat(path, &st) == 0;
    *mode = *replaces ? st.st_mode & 0777 : NEW_MODE;
    if (*replaces && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return false;
    }
    return *replaces || errno == ENOENT;
}

/* A file beside PATH that nobody had; its name is put into *BESIDE, which the
 * caller frees.  NULL with errno. */
static FILE *create_beside(const char *path, char **beside)
{
    bool replaces;
    mode_t mode;
    int fd = -1;

    if (!mode_for(path, &replaces, &mode)) {
        return NULL;
    }
    for (int i = 0; fd < 0 && i < NAMES_TRIED; i++) {
        g_free(*beside);
        *beside = g_strdup_printf("%s.%d.%d.new", path, (int)getpid(), i);
        fd = open(*beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  mode);
        if (fd < 0 && errno != EEXIST) {
            return NULL;
        }
    }
    if (fd >= 0 && replaces) {
        (void)fchmod(fd, mode); /* what the umask took */
    }
    return fd < 0 ? NULL : fdopen(fd, "wb");
}

bool ssd_save_file_with(const Ssd *ssd, const char *path,
                        bool (*more)(void *opaque, FILE *out, GError **error),
                        void *opaque, GError **error)
{
    g_autofree char *target = behind_links(path);
    g_autofree char *beside = NULL;
    FILE *file = target ? create_beside(target, &beside) : NULL;
    bool ok;

    if (!file) {
        return cannot(path, "cannot be created", errno, error);
    }
    ok = write_to(ssd, file, path, more, opaque, error);
    if (fclose(file) != 0 && ok) {
        ok = cannot(path, "cannot be written", errno, error);
    }
    if (ok && rename(beside, target) != 0) {
        ok = cannot(path, "cannot be replaced", errno, error);
    }
    if (!ok) {
        (void)unlink(beside);
        return false;
    }
    sync_folder(target);
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
