/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backing.h - where the bytes of one image rest: a raw file or a block device
 * (file.c), or a server of NBD (nbd.c).
 *
 * All calls but open and close may come from several threads at a time, and may
 * wait, but for move_now.
 */
#ifndef VSSD_VFIO_USER_BACKING_H
#define VSSD_VFIO_USER_BACKING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <glib.h>

typedef struct Backing Backing;

/* Calls return 0 or a negative errno where they do not say more. */
typedef struct BackingOps {
    /* All bytes, from or to memory. */
    int (*move)(Backing *b, bool write, const struct iovec *iov, unsigned niov,
                uint64_t at);

    /* Optional: the same without waiting; true: all of the n bytes were moved.
     * From one thread only. */
    bool (*move_now)(Backing *b, bool write, const struct iovec *iov,
                     unsigned niov, uint64_t at, uint64_t n);

    /* The range reads as zeroes from now on. */
    int (*zero)(Backing *b, uint64_t at, uint64_t n);

    /* Free unused space, whose content is nobody's: a part of the range, from
     * its beginning, that takes a host file system some milliseconds.  *n
     * becomes its size: all, or a multiple of unit. */
    int (*free)(Backing *b, uint64_t at, uint64_t *n, uint64_t unit);

    int (*flush)(Backing *b);

    /* The next range from *at on that may hold data, 1; or 0: there is none. */
    int (*next_data)(Backing *b, uint64_t *at, uint64_t *n);

    /* Optional: whoever has the bytes does not answer.  Calls that wait end
     * with an error, and later ones do at once.  From any thread. */
    void (*disconnect)(Backing *b);

    void (*close)(Backing *b);
} BackingOps;

struct Backing {
    const BackingOps *ops;
    const char *name; /* as the user gave it */
    uint64_t bytes;
};

/* Open it for this process alone.  NULL: *error is one line. */
Backing *file_open(const char *path, GError **error);
Backing *nbd_backing_open(const char *uri, GError **error);

#endif
