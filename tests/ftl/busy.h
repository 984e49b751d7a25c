/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * busy.h - a small drive under random load, for tests that look inside between
 * two commands.
 */
#ifndef VSSD_TESTS_FTL_BUSY_H
#define VSSD_TESTS_FTL_BUSY_H

#include "prng.h"
#include "ref.h"
#include "ssd-config.h"
#include "ssd-internal.h"
#include "ssd-setup.h"
#include "ssd.h"

/* Two channels of two chips with two dies of two planes; a page is a unit. */
static inline Ssd *busy_drive(const char *more)
{
    g_autofree char *options = g_strdup_printf(
        "nand.channels=2;nand.chips=2;nand.dies=2;nand.planes=2;"
        "nand.blocks=64;nand.pages=16;nand.page_size=4KiB;nand.read=50us;"
        "nand.program=400us;nand.erase=1500us;buffer.size=256KiB;"
        "host.complete_at=program;ftl.op_percent=100%%;%s",
        more);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    return ref_drive(cfg);
}

/* 0, or the error of ssd_submit(). */
static inline int busy_submit(Ssd *ssd, uint64_t now_ns, SsdOp op,
                              uint64_t unit)
{
    uint32_t blocks = 4096 / ssd_info(ssd)->block_bytes;
    SsdCmd cmd = {.op = op, .lba = unit * blocks, .nblocks = blocks};

    return ssd_submit(ssd, now_ns, &cmd);
}

/* Until nothing is under way. */
static inline void busy_drain(Ssd *ssd, uint64_t *now_ns)
{
    SsdCompletion done[16];

    while (ssd_next_event_ns(ssd) != SSD_TIME_NEVER) {
        *now_ns = MAX(*now_ns, ssd_next_event_ns(ssd));
        ssd_advance(ssd, *now_ns, done, G_N_ELEMENTS(done));
    }
}

/* 20000 random commands, one of reads_per_write a write and the others reads,
 * interval_ns apart in the mean; look() between any two. */
static inline void busy_run(Ssd *ssd, uint32_t reads_per_write,
                            uint64_t interval_ns,
                            void (*look)(Ssd *ssd, Prng *rng))
{
    SsdCompletion done[16];
    uint64_t now_ns = 0;
    Prng rng;

    prng_seed(&rng, 5, 5);
    g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    for (uint32_t i = 0; i < 20000; i++) {
        SsdOp op =
            prng_below(&rng, reads_per_write) ? SSD_OP_READ : SSD_OP_WRITE;

        now_ns += prng_below(&rng, 2 * interval_ns);
        ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
        busy_submit(ssd, now_ns, op, prng_below(&rng, ssd->l.user_units));
        look(ssd, &rng);
    }
    busy_drain(ssd, &now_ns);
    ssd_destroy(ssd);
}

#endif
