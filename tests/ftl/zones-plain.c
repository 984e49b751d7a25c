/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones-plain.c - zones, and the space behind them without any
 * (zones.conventional): sizes, random commands to both against the reference,
 * and that neither takes the room of the other.
 */
#include <glib/gstdio.h>

#include "prng.h"
#include "zoned-drive.h"

/* 36 blocks less 8 spare ones; 4 of each plane are for the space. */
#define BOTH  FOUR_DIES "nand.blocks=36;zones.conventional=4MiB;"
#define PLAIN (4 * ZONE)

#define PARITY "superblock.row=4;superblock.row_wait=1ms;superblock.parity=on;"

static void test_sizes(void)
{
    Drive d = open_drive(BOTH);
    const SsdInfo *info = ssd_info(d.ssd);

    g_assert_cmpuint(info->zones.n, ==, 36 - 8 - 4);
    g_assert_cmpuint(info->zones.conventional, ==, PLAIN);
    g_assert_cmpuint(info->nblocks, ==, 24 * ZONE + PLAIN);
    /* A stream for the space, which no zone may have. */
    g_assert_cmpuint(info->host_streams, ==, info->nstreams - 1);
    ssd_destroy(d.ssd);
    /* Over-provisioning is of both: 36 / 1.5 blocks. */
    d = open_drive(BOTH "ftl.op_percent=50%;");
    g_assert_cmpuint(ssd_info(d.ssd)->zones.n, ==, 24 - 4);
    ssd_destroy(d.ssd);
}

static void refused(const char *options, const char *why)
{
    SsdConfig *cfg = ref_config(options);
    GError *error = NULL;

    ssd_config_set_block_bytes(cfg, 4096, NULL);
    g_assert_false(ssd_config_check(cfg, &error));
    g_assert_cmpstr(error->message, ==, why);
    g_error_free(error);
    ssd_config_free(cfg);
}

static void test_refused(void)
{
    refused("zones.conventional=4MiB",
            "zones.conventional: needs zones.enabled=on");
    refused(FOUR_DIES "zones.conventional=5000",
            "zones.conventional=5000: must be a multiple of ftl.unit=4096");
    refused(FOUR_DIES "zones.conventional=16MiB",
            "zones.enabled=on: no zone of 1 blocks of each plane fits beside "
            "24 spare ones (nand.blocks=24, ftl.op_percent, "
            "zones.conventional)");
}

static int submit(Drive *d, SsdOp op, uint64_t lba, uint32_t n, bool erase)
{
    SsdCmd cmd = {.op = op, .lba = lba, .nblocks = n, .erase = erase};

    return ssd_submit(d->ssd, d->now_ns, &cmd);
}

static void test_ranges(void)
{
    Drive d = open_drive(BOTH);
    uint64_t first = 24 * ZONE;

    g_assert_cmpint(submit(&d, SSD_OP_WRITE, first - 1, 2, false), ==, -EINVAL);
    g_assert_cmpint(submit(&d, SSD_OP_WRITE, first + PLAIN, 1, false), ==,
                    -EINVAL);
    put(&d, first - 1, 1, 0);
    put(&d, first, 1, 0);
    run(&d, (SsdCmd){.op = SSD_OP_READ, .lba = first - 1, .nblocks = 2});
    check(&d);
    ssd_destroy(d.ssd);
}

/* ---- room ---------------------------------------------------------------- */

static uint32_t plane_of(const Drive *d, uint64_t lba)
{
    SsdPlace place;

    ssd_place(d->ssd, lba, &place);
    return place.in_nand ? block_plane(d->ssd, place.erase_block) : UINT32_MAX;
}

/* Each plane has the same part of a zone's data, in one block. */
static void check_zone(const Drive *d, uint32_t zone)
{
    uint32_t n[4] = {0};
    uint32_t block[4] = {0};

    for (uint64_t lba = zone * ZONE; lba < (zone + 1) * ZONE; lba++) {
        SsdPlace place;
        uint32_t plane;

        ssd_place(d->ssd, lba, &place);
        g_assert_true(place.in_nand);
        plane = block_plane(d->ssd, place.erase_block);
        g_assert_true(n[plane] == 0 || block[plane] == place.erase_block);
        block[plane] = place.erase_block;
        n[plane]++;
    }
    for (uint32_t i = 0; i < 4; i++) {
        g_assert_cmpuint(n[i], ==, ZONE / 4);
    }
}

/*
 * A host that overwrites only what is in other planes than the first one: the
 * data of the space gathers there.  Zones get their blocks all the same, and
 * GC moves nothing of them.
 */
static void test_gathered(void)
{
    Drive d = open_drive(BOTH);
    uint64_t first = 24 * ZONE;
    uint64_t most;

    for (uint64_t at = 0; at < PLAIN; at += 32) {
        put(&d, first + at, 32, 0);
    }
    for (int round = 0; round < 40; round++) {
        for (uint64_t at = 0; at < PLAIN; at++) {
            if (plane_of(&d, first + at) != 0) {
                put(&d, first + at, 1, 0);
            }
        }
        settle(&d);
        check(&d);
    }
    most = d.ssd->l.plain_share + d.ssd->media->plane[0].slack_units;
    g_test_message("%" PRIu64 " units in the first plane, at most %" PRIu64,
                   d.ssd->media->plain_valid[0], most);
    g_assert_cmpuint(d.ssd->media->plain_valid[0], >, d.ssd->l.plain_share);
    g_assert_cmpuint(d.ssd->media->plain_valid[0], <=,
                     most + 2 * d.ssd->l.units_per_program);
    for (uint32_t zone = 0; zone < 24; zone++) {
        for (uint64_t at = 0; at < ZONE; at += 16) {
            put(&d, zone * ZONE + at, 16, zone % 8);
            put(&d, first + (at * 37 + zone * 11) % PLAIN, 1, 0);
        }
    }
    settle(&d);
    check(&d);
    for (uint32_t zone = 0; zone < 24; zone++) {
        check_zone(&d, zone);
    }
    ssd_destroy(d.ssd);
}

/* ---- random commands ----------------------------------------------------- */

#define N_ACTIVE 4

typedef struct Both {
    Ref *r;
    Prng rng;
    uint32_t zone[N_ACTIVE];
    uint64_t at[N_ACTIVE];
    uint32_t next;
} Both;

static void do_zone(Both *b)
{
    const SsdZones *z = &b->r->info->zones;
    uint32_t i = (uint32_t)prng_below(&b->rng, N_ACTIVE);
    uint32_t n = 1 + (uint32_t)prng_below(&b->rng, 20);

    n = (uint32_t)MIN(n, z->capacity - b->at[i]);
    b->r->stream = (uint16_t)i;
    if (n > 0) {
        ref_do(b->r, SSD_OP_WRITE, b->zone[i] * z->capacity + b->at[i], n,
               false);
        b->at[i] += n;
        return;
    }
    ref_drain(b->r);
    b->zone[i] = b->next++ % z->n;
    b->at[i] = 0;
    b->r->erase = true;
    b->r->stream = UINT16_MAX;
    ref_do(b->r, SSD_OP_TRIM, b->zone[i] * z->capacity, (uint32_t)z->capacity,
           false);
    ref_drain(b->r);
    b->r->erase = false;
}

static void do_plain(Both *b)
{
    const SsdZones *z = &b->r->info->zones;
    uint64_t at = prng_below(&b->rng, z->conventional);
    uint32_t n = 1 + (uint32_t)prng_below(&b->rng, 24);
    uint64_t kind = prng_below(&b->rng, 20);

    n = (uint32_t)MIN(n, z->conventional - at);
    b->r->stream = 0;
    ref_do(b->r,
           kind == 0   ? SSD_OP_TRIM
           : kind == 1 ? SSD_OP_READ
           : kind == 2 ? SSD_OP_FLUSH
                       : SSD_OP_WRITE,
           z->n * z->capacity + at, n, false);
}

static void both(const char *options, uint64_t seed, bool cuts)
{
    Both b = {.r = ref_new(ref_config(options), false), .next = N_ACTIVE};
    SsdCounters c;

    b.r->replace_permille = 5;
    prng_seed(&b.rng, seed, 17);
    for (uint32_t i = 0; i < N_ACTIVE; i++) {
        b.zone[i] = i;
    }
    for (int i = 0; i < 30000; i++) {
        if (prng_below(&b.rng, 3) == 0) {
            do_zone(&b);
        } else {
            do_plain(&b);
        }
        if (prng_below(&b.rng, 100) == 0) { /* at rest it can be saved */
            ref_drain(b.r);
            ref_pass(b.r, 100 * NS_PER_MS);
        }
        if (cuts && prng_below(&b.rng, 1500) == 0) {
            ref_power_cycle(b.r);
        }
    }
    b.r->stream = 0;
    ref_finish(b.r);
    ssd_get_counters(b.r->ssd, &c);
    g_test_message("%" PRIu64 " programs, %" PRIu64 " copied, %" PRIu64
                   " saved and loaded, %" PRIu64 " cloned",
                   c.nand_programs, c.copied_units, b.r->n_loaded,
                   b.r->n_cloned);
    g_assert_cmpuint(c.copied_units, >, 0);
    g_assert_cmpuint(b.r->n_loaded + b.r->n_cloned, >, 0);
    ref_free(b.r);
}

static void test_random(void)
{
    for (uint64_t seed = 100; g_test_slow() && seed < 120; seed++) {
        both(BOTH, seed, seed % 2);
        both(BOTH "nand.planes=2;nand.multi_plane=on;superblock.width=die;",
             seed, seed % 2);
        both(BOTH "nand.blocks=24;zones.conventional=6MiB;buffer.size=256KiB;",
             seed, seed % 2);
        both(BOTH PARITY "superblock.width=2;", seed, seed % 2);
        both(BOTH PARITY "superblock.width=4;zones.zrwa=64KiB;", seed,
             seed % 2);
    }
    both(BOTH, 1, false);
    both(BOTH "nand.planes=2;nand.multi_plane=on;superblock.width=die;", 2,
         false);
    both(BOTH "nand.planes=2;nand.multi_plane=on;", 3, false);
    both(BOTH "zones.capacity=1200KiB;zones.zrwa=64KiB;", 4, false);
    both(BOTH "superblock.row=4;superblock.row_wait=1ms;zones.zrwa=64KiB;", 9,
         false);
}

static void test_power(void)
{
    both(BOTH, 5, true);
    both(BOTH "nand.planes=2;nand.multi_plane=on;superblock.width=die;", 6,
         true);
    both(BOTH "ftl.op_percent=50%;", 7, true);
    both(BOTH "superblock.row=2;superblock.width=drive;", 10, true);
    both(BOTH PARITY "superblock.width=4;", 11, true);
}

/* A die fails: data of both kinds is rebuilt, and goes to the other dies. */
static void test_dead(void)
{
    g_autofree char *rules = ref_faults_file("die=1 time=300ms -> dead");
    g_autofree char *options = g_strconcat(
        BOTH PARITY "superblock.width=4;ftl.capacity=12MiB;faults=", rules,
        NULL);

    both(options, 12, true);
    g_unlink(rules);
}

/* Blocks fail: data of both kinds moves. */
static void test_failures(void)
{
    both(BOTH "nand.blocks=60;ftl.capacity=32MiB;media.program_fail=0.0002;", 8,
         false);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zones-plain/sizes", test_sizes);
    g_test_add_func("/zones-plain/refused", test_refused);
    g_test_add_func("/zones-plain/ranges", test_ranges);
    g_test_add_func("/zones-plain/gathered", test_gathered);
    g_test_add_func("/zones-plain/random", test_random);
    g_test_add_func("/zones-plain/power", test_power);
    g_test_add_func("/zones-plain/dead", test_dead);
    g_test_add_func("/zones-plain/failures", test_failures);
    return g_test_run();
}
