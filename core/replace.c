/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace.c - see replace.h.
 *
 * Knows files, links and users; knows nothing of what is written.  Names are
 * looked up below the folder that was opened, so nobody can exchange it.
 */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40, /* one behind the other, as the kernel's */
    OWN_MODE = 0600,
    NEW_MODE = 0666, /* less the umask */
};

typedef struct Place {
    int folder;
    char *name; /* in the folder; no link that is replaced */
    struct stat old;
    bool exists;
    bool ours;   /* made_by_us(): its mode and owner are kept */
    bool direct; /* a pipe or a device */
} Place;

static bool cannot(const char *path, const char *what, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s: %s",
                path, what, g_strerror(err));
    return false;
}

static void place_free(Place *p)
{
    if (p->folder >= 0) {
        close(p->folder);
    }
    g_free(p->name);
}

/* ---- where the file is --------------------------------------------------- */

/* Made by the user, by root, or by the owner of the folder: the kernel's rule
 * for links (protected_symlinks), in every folder. */
static bool made_by_us(const Place *p)
{
    struct stat folder;

    return p->old.st_uid == geteuid() || p->old.st_uid == 0 ||
           (fstat(p->folder, &folder) == 0 && folder.st_uid == p->old.st_uid);
}

/* Stand at a path, seen from the folder of the place.  false with errno. */
static bool place_go(Place *p, const char *path)
{
    g_autofree char *parent = g_path_get_dirname(path);
    int from = p->folder >= 0 ? p->folder : AT_FDCWD;
    int to = openat(from, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (to < 0) {
        return false;
    }
    place_free(p);
    p->folder = to;
    p->name = g_path_get_basename(path);
    p->exists = fstatat(to, p->name, &p->old, AT_SYMLINK_NOFOLLOW) == 0;
    return p->exists || errno == ENOENT;
}

static char *link_text(const Place *p)
{
    char text[4096];
    ssize_t n = readlinkat(p->folder, p->name, text, sizeof(text) - 1);

    return n < 0 ? NULL : g_strndup(text, (gsize)n);
}

static bool is_special(mode_t mode)
{
    return !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode);
}

/* Go behind the links.  false: *error. */
static bool place_find(Place *p, const char *path, GError **error)
{
    g_autofree char *next = g_strdup(path);

    for (int i = 0; i < LINKS_MAX; i++) {
        struct stat behind;

        if (!place_go(p, next)) {
            return cannot(path, "cannot be created", errno, error);
        }
        p->ours = p->exists && made_by_us(p);
        if (!p->exists || S_ISREG(p->old.st_mode)) {
            return true;
        }
        if (!p->ours) {
            return cannot(path, "another user made it", EACCES, error);
        }
        p->direct = is_special(p->old.st_mode);
        if (!p->direct && fstatat(p->folder, p->name, &behind, 0) == 0) {
            p->direct = is_special(behind.st_mode);
        }
        if (p->direct) {
            return true;
        }
        if (S_ISDIR(p->old.st_mode)) {
            return cannot(path, "cannot be replaced", EISDIR, error);
        }
        g_free(next);
        next = link_text(p);
        if (!next) {
            return cannot(path, "cannot be followed", errno, error);
        }
    }
    return cannot(path, "cannot be followed", ELOOP, error);
}

/* ---- the new file -------------------------------------------------------- */

/* The mode and, where allowed, the owner of the old file.  Its group's rights
 * are nothing for another group. */
static bool keep_mode(const Place *p, int fd)
{
    mode_t mode = p->old.st_mode & 0777;

    if (fchown(fd, (uid_t)-1, p->old.st_gid) != 0) {
        mode = (mode & 0707) | (mode & 07) << 3;
    }
    if (p->old.st_uid != geteuid() &&
        fchown(fd, p->old.st_uid, (gid_t)-1) != 0 && errno != EPERM) {
        return false;
    }
    return fchmod(fd, mode) == 0;
}

/* Another user's file gives no right that a new one would not have. */
static mode_t first_mode(const Place *p)
{
    return p->ours     ? OWN_MODE
           : p->exists ? p->old.st_mode & NEW_MODE
                       : NEW_MODE;
}

/* A file in the folder that nobody had; *beside: its name.  -1 with errno. */
static int create_beside(const Place *p, char **beside)
{
    uint64_t number;
    int fd;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
        return -1;
    }
    *beside = g_strdup_printf("%.200s.%016" PRIx64 ".new", p->name, number);
    fd = openat(p->folder, *beside,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                first_mode(p));
    if (fd < 0) {
        g_clear_pointer(beside, g_free);
    }
    return fd;
}

/* So that the new name survives, too; best effort where a folder cannot be
 * read. */
static void sync_folder(const Place *p)
{
    int fd = openat(p->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

static bool write_to(int fd, const Place *p, const char *path,
                     ReplaceWriter *writer, void *opaque, GError **error)
{
    FILE *file = fdopen(fd, "wb");
    bool ok;

    if (!file) {
        close(fd);
        return cannot(path, "cannot be written", errno, error);
    }
    ok = writer(opaque, file, error);
    if (!ok) {
        g_prefix_error(error, "%s: ", path);
    } else if (fflush(file) != 0 || (!p->direct && fsync(fd) != 0)) {
        ok = cannot(path, "cannot be written", errno, error);
    }
    if (ok && !p->direct && p->ours && !keep_mode(p, fd)) {
        ok = cannot(path, "cannot keep its mode", errno, error);
    }
    if (fclose(file) != 0 && ok) {
        ok = cannot(path, "cannot be written", errno, error);
    }
    return ok;
}

static bool replace_at(const Place *p, const char *path, ReplaceWriter *writer,
                       void *opaque, GError **error)
{
    g_autofree char *beside = NULL;
    int fd = create_beside(p, &beside);
    bool ok;

    if (fd < 0) {
        return cannot(path, "cannot be created", errno, error);
    }
    ok = write_to(fd, p, path, writer, opaque, error);
    if (ok && renameat(p->folder, beside, p->folder, p->name) != 0) {
        ok = cannot(path, "cannot be replaced", errno, error);
    }
    if (!ok) {
        (void)unlinkat(p->folder, beside, 0);
        return false;
    }
    sync_folder(p);
    return true;
}

static bool write_direct(const Place *p, const char *path,
                         ReplaceWriter *writer, void *opaque, GError **error)
{
    int fd = openat(p->folder, p->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0) {
        return cannot(path, "cannot be opened", errno, error);
    }
    if (fstat(fd, &st) != 0 || !is_special(st.st_mode)) {
        close(fd);
        return cannot(path, "cannot be opened", EEXIST, error);
    }
    return write_to(fd, p, path, writer, opaque, error);
}

bool replace_file(const char *path, ReplaceWriter *writer, void *opaque,
                  GError **error)
{
    Place p = {.folder = -1};
    bool ok = place_find(&p, path, error) &&
              (p.direct ? write_direct(&p, path, writer, opaque, error)
                        : replace_at(&p, path, writer, opaque, error));

    place_free(&p);
    return ok;
}

static bool write_text(void *opaque, FILE *out, GError **error)
{
    const GString *text = opaque;

    if (fwrite(text->str, 1, text->len, out) == text->len) {
        return true;
    }
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                "it cannot be written: %s", g_strerror(errno));
    return false;
}

bool replace_text(const char *path, const GString *text, GError **error)
{
    return replace_file(path, write_text, (void *)text, error);
}
