/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wide-oplog.c - logs of drives of 2^32 units and more: the checker judges them
 * with time and memory in proportion to what the log touches, and it compares
 * all 64 bits.
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "inspect/oplog.h"
#include "prng.h"
#include "ssd-config.h"
#include "ssd-report.h"
#include "ssd-setup.h"

#define MIB      (1L << 20)
#define N_WRITES 600

typedef struct Large {
    unsigned tib, planes, blocks;
    const char *options;
} Large;

/* Blocks of 64 MiB. */
static const Large drives[] = {
    {17, 1, 800, "ftl.map=page"},
    {17, 1, 800, "ftl.map=dftl;ftl.map_cache=4KiB"},
    {17, 1, 800, "ftl.map=bast;ftl.log_blocks=1"},
    {17, 1, 800, "media.paired_pages=on;nand.cell=mlc"},
    {256, 4, 2304, "ftl.map=page"},
    {256, 4, 2304, "ftl.map=fast"},
    {256, 4, 2304, "buffer.plp=on;ftl.map=dftl;ftl.map_cache=4KiB"},
};

static void ignore_unit(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host = {
    .programmed = ignore_unit,
    .superseded = ignore_unit,
};

static uint64_t submit(Ssd *ssd, uint64_t now, const SsdCmd *cmd)
{
    SsdCompletion done;

    g_assert_cmpint(ssd_submit(ssd, now, cmd), ==, 0);
    while (ssd_advance(ssd, now, &done, 1) == 0) {
        now = MAX(now + 1, ssd_next_event_ns(ssd));
    }
    g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
    return now;
}

/* Units all over the drive, the last ones, and a TRIM of everything. */
static void play(Ssd *ssd)
{
    uint64_t n = ssd_info(ssd)->nblocks;
    uint64_t now = 0;
    Prng r;

    prng_seed(&r, 1, n);
    for (unsigned i = 0; i < N_WRITES; i++) {
        uint64_t lba = i % 3 ? prng_below(&r, n) : n - 1 - i % 64;
        SsdCmd cmd = {.op = i % 50 == 49 ? SSD_OP_FLUSH : SSD_OP_WRITE,
                      .lba = i % 50 == 49 ? 0 : lba,
                      .version = i + 1,
                      .nblocks = i % 50 != 49};

        now = submit(ssd, now, &cmd);
        cmd = (SsdCmd){.op = SSD_OP_READ, .lba = lba, .nblocks = 1};
        now = submit(ssd, now, &cmd);
        if (i == N_WRITES / 2) {
            for (uint64_t at = 0; at < n; at += MIN(n - at, 1U << 31)) {
                cmd = (SsdCmd){.op = SSD_OP_TRIM,
                               .lba = at,
                               .nblocks = (uint32_t)MIN(n - at, 1U << 31)};
                now = submit(ssd, now, &cmd);
            }
        }
        if (i % 200 == 199) {
            ssd_power_cut(ssd, now);
            ssd_power_on(ssd, now);
        }
    }
}

static void make_log(const Large *d, const char *path)
{
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    Ssd *ssd;
    g_autofree char *options = g_strdup_printf(
        "nand.channels=16;nand.chips=8;nand.dies=4;nand.planes=%u;"
        "nand.blocks=%u;nand.pages=4096;nand.page_size=16KiB;ftl.unit=4KiB;"
        "ftl.capacity=%uTiB;buffer.size=1MiB;%s",
        d->planes, d->blocks, d->tib, d->options);

    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    ssd_config_set_block_bytes(cfg, 4096, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, &host, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(ssd_info(ssd)->nblocks, >, UINT32_MAX);
    g_assert_true(ssd_oplog_open(ssd, path, &error));
    play(ssd);
    g_assert_true(ssd_oplog_close(ssd, &error));
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

/* Exit status of the checker; *said is its output. */
static int check_log(const char *path, char **said)
{
    char *argv[] = {(char *)g_getenv("VSSD_OPLOG_CHECK"), (char *)path, NULL};
    GError *error = NULL;
    int status;

    g_assert_nonnull(argv[0]);
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                 said, &status, &error);
    g_assert_no_error(error);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The first record of the type from the middle on whose field is above 2^32:
 * where that is in the file. */
static size_t find(const char *log, size_t len, OplogType type, size_t field)
{
    size_t n = (len - OPLOG_HEADER_BYTES) / OPLOG_RECORD_BYTES;

    for (size_t i = n / 4; i < n; i++) {
        size_t at = OPLOG_HEADER_BYTES + i * OPLOG_RECORD_BYTES;
        uint64_t value;

        memcpy(&value, log + at + field, 8);
        if ((uint8_t)log[at] == type && value > UINT32_MAX &&
            (type != OPLOG_LOOKUP || log[at + 1] == OPLOG_IN_NAND)) {
            return at + field;
        }
    }
    g_assert_not_reached();
}

/* 2^32 less in a field of 64 bits is another unit. */
static void test_high_bits(char *log, size_t len, const char *path)
{
    static const struct {
        OplogType type;
        size_t field;
        const char *rule;
    } change[] = {
        {OPLOG_LOOKUP, 24, "broken rule: map:"},
        {OPLOG_BUFFER, 32, "broken rule: request:"},
        {OPLOG_PLACE, 24, "broken rule: map:"},
        {OPLOG_PLACE, 32, "broken rule: bytes:"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(change); i++) {
        size_t at = find(log, len, change[i].type, change[i].field);
        g_autofree char *said = NULL;

        log[at + 4]--; /* little-endian */
        g_assert_true(g_file_set_contents(path, log, (gssize)len, NULL));
        g_assert_cmpint(check_log(path, &said), ==, 1);
        g_test_message("%s", said);
        g_assert_true(g_str_has_prefix(said, change[i].rule));
        log[at + 4]++;
    }
}

static void test_log(gconstpointer data)
{
    const Large *d = data;
    g_autofree char *path = NULL;
    g_autofree char *log = NULL;
    g_autofree char *said = NULL;
    gsize len;
    struct rusage used;
    int status;
    int fd = g_file_open_tmp("vssd-wide-oplog-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    make_log(d, path);
    g_assert_true(g_file_get_contents(path, &log, &len, NULL));
    status = check_log(path, &said);
    g_unlink(path);
    g_assert_cmpstr(said, ==, "");
    g_assert_cmpint(status, ==, 0);
    getrusage(RUSAGE_CHILDREN, &used);
    g_test_message("%u TiB, %s: %zu records, the checker takes %.1f MiB",
                   d->tib, d->options, len / OPLOG_RECORD_BYTES,
                   (double)used.ru_maxrss * 1024 / MIB);
    g_assert_cmpint(used.ru_maxrss, <, 1200 * (MIB / 1024));
    if (d == &drives[0]) {
        test_high_bits(log, len, path);
        g_unlink(path);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        g_autofree char *name = g_strdup_printf(
            "/wide-oplog/%u-tib/%s", drives[i].tib, drives[i].options);

        g_test_add_data_func(name, &drives[i], test_log);
    }
    return g_test_run();
}
