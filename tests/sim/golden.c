/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * golden.c - figures that follow from a closed form, on the configurations on
 * which simulators are compared (profiles/c64.ini, c4.ini, ssdsim.ini).
 *
 * Each expected value is worked out here, from the profile's times.
 */
#include <math.h>

#include "player.h"
#include "prng.h"
#include "simtime.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "workload.h"

#define CMD 290.0       /* ns; c64.ini */
#define TR 75000.0      /* ns */
#define TPROG 750000    /* ns */
#define DATA 12300.3003 /* ns; 4096 bytes at 333 MT/s */

#define IDLE_NS (10 * NS_PER_S)

static Ssd *drive(const char *profile, const char *set)
{
    g_autofree char *path = g_strdup_printf("%s/%s.ini", VSSD_PROFILE_DIR,
                                            profile);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    Ssd *ssd;

    ssd_config_load(cfg, path, &error);
    g_assert_no_error(error);
    ssd_config_set(cfg, set, &error);
    g_assert_no_error(error);
    ssd = ssd_create(cfg, NULL, NULL, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    return ssd;
}

static PlayerResult play(Ssd *ssd, PlayerFill fill, const char *text)
{
    const SsdInfo *info = ssd_info(ssd);
    PlayerConfig cfg = {.wrap = false};
    Player *p = player_new(ssd, &cfg);
    GError *error = NULL;
    PlayerResult result;
    RequestSource source;
    Workload *w;

    g_assert_true(player_fill(p, fill, 5, &error));
    w = workload_new(text, info->nblocks * info->block_bytes,
                     info->block_bytes, 11, &error);
    g_assert_no_error(error);
    source = workload_source(w);
    g_assert_true(player_run(p, &source, &error));
    g_assert_no_error(error);
    workload_free(w);
    result = *player_result(p);
    player_free(p);
    return result;
}

static double per_second(const PlayerResult *r)
{
    return (double)r->n_requests * 1e9 / (double)r->sim_ns;
}

/* ---- (a) dies of a chip -------------------------------------------------- */

/*
 * Random reads of one chip.  A die can do 1 / (CMD + TR + DATA), the bus
 * 1 / (CMD + DATA).  Requests pick their dies at random, so with 64 in flight a
 * die is now and then idle, and near the limit of the bus they wait for it: hence
 * up to 3 % below the lesser of the two, never above.
 */
static void test_dies(void)
{
    double before = 0;

    for (unsigned dies = 1; dies <= 8; dies *= 2) {
        g_autofree char *set = g_strdup_printf(
            "nand.channels=1;nand.chips=1;nand.blocks=128;nand.dies=%u", dies);
        Ssd *ssd = drive("c64", set);
        PlayerResult r = play(ssd, PLAYER_FILL_PRELOAD,
                              "rw=randread bs=4k iodepth=64 number_ios=40000");
        double of_dies = dies * 1e9 / (CMD + TR + DATA);
        double of_bus = 1e9 / (CMD + DATA);
        double bound = MIN(of_dies, of_bus);

        g_test_message("%u dies: %.0f reads/s, bound %.0f by the %s", dies,
                       per_second(&r), bound, of_dies < of_bus ? "dies" : "bus");
        g_assert_cmpfloat(per_second(&r), >, before);
        g_assert_cmpfloat(per_second(&r), <=, bound * 1.0001);
        g_assert_cmpfloat(per_second(&r), >=, bound * 0.97);
        before = per_second(&r);
        ssd_destroy(ssd);
    }
}

/* ---- (b) queueing theory ------------------------------------------------- */

typedef struct Poisson {
    Prng prng;
    double mean_ns;
    double at_ns;
    uint64_t units;
    uint64_t left;
} Poisson;

static RequestNext poisson_next(void *opaque, Request *req, GError **error)
{
    Poisson *p = opaque;

    if (p->left-- == 0) {
        p->left = 0;
        return REQUEST_END;
    }
    p->at_ns -= log(1 - prng_double(&p->prng)) * p->mean_ns;
    *req = (Request){
        .at_ns = (uint64_t)p->at_ns,
        .offset = prng_below(&p->prng, p->units) * 4096,
        .nbytes = 4096,
        .op = SSD_OP_READ,
    };
    return REQUEST_OK;
}

static char *poisson_where(void *opaque)
{
    return g_strdup("Poisson arrivals");
}

/* Waiting in M/D/1 (Pollaczek, Khinchine): rho S / 2 (1 - rho). */
static double md1_wait(double rate, double service)
{
    double rho = rate * service;

    return rho * service / (2 * (1 - rho));
}

/*
 * Random reads of C64, 100,000 per second: 64 dies and 8 buses.  A die is held
 * for the whole read, a bus twice.  The two queues are not independent, so the
 * sum of two M/D/1 waits is an approximation: 2 %.  A model that locks chips
 * (32 servers) would be 9 % off, one without contention 9 %.
 */
static void test_md1(void)
{
    Ssd *ssd = drive("c64", "");
    PlayerConfig cfg = {.wrap = false};
    Player *p = player_new(ssd, &cfg);
    Poisson source = {
        .mean_ns = 1e9 / 100000,
        .units = ssd_info(ssd)->nblocks / 8,
        .left = 300000,
    };
    RequestSource s = {
        .next = poisson_next,
        .where = poisson_where,
        .opaque = &source,
    };
    double service = CMD + TR + DATA;
    double per_ns = 100000 / 1e9;
    double expected = service + md1_wait(per_ns / 64, service) +
                      md1_wait(per_ns / 8, CMD + DATA);
    GError *error = NULL;
    double mean;

    prng_seed(&source.prng, 4, 0);
    g_assert_true(player_fill(p, PLAYER_FILL_PRELOAD, 1, &error));
    g_assert_true(player_run(p, &s, &error));
    mean = hist_mean(&player_result(p)->latency[SSD_OP_READ]);
    g_test_message("mean %.2f us, M/D/1 %.2f us", mean / 1e3, expected / 1e3);
    g_assert_cmpfloat(fabs(mean / expected - 1), <, 0.02);
    g_assert_cmpfloat(fabs(mean / 96000 - 1), <, 0.03);
    player_free(p);
    ssd_destroy(ssd);
}

/* ---- (c) a faster bus is faster ------------------------------------------ */

static void test_bus_rates(void)
{
    static const unsigned rates[] = {333, 400, 533, 667, 800, 1000, 1001,
                                     1200, 1333, 1600, 2000, 2400};
    uint64_t before = UINT64_MAX;

    for (size_t i = 0; i < G_N_ELEMENTS(rates); i++) {
        g_autofree char *set = g_strdup_printf(
            "nand.channels=1;nand.chips=1;nand.dies=1;nand.blocks=128;"
            "nand.page_size=16KiB;ftl.unit=16KiB;nand.bus_mt_s=%u", rates[i]);
        Ssd *ssd = drive("c64", set);
        PlayerResult r = play(ssd, PLAYER_FILL_PRELOAD,
                              "rw=randread bs=16k number_ios=10");
        uint64_t ps = 290000 + 75000000 +
                      (16384ULL * 1000000 + rates[i] - 1) / rates[i];

        g_assert_cmpuint(r.latency[SSD_OP_READ].min, ==, (ps + 999) / 1000);
        g_assert_cmpuint(r.latency[SSD_OP_READ].min, <, before);
        before = r.latency[SSD_OP_READ].min;
        ssd_destroy(ssd);
    }
}

/* ---- (d), (g) SSDSim's semantics ----------------------------------------- */

/* Submit n writes of 4 KiB at once; the completion times, in order. */
static void burst(Ssd *ssd, unsigned n, uint64_t *complete_ns)
{
    SsdCompletion done[64];
    size_t got;

    for (unsigned i = 0; i < n; i++) {
        SsdCmd cmd = {
            .tag = i,
            .version = i + 1,
            .op = SSD_OP_WRITE,
            .lba = 8 * i,
            .nblocks = 8,
        };

        g_assert_cmpint(ssd_submit(ssd, 0, &cmd), ==, 0);
    }
    got = ssd_advance(ssd, IDLE_NS, done, G_N_ELEMENTS(done));
    g_assert_cmpuint(got, ==, n);
    for (unsigned i = 0; i < n; i++) {
        g_assert_cmpint(done[i].status, ==, SSD_STATUS_OK);
        complete_ns[i] = done[i].complete_ns;
    }
}

#define ONE_CHIP "nand.channels=1;nand.chips=1;nand.dies=4;nand.planes=4;" \
                 "nand.blocks=128;nand.lock=die;host.queue_depth=16;"         \
                 "ftl.gc_low=5%;ftl.gc_high=6%;"

/* 16 writes at once on one chip of 4 dies and 4 planes: the dies one after
 * another, a transfer apart, and again when they have programmed. */
static void test_burst(void)
{
    Ssd *ssd = drive("ssdsim", ONE_CHIP);
    uint64_t at[16];

    burst(ssd, 16, at);
    for (unsigned i = 0; i < 16; i++) {
        g_assert_cmpuint(at[i], ==,
                         (i / 4) * (12309 + TPROG) + (i % 4 + 1) * 12309);
    }
    ssd_destroy(ssd);
}

/* Whatever joins the pages, each of them crosses the bus for itself. */
static void test_burst_features(void)
{
    static const char *const features[] = {
        "nand.multi_plane=on",
        "nand.cache_program=on",
        "nand.multi_plane=on;nand.cache_program=on",
        "nand.lock=plane",
        "nand.lock=chip",
    };

    for (size_t f = 0; f < G_N_ELEMENTS(features); f++) {
        g_autofree char *set = g_strconcat(ONE_CHIP, features[f], NULL);
        Ssd *ssd = drive("ssdsim", set);
        uint64_t at[16];

        burst(ssd, 16, at);
        g_assert_cmpuint(at[0], ==, 12309);
        for (unsigned i = 1; i < 16; i++) {
            g_assert_cmpuint(at[i], >=, at[i - 1] + 12309);
        }
        g_test_message("%s: all in after %" G_GUINT64_FORMAT " ns",
                       features[f], at[15]);
        if (f == 3) { /* 16 planes: nothing but the bus to wait for */
            g_assert_cmpuint(at[15], ==, 16 * 12309);
        } else if (f < 3) { /* more at a time than one page for each die */
            g_assert_cmpuint(at[15], <, 3 * (12309 + TPROG) + 4 * 12309);
        } else { /* one after another */
            g_assert_cmpuint(at[15], ==, 15 * (12309 + TPROG) + 12309);
        }
        ssd_destroy(ssd);
    }
}

static void test_ssdsim(void)
{
    Ssd *ssd = drive("ssdsim", "");
    SsdCmd cmd = {.op = SSD_OP_READ, .nblocks = 8};
    SsdCompletion done;

    g_assert_cmpuint(ssd_info(ssd)->queue_depth, ==, 5);
    g_assert_cmpuint(ssd_info(ssd)->raw_bytes, ==, 64ULL << 30);
    g_assert_cmpint(ssd_preload(ssd, 0, 64), ==, 0);
    g_assert_cmpint(ssd_submit(ssd, 0, &cmd), ==, 0);
    g_assert_cmpuint(ssd_advance(ssd, IDLE_NS, &done, 1), ==, 1);
    g_assert_cmpuint(done.complete_ns - done.submit_ns, ==, 87309);
    cmd = (SsdCmd){.op = SSD_OP_WRITE, .nblocks = 8, .lba = 8, .version = 1};
    g_assert_cmpint(ssd_submit(ssd, IDLE_NS, &cmd), ==, 0);
    g_assert_cmpuint(ssd_advance(ssd, 2 * IDLE_NS, &done, 1), ==, 1);
    g_assert_cmpuint(done.complete_ns - done.submit_ns, ==, 12309);
    ssd_destroy(ssd);
}

/* ---- (f) GC costs time, and loses nothing ------------------------------- */

static void test_cleaning(void)
{
    Ssd *ssd = drive("c4", "nand.blocks=48");
    PlayerResult r = play(ssd, PLAYER_FILL_RANDOM,
                          "rw=randrw bs=4k iodepth=64 number_ios=200000");
    const double fresh = CMD + DATA + TPROG;
    GError *error = NULL;
    SsdCounters c;

    g_assert_cmpuint(r.n_requests, ==, 200000);
    g_assert_cmpuint(r.n_errors, ==, 0);
    ssd_get_counters(ssd, &c);
    g_assert_cmpuint(c.nand_erases, >, 1000);
    g_assert_cmpfloat(c.waf, >, 1.2);
    g_test_message("write %.0f us, fresh %.0f us, waf %.3f",
                   hist_mean(&r.latency[SSD_OP_WRITE]) / 1e3, fresh / 1e3,
                   c.waf);
    g_assert_cmpfloat(hist_mean(&r.latency[SSD_OP_WRITE]), >, 1.2 * fresh);
    g_assert_true(ssd_check(ssd, &error));
    g_assert_no_error(error);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/dies", test_dies);
    g_test_add_func("/golden/md1", test_md1);
    g_test_add_func("/golden/bus-rates", test_bus_rates);
    g_test_add_func("/golden/burst", test_burst);
    g_test_add_func("/golden/burst-features", test_burst_features);
    g_test_add_func("/golden/ssdsim", test_ssdsim);
    g_test_add_func("/golden/cleaning", test_cleaning);
    return g_test_run();
}
