/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement.h - the interfaces of Linux for the stream of a file.
 *
 *   fadvise   POSIX_FADV_STREAMID, of the patches in guest-tools/kernel
 *   ioctl     FS_IOC_WRITE_STREAM on xfs, of these patches too, or of a kernel
 *             with the series "xfs write streams" (third version, June 2026)
 *   hint      F_SET_RW_HINT, which reaches the drive up to Linux 5.17, and
 *             there with nvme_core.streams=1: streams 1 to 4
 *
 * All are kept with the inode: whoever writes to it writes to the stream.  For
 * block devices there are two more, which say the stream with each write:
 *
 *   uring     write_stream of io_uring (uring.h): Linux 6.16 and later, FDP
 *   passthru  NVMe commands of the program's own: any Linux, streams or FDP
 */
#ifndef VSSD_GUEST_PLACEMENT_H
#define VSSD_GUEST_PLACEMENT_H

#include <stdbool.h>

#define POSIX_FADV_STREAMID 8
#define FADVISE_STREAMS 255
#define HINT_STREAMS 4

typedef enum Placement {
    PLACEMENT_AUTO,
    PLACEMENT_FADVISE,
    PLACEMENT_IOCTL,
    PLACEMENT_HINT, /* the last of those for inodes */
    PLACEMENT_URING,
    PLACEMENT_PASSTHRU,
} Placement;

/* The placement of that name; -1: there is none. */
int placement_named(const char *name);
const char *placement_name(Placement how);

/* The interface of this kernel for inodes; PLACEMENT_AUTO: nothing.  fd: a file
 * or folder to try it on; it has no stream afterwards. */
Placement placement_found(int fd);

/* The greatest stream for the file or folder; 0: the kernel refuses. */
unsigned placement_streams(int fd, Placement how);

/* Set the stream of an open file; 0: none.  0, or -1 and errno. */
int placement_set(int fd, Placement how, unsigned stream);

#endif
