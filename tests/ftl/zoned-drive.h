/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zoned-drive.h - a zoned drive for tests, and single commands to it.
 */
#ifndef VSSD_TESTS_ZONED_DRIVE_H
#define VSSD_TESTS_ZONED_DRIVE_H

#include "ref.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#include "media/media-internal.h"

#define C     200ULL     /* nand.command, ns */
#define TBERS 3000000ULL /* nand.erase, ns */
#define FW    3000ULL    /* host.firmware, ns */

/* Two channels with two dies each; a zone has a block of 4 planes, 16 pages of
 * 4 units each. */
#define FOUR_DIES                                                              \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=1;nand.blocks=24;"   \
    "nand.pages=16;nand.page_size=16KiB;nand.erase=3ms;nand.command=200ns;"    \
    "host.firmware=3us;buffer.size=1MiB;buffer.plp=on;ftl.op_percent=0%;"      \
    "ftl.alloc=in-order;zones.enabled=on;"
#define ZONE (4 * 16 * 4)

typedef struct Drive {
    Ssd *ssd;
    uint64_t now_ns;
    uint64_t tag;
} Drive;

static Drive open_drive(const char *options)
{
    return (Drive){.ssd = ref_drive(ref_config(options))};
}

/* One command, to its end; how long it took. */
static uint64_t run(Drive *d, SsdCmd cmd)
{
    SsdCompletion done;

    cmd.tag = ++d->tag;
    g_assert_cmpint(ssd_submit(d->ssd, d->now_ns, &cmd), ==, 0);
    while (ssd_advance(d->ssd, d->now_ns, &done, 1) == 0) {
        d->now_ns = MAX(d->now_ns, ssd_next_event_ns(d->ssd));
    }
    g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
    g_assert_cmpuint(done.tag, ==, d->tag);
    d->now_ns = MAX(d->now_ns, done.complete_ns);
    return done.complete_ns - done.submit_ns;
}

static void put(Drive *d, uint64_t lba, uint32_t n, uint32_t stream)
{
    run(d, (SsdCmd){.op = SSD_OP_WRITE,
                    .lba = lba,
                    .nblocks = n,
                    .stream = (uint16_t)stream});
}

static inline uint64_t reset(Drive *d, uint32_t zone, uint32_t stream)
{
    const SsdZones *z = &ssd_info(d->ssd)->zones;

    return run(d, (SsdCmd){.op = SSD_OP_TRIM,
                           .erase = true,
                           .lba = zone * z->capacity,
                           .nblocks = (uint32_t)z->capacity,
                           .stream = (uint16_t)stream});
}

static void check(const Drive *d)
{
    GError *error = NULL;

    ssd_check(d->ssd, &error);
    g_assert_no_error(error);
    ssd_check_wakes(d->ssd, &error);
    g_assert_no_error(error);
}

static void settle(Drive *d)
{
    g_assert_true(ssd_rest(d->ssd, 1000 * NS_PER_MS));
    d->now_ns = MAX(d->now_ns, ssd_now_ns(d->ssd));
}

#endif
