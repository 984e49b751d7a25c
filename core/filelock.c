/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filelock.c - see filelock.h.
 *
 * Knows names, links and locks; knows nothing of what is written.
 */
#include "filelock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40, /* one behind the other, as the kernel's */
    LOCK_MODE = 0600,
    NEW_MODE = 0666,  /* less the umask */
    PID_BYTES = 16,   /* a number and its line's end */
    SHORT_BYTES = 200 /* of a name that leaves no room for the suffix */
};

#define SUFFIX ".vssd-lock"

struct FileLock {
    int folder;
    char *name; /* of the lock, in the folder */
    int fd;
    int itself; /* the file that is there, or -1 */
    pid_t owner;
};

static FileLockWarn *warn_user;

void filelock_warn_by(FileLockWarn *warn)
{
    warn_user = warn;
}

static bool cannot(const char *path, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s",
                path, g_strerror(err));
    return false;
}

static bool cannot_lock(const char *path, const char *lock, const char *why,
                        GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ACCES,
                "%s: cannot be locked: %s: %s", path, lock, why);
    return false;
}

static bool in_use(const char *path, long pid, GError **error)
{
    g_autofree char *who =
        pid > 0 ? g_strdup_printf(" (process %ld)", pid) : g_strdup("");

    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
                "%s: in use by another drive%s", path, who);
    return false;
}

/* ---- file systems without locks ------------------------------------------ */

static bool has_no_locks(int err)
{
    return err == ENOLCK || err == EOPNOTSUPP || err == ENOSYS;
}

static void warn_no_locks(const char *path)
{
    g_autofree char *line =
        g_strdup_printf("%s: its file system has no locks, so nothing keeps a "
                        "second drive from using it",
                        path);

    if (warn_user) {
        warn_user(line);
    }
}

/* ---- the name ------------------------------------------------------------ */

/* Behind the links; the file need not be there.  NULL with errno. */
static char *behind_links(const char *path)
{
    g_autofree char *at = g_strdup(path);

    for (int i = 0; i < LINKS_MAX; i++) {
        char text[PATH_MAX];
        ssize_t n = readlink(at, text, sizeof(text) - 1);
        g_autofree char *folder = NULL;
        char *next;

        if (n < 0) {
            return errno == EINVAL || errno == ENOENT ? g_steal_pointer(&at)
                                                      : NULL;
        }
        text[n] = '\0';
        folder = g_path_get_dirname(at);
        next = text[0] == '/' ? g_strdup(text)
                              : g_build_filename(folder, text, NULL);
        g_free(at);
        at = next;
    }
    errno = ELOOP;
    return NULL;
}

static char *lock_name(const char *path)
{
    g_autofree char *name = g_path_get_basename(path);

    return strlen(name) + strlen(SUFFIX) <= NAME_MAX
               ? g_strconcat(name, SUFFIX, NULL)
               : g_strdup_printf("%.*s.%08x" SUFFIX, SHORT_BYTES, name,
                                 g_str_hash(name));
}

/* ---- PATH.vssd-lock ------------------------------------------------------ */

/* Not with O_CREAT first: in a shared folder the kernel then refuses even root
 * the file that is there. */
static int open_lock(const FileLock *l)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    int fd;

    do {
        fd = openat(l->folder, l->name, flags);
        if (fd < 0 && errno == ENOENT) {
            fd =
                openat(l->folder, l->name, flags | O_CREAT | O_EXCL, LOCK_MODE);
        }
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* The process that a lock names; 0: not yet; -1: it is no lock of ours. */
static long pid_in(int fd)
{
    char text[PID_BYTES + 1] = "";
    ssize_t n = pread(fd, text, PID_BYTES, 0);
    struct stat st;
    char *end;
    long pid;

    if (n < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        st.st_nlink > 1 || st.st_size >= PID_BYTES) {
        return -1;
    }
    pid = strtol(text, &end, 10);
    return n == 0 ? 0 : pid > 0 && strcmp(end, "\n") == 0 ? pid : -1;
}

/* Whoever let it go has removed it. */
static bool is_there(const FileLock *l)
{
    struct stat mine, there;

    return fstat(l->fd, &mine) == 0 &&
           fstatat(l->folder, l->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

static bool write_pid(const FileLock *l)
{
    char text[PID_BYTES];
    int n = g_snprintf(text, sizeof(text), "%ld\n", (long)l->owner);

    return ftruncate(l->fd, 0) == 0 && pwrite(l->fd, text, (size_t)n, 0) == n;
}

static bool no_lock_here(FileLock *l, const char *path, int err, GError **error)
{
    struct stat st;

    if (err == EACCES &&
        fstatat(l->folder, l->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        return cannot_lock(path, l->name,
                           "another user made it; remove it if no drive of "
                           "theirs uses the file",
                           error);
    }
    return cannot_lock(path, l->name,
                       err == ELOOP ? "it is a link" : g_strerror(err), error);
}

/* l->fd < 0 afterwards: the file system has no locks. */
static bool lock_beside(FileLock *l, const char *path, GError **error)
{
    for (;;) {
        int err;

        l->fd = open_lock(l);
        if (l->fd < 0) {
            return no_lock_here(l, path, errno, error);
        }
        if (pid_in(l->fd) < 0) {
            return cannot_lock(path, l->name, "it is another file", error);
        }
        err = flock(l->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (!err && is_there(l)) {
            break;
        }
        if (err == EWOULDBLOCK) {
            return in_use(path, pid_in(l->fd), error);
        }
        if (err && !has_no_locks(err)) {
            return cannot_lock(path, l->name, g_strerror(err), error);
        }
        close(l->fd);
        l->fd = -1;
        if (err) {
            (void)unlinkat(l->folder, l->name, 0);
            return true;
        }
    }
    l->owner = getpid();
    (void)write_pid(l); /* for the other's message only */
    return true;
}

void filelock_release(FileLock *lock)
{
    if (!lock) {
        return;
    }
    if (lock->owner == getpid() && is_there(lock)) {
        (void)unlinkat(lock->folder, lock->name, 0);
    }
    if (lock->fd >= 0) {
        close(lock->fd);
    }
    if (lock->itself >= 0) {
        close(lock->itself);
    }
    if (lock->folder >= 0) {
        close(lock->folder);
    }
    g_free(lock->name);
    g_free(lock);
}

/* A folder where nothing can be replaced, either. */
static bool is_closed(const FileLock *l)
{
    struct stat st;

    return faccessat(l->folder, ".", W_OK, AT_EACCESS) != 0 &&
           fstatat(l->folder, l->name, &st, AT_SYMLINK_NOFOLLOW) != 0;
}

/* A link of the kernel's, as /dev/stdout, may lead to a file without a name. */
static bool is_same(const char *final, const struct stat *st)
{
    struct stat named;

    return stat(final, &named) == 0 && named.st_ino == st->st_ino &&
           named.st_dev == st->st_dev;
}

/* *got: the file itself is locked.  Not so where there are no locks. */
static bool lock_itself(int fd, const char *path, bool *got, GError **error)
{
    *got = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (*got || has_no_locks(errno) || errno == EBADF) {
        return true;
    }
    return errno == EWOULDBLOCK ? in_use(path, 0, error)
                                : cannot(path, errno, error);
}

/* The file that is there: its other names are not to be used, either. */
static bool lock_present(FileLock *l, const char *final, const char *path,
                         GError **error)
{
    const int flags = O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    bool got;

    l->itself = open(final, O_RDWR | flags); /* NFS locks no other */
    if (l->itself < 0) {
        l->itself = open(final, O_RDONLY | flags);
    }
    return l->itself < 0 || lock_itself(l->itself, path, &got, error);
}

/* in_place: the caller locks the file itself. */
static bool lock_all(FileLock *l, const char *final, const char *path,
                     bool in_place, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(final);

    l->name = lock_name(final);
    l->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (l->folder < 0) {
        return cannot(path, errno, error);
    }
    if (in_place && is_closed(l)) {
        return true;
    }
    return lock_beside(l, path, error) &&
           (in_place || l->fd < 0 || lock_present(l, final, path, error));
}

static bool take_lock(const char *path, bool in_place, FileLock **lock,
                      GError **error)
{
    g_autofree char *final = behind_links(path);
    struct stat st;
    bool ok, there = stat(path, &st) == 0;
    FileLock *l;

    *lock = NULL;
    if (there && (!S_ISREG(st.st_mode) ||
                  (in_place && !(final && is_same(final, &st))))) {
        return true;
    }
    if (!final) {
        return cannot(path, errno, error);
    }
    l = g_new(FileLock, 1);
    *l = (FileLock){.folder = -1, .fd = -1, .itself = -1};
    ok = lock_all(l, final, path, in_place, error);
    if (ok && l->fd >= 0) {
        *lock = l;
    } else {
        filelock_release(l);
    }
    return ok;
}

bool filelock_take(const char *path, FileLock **lock, GError **error)
{
    struct stat st;

    if (!take_lock(path, false, lock, error)) {
        return false;
    }
    if (!*lock && (stat(path, &st) != 0 || S_ISREG(st.st_mode))) {
        warn_no_locks(path);
    }
    return true;
}

/* ---- a file that is written in place ------------------------------------- */

/* lock: the one beside it. */
static bool claim(int fd, const char *path, const FileLock *lock,
                  GError **error)
{
    struct stat st;
    bool got;

    if (fstat(fd, &st) != 0) {
        return cannot(path, errno, error);
    }
    if (!S_ISREG(st.st_mode)) {
        return true;
    }
    if (!lock_itself(fd, path, &got, error)) {
        return false;
    }
    if (!got && !lock) {
        warn_no_locks(path);
    }
    return ftruncate(fd, 0) == 0 || cannot(path, errno, error);
}

FILE *filelock_open(const char *path, FileLock **lock, GError **error)
{
    FILE *file = NULL;
    int fd;

    if (!take_lock(path, true, lock, error)) {
        return NULL;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, NEW_MODE);
    if (fd < 0) {
        cannot(path, errno, error);
    } else if (claim(fd, path, *lock, error)) {
        file = fdopen(fd, "wb");
        if (!file) {
            cannot(path, errno, error);
        }
    }
    if (!file) {
        if (fd >= 0) {
            close(fd);
        }
        filelock_release(g_steal_pointer(lock));
    }
    return file;
}
