/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc.c - ftl.alloc=dl collects ahead of need, one victim at a time: random
 * writes do not wait longer with it than with random allocation.
 *
 * All that is overwritten often fills blocks that hold nothing valid.  From its
 * threshold on dl forces GC with each page; if each had a block erased,
 * all these blocks would be erased in a row, and writes wait behind them.
 */
#include <string.h>

#include "prng.h"
#include "ssd-setup.h"
#include "ssd.h"
#include "ssd-config.h"
#include "ref.h"

#define WRITES      200000
#define INTERVAL_NS 60000

static Ssd *drive(const char *alloc)
{
    g_autofree char *options = g_strdup_printf(
        "nand.channels=1;nand.chips=1;nand.dies=8;nand.planes=2;"
        "nand.blocks=1024;nand.pages=16;nand.page_size=4KiB;nand.read=130us;"
        "nand.program=300us;nand.erase=1500us;nand.command=0;nand.bus_mt_s=0;"
        "nand.bus_ns_per_byte=0;buffer.size=4MiB;buffer.access=0;"
        "host.complete_at=program;host.firmware=0;host.link_mb_s=0;"
        "host.queue_depth=65536;ftl.op_percent=100%%;ftl.alloc=%s", alloc);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, options, &error);
    g_assert_no_error(error);
    return ref_drive(cfg);
}

/* Fetch completions; the sum of their latencies. */
static uint64_t fetch(Ssd *ssd, uint64_t now_ns, unsigned *n_done)
{
    SsdCompletion done[16];
    uint64_t sum = 0;
    size_t n;

    do {
        n = ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
        for (size_t i = 0; i < n; i++) {
            sum += done[i].complete_ns - done[i].submit_ns;
        }
        *n_done += (unsigned)n;
    } while (n == G_N_ELEMENTS(done));
    return sum;
}

/* Mean latency, in ns, of writes to an eighth of the drive. */
static uint64_t mean_latency(const char *alloc)
{
    Ssd *ssd = drive(alloc);
    uint64_t n = ssd_info(ssd)->nblocks;
    uint64_t now_ns = 0;
    uint64_t sum = 0;
    unsigned done = 0;
    Prng rng;

    prng_seed(&rng, 7, 7);
    g_assert_cmpint(ssd_preload(ssd, 0, n), ==, 0);
    for (unsigned i = 0; i < WRITES; i++) {
        SsdCmd cmd = {
            .tag = i,
            .op = SSD_OP_WRITE,
            .lba = prng_below(&rng, n / 8),
            .nblocks = 1,
        };

        now_ns += INTERVAL_NS;
        sum += fetch(ssd, now_ns, &done);
        while (ssd_submit(ssd, now_ns, &cmd) != 0) {
            now_ns = MAX(now_ns, ssd_next_event_ns(ssd));
            sum += fetch(ssd, now_ns, &done);
        }
    }
    while (done < WRITES) {
        now_ns = ssd_next_event_ns(ssd);
        sum += fetch(ssd, now_ns, &done);
    }
    ssd_destroy(ssd);
    return sum / WRITES;
}

static void test_dl_forces_one(void)
{
    uint64_t dl = mean_latency("dl");
    uint64_t random = mean_latency("random");

    g_test_message("mean latency: dl %" G_GUINT64_FORMAT
                   " ns, random %" G_GUINT64_FORMAT " ns", dl, random);
    g_assert_cmpuint(dl, <, 2 * random);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/alloc/dl-forces-one", test_dl_forces_one);
    return g_test_run();
}
