/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oracles.c - queues and rates of the drive against closed forms.
 *
 * Each drive is made so that one of its parts takes time and the others none;
 * commands come as a Poisson process, or so many are kept in flight.
 *
 *   M/D/1  mean wait = rho S / (2 (1 - rho)), rho = rate x S.  A. K. Erlang
 *          1909; L. Kleinrock, "Queueing Systems 1", 1975, section 5.6
 *   M/D/c  from the number in the system at instants S apart: those in service
 *          leave, those that come are Poisson.  C. D. Crommelin, "Delay
 *          Probability Formulae", Post Office Electrical Engineers' Journal 25,
 *          1932
 *   rates  the least rate of link, channels and dies
 */
#include <math.h>

#include "inspect/explain.h"
#include "prng.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"

#define S_NS 100000.0 /* service time of the part that takes any */

/* Nothing takes time; options add to it. */
#define NO_TIME                                                                \
    "nand.blocks=32;nand.pages=64;nand.page_size=4KiB;nand.planes=1;"          \
    "nand.chips=1;nand.read=0;nand.program=0;nand.erase=0;nand.command=0;"     \
    "nand.bus_mt_s=0;nand.bus_ns_per_byte=0;buffer.access=0;host.firmware=0;"  \
    "host.link_mb_s=0;host.queue_depth=65536;ftl.op_percent=60%;"

static Ssd *drive(const char *options, bool preload)
{
    g_autofree char *all = g_strconcat(NO_TIME, options, NULL);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;
    Ssd *ssd;

    ssd_config_set(cfg, all, &error);
    g_assert_no_error(error);
    ssd = ref_drive(cfg);
    if (preload) {
        g_assert_cmpint(ssd_preload(ssd, 0, ssd_info(ssd)->nblocks), ==, 0);
    }
    return ssd;
}

/* ---- Poisson arrivals ---------------------------------------------------- */

/* Mean latency of n random reads of 4 KiB that come rate times in an ns; the
 * first tenth, when the queue is short, does not count. */
static double mean_latency(Ssd *ssd, double rate, uint64_t n)
{
    uint64_t nblocks = ssd_info(ssd)->nblocks;
    double at_ns = 0;
    double sum = 0;
    uint64_t counted = 0;
    SsdCompletion done[64];
    size_t got;
    Prng rng;

    prng_seed(&rng, 10, 10);
    for (uint64_t i = 0; i < n; i++) {
        SsdCmd cmd = {.tag = i,
                      .op = SSD_OP_READ,
                      .nblocks = 1,
                      .lba = prng_below(&rng, nblocks)};

        at_ns -=
            log(1 - (double)prng_below(&rng, 1U << 31) / (1U << 31)) / rate;
        g_assert_cmpint(ssd_submit(ssd, (uint64_t)at_ns, &cmd), ==, 0);
        while ((got = ssd_advance(ssd, (uint64_t)at_ns, done,
                                  G_N_ELEMENTS(done)))) {
            for (size_t k = 0; k < got; k++) {
                if (done[k].tag >= n / 10) {
                    sum += (double)(done[k].complete_ns - done[k].submit_ns);
                    counted++;
                }
            }
        }
    }
    g_assert_cmpuint(counted, >, n * 8 / 10);
    return sum / (double)counted;
}

static double wait_md1(double rho, double service_ns)
{
    return rho * service_ns / (2 * (1 - rho));
}

/*
 * p[i]: probability of i in the system.  After a service time those that were
 * in service have left, at most c, and as many have come as Poisson says.
 * Iterated until nothing changes; mean queue / rate is the mean wait (Little).
 */
#define MOST 400

static double wait_mdc(double rho, unsigned c, double service_ns)
{
    double a = rho * c; /* come in a service time */
    double come[MOST];
    double p[MOST] = {1};
    double queue = 0;

    come[0] = exp(-a);
    for (unsigned i = 1; i < MOST; i++) {
        come[i] = come[i - 1] * a / i;
    }
    for (unsigned round = 0; round < 2000; round++) {
        double next[MOST] = {0};

        for (unsigned i = 0; i < MOST; i++) {
            unsigned left = i > c ? i - c : 0;

            for (unsigned k = 0; p[i] > 1e-15 && left + k < MOST && k < 60;
                 k++) {
                next[left + k] += p[i] * come[k];
            }
        }
        memcpy(p, next, sizeof(p));
    }
    for (unsigned i = c; i < MOST; i++) {
        queue += (i - c) * p[i];
    }
    return queue / (a / service_ns);
}

/* A drive of n queues, each with one server (or one queue with c), at loads. */
static void check_queue(const char *what, const char *options, bool preload,
                        unsigned queues, unsigned servers, double service_ns,
                        double tolerance)
{
    static const double loads[] = {0.3, 0.6, 0.8};

    for (size_t i = 0; i < G_N_ELEMENTS(loads); i++) {
        Ssd *ssd = drive(options, preload);
        double rho = loads[i];
        double rate = rho * queues * servers / service_ns;
        double wait = mean_latency(ssd, rate, 300000) - service_ns;
        double want = servers == 1 ? wait_md1(rho, service_ns)
                                   : wait_mdc(rho, servers, service_ns);

        g_test_message("%s, load %.1f: wait %.2f us, closed form %.2f us "
                       "(%+.2f %%)",
                       what, rho, wait / 1000, want / 1000,
                       (wait / want - 1) * 100);
        g_assert_cmpfloat_with_epsilon(wait / want, 1, tolerance);
        ssd_destroy(ssd);
    }
}

static void test_die(void)
{
    check_queue("one die", "nand.channels=1;nand.dies=1;nand.read=100us", true,
                1, 1, S_NS, 0.03);
}

/* Units are on the dies in turn, and each die has a queue of its own. */
static void test_dies(void)
{
    check_queue("8 dies", "nand.channels=4;nand.dies=2;nand.read=100us", true,
                8, 1, S_NS, 0.03);
}

/* 4096 bytes at 40 MB/s; each of the dies is seldom busy. */
static void test_channel(void)
{
    check_queue("two channels",
                "nand.channels=2;nand.dies=16;"
                "nand.bus_ns_per_byte=25ns",
                true, 2, 1, 4096 * 25, 0.03);
}

/* Units that were never written take firmware and link only. */
static void test_link(void)
{
    check_queue("link", "nand.channels=1;nand.dies=1;host.link_mb_s=41", false,
                1, 1, 4096 / 0.041, 0.03);
}

static void test_cores(void)
{
    check_queue("one core", "nand.channels=1;host.firmware=100us;host.cores=1",
                false, 1, 1, S_NS, 0.03);
    check_queue("four cores",
                "nand.channels=1;host.firmware=100us;host.cores=4", false, 1, 4,
                S_NS, 0.04);
}

/* The form for c servers is that for one if c is 1. */
static void test_mdc(void)
{
    for (double rho = 0.1; rho < 0.85; rho += 0.1) {
        g_assert_cmpfloat_with_epsilon(
            wait_mdc(rho, 1, S_NS) / wait_md1(rho, S_NS), 1, 1e-4);
    }
}

/* The queueing time that the drive itself reports is that of its commands. */
static void test_reported(void)
{
    Ssd *ssd = drive("nand.channels=1;nand.dies=1;nand.read=100us", true);
    Explain e;
    double all;

    mean_latency(ssd, 0.6 / S_NS, 100000);
    explain_init(&e, ssd);
    all = e.stage[STAGE_DIES].wait_ns;
    g_test_message("busy %.4f, wait %.2f us", e.stage[STAGE_DIES].utilization,
                   all / 1000);
    g_assert_cmpfloat_with_epsilon(e.stage[STAGE_DIES].utilization, 0.6, 0.006);
    g_assert_cmpfloat_with_epsilon(all / wait_md1(0.6, S_NS), 1, 0.05);
    g_assert_cmpfloat_with_epsilon(e.in_flight, 0.6 * (1 + all / S_NS), 0.02);
    ssd_destroy(ssd);

    ssd = drive("nand.channels=1;host.firmware=100us;host.cores=4", false);
    mean_latency(ssd, 4 * 0.6 / S_NS, 100000);
    explain_init(&e, ssd);
    g_assert_cmpfloat_with_epsilon(e.stage[STAGE_CORES].utilization, 0.6,
                                   0.006);
    g_assert_cmpfloat_with_epsilon(
        e.stage[STAGE_CORES].wait_ns / wait_mdc(0.6, 4, S_NS), 1, 0.06);
    ssd_destroy(ssd);
}

/* ---- rates by stage ------------------------------------------------------ */

/* Bytes per second of n commands of 16 pages in sequence, depth at a time. */
static double rate_of(Ssd *ssd, SsdOp op, uint64_t n, unsigned depth)
{
    const uint32_t blocks = 64; /* of 4 KiB */
    uint64_t all = ssd_info(ssd)->nblocks / blocks;
    uint64_t sent = 0;
    uint64_t ended = 0;
    uint64_t now_ns = ssd_now_ns(ssd);
    uint64_t begun_ns = now_ns;
    SsdCompletion done;

    while (ended < n) {
        while (sent < n && sent - ended < depth) {
            SsdCmd cmd = {.tag = sent,
                          .op = op,
                          .nblocks = blocks,
                          .lba = sent % all * blocks};

            g_assert_cmpint(ssd_submit(ssd, now_ns, &cmd), ==, 0);
            sent++;
        }
        now_ns = MAX(now_ns, ssd_next_event_ns(ssd));
        ended += ssd_advance(ssd, now_ns, &done, 1);
    }
    return (double)n * blocks * 4096 * 1e9 / (double)(now_ns - begun_ns);
}

typedef struct Bound {
    const char *options;
    SsdOp op;
    double die_ns; /* that a page of 16 KiB holds a die */
    double bus_ns; /* and a channel */
    double link_mb_s;
    const char *by; /* of them */
} Bound;

#define PAGE 16384.0

/* 4 channels, 16 dies. */
static void check_bound(const Bound *b)
{
    g_autofree char *options = g_strconcat(
        "nand.channels=4;nand.dies=4;nand.page_size=16KiB;nand.blocks=96;"
        "nand.pages=32;buffer.size=16MiB;ftl.unit=4KiB;nand.command=200ns;",
        b->options, NULL);
    Ssd *ssd = drive(options, b->op == SSD_OP_READ);
    double dies = 16 * PAGE / b->die_ns * 1e9;
    double channels = 4 * PAGE / b->bus_ns * 1e9;
    double link = b->link_mb_s * 1e6;
    double want = MIN(MIN(dies, channels), link);
    double rate;
    Explain e;

    if (b->op == SSD_OP_WRITE) { /* the buffer fills up first */
        rate_of(ssd, b->op, 128, 32);
    }
    ssd_reset_stats(ssd);
    rate = rate_of(ssd, b->op, b->op == SSD_OP_READ ? 2000 : 800, 32);
    explain_init(&e, ssd);
    g_test_message(
        "%s: %.1f MB/s, bounds: dies %.1f, channels %.1f, link %.1f; "
        "%s",
        b->by, rate / 1e6, dies / 1e6, channels / 1e6, link / 1e6, e.bound_by);
    g_assert_cmpfloat(rate, <, 1.01 * want);
    g_assert_cmpfloat(rate, >, 0.97 * want);
    g_assert_cmpstr(e.bound_by, ==, b->by);
    ssd_destroy(ssd);
}

static void test_bounds(void)
{
    static const Bound bounds[] = {
        {"nand.read=50us;nand.bus_mt_s=800;host.link_mb_s=200", SSD_OP_READ,
         50000 + 200 + 20480, 200 + 20480, 200, "link_out"},
        {"nand.read=50us;nand.bus_mt_s=100;host.link_mb_s=4000", SSD_OP_READ,
         50000 + 200 + 163840, 200 + 163840, 4000, "channels"},
        {"nand.read=1ms;nand.bus_mt_s=800;host.link_mb_s=4000", SSD_OP_READ,
         1000000 + 200 + 20480, 200 + 20480, 4000, "dies"},
        {"nand.program=1ms;nand.bus_mt_s=800;host.link_mb_s=4000", SSD_OP_WRITE,
         1000000 + 200 + 20480, 200 + 20480, 4000, "dies"},
        {"nand.program=100us;nand.bus_mt_s=800;host.link_mb_s=100",
         SSD_OP_WRITE, 100000 + 200 + 20480, 200 + 20480, 100, "link_in"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(bounds); i++) {
        check_bound(&bounds[i]);
    }
}

/* Reads of 16 KiB pages in sequence, two planes of a die at a time and without
 * cache registers: dies get out of step, and the bus carries data for 95 % of
 * the time. */
static void test_multi_plane(void)
{
    static const char *const rows[] = {
        "nand.multi_plane=on;nand.arbitration=group",
        "nand.multi_plane=on;nand.arbitration=group;nand.independent_reads=on",
        "nand.async_reads=on;nand.multi_plane=on",
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *options = g_strconcat(
            "nand.channels=1;nand.dies=4;nand.planes=2;nand.page_size=16KiB;"
            "nand.blocks=96;nand.pages=32;nand.registers=1;nand.read=45us;"
            "nand.bus_mt_s=800;nand.command=200ns;ftl.stripe=pdwc;",
            rows[i], NULL);
        Ssd *ssd = drive(options, true);
        double share = rate_of(ssd, SSD_OP_READ, 2000, 32) / 800e6;

        g_test_message("%s: %.3f of the bus", rows[i], share);
        g_assert_cmpfloat(share, >=, .95);
        g_assert_cmpfloat(share, <=, 1);
        ssd_destroy(ssd);
    }
}

/* ---- every bottleneck --------------------------------------------------- */

/* 8 reads at a time of the first pages of 4 KiB on a drive with 8 dies on 4
 * channels; the bottleneck, and the line that names it. */
static void check_verdict(const char *options, uint64_t pages,
                          const char *bound_by, const char *line)
{
    g_autofree char *all =
        g_strconcat("nand.channels=4;nand.dies=2;", options, NULL);
    g_autoptr(GString) text = g_string_new("\n");
    Ssd *ssd = drive(all, true);
    SsdCompletion done;
    uint64_t now_ns = 0;
    uint64_t sent = 0;
    Explain e;

    for (uint64_t ended = 0; ended < 2000;) {
        for (; sent < ended + 8; sent++) {
            SsdCmd cmd = {.tag = sent,
                          .op = SSD_OP_READ,
                          .nblocks = 1,
                          .lba = sent % pages};

            g_assert_cmpint(ssd_submit(ssd, now_ns, &cmd), ==, 0);
        }
        now_ns = MAX(now_ns, ssd_next_event_ns(ssd));
        ended += ssd_advance(ssd, now_ns, &done, 1);
    }
    explain_init(&e, ssd);
    ssd_explain_text(ssd, text);
    g_test_message("%s", strrchr(g_strchomp(text->str), '\n') + 1);
    g_assert_cmpstr(e.bound_by, ==, bound_by);
    g_assert_nonnull(strstr(text->str, line));
    g_assert_cmpfloat_with_epsilon(e.in_flight, 8, 0.1);
    ssd_destroy(ssd);
}

static void test_verdicts(void)
{
    check_verdict("nand.read=50us", 64, "dies", "\nbound by dies: 100 % busy");
    check_verdict("nand.read=50us", 1, "one_die",
                  "\nbound by one die: die 0 is 100 % busy, the mean is 12 %");
    check_verdict("nand.bus_ns_per_byte=10ns", 64, "channels",
                  "\nbound by channels: 100 % busy");
    check_verdict("nand.ecc_decode=50us;nand.bus_ns_per_byte=1ns", 64, "ecc",
                  "\nbound by ECC decoders: ");
    check_verdict("host.firmware=10us;host.cores=2", 64, "cores",
                  "\nbound by firmware cores: 100 % busy");
    check_verdict("buffer.mb_s=100", 64, "dram", "\nbound by DRAM: 100 % busy");
    check_verdict("host.link_mb_s=100", 64, "link_out",
                  "\nbound by host link toward the host: 100 % busy");
    check_verdict("host.firmware=50us", 64, "latency",
                  "\nbound by latency: 8.0 commands in flight keep no stage "
                  "busy; of 50.0 us each, 50.0 us are firmware");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/oracles/die", test_die);
    g_test_add_func("/oracles/dies", test_dies);
    g_test_add_func("/oracles/channel", test_channel);
    g_test_add_func("/oracles/link", test_link);
    g_test_add_func("/oracles/cores", test_cores);
    g_test_add_func("/oracles/mdc", test_mdc);
    g_test_add_func("/oracles/reported", test_reported);
    g_test_add_func("/oracles/bounds", test_bounds);
    g_test_add_func("/oracles/multi-plane", test_multi_plane);
    g_test_add_func("/oracles/verdicts", test_verdicts);
    return g_test_run();
}
