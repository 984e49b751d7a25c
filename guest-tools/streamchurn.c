/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streamchurn.c - a load of three lifetimes: hot, warm and cold files that are
 * written again and again, each lifetime to a stream of its own.
 *
 * A tenth of the data is hot and gets six tenths of the writes, three tenths
 * are warm and get three, six tenths are cold and get one.  A file of a file
 * system is truncated and rewritten; on a block device parts of the device
 * stand for files, written by O_DIRECT.  The seed alone decides the order.
 *
 * Does not know what the drive makes of it: vssdctl shows that.
 */
#define _GNU_SOURCE
#include "drive.h"
#include "placement.h"
#include "uring.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: streamchurn [-m METHOD] [-p MIB] [-w MIB] [-s SEED] [-c]"
    " FOLDER|DEVICE\n"
    "\n"
    "  -m METHOD  how hot, warm and cold data get streams 1 to 3: fadvise, "
    "ioctl,\n"
    "             hint; for devices also uring; temperature: write hints short "
    "and\n"
    "             extreme for hot and cold, which F2FS heeds; none (default)\n"
    "  -p MIB     data at a time (default: 64)\n"
    "  -w MIB     writes after that (default: 256)\n"
    "  -s SEED    of the order (default: 1)\n"
    "  -c         only check the method\n"
    "\n"
    "Files are TARGET/hot.N, warm.N and cold.N.  Ends with 2 and a line if "
    "the\n"
    "kernel, the file system or the drive lacks the method.\n";

enum {
    FILE_BYTES = 256 << 10,
    NO_METHOD = -1,
    TEMPERATURE = -2, /* in place of a Placement */
    HINT_SHORT = 2,   /* RWH_WRITE_LIFE_SHORT, _EXTREME */
    HINT_EXTREME = 5,
    SET_RW_HINT = 1036,
};

typedef struct Life {
    const char *name;
    unsigned data_tenths;
    unsigned write_tenths;
    unsigned hint;     /* for F2FS; 0: none */
    uint64_t first, n; /* files */
} Life;

static Life lives[] = {
    {.name = "hot", .data_tenths = 1, .write_tenths = 6, .hint = HINT_SHORT},
    {.name = "warm", .data_tenths = 3, .write_tenths = 3},
    {.name = "cold", .data_tenths = 6, .write_tenths = 1, .hint = HINT_EXTREME},
};

enum { N_LIVES = sizeof(lives) / sizeof(lives[0]) };

typedef struct Churn {
    const char *target;
    bool device;
    int how; /* a Placement, NO_METHOD or TEMPERATURE */
    int fd;  /* of the device, or of the folder */
    uint64_t data_mib, write_mib;
    uint64_t random; /* state of the generator */
    bool only_check;
    uint8_t *buf;
    Uring uring;
} Churn;

/* xorshift64* (Marsaglia 2003; Vigna 2016): below n. */
static uint64_t below(Churn *c, uint64_t n)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return (c->random * 0x2545f4914f6cdd1d >> 33) % n;
}

/* ---- the method --------------------------------------------------------- */

/* The write streams that the kernel offers for the device. */
static unsigned write_streams(const Churn *c)
{
    char path[PATH_MAX];
    unsigned n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/block/%s/queue/max_write_streams",
             strrchr(c->target, '/') + 1);
    f = fopen(path, "re");
    if (f) {
        if (fscanf(f, "%u", &n) != 1) {
            n = 0;
        }
        fclose(f);
    }
    return n;
}

static void check_streams(const Churn *c, unsigned n)
{
    const char *name = placement_name((Placement)c->how);

    if (n == 0) {
        die("%s: this kernel has no %s for streams there", c->target, name);
    }
    if (n < N_LIVES) {
        die("%s: %s gives streams 1..%u, the load needs %d", c->target, name, n,
            N_LIVES);
    }
}

static void check_method(Churn *c)
{
    if (c->how == NO_METHOD || c->how == TEMPERATURE) {
        return;
    }
    if (c->how == PLACEMENT_URING) {
        if (!c->device) {
            die("%s: io_uring's write streams are for block devices",
                c->target);
        }
        check_streams(c, write_streams(c));
        if (uring_open(&c->uring) < 0) {
            die("io_uring: %s", strerror(errno));
        }
        return;
    }
    if (c->how == PLACEMENT_HINT && placement_found(c->fd) != PLACEMENT_HINT) {
        die("this kernel does not turn write hints into streams: needs Linux"
            " 4.13 to 5.17 with nvme_core.streams=1");
    }
    if (c->how == PLACEMENT_FADVISE && placement_set(c->fd, c->how, 0) < 0) {
        check_streams(c, 0);
    }
    check_streams(c, placement_streams(c->fd, (Placement)c->how));
}

static void give_stream(const Churn *c, int fd, unsigned life)
{
    uint64_t hint = lives[life].hint;
    int status = 0;

    if (c->how == TEMPERATURE) {
        status = hint ? fcntl(fd, SET_RW_HINT, &hint) : 0;
    } else if (c->how != NO_METHOD && c->how != PLACEMENT_URING) {
        status = placement_set(fd, (Placement)c->how, life + 1);
    }
    if (status < 0) {
        die("%s: stream %u: %s", c->target, life + 1, strerror(errno));
    }
}

/* ---- the load ----------------------------------------------------------- */

static void write_part(Churn *c, unsigned life, uint64_t file)
{
    uint64_t at = file * FILE_BYTES;
    int64_t n;

    if (c->how == PLACEMENT_URING) {
        n = uring_write(&c->uring, c->fd, c->buf, FILE_BYTES, at,
                        (uint8_t)(life + 1));
    } else {
        give_stream(c, c->fd, life);
        n = pwrite(c->fd, c->buf, FILE_BYTES, (off_t)at);
    }
    if (n != FILE_BYTES) {
        die("%s: %s", c->target, n < 0 ? strerror(errno) : "short write");
    }
}

static void write_file(Churn *c, unsigned life, uint64_t file)
{
    char name[PATH_MAX];
    int fd;

    if (c->device) {
        write_part(c, life, file);
        return;
    }
    snprintf(name, sizeof(name), "%s/%s.%llu", c->target, lives[life].name,
             (unsigned long long)(file - lives[life].first));
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        die("%s: %s", name, strerror(errno));
    }
    give_stream(c, fd, life);
    if (write(fd, c->buf, FILE_BYTES) != FILE_BYTES || close(fd) < 0) {
        die("%s: %s", name, strerror(errno));
    }
}

/* Write all files once, those of all lives in one random order. */
static void fill(Churn *c, uint64_t n)
{
    uint64_t *order = calloc(n, sizeof(*order));

    if (!order) {
        die("out of memory");
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t k = below(c, i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (uint64_t i = 0; i < n; i++) {
        unsigned life = 0;

        while (order[i] >= lives[life].first + lives[life].n) {
            life++;
        }
        write_file(c, life, order[i]);
    }
    free(order);
}

static unsigned pick_life(Churn *c)
{
    uint64_t tenth = below(c, 10);
    unsigned life = 0;

    while (tenth >= lives[life].write_tenths) {
        tenth -= lives[life++].write_tenths;
    }
    return life;
}

static void churn(Churn *c)
{
    uint64_t n = (c->data_mib << 20) / FILE_BYTES;
    uint64_t first = 0;

    for (unsigned i = 0; i < N_LIVES; i++) {
        lives[i].first = first;
        lives[i].n = n * lives[i].data_tenths / 10;
        first += lives[i].n;
    }
    fill(c, first);
    for (uint64_t i = 0; i < (c->write_mib << 20) / FILE_BYTES; i++) {
        unsigned life = pick_life(c);

        write_file(c, life, lives[life].first + below(c, lives[life].n));
    }
    if (c->device ? fsync(c->fd) < 0 : syncfs(c->fd) < 0) {
        die("%s: %s", c->target, strerror(errno));
    }
}

/* ---- the command line --------------------------------------------------- */

static int method(const char *name)
{
    int how = strcmp(name, "none") == 0          ? NO_METHOD
              : strcmp(name, "temperature") == 0 ? TEMPERATURE
                                                 : placement_named(name);

    if (how == PLACEMENT_AUTO || how == PLACEMENT_PASSTHRU ||
        (how < 0 && strcmp(name, "none") != 0 && how != TEMPERATURE)) {
        die("-m %s: fadvise, ioctl, hint, uring, temperature or none", name);
    }
    return how;
}

static uint64_t number(char option, const char *text, uint64_t least,
                       uint64_t most)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);

    if (end == text || *end || *text == '-' || n < least || n > most) {
        die("-%c %s: allowed %llu..%llu", option, text,
            (unsigned long long)least, (unsigned long long)most);
    }
    return n;
}

static void options(Churn *c, int argc, char **argv)
{
    int o;

    while ((o = getopt(argc, argv, "m:p:w:s:ch")) != -1) {
        switch (o) {
        case 'm':
            c->how = method(optarg);
            break;
        case 'p':
            c->data_mib = number('p', optarg, 3, 1 << 20);
            break;
        case 'w':
            c->write_mib = number('w', optarg, 0, 1 << 30);
            break;
        case 's':
            c->random = number('s', optarg, 1, INT64_MAX);
            break;
        case 'c':
            c->only_check = true;
            break;
        default:
            fputs(usage, o == 'h' ? stdout : stderr);
            exit(o == 'h' ? 0 : 2);
        }
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        exit(2);
    }
    c->target = argv[optind];
}

int main(int argc, char **argv)
{
    Churn c = {.how = NO_METHOD, .data_mib = 64, .write_mib = 256, .random = 1};
    struct stat st;

    options(&c, argc, argv);
    if (stat(c.target, &st) < 0) {
        die("%s: %s", c.target, strerror(errno));
    }
    c.device = S_ISBLK(st.st_mode);
    if (!c.device && !S_ISDIR(st.st_mode)) {
        die("%s: neither a folder nor a block device", c.target);
    }
    c.fd = open(c.target, c.device ? O_RDWR | O_EXCL | O_DIRECT | O_CLOEXEC
                                   : O_RDONLY | O_CLOEXEC);
    if (c.fd < 0) {
        die("%s: %s", c.target, strerror(errno));
    }
    check_method(&c);
    if (c.only_check) {
        return 0;
    }
    c.buf = aligned_alloc(4096, FILE_BYTES);
    if (!c.buf) {
        die("out of memory");
    }
    for (unsigned i = 0; i < FILE_BYTES; i++) {
        c.buf[i] = (uint8_t)below(&c, 256);
    }
    churn(&c);
    return 0;
}
