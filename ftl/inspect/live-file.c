/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live-file.c - see live-file.h.
 *
 * Knows the header and who may write it; knows nothing of what a picture shows.
 *
 * Readers map the file; the drive does not.  It writes by pwrite(), so a file
 * that somebody truncates, or a full disk, gives an error here, where a mapping
 * would give SIGBUS.  Each write is a system call, so a reader sees them in
 * this order: an odd sequence, the picture, the next even sequence.
 */
#include "inspect/live-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filelock.h"
#include "invariant.h"
#include "replace.h"
#include "signature.h"

G_STATIC_ASSERT(offsetof(LiveHeader, state) == 12);
G_STATIC_ASSERT(offsetof(LiveHeader, process) == 56);
G_STATIC_ASSERT(offsetof(LiveHeader, sequence) == 64);
G_STATIC_ASSERT(offsetof(LiveHeader, wanted_ns) == 72);
G_STATIC_ASSERT(sizeof(LiveHeader) == 96);

struct LiveFile {
    char *path;
    FileLock *lock;
    int fd;
    int error; /* errno of the first write that failed, or 0 */
    LiveHeader header;
};

static bool cannot(const char *path, int err, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(err), "%s: %s",
                path, g_strerror(err));
    return false;
}

/* ---- a new file ---------------------------------------------------------- */

static bool is_live(int fd)
{
    char first[8];
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           pread(fd, first, sizeof(first), 0) == (ssize_t)sizeof(first) &&
           signature_is(first, LIVE_SIGNATURE);
}

/* What is there may be replaced, or there is nothing. */
static bool may_replace(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    bool ok;

    if (fd < 0) {
        return errno == ENOENT || cannot(path, errno, error);
    }
    ok = is_live(fd);
    close(fd);
    if (!ok) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s: is there, and is no live file", path);
    }
    return ok;
}

typedef struct Contents {
    const LiveHeader *header;
    const GString *layout;
} Contents;

/* As far as it goes; the rest of the file is zeroes. */
static bool write_first(FILE *out, const Contents *c)
{
    static const char zeroes[LIVE_HEADER_BYTES];
    const LiveHeader *h = c->header;
    uint64_t left = h->file_bytes - h->layout_at - h->layout_bytes;
    bool ok = fwrite(h, sizeof(*h), 1, out) == 1 &&
              fwrite(zeroes, LIVE_HEADER_BYTES - sizeof(*h), 1, out) == 1 &&
              fwrite(c->layout->str, 1, c->layout->len, out) == c->layout->len;

    while (ok && left > 0) {
        size_t n = (size_t)MIN(left, sizeof(zeroes));

        ok = fwrite(zeroes, 1, n, out) == n;
        left -= n;
    }
    return ok;
}

/* ReplaceWriter: every byte is written, so that the disk has room for all. */
static bool write_contents(void *opaque, FILE *out, GError **error)
{
    if (write_first(out, opaque)) {
        return true;
    }
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                "it cannot be written: %s", g_strerror(errno));
    return false;
}

static bool create(LiveFile *f, const GString *layout, GError **error)
{
    Contents c = {&f->header, layout};

    if (!filelock_take(f->path, &f->lock, error) ||
        !may_replace(f->path, error) ||
        !replace_file(f->path, write_contents, &c, error)) {
        return false;
    }
    f->fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    return f->fd >= 0 || cannot(f->path, errno, error);
}

LiveFile *live_file_new(const char *path, const GString *layout,
                        size_t picture_bytes, GError **error)
{
    LiveFile *f = g_new0(LiveFile, 1);
    uint64_t end = LIVE_HEADER_BYTES + layout->len;
    uint64_t picture_at =
        (end + LIVE_HEADER_BYTES - 1) / LIVE_HEADER_BYTES * LIVE_HEADER_BYTES;

    f->path = g_strdup(path);
    f->fd = -1;
    f->header = (LiveHeader){
        .signature = LIVE_SIGNATURE,
        .header_bytes = LIVE_HEADER_BYTES,
        .state = LIVE_RUNS,
        .file_bytes = picture_at + picture_bytes,
        .layout_at = LIVE_HEADER_BYTES,
        .layout_bytes = layout->len,
        .picture_at = picture_at,
        .picture_bytes = picture_bytes,
        .process = (uint64_t)getpid(),
    };
    if (!create(f, layout, error)) {
        g_clear_pointer(&f, live_file_free);
    }
    return f;
}

/* ---- writing ------------------------------------------------------------- */

/* false with errno. */
static bool write_at(LiveFile *f, const void *from, size_t n, uint64_t at)
{
    const char *byte = from;

    while (n > 0) {
        ssize_t done = pwrite(f->fd, byte, n, (off_t)at);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            f->error = done < 0 ? errno : ENOSPC;
            return false;
        }
        byte += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}

#define PUT(f, member)                                                         \
    write_at(f, &(f)->header.member, sizeof((f)->header.member),               \
             offsetof(LiveHeader, member))

bool live_file_write(LiveFile *f, uint64_t host_ns, const void *picture)
{
    LiveHeader *h = &f->header;

    if (f->error) {
        return false;
    }
    h->sequence++;
    if (!PUT(f, sequence) ||
        !write_at(f, picture, (size_t)h->picture_bytes, h->picture_at)) {
        return false;
    }
    h->written_ns = host_ns;
    h->pictures++;
    h->sequence++;
    return PUT(f, written_ns) && PUT(f, pictures) && PUT(f, sequence);
}

bool live_file_wanted(LiveFile *f, uint64_t host_ns)
{
    uint64_t most_ns = host_ns + LIVE_MOST_WANTED_NS;
    uint64_t wanted_ns;

    if (f->error ||
        pread(f->fd, &wanted_ns, sizeof(wanted_ns),
              offsetof(LiveHeader, wanted_ns)) != (ssize_t)sizeof(wanted_ns)) {
        return false;
    }
    if (wanted_ns > most_ns) {
        /* Readers raise it only: written down, so that it ends. */
        f->header.wanted_ns = most_ns;
        return PUT(f, wanted_ns);
    }
    return wanted_ns > host_ns;
}

void live_file_resume(LiveFile *f)
{
    LiveHeader now;

    if (pread(f->fd, &now, sizeof(now), 0) == (ssize_t)sizeof(now)) {
        f->header.sequence = now.sequence + now.sequence % 2;
        f->header.pictures = now.pictures;
    }
}

/* ---- the end ------------------------------------------------------------- */

void live_file_free(LiveFile *f)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    filelock_release(f->lock);
    g_free(f->path);
    g_free(f);
}

bool live_file_end(LiveFile *f, GError **error)
{
    bool ok;

    f->header.state = LIVE_HAS_ENDED;
    ok = !f->error && PUT(f, state);
    if (!ok) {
        cannot(f->path, f->error, error);
    }
    live_file_free(f);
    return ok;
}
