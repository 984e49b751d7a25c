/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trim.c - TRIM of large ranges: its time, its effect, and the results of
 * commands that come during it.  test-swarm plays small ones at random.
 */
#include <time.h>

#include "resident.h"
#include "ssd-config.h"
#include "ssd-report.h"
#include "ssd-save.h"

#define TRIMS 256

#define NO_TIME                                                                \
    "nand.read=0;nand.program=0;nand.erase=0;nand.command=0;nand.bus_mt_s=0;"  \
    "nand.bus_ns_per_byte=0;buffer.access=0;"                                  \
    "host.firmware=0;host.link_mb_s=0;host.queue_depth=1024;"

static void submit(Ssd *ssd, uint64_t now_ns, uint64_t tag, SsdOp op,
                   uint64_t lba, uint64_t nblocks)
{
    SsdCmd cmd = {
        .tag = tag,
        .op = op,
        .lba = lba,
        .nblocks = (uint32_t)nblocks,
        .version = op == SSD_OP_WRITE ? ssd_last_version(ssd) + 1 : 0,
    };

    g_assert_cmpint(ssd_submit(ssd, now_ns, &cmd), ==, 0);
}

/* Cost until n commands have completed: CPU time in all, and at most
 * for one call; calls; and when the last ended. */
typedef struct Cost {
    double all_s;
    double most_s;
    unsigned calls;
    uint64_t end_ns;
} Cost;

static Cost complete(Ssd *ssd, unsigned n)
{
    Cost cost = {0};

    while (n > 0) {
        SsdCompletion done[64];
        uint64_t now_ns = MAX(ssd_now_ns(ssd), ssd_next_event_ns(ssd));
        clock_t begin = clock();
        size_t got = ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
        double s = (double)(clock() - begin) / CLOCKS_PER_SEC;

        for (size_t i = 0; i < got; i++) {
            g_assert_cmpint(done[i].status, ==, SSD_STATUS_OK);
            cost.end_ns = done[i].complete_ns;
        }
        cost.all_s += s;
        cost.most_s = MAX(cost.most_s, s);
        cost.calls++;
        n -= (unsigned)got;
    }
    return cost;
}

static void write_range(Ssd *ssd, uint64_t first, uint64_t bytes)
{
    for (uint64_t at = first; at < first + bytes; at += MIB) {
        submit(ssd, ssd_now_ns(ssd), at, SSD_OP_WRITE, at / 4096, MIB / 4096);
        complete(ssd, 1);
    }
}

/* TRIMs of all of the drive at once. */
static Cost trim_all(Ssd *ssd, const char *what)
{
    uint64_t before = resident_bytes();
    Cost cost;

    for (unsigned i = 0; i < TRIMS; i++) {
        submit(ssd, ssd_now_ns(ssd), i, SSD_OP_TRIM, 0,
               MIN(ssd_info(ssd)->nblocks, UINT32_MAX));
    }
    cost = complete(ssd, TRIMS);
    g_test_message("%s: %d whole drives in %.1f ms of CPU, at most %.2f ms for "
                   "one of %u calls, %+.1f MiB",
                   what, TRIMS, cost.all_s * 1e3, cost.most_s * 1e3,
                   cost.calls,
                   ((double)resident_bytes() - (double)before) / MIB);
    g_assert_cmpuint(resident_bytes(), <, before + 64 * MIB);
    return cost;
}

/* 1 TiB, of which 1 GiB is written.  Unit by unit this took minutes. */
static void test_sparse(void)
{
    Ssd *ssd = drive(NO_TIME "nand.channels=16;nand.chips=2;nand.dies=1;"
                     "nand.planes=2;nand.blocks=1200;nand.pages=1024;"
                     "ftl.capacity=1TiB;buffer.size=2MiB");
    Cost cost;

    write_range(ssd, 0, GIB / 2);
    write_range(ssd, 512 * GIB, GIB / 2);
    cost = trim_all(ssd, "1 TiB, 1 GiB written");
    g_assert_cmpfloat(cost.all_s, <, 1); /* with sanitizers, under load */
    g_assert_cmpfloat(cost.most_s, <, 0.2);
    g_assert_false(ssd_mapped(ssd, 0, NULL));
    g_assert_false(ssd_mapped(ssd, 512 * GIB / 4096, NULL));
    ssd_destroy(ssd);
}

/* Units in the buffer are dirty, until others need their slots. */
static void test_dirty(void)
{
    Ssd *ssd = drive(NO_TIME "nand.channels=4;nand.chips=1;nand.dies=1;"
                     "nand.planes=2;nand.blocks=200;nand.pages=256;"
                     "buffer.policy=lru;buffer.size=512MiB");
    Cost cost;

    write_range(ssd, 0, 400 * MIB);
    cost = trim_all(ssd, "400 MiB dirty");
    g_assert_cmpfloat(cost.all_s, <, 4);
    g_assert_false(ssd_mapped(ssd, 0, NULL));
    ssd_destroy(ssd);
}

/* All mapped: the work is done once, in steps of 64 MiB, 20 ns a unit. */
static void test_full(void)
{
    Ssd *ssd = drive("nand.channels=4;nand.chips=1;nand.dies=1;nand.planes=2;"
                     "nand.blocks=500;nand.pages=256;ftl.op_percent=20%;"
                     "host.firmware=3us;host.queue_depth=1024");
    uint64_t units = ssd_info(ssd)->nblocks;
    uint64_t steps = (units / 1024 + 16) / 16;
    Cost cost;

    g_assert_cmpint(ssd_preload(ssd, 0, units), ==, 0);
    cost = trim_all(ssd, "full");
    g_assert_cmpuint(cost.calls, >=, steps - 1);
    g_assert_cmpuint(cost.end_ns, >=, 3000 + (steps - 1) * 16 * 1024 * 20);
    g_assert_cmpuint(cost.end_ns, <=, 3000 + (steps + 1) * 16 * 1024 * 20);
    g_assert_cmpfloat(cost.most_s * (double)steps, <, 40 * cost.all_s);
    ssd_destroy(ssd);
}

/* Up to 16 groups take no time but the firmware's, as small TRIMs always did. */
static void test_small(void)
{
    Ssd *ssd = drive("nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=2;"
                     "nand.blocks=100;nand.pages=256;host.firmware=3us");

    g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    submit(ssd, 0, 1, SSD_OP_TRIM, 1000, 16 * 1024);
    g_assert_cmpuint(complete(ssd, 1).end_ns, ==, 3000);
    g_assert_true(ssd_mapped(ssd, 999, NULL));
    g_assert_false(ssd_mapped(ssd, 1000, NULL));
    g_assert_false(ssd_mapped(ssd, 1000 + 16 * 1024 - 1, NULL));
    g_assert_true(ssd_mapped(ssd, 1000 + 16 * 1024, NULL));
    ssd_destroy(ssd);
}

/* ---- while one is under way ---------------------------------------------- */

static void check(Ssd *ssd)
{
    GError *error = NULL;

    ssd_check(ssd, &error);
    g_assert_no_error(error);
}

/* Does the drive hold only data that the host wrote after the TRIM had begun?
 */
static void expect_written(const Ssd *ssd)
{
    for (uint64_t lba = 0; lba < ssd_info(ssd)->nblocks; lba++) {
        uint64_t group = lba / 1024;

        g_assert_cmpint(ssd_mapped(ssd, lba, NULL), ==,
                        lba % 1024 < 8 && group % 2 == 0 && group < 12);
    }
}

static const char *const kinds[] = {
    "",
    "buffer.policy=lru;buffer.size=32MiB",
    "buffer.plp=on",
    "ftl.recovery=scan",
    "ftl.recovery=checkpoint;ftl.checkpoint_interval=200",
    "ftl.map=dftl;ftl.map_cache=16KiB;ftl.op_percent=60%",
    "ftl.map=bast;ftl.op_percent=60%",
    "ftl.map=fast;ftl.op_percent=60%",
};

static Ssd *kind_of_drive(size_t kind)
{
    g_autofree char *options = g_strconcat(
        "nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=2;"
        "nand.blocks=64;nand.pages=64;ftl.op_percent=40%;host.queue_depth=64;", kinds[kind], NULL);
    SsdConfig *cfg = ref_config(options);

    cfg->trim_step = 1;
    return ref_drive(cfg);
}

/* Two TRIMs that overlap, and writes into their range as they go. */
static Ssd *begin(size_t kind)
{
    Ssd *ssd = kind_of_drive(kind);
    uint64_t n = ssd_info(ssd)->nblocks;
    uint64_t now_ns;

    g_assert_cmpint(ssd_preload(ssd, 0, n), ==, 0);
    write_range(ssd, 5 * MIB, 3 * MIB);
    now_ns = ssd_now_ns(ssd) + 1;
    submit(ssd, now_ns, 1, SSD_OP_TRIM, 0, n);
    submit(ssd, now_ns, 2, SSD_OP_TRIM, 0, n);
    ssd_advance(ssd, ssd_next_event_ns(ssd), NULL, 0);
    return ssd;
}

static void write_some(Ssd *ssd)
{
    for (uint64_t group = 0; group < 12; group += 2) {
        submit(ssd, ssd_now_ns(ssd), 100 + group, SSD_OP_WRITE, group * 1024, 8);
        ssd_advance(ssd, ssd_now_ns(ssd) + 20000, NULL, 0);
        check(ssd);
    }
}

static void test_under_way(void)
{
    for (size_t kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        Ssd *ssd = begin(kind);
        uint64_t n = ssd_info(ssd)->nblocks;

        g_test_message("%s", kinds[kind]);
        for (uint64_t lba = 0; lba < n; lba++) {
            g_assert_false(ssd_mapped(ssd, lba, NULL));
        }
        submit(ssd, ssd_now_ns(ssd), 3, SSD_OP_READ, n / 2, 8);
        write_some(ssd);
        complete(ssd, 2 + 1 + 6);
        check(ssd);
        expect_written(ssd);
        submit(ssd, ssd_now_ns(ssd), 4, SSD_OP_SHUTDOWN, 0, 0);
        complete(ssd, 1);
        check(ssd);
        expect_written(ssd);
        ssd_destroy(ssd);
    }
}

/* A TRIM that has passed a range ends though a later one begins again there. */
static void test_behind(void)
{
    Ssd *ssd = kind_of_drive(0);
    uint64_t n = ssd_info(ssd)->nblocks;
    SsdCompletion done[2];
    unsigned got = 0;

    g_assert_cmpint(ssd_preload(ssd, 0, n), ==, 0);
    submit(ssd, 0, 1, SSD_OP_TRIM, 0, n);
    while (ssd_mapped(ssd, 0, NULL) || ssd_now_ns(ssd) < 100000) {
        ssd_advance(ssd, ssd_next_event_ns(ssd), NULL, 0);
    }
    submit(ssd, ssd_now_ns(ssd), 2, SSD_OP_WRITE, 0, 8);
    submit(ssd, ssd_now_ns(ssd), 3, SSD_OP_WRITE, 1024, 8);
    for (unsigned i = 0; i < 2;) {
        i += (unsigned)ssd_advance(ssd, ssd_next_event_ns(ssd), done, 1);
    }
    g_assert_cmpuint(done[0].tag, ==, 3);
    submit(ssd, ssd_now_ns(ssd), 4, SSD_OP_TRIM, 0, 2048);
    for (unsigned i = 0; i < 10000 && got < 2; i++) {
        uint64_t next_ns = ssd_next_event_ns(ssd);

        if (ssd_advance(ssd, MAX(next_ns, ssd_now_ns(ssd)), &done[got], 1)) {
            got += done[got].tag == 1 || done[got].tag == 4;
        }
    }
    g_assert_cmpuint(got, ==, 2);
    g_assert_cmpuint(done[0].tag, ==, 1);
    g_assert_false(ssd_mapped(ssd, 0, NULL) || ssd_mapped(ssd, 1024, NULL));
    check(ssd);
    ssd_destroy(ssd);
}

/* A copy of the drive goes on in the same way. */
static void test_clone(void)
{
    for (size_t kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        Ssd *ssd = begin(kind);
        Ssd *copy;
        GError *error = NULL;
        Cost a, b;

        write_some(ssd);
        copy = ssd_clone(ssd, NULL, NULL, &error);
        g_assert_no_error(error);
        a = complete(ssd, 2 + 6);
        b = complete(copy, 2 + 6);
        g_assert_cmpuint(a.end_ns, ==, b.end_ns);
        expect_written(copy);
        check(copy);
        ssd_destroy(ssd);
        ssd_destroy(copy);
    }
}

/* The power goes: the TRIMs have taken effect in part, the tables are right,
 * and the drive goes on. */
static void test_power(void)
{
    for (size_t kind = 3; kind <= 4; kind++) { /* need no keeper of the payload */
        Ssd *ssd = begin(kind);
        SsdCompletion done[8];

        write_some(ssd);
        ssd_power_cut(ssd, ssd_now_ns(ssd));
        while (ssd_advance(ssd, ssd_now_ns(ssd), done, 8) > 0) {
        }
        ssd_power_on(ssd, ssd_now_ns(ssd));
        submit(ssd, ssd_now_ns(ssd), 1, SSD_OP_TRIM, 0, ssd_info(ssd)->nblocks);
        complete(ssd, 1);
        check(ssd);
        for (uint64_t lba = 0; lba < ssd_info(ssd)->nblocks; lba++) {
            g_assert_false(ssd_mapped(ssd, lba, NULL));
        }
        ssd_destroy(ssd);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trim/sparse", test_sparse);
    g_test_add_func("/trim/dirty", test_dirty);
    g_test_add_func("/trim/full", test_full);
    g_test_add_func("/trim/small", test_small);
    g_test_add_func("/trim/under-way", test_under_way);
    g_test_add_func("/trim/behind", test_behind);
    g_test_add_func("/trim/clone", test_clone);
    g_test_add_func("/trim/power", test_power);
    return g_test_run();
}
