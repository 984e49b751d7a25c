/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vssdctl.c - reports, from inside the guest: the drive's statistics, the
 * contents of its streams, and the place of a block or a file in its NAND.
 */
#define _GNU_SOURCE
#include "drive.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: vssdctl [-d DEVICE] stats | streams | where FILE...\n"
    "               | where LBA[+BLOCKS]... | blocks FILE... | raw PAGE\n"
    "\n"
    "  stats     what the drive is and what it has done\n"
    "  streams   what each stream has written and cost\n"
    "  where     erase block, page and stream of files or logical blocks\n"
    "  blocks    erase blocks of files, and how many units of each are there\n"
    "  raw       a log page as it is: c0 (stats), c1 (streams), c2 (places)\n"
    "\n"
    "DEVICE is /dev/nvme0 or /dev/nvme0n1 (default: the first vssd drive; for\n"
    "files, the drive that they lie on).\n";

/* ---- stats -------------------------------------------------------------- */

static void show_milli(const char *name, uint64_t milli)
{
    printf("%-22s %" PRIu64 ".%03" PRIu64 "\n", name, milli / 1000,
           milli % 1000);
}

static void show_stats(const VssdLogDrive *i)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        { "block_bytes", i->block_bytes },
        { "unit_bytes", i->unit_bytes },
        { "page_bytes", i->page_bytes },
        { "erase_block_bytes", i->erase_bytes },
        { "capacity_bytes", i->units * i->unit_bytes },
        { "raw_bytes", i->raw_bytes },
        { "streams", i->nstreams },
        { "host_bytes_read", i->host_bytes_read },
        { "host_bytes_written", i->host_bytes_written },
        { "nand_reads", i->nand_reads },
        { "nand_programs", i->nand_programs },
        { "nand_erases", i->nand_erases },
        { "nand_bytes_written", i->nand_bytes_written },
        { "read_retries", i->read_retries },
        { "uncorrectable_reads", i->uncorrectable_reads },
        { "program_failures", i->program_failures },
        { "erase_failures", i->erase_failures },
        { "grown_bad_blocks", i->grown_bad_blocks },
        { "max_erase_count", i->max_erase_count },
        { "spare_percent", i->spare_percent },
        { "read_only", i->read_only },
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        printf("%-22s %" PRIu64 "\n", rows[k].name, rows[k].value);
    }
    show_milli("mean_erase_count", i->mean_erase_count_milli);
    show_milli("waf", i->waf_milli);
}

/* ---- streams ------------------------------------------------------------ */

static void show_waf(uint64_t nand_bytes, uint64_t host_bytes)
{
    if (host_bytes) {
        printf(" %7.3f\n", (double)nand_bytes / (double)host_bytes);
    } else {
        printf(" %7s\n", "-");
    }
}

/* Of which stream the row is, and by which number the host knows it. */
static void show_name(const Drive *d, const VssdLogStream *s)
{
    if (s->stream == d->info.nstreams) {
        printf("%6s %5s", "other", "-");
    } else if (s->id == VSSD_LOG_NO_ID) {
        printf("%6u %5s", s->stream, "-");
    } else {
        printf("%6u %5u", s->stream, s->id);
    }
}

static void show_counts(const VssdLogStream *s)
{
    printf(" %5u %15" PRIu64 " %12" PRIu64 " %9" PRIu64 " %10" PRIu64
           " %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %15" PRIu64,
           s->open_blocks, s->host_bytes_written, s->host_units,
           s->padded_units, s->copied_units, s->erases, s->victims,
           s->victim_valid_units, s->nand_bytes_written);
    show_waf(s->nand_bytes_written, s->host_bytes_written);
}

static void add_counts(VssdLogStream *sum, const VssdLogStream *s)
{
    sum->open_blocks += s->open_blocks;
    sum->host_bytes_written += s->host_bytes_written;
    sum->host_units += s->host_units;
    sum->padded_units += s->padded_units;
    sum->copied_units += s->copied_units;
    sum->erases += s->erases;
    sum->victims += s->victims;
    sum->victim_valid_units += s->victim_valid_units;
    sum->nand_bytes_written += s->nand_bytes_written;
}

static void show_streams(Drive *d)
{
    VssdLogStream all = {0};

    drive_read_streams(d);
    printf("%6s %5s %5s %15s %12s %9s %10s %8s %8s %12s %15s %7s\n", "stream",
           "id", "open", "host_bytes", "host_units", "padded", "copied",
           "erases", "victims", "victim_valid", "nand_bytes", "waf");
    for (unsigned i = 0; i <= d->info.nstreams; i++) {
        show_name(d, &d->streams[i]);
        show_counts(&d->streams[i]);
        add_counts(&all, &d->streams[i]);
    }
    printf("%6s %5s", "all", "-");
    show_counts(&all);
}

/* ---- where -------------------------------------------------------------- */

static void show_place(const Drive *d, uint64_t unit, const VssdLogPlace *p)
{
    uint64_t lba = unit * (d->info.unit_bytes / d->info.block_bytes);
    uint16_t id = drive_stream_id(d, p->stream);

    printf("%12" PRIu64 " ", lba);
    if (p->where == VSSD_PLACE_NOWHERE) {
        puts("unwritten");
        return;
    }
    if (id == DRIVE_NO_STREAM) {
        printf(p->stream ? "stream closed by the host," : "no stream,");
    } else {
        printf("stream %u", id);
    }
    if (p->where == VSSD_PLACE_BUFFER) {
        puts(" in the buffer");
        return;
    }
    printf(" erase block %u page %u", p->erase_block, p->page);
    if (p->block_stream != p->stream) {
        printf(" among others of %s",
               p->block_stream == d->info.nstreams ? "several streams"
                                                   : "another stream");
    }
    putchar('\n');
}

static void show_range(const Drive *d, uint64_t start, uint64_t bytes)
{
    enum { AT_ONCE = 256 };
    VssdLogPlace place[AT_ONCE];
    uint64_t unit = start / d->info.unit_bytes;
    uint64_t end = (start + bytes + d->info.unit_bytes - 1) /
                   d->info.unit_bytes;

    if (end > d->info.units) {
        die("beyond the end of %s", d->name);
    }
    while (unit < end) {
        uint64_t n = end - unit < AT_ONCE ? end - unit : AT_ONCE;

        drive_places(d, unit, n, place);
        for (uint64_t i = 0; i < n; i++) {
            show_place(d, unit + i, &place[i]);
        }
        unit += n;
    }
}

/* The drive below a file, and the n places of the file in it (free). */
static DriveRange *open_below(const char *path, Drive *d, size_t *n)
{
    uint64_t start;
    DriveRange *r;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        die("%s: %s", path, strerror(errno));
    }
    drive_open_below(d, path, &start);
    drive_read_streams(d);
    r = drive_file_ranges(fd, path, start, n);
    close(fd);
    return r;
}

static void where_file(const char *path)
{
    Drive d;
    size_t n;
    DriveRange *r = open_below(path, &d, &n);

    printf("%s: %zu extents on %s\n", path, n, d.name);
    for (size_t i = 0; i < n; i++) {
        show_range(&d, r[i].start, r[i].bytes);
    }
    free(r);
}

/* LBA or LBA+BLOCKS; false: text is something else. */
static bool where_blocks(const char *device, const char *text)
{
    char *end;
    unsigned long long lba, n = 1;
    uint64_t blocks;
    Drive d;

    errno = 0;
    lba = strtoull(text, &end, 0);
    if (end == text || *text == '-') {
        return false;
    }
    if (*end == '+') {
        n = strtoull(end + 1, &end, 0);
    }
    if (*end || errno) {
        return false;
    }
    drive_open(&d, device);
    drive_read_streams(&d);
    blocks = d.info.units * (d.info.unit_bytes / d.info.block_bytes);
    if (n == 0 || lba >= blocks || n > blocks - lba) {
        die("%s: beyond the end of %s", text, d.name);
    }
    show_range(&d, lba * d.info.block_bytes, n * d.info.block_bytes);
    return true;
}

/* ---- blocks ------------------------------------------------------------- */

/* Units of a file, of one stream and in one erase block. */
typedef struct Part {
    VssdLogPlace place;
    uint64_t units;
} Part;

typedef struct Parts {
    Part *part;
    size_t n;
} Parts;

static int compare_parts(const void *a, const void *b)
{
    const VssdLogPlace *x = &((const Part *)a)->place;
    const VssdLogPlace *y = &((const Part *)b)->place;

    if (x->where != y->where) {
        return x->where < y->where ? -1 : 1;
    }
    if (x->erase_block != y->erase_block) {
        return x->erase_block < y->erase_block ? -1 : 1;
    }
    return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static void add_place(Parts *p, const VssdLogPlace *place)
{
    Part one = {*place, 1};

    if (place->where == VSSD_PLACE_NOWHERE) {
        return;
    }
    if (p->n > 0 && compare_parts(&p->part[p->n - 1], &one) == 0) {
        p->part[p->n - 1].units++;
        return;
    }
    p->part = reallocarray(p->part, p->n + 1, sizeof(*p->part));
    if (!p->part) {
        die("out of memory");
    }
    p->part[p->n++] = one;
}

static void add_range(Parts *p, const Drive *d, const DriveRange *r)
{
    enum { AT_ONCE = 256 };
    VssdLogPlace place[AT_ONCE];
    uint64_t unit = r->start / d->info.unit_bytes;
    uint64_t end =
        (r->start + r->bytes + d->info.unit_bytes - 1) / d->info.unit_bytes;

    while (unit < end) {
        uint64_t n = end - unit < AT_ONCE ? end - unit : AT_ONCE;

        drive_places(d, unit, n, place);
        for (uint64_t i = 0; i < n; i++) {
            add_place(p, &place[i]);
        }
        unit += n;
    }
}

static void show_part(const Drive *d, const Part *p, const char *path)
{
    uint16_t id = drive_stream_id(d, p->place.stream);

    if (id == DRIVE_NO_STREAM) {
        printf("%6s", "-");
    } else {
        printf("%6u", id);
    }
    if (p->place.where == VSSD_PLACE_NAND) {
        printf(" %8u %-6s", p->place.erase_block,
               p->place.block_stream == p->place.stream ? "alone" : "shared");
    } else {
        printf(" %8s %-6s", "-", "buffer");
    }
    printf(" %8" PRIu64 " %s\n", p->units, path);
}

static void show_blocks_of(const char *path)
{
    Drive d;
    size_t n;
    Parts parts = {0};
    DriveRange *r = open_below(path, &d, &n);

    for (size_t i = 0; i < n; i++) {
        add_range(&parts, &d, &r[i]);
    }
    qsort(parts.part, parts.n, sizeof(*parts.part), compare_parts);
    for (size_t i = 0; i < parts.n; i++) {
        if (i + 1 < parts.n &&
            compare_parts(&parts.part[i], &parts.part[i + 1]) == 0) {
            parts.part[i + 1].units += parts.part[i].units;
        } else {
            show_part(&d, &parts.part[i], path);
        }
    }
    free(parts.part);
    free(r);
    free(d.streams);
    close(d.fd);
}

static void show_blocks(char **path)
{
    printf("%6s %8s %-6s %8s %s\n", "stream", "block", "where", "units",
           "file");
    for (; *path; path++) {
        show_blocks_of(*path);
    }
}

/* ---- raw ---------------------------------------------------------------- */

static void raw(const Drive *d, const char *text)
{
    char *end, buf[4096];
    unsigned long id = strtoul(text, &end, 16);
    uint64_t bytes;

    if (*end || id < VSSD_LOG_DRIVE || id > VSSD_LOG_PLACE) {
        die("raw %s: give c0, c1 or c2", text);
    }
    bytes = id == VSSD_LOG_DRIVE ? sizeof(VssdLogDrive)
            : id == VSSD_LOG_STREAMS
                ? (d->info.nstreams + 1ULL) * sizeof(VssdLogStream)
                : d->info.units * sizeof(VssdLogPlace);
    for (uint64_t done = 0; done < bytes; done += sizeof(buf)) {
        size_t n = bytes - done < sizeof(buf) ? bytes - done : sizeof(buf);

        drive_log(d, (uint8_t)id, done, buf, n);
        if (fwrite(buf, 1, n, stdout) != n) {
            die("standard output: %s", strerror(errno));
        }
    }
}

int main(int argc, char **argv)
{
    const char *device = NULL;
    const char *what;
    Drive d;
    int c;

    while ((c = getopt(argc, argv, "+d:h")) != -1) {
        if (c == 'd') {
            device = optarg;
        } else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    what = optind < argc ? argv[optind++] : "";
    if (strcmp(what, "stats") == 0 && optind == argc) {
        drive_open(&d, device);
        show_stats(&d.info);
    } else if (strcmp(what, "streams") == 0 && optind == argc) {
        drive_open(&d, device);
        show_streams(&d);
    } else if (strcmp(what, "where") == 0 && optind < argc) {
        for (; optind < argc; optind++) {
            if (!where_blocks(device, argv[optind])) {
                where_file(argv[optind]);
            }
        }
    } else if (strcmp(what, "blocks") == 0 && optind < argc) {
        show_blocks(argv + optind);
    } else if (strcmp(what, "raw") == 0 && optind + 1 == argc) {
        drive_open(&d, device);
        raw(&d, argv[optind]);
    } else {
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}
