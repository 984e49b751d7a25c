/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - see drive.h.  Log pages come by the NVMe driver's passthrough
 * (NVME_IOCTL_ADMIN_CMD), which every kernel since 3.3 has.
 */
#define _GNU_SOURCE
#include "drive.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    OPCODE_GET_LOG_PAGE = 0x02,
    LOG_CHUNK = 4096, /* any controller transfers a page of memory */
    MAX_NVME = 64,
    EXTENTS = 256,
};

void die(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

/* ---- log pages ---------------------------------------------------------- */

/* An NVMe status, or a negative errno. */
static int get_log(int fd, uint8_t id, uint64_t offset, void *to, uint32_t n)
{
    struct nvme_admin_cmd c = {
        .opcode = OPCODE_GET_LOG_PAGE,
        .nsid = 0xffffffff,
        .addr = (uintptr_t)to,
        .data_len = n,
        .cdw10 = id | (n / 4 - 1) << 16,
        .cdw12 = (uint32_t)offset,
        .cdw13 = (uint32_t)(offset >> 32),
    };
    int status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &c);

    return status < 0 ? -errno : status;
}

void drive_log(const Drive *d, uint8_t id, uint64_t offset, void *to,
               size_t bytes)
{
    for (size_t done = 0; done < bytes; done += LOG_CHUNK) {
        size_t n = bytes - done < LOG_CHUNK ? bytes - done : LOG_CHUNK;
        int status = get_log(d->fd, id, offset + done, (char *)to + done,
                             (uint32_t)n);

        if (status < 0) {
            die("%s: log page %02xh: %s", d->name, id, strerror(-status));
        }
        if (status > 0) {
            die("%s: log page %02xh: NVMe status 0x%x", d->name, id, status);
        }
    }
}

static bool is_ours(const VssdLogDrive *info)
{
    return memcmp(info->magic, VSSD_LOG_MAGIC, sizeof(info->magic)) == 0 &&
           info->unit_bytes > 0;
}

/* Pages of another version have entries of another size. */
static void check_version(const Drive *d)
{
    if (d->info.version != VSSD_LOG_VERSION) {
        die("%s: its log pages have version %u, this program reads %u: use the"
            " program of the drive's vssd",
            d->name, d->info.version, VSSD_LOG_VERSION);
    }
}

void drive_read_info(Drive *d)
{
    drive_log(d, VSSD_LOG_DRIVE, 0, &d->info, sizeof(d->info));
}

void drive_read_streams(Drive *d)
{
    size_t n = (size_t)d->info.nstreams + 1;

    free(d->streams);
    d->streams = calloc(n, sizeof(*d->streams));
    if (!d->streams) {
        die("out of memory");
    }
    drive_log(d, VSSD_LOG_STREAMS, 0, d->streams, n * sizeof(*d->streams));
}

uint16_t drive_stream_id(const Drive *d, uint16_t stream)
{
    if (stream >= d->info.nstreams) {
        return DRIVE_NO_STREAM;
    }
    return d->streams[stream].id;
}

void drive_places(const Drive *d, uint64_t first, uint64_t n, VssdLogPlace *to)
{
    drive_log(d, VSSD_LOG_PLACE, first * sizeof(*to), to,
              (size_t)n * sizeof(*to));
}

/* ---- finding a drive ---------------------------------------------------- */

static bool try_open(Drive *d, const char *name)
{
    snprintf(d->name, sizeof(d->name), "%s", name);
    d->fd = open(name, O_RDONLY | O_CLOEXEC);
    if (d->fd < 0) {
        return false;
    }
    if (get_log(d->fd, VSSD_LOG_DRIVE, 0, &d->info, sizeof(d->info)) == 0 &&
        is_ours(&d->info)) {
        return true;
    }
    close(d->fd);
    errno = ENOTTY;
    return false;
}

void drive_open(Drive *d, const char *name)
{
    char path[32];

    memset(d, 0, sizeof(*d));
    if (name) {
        if (!try_open(d, name)) {
            die("%s: %s", name, errno == ENOTTY ? "not a vssd drive"
                                                : strerror(errno));
        }
        check_version(d);
        return;
    }
    for (int i = 0; i < MAX_NVME; i++) {
        snprintf(path, sizeof(path), "/dev/nvme%d", i);
        if (try_open(d, path)) {
            check_version(d);
            return;
        }
    }
    die("no vssd drive among /dev/nvme0..%d (or not root?)", MAX_NVME - 1);
}

/* A number that a file of sysfs holds; 0 if there is none. */
static uint64_t sysfs_number(const char *path)
{
    unsigned long long value = 0;
    FILE *f = fopen(path, "re");

    if (f) {
        if (fscanf(f, "%llu", &value) != 1) {
            value = 0;
        }
        fclose(f);
    }
    return value;
}

void drive_open_below(Drive *d, const char *path, uint64_t *start)
{
    char dir[64], file[128], target[512], dev[300];
    struct stat st;
    dev_t id;
    ssize_t n;
    char *name;

    if (stat(path, &st) < 0) {
        die("%s: %s", path, strerror(errno));
    }
    id = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
    snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(id), minor(id));
    n = readlink(dir, target, sizeof(target) - 1);
    if (n < 0) {
        die("%s lies on no block device", path);
    }
    target[n] = '\0';
    snprintf(file, sizeof(file), "%s/start", dir);
    *start = sysfs_number(file) * 512;
    snprintf(file, sizeof(file), "%s/partition", dir);
    if (access(file, F_OK) == 0) {
        *strrchr(target, '/') = '\0'; /* the disk that it is a part of */
    }
    name = strrchr(target, '/');
    snprintf(dev, sizeof(dev), "/dev/%.250s", name ? name + 1 : target);
    drive_open(d, dev);
}

/* ---- files -------------------------------------------------------------- */

/* size: of the file; file systems keep room beyond its end. */
static void add_extent(const struct fiemap_extent *e, const char *path,
                       uint64_t start, uint64_t size, DriveRange *r)
{
    uint64_t left = size - e->fe_logical;

    if (e->fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC |
                       FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_INLINE)) {
        die("%s: not all of it has a place on the device (flags 0x%x)", path,
            e->fe_flags);
    }
    r->start = start + e->fe_physical;
    r->bytes = e->fe_length < left ? e->fe_length : left;
}

DriveRange *drive_file_ranges(int fd, const char *path, uint64_t start,
                              size_t *n)
{
    size_t head = sizeof(struct fiemap);
    struct fiemap *m = malloc(head + EXTENTS * sizeof(m->fm_extents[0]));
    DriveRange *ranges = NULL;
    uint64_t from = 0;
    bool last = false;
    struct stat st;

    if (fstat(fd, &st) < 0) {
        die("%s: %s", path, strerror(errno));
    }
    *n = 0;
    while (m && !last && from < (uint64_t)st.st_size) {
        memset(m, 0, head);
        m->fm_start = from;
        m->fm_length = (uint64_t)st.st_size - from;
        m->fm_flags = FIEMAP_FLAG_SYNC;
        m->fm_extent_count = EXTENTS;
        if (ioctl(fd, FS_IOC_FIEMAP, m) < 0) {
            die("%s: FIEMAP: %s", path, strerror(errno));
        }
        if (m->fm_mapped_extents == 0) {
            break;
        }
        ranges = realloc(ranges, (*n + m->fm_mapped_extents) *
                                     sizeof(*ranges));
        if (!ranges) {
            die("out of memory");
        }
        for (unsigned i = 0; i < m->fm_mapped_extents; i++) {
            const struct fiemap_extent *e = &m->fm_extents[i];

            add_extent(e, path, start, (uint64_t)st.st_size,
                       &ranges[(*n)++]);
            from = e->fe_logical + e->fe_length;
            last = e->fe_flags & FIEMAP_EXTENT_LAST;
        }
    }
    free(m);
    return ranges;
}
