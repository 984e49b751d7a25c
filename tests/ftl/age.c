/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * age.c - a drive that was aged without modelled time is a drive: its tables
 * are right, it continues, and GC copies as much as in modelled time.
 */
#include <errno.h>

#include "aged.h"
#include "gc/gc-policy.h"
#include "placement/alloc-policy.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define DRIVE                                                                  \
    "nand.channels=2;nand.chips=2;nand.blocks=60;nand.pages=16;"               \
    "nand.page_size=4KiB;ftl.op_percent=30%;buffer.size=64KiB;"

#define MANY "nand.chips=1;nand.blocks=500;nand.pages=8;"

static double waf_of(const Ssd *ssd)
{
    SsdCounters c;

    ssd_get_counters(ssd, &c);
    return c.waf;
}

static void check(const Ssd *ssd)
{
    GError *error = NULL;

    ssd_check(ssd, &error);
    g_assert_no_error(error);
    g_assert_true(ssd_at_rest(ssd));
}

static void programmed(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host = {.programmed = programmed,
                                .superseded = programmed};

static Ssd *aged(const char *options, Prng *rng)
{
    g_autofree char *all = g_strconcat(DRIVE, options, NULL);
    SsdConfig *cfg = ref_config(all);
    GError *error = NULL;
    Ssd *ssd = ssd_create(cfg, &host, NULL, &error);

    g_assert_no_error(error);
    ssd_config_free(cfg);
    prng_seed(rng, 5, 5);
    aged_fill(ssd);
    aged_overwrite(ssd, 4 * ssd->l.user_units, rng);
    check(ssd);
    g_assert_cmpuint(ssd->l2p.mapped_units, ==, ssd->l.user_units);
    return ssd;
}

/* The same in modelled time, one unit after another. */
static void write_timed(Ssd *ssd, uint64_t n, Prng *rng)
{
    uint64_t now_ns = ssd_now_ns(ssd);
    SsdCompletion done[16];
    SsdCmd cmd = {.op = SSD_OP_WRITE, .version = ssd_last_version(ssd)};

    cmd.nblocks = ssd_info(ssd)->unit_bytes / ssd_info(ssd)->block_bytes;
    for (uint64_t i = 0; i < n; i++) {
        cmd.version++;
        cmd.lba = prng_below(rng, ssd->l.user_units) * cmd.nblocks;
        while (ssd_submit(ssd, now_ns, &cmd) == -EBUSY) {
            now_ns = ssd_next_event_ns(ssd);
            ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
        }
    }
    while (!ssd_at_rest(ssd)) {
        now_ns = MAX(now_ns, MIN(ssd_next_event_ns(ssd), now_ns + NS_PER_MS));
        ssd_advance(ssd, now_ns, done, G_N_ELEMENTS(done));
    }
}

/*
 * GC in no time costs as many copies as in modelled time, nearly: it is
 * never behind, so that it keeps some blocks more free, and in small drives
 * these count.
 */
static void same_waf(const char *options)
{
    Prng rng;
    Ssd *ssd = aged(options, &rng);
    double untimed;
    double timed;

    ssd_reset_stats(ssd);
    aged_overwrite(ssd, 6 * ssd->l.user_units, &rng);
    untimed = waf_of(ssd);
    write_timed(ssd, 2 * ssd->l.user_units, &rng);
    ssd_reset_stats(ssd);
    write_timed(ssd, 6 * ssd->l.user_units, &rng);
    timed = waf_of(ssd);
    g_test_message("%s: WAF %.4f without modelled time, %.4f in it", options,
                   untimed, timed);
    g_assert_cmpfloat_with_epsilon(untimed, timed, 0.05 * timed);
    check(ssd);
    ssd_destroy(ssd);
}

static void test_waf(void)
{
    same_waf(MANY "ftl.gc=greedy");
    same_waf(MANY "ftl.gc=fifo");
    same_waf(MANY "ftl.gc=d-choices");
    same_waf(MANY "ftl.map=bast");
    same_waf(MANY "ftl.map=fast");
}

/* Every policy, and options that change the paths of GC. */
static void test_policies(void)
{
    static const char *const with[] = {
        "nand.copyback=on",
        "nand.slc_blocks=6;nand.cell=tlc;nand.one_shot=on;nand.pages=18",
        "streams.max=2;ftl.op_percent=60%",
        "media.errors=on;media.program_fail=0.001;media.factory_bad=1%",
        "ftl.map=bast;ftl.log_blocks=2",
        "ftl.map=bast;nand.page_size=16KiB;nand.cell=tlc;nand.one_shot=on;nand.pages=18",
        "ftl.map=fast;nand.page_size=16KiB",
    };
    Prng rng;

    for (int i = 0; gc_policies[i]; i++) {
        g_autofree char *s = g_strconcat("ftl.gc=", gc_policies[i]->name, NULL);

        ssd_destroy(aged(s, &rng));
    }
    for (int i = 0; alloc_policies[i]; i++) {
        g_autofree char *s = g_strconcat(
            "ftl.random_blocks=1;ftl.alloc=", alloc_policies[i]->name, NULL);

        ssd_destroy(aged(s, &rng));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(with); i++) {
        Ssd *ssd = aged(with[i], &rng);

        write_timed(ssd, ssd->l.user_units, &rng);
        check(ssd);
        ssd_destroy(ssd);
    }
}

static void test_refused(void)
{
    Prng rng;
    Ssd *ssd = aged("", &rng);
    uint64_t lpn = ssd->l.user_units;
    SsdCmd cmd = {.op = SSD_OP_READ, .nblocks = 1};

    g_assert_cmpint(ssd_age(ssd, &lpn, 1), ==, -EINVAL);
    lpn = 0;
    g_assert_cmpint(ssd_submit(ssd, 0, &cmd), ==, 0);
    g_assert_cmpint(ssd_age(ssd, &lpn, 1), ==, -EBUSY);
    ssd_power_cut(ssd, 1);
    g_assert_cmpint(ssd_age(ssd, &lpn, 1), ==, -ENODEV);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/age/waf", test_waf);
    g_test_add_func("/age/policies", test_policies);
    g_test_add_func("/age/refused", test_refused);
    return g_test_run();
}
