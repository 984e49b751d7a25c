/* SPDX-License-Identifier: GPL-2.0-or-later */
/* placement.c - see placement.h. */
#define _GNU_SOURCE
#include "placement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#ifndef F_SET_RW_HINT
#define F_SET_RW_HINT 1036 /* F_LINUX_SPECIFIC_BASE + 12 */
#endif
#define RWH_NONE 1 /* stream n is hint n + 1 */

/* Linux has no header for it yet: the third version of "xfs write streams". */
typedef struct WriteStream {
    uint32_t op;
    uint32_t stream; /* of SET and GET; of GET_MAX the greatest */
    uint64_t reserved;
} WriteStream;

enum { OP_GET_MAX = 1 << 0, OP_SET = 1 << 2 };

#define WRITE_STREAM _IOWR('f', 135, WriteStream)

static const char *const names[] = {"auto", "fadvise", "ioctl",
                                    "hint", "uring",   "passthru"};

int placement_named(const char *name)
{
    for (int i = 0; i <= PLACEMENT_PASSTHRU; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

const char *placement_name(Placement how)
{
    return names[how];
}

/* Does the NVMe driver turn write hints into streams? */
static bool driver_streams(void)
{
    int c = 0;
    FILE *f = fopen("/sys/module/nvme_core/parameters/streams", "re");

    if (f) {
        c = getc(f);
        fclose(f);
    }
    return c == 'Y';
}

Placement placement_found(int fd)
{
    if (placement_set(fd, PLACEMENT_FADVISE, 0) == 0) {
        return PLACEMENT_FADVISE;
    }
    if (placement_streams(fd, PLACEMENT_IOCTL) > 0) {
        return PLACEMENT_IOCTL;
    }
    return driver_streams() ? PLACEMENT_HINT : PLACEMENT_AUTO;
}

static unsigned ioctl_streams(int fd)
{
    WriteStream w = {.op = OP_GET_MAX};

    return ioctl(fd, WRITE_STREAM, &w) < 0 ? 0 : w.stream;
}

unsigned placement_streams(int fd, Placement how)
{
    if (how == PLACEMENT_IOCTL) {
        return ioctl_streams(fd);
    }
    return how == PLACEMENT_HINT ? HINT_STREAMS : FADVISE_STREAMS;
}

int placement_set(int fd, Placement how, unsigned stream)
{
    if (how == PLACEMENT_FADVISE) {
        errno = posix_fadvise(fd, stream, 0, POSIX_FADV_STREAMID);
        return errno ? -1 : 0;
    }
    if (how == PLACEMENT_IOCTL) {
        WriteStream w = {.op = OP_SET, .stream = stream};

        return ioctl(fd, WRITE_STREAM, &w);
    }
    if (how == PLACEMENT_HINT && stream <= HINT_STREAMS) {
        uint64_t hint = stream + RWH_NONE;

        return fcntl(fd, F_SET_RW_HINT, &hint);
    }
    errno = EINVAL;
    return -1;
}
