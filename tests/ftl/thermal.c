/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thermal.c - temperature, throttling, power states and energy against closed
 * forms (docs/thermal.md).
 *
 * R C is 50 ms, so a step of the model is 48.8 us; tolerances of temperatures
 * are those of one step.
 */
#include <math.h>
#include <stdio.h>

#include "inspect/inspect.h"
#include "ref.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "thermal/thermal.h"

#define MS     NS_PER_MS
#define TAU_NS (50.0 * MS)

#define WARM "thermal.resistance=5;thermal.capacitance=0.01;thermal.ambient=25;"

/* A read of a unit that was never written takes 3 us and 1 us on the link. */
#define DRIVE                                                                  \
    "nand.channels=2;nand.dies=2;nand.blocks=32;nand.pages=32;"                \
    "nand.page_size=16KiB;ftl.op_percent=60%;host.firmware=3us;"               \
    "host.link_mb_s=4096;nand.read=50us;"

static Ssd *drive(const char *options)
{
    g_autofree char *all = g_strconcat(DRIVE, options, NULL);
    SsdConfig *cfg = ssd_config_new();
    GError *error = NULL;

    ssd_config_set(cfg, all, &error);
    g_assert_no_error(error);
    return ref_drive(cfg);
}

static void pass(Ssd *ssd, uint64_t to_ns)
{
    SsdCompletion done;

    g_assert_cmpuint(ssd_advance(ssd, to_ns, &done, 1), ==, 0);
}

static double celsius(const Ssd *ssd)
{
    return thermal_celsius(ssd, thermal_now(ssd).rise_nk);
}

static void near(double found, double want, double tolerance)
{
    if (fabs(found - want) > tolerance) {
        g_error("%.9g, should be %.9g within %.3g", found, want, tolerance);
    }
}

/* One command by itself, at an instant; its latency. */
static uint64_t one(Ssd *ssd, uint64_t at_ns, SsdOp op, uint64_t lba)
{
    SsdCmd cmd = {.op = op, .lba = lba, .nblocks = 1};
    SsdCompletion done;

    g_assert_cmpint(ssd_submit(ssd, at_ns, &cmd), ==, 0);
    while (ssd_advance(ssd, at_ns, &done, 1) == 0) {
        at_ns = ssd_next_event_ns(ssd);
    }
    return done.complete_ns - done.submit_ns;
}

/* Reads of 64 KiB, 32 at a time, from now on up to end_ns; bytes in a second.
 */
static double rate(Ssd *ssd, uint64_t end_ns)
{
    uint64_t now_ns = ssd_now_ns(ssd);
    uint64_t begun_ns = now_ns;
    uint64_t bytes = 0;
    unsigned flying = 0;
    SsdCompletion done;

    while (now_ns < end_ns || flying) {
        while (now_ns < end_ns && flying < 32) {
            SsdCmd cmd = {.op = SSD_OP_READ, .nblocks = 16};

            g_assert_cmpint(ssd_submit(ssd, now_ns, &cmd), ==, 0);
            flying++;
        }
        now_ns = MAX(now_ns, ssd_next_event_ns(ssd));
        while (ssd_advance(ssd, now_ns, &done, 1)) {
            flying--;
            bytes += done.complete_ns <= end_ns ? 65536 : 0;
        }
    }
    return (double)bytes * 1e9 / (double)(end_ns - begun_ns);
}

/* ---- temperature --------------------------------------------------------- */

/* 8 W through 5 K/W: 40 K above the ambient, by exp(-t / R C). */
static void test_step(void)
{
    static const double at[] = {0.01, 0.1, 0.5, 1, 2, 5};
    Ssd *ssd = drive(WARM "power.idle=8000");
    Ssd *often = drive(WARM "power.idle=8000");

    near(celsius(ssd), 25, 1e-9);
    for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
        uint64_t ns = (uint64_t)(at[i] * TAU_NS);

        pass(ssd, ns);
        near(celsius(ssd), 25 + 40 * (1 - exp(-at[i])),
             40.0 / 1024 * exp(-at[i]) + 1e-6);
    }
    for (uint64_t ns = 0; ns < 250 * MS; ns += 77777) { /* 5 RC */
        pass(often, ns);
        celsius(often);
        if (ns / 77777 % 7 == 0) {
            thermal_steps(often);
        }
    }
    pass(often, 250 * MS);
    g_assert_cmpuint(thermal_now(often).rise_nk, ==, thermal_now(ssd).rise_nk);
    pass(ssd, 100 * 50 * MS);
    g_assert_cmpuint(thermal_now(ssd).rise_nk, ==, 40000000000ULL);
    ssd_destroy(ssd);
    ssd_destroy(often);
}

/* Steps at the grid are exact: a step of R C / 1024 has a factor of
 * exp(-1 / 1024). */
static void test_exact(void)
{
    Ssd *ssd = drive(WARM "power.idle=8000");

    for (unsigned n = 1; n < 3000; n += 100) {
        pass(ssd, (uint64_t)ceil(n * TAU_NS / 1024));
        near(celsius(ssd), 25 + 40 * (1 - exp(-(double)n / 1024)), 1e-5);
    }
    ssd_destroy(ssd);
}

/* The array heats, too: reads one after another, 63 us each, 100 uJ each. */
static void test_array_heats(void)
{
    Ssd *ssd = drive(WARM "power.active=2000;power.idle=500;"
                          "nand.energy_read=100000");
    uint64_t ns = 0;
    double watts;

    g_assert_cmpint(ssd_preload(ssd, 0, 1024), ==, 0);
    for (unsigned i = 0; i < 16000; i++) {
        ns += one(ssd, ns, SSD_OP_READ, i % 1024);
    }
    watts = 2 + 16000 * 100e-6 / ((double)ns / 1e9);
    g_test_message("%.3f W, %.3f degrees", watts, celsius(ssd));
    near(celsius(ssd), 25 + 5 * watts, 0.05);
    pass(ssd, ns + 40 * 50 * MS);
    near(celsius(ssd), 25 + 5 * 0.5, 1e-6);
    ssd_destroy(ssd);
}

static void test_warning_time(void)
{
    Ssd *ssd = drive(WARM "power.idle=8000;thermal.warning=45;"
                          "thermal.critical=55");
    SsdHeat heat;

    pass(ssd, 500 * MS);
    g_assert_true(ssd_heat(ssd, &heat));
    g_assert_cmpuint(heat.kelvin, ==, 273 + 64); /* 64.998 degrees */
    g_assert_cmpuint(heat.warning_k, ==, 318);
    near((double)heat.warning_ns, 500.0 * MS - TAU_NS * log(2), 2e5);
    near((double)heat.critical_ns, 500.0 * MS - TAU_NS * log(4), 2e5);
    ssd_destroy(ssd);
}

/* ---- energy -------------------------------------------------------------- */

/* Commands of a known length in a known time: each nJ is accounted for. */
static void test_energy(void)
{
    Ssd *ssd = drive("power.active=3000;power.idle=700;nand.energy_read=50000;"
                     "nand.energy_bus=20");
    uint64_t busy_ns = 0;
    DriveStats v;

    g_assert_cmpint(ssd_preload(ssd, 0, 1024), ==, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        busy_ns += one(ssd, i * 200000, SSD_OP_READ, i);
    }
    pass(ssd, 200 * MS);
    drive_stats_init(&v, ssd);
    near(v.controller_nj,
         3.0 * (double)busy_ns + 0.7 * (200.0 * MS - (double)busy_ns), 2);
    near(v.nand_nj, 1000 * (50000 + 4096 * 0.020), 1e-3);
    g_assert_cmpuint(v.heat->peak_mw, <=, 3000 + 1000 * 50082 / 63000 + 1);
    drive_stats_clear(&v);
    ssd_destroy(ssd);
}

/* ---- throttling ---------------------------------------------------------- */

/* 40 K at 8 W: the link is left half of its rate from 35 degrees on, a tenth
 * from 45 on. */
static void test_throttle(void)
{
    Ssd *ssd = drive(WARM "power.active=8000;thermal.throttle_1=35;"
                          "thermal.throttle_2=45;thermal.slow_1=50%;"
                          "thermal.slow_2=90%");
    double first_ns = TAU_NS * log(40.0 / 30);
    double second_ns = TAU_NS * log(40.0 / 20);
    double full = rate(ssd, 13 * MS);
    double half, tenth;
    const Heat *h = &ssd->thermal->heat;

    g_assert_cmpuint(h->level, ==, 0);
    rate(ssd, 15 * MS);
    half = rate(ssd, 32 * MS);
    g_assert_cmpuint(h->level, ==, 1);
    rate(ssd, 40 * MS);
    tenth = rate(ssd, 140 * MS);
    g_test_message("first step at %.1f ms, second at %.1f ms: %.0f, %.0f, %.0f "
                   "MB/s",
                   first_ns / MS, second_ns / MS, full / 1e6, half / 1e6,
                   tenth / 1e6);
    near(full / 4096e6, 1, 0.01);
    near(half / 2048e6, 1, 0.02);
    near(tenth / 409.6e6, 1, 0.02);
    g_assert_cmpuint(h->level, ==, 2);
    g_assert_cmpuint(h->sums.n_throttled[0], ==, 1);
    g_assert_cmpuint(h->sums.n_throttled[1], ==, 1);
    ssd_destroy(ssd);
}

/* A step ends three degrees below its limit, and not before. */
static void test_hysteresis(void)
{
    Ssd *ssd = drive(WARM "power.active=8000;thermal.throttle_1=35;"
                          "thermal.hysteresis=3");
    const Heat *h = &ssd->thermal->heat;
    uint64_t ns = 16 * MS;
    double from;

    rate(ssd, ns);
    g_assert_cmpuint(h->level, ==, 1);
    ns = ssd_now_ns(ssd);
    from = celsius(ssd) - 25;
    pass(ssd, ns + (uint64_t)(TAU_NS * log(from / 7)) - 100000);
    g_assert_cmpuint(thermal_now(ssd).level, ==, 1);
    pass(ssd, ns + (uint64_t)(TAU_NS * log(from / 7)) + 100000);
    g_assert_cmpuint(thermal_now(ssd).level, ==, 0);
    ssd_destroy(ssd);
}

/* Limits of the host stand for those of the drive, and are counted apart. */
static void test_host_limits(void)
{
    static const uint32_t limits[] = {273 + 30, 273 + 40};
    static const uint32_t none[2];
    Ssd *ssd = drive(WARM "power.idle=8000");
    SsdHeat heat;

    pass(ssd, 10 * MS); /* 32.3 degrees */
    g_assert_cmpuint(thermal_now(ssd).level, ==, 0);
    ssd_set_heat_limits(ssd, 10 * MS, limits);
    g_assert_cmpuint(thermal_now(ssd).level, ==, 1);
    pass(ssd, 100 * MS);
    ssd_heat(ssd, &heat);
    g_assert_cmpuint(heat.n_managed[0], ==, 1);
    g_assert_cmpuint(heat.n_managed[1], ==, 1);
    near((double)heat.managed_ns[0], TAU_NS * log(40.0 / 25) - 10.0 * MS, 2e5);
    near((double)heat.managed_ns[1], 100.0 * MS - TAU_NS * log(40.0 / 25), 2e5);
    ssd_set_heat_limits(ssd, 100 * MS, none);
    g_assert_cmpuint(thermal_now(ssd).level, ==, 0);
    ssd_destroy(ssd);
}

/* ---- power states -------------------------------------------------------- */

#define STATES                                                                 \
    "power.states=8000:0:0/4000:0:0/100:1000:2000:idle/10:5000:20000:idle;"

#define READ_NS 4000 /* firmware and link */

/* 10 ms idle, 1 ms on the way down; then 2 ms up. */
static void test_exit_latency(void)
{
    Ssd *ssd = drive(STATES "power.idle_after=10ms;power.idle=1000");
    const Heat *h = &ssd->thermal->heat;
    uint64_t ns = 0;

    g_assert_cmpuint(one(ssd, ns, SSD_OP_READ, 0), ==, READ_NS);
    ns += READ_NS + 9 * MS;
    g_assert_cmpuint(one(ssd, ns, SSD_OP_READ, 0), ==, READ_NS);
    ns += READ_NS + 15 * MS;
    pass(ssd, ns);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 2);
    g_assert_cmpuint(one(ssd, ns, SSD_OP_READ, 0), ==, READ_NS + 2 * MS);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 0);
    ns += READ_NS + 2 * MS + 10 * MS + 400000; /* still on the way down */
    g_assert_cmpuint(one(ssd, ns, SSD_OP_READ, 0), ==,
                     READ_NS + 600000 + 2 * MS);
    ns += READ_NS + 600000 + 2 * MS + 10 * MS + 1 * MS + 10 * MS + 5 * MS;
    pass(ssd, ns);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 3);
    g_assert_cmpuint(one(ssd, ns, SSD_OP_FLUSH, 0), ==, 3000 + 20 * MS);
    g_assert_cmpuint(h->sums.n_wakes, ==, 3);
    g_assert_cmpuint(h->sums.wake_ps / PS_PER_NS, ==,
                     2 * MS + 2600000 + 20 * MS);
    ssd_destroy(ssd);
}

/* While the drive wakes up, all commands wait for the same instant. */
static void test_wake_once(void)
{
    Ssd *ssd = drive(STATES "power.idle_after=10ms");
    SsdCmd cmd = {.op = SSD_OP_FLUSH};
    SsdCompletion done[2];

    pass(ssd, 15 * MS);
    g_assert_cmpint(ssd_submit(ssd, 15 * MS, &cmd), ==, 0);
    g_assert_cmpint(ssd_submit(ssd, 16 * MS, &cmd), ==, 0);
    g_assert_cmpuint(ssd_advance(ssd, 20 * MS, done, 2), ==, 2);
    g_assert_cmpuint(done[0].complete_ns, ==, 17 * MS + 3000);
    g_assert_cmpuint(done[1].complete_ns, ==, 17 * MS + 3000);
    g_assert_cmpuint(done[0].cost.firmware_ns, ==, 2 * MS + 3000);
    ssd_destroy(ssd);
}

/* 1 W for 10 ms and on the way (1 ms), then 100 mW for 10 ms and the way of 5
 * ms, then 10 mW. */
static void test_idle_energy(void)
{
    Ssd *ssd = drive(STATES "power.idle_after=10ms;power.idle=1000");
    Heat h;

    pass(ssd, 1000 * MS);
    h = thermal_now(ssd);
    near((double)h.sums.controller_nj,
         11.0 * MS + 0.1 * 15 * MS + 0.01 * (1000 - 26) * MS, 2);
    g_assert_cmpuint(h.sums.state_ps[0] / PS_PER_NS, ==, 10 * MS);
    g_assert_cmpuint(h.sums.state_ps[2] / PS_PER_NS, ==, 11 * MS);
    g_assert_cmpuint(h.sums.state_ps[3] / PS_PER_NS, ==, 979 * MS);
    ssd_destroy(ssd);
}

/* In state 1 with half the power of state 0: half of the idle power. */
static void test_lower_state_energy(void)
{
    Ssd *ssd = drive(STATES "power.idle=1000");
    Heat h;

    ssd_set_power_state(ssd, 0, 1);
    pass(ssd, 1000 * MS);
    h = thermal_now(ssd);
    near((double)h.sums.controller_nj, 0.5 * 1000 * MS, 2);
    ssd_destroy(ssd);
}

/* Settings of the host: a lower state has half of the link's rate; an idle one
 * begins when the last command has ended; rules of the host. */
static void test_host_states(void)
{
    SsdIdleRule rule[4] = {{.after_ns = 3 * MS, .state = 3},
                           {.after_ns = 5 * MS, .state = 0}};
    SsdCmd cmd = {.op = SSD_OP_FLUSH};
    SsdCompletion done;
    Ssd *ssd = drive(STATES "power.idle_after=10ms;power.idle=1000");
    uint64_t ns;

    ssd_set_power_state(ssd, 0, 1);
    near(rate(ssd, 20 * MS) / 2048e6, 1, 0.01);
    ns = ssd_now_ns(ssd);
    g_assert_cmpint(ssd_submit(ssd, ns, &cmd), ==, 0);
    ssd_set_power_state(ssd, ns, 2);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 1);
    g_assert_cmpuint(ssd_advance(ssd, ns + 3000, &done, 1), ==, 1);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 2);
    ns += 3000 + 2 * MS;
    g_assert_cmpuint(one(ssd, ns, SSD_OP_FLUSH, 0), ==, 3000 + 2 * MS);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 1); /* the last that works */

    ns = ssd_now_ns(ssd);
    ssd_set_idle_rules(ssd, ns, rule);
    pass(ssd, ns + 100 * MS); /* there is none for state 1: 0 is above it */
    g_assert_cmpuint(ssd_power_state(ssd), ==, 1);
    ssd_set_power_state(ssd, ns + 100 * MS, 0);
    pass(ssd, ns + 104 * MS);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 3);
    ssd_set_idle_rules(ssd, ns + 104 * MS, NULL);
    pass(ssd, ns + 1000 * MS);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 3);
    ssd_destroy(ssd);
}

/* ---- power cuts, saved drives -------------------------------------------- */

static void test_power_cut(void)
{
    Ref *r = ref_new(ref_config(WARM STATES "power.idle=8000"), true);
    Heat h;
    uint64_t nj;

    ref_pass(r, 250 * MS);
    ssd_set_power_state(r->ssd, r->now_ns, 2);
    ref_power_cycle(r);
    h = thermal_now(r->ssd);
    g_assert_cmpuint(h.state, ==, 0);
    near(celsius(r->ssd), 65, 0.5);
    ssd_power_cut(r->ssd, r->now_ns);
    nj = thermal_now(r->ssd).sums.controller_nj;
    pass(r->ssd, r->now_ns + 50 * MS);
    near(celsius(r->ssd), 25 + 40 * exp(-1), 0.5);
    g_assert_cmpuint(thermal_now(r->ssd).sums.controller_nj, ==, nj);
    ssd_power_on(r->ssd, r->now_ns + 50 * MS);
    r->now_ns += 50 * MS;
    ref_finish(r);
    ref_free(r);
}

static Ssd *reload(Ssd *ssd, const char *options)
{
    g_autofree char *all = g_strconcat(DRIVE, options, NULL);
    SsdConfig *cfg = ssd_config_new();
    FILE *f = tmpfile();
    GError *error = NULL;

    ssd_save(ssd, f, &error);
    g_assert_no_error(error);
    rewind(f);
    ssd_destroy(ssd);
    ssd_config_set(cfg, all, &error);
    ssd_config_set_block_bytes(cfg, 4096, &error);
    g_assert_no_error(error);
    ssd = ssd_load(cfg, NULL, NULL, f, &error);
    g_assert_no_error(error);
    ssd_config_free(cfg);
    fclose(f);
    return ssd;
}

/* A warm drive stays warm; one without temperature begins at the ambient;
 * states that there are no more are left. */
static void test_saved(void)
{
    Ssd *ssd = drive(WARM STATES "power.idle=8000;power.idle_after=100ms");
    Heat h;

    pass(ssd, 110 * MS);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 2);
    h = thermal_now(ssd);
    ssd = reload(ssd, WARM STATES "power.idle=8000;power.idle_after=100ms");
    g_assert_cmpuint(thermal_now(ssd).rise_nk, ==, h.rise_nk);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 2);
    ssd = reload(ssd, WARM "power.idle=8000");
    g_assert_cmpuint(thermal_now(ssd).rise_nk, ==, h.rise_nk);
    g_assert_cmpuint(ssd_power_state(ssd), ==, 0);
    pass(ssd, 110 * MS + 40 * 50 * MS);
    near(celsius(ssd), 65, 1e-6);
    ssd_destroy(ssd);

    ssd = drive("");
    pass(ssd, 3600ULL * 3 * NS_PER_S);
    ssd = reload(ssd, WARM "power.idle=8000");
    near(celsius(ssd), 25, 1e-9);
    pass(ssd, ssd_now_ns(ssd) + 50 * MS);
    near(celsius(ssd), 25 + 40 * (1 - exp(-1)), 0.02);
    ssd_destroy(ssd);
}

/* ---- options ------------------------------------------------------------- */

static void test_refusals(void)
{
    static const struct {
        const char *options, *says;
    } rows[] = {
        {"thermal.warning=80", "thermal.warning=80: must be below"},
        {WARM "thermal.throttle_1=60;thermal.throttle_2=50",
         "thermal.throttle_1=60: must be below thermal.throttle_2=50"},
        {"thermal.throttle_1=60", "needs thermal.resistance"},
        {WARM "thermal.throttle_2=60;host.link_mb_s=0",
         "thermal.throttle_2=60: needs host.link_mb_s"},
        {"thermal.resistance=1;thermal.capacitance=0",
         "thermal.capacitance=0: must be"},
        {"power.states=8000", "(state 0)"},
        {"power.states=8000:0:0/100:0:0:sleep", "(state 1)"},
        {"power.states=0:0:0", "(state 0)"},
        {"power.states=10:0:10000001", "(state 0)"},
        {"power.states=10:0:0/20:0:0:idle", "state 1 must not take more"},
        {"power.states=10:0:0:idle", "state 0 must not be idle"},
        {"power.states=8000:0:0;power.idle_after=1s",
         "power.idle_after=1000000000ns: needs an idle state"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *all = g_strconcat(DRIVE, rows[i].options, NULL);
        SsdConfig *cfg = ssd_config_new();
        GError *error = NULL;

        g_assert_false(ssd_config_set(cfg, all, &error) &&
                       ssd_config_check(cfg, &error));
        if (!strstr(error->message, rows[i].says) ||
            strchr(error->message, '\n')) {
            g_error("\"%s\" should say \"%s\"", error->message, rows[i].says);
        }
        g_clear_error(&error);
        ssd_config_free(cfg);
    }
}

/* 200 days of a drive that does nothing are over at once, and counted. */
static void test_long(void)
{
    Ssd *ssd = drive("thermal.resistance=10;thermal.capacitance=100;"
                     "power.idle=1000;" STATES "power.idle_after=1min");
    uint64_t day_ns = 86400 * NS_PER_S;

    for (unsigned i = 1; i <= 200; i++) {
        pass(ssd, i * day_ns);
        thermal_now(ssd);
    }
    near(celsius(ssd), 25.1, 1e-6); /* 10 mW */
    g_assert_cmpuint(one(ssd, 200 * day_ns, SSD_OP_FLUSH, 0), ==,
                     3000 + 20 * MS);
    ssd_destroy(ssd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thermal/step", test_step);
    g_test_add_func("/thermal/exact", test_exact);
    g_test_add_func("/thermal/array-heats", test_array_heats);
    g_test_add_func("/thermal/warning-time", test_warning_time);
    g_test_add_func("/thermal/energy", test_energy);
    g_test_add_func("/thermal/throttle", test_throttle);
    g_test_add_func("/thermal/hysteresis", test_hysteresis);
    g_test_add_func("/thermal/host-limits", test_host_limits);
    g_test_add_func("/thermal/exit-latency", test_exit_latency);
    g_test_add_func("/thermal/wake-once", test_wake_once);
    g_test_add_func("/thermal/idle-energy", test_idle_energy);
    g_test_add_func("/thermal/lower-state-energy", test_lower_state_energy);
    g_test_add_func("/thermal/host-states", test_host_states);
    g_test_add_func("/thermal/power-cut", test_power_cut);
    g_test_add_func("/thermal/saved", test_saved);
    g_test_add_func("/thermal/refusals", test_refusals);
    g_test_add_func("/thermal/long", test_long);
    return g_test_run();
}
