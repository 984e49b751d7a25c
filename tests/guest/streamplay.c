/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streamplay.c - plays the writes of a trace to the write streams of a block
 * device, one after the other, by io_uring (Linux 6.16 and later).
 *
 * The trace is csv as the figure warp makes it: "time_us,is_write,page,pages,
 * stream", in pages of 4 KiB.  Times are ignored.  Stream n of the trace is the
 * device's write stream n + 1, so on a vssd drive reclaim unit handle n.
 */
#define _GNU_SOURCE
#include "uring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: streamplay [-n] DEVICE < TRACE\n"
    "\n"
    "  -n  without streams\n"
    "\n"
    "TRACE: lines of time_us,is_write,page,pages,stream below that header.\n"
    "Overwrites the DEVICE.  Prints the number of writes and bytes.\n";

enum {
    PAGE = 4096,
    MAX_PAGES = 256, /* of a write */
    MAX_STREAM = 254,
};

typedef struct Write {
    uint64_t page;
    unsigned pages;
    unsigned stream;
} Write;

static _Noreturn __attribute__((format(printf, 1, 2))) void
die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("streamplay: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

/* The next write; false at the end. */
static bool next(Write *w, uint64_t line)
{
    unsigned is_write;
    int n = scanf("%*u,%u,%" SCNu64 ",%u,%u\n", &is_write, &w->page, &w->pages,
                  &w->stream);

    if (n == EOF) {
        return false;
    }
    if (n != 4 || is_write != 1 || w->pages < 1 || w->pages > MAX_PAGES ||
        w->stream > MAX_STREAM || w->page > INT64_MAX / PAGE - MAX_PAGES) {
        die("line %" PRIu64 ": not a write of 1..%d pages to stream 0..%d",
            line, MAX_PAGES, MAX_STREAM);
    }
    return true;
}

static uint64_t play(Uring *u, int fd, uint8_t *buf, bool none)
{
    uint64_t n = 0, bytes = 0;
    Write w;

    while (next(&w, n + 2)) {
        uint32_t size = w.pages * PAGE;

        memcpy(buf, &n, sizeof(n));
        errno = 0;
        if (uring_write(u, fd, buf, size, w.page * PAGE,
                        none ? 0 : (uint8_t)(w.stream + 1)) != size) {
            die("line %" PRIu64 ": %s", n + 2,
                errno ? strerror(errno) : "short write");
        }
        n++;
        bytes += size;
    }
    printf("%" PRIu64 " writes, %" PRIu64 " bytes\n", n, bytes);
    return n;
}

int main(int argc, char **argv)
{
    static const char header[] = "time_us,is_write,page,pages,stream\n";
    bool none = argc == 3 && strcmp(argv[1], "-n") == 0;
    char line[64];
    Uring u;
    uint8_t *buf;
    int fd;

    if (argc != 2 + none) {
        fputs(usage, stderr);
        return 2;
    }
    if (!fgets(line, sizeof(line), stdin) || strcmp(line, header) != 0) {
        die("the trace does not begin with time_us,is_write,page,pages,stream");
    }
    fd = open(argv[1 + none], O_WRONLY | O_DIRECT | O_EXCL | O_CLOEXEC);
    if (fd < 0) {
        die("%s: %s", argv[1 + none], strerror(errno));
    }
    buf = aligned_alloc(PAGE, MAX_PAGES * PAGE);
    if (!buf || uring_open(&u) < 0) {
        die("io_uring: %s", strerror(errno));
    }
    memset(buf, 0x5a, MAX_PAGES * PAGE);
    play(&u, fd, buf, none);
    if (fsync(fd) < 0) {
        die("%s: fsync: %s", argv[1 + none], strerror(errno));
    }
    return 0;
}
