/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.c - payload in images: one for the drive, or one for each namespace.
 *
 * A request that can be done without waiting is done at once; the rest by a
 * small pool of threads.  Knows requests and which image has them; backing.h
 * knows how an image is read and written.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "backing.h"
#include "server.h"

#define THREADS 8

struct Image {
    Server *s;
    Backing *backing[NVME_MAX_IMAGES];
    GThreadPool *pool;
    const char *refused_by; /* the image that refused data last */
    int write_err;          /* and why; 0: none has */
    const char *unflushed;  /* the first one that could not flush */
    int flush_err;
    int done_fd;
    GMutex done_lock;
    GSList *done; /* Job */
};

typedef struct Job {
    NvmeStoreReq *req;
    const char *name; /* of the image that ended with an error */
    int ret;
} Job;

/* ---- in the pool --------------------------------------------------------- */

/* The memory of n bytes of the request, `at` bytes from its beginning on; the
 * vector has room for all of the request's. */
static unsigned slice(const NvmeStoreReq *req, uint64_t at, uint64_t n,
                      struct iovec *to)
{
    unsigned count = 0;

    for (unsigned i = 0; i < req->niov && n; i++) {
        struct iovec v = req->iov[i];
        uint64_t skipped = MIN(at, v.iov_len);

        at -= skipped;
        v.iov_base = (uint8_t *)v.iov_base + skipped;
        v.iov_len = MIN(v.iov_len - skipped, n);
        n -= v.iov_len;
        if (v.iov_len) {
            to[count++] = v;
        }
    }
    return count;
}

/* What no image has reads as zeroes. */
static void clear(const NvmeStoreReq *req, uint64_t at, uint64_t n)
{
    g_autofree struct iovec *iov = g_new(struct iovec, req->niov);
    unsigned niov = slice(req, at, n, iov);

    for (unsigned i = 0; i < niov; i++) {
        memset(iov[i].iov_base, 0, iov[i].iov_len);
    }
}

static int move_piece(Backing *b, const NvmeStoreReq *req, const NvmePiece *p,
                      uint64_t at)
{
    g_autofree struct iovec *iov = g_new(struct iovec, req->niov);
    unsigned niov = slice(req, at, p->there, iov);
    int ret = p->there ? b->ops->move(b, req->op == NVME_STORE_WRITE, iov, niov,
                                      p->offset)
                       : 0;

    if (req->op == NVME_STORE_READ && p->there < p->bytes) {
        clear(req, at + p->there, p->bytes - p->there);
    }
    return ret;
}

/* req->bytes becomes the size of what was done. */
static int free_piece(const Image *image, Backing *b, NvmeStoreReq *req,
                      const NvmePiece *p)
{
    uint64_t n = p->there;
    int ret = 0;

    if (n) {
        ret =
            b->ops->free(b, p->offset, &n, ssd_info(image->s->ssd)->unit_bytes);
    }
    req->bytes = n < p->there ? n : p->bytes;
    return ret;
}

static int do_flush(Image *image, Job *job)
{
    int ret = 0;

    for (unsigned i = 0; i < image->s->images.n && ret == 0; i++) {
        Backing *b = image->backing[i];

        if (b) {
            job->name = b->name;
            ret = b->ops->flush(b);
        }
    }
    return ret;
}

static int do_request(Image *image, Job *job)
{
    NvmeStoreReq *req = job->req;
    NvmePiece p;
    int ret = 0;

    for (uint64_t at = 0; at < req->bytes && ret == 0; at += p.bytes) {
        Backing *b;

        p = nvme_images_find(&image->s->images, req->offset + at,
                             req->bytes - at);
        b = image->backing[p.image];
        job->name = b ? b->name : NULL; /* there is none: p.there is 0 */
        if (req->lazy) {
            return free_piece(image, b, req, &p);
        }
        if (req->op != NVME_STORE_ZERO) {
            ret = move_piece(b, req, &p, at);
        } else if (p.there) {
            ret = b->ops->zero(b, p.offset, p.there);
        }
    }
    return ret;
}

static void work(gpointer data, gpointer opaque)
{
    Image *image = opaque;
    Job *job = data;
    uint64_t one = 1;

    job->ret = job->req->op == NVME_STORE_FLUSH ? do_flush(image, job)
                                                : do_request(image, job);
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
    NvmePiece p;
    Backing *b;

    if (req->op != NVME_STORE_READ && req->op != NVME_STORE_WRITE) {
        return false;
    }
    p = nvme_images_find(&image->s->images, req->offset, req->bytes);
    b = image->backing[p.image];
    return p.there == req->bytes && b->ops->move_now &&
           b->ops->move_now(b, req->op == NVME_STORE_WRITE, req->iov, req->niov,
                            p.offset, req->bytes);
}

static int submit(void *opaque, NvmeStoreReq *req)
{
    Image *image = ((Function *)opaque)->drive->image;
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
        image->unflushed = image->unflushed ? image->unflushed : job->name;
        image->flush_err = image->flush_err ? image->flush_err : -job->ret;
    } else if (job->ret < 0 && job->req->op != NVME_STORE_READ) {
        image->refused_by = job->name;
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

bool vfio_image_wait(Server *s, int most_ms)
{
    struct pollfd one = {.fd = s->image->done_fd, .events = POLLIN};
    uint64_t count;
    int ret = poll(&one, 1, most_ms);

    if (ret > 0 && read(s->image->done_fd, &count, sizeof(count)) < 0) {
        return true; /* nothing has ended after all */
    }
    return ret != 0;
}

void vfio_image_disconnect(Server *s)
{
    for (unsigned i = 0; i < s->images.n; i++) {
        Backing *b = s->image->backing[i];

        if (b && b->ops->disconnect) {
            b->ops->disconnect(b);
        }
    }
}

bool vfio_image_kept(const Server *s, uint64_t refused, GError **error)
{
    const Image *image = s->image;

    if (refused) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "--image %s: it has refused %" G_GUINT64_FORMAT " bytes "
                    "that the guest has written: they are lost: %s",
                    image->refused_by, refused, g_strerror(image->write_err));
    } else if (image->flush_err) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "--image %s: a flush has failed, data of the guest may be "
                    "lost: %s",
                    image->unflushed, g_strerror(image->flush_err));
    }
    return !refused && !image->flush_err;
}

/* ---- at the start -------------------------------------------------------- */

bool vfio_image_next_data(Server *s, unsigned i, uint64_t *at, uint64_t *bytes,
                          GError **error)
{
    Backing *b = s->image->backing[i];
    int ret = b->ops->next_data(b, at, bytes);

    if (ret < 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "--image %s: its holes cannot be read: %s", b->name,
                    g_strerror(-ret));
    }
    return ret > 0;
}

int vfio_image_move(Server *s, bool write, uint64_t at, void *buf, size_t n)
{
    const struct iovec iov = {.iov_base = buf, .iov_len = n};
    Backing *b = s->image->backing[0];

    return b->ops->move(b, write, &iov, 1, at);
}

const char *vfio_image_name(const Server *s, unsigned i)
{
    return s->image->backing[i]->name;
}

/* ---- life ---------------------------------------------------------------- */

static Backing *open_one(const char *name, GError **error)
{
    return g_str_has_prefix(name, "nbd") && strstr(name, "://")
               ? nbd_backing_open(name, error)
               : file_open(name, error);
}

static void close_one(Image *image, unsigned i)
{
    Backing *b = image->backing[i];

    if (b) {
        b->ops->close(b);
    }
    image->backing[i] = NULL;
}

bool vfio_image_open(Server *s, GError **error)
{
    Image *image = g_new0(Image, 1);

    s->image = image;
    image->s = s;
    image->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    g_mutex_init(&image->done_lock);
    image->pool = g_thread_pool_new(work, image, THREADS, FALSE, NULL);
    for (char **name = s->opt->images; *name; name++) {
        Backing *b = open_one(*name, error);

        if (!b) {
            return false;
        }
        image->backing[s->images.n] = b;
        s->images.place[s->images.n++].bytes = b->bytes;
    }
    return true;
}

void vfio_image_close(Server *s)
{
    Image *image = s->image;

    g_thread_pool_free(image->pool, FALSE, TRUE);
    g_slist_free_full(image->done, g_free);
    g_mutex_clear(&image->done_lock);
    close(image->done_fd);
    for (unsigned i = 0; i < s->images.n; i++) {
        close_one(image, i);
    }
    g_free(image);
    s->image = NULL;
}

/* ---- at run time ----------------------------------------------------------
 */

void vfio_image_remove(Server *s, unsigned i)
{
    close_one(s->image, i);
    s->images.place[i].bytes = 0;
}

static bool fits(const Server *s, unsigned i, const Backing *b, uint64_t room,
                 GError **error)
{
    uint32_t block_bytes = ssd_info(s->ssd)->block_bytes;

    if (b->bytes < block_bytes) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--image %s: it is smaller than one block of %u bytes",
                    b->name, block_bytes);
    } else if (b->bytes > room) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "--image %s: it has %" G_GUINT64_FORMAT " bytes, "
                    "namespace %u only %" G_GUINT64_FORMAT,
                    b->name, b->bytes, i + 1, room);
    }
    return b->bytes >= block_bytes && b->bytes <= room;
}

bool vfio_image_insert(Server *s, unsigned i, const char *name, uint64_t room,
                       GError **error)
{
    /* Messages may name it when it is closed. */
    Backing *b = open_one(g_intern_string(name), error);

    if (!b) {
        return false;
    }
    s->image->backing[i] = b;
    if (!fits(s, i, b, room, error)) {
        close_one(s->image, i);
        return false;
    }
    s->images.place[i].bytes =
        b->bytes - b->bytes % ssd_info(s->ssd)->block_bytes;
    return true;
}

uint64_t vfio_image_bytes(const Server *s)
{
    return s->image->backing[0]->bytes;
}

int vfio_image_fd(const Server *s)
{
    return s->image->done_fd;
}
