/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.c - payload in a raw file, or a block device.
 *
 * What the host's page cache can do without waiting is done at once
 * (RWF_NOWAIT); the rest by a small pool of threads.  Trimmed ranges become
 * holes.  Knows bytes and offsets; knows nothing of commands or of the drive.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server.h"

#define THREADS 8

/* Size of a request of lazy zeroes: a host file system takes milliseconds. */
#define FREE_BYTES (16ULL << 20)
#define ZERO_BYTES (1ULL << 20)

/* QEMU locks these bytes of an image (block/file-posix.c there), some shared,
 * some of them for all others.  A lock on all keeps its writers out. */
#define LOCK_AT    100
#define LOCK_BYTES 200

struct Image {
    Server *s;
    int fd;
    uint64_t bytes;
    GThreadPool *pool;
    bool read_nowait, write_nowait; /* the file system can */
    gint can_free;                  /* atomic */
    int write_err;                  /* errno of the last failure, or 0 */
    int flush_err;                  /* of the first */
    int done_fd;
    GMutex done_lock;
    GSList *done; /* Job */
};

typedef struct Job {
    NvmeStoreReq *req;
    int ret;
} Job;

/* ---- in the pool --------------------------------------------------------- */

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

static int punch(Image *image, uint64_t at, uint64_t n)
{
    int ret;

    if (!g_atomic_int_get(&image->can_free)) {
        return -EOPNOTSUPP;
    }
    do {
        ret = fallocate(image->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        at, n);
    } while (ret < 0 && errno == EINTR);
    if (ret < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        g_atomic_int_set(&image->can_free, false);
    }
    return ret < 0 ? -errno : 0;
}

/* Free unused space: a hole is skipped at once, of data a part is freed.
 * req->bytes becomes the size of what was done. */
static int free_some(Image *image, NvmeStoreReq *req)
{
    uint64_t unit = ssd_info(image->s->ssd)->unit_bytes;
    off_t data = lseek(image->fd, req->offset, SEEK_DATA);
    int ret;

    if (data < 0 ? errno == ENXIO
                 : (uint64_t)data >= req->offset + req->bytes) {
        return 0;
    }
    if (data > 0 && data - req->offset >= unit) {
        req->bytes = (data - req->offset) / unit * unit;
        return 0;
    }
    req->bytes = MIN(req->bytes, MAX(FREE_BYTES, unit));
    ret = punch(image, req->offset, req->bytes);
    return ret == -EOPNOTSUPP ? 0 : ret;
}

static int do_zero(Image *image, NvmeStoreReq *req)
{
    int ret;

    if (req->lazy) {
        return free_some(image, req);
    }
    ret = punch(image, req->offset, req->bytes);
    return ret == -EOPNOTSUPP ? write_zeroes(image->fd, req->bytes, req->offset)
                              : ret;
}

/* Piece by piece, when one call for all has not moved all. */
static int move_all(Image *image, const NvmeStoreReq *req)
{
    uint64_t at = req->offset;
    int ret = 0;

    for (unsigned i = 0; i < req->niov && ret == 0; i++) {
        const struct iovec *v = &req->iov[i];

        ret = req->op == NVME_STORE_READ
                  ? read_all(image->fd, v->iov_base, v->iov_len, at)
                  : write_all(image->fd, v->iov_base, v->iov_len, at);
        at += v->iov_len;
    }
    return ret;
}

static int do_move(Image *image, const NvmeStoreReq *req)
{
    ssize_t ret = req->op == NVME_STORE_READ
                      ? preadv(image->fd, req->iov, req->niov, req->offset)
                      : pwritev(image->fd, req->iov, req->niov, req->offset);

    return ret >= 0 && (uint64_t)ret == req->bytes ? 0 : move_all(image, req);
}

static int do_request(Image *image, NvmeStoreReq *req)
{
    switch (req->op) {
    case NVME_STORE_READ:
    case NVME_STORE_WRITE:
        return do_move(image, req);
    case NVME_STORE_ZERO:
        return do_zero(image, req);
    case NVME_STORE_FLUSH:
        return fdatasync(image->fd) < 0 ? -errno : 0;
    }
    g_assert_not_reached();
}

static void work(gpointer data, gpointer opaque)
{
    Image *image = opaque;
    Job *job = data;
    uint64_t one = 1;

    job->ret = do_request(image, job->req);
    g_mutex_lock(&image->done_lock);
    image->done = g_slist_prepend(image->done, job);
    g_mutex_unlock(&image->done_lock);
    if (write(image->done_fd, &one, sizeof(one)) < 0) {
        /* The counter is at its end: the loop wakes up all the same. */
        return;
    }
}

/* ---- requests ------------------------------------------------------------ */

/* true: all of it was done without waiting. */
static bool did_at_once(Image *image, NvmeStoreReq *req)
{
    bool is_read = req->op == NVME_STORE_READ;
    bool *can = is_read ? &image->read_nowait : &image->write_nowait;
    ssize_t ret;

    if ((!is_read && req->op != NVME_STORE_WRITE) || !*can) {
        return false;
    }
    ret =
        is_read
            ? preadv2(image->fd, req->iov, req->niov, req->offset, RWF_NOWAIT)
            : pwritev2(image->fd, req->iov, req->niov, req->offset, RWF_NOWAIT);
    if (ret < 0 &&
        (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)) {
        *can = false;
    }
    return ret >= 0 && (uint64_t)ret == req->bytes;
}

static int submit(void *opaque, NvmeStoreReq *req)
{
    Image *image = ((Server *)opaque)->image;
    Job *job;

    if (did_at_once(image, req)) {
        return 0;
    }
    job = g_new(Job, 1);
    *job = (Job){.req = req};
    g_thread_pool_push(image->pool, job, NULL);
    return -EINPROGRESS;
}

/* Data that has been refused is tried again until the end. */
static void note(Image *image, const Job *job)
{
    if (job->ret < 0 && job->req->op == NVME_STORE_FLUSH) {
        image->flush_err = image->flush_err ? image->flush_err : -job->ret;
    } else if (job->ret < 0 && job->req->op != NVME_STORE_READ) {
        image->write_err = -job->ret;
    }
}

const NvmeStore vfio_image_store = {
    .submit = submit,
};

bool vfio_image_reap(Server *s)
{
    Image *image = s->image;
    GSList *done;

    g_mutex_lock(&image->done_lock);
    done = g_slist_reverse(image->done);
    image->done = NULL;
    g_mutex_unlock(&image->done_lock);
    for (GSList *l = done; l; l = l->next) {
        Job *job = l->data;

        note(image, job);
        nvme_store_done(s->ctrl, vfio_now(s), job->req, job->ret);
        g_free(job);
    }
    g_slist_free(done);
    return done != NULL;
}

void vfio_image_wait(Server *s, int most_ms)
{
    struct pollfd one = {.fd = s->image->done_fd, .events = POLLIN};
    uint64_t count;

    if (poll(&one, 1, most_ms) > 0 &&
        read(s->image->done_fd, &count, sizeof(count)) < 0) {
        return; /* nothing has ended after all */
    }
}

bool vfio_image_kept(const Server *s, uint64_t refused, GError **error)
{
    const Image *image = s->image;

    if (refused) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "--image %s: it has refused %" G_GUINT64_FORMAT " bytes "
                    "that the guest has written: they are lost: %s",
                    s->opt->image, refused, g_strerror(image->write_err));
    } else if (image->flush_err) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "--image %s: a flush has failed, data of the guest may be "
                    "lost: %s",
                    s->opt->image, g_strerror(image->flush_err));
    }
    return !refused && !image->flush_err;
}

/* ---- the data that is there ---------------------------------------------- */

bool vfio_image_next_data(Server *s, uint64_t *at, uint64_t *bytes,
                          GError **error)
{
    Image *image = s->image;
    off_t data, end;

    if (*at >= image->bytes) {
        return false;
    }
    data = lseek(image->fd, *at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) {
        return false;
    }
    if (data < 0 && errno == EINVAL) { /* a block device */
        *bytes = image->bytes - *at;
        return true;
    }
    end = data < 0 ? -1 : lseek(image->fd, data, SEEK_HOLE);
    if (end < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "--image %s: its holes cannot be read: %s", s->opt->image,
                    g_strerror(errno));
        return false;
    }
    *at = data;
    *bytes = MIN((uint64_t)end, image->bytes) - data;
    return *bytes > 0;
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

bool vfio_image_open(Server *s, GError **error)
{
    const char *path = s->opt->image;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    Image *image;

    if (fd < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "--image %s: %s",
                    path, g_strerror(errno));
        return false;
    }
    if (!check_file(path, fd, error)) {
        close(fd);
        return false;
    }
    image = g_new0(Image, 1);
    *image = (Image){
        .s = s,
        .fd = fd,
        .bytes = lseek(fd, 0, SEEK_END),
        .read_nowait = true,
        .write_nowait = true,
        .can_free = true,
        .done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
    };
    g_mutex_init(&image->done_lock);
    image->pool = g_thread_pool_new(work, image, THREADS, FALSE, NULL);
    s->image = image;
    return true;
}

void vfio_image_close(Server *s)
{
    Image *image = s->image;

    g_thread_pool_free(image->pool, FALSE, TRUE);
    g_slist_free_full(image->done, g_free);
    g_mutex_clear(&image->done_lock);
    close(image->done_fd);
    close(image->fd);
    g_free(image);
    s->image = NULL;
}

uint64_t vfio_image_bytes(const Server *s)
{
    return s->image->bytes;
}

int vfio_image_fd(const Server *s)
{
    return s->image->done_fd;
}
