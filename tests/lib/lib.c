/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib.c - tests of libvssd by its public header alone. */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <vssd.h>

#define SECOND 1000000000ULL
#define N      4000

static const uint64_t seed = 5;

static VssdDrive *open_with(const char *options, uint32_t flags)
{
    VssdSetup setup = {
        .size = sizeof(setup),
        .profile = "tiny",
        .options = options,
        .seed = &seed,
        .flags = flags,
    };
    char message[200] = "";
    VssdDrive *d;
    int r = vssd_create(&setup, &d, message, sizeof(message));

    g_assert_cmpstr(message, ==, "");
    g_assert_cmpint(r, ==, 0);
    return d;
}

static uint64_t capacity(const VssdDrive *d)
{
    VssdInfo info = {.size = sizeof(info)};

    g_assert_cmpint(vssd_get_info(d, &info), ==, 0);
    return info.nblocks;
}

/* Reads, writes, TRIMs and flushes at random, by Knuth's MMIX generator. */
static void fill(VssdRequest *r, size_t n, uint64_t nblocks)
{
    uint64_t x = 17;

    for (size_t i = 0; i < n; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        r[i] = (VssdRequest){
            .op = (x >> 60) < 9    ? VSSD_WRITE
                  : (x >> 60) < 14 ? VSSD_READ
                  : (x >> 60) < 15 ? VSSD_TRIM
                                   : VSSD_FLUSH,
            .lba = (x >> 20) % (nblocks - 64),
            .nblocks = 1 + (x >> 50) % 16,
            .flags = (x >> 40) % 8 == 0 && (x >> 60) < 9 ? VSSD_FUA : 0,
        };
    }
}

/* Zones of 64 blocks of 4 KiB on two dies; three may be active, two open. */
#define ZONED                                                                  \
    "zones.enabled=on;ftl.alloc=in-order;buffer.plp=on;buffer.size=1MiB;"      \
    "ftl.op_percent=0%;nand.channels=2;nand.chips=1;nand.dies=1;"              \
    "nand.planes=1;nand.pages=8;nand.page_size=16KiB;nand.blocks=24;"          \
    "zones.max_active=3;zones.max_open=2;"
#define ZONE 64

/* ---- tests --------------------------------------------------------------- */

static void test_versions(void)
{
    g_assert_cmpuint(vssd_abi(), ==, VSSD_ABI);
    g_assert_true(g_ascii_isdigit(vssd_version()[0]));
    g_assert_cmpstr(vssd_cost_name(0), ==, "firmware");
    g_assert_nonnull(vssd_cost_name(VSSD_N_COSTS - 1));
    g_assert_null(vssd_cost_name(VSSD_N_COSTS));
    vssd_free(NULL);
    vssd_destroy(NULL);
}

/* One line each, that names what is wrong. */
static void test_refusals(void)
{
    static const struct {
        const char *profile, *options, *says;
        uint32_t block_bytes, flags;
    } bad[] = {
        {"tiny", "ftl.gc=best", "ftl.gc=best: allowed", 0, 0},
        {"tiny", "no.option=1", "no.option: no such option", 0, 0},
        {"tiny", "ftl.gc", "ftl.gc: not of the form", 0, 0},
        {"no-such", NULL, "profile no-such", 0, 0},
        {"tiny", NULL, "block size 513: allowed 512, 4096", 513, 0},
        {"tiny", NULL, "VssdSetup.flags=0x2", 0, 2},
        {"tiny", "zones.enabled=on", "zones.enabled=on", 0, 0},
        {"tiny", ZONED "zones.capacity=1200KiB",
         "zones.enabled=on: without "
         "NVMe it needs zones.capacity of whole blocks",
         4096, 0},
        {"tiny", ZONED "zones.conventional=1MiB;ftl.op_percent=30%",
         "zones.enabled=on: without NVMe it needs zones.conventional=0", 4096,
         0},
    };
    VssdSetup setup = {.size = 3};
    char message[200];
    VssdDrive *d;

    g_assert_cmpint(vssd_create(&setup, &d, message, sizeof(message)), ==,
                    -EINVAL);
    g_assert_nonnull(strstr(message, "VssdSetup.size"));
    g_assert_cmpint(vssd_create(NULL, &d, NULL, 0), ==, -EINVAL);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        setup = (VssdSetup){
            .size = sizeof(setup),
            .profile = bad[i].profile,
            .options = bad[i].options,
            .block_bytes = bad[i].block_bytes,
            .flags = bad[i].flags,
        };
        g_assert_cmpint(vssd_create(&setup, &d, message, sizeof(message)), <,
                        0);
        g_assert_null(d);
        g_assert_true(g_str_has_prefix(message, bad[i].says));
        g_assert_null(strchr(message, '\n'));
        g_assert_cmpint(vssd_create(&setup, &d, message, 8), <, 0);
        g_assert_cmpuint(strlen(message), ==, 7);
    }
}

static void test_bad_calls(void)
{
    VssdDrive *d = open_with(NULL, 0);
    VssdRequest r = {.op = VSSD_READ, .nblocks = 1};
    VssdCompletion done;
    VssdInfo info = {.size = 4};
    uint64_t version;

    g_assert_cmpint(vssd_get_info(d, &info), ==, -EINVAL);
    g_assert_cmpint(vssd_submit(d, VSSD_TIME_MAX + 1, &r, 1), ==, -EINVAL);
    g_assert_cmpstr(vssd_message(d), !=, "");
    g_assert_cmpint(vssd_advance(d, 100, &done, 1, sizeof(done)), ==, 0);
    g_assert_cmpint(vssd_submit(d, 99, &r, 1), ==, -EINVAL);
    g_assert_cmpint(vssd_advance(d, 99, &done, 1, sizeof(done)), ==, -EINVAL);
    g_assert_cmpint(vssd_advance(d, 100, &done, 1, 8), ==, -EINVAL);
    r.lba = capacity(d);
    g_assert_cmpint(vssd_submit(d, 100, &r, 1), ==, -EINVAL);
    r = (VssdRequest){.op = VSSD_READ};
    g_assert_cmpint(vssd_submit(d, 100, &r, 1), ==, -EINVAL);
    r = (VssdRequest){.op = VSSD_WRITE, .nblocks = 1, .stream = 1};
    g_assert_cmpint(vssd_submit(d, 100, &r, 1), ==, -EINVAL);
    g_assert_cmpstr(vssd_message(d), ==, "stream=1: allowed 0..0");
    r = (VssdRequest){.op = 5, .nblocks = 1};
    g_assert_cmpint(vssd_submit(d, 100, &r, 1), ==, -EINVAL);
    r = (VssdRequest){.op = VSSD_READ, .nblocks = 1, .flags = 2};
    g_assert_cmpint(vssd_submit(d, 100, &r, 1), ==, -EINVAL);
    g_assert_cmpint(vssd_power_cut(d, 100), ==, -ENOTSUP);
    g_assert_cmpint(vssd_power_on(d, 100), ==, -EALREADY);
    g_assert_cmpint(vssd_version_of(d, 0, &version), ==, -ENOTSUP);
    g_assert_cmpint(vssd_mapped(d, capacity(d)), ==, -EINVAL);
    g_assert_cmpint(vssd_preload(d, capacity(d), 1), ==, -EINVAL);
    g_assert_cmpint(vssd_preload(d, 0, UINT64_MAX), ==, -EINVAL);
    g_assert_cmpint(vssd_preload(d, 0, 8), ==, 0);
    g_assert_cmpint(vssd_mapped(d, 0), ==, 1);
    g_assert_cmpint(vssd_mapped(d, 8), ==, 0);
    r = (VssdRequest){.op = VSSD_READ, .nblocks = 1};
    g_assert_cmpint(vssd_submit(d, 100, &r, 1), ==, 0);
    g_assert_cmpint(vssd_preload(d, 8, 8), ==, -EBUSY);
    g_assert_cmpint(vssd_play(d, &r, sizeof(r), 1, 0, NULL, 0), ==, -EBUSY);
    g_assert_cmpint(vssd_save_file(d, "/nonexistent/x"), ==, -EBUSY);
    g_assert_cmpint(vssd_rest(d, SECOND), ==, -EBUSY);
    g_assert_cmpint(vssd_advance(d, SECOND, &done, 1, sizeof(done)), ==, 1);
    g_assert_cmpint(vssd_rest(d, SECOND), ==, 0);
    g_assert_cmpint(vssd_save_file(d, "/nonexistent/x"), ==, -EIO);
    g_assert_cmpint(vssd_play(d, &r, 8, 1, 0, NULL, 0), ==, -EINVAL);
    vssd_destroy(d);
}

/* 381 TiB of old data, for which no machine of these tests has the memory. */
static void test_beyond_the_memory(void)
{
    VssdDrive *d =
        open_with("nand.channels=8;nand.chips=2;nand.dies=16;nand.planes=4;"
                  "nand.pages=4096;nand.blocks=7620;ftl.op_percent=25%;"
                  "ftl.recovery=scan", /* its places are stored */
                  0);
    uint64_t all = capacity(d);

    g_assert_cmpint(vssd_preload(d, 0, all), ==, -ENOMEM);
    g_assert_true(g_str_has_prefix(vssd_message(d),
                                   "preload: a full drive of 381 TiB needs "));
    g_assert_true(g_str_has_suffix(
        vssd_message(d),
        " GiB are free: give fewer blocks, or a smaller drive with fewer "
        "nand.blocks"));
    g_assert_cmpint(vssd_preload(d, 8, all - 8), ==, -ENOMEM);
    g_assert_true(g_str_has_prefix(vssd_message(d), "preload: data of 381 "));
    g_assert_null(strchr(vssd_message(d), '\n'));
    g_assert_cmpint(vssd_preload(d, 1, all), ==, -EINVAL);
    g_assert_cmpint(vssd_preload(d, all - 8, 8), ==, 0);
    g_assert_cmpint(vssd_mapped(d, all - 1), ==, 1);
    vssd_destroy(d);
}

static void test_queue_full(void)
{
    VssdDrive *d = open_with("host.queue_depth=2", 0);
    VssdRequest r = {.op = VSSD_WRITE, .nblocks = 8};

    g_assert_cmpint(vssd_submit(d, 0, &r, 1), ==, 0);
    g_assert_cmpint(vssd_submit(d, 0, &r, 2), ==, 0);
    g_assert_cmpint(vssd_submit(d, 0, &r, 3), ==, -EAGAIN);
    vssd_destroy(d);
}

/* The same commands by submit and advance, at a depth of one. */
static void play_by_hand(VssdDrive *d, const VssdRequest *r, size_t n,
                         VssdCompletion *done)
{
    uint64_t now_ns = 0;

    for (size_t i = 0; i < n; i++) {
        g_assert_cmpint(vssd_submit(d, now_ns, &r[i], i), ==, 0);
        do {
            now_ns = MAX(vssd_next_event(d), now_ns);
        } while (vssd_advance(d, now_ns, &done[i], 1, sizeof(*done)) == 0);
    }
}

static void test_play(void)
{
    VssdDrive *a = open_with(NULL, 0);
    VssdDrive *b = open_with(NULL, 0);
    VssdDrive *c = open_with(NULL, 0);
    g_autofree VssdRequest *r = g_new0(VssdRequest, N);
    g_autofree VssdCompletion *by_hand = g_new0(VssdCompletion, N);
    g_autofree VssdCompletion *done = g_new0(VssdCompletion, N);
    g_autofree char *shorter = g_malloc0(N * VSSD_COMPLETION_SHORT);
    g_autofree char *stats = NULL;

    fill(r, N, capacity(a));
    play_by_hand(a, r, N, by_hand);
    g_assert_cmpint(vssd_play(b, r, sizeof(*r), N, 1, done, sizeof(*done)), ==,
                    N);
    g_assert_cmpmem(by_hand, N * sizeof(*done), done, N * sizeof(*done));
    g_assert_cmpint(
        vssd_play(c, r, sizeof(*r), N, 1, shorter, VSSD_COMPLETION_SHORT), ==,
        N);
    for (size_t i = 0; i < N; i++) {
        uint64_t sum = 0;

        g_assert_cmpuint(done[i].tag, ==, i);
        g_assert_cmpmem(shorter + i * VSSD_COMPLETION_SHORT,
                        VSSD_COMPLETION_SHORT, &done[i], VSSD_COMPLETION_SHORT);
        for (unsigned k = 0; k < VSSD_N_COSTS; k++) {
            sum += done[i].cost_ns[k];
        }
        g_assert_cmpuint(sum, ==, done[i].complete_ns - done[i].submit_ns);
    }
    stats = vssd_stats_json(b);
    g_assert_nonnull(strstr(stats, "\"waf\":"));
    g_assert_cmpint(vssd_check(b), ==, 0);
    vssd_destroy(a);
    vssd_destroy(b);
    vssd_destroy(c);
}

/* Requests at their times; a wrong one ends the run after those before it. */
static void test_times(void)
{
    VssdDrive *d = open_with(NULL, 0);
    VssdRequest r[4] = {
        {.op = VSSD_WRITE, .nblocks = 8, .time_ns = 5000000},
        {.op = VSSD_READ, .nblocks = 8, .time_ns = 0},
        {.op = VSSD_READ, .nblocks = 8, .time_ns = 90000000},
        {.op = VSSD_READ, .nblocks = 0},
    };
    VssdCompletion done[4];

    g_assert_cmpint(vssd_play(d, r, sizeof(*r), 4, 0, done, sizeof(*done)), ==,
                    3);
    g_assert_cmpstr(vssd_message(d), ==,
                    "request 3: lba=0 nblocks=0: allowed 1 or more of "
                    "0..46807");
    g_assert_cmpuint(done[0].submit_ns, ==, 5000000);
    g_assert_cmpuint(done[1].submit_ns, ==, 5000000);
    g_assert_cmpuint(done[2].submit_ns, ==, 90000000);
    r[0].time_ns = VSSD_TIME_MAX + 1;
    g_assert_cmpint(vssd_play(d, r, sizeof(*r), 1, 0, done, sizeof(*done)), ==,
                    0);
    g_assert_nonnull(strstr(vssd_message(d), "212 days"));
    vssd_destroy(d);
}

static void same_from_here(VssdDrive *a, VssdDrive *b)
{
    g_autofree VssdRequest *r = g_new0(VssdRequest, N);
    g_autofree VssdCompletion *of_a = g_new0(VssdCompletion, N);
    g_autofree VssdCompletion *of_b = g_new0(VssdCompletion, N);
    g_autofree char *stats_a = NULL;
    g_autofree char *stats_b = NULL;

    fill(r, N, capacity(a));
    g_assert_cmpint(vssd_play(a, r, sizeof(*r), N, 8, of_a, sizeof(*of_a)), ==,
                    N);
    g_assert_cmpint(vssd_play(b, r, sizeof(*r), N, 8, of_b, sizeof(*of_b)), ==,
                    N);
    g_assert_cmpmem(of_a, N * sizeof(*of_a), of_b, N * sizeof(*of_b));
    stats_a = vssd_stats_json(a);
    stats_b = vssd_stats_json(b);
    g_assert_cmpstr(stats_a, ==, stats_b);
}

static void test_states(void)
{
    VssdSetup setup = {.size = sizeof(setup), .profile = "tiny", .seed = &seed};
    g_autofree VssdRequest *r = g_new0(VssdRequest, N);
    g_autofree char *path = NULL;
    VssdDrive *d = open_with(NULL, 0);
    VssdDrive *from_bytes, *from_file, *copy;
    char message[300];
    char *bytes;
    void *state;
    size_t n;
    int fd = g_file_open_tmp("vssd-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    fill(r, N, capacity(d));
    g_assert_cmpint(vssd_play(d, r, sizeof(*r), N, 8, NULL, 0), ==, N);
    g_assert_cmpint(vssd_rest(d, SECOND), ==, 0);
    g_assert_cmpint(vssd_save(d, &state, &n), ==, 0);
    g_assert_cmpint(flock(fd, LOCK_EX), ==, 0); /* as another drive has it */
    g_assert_cmpint(vssd_save_file(d, path), ==, -EIO);
    g_assert_nonnull(strstr(vssd_message(d), ": in use by another drive"));
    close(fd);
    g_assert_cmpint(vssd_save_file(d, path), ==, 0);
    g_assert_cmpint(
        vssd_load(&setup, state, n, &from_bytes, message, sizeof(message)), ==,
        0);
    g_assert_cmpint(
        vssd_load_file(&setup, path, &from_file, message, sizeof(message)), ==,
        0);
    g_assert_cmpint(vssd_clone(d, &copy), ==, 0);
    g_assert_cmpint(vssd_preload(from_bytes, 0, 8), ==, -EBUSY);
    same_from_here(from_bytes, from_file);
    same_from_here(d, copy);
    vssd_destroy(from_bytes);
    vssd_destroy(from_file);
    vssd_destroy(copy);

    bytes = state;
    bytes[n / 2] ^= 1;
    g_assert_cmpint(
        vssd_load(&setup, state, n, &copy, message, sizeof(message)), <, 0);
    g_assert_null(copy);
    g_assert_null(strchr(message, '\n'));
    g_assert_cmpint(
        vssd_load(&setup, state, 0, &copy, message, sizeof(message)), ==,
        -EINVAL);
    vssd_free(state);
    vssd_destroy(d);
    g_unlink(path);
}

/* A clone with commands in flight completes them, too. */
static void test_clone_at_work(void)
{
    VssdDrive *d = open_with(NULL, 0);
    VssdRequest r = {.op = VSSD_WRITE, .nblocks = 8, .flags = VSSD_FUA};
    VssdCompletion a[2], b[2];
    VssdDrive *copy;

    g_assert_cmpint(vssd_submit(d, 0, &r, 7), ==, 0);
    g_assert_cmpint(vssd_clone(d, &copy), ==, 0);
    g_assert_cmpint(vssd_advance(d, SECOND, a, 2, sizeof(*a)), ==, 1);
    g_assert_cmpint(vssd_advance(copy, SECOND, b, 2, sizeof(*b)), ==, 1);
    g_assert_cmpmem(&a[0], sizeof(*a), &b[0], sizeof(*b));
    vssd_destroy(d);
    g_assert_cmpint(vssd_check(copy), ==, 0);
    vssd_destroy(copy);
}

static void test_power(void)
{
    VssdDrive *d = open_with(NULL, VSSD_KEEP_VERSIONS);
    VssdRequest r[3] = {
        {.op = VSSD_WRITE, .lba = 0, .nblocks = 8},
        {.op = VSSD_FLUSH},
        {.op = VSSD_WRITE, .lba = 0, .nblocks = 8},
    };
    VssdCompletion done[3];
    uint64_t version = 99;

    g_assert_cmpint(vssd_play(d, r, sizeof(*r), 3, 1, done, sizeof(*done)), ==,
                    3);
    g_assert_cmpint(vssd_version_of(d, 0, &version), ==, 0);
    g_assert_cmpuint(version, ==, 2);
    g_assert_cmpint(vssd_submit(d, vssd_now(d), &r[0], 1), ==, 0);
    g_assert_cmpint(vssd_power_cut(d, vssd_now(d)), ==, 0);
    g_assert_cmpint(vssd_power_cut(d, vssd_now(d)), ==, -EALREADY);
    g_assert_false(vssd_ready(d));
    g_assert_cmpint(vssd_submit(d, vssd_now(d), &r[0], 2), ==, -ENODEV);
    g_assert_cmpint(vssd_advance(d, vssd_now(d), done, 3, sizeof(*done)), ==,
                    1);
    g_assert_cmpuint(done[0].status, ==, VSSD_POWER_LOSS);
    g_assert_cmpint(vssd_play(d, r, sizeof(*r), 1, 1, done, sizeof(*done)), ==,
                    0);
    g_assert_cmpstr(vssd_message(d), ==, "request 0: the power is off");
    g_assert_cmpint(vssd_power_on(d, vssd_now(d)), ==, 0);
    g_assert_true(vssd_ready(d));
    g_assert_cmpint(vssd_version_of(d, 0, &version), ==, 0);
    g_assert_cmpuint(version, ==, 1); /* the flushed one */
    g_assert_cmpint(vssd_version_of(d, 64, &version), ==, -ENOENT);
    vssd_destroy(d);
}

static void test_age(void)
{
    VssdDrive *d = open_with(NULL, VSSD_KEEP_VERSIONS);
    uint64_t units[] = {3, 4, 5, 3};
    uint64_t beyond = capacity(d);
    VssdRequest r = {.op = VSSD_WRITE, .lba = 3 * 8, .nblocks = 8};
    uint64_t version = 0;

    g_assert_cmpint(vssd_age(d, units, 4), ==, 0);
    g_assert_cmpint(vssd_age(d, &beyond, 1), ==, -EINVAL);
    g_assert_cmpint(vssd_mapped(d, 4 * 8), ==, 1);
    g_assert_cmpint(vssd_play(d, &r, sizeof(r), 1, 1, NULL, 0), ==, 1);
    g_assert_cmpint(vssd_version_of(d, 3 * 8, &version), ==, 0);
    g_assert_cmpuint(version, ==, 5);
    vssd_destroy(d);
}

static void test_reports(void)
{
    VssdDrive *d = open_with("ftl.gc=fifo", 0);
    char *gc = vssd_get_option(d, "ftl.gc");
    char *table = vssd_options_table();
    char *stats = vssd_stats_json(d);

    g_assert_cmpstr(gc, ==, "fifo");
    g_assert_null(vssd_get_option(d, "ftl.no"));
    g_assert_nonnull(strstr(table, "`ftl.gc`"));
    g_assert_nonnull(strstr(stats, "\"ftl.gc\":\"fifo\""));
    vssd_reset_stats(d);
    vssd_free(gc);
    vssd_free(table);
    vssd_free(stats);
    vssd_destroy(d);
}

/* ---- the live view ------------------------------------------------------- */

static uint64_t now_ns = 1000000000;
static unsigned n_looks;

/* 10 us pass with each look. */
static uint64_t clock_of_test(void)
{
    n_looks++;
    now_ns += 10000;
    return now_ns;
}

/* u64 at an offset of the file's header, written if `set` is not 0. */
static uint64_t live_header(const char *path, unsigned at, uint64_t set)
{
    FILE *f = fopen(path, "r+b");
    uint64_t value = set;

    g_assert_nonnull(f);
    g_assert_cmpint(fseek(f, at, SEEK_SET), ==, 0);
    if (set) {
        g_assert_cmpuint(fwrite(&value, 8, 1, f), ==, 1);
    } else {
        g_assert_cmpuint(fread(&value, 8, 1, f), ==, 1);
    }
    fclose(f);
    return value;
}

#define LIVE_STATE    8 /* and the bytes of the header, below it */
#define LIVE_WANTED   72
#define LIVE_PICTURES 88

/* From the next command on, which takes longer; a clone has the value, too. */
static void test_set(void)
{
    VssdDrive *d = open_with("host.firmware=3us", 0);
    VssdRequest r = {.op = VSSD_READ, .nblocks = 8};
    VssdCompletion before, after;
    VssdDrive *copy;
    char *value;

    g_assert_cmpint(vssd_play(d, &r, sizeof(r), 1, 1, &before, sizeof(before)),
                    ==, 1);
    g_assert_cmpint(vssd_set(d, "nand.dies", "4"), ==, -EINVAL);
    g_assert_nonnull(strstr(vssd_message(d), "nand.dies: does not change"));
    g_assert_cmpint(vssd_set(d, "host.firmware", "1h"), ==, -EINVAL);
    g_assert_cmpint(vssd_set(d, "host.firmware", "50us"), ==, 0);
    g_assert_cmpint(vssd_clone(d, &copy), ==, 0);
    value = vssd_get_option(copy, "host.firmware");
    g_assert_cmpstr(value, ==, "50us");
    vssd_free(value);
    vssd_destroy(copy);
    g_assert_cmpint(vssd_play(d, &r, sizeof(r), 1, 1, &after, sizeof(after)),
                    ==, 1);
    g_assert_cmpuint(after.complete_ns - after.submit_ns, ==,
                     before.complete_ns - before.submit_ns + 47000);
    vssd_destroy(d);
}

static void test_live(void)
{
    g_autofree char *folder = g_dir_make_tmp("live-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "drive.live", NULL);
    VssdDrive *d = open_with("", 0);
    VssdRequest r[1000] = {{.op = VSSD_READ, .nblocks = 8}};
    VssdDrive *copy;

    for (unsigned i = 1; i < G_N_ELEMENTS(r); i++) {
        r[i] = r[0];
    }
    g_assert_cmpint(vssd_live(d, NULL, NULL), ==, 0);
    g_assert_cmpint(vssd_live(d, path, NULL), ==, -EINVAL);
    g_assert_cmpint(vssd_live(d, "/nowhere/x", clock_of_test), ==, -EIO);
    g_assert_nonnull(strstr(vssd_message(d), "live /nowhere/x: No such"));
    g_assert_cmpint(vssd_live(d, path, clock_of_test), ==, 0);
    g_assert_cmpint(vssd_live(d, path, clock_of_test), ==, -EBUSY);
    g_assert_cmpint(vssd_clone(d, &copy), ==, 0);
    n_looks = 0;
    g_assert_cmpint(vssd_play(copy, r, sizeof(r[0]), 1000, 1, NULL, 0), ==,
                    1000);
    g_assert_cmpuint(n_looks, ==, 0); /* a clone has no view */
    vssd_destroy(copy);

    /* Of a thousand instants some are looked at, and pictures are wanted. */
    live_header(path, LIVE_WANTED, UINT64_MAX);
    g_assert_cmpint(vssd_play(d, r, sizeof(r[0]), 1000, 1, NULL, 0), ==, 1000);
    g_assert_cmpuint(n_looks, >, 10);
    g_assert_cmpuint(n_looks, <, 100);
    g_assert_cmpuint(live_header(path, LIVE_PICTURES, 0), ==, 2);
    now_ns += 50000000;
    g_assert_cmpint(
        vssd_advance(d, vssd_now(d) + 1, r, 1, VSSD_COMPLETION_SHORT), ==, 0);
    g_assert_cmpuint(live_header(path, LIVE_PICTURES, 0), ==, 3);
    g_assert_cmpuint(live_header(path, LIVE_STATE, 0) >> 32, ==, 1);
    n_looks = 0;
    vssd_destroy(d);
    g_assert_cmpuint(n_looks, ==, 0);
    g_assert_cmpuint(live_header(path, LIVE_PICTURES, 0), ==, 4);
    g_assert_cmpuint(live_header(path, LIVE_STATE, 0) >> 32, ==, 2);
    g_remove(path);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* ---- zones --------------------------------------------------------------- */

static VssdDrive *open_zoned(void)
{
    VssdSetup setup = {.size = sizeof(setup),
                       .profile = "tiny",
                       .options = ZONED,
                       .block_bytes = 4096};
    char message[200] = "";
    VssdDrive *d;

    g_assert_cmpint(vssd_create(&setup, &d, message, sizeof(message)), ==, 0);
    g_assert_cmpstr(message, ==, "");
    return d;
}

static int ask(VssdDrive *d, VssdOp op, uint64_t lba, uint32_t n, uint64_t tag)
{
    VssdRequest r = {.op = (uint8_t)op, .lba = lba, .nblocks = n};

    return vssd_submit(d, vssd_now(d), &r, tag);
}

/* The next completion. */
static VssdCompletion ended(VssdDrive *d)
{
    VssdCompletion done;

    while (vssd_advance(d, vssd_next_event(d), &done, 1, sizeof(done)) == 0) {
    }
    return done;
}

static int now(VssdDrive *d, VssdOp op, uint64_t lba, uint32_t n)
{
    int r = ask(d, op, lba, n, 1);

    if (r == 0) {
        g_assert_cmpuint(ended(d).status, ==, VSSD_OK);
    }
    return r;
}

static VssdZone zone_at(VssdDrive *d, uint64_t lba)
{
    VssdZone z;

    g_assert_cmpint(vssd_get_zone(d, lba, &z), ==, 0);
    return z;
}

static void says(VssdDrive *d, int r, const char *text)
{
    g_assert_cmpint(r, ==, -EPERM);
    g_assert_cmpstr(vssd_message(d), ==, text);
}

/* Appends get addresses in the order in which they were submitted. */
static void test_zone_append(void)
{
    VssdDrive *d = open_zoned();
    VssdInfo info = {.size = sizeof(info)};

    g_assert_cmpint(vssd_get_info(d, &info), ==, 0);
    g_assert_cmpuint(info.zone_blocks, ==, ZONE);
    for (uint32_t i = 0; i < 8; i++) {
        g_assert_cmpint(ask(d, VSSD_ZONE_APPEND, ZONE + 5, i + 1, i), ==, 0);
    }
    for (uint32_t i = 0; i < 8; i++) {
        VssdCompletion done = ended(d);

        g_assert_cmpuint(done.bad_lba, ==,
                         ZONE + done.tag * (done.tag + 1) / 2);
    }
    g_assert_cmpuint(zone_at(d, ZONE).written, ==, 36);
    says(d, ask(d, VSSD_ZONE_APPEND, ZONE, 29, 9),
         "zone 1: a write that leaves the zone");
    says(d, ask(d, VSSD_WRITE, ZONE + 35, 1, 9),
         "zone 1: a write at block 99, the write pointer is at 100");
    g_assert_cmpint(now(d, VSSD_WRITE, ZONE + 36, 28), ==, 0);
    g_assert_cmpuint(zone_at(d, ZONE).state, ==, VSSD_ZONE_IS_FULL);
    says(d, ask(d, VSSD_ZONE_APPEND, ZONE, 1, 9), "zone 1: is full");
    g_assert_cmpint(ask(d, VSSD_TRIM, 0, 1, 9), ==, -EINVAL);
    g_assert_cmpint(vssd_check(d), ==, 0);
    vssd_destroy(d);
}

static void test_zone_limits(void)
{
    VssdDrive *d = open_zoned();

    g_assert_cmpint(now(d, VSSD_WRITE, 0, 1), ==, 0);
    g_assert_cmpint(now(d, VSSD_ZONE_OPEN, ZONE, 0), ==, 0);
    g_assert_cmpint(now(d, VSSD_WRITE, 2 * ZONE, 1), ==, 0);
    /* The zone that was opened implicitly, and first, was closed for it. */
    g_assert_cmpuint(zone_at(d, 0).state, ==, VSSD_ZONE_IS_CLOSED);
    g_assert_cmpuint(zone_at(d, ZONE).state, ==, VSSD_ZONE_IS_EXPLICITLY_OPEN);
    says(d, ask(d, VSSD_WRITE, 3 * ZONE, 1, 2),
         "zone 3: too many zones are active (zones.max_active=3)");
    g_assert_cmpint(now(d, VSSD_ZONE_CLOSE, 2 * ZONE, 0), ==, 0);
    says(d, ask(d, VSSD_ZONE_CLOSE, 3 * ZONE, 0, 2), "zone 3: is not open");
    g_assert_cmpint(now(d, VSSD_ZONE_OPEN, 2 * ZONE, 0), ==, 0);
    says(d, ask(d, VSSD_WRITE, 1, 1, 2),
         "zone 0: too many zones are open (zones.max_open=2)");
    g_assert_cmpint(now(d, VSSD_ZONE_FINISH, ZONE, 0), ==, 0);
    g_assert_cmpint(now(d, VSSD_WRITE, 1, 1), ==, 0);
    g_assert_cmpint(now(d, VSSD_WRITE, 3 * ZONE, 1), ==, 0);
    g_assert_cmpint(now(d, VSSD_WRITE, 4 * ZONE, 1), ==, -EPERM);
    g_assert_cmpint(now(d, VSSD_ZONE_RESET, 2 * ZONE, 0), ==, 0);
    g_assert_cmpint(now(d, VSSD_WRITE, 4 * ZONE, 1), ==, 0);
    g_assert_cmpint(vssd_check(d), ==, 0);
    vssd_destroy(d);
}

/* Of several that were opened implicitly, the first is closed; of a copy, its
 * own. */
static void test_zone_closed(void)
{
    VssdDrive *d = open_zoned();
    VssdDrive *copy;

    g_assert_cmpint(now(d, VSSD_WRITE, 0, 1), ==, 0);
    g_assert_cmpint(now(d, VSSD_WRITE, ZONE, 1), ==, 0);
    g_assert_cmpint(vssd_clone(d, &copy), ==, 0);
    g_assert_cmpint(now(copy, VSSD_WRITE, 2 * ZONE, 1), ==, 0);
    g_assert_cmpuint(zone_at(copy, 0).state, ==, VSSD_ZONE_IS_CLOSED);
    g_assert_cmpuint(zone_at(copy, ZONE).state, ==,
                     VSSD_ZONE_IS_IMPLICITLY_OPEN);
    g_assert_cmpuint(zone_at(d, 0).state, ==, VSSD_ZONE_IS_IMPLICITLY_OPEN);
    vssd_destroy(d);
    vssd_destroy(copy);
}

/* A zone takes no more while it is being finished or reset; play() waits. */
static void test_zone_waits(void)
{
    VssdRequest r[] = {
        {.op = VSSD_WRITE, .nblocks = 8},
        {.op = VSSD_ZONE_FINISH},
        {.op = VSSD_ZONE_RESET},
        {.op = VSSD_WRITE, .nblocks = 4},
        {.op = VSSD_ZONE_APPEND, .nblocks = 4},
    };
    VssdDrive *d = open_zoned();
    VssdCompletion done[5];

    g_assert_cmpint(ask(d, VSSD_WRITE, 0, 8, 1), ==, 0);
    g_assert_cmpint(ask(d, VSSD_ZONE_RESET, 0, 0, 2), ==, -EAGAIN);
    ended(d);
    g_assert_cmpint(ask(d, VSSD_ZONE_RESET, 0, 0, 2), ==, 0);
    g_assert_cmpint(ask(d, VSSD_WRITE, 0, 1, 3), ==, -EAGAIN);
    ended(d);
    g_assert_cmpint(vssd_play(d, r, sizeof(*r), 5, 8, done, sizeof(*done)), ==,
                    5);
    for (int i = 1; i < 4; i++) {
        g_assert_cmpuint(done[i].submit_ns, >=, done[i - 1].complete_ns);
    }
    g_assert_cmpuint(done[4].submit_ns, ==, done[3].submit_ns);
    g_assert_cmpuint(done[4].bad_lba, ==, 4);
    g_assert_cmpint(vssd_check(d), ==, 0);
    vssd_destroy(d);
}

/* Zones are saved behind the drive; a copy has them, too. */
static void test_zone_states(void)
{
    VssdSetup setup = {.size = sizeof(setup),
                       .profile = "tiny",
                       .options = ZONED,
                       .block_bytes = 4096};
    VssdDrive *d = open_zoned();
    VssdDrive *copy;
    char message[200];
    void *bytes;
    size_t n;

    g_assert_cmpint(vssd_preload(d, ZONE, ZONE / 2), ==, -EINVAL);
    g_assert_cmpint(vssd_preload(d, ZONE, ZONE), ==, 0);
    g_assert_cmpuint(zone_at(d, ZONE).state, ==, VSSD_ZONE_IS_FULL);
    g_assert_cmpint(now(d, VSSD_WRITE, 0, 5), ==, 0);
    g_assert_cmpint(ask(d, VSSD_ZONE_FINISH, 0, 0, 7), ==, 0);
    g_assert_cmpint(vssd_clone(d, &copy), ==, 0);
    g_assert_cmpint(ask(copy, VSSD_ZONE_RESET, 0, 0, 8), ==, -EAGAIN);
    g_assert_cmpuint(ended(copy).complete_ns, ==, ended(d).complete_ns);
    g_assert_cmpint(now(copy, VSSD_ZONE_RESET, 0, 0), ==, 0);
    vssd_destroy(copy);
    g_assert_cmpint(now(d, VSSD_WRITE, 2 * ZONE, 5), ==, 0);
    g_assert_cmpint(vssd_rest(d, VSSD_TIME_MAX / 2), ==, 0);
    g_assert_cmpint(vssd_save(d, &bytes, &n), ==, 0);
    g_assert_cmpint(vssd_load(&setup, bytes, n, &copy, message, 200), ==, 0);
    g_assert_cmpuint(zone_at(copy, 0).state, ==, VSSD_ZONE_IS_FULL);
    g_assert_cmpuint(zone_at(copy, 0).written, ==, 5);
    g_assert_cmpuint(zone_at(copy, 2 * ZONE).written, ==, 5);
    g_assert_cmpint(now(copy, VSSD_WRITE, 2 * ZONE + 5, ZONE - 5), ==, 0);
    g_assert_cmpint(vssd_check(copy), ==, 0);
    vssd_destroy(copy);
    g_assert_cmpint(vssd_load(&setup, bytes, n - 30, &copy, message, 200), <,
                    0);
    vssd_free(bytes);
    g_assert_cmpint(vssd_power_cut(d, vssd_now(d)), ==, -ENOTSUP);
    g_assert_cmpint(vssd_age(d, NULL, 0), ==, -ENOTSUP);
    vssd_destroy(d);
    d = open_with(NULL, 0);
    g_assert_cmpint(ask(d, VSSD_ZONE_RESET, 0, 1, 1), ==, -EINVAL);
    vssd_destroy(d);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lib/versions", test_versions);
    g_test_add_func("/lib/refusals", test_refusals);
    g_test_add_func("/lib/bad-calls", test_bad_calls);
    g_test_add_func("/lib/beyond-the-memory", test_beyond_the_memory);
    g_test_add_func("/lib/queue-full", test_queue_full);
    g_test_add_func("/lib/play", test_play);
    g_test_add_func("/lib/times", test_times);
    g_test_add_func("/lib/states", test_states);
    g_test_add_func("/lib/clone-at-work", test_clone_at_work);
    g_test_add_func("/lib/power", test_power);
    g_test_add_func("/lib/age", test_age);
    g_test_add_func("/lib/reports", test_reports);
    g_test_add_func("/lib/set", test_set);
    g_test_add_func("/lib/live", test_live);
    g_test_add_func("/lib/zone-append", test_zone_append);
    g_test_add_func("/lib/zone-limits", test_zone_limits);
    g_test_add_func("/lib/zone-closed", test_zone_closed);
    g_test_add_func("/lib/zone-waits", test_zone_waits);
    g_test_add_func("/lib/zone-states", test_zone_states);
    return g_test_run();
}
