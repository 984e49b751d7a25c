/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.h - a vssd drive, as a program in the guest sees it: its own log pages
 * (vendor-log.h), and which drive a file is on.
 *
 * Every function that fails says why on stderr and ends the program with
 * status 2: the tools have nothing else to do then.
 */
#ifndef VSSD_GUEST_DRIVE_H
#define VSSD_GUEST_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vendor-log.h"

#define DRIVE_NO_STREAM 0xffff

typedef struct Drive {
    int fd;
    char name[64]; /* /dev/nvme0n1 */
    VssdLogDrive info;
    VssdLogStream *streams; /* info.nstreams + 1; drive_read_streams() */
} Drive;

/* A part of a file in bytes of the drive. */
typedef struct DriveRange {
    uint64_t start;
    uint64_t bytes;
} DriveRange;

_Noreturn void die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* name: /dev/nvme0, /dev/nvme0n1, or NULL: the first vssd drive. */
void drive_open(Drive *d, const char *name);

/* The drive below a file or a folder, and where on it the file system (or
 * block device) begins, in bytes. */
void drive_open_below(Drive *d, const char *path, uint64_t *start);

/* Read bytes of a log page; offset and bytes are multiples of 4. */
void drive_log(const Drive *d, uint8_t id, uint64_t offset, void *to,
               size_t bytes);

void drive_read_info(Drive *d);
void drive_read_streams(Drive *d);

/* The host's number of a stream of the model, or DRIVE_NO_STREAM. */
uint16_t drive_stream_id(const Drive *d, uint16_t stream);

/* Places of n units from the first on. */
void drive_places(const Drive *d, uint64_t first, uint64_t n,
                  VssdLogPlace *to);

/* Where an open file is, by FIEMAP; start as from drive_open_below().  free()
 * the result. */
DriveRange *drive_file_ranges(int fd, const char *path, uint64_t start,
                              size_t *n);

#endif
