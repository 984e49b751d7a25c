/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thin.c - a drive far larger than the host's memory takes memory for written
 * data only; and the user capacity given in bytes.
 */
#include "resident.h"

static void write_range(Ssd *ssd, uint64_t first, uint64_t bytes)
{
    for (uint64_t at = first; at < first + bytes; at += MIB) {
        SsdCmd cmd = {
            .tag = at,
            .op = SSD_OP_WRITE,
            .lba = at / 4096,
            .nblocks = MIB / 4096,
        };
        SsdCompletion done;

        g_assert_cmpint(ssd_submit(ssd, 0, &cmd), ==, 0);
        g_assert_cmpuint(ssd_advance(ssd, 0, &done, 1), ==, 1);
        g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
    }
}

#define NO_TIME                                                                \
    "nand.read=0;nand.program=0;nand.erase=0;nand.command=0;nand.bus_mt_s=0;"  \
    "nand.bus_ns_per_byte=0;buffer.access=0;buffer.size=2MiB;"                 \
    "host.firmware=0;host.link_mb_s=0;"

/* 4 TiB, of which 10 GiB are written: half at the start, half in the middle. */
static void test_thin(void)
{
    uint64_t before = resident_bytes();
    Ssd *ssd = drive(NO_TIME "nand.channels=16;nand.chips=4;nand.dies=2;"
                     "nand.planes=2;nand.blocks=1100;nand.pages=1024;"
                     "ftl.capacity=4TiB");
    uint64_t empty = resident_bytes() - before;
    uint64_t written;

    g_assert_cmpuint(ssd_info(ssd)->nblocks, ==, 4096 * GIB / 4096);
    g_assert_cmpuint(ssd_info(ssd)->memory_bytes, >, 8 * GIB);
    write_range(ssd, 0, 5 * GIB);
    write_range(ssd, 2048 * GIB, 5 * GIB);
    written = resident_bytes() - before;
    g_test_message("4 TiB: %.1f MiB when empty, %.1f MiB with 10 GiB written "
                   "(all of it: %.1f GiB)",
                   (double)empty / MIB, (double)written / MIB,
                   (double)ssd_info(ssd)->memory_bytes / GIB);
    g_assert_true(ssd_mapped(ssd, 2048 * GIB / 4096, NULL));
    g_assert_false(ssd_mapped(ssd, 1024 * GIB / 4096, NULL));
    g_assert_cmpuint(written, <, 128 * MIB);
    ssd_destroy(ssd);
}

/* The memory for each 4 KiB page of NAND that holds data: below 2^31 units, and
 * with no owner of payload, at most 10 bytes. */
static void test_page(gconstpointer options)
{
    g_autofree char *all = g_strconcat(
        NO_TIME "nand.channels=4;nand.chips=1;nand.dies=2;nand.planes=2;"
                "nand.blocks=256;nand.pages=1024;nand.page_size=4KiB;"
                "ftl.unit=4KiB;ftl.op_percent=20%;",
        options, NULL);
    uint64_t before = resident_bytes();
    Ssd *ssd = drive(all);
    uint64_t pages = ssd_info(ssd)->raw_bytes / 4096;
    double each;

    g_assert_cmpuint(pages, ==, 1ULL << 22);
    write_range(ssd, 0, ssd_info(ssd)->nblocks * 4096 / MIB * MIB);
    write_range(ssd, 0, ssd_info(ssd)->nblocks * 4096 / 2 / MIB * MIB);
    each = (double)(resident_bytes() - before) / (double)pages;
    g_test_message("%s: %.2f bytes a page", (const char *)options, each);
    g_assert_cmpfloat(each, <=, 10);
    g_assert_cmpfloat(each, >, 6); /* it was written */
    ssd_destroy(ssd);
}

/* In bytes, or as a share of the spare part: the last one counts. */
static void test_capacity(void)
{
    Ssd *bytes = drive("ftl.capacity=3MiB");
    Ssd *rounded = drive("ftl.capacity=3147000");
    Ssd *share = drive("ftl.capacity=3MiB;ftl.op_percent=100%");

    g_assert_cmpuint(ssd_info(bytes)->nblocks * 4096, ==, 3 * MIB);
    g_assert_cmpuint(ssd_info(rounded)->nblocks * 4096, ==, 3 * MIB);
    g_assert_cmpuint(ssd_info(share)->nblocks * 4096, ==,
                     ssd_info(share)->raw_bytes / 2);
    ssd_destroy(bytes);
    ssd_destroy(rounded);
    ssd_destroy(share);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thin/memory", test_thin);
    g_test_add_data_func("/thin/page/map", "ftl.map=page", test_page);
    g_test_add_data_func("/thin/page/superblock",
                         "ftl.alloc=in-order;superblock.width=drive",
                         test_page);
    g_test_add_data_func("/thin/page/errors",
                         "media.errors=on;ftl.gc=cost-benefit", test_page);
    g_test_add_func("/thin/capacity", test_capacity);
    return g_test_run();
}
