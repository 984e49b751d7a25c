// SPDX-License-Identifier: GPL-3.0+
/*
 * Copyright (C) 2026 the authors of vssd
 *
 * write-stream DEVICE STREAM OFFSET BYTES: one O_DIRECT write of BYTES bytes at
 * byte OFFSET with a write stream, by io_uring.
 *
 * The kernel refuses a stream that the device does not have (EINVAL).  Exit
 * status: 0, or 1 after one line on stderr.
 */

#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *ring_map(int ring, size_t bytes, off_t what)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, ring, what);

	if (p == MAP_FAILED)
		err(1, "mmap");
	return p;
}

/* One write, and its result: bytes or a negative errno. */
static int write_once(int fd, uint8_t stream, uint64_t offset, void *data,
		      uint32_t bytes)
{
	struct io_uring_params p = {0};
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	uint32_t *sq_tail, *sq_array, *cq_head;
	char *sq, *cq;
	int ring = syscall(__NR_io_uring_setup, 1, &p);

	if (ring < 0)
		err(1, "io_uring_setup");
	sq = ring_map(ring, p.sq_off.array + p.sq_entries * sizeof(uint32_t),
		      IORING_OFF_SQ_RING);
	cq = ring_map(ring, p.cq_off.cqes + p.cq_entries * sizeof(*cqe),
		      IORING_OFF_CQ_RING);
	sqe = ring_map(ring, p.sq_entries * sizeof(*sqe), IORING_OFF_SQES);
	sq_tail = (uint32_t *)(sq + p.sq_off.tail);
	sq_array = (uint32_t *)(sq + p.sq_off.array);
	cq_head = (uint32_t *)(cq + p.cq_off.head);
	cqe = (struct io_uring_cqe *)(cq + p.cq_off.cqes);

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_WRITE;
	sqe->fd = fd;
	sqe->off = offset;
	sqe->addr = (uintptr_t)data;
	sqe->len = bytes;
	/* Headers older than Linux 6.16 have no name for this byte. */
	memcpy(&sqe->splice_fd_in, &stream, sizeof(stream));
	sq_array[0] = 0;
	__atomic_store_n(sq_tail, *sq_tail + 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		err(1, "io_uring_enter");
	__atomic_store_n(cq_head, *cq_head + 1, __ATOMIC_RELEASE);
	return cqe->res;
}

int main(int argc, char **argv)
{
	uint32_t bytes;
	unsigned long stream;
	void *data;
	int fd, res;

	if (argc != 5)
		errx(1, "usage: %s DEVICE STREAM OFFSET BYTES", argv[0]);
	fd = open(argv[1], O_WRONLY | O_DIRECT);
	if (fd < 0)
		err(1, "%s", argv[1]);
	stream = strtoul(argv[2], NULL, 0);
	bytes = strtoul(argv[4], NULL, 0);
	if (stream > UINT8_MAX)
		errx(1, "stream %lu: at most %d", stream, UINT8_MAX);
	if (posix_memalign(&data, 4096, bytes))
		errx(1, "no memory");
	memset(data, 0x5a, bytes);
	res = write_once(fd, stream, strtoull(argv[3], NULL, 0), data, bytes);
	if (res < 0)
		errx(1, "write: %s", strerror(-res));
	if ((uint32_t)res != bytes)
		errx(1, "write: %d of %u bytes", res, bytes);
	return 0;
}
