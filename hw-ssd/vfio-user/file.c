/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file.c - an image that is a raw file, or a block device.
 *
 * What the host's page cache can do without waiting is done at once
 * (RWF_NOWAIT).  Ranges that are freed become holes.  Knows bytes and offsets;
 * knows nothing of the drive.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backing.h"

/* Size of a request of lazy zeroes: a host file system takes milliseconds. */
#define FREE_BYTES (16ULL << 20)
#define ZERO_BYTES (1ULL << 20)

/* QEMU locks these bytes of an image (block/file-posix.c there), some shared,
 * some of them for all others.  A lock on all keeps its writers out. */
#define LOCK_AT    100
#define LOCK_BYTES 200

typedef struct File {
    Backing base;
    int fd;
    bool read_nowait, write_nowait; /* the file system can */
    gint can_free;                  /* atomic */
} File;

/* ---- data ---------------------------------------------------------------- */

static int read_all(int fd, uint8_t *buf, uint64_t n, uint64_t at)
{
    while (n) {
        ssize_t ret = pread(fd, buf, n, at);

        if (ret < 0 && errno != EINTR) {
            return -errno;
        }
        if (ret == 0) {
            return -EIO; /* the file has become shorter */
        }
        if (ret > 0) {
            buf += ret;
            at += ret;
            n -= ret;
        }
    }
    return 0;
}

static int write_all(int fd, const uint8_t *buf, uint64_t n, uint64_t at)
{
    while (n) {
        ssize_t ret = pwrite(fd, buf, n, at);

        if (ret < 0 && errno != EINTR) {
            return -errno;
        }
        if (ret > 0) {
            buf += ret;
            at += ret;
            n -= ret;
        }
    }
    return 0;
}

static int write_zeroes(int fd, uint64_t n, uint64_t at)
{
    g_autofree uint8_t *zero = g_malloc0(MIN(n, ZERO_BYTES));
    int ret = 0;

    while (n && ret == 0) {
        uint64_t piece = MIN(n, ZERO_BYTES);

        ret = write_all(fd, zero, piece, at);
        at += piece;
        n -= piece;
    }
    return ret;
}

/* Piece by piece, when one call for all has not moved all. */
static int move_pieces(int fd, bool write, const struct iovec *iov,
                       unsigned niov, uint64_t at)
{
    int ret = 0;

    for (unsigned i = 0; i < niov && ret == 0; i++) {
        ret = write ? write_all(fd, iov[i].iov_base, iov[i].iov_len, at)
                    : read_all(fd, iov[i].iov_base, iov[i].iov_len, at);
        at += iov[i].iov_len;
    }
    return ret;
}

static size_t size_of(const struct iovec *iov, unsigned niov)
{
    size_t n = 0;

    for (unsigned i = 0; i < niov; i++) {
        n += iov[i].iov_len;
    }
    return n;
}

static int file_move(Backing *b, bool write, const struct iovec *iov,
                     unsigned niov, uint64_t at)
{
    int fd = ((File *)b)->fd;
    ssize_t ret =
        write ? pwritev(fd, iov, niov, at) : preadv(fd, iov, niov, at);

    return ret >= 0 && (size_t)ret == size_of(iov, niov)
               ? 0
               : move_pieces(fd, write, iov, niov, at);
}

static bool file_move_now(Backing *b, bool write, const struct iovec *iov,
                          unsigned niov, uint64_t at, uint64_t n)
{
    File *f = (File *)b;
    bool *can = write ? &f->write_nowait : &f->read_nowait;
    ssize_t ret;

    if (!*can) {
        return false;
    }
    ret = write ? pwritev2(f->fd, iov, niov, at, RWF_NOWAIT)
                : preadv2(f->fd, iov, niov, at, RWF_NOWAIT);
    if (ret < 0 &&
        (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)) {
        *can = false;
    }
    return ret >= 0 && (uint64_t)ret == n;
}

static int file_flush(Backing *b)
{
    return fdatasync(((File *)b)->fd) < 0 ? -errno : 0;
}

/* ---- holes --------------------------------------------------------------- */

static int punch(File *f, uint64_t at, uint64_t n)
{
    int ret;

    if (!g_atomic_int_get(&f->can_free)) {
        return -EOPNOTSUPP;
    }
    do {
        ret =
            fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n);
    } while (ret < 0 && errno == EINTR);
    if (ret < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        g_atomic_int_set(&f->can_free, false);
    }
    return ret < 0 ? -errno : 0;
}

static int file_zero(Backing *b, uint64_t at, uint64_t n)
{
    File *f = (File *)b;
    int ret = punch(f, at, n);

    return ret == -EOPNOTSUPP ? write_zeroes(f->fd, n, at) : ret;
}

/* A hole is skipped at once, of data a part is freed. */
static int file_free(Backing *b, uint64_t at, uint64_t *n, uint64_t unit)
{
    File *f = (File *)b;
    off_t data = lseek(f->fd, at, SEEK_DATA);
    int ret;

    if (data < 0 ? errno == ENXIO : (uint64_t)data >= at + *n) {
        return 0;
    }
    if (data > 0 && data - at >= unit) {
        *n = (data - at) / unit * unit;
        return 0;
    }
    *n = MIN(*n, MAX(FREE_BYTES, unit));
    ret = punch(f, at, *n);
    return ret == -EOPNOTSUPP ? 0 : ret;
}

static int file_next_data(Backing *b, uint64_t *at, uint64_t *n)
{
    int fd = ((File *)b)->fd;
    off_t data, end;

    if (*at >= b->bytes) {
        return 0;
    }
    data = lseek(fd, *at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
        return 0;
    }
    if (data < 0 && errno == EINVAL) { /* a block device */
        *n = b->bytes - *at;
        return 1;
    }
    end = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
    if (end < 0) {
        return -errno;
    }
    *at = data;
    *n = MIN((uint64_t)end, b->bytes) - data;
    return *n > 0;
}

/* ---- life ---------------------------------------------------------------- */

static bool is_raw(int fd)
{
    static const char *const others[] = {"QFI\xfb",  "KDMV", "vhdx",
                                         "conectix", "<<< ", "LUKS\xba\xbe"};
    char head[8] = {0};

    if (pread(fd, head, sizeof(head), 0) < 0) {
        return true; /* another message will say it */
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(others); i++) {
        if (memcmp(head, others[i], strlen(others[i])) == 0) {
            return false;
        }
    }
    return true;
}

static bool lock_file(int fd)
{
    struct flock lock = {
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = LOCK_AT,
        .l_len = LOCK_BYTES,
    };

    return fcntl(fd, F_OFD_SETLK, &lock) == 0 ||
           (errno != EAGAIN && errno != EACCES);
}

static bool check_file(const char *path, int fd, GError **error)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--image %s: neither a file nor a block device", path);
        return false;
    }
    if (!is_raw(fd)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--image %s: the image is not raw: convert it (qemu-img "
                    "convert -O raw), or export it (qemu-storage-daemon "
                    "--export type=fuse)",
                    path);
        return false;
    }
    if (!lock_file(fd)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
                    "--image %s: another program has the image open", path);
        return false;
    }
    return true;
}

static void file_close(Backing *b)
{
    close(((File *)b)->fd);
    g_free(b);
}

static const BackingOps ops = {
    .move = file_move,
    .move_now = file_move_now,
    .zero = file_zero,
    .free = file_free,
    .flush = file_flush,
    .next_data = file_next_data,
    .close = file_close,
};

Backing *file_open(const char *path, GError **error)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    File *f;

    if (fd < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "--image %s: %s",
                    path, g_strerror(errno));
        return NULL;
    }
    if (!check_file(path, fd, error)) {
        close(fd);
        return NULL;
    }
    f = g_new(File, 1);
    *f = (File){
        .base = {.ops = &ops, .name = path, .bytes = lseek(fd, 0, SEEK_END)},
        .fd = fd,
        .read_nowait = true,
        .write_nowait = true,
        .can_free = true,
    };
    return &f->base;
}
