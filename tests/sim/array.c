/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.c - drives side by side: where blocks are, when commands end.
 *
 * The drives are those of player.c: firmware 3000 ns, link 1000 ns for 4 KiB,
 * DRAM 500 ns for each unit; reads from NAND take 200 + 50000 + 10240 ns more
 * for 4 KiB; one die.
 */
#include "array.h"

#include <errno.h>
#include <string.h>
#include <glib.h>

#include "one-die.h"
#include "player.h"
#include "prng.h"
#include "ssd-setup.h"
#include "workload.h"

#define F    3000ULL
#define L    1000ULL
#define NAND (200ULL + 50000 + 10240)
#define MOST 3

static const char drive[] = ONE_DIE "host.queue_depth=4;";

typedef struct Fixture {
    Ssd *ssd[MOST];
    Array *array;
    uint64_t now_ns;
} Fixture;

static Fixture set_up(unsigned n, uint64_t stripe_bytes, const char *options)
{
    SsdConfig *cfg = ssd_config_new();
    Fixture f = {.now_ns = 0};

    g_assert_true(ssd_config_set(cfg, drive, NULL));
    g_assert_true(ssd_config_set(cfg, options, NULL));
    for (unsigned i = 0; i < n; i++) {
        f.ssd[i] = ssd_create(cfg, NULL, NULL, NULL);
        g_assert_nonnull(f.ssd[i]);
    }
    f.array = array_new(f.ssd, n, stripe_bytes);
    ssd_config_free(cfg);
    return f;
}

static void tear_down(Fixture *f)
{
    array_free(f->array);
    for (unsigned i = 0; i < MOST; i++) {
        g_clear_pointer(&f->ssd[i], ssd_destroy);
    }
}

/* One command by itself; its completion. */
static SsdCompletion one(Fixture *f, SsdCmd cmd)
{
    SsdCompletion done;
    size_t n = 0;

    g_assert_cmpint(array_submit(f->array, f->now_ns, &cmd), ==, 0);
    while (n == 0) {
        f->now_ns = MAX(array_wait(f->array, SSD_TIME_NEVER), f->now_ns);
        n = array_advance(f->array, f->now_ns, &done, 1);
    }
    g_assert_cmpuint(done.tag, ==, cmd.tag);
    g_assert_cmpuint(done.complete_ns, ==, f->now_ns);
    return done;
}

/* Block b of the array is block (b / 24) * 8 + b % 8 of drive (b / 8) % 3, with
 * 8 blocks in a stripe: each write maps these and no others. */
static void test_places(void)
{
    Fixture f = set_up(3, 8 * 512, "ftl.unit=512B;buffer.access=0ns");
    uint64_t nblocks = array_info(f.array)->nblocks;
    g_autofree bool *written = g_new0(bool, nblocks);
    Prng prng;

    g_assert_cmpuint(nblocks % 24, ==, 0);
    prng_seed(&prng, 1, 1);
    for (unsigned i = 0; i < 60; i++) {
        uint32_t n = 1 + (uint32_t)prng_below(&prng, 70);
        uint64_t lba = prng_below(&prng, nblocks / 8 - n);
        SsdCmd cmd = {.op = SSD_OP_WRITE, .version = i + 1, .tag = i % 4,
                      .lba = lba, .nblocks = n};
        SsdCompletion c = one(&f, cmd);

        g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
        memset(written + lba, true, n);
        for (uint64_t b = 0; b < nblocks; b++) {
            g_assert_cmpint(ssd_mapped(f.ssd[b / 8 % 3], b / 24 * 8 + b % 8,
                                       NULL), ==, written[b]);
        }
    }
    tear_down(&f);
}

/* Two units on two drives are read at the same time, on one drive one after the
 * other, since they are in one plane; each drive has its own link. */
static void test_side_by_side(void)
{
    SsdCmd cmd = {.op = SSD_OP_READ, .lba = 0, .nblocks = 16};
    Fixture f = set_up(2, 4096, "");
    SsdCompletion c;

    array_preload(f.array);
    c = one(&f, cmd);
    g_assert_cmpuint(c.complete_ns - c.submit_ns, ==, F + NAND + L);
    tear_down(&f);
    f = set_up(2, 8192, ""); /* both on the first drive, in one page */
    array_preload(f.array);
    c = one(&f, cmd);
    g_assert_cmpuint(c.complete_ns - c.submit_ns, ==, F + NAND + 10240 + 2 * L);
    tear_down(&f);
}

/* Of the parts that have ended by then the last one counts, whichever drive has
 * it: the first drive reads two units here, the second one. */
static void test_latest(void)
{
    Fixture f = set_up(2, 4096, "");
    SsdCmd cmd = {.op = SSD_OP_READ, .lba = 0, .nblocks = 24};
    SsdCompletion done;

    array_preload(f.array);
    g_assert_cmpint(array_submit(f.array, 0, &cmd), ==, 0);
    g_assert_cmpuint(array_wait(f.array, SSD_TIME_NEVER), <, F + NAND);
    g_assert_cmpuint(array_advance(f.array, 1000000, &done, 1), ==, 1);
    g_assert_cmpuint(done.complete_ns, ==, F + NAND + 10240 + 2 * L);
    tear_down(&f);
}

/* A flush ends when all drives have nothing left: the second one has, here. */
static void test_flush(void)
{
    Fixture f = set_up(2, 4096, "");
    SsdCmd cmd = {.op = SSD_OP_WRITE, .version = 1, .lba = 8, .nblocks = 8};
    SsdCompletion c = one(&f, cmd);

    g_assert_cmpuint(c.complete_ns - c.submit_ns, ==, F + L + 500);
    cmd = (SsdCmd){.op = SSD_OP_FLUSH, .tag = 1};
    c = one(&f, cmd);
    g_assert_cmpuint(c.complete_ns - c.submit_ns, >, 500 * 1000);
    g_assert_cmpuint(c.cost.flush_ns, >, 0);
    tear_down(&f);
}

/* A command beyond the end is refused, and the tag is free again. */
static void test_beyond(void)
{
    Fixture f = set_up(2, 4096, "");
    uint64_t nblocks = array_info(f.array)->nblocks;
    SsdCmd cmd = {.op = SSD_OP_READ, .lba = nblocks, .nblocks = 1};

    g_assert_cmpint(array_submit(f.array, 0, &cmd), ==, -EINVAL);
    cmd.lba = nblocks - 1;
    cmd.nblocks = 2;
    g_assert_cmpint(array_submit(f.array, 0, &cmd), ==, -EINVAL);
    cmd.nblocks = 1;
    one(&f, cmd);
    tear_down(&f);
}

static void in_order(void *opaque, const PlayerDone *d)
{
    uint64_t *last_ns = opaque;

    g_assert_cmpuint(d->completion->complete_ns, >=, *last_ns);
    *last_ns = d->completion->complete_ns;
}

/* Between two far arrivals many requests end, on any drive: oldest first. */
static void test_order(void)
{
    Fixture f = set_up(3, 4096, "host.queue_depth=64");
    const SsdInfo *info = array_info(f.array);
    uint64_t last_ns = 0;
    PlayerConfig cfg = {.done = in_order, .done_opaque = &last_ns};
    Player *p = player_new_array(f.array, &cfg);
    Workload *w = workload_new("rw=randrw bs=8k number_ios=500 rate_iops=9000 "
                               "rate_process=pareto",
                               info->nblocks * info->block_bytes,
                               info->block_bytes, 1, NULL);
    RequestSource s = workload_source(w);
    const PlayerResult *r = player_result(p);

    player_fill(p, PLAYER_FILL_PRELOAD, 1, NULL);
    g_assert_true(player_run(p, &s, NULL));
    g_assert_cmpuint(r->n_requests, ==, 500);
    g_assert_cmpuint(r->sim_ns, ==, last_ns);
    workload_free(w);
    player_free(p);
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/array/places", test_places);
    g_test_add_func("/array/side-by-side", test_side_by_side);
    g_test_add_func("/array/latest", test_latest);
    g_test_add_func("/array/flush", test_flush);
    g_test_add_func("/array/beyond", test_beyond);
    g_test_add_func("/array/order", test_order);
    return g_test_run();
}
