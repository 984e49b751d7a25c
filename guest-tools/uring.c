/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uring.c - see uring.h.  The two system calls and nothing else (io_uring(7)):
 * no library that the guest would have to have.
 */
#define _GNU_SOURCE
#include "uring.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES = 1 };

static void *map(int fd, size_t bytes, off_t offset)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_POPULATE, fd, offset);
}

int uring_open(Uring *u)
{
    struct io_uring_params p = { 0 };
    size_t sq_bytes, cq_bytes;
    char *sq, *cq;

    u->fd = (int)syscall(__NR_io_uring_setup, ENTRIES, &p);
    if (u->fd < 0) {
        return -1;
    }
    sq_bytes = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
    cq_bytes = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    sq = map(u->fd, sq_bytes, IORING_OFF_SQ_RING);
    cq = map(u->fd, cq_bytes, IORING_OFF_CQ_RING);
    u->sqes = map(u->fd, p.sq_entries * sizeof(struct io_uring_sqe),
                  IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || u->sqes == MAP_FAILED) {
        close(u->fd);
        return -1;
    }
    u->sq_tail = (uint32_t *)(sq + p.sq_off.tail);
    u->sq_mask = (uint32_t *)(sq + p.sq_off.ring_mask);
    u->sq_array = (uint32_t *)(sq + p.sq_off.array);
    u->cq_head = (uint32_t *)(cq + p.cq_off.head);
    u->cq_tail = (uint32_t *)(cq + p.cq_off.tail);
    u->cq_mask = (uint32_t *)(cq + p.cq_off.ring_mask);
    u->cqes = cq + p.cq_off.cqes;
    return 0;
}

static void put(Uring *u, const struct io_uring_sqe *sqe)
{
    uint32_t tail = *u->sq_tail;
    uint32_t slot = tail & *u->sq_mask;

    ((struct io_uring_sqe *)u->sqes)[slot] = *sqe;
    u->sq_array[slot] = slot;
    __atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

static int32_t take(Uring *u)
{
    uint32_t head = *u->cq_head;
    const struct io_uring_cqe *cqes = u->cqes;
    int32_t result = cqes[head & *u->cq_mask].res;

    __atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
    return result;
}

int64_t uring_write(Uring *u, int fd, const void *buf, uint32_t bytes,
                    uint64_t offset, uint8_t stream)
{
    /* write_stream is the byte where splice_fd_in begins; headers older than
     * Linux 6.16 have no name for it. */
    struct io_uring_sqe sqe = {
        .opcode = IORING_OP_WRITE,
        .fd = fd,
        .off = offset,
        .addr = (uintptr_t)buf,
        .len = bytes,
        .splice_fd_in = stream,
    };
    int32_t result;

    put(u, &sqe);
    while (__atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE) == *u->cq_head) {
        if (syscall(__NR_io_uring_enter, u->fd, ENTRIES, 1,
                    IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
            errno != EINTR) {
            return -1;
        }
    }
    result = take(u);
    if (result < 0) {
        errno = -result;
        return -1;
    }
    return result;
}
