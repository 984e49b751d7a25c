/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones.c - zones on superblocks, against closed forms: a zone fills exactly
 * its blocks, a reset takes the time of parallel erases, and GC copies nothing.
 *
 * The host's part, the choice of a stream for each zone, is in this file.
 */
#include "prng.h"
#include "zoned-drive.h"

/* ---- sizes --------------------------------------------------------------- */

static void test_sizes(void)
{
    Drive d = open_drive(FOUR_DIES);
    const SsdZones *z = &ssd_info(d.ssd)->zones;

    /* 24 blocks, less 7 spare; 1 MiB has 64 program units, half of them. */
    g_assert_cmpuint(z->n, ==, 24 - 7);
    g_assert_cmpuint(z->capacity, ==, ZONE);
    g_assert_cmpuint(z->size, ==, ZONE);
    g_assert_cmpuint(z->max_active, ==, 17);
    g_assert_cmpuint(z->max_open, ==, 17);
    g_assert_true(z->whole);
    g_assert_cmpuint(ssd_info(d.ssd)->nblocks, ==, 17 * ZONE);
    ssd_destroy(d.ssd);
    d = open_drive(FOUR_DIES "zones.capacity=1200KiB;zones.max_active=5;"
                             "zones.max_open=3");
    z = &ssd_info(d.ssd)->zones;
    g_assert_cmpuint(z->n, ==, 17 / 2); /* two blocks of each plane */
    g_assert_cmpuint(z->capacity, ==, 300);
    g_assert_cmpuint(z->size, ==, 512);
    g_assert_cmpuint(z->max_active, ==, 5);
    g_assert_cmpuint(z->max_open, ==, 3);
    g_assert_false(z->whole);
    ssd_destroy(d.ssd);
}

static void refused(const char *options, uint32_t block_bytes, const char *why)
{
    SsdConfig *cfg = ref_config(options);
    GError *error = NULL;

    ssd_config_set_block_bytes(cfg, block_bytes, NULL);
    g_assert_false(ssd_config_check(cfg, &error));
    g_assert_cmpstr(error->message, ==, why);
    g_error_free(error);
    ssd_config_free(cfg);
}

static void test_refused(void)
{
    refused("zones.size=1MiB", 4096, "zones.size: needs zones.enabled=on");
    refused("zones.enabled=on", 4096, "zones.enabled=on: needs buffer.plp=on");
    refused(FOUR_DIES "ftl.unit=8KiB", 4096,
            "zones.enabled=on: needs ftl.unit of at most 4096");
    refused(FOUR_DIES "ftl.alloc=stripe", 4096,
            "zones.enabled=on: needs ftl.alloc=in-order");
    refused(FOUR_DIES "buffer.policy=lru", 4096,
            "zones.enabled=on: needs buffer.policy=fifo");
    refused(FOUR_DIES "fdp.ruhs=2", 4096, "zones.enabled=on: needs fdp.ruhs=0");
    refused(FOUR_DIES "superblock.row=4;superblock.padding=on", 4096,
            "zones.enabled=on: needs superblock.padding=off");
    refused(FOUR_DIES "superblock.row=4;zones.max_active=9", 4096,
            "zones.max_active=9: buffer.size=1048576 has room for 8 active "
            "zones, half of it with a row each");
    refused(FOUR_DIES "zones.capacity=4097", 4096,
            "zones.capacity=4097: must be a multiple of ftl.unit=4096");
    refused(FOUR_DIES "zones.size=512KiB", 4096,
            "zones.size=524288: must be a power of two, at least "
            "zones.capacity, 1048576 bytes");
    refused(FOUR_DIES "zones.max_active=33", 4096,
            "zones.max_active=33: buffer.size=1048576 has room for 32 active "
            "zones, half of it with a program unit each");
    refused(FOUR_DIES "zones.max_active=3;zones.max_open=4", 4096,
            "zones.max_open=4: allowed 1..3 (zones.max_active)");
    refused("zones.reset_record=1ms", 4096,
            "zones.reset_record: needs zones.enabled=on");
    refused("zones.append_time=1us", 4096,
            "zones.append_time: needs zones.enabled=on");
    refused("zones.reset_after=1s", 4096,
            "zones.reset_after: needs zones.enabled=on");
    refused(FOUR_DIES "zones.finish_after=1ms", 4096,
            "zones.finish_after: must be whole seconds, at most 8640000");
    refused(FOUR_DIES "zones.finish_limit=5s", 4096,
            "zones.finish_limit: needs zones.finish_after");
    refused(FOUR_DIES "zones.append_max=5000", 4096,
            "zones.append_max=5000: must be 0 or a power of two of 8192 or "
            "more");
    refused(FOUR_DIES "nand.blocks=16;zones.capacity=10MiB", 4096,
            "zones.enabled=on: no zone of 10 blocks of each plane fits beside "
            "7 spare ones (nand.blocks=16, ftl.op_percent)");
}

/* ---- time ---------------------------------------------------------------- */

/*
 * The erases of a zone: commands one after the other on each channel, then all
 * dies erase at once: firmware + dies of a channel x C + tBERS.
 */
static void test_reset_time(void)
{
    Drive d = open_drive(FOUR_DIES);

    put(&d, 0, ZONE, 0);
    settle(&d);
    g_assert_cmpuint(reset(&d, 0, UINT16_MAX), ==, FW + 2 * C + TBERS);
    /* An empty zone costs no erase. */
    g_assert_cmpuint(reset(&d, 0, UINT16_MAX), ==, FW);
    /* One page: one block. */
    put(&d, 0, 4, 0);
    settle(&d);
    g_assert_cmpuint(reset(&d, 0, 0), ==, FW + C + TBERS);
    /* Less than a page is in the buffer only. */
    put(&d, 0, 3, 1);
    g_assert_cmpuint(reset(&d, 0, 1), ==, FW);
    check(&d);
    ssd_destroy(d.ssd);
}

/* A copy that is made while the blocks are being erased ends the command, too.
 */
static void test_reset_clone(void)
{
    Drive d = open_drive(FOUR_DIES);
    SsdCmd cmd = {.op = SSD_OP_TRIM,
                  .erase = true,
                  .nblocks = ZONE,
                  .stream = UINT16_MAX};
    GError *error = NULL;
    SsdCompletion done;
    uint64_t end_ns;
    Ssd *copy;

    put(&d, 0, ZONE, 0);
    settle(&d);
    end_ns = d.now_ns + FW + 2 * C + TBERS;
    g_assert_cmpint(ssd_submit(d.ssd, d.now_ns, &cmd), ==, 0);
    g_assert_cmpuint(ssd_advance(d.ssd, end_ns - 1000, &done, 1), ==, 0);
    copy = ssd_clone(d.ssd, NULL, NULL, &error);
    g_assert_no_error(error);
    ssd_destroy(d.ssd);
    d.ssd = copy;
    g_assert_cmpuint(ssd_advance(d.ssd, end_ns, &done, 1), ==, 1);
    g_assert_cmpuint(done.complete_ns, ==, end_ns);
    check(&d);
    ssd_destroy(d.ssd);
}

/* Planes of a die: one multi-plane erase with superblock.width=die. */
static void test_reset_planes(void)
{
    static const char two[] =
        FOUR_DIES "nand.planes=2;nand.multi_plane=on;superblock.width=die;";
    Drive d = open_drive(two);
    uint64_t took;

    put(&d, 0, 2 * ZONE, 0);
    settle(&d);
    took = reset(&d, 0, UINT16_MAX);
    g_test_message("reset of 8 planes on 4 dies: %" PRIu64 " ns", took);
    g_assert_cmpuint(took, >=, FW + TBERS);
    g_assert_cmpuint(took, <, FW + TBERS + 8 * 4 * C);
    check(&d);
    ssd_destroy(d.ssd);
}

/* ---- write amplification ------------------------------------------------- */

/* Zones in parallel, in writes of any size, and resets, many times over. */
static void churn(const char *options, bool partly)
{
    Drive d = open_drive(options);
    const SsdInfo *info = ssd_info(d.ssd);
    const SsdZones z = info->zones;
    uint32_t n = MIN(z.max_active, 6);
    uint64_t written = 0;
    uint64_t erased = 0;
    uint64_t at[8] = {0};
    uint32_t zone[8];
    uint32_t next = 0;
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 7, 7);
    for (uint32_t i = 0; i < n; i++) {
        zone[i] = next++ % z.n;
    }
    for (int round = 0; round < 6000; round++) {
        uint32_t i = (uint32_t)prng_below(&rng, n);
        uint32_t most = (uint32_t)MIN(z.capacity - at[i], 40);
        uint32_t len = 1 + (uint32_t)prng_below(&rng, most);

        put(&d, zone[i] * z.capacity + at[i], len, i);
        at[i] += len;
        written += len;
        if (at[i] < z.capacity && !(partly && prng_below(&rng, 50) == 0)) {
            continue;
        }
        if (at[i] < z.capacity) { /* finish it */
            run(&d, (SsdCmd){.op = SSD_OP_FLUSH,
                             .close = true,
                             .stream = (uint16_t)i});
        }
        zone[i] = next++ % z.n;
        at[i] = 0;
        reset(&d, zone[i], UINT16_MAX);
    }
    settle(&d);
    check(&d);
    ssd_get_counters(d.ssd, &c);
    for (uint32_t i = 0; i < n; i++) {
        SsdStreamCounters s;

        ssd_get_stream(d.ssd, i, &s);
        erased += s.erases;
        g_assert_cmpuint(s.copied_units, ==, 0);
        g_assert_true(partly || s.padded_units == 0);
    }
    g_test_message("%" PRIu64 " units, %" PRIu64 " programs, %" PRIu64
                   " erases, %" PRIu64 " copied",
                   written, c.nand_programs, c.nand_erases, c.copied_units);
    g_assert_cmpuint(c.copied_units, ==, 0);
    g_assert_cmpuint(erased, ==, c.nand_erases);
    if (!partly) { /* WAF 1: what is not programmed is in the buffer */
        uint64_t programs = c.nand_programs - d.ssd->inspect.count.parity_pages;

        g_assert_cmpuint(programs, <=, written / 4);
        g_assert_cmpuint(programs, >=,
                         written / 4 -
                             n * info->program_bytes / info->page_bytes);
    }
    ssd_destroy(d.ssd);
}

static void test_waf(void)
{
    churn(FOUR_DIES, false);
    churn(FOUR_DIES "nand.planes=2;nand.multi_plane=on;superblock.width=die;",
          false);
    churn(FOUR_DIES "nand.planes=2;nand.multi_plane=on;", false);
}

/* Parity: a zone holds less, and the blocks of one are erased as one. */
static void test_parity(void)
{
    static const char rows[] = "superblock.row=4;superblock.parity=on;"
                               "superblock.width=";
    g_autofree char *four = g_strconcat(FOUR_DIES, rows, "4;", NULL);
    g_autofree char *two = g_strconcat(FOUR_DIES, rows, "2;", NULL);
    Drive d = open_drive(four);

    g_assert_cmpuint(ssd_info(d.ssd)->zones.capacity, ==, ZONE / 4 * 3);
    put(&d, 0, ZONE / 4 * 3, 0);
    settle(&d);
    g_assert_cmpuint(d.ssd->inspect.count.parity_pages, ==, 16);
    g_assert_cmpuint(reset(&d, 0, UINT16_MAX), ==, FW + 2 * C + TBERS);
    check(&d);
    ssd_destroy(d.ssd);
    churn(four, false);
    churn(two, false);
    churn(four, true);
}

/* Rows are programmed as a whole, or whole pages of them after the wait: GC
 * copies nothing, and a zone has no padding. */
static void test_rows(void)
{
    churn(FOUR_DIES "superblock.row=4;", false);
    churn(FOUR_DIES "superblock.row=4;superblock.row_wait=10us;", false);
    churn(FOUR_DIES "superblock.row=2;superblock.width=drive;", true);
    churn(FOUR_DIES "nand.planes=2;nand.multi_plane=on;superblock.row=die;"
                    "superblock.width=die;superblock.row_wait=100us;",
          false);
}

static void test_finish(void)
{
    churn(FOUR_DIES, true);
    churn(FOUR_DIES "nand.planes=2;nand.multi_plane=on;superblock.width=die;",
          true);
}

/* A page crosses its bus, and is programmed. */
#define PAGE  (C + 16384 * 1000 / 400)
#define TPROG 600000ULL
#define EXACT FOUR_DIES "nand.program=600us;nand.bus_mt_s=400;"

static uint64_t finish(Drive *d, uint32_t stream, uint64_t left)
{
    return run(d, (SsdCmd){.op = SSD_OP_FLUSH,
                           .close = true,
                           .nblocks = (uint32_t)left,
                           .stream = (uint16_t)stream});
}

/*
 * What is left of a zone is padded, round the dies: 16 pages of each, one after
 * the other; the second die of a channel begins when the bus is free.  A page
 * that data fills in part goes out before.
 */
static void test_padding(void)
{
    uint64_t page = PAGE + TPROG;
    Drive d = open_drive(EXACT);
    SsdStreamCounters s;

    put(&d, 0, 1, 0);
    g_assert_cmpuint(finish(&d, 0, ZONE - 1), ==, FW + page + PAGE + 16 * page);
    ssd_get_stream(d.ssd, 0, &s);
    g_assert_cmpuint(s.padded_units, ==, ZONE - 1);
    g_assert_cmpuint(ssd_stream_open_blocks(d.ssd, 0), ==, 0);
    /* Half of it is there: 8 pages of each die. */
    put(&d, ZONE, ZONE / 2, 0);
    settle(&d);
    g_assert_cmpuint(finish(&d, 0, ZONE / 2), ==, FW + PAGE + 8 * page);
    /* Nearly all: the last page alone.  All: nothing. */
    put(&d, 2 * ZONE, ZONE - 1, 0);
    settle(&d);
    g_assert_cmpuint(finish(&d, 0, 1), ==, FW + page);
    put(&d, 3 * ZONE, ZONE, 0);
    settle(&d);
    g_assert_cmpuint(finish(&d, 0, 0), ==, FW);
    ssd_get_stream(d.ssd, 0, &s);
    g_assert_cmpuint(s.padded_units, ==, ZONE - 1 + ZONE / 2 + 1);
    /* The blocks of all are erased by a reset. */
    g_assert_cmpuint(reset(&d, 0, UINT16_MAX), ==, FW + C + TBERS);
    check(&d);
    ssd_destroy(d.ssd);
    d = open_drive(EXACT "zones.finish_pads=off;");
    put(&d, 0, 1, 0);
    g_assert_cmpuint(finish(&d, 0, ZONE - 1), ==, FW + page);
    check(&d);
    ssd_destroy(d.ssd);
}

/* Two zones at a time, on a drive that is copied in between. */
static void test_padding_shared(void)
{
    SsdCmd end = {.op = SSD_OP_FLUSH, .close = true, .nblocks = ZONE - 4};
    GError *error = NULL;
    SsdCompletion done[2];
    Drive d = open_drive(EXACT);
    Ssd *copy;

    put(&d, 0, 4, 0);
    put(&d, ZONE, 4, 1);
    settle(&d);
    g_assert_cmpint(ssd_submit(d.ssd, d.now_ns, &end), ==, 0);
    end.tag = end.stream = 1;
    g_assert_cmpint(ssd_submit(d.ssd, d.now_ns, &end), ==, 0);
    g_assert_cmpuint(ssd_advance(d.ssd, d.now_ns + 5 * TPROG, done, 2), ==, 0);
    copy = ssd_clone(d.ssd, NULL, NULL, &error);
    g_assert_no_error(error);
    ssd_destroy(d.ssd);
    d.ssd = copy;
    check(&d);
    /* Both have their share of the dies: 2 x 63 pages on 4 of them. */
    d.now_ns += 25 * (PAGE + TPROG);
    g_assert_cmpuint(ssd_advance(d.ssd, d.now_ns, done, 2), ==, 0);
    d.now_ns += 15 * (PAGE + TPROG);
    g_assert_cmpuint(ssd_advance(d.ssd, d.now_ns, done, 2), ==, 2);
    check(&d);
    ssd_destroy(d.ssd);
}

/* Failed programs of padding need no repetition. */
static void test_padding_fails(void)
{
    Drive d = open_drive(EXACT "nand.blocks=40;zones.max_active=4;"
                               "ftl.capacity=16MiB;media.program_fail=0.002;");
    SsdCounters c;

    for (uint32_t i = 0; i < 40; i++) {
        uint32_t zone = i % ssd_info(d.ssd)->zones.n;

        reset(&d, zone, UINT16_MAX);
        put(&d, (uint64_t)zone * ZONE, 5, 0);
        finish(&d, 0, ZONE - 5);
    }
    settle(&d);
    check(&d);
    ssd_get_counters(d.ssd, &c);
    g_assert_cmpuint(c.program_failures, >, 0);
    ssd_destroy(d.ssd);
}

/* A record, also of an empty zone, and the entries of units that are there. */
static void test_reset_record(void)
{
    Drive d = open_drive(FOUR_DIES "zones.reset_record=1ms;"
                                   "zones.reset_unit=50ns;");

    g_assert_true(ssd_info(d.ssd)->zones.records);
    g_assert_cmpuint(reset(&d, 0, UINT16_MAX), ==, FW + 1000000);
    put(&d, 0, 3, 0); /* in the buffer */
    g_assert_cmpuint(reset(&d, 0, 0), ==, FW + 1000000 + 3 * 50);
    put(&d, 0, ZONE, 0);
    settle(&d);
    g_assert_cmpuint(reset(&d, 0, UINT16_MAX), ==,
                     FW + 1000000 + ZONE * 50 + 2 * C + TBERS);
    check(&d);
    ssd_destroy(d.ssd);
}

/* Appends get their addresses one at a time. */
static void test_append_time(void)
{
    Drive d = open_drive(FOUR_DIES "zones.append_time=10us;"
                                   "host.link_mb_s=0;buffer.access=0ns;");
    SsdCmd append = {.op = SSD_OP_WRITE, .nblocks = 1, .append = true};
    SsdCompletion done;

    for (uint32_t i = 0; i < 3; i++) {
        append.tag = append.lba = i;
        append.version++;
        g_assert_cmpint(ssd_submit(d.ssd, 0, &append), ==, 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t end_ns = FW + (i + 1) * 10000;

        g_assert_cmpuint(ssd_advance(d.ssd, end_ns, &done, 1), ==, 1);
        g_assert_cmpuint(done.tag, ==, i);
        g_assert_cmpuint(done.complete_ns, ==, end_ns);
    }
    check(&d);
    ssd_destroy(d.ssd);
}

/* Failed programs: zones still hold all of their data. */
static void test_failures(void)
{
    Drive d =
        open_drive(FOUR_DIES "nand.blocks=40;zones.max_active=4;"
                             "ftl.capacity=20MiB;media.program_fail=0.0005;");
    const SsdZones z = ssd_info(d.ssd)->zones;
    SsdCounters c;

    for (uint32_t round = 0; round < 60; round++) {
        uint32_t zone = round % z.n;

        reset(&d, zone, UINT16_MAX);
        for (uint32_t at = 0; at < z.capacity; at += 32) {
            put(&d, zone * z.capacity + at, 32, 0);
        }
    }
    settle(&d);
    check(&d);
    ssd_get_counters(d.ssd, &c);
    g_assert_cmpuint(c.program_failures, >, 0);
    for (uint64_t lba = 0; lba < z.n * z.capacity; lba++) {
        g_assert_true(ssd_mapped(d.ssd, lba, NULL));
    }
    ssd_destroy(d.ssd);
}

/* ---- Zone Random Write Area ---------------------------------------------- */

/* 16 blocks, committed by 4; 64 slots, half of them for areas, less two. */
#define AREA                                                                   \
    FOUR_DIES "zones.zrwa=64KiB;zones.zrwa_granularity=16KiB;"                 \
              "zones.max_active=3;buffer.size=512KiB;"

static uint64_t programs(const Drive *d)
{
    return nand_stats(d->ssd->nand)->ops[NAND_PROGRAM][NAND_CAUSE_HOST];
}

/* Units stay in the buffer, however often they are written; each is programmed
 * once, when it is committed. */
static void test_area(void)
{
    Drive d = open_drive(AREA);
    const SsdZones *z = &ssd_info(d.ssd)->zones;
    uint32_t held = z->held_stream;

    g_assert_cmpuint(z->zrwa, ==, 16);
    g_assert_cmpuint(z->zrwa_granule, ==, 4);
    g_assert_cmpuint(z->max_zrwa, ==, 128 / 2 / 16 - 2);
    g_assert_cmpuint(held, ==, ssd_info(d.ssd)->host_streams);
    for (int i = 0; i < 50; i++) {
        put(&d, 15 - i % 16, 1, held);
    }
    settle(&d);
    g_assert_cmpuint(programs(&d), ==, 0);
    ssd_zone_commit(d.ssd, d.now_ns, 0, 8, 0);
    settle(&d);
    g_assert_cmpuint(programs(&d), ==, 2);     /* pages of 4 units */
    ssd_zone_commit(d.ssd, d.now_ns, 0, 8, 0); /* nothing is left there */
    settle(&d);
    g_assert_cmpuint(programs(&d), ==, 2);
    check(&d);
    for (uint64_t at = 8; at < ZONE; at += 4) {
        put(&d, at + 2, 2, held);
        put(&d, at, 4, held);
        ssd_zone_commit(d.ssd, d.now_ns, at, 4, 0);
    }
    settle(&d);
    g_assert_cmpuint(programs(&d), ==,
                     ZONE / 4); /* no more than the zone has */
    for (uint32_t i = 0; i < d.ssd->l.n_planes; i++) {
        g_assert_cmpuint(d.ssd->media->plane[i].open[0].block, ==, UINT32_MAX);
    }
    check(&d);
    ssd_destroy(d.ssd);
}

static void test_area_power(void)
{
    Drive d = open_drive(AREA);
    uint32_t held = ssd_info(d.ssd)->zones.held_stream;

    put(&d, 0, 16, held);
    put(&d, ZONE, 16, held);
    g_assert_true(ssd_mapped(d.ssd, 15, NULL));
    /* A reset drops what is held. */
    reset(&d, 1, 1);
    g_assert_false(ssd_mapped(d.ssd, ZONE, NULL));
    ssd_zone_commit(d.ssd, d.now_ns, 0, 16, 0);
    settle(&d);
    g_assert_cmpuint(programs(&d), ==, 4);
    check(&d);
    ssd_destroy(d.ssd);
}

static void test_area_refused(void)
{
    refused("zones.zrwa=64KiB", 4096, "zones.zrwa: needs zones.enabled=on");
    refused(FOUR_DIES "zones.max_zrwa=2", 4096,
            "zones.max_zrwa: needs zones.zrwa");
    refused(FOUR_DIES "zones.zrwa=64KiB;zones.zrwa_granularity=5000", 4096,
            "zones.zrwa_granularity=5000: must be a multiple of ftl.unit=4096");
    refused(FOUR_DIES "zones.zrwa=20KiB", 4096,
            "zones.zrwa=20480: must be a multiple of zones.zrwa_granularity, "
            "16384 bytes, up to the capacity of a zone and 65535 mapping "
            "units");
    refused(AREA "zones.max_zrwa=3", 4096,
            "zones.max_zrwa=3: buffer.size=524288 has room for 2 areas of "
            "zones.zrwa=65536, half of it less two, and zones.max_active is 3");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/zones/sizes", test_sizes);
    g_test_add_func("/zones/refused", test_refused);
    g_test_add_func("/zones/reset-time", test_reset_time);
    g_test_add_func("/zones/reset-clone", test_reset_clone);
    g_test_add_func("/zones/reset-planes", test_reset_planes);
    g_test_add_func("/zones/rows", test_rows);
    g_test_add_func("/zones/parity", test_parity);
    g_test_add_func("/zones/waf", test_waf);
    g_test_add_func("/zones/finish", test_finish);
    g_test_add_func("/zones/padding", test_padding);
    g_test_add_func("/zones/padding-shared", test_padding_shared);
    g_test_add_func("/zones/padding-fails", test_padding_fails);
    g_test_add_func("/zones/reset-record", test_reset_record);
    g_test_add_func("/zones/append-time", test_append_time);
    g_test_add_func("/zones/failures", test_failures);
    g_test_add_func("/zones/area", test_area);
    g_test_add_func("/zones/area-power", test_area_power);
    g_test_add_func("/zones/area-refused", test_area_refused);
    return g_test_run();
}
