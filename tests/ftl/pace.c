/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.c - host writes at the pace of GC: ftl.gc_pace.
 *
 * Times of ref_config(): firmware F = 3000 ns, a unit of 4 KiB over the link
 * and into DRAM; a write without GC waits for nothing else.
 */
#include "gc/gc.h"
#include "media/media-internal.h"
#include "placement/placement.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"

#define UNIT 8 /* blocks of 512 bytes */

#define DRIVE                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=2;nand.blocks=200;"  \
    "nand.pages=16;nand.multi_plane=on;ftl.op_percent=25%;ftl.gc_low=4%;"      \
    "ftl.gc_high=5%;buffer.size=1MiB;host.queue_depth=64;"

typedef struct Seen {
    double free; /* blocks of a plane, in the mean */
    uint64_t p1; /* of the latency of writes, ns */
    uint64_t p99;
    double waf;
    uint64_t ns; /* of the run */
} Seen;

static uint32_t free_blocks(const Ref *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        n += r->ssd->media->plane[i].free.n;
    }
    return n;
}

/* Random writes; as many in flight as there are places. */
static void write_at_random(Ref *r, Prng *rng, int n)
{
    for (int i = 0; i < n; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(rng, r->n_units) * UNIT, UNIT,
               false);
    }
}

/* The steady state of a host that writes as fast as it can. */
static Seen saturated(const char *options)
{
    g_autofree char *all = g_strconcat(DRIVE, options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    Seen s = {.free = 0};
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 1, 1);
    write_at_random(r, &rng, 60000);
    ssd_reset_stats(r->ssd);
    s.ns = r->now_ns;
    for (int i = 0; i < 200; i++) {
        write_at_random(r, &rng, 100);
        s.free += (double)free_blocks(r) / r->ssd->l.n_planes / 200;
    }
    s.ns = r->now_ns - s.ns;
    ssd_get_counters(r->ssd, &c);
    s.waf = c.waf;
    s.p1 = hist_quantile(ssd_latency(r->ssd, SSD_OP_WRITE), 10000);
    s.p99 = hist_quantile(ssd_latency(r->ssd, SSD_OP_WRITE), 990000);
    g_test_message("%s: %.1f blocks free, p1 %.0f us, p99 %.0f us, WAF %.2f, "
                   "%.0f ms",
                   options, s.free, (double)s.p1 / 1e3, (double)s.p99 / 1e3,
                   s.waf, (double)s.ns / 1e6);
    ref_finish(r);
    ref_free(r);
    return s;
}

/* Eight blocks are ftl.gc_low.  Late takes what GC does not need; even leaves
 * half of them, at the price of more copies.  Writes that all wait then wait
 * about equally long. */
static void test_saturated(void)
{
    Seen late = saturated("ftl.gc_pace=late");
    Seen even = saturated("ftl.gc_pace=even");

    g_assert_cmpfloat(late.free, <, 2);
    g_assert_cmpfloat(even.free, >, 3.2);
    g_assert_cmpfloat(even.free, <, 5);
    g_assert_cmpfloat(even.waf, >, late.waf);
    g_assert_cmpfloat(even.waf, <, 1.15 * late.waf);
    g_assert_cmpuint(even.ns, <, late.ns * 115 / 100);
    g_assert_cmpuint(late.p99, >, 2 * late.p1);
    g_assert_cmpuint(even.p99, <, even.p1 * 3 / 2);
}

/* Also where no block gains a program's pages: here a quarter of a block. */
static void test_small_gains(void)
{
    Seen even = saturated("ftl.gc_pace=even;nand.pages=4;ftl.op_percent=12%");

    g_assert_cmpfloat(even.free, >, 3.2);
    g_assert_cmpfloat(even.waf, >, 4);
}

/* Without GC no write waits, nor does one of a host that is slower than GC; the
 * time between its writes is not taken for that of GC, and planes that are not
 * at GC need none. */
static void test_slow_host(void)
{
    Ref *r = ref_new(ref_config(DRIVE "ftl.gc_pace=even"), true);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
    uint64_t base_ns = c.complete_ns - c.submit_ns;
    bool runs = false;
    Prng rng;

    prng_seed(&rng, 2, 1);
    g_assert_cmpuint(pace_ps(r->ssd), ==, 0);
    write_at_random(r, &rng, 60000);
    g_assert_cmpuint(pace_ps(r->ssd), >, 0);
    ref_drain(r);
    ref_pass(r, 2 * NS_PER_S); /* GC has ended */
    g_assert_cmpuint(pace_ps(r->ssd), ==, 0);
    for (int i = 0; i < 1000; i++) {
        ref_pass(r, 2 * NS_PER_MS);
        runs = runs || pace_ps(r->ssd) > 0;
        g_assert_cmpuint(pace_ps(r->ssd), <, 20000 * PS_PER_NS);
        c = ref_one(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
                    false);
        g_assert_cmpuint(c.complete_ns - c.submit_ns, ==, base_ns);
    }
    g_assert_true(runs);
    ref_finish(r);
    ref_free(r);
}

/* The second of two writes starts as many distances later as the first one has
 * units. */
static void test_units(void)
{
    Ref *r = ref_new(ref_config(DRIVE "ftl.gc_pace=even"), true);
    uint64_t units_ps, first_ns;
    Prng rng;

    prng_seed(&rng, 3, 1);
    write_at_random(r, &rng, 60000);
    ref_drain(r);
    while (pace_ps(r->ssd) == 0) {
        write_at_random(r, &rng, 1);
    }
    ref_pass(r, NS_PER_MS); /* the buffer has room */
    units_ps = 4 * pace_ps(r->ssd);
    g_assert_cmpuint(units_ps, >, 0);
    first_ns = r->now_ns;
    ref_submit(r, SSD_OP_WRITE, 0, 4 * UNIT, false);
    ref_submit(r, SSD_OP_WRITE, 8 * UNIT, UNIT, false);
    ref_drain(r);
    g_assert_cmpuint((r->last_complete_ns - first_ns) * PS_PER_NS, >=,
                     units_ps);
    ref_finish(r);
    ref_free(r);
}

/* Suspensions by reads beside a host that writes as fast as it can. */
static uint64_t suspends(const char *urgent)
{
    g_autofree char *all = g_strconcat(
        DRIVE "ftl.gc_pace=even;nand.suspend=both;nand.suspend_min_run=0;",
        urgent, NULL);
    Ref *r = ref_new(ref_config(all), true);
    uint64_t before;
    Prng rng;

    prng_seed(&rng, 5, 1);
    write_at_random(r, &rng, 60000);
    ref_drain(r);
    before = nand_stats(r->ssd->nand)->suspends;
    for (int i = 0; i < 20000; i++) {
        ref_do(r, i % 8 ? SSD_OP_WRITE : SSD_OP_READ,
               prng_below(&rng, r->n_units) * UNIT, UNIT, false);
    }
    before = nand_stats(r->ssd->nand)->suspends - before;
    ref_finish(r);
    ref_free(r);
    return before;
}

/* While writes wait longer for the pace of GC, reads suspend nothing. */
static void test_urgent(void)
{
    uint64_t always = suspends("");

    g_assert_cmpuint(always, >, 1000);
    g_assert_cmpuint(suspends("ftl.gc_urgent=1us"), <, always / 10);
    g_assert_cmpuint(suspends("ftl.gc_urgent=1s"), ==, always);
}

/* A drive whose clock is set back, or that is saved and loaded, in the middle
 * goes on as one that is not. */
static void test_goes_on(void)
{
    Ref *r = ref_new(ref_config(DRIVE "ftl.gc_pace=even"), true);
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    Prng rng;

    prng_seed(&rng, 4, 1);
    write_at_random(r, &rng, 60000);
    r->replace_permille = 20;
    prng_seed(&r->replace_rng, 4, 2);
    for (int i = 0; i < 300; i++) {
        write_at_random(r, &rng, 50);
        least = MIN(least, r->ssd->gc->pace.unit_ps);
        most = MAX(most, r->ssd->gc->pace.unit_ps);
    }
    g_assert_cmpuint(r->n_cloned, >, 0);
    g_assert_cmpuint(r->n_rebased, >, 0);
    g_assert_cmpuint(most, <, 2 * least);
    ref_finish(r);
    ref_free(r);
}

/* A state may be forged: times that would overflow are refused. */
static void test_forged(void)
{
    Ref *r = ref_new(ref_config(DRIVE "ftl.gc_pace=even;"), false);
    GcPace *pace = &r->ssd->gc->pace;
    GcPlane *g = r->ssd->gc->plane;
    const GcPace good = *pace;

    g_assert_true(ssd_check(r->ssd, NULL));
    pace->unit_ps = UINT64_MAX;
    g_assert_false(ssd_check(r->ssd, NULL));
    *pace = good;
    pace->distance_ps = UINT64_MAX / 2;
    g_assert_false(ssd_check(r->ssd, NULL));
    *pace = good;
    pace->n_active++;
    g_assert_false(ssd_check(r->ssd, NULL));
    *pace = good;
    g->pace_from_ps = r->ssd->now_ps + 1;
    g_assert_false(ssd_check(r->ssd, NULL));
    g->pace_from_ps = SIM_NEVER;
    g_assert_true(ssd_check(r->ssd, NULL));
    ref_finish(r);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pace/saturated", test_saturated);
    g_test_add_func("/pace/small-gains", test_small_gains);
    g_test_add_func("/pace/slow-host", test_slow_host);
    g_test_add_func("/pace/units", test_units);
    g_test_add_func("/pace/urgent", test_urgent);
    g_test_add_func("/pace/goes-on", test_goes_on);
    g_test_add_func("/pace/forged", test_forged);
    return g_test_run();
}
