/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streamwrite.c - writes files under different streams, and asks the drive
 * whether each unit of each file is in erase blocks of its stream.
 *
 * The files are written in turns, a chunk each, so that without streams they
 * would share every page.  FIEMAP reports their place on the drive, and the
 * drive's log page C2h (vendor-log.h) the place in NAND.  On a block device it
 * writes parts of the device in place of files; there also by io_uring's write
 * streams, and by NVMe commands of its own (passthru), which any kernel lets
 * through.  On a drive with FDP stream n is reclaim unit handle n - 1.
 */
#define _GNU_SOURCE
#include "drive.h"
#include "placement.h"
#include "uring.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: streamwrite [-n STREAMS] [-s MIB] [-c KIB] [-m METHOD] [-o | -M]"
    " [-k]\n"
    "                   FOLDER|DEVICE\n"
    "\n"
    "  -n STREAMS  write to streams 1..STREAMS, a file each (default: 4)\n"
    "  -s MIB      size of each file (default: 8)\n"
    "  -c KIB      write so much of a file at a time (default: 64)\n"
    "  -m METHOD   fadvise, ioctl, hint, none; for devices also uring (with "
    "-o)\n"
    "              and passthru; default: what the kernel has\n"
    "  -o          O_DIRECT\n"
    "  -M          write through memory (mmap), files only\n"
    "  -k          keep the files\n"
    "\n"
    "On a DEVICE the first STREAMS * MIB MiB are overwritten.\n"
    "Ends with 0 if every unit lies in blocks of its stream, with 1 if not.\n";

enum {
    MAX_STREAMS = 255,
    PLACES_AT_ONCE = 256,
    OPCODE_WRITE = 0x01,
    OPCODE_DIRECTIVE_SEND = 0x19,
    DIRECTIVE_STREAMS = 1,
    DIRECTIVE_PLACEMENT = 2,
};

typedef struct Job {
    const char *target;
    bool device;
    bool none; /* write without streams */
    bool fdp;  /* stream n is reclaim unit handle n - 1 */
    bool direct;
    bool map; /* write through memory */
    bool keep;
    Placement how;
    unsigned nstreams;
    uint64_t bytes; /* of each file */
    size_t chunk;
    uint8_t *buf;
    int fd[MAX_STREAMS]; /* of the device: all the same */
    uint8_t *memory[MAX_STREAMS]; /* with map: the files */
    Drive drive;
    Uring uring;
    uint64_t start; /* of the file system or device on the drive */
} Job;

/* The drive's answer about one file. */
typedef struct Found {
    uint64_t units;
    uint64_t right;   /* in blocks of the stream alone */
    uint64_t mixed;   /* the stream's, in a block with others' */
    uint64_t other;   /* written to another stream, or none */
    uint64_t pending; /* not in NAND yet */
} Found;

static void file_name(const Job *j, unsigned stream, char *name)
{
    if (snprintf(name, PATH_MAX, "%s/streamwrite.%u", j->target, stream) >=
        PATH_MAX) {
        die("%s: too long", j->target);
    }
}

/* ---- writing ------------------------------------------------------------ */

static void open_all(Job *j)
{
    char name[PATH_MAX];
    int flags = O_RDWR | O_CLOEXEC | (j->direct ? O_DIRECT : 0);

    for (unsigned i = 0; i < j->nstreams; i++) {
        if (j->device && i > 0) {
            j->fd[i] = j->fd[0];
            continue;
        }
        if (j->device) {
            snprintf(name, sizeof(name), "%s", j->target);
            j->fd[i] = open(name, flags | O_EXCL); /* nobody has mounted it */
        } else {
            file_name(j, i + 1, name);
            j->fd[i] = open(name, flags | O_CREAT | O_TRUNC, 0600);
        }
        if (j->fd[i] < 0) {
            die("%s: %s", name, strerror(errno));
        }
    }
}

static void map_all(Job *j)
{
    for (unsigned i = 0; i < j->nstreams; i++) {
        if (ftruncate(j->fd[i], (off_t)j->bytes) < 0) {
            die("%s: %s", j->target, strerror(errno));
        }
        j->memory[i] = mmap(NULL, j->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            j->fd[i], 0);
        if (j->memory[i] == MAP_FAILED) {
            die("%s: mmap: %s", j->target, strerror(errno));
        }
    }
}

/* The write streams that the kernel offers for the device. */
static unsigned write_streams(const Job *j)
{
    char path[128];
    unsigned n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/block/%s/queue/max_write_streams",
             strrchr(j->drive.name, '/') + 1);
    f = fopen(path, "re");
    if (f) {
        if (fscanf(f, "%u", &n) != 1) {
            n = 0;
        }
        fclose(f);
    }
    return n;
}

static void find_method(Job *j)
{
    j->how = placement_found(j->fd[0]);
    if (j->how == PLACEMENT_AUTO && j->device) {
        j->how = j->direct && write_streams(j) ? PLACEMENT_URING
                                               : PLACEMENT_PASSTHRU;
    }
    if (j->how == PLACEMENT_AUTO) {
        die("this kernel knows no streams for files (fadvise: ./vssd kernel"
            " build; hint: Linux up to 5.17 with nvme_core.streams=1)");
    }
}

static unsigned greatest_stream(const Job *j)
{
    if (j->how == PLACEMENT_URING) {
        return write_streams(j);
    }
    if (j->how == PLACEMENT_PASSTHRU) {
        return j->fdp ? j->drive.info.nstreams : FADVISE_STREAMS;
    }
    return placement_streams(j->fd[0], j->how);
}

/* Identify directive, Enable Directive (NVM Express Base 1.4, Directives). */
static void enable_directive(const Job *j)
{
    struct nvme_admin_cmd c = {
        .opcode = OPCODE_DIRECTIVE_SEND,
        .nsid = (uint32_t)ioctl(j->fd[0], NVME_IOCTL_ID),
        .cdw11 = 1, /* type 0, operation 1 */
        .cdw12 = 1 | DIRECTIVE_STREAMS << 8,
    };

    if (ioctl(j->fd[0], NVME_IOCTL_ADMIN_CMD, &c) != 0) {
        die("%s: cannot enable the streams directive", j->drive.name);
    }
}

static void prepare_method(Job *j)
{
    if (j->how == PLACEMENT_URING && !j->direct) {
        die("-m uring: the page cache forgets write streams, so give -o");
    }
    if (j->how == PLACEMENT_URING && write_streams(j) == 0) {
        die("-m uring: no write streams: needs Linux 6.16 or later, and a drive"
            " with FDP (fdp.ruhs)");
    }
    if (j->how == PLACEMENT_URING && uring_open(&j->uring) < 0) {
        die("-m uring: %s", strerror(errno));
    }
    if (j->how == PLACEMENT_IOCTL && greatest_stream(j) == 0) {
        die("-m ioctl: this kernel has no ioctl for streams there (xfs, on a"
            " drive with streams)");
    }
    if (j->how == PLACEMENT_PASSTHRU && !j->fdp) {
        enable_directive(j);
    }
}

static void choose_method(Job *j)
{
    if (j->none) {
        return;
    }
    if (j->how == PLACEMENT_AUTO) {
        find_method(j);
    }
    if (j->how > PLACEMENT_HINT && !j->device) {
        die("-m %s: writes blocks, so give a device", placement_name(j->how));
    }
    prepare_method(j);
    if (j->nstreams > greatest_stream(j)) {
        die("-n %u: %s gives streams 1..%u", j->nstreams,
            placement_name(j->how), greatest_stream(j));
    }
}

static void set_stream(Job *j, int fd, unsigned stream)
{
    if (!j->none && j->how <= PLACEMENT_HINT &&
        placement_set(fd, j->how, stream) < 0) {
        die("stream %u by %s: %s", stream, placement_name(j->how),
            strerror(errno));
    }
}

/* By which number the drive knows a stream. */
static unsigned id_of(const Job *j, unsigned stream)
{
    return j->fdp ? stream - 1 : stream;
}

/* DTYPE in CDW12, DSPEC in CDW13 (NVM command set, Write). */
static void write_passthru(Job *j, unsigned stream, uint64_t at)
{
    uint32_t block = j->drive.info.block_bytes;
    uint64_t lba = (j->start + at) / block;
    uint32_t type = j->fdp ? DIRECTIVE_PLACEMENT : DIRECTIVE_STREAMS;
    struct nvme_passthru_cmd c = {
        .opcode = OPCODE_WRITE,
        .nsid = (uint32_t)ioctl(j->fd[0], NVME_IOCTL_ID),
        .addr = (uintptr_t)j->buf,
        .data_len = (uint32_t)j->chunk,
        .cdw10 = (uint32_t)lba,
        .cdw11 = (uint32_t)(lba >> 32),
        .cdw12 = (uint32_t)(j->chunk / block - 1) | type << 20,
        .cdw13 = id_of(j, stream) << 16,
    };
    int status = ioctl(j->fd[0], NVME_IOCTL_IO_CMD, &c);

    if (status) {
        die("write to stream %u: %s 0x%x", stream,
            status < 0 ? strerror(errno) : "NVMe status",
            status < 0 ? 0 : (unsigned)status);
    }
}

static int64_t write_file(Job *j, unsigned i, uint64_t at)
{
    if (j->map) {
        memcpy(j->memory[i] + at, j->buf, j->chunk);
        return (int64_t)j->chunk;
    }
    if (j->how == PLACEMENT_URING) {
        return uring_write(&j->uring, j->fd[i], j->buf, (uint32_t)j->chunk, at,
                           (uint8_t)(i + 1));
    }
    return pwrite(j->fd[i], j->buf, j->chunk, (off_t)at);
}

static void write_chunk(Job *j, unsigned i, uint64_t at)
{
    uint64_t base = j->device ? i * j->bytes : 0;

    memset(j->buf, (int)(i + 1), j->chunk);
    memcpy(j->buf, &at, sizeof(at));
    if (j->how == PLACEMENT_PASSTHRU) {
        write_passthru(j, i + 1, base + at);
        return;
    }
    if (j->device) {
        set_stream(j, j->fd[i], i + 1); /* one inode for all of them */
    }
    errno = 0;
    if (write_file(j, i, base + at) != (int64_t)j->chunk) {
        die("%s: writing: %s", j->target, errno ? strerror(errno) : "short");
    }
    if (j->device && !j->direct && fdatasync(j->fd[i]) < 0) {
        die("%s: fdatasync: %s", j->target, strerror(errno));
    }
}

static void write_all(Job *j)
{
    for (unsigned i = 0; !j->device && i < j->nstreams; i++) {
        set_stream(j, j->fd[i], i + 1);
    }
    for (uint64_t at = 0; at < j->bytes; at += j->chunk) {
        for (unsigned i = 0; i < j->nstreams; i++) {
            write_chunk(j, i, at);
        }
    }
    for (unsigned i = 0; i < j->nstreams; i++) {
        if (fsync(j->fd[i]) < 0) {
            die("%s: fsync: %s", j->target, strerror(errno));
        }
    }
    if (j->device) {
        set_stream(j, j->fd[0], 0);
    }
}

/* ---- looking ------------------------------------------------------------ */

static void count_place(const Job *j, unsigned stream, const VssdLogPlace *p,
                        Found *f)
{
    f->units++;
    if (p->where != VSSD_PLACE_NAND) {
        f->pending++;
    } else if (drive_stream_id(&j->drive, p->stream) != id_of(j, stream)) {
        f->other++;
    } else if (p->block_stream != p->stream) {
        f->mixed++;
    } else {
        f->right++;
    }
}

/* The units that are in the range as a whole. */
static void look_at(const Job *j, unsigned stream, const DriveRange *r,
                    Found *f)
{
    VssdLogPlace place[PLACES_AT_ONCE];
    uint32_t size = j->drive.info.unit_bytes;
    uint64_t unit = (r->start + size - 1) / size;
    uint64_t end = (r->start + r->bytes) / size;

    while (unit < end) {
        uint64_t n = end - unit < PLACES_AT_ONCE ? end - unit : PLACES_AT_ONCE;

        drive_places(&j->drive, unit, n, place);
        for (uint64_t i = 0; i < n; i++) {
            count_place(j, stream, &place[i], f);
        }
        unit += n;
    }
}

static Found look_at_file(const Job *j, unsigned stream)
{
    Found f = { 0 };
    char name[PATH_MAX];
    size_t n = 1;
    DriveRange part = { j->start + (stream - 1) * j->bytes, j->bytes };
    DriveRange *r;

    if (j->device) {
        look_at(j, stream, &part, &f);
        return f;
    }
    file_name(j, stream, name);
    r = drive_file_ranges(j->fd[stream - 1], name, j->start, &n);
    for (size_t i = 0; i < n; i++) {
        look_at(j, stream, &r[i], &f);
    }
    free(r);
    return f;
}

/* Is every unit where it should be? */
static bool look_at_all(Job *j)
{
    bool good = true;

    printf("%6s %8s %8s %8s %8s %8s\n", "stream", "units", "right", "mixed",
           "other", "buffer");
    for (unsigned s = 1; s <= j->nstreams; s++) {
        Found f = look_at_file(j, s);

        printf("%6u %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
               " %8" PRIu64 "\n",
               s, f.units, f.right, f.mixed, f.other, f.pending);
        good = good && f.units > 0 && f.right == f.units;
    }
    printf("%s: %s by %s%s\n", j->target,
           good ? "every unit lies in blocks of its stream"
                : "NOT every unit lies in blocks of its stream",
           j->none ? "no placement" : placement_name(j->how),
           j->direct ? ", O_DIRECT" : j->map ? ", mmap" : "");
    return good;
}

static void remove_all(const Job *j)
{
    char name[PATH_MAX];

    for (unsigned s = 1; !j->device && !j->keep && s <= j->nstreams; s++) {
        file_name(j, s, name);
        unlink(name);
    }
}

/* ---- options ------------------------------------------------------------ */

static unsigned long number(char option, const char *text, unsigned long min,
                            unsigned long max)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*end || end == text || *text == '-' || n < min || n > max) {
        die("-%c %s: allowed %lu..%lu", option, text, min, max);
    }
    return n;
}

static void method(Job *j, const char *name)
{
    int how = placement_named(name);

    j->none = strcmp(name, "none") == 0;
    if (how < 0 && !j->none) {
        die("-m %s: fadvise, ioctl, hint, uring, passthru, none or auto", name);
    }
    j->how = j->none ? PLACEMENT_AUTO : (Placement)how;
}

static void options(Job *j, int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "n:s:c:m:oMkh")) != -1) {
        switch (c) {
        case 'n':
            j->nstreams = (unsigned)number('n', optarg, 1, MAX_STREAMS);
            break;
        case 's':
            j->bytes = (uint64_t)number('s', optarg, 1, 1 << 20) << 20;
            break;
        case 'c':
            j->chunk = number('c', optarg, 4, 1024) << 10;
            break;
        case 'm':
            method(j, optarg);
            break;
        case 'o':
            j->direct = true;
            break;
        case 'M':
            j->map = true;
            break;
        case 'k':
            j->keep = true;
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        exit(2);
    }
    j->target = argv[optind];
    if (j->bytes % j->chunk || j->chunk % 4096) {
        die("-c %zu: must divide the size, and be a multiple of 4",
            j->chunk >> 10);
    }
}

int main(int argc, char **argv)
{
    static Job j = { .nstreams = 4, .bytes = 8 << 20, .chunk = 64 << 10 };
    struct stat st;
    bool good;

    options(&j, argc, argv);
    if (stat(j.target, &st) < 0) {
        die("%s: %s", j.target, strerror(errno));
    }
    j.device = S_ISBLK(st.st_mode);
    if (j.map && (j.device || j.direct)) {
        die("-M: for files, without -o");
    }
    if (!j.device && !S_ISDIR(st.st_mode)) {
        die("%s: neither a folder nor a block device", j.target);
    }
    drive_open_below(&j.drive, j.target, &j.start);
    if (j.drive.info.nstreams < 2 && !j.none) {
        die("%s has no streams: give it some (streams.max, fdp.ruhs)",
            j.drive.name);
    }
    j.buf = aligned_alloc(4096, j.chunk);
    if (!j.buf) {
        die("out of memory");
    }
    drive_read_streams(&j.drive);
    j.fdp = drive_stream_id(&j.drive, 0) == 0; /* handle 0: FDP */
    open_all(&j);
    choose_method(&j);
    if (j.map) {
        map_all(&j);
    }
    write_all(&j);
    drive_read_streams(&j.drive);
    good = look_at_all(&j);
    remove_all(&j);
    return good ? 0 : 1;
}
