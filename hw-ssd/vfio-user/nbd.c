/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nbd.c - an image behind a server of NBD (qemu-nbd, qemu-storage-daemon), by
 * libnbd: qcow2 and all else that such a server has.
 *
 * A call waits for its answer, so each thread of the pool takes a connection
 * for it.  A server that does not say that a flush of one connection is for all
 * gets one.  Knows NBD; knows nothing of the drive.
 */
#include "backing.h"

#ifdef VSSD_LIBNBD
#include <errno.h>
#include <libnbd.h>
#include <string.h>
#include <sys/socket.h>

#define MOST_CONNECTIONS 8

/* How long a server may take to begin a connection, and to end one. */
#define ANSWER_MS 30000

/* The protocol's servers take 32 MiB in a request. */
#define MOST_BYTES (32ULL << 20)

/* Size of a request of lazy zeroes. */
#define FREE_BYTES (16ULL << 20)

typedef struct Nbd {
    Backing base;
    GAsyncQueue *idle; /* connections that nobody uses */
    unsigned n;
    int fd[MOST_CONNECTIONS]; /* sockets of all connections */
    gint disconnected;        /* atomic */
    bool can_zero, can_flush, can_map;
} Nbd;

typedef struct nbd_handle Handle;

static Handle *take(Backing *b)
{
    return g_async_queue_pop(((Nbd *)b)->idle);
}

static int give_back(Backing *b, Handle *h, int ret)
{
    Nbd *nbd = (Nbd *)b;
    int err = ret < 0 ? nbd_get_errno() : 0;

    if (ret < 0 && g_atomic_int_get(&nbd->disconnected)) {
        err = ETIMEDOUT;
    }
    g_async_queue_push(nbd->idle, h);
    return ret < 0 ? -(err ? err : EIO) : 0;
}

/* ---- data ---------------------------------------------------------------- */

static int move_one(Handle *h, bool write, uint8_t *buf, uint64_t n,
                    uint64_t at)
{
    int ret = 0;

    while (n && ret == 0) {
        uint64_t piece = MIN(n, MOST_BYTES);

        ret = write ? nbd_pwrite(h, buf, piece, at, 0)
                    : nbd_pread(h, buf, piece, at, 0);
        buf += piece;
        at += piece;
        n -= piece;
    }
    return ret;
}

static int nbd_backing_move(Backing *b, bool write, const struct iovec *iov,
                            unsigned niov, uint64_t at)
{
    Handle *h = take(b);
    int ret = 0;

    for (unsigned i = 0; i < niov && ret == 0; i++) {
        ret = move_one(h, write, iov[i].iov_base, iov[i].iov_len, at);
        at += iov[i].iov_len;
    }
    return give_back(b, h, ret);
}

static int write_zeroes(Backing *b, Handle *h, uint64_t at, uint64_t n)
{
    g_autofree uint8_t *zero = NULL;

    if (((Nbd *)b)->can_zero) {
        return nbd_zero(h, n, at, 0);
    }
    zero = g_malloc0(n);
    return nbd_pwrite(h, zero, n, at, 0);
}

static int nbd_backing_zero(Backing *b, uint64_t at, uint64_t n)
{
    Handle *h = take(b);
    int ret = 0;

    while (n && ret == 0) {
        uint64_t piece = MIN(n, MOST_BYTES);

        ret = write_zeroes(b, h, at, piece);
        at += piece;
        n -= piece;
    }
    return give_back(b, h, ret);
}

static int nbd_backing_flush(Backing *b)
{
    Handle *h;

    if (!((Nbd *)b)->can_flush) {
        return 0; /* each write is durable */
    }
    h = take(b);
    return give_back(b, h, nbd_flush(h, 0));
}

/* ---- the map ------------------------------------------------------------- */

typedef struct Extent {
    uint64_t at, n; /* of the first extent */
    bool zero;
} Extent;

static int note_extent(void *user, const char *context, uint64_t offset,
                       uint32_t *entries, size_t n, int *error)
{
    Extent *e = user;

    if (!e->n && n >= 2 &&
        strcmp(context, LIBNBD_CONTEXT_BASE_ALLOCATION) == 0) {
        e->n = entries[0];
        e->zero = entries[1] & LIBNBD_STATE_ZERO;
    }
    return 0;
}

static int look(Handle *h, uint64_t n, Extent *e)
{
    nbd_extent_callback call = {.callback = note_extent, .user_data = e};

    e->n = 0;
    if (nbd_block_status(h, MIN(n, 1ULL << 31), e->at, call, 0) < 0) {
        return -1;
    }
    e->n = MIN(e->n, n);
    return e->n ? 0 : -1;
}

static int nbd_backing_next_data(Backing *b, uint64_t *at, uint64_t *n)
{
    Extent e = {.at = *at};
    Handle *h;
    int ret = 0;

    if (*at >= b->bytes) {
        return 0;
    }
    *n = b->bytes - *at;
    if (!((Nbd *)b)->can_map) {
        return 1;
    }
    h = take(b);
    do {
        ret = look(h, b->bytes - e.at, &e);
        e.at += ret == 0 && e.zero ? e.n : 0;
    } while (ret == 0 && e.zero && e.at < b->bytes);
    *at = e.at;
    *n = e.n;
    ret = give_back(b, h, ret);
    return ret < 0 ? ret : !e.zero;
}

/* What reads as zeroes is skipped at once, of data a part is zeroed, which the
 * server may do by a hole. */
static int nbd_backing_free(Backing *b, uint64_t at, uint64_t *n, uint64_t unit)
{
    const Nbd *nbd = (Nbd *)b;
    Extent e = {.at = at};
    Handle *h = take(b);
    int ret = 0;

    if (nbd->can_map && look(h, *n, &e) == 0 && e.zero &&
        e.n >= MIN(unit, *n)) {
        *n = e.n < *n ? e.n - e.n % unit : *n;
    } else if (nbd->can_zero) {
        *n = MIN(*n, MAX(FREE_BYTES, unit));
        ret = nbd_zero(h, *n, at, 0);
    }
    return give_back(b, h, ret);
}

/* ---- life ---------------------------------------------------------------- */

/* Until the connection is so.  false: it is not, and has an error or no answer
 * for ANSWER_MS. */
static bool wait_until(Handle *h, int (*is)(Handle *h))
{
    gint64 end_us = g_get_monotonic_time() + ANSWER_MS * 1000LL;
    int ret = 1;

    while (!is(h) && !nbd_aio_is_dead(h) && ret > 0) {
        gint64 left_ms = (end_us - g_get_monotonic_time()) / 1000;

        ret = left_ms > 0 ? nbd_poll(h, left_ms) : 0;
    }
    return is(h);
}

/* Any thread may wait at a connection, which holds the library's lock of it;
 * its socket does not. */
static void nbd_backing_disconnect(Backing *b)
{
    Nbd *nbd = (Nbd *)b;

    g_atomic_int_set(&nbd->disconnected, true);
    for (unsigned i = 0; i < nbd->n; i++) {
        shutdown(nbd->fd[i], SHUT_RDWR);
    }
}

static void nbd_backing_close(Backing *b)
{
    Nbd *nbd = (Nbd *)b;
    Handle *h;

    while ((h = g_async_queue_try_pop(nbd->idle))) {
        if (!g_atomic_int_get(&nbd->disconnected) &&
            nbd_aio_disconnect(h, 0) == 0 &&
            !wait_until(h, nbd_aio_is_closed)) {
            nbd_backing_disconnect(b);
        }
        nbd_close(h);
    }
    g_async_queue_unref(nbd->idle);
    g_free(nbd);
}

static const BackingOps ops = {
    .move = nbd_backing_move,
    .zero = nbd_backing_zero,
    .free = nbd_backing_free,
    .flush = nbd_backing_flush,
    .next_data = nbd_backing_next_data,
    .disconnect = nbd_backing_disconnect,
    .close = nbd_backing_close,
};

static bool fail(const char *uri, const char *why, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "--image %s: %s", uri,
                why);
    return false;
}

static bool add_connection(Nbd *nbd, GError **error)
{
    Handle *h = nbd_create();
    const char *why = NULL;

    if (!h || nbd_add_meta_context(h, LIBNBD_CONTEXT_BASE_ALLOCATION) < 0 ||
        nbd_aio_connect_uri(h, nbd->base.name) < 0) {
        why = nbd_get_error();
    } else if (!wait_until(h, nbd_aio_is_ready)) {
        why = nbd_aio_is_dead(h) ? nbd_get_error() : "no answer for 30 s";
    }
    if (why) {
        fail(nbd->base.name, why, error);
        nbd_close(h);
        return false;
    }
    g_async_queue_push(nbd->idle, h);
    nbd->fd[nbd->n++] = nbd_aio_get_fd(h);
    return true;
}

/* What the server can, of its first connection. */
static bool ask(Nbd *nbd, bool *many, GError **error)
{
    Handle *h = take(&nbd->base);
    int64_t bytes = nbd_get_size(h);
    bool read_only = nbd_is_read_only(h) != 0;

    nbd->can_zero = nbd_can_zero(h) > 0;
    nbd->can_flush = nbd_can_flush(h) > 0;
    nbd->can_map = nbd_can_meta_context(h, LIBNBD_CONTEXT_BASE_ALLOCATION) > 0;
    *many = nbd_can_multi_conn(h) > 0;
    nbd->base.bytes = MAX(bytes, 0);
    give_back(&nbd->base, h, 0);
    return bytes < 0
               ? fail(nbd->base.name, nbd_get_error(), error)
               : !read_only || fail(nbd->base.name, "it is read-only", error);
}

Backing *nbd_backing_open(const char *uri, GError **error)
{
    Nbd *nbd = g_new0(Nbd, 1);
    bool many = false;
    bool ok;

    nbd->base = (Backing){.ops = &ops, .name = uri};
    nbd->idle = g_async_queue_new();
    ok = add_connection(nbd, error) && ask(nbd, &many, error);
    while (ok && many && nbd->n < MOST_CONNECTIONS) {
        ok = add_connection(nbd, error);
    }
    if (!ok) {
        nbd_backing_close(&nbd->base);
        return NULL;
    }
    return &nbd->base;
}

#else

Backing *nbd_backing_open(const char *uri, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSYS,
                "--image %s: this vssd-server was built without libnbd: "
                "install libnbd-dev and build it again",
                uri);
    return NULL;
}

#endif
