/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uring.h - writes to the write streams of a block device (Linux 6.16 and
 * later) by io_uring, one at a time.
 *
 * Write streams are numbered from 1 on; the NVMe driver makes stream n the n-th
 * placement handle of the namespace, so on a vssd drive reclaim unit handle
 * n - 1.  They need O_DIRECT: the page cache does not keep them.
 */
#ifndef VSSD_GUEST_URING_H
#define VSSD_GUEST_URING_H

#include <stddef.h>
#include <stdint.h>

typedef struct Uring {
    int fd;
    uint32_t *sq_tail, *sq_mask, *sq_array;
    uint32_t *cq_head, *cq_tail, *cq_mask;
    void *sqes;
    void *cqes;
} Uring;

/* 0, or -1 and errno. */
int uring_open(Uring *u);

/* As pwrite(2) returns; stream 0: none. */
int64_t uring_write(Uring *u, int fd, const void *buf, uint32_t bytes,
                    uint64_t offset, uint8_t stream);

#endif
