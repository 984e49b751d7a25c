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
                  "nand.pages=4096;nand.blocks=7620;ftl.op_percent=25%",
                  0);
    uint64_t all = capacity(d);

    g_assert_cmpint(vssd_preload(d, 0, all), ==, -ENOMEM);
    g_assert_true(g_str_has_prefix(vssd_message(d),
                                   "preload: a full drive of 381 TiB needs 1"));
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
    return g_test_run();
}
