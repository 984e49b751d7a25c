/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write-rows.c - superblock.row: rows of pages across planes and dies as the
 * unit of programs, against closed forms.
 *
 * With ref_config(): command C = 200, a page over the bus X = 40960, tPROG =
 * 500000, tDBSY = 500 ns; a page holds four units.  A row of k planes takes k
 * (C + X) + (k - 1) tDBSY + tPROG.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "buffer/buffer-internal.h"
#include "gc/copies.h"
#include "gc/copy-rows.h"
#include "media/media-internal.h"
#include "ref.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"

#define C     200ULL
#define X     40960ULL
#define TPROG 500000ULL
#define TDBSY 500ULL
#define UNIT  8 /* blocks of 512 bytes */
#define ROW   (2 * (C + X) + TDBSY + TPROG)
#define MS    NS_PER_MS
#define MS_PS (MS * PS_PER_NS)

#define ONE_DIE                                                                \
    "nand.channels=1;nand.chips=1;nand.dies=1;nand.planes=2;"                  \
    "nand.multi_plane=on;ftl.op_percent=90%;superblock.row=die;"
#define EIGHT                                                                  \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=2;nand.blocks=80;"   \
    "nand.pages=16;nand.page_size=16KiB;nand.multi_plane=on;"                  \
    "ftl.gc_high=3%;host.queue_depth=32;ftl.op_percent=25%;"

/* Programs of the array: when the first and the last were submitted, and the
 * last ended. */
typedef struct Seen {
    unsigned n, grouped;
    uint64_t first_ps, last_ps, end_ps;
} Seen;

static void on_submit(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Seen *s = opaque;

    if (op->kind == NAND_PROGRAM) {
        s->first_ps = s->n++ == 0 ? now_ps : s->first_ps;
        s->last_ps = now_ps;
    }
}

static void on_span(void *opaque, const NandOp *op, NandSpan span,
                    uint64_t from_ps, uint64_t now_ps)
{
}

static void on_done(void *opaque, const NandOp *op, uint64_t now_ps)
{
    Seen *s = opaque;

    if (op->kind == NAND_PROGRAM) {
        s->grouped += op->grouped;
        s->end_ps = now_ps;
    }
}

static const NandWatch watch = {
    .submit = on_submit,
    .span = on_span,
    .done = on_done,
};

static Ref *drive(const char *options, Seen *s)
{
    Ref *r = ref_new(ref_config(options), false);

    *s = (Seen){.n = 0};
    nand_watch(r->ssd->nand, &watch, s);
    return r;
}

static void put(Ref *r, uint64_t lpn, uint32_t units)
{
    ref_one(r, SSD_OP_WRITE, lpn * UNIT, units * UNIT, false);
}

static void destroy(Ref *r)
{
    nand_watch(r->ssd->nand, NULL, NULL);
    ref_finish(r);
    ref_free(r);
}

/* One stream, a unit at a time, long pauses: the eighth makes the row. */
static void test_low_load(void)
{
    Seen s;
    Ref *r = drive(ONE_DIE "superblock.row_wait=100ms", &s);

    for (uint64_t i = 0; i < 7; i++) {
        put(r, 3 * i, 1);
        ref_pass(r, MS);
        g_assert_cmpuint(s.n, ==, 0);
    }
    put(r, 21, 1);
    ref_pass(r, 2 * MS);
    g_assert_cmpuint(s.n, ==, 2);
    g_assert_cmpuint(s.grouped, ==, 2);
    g_assert_cmpuint(s.first_ps, ==, s.last_ps);
    g_assert_cmpuint(s.end_ps - s.first_ps, ==, ROW * PS_PER_NS);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_filled, ==, 1);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_short, ==, 0);
    destroy(r);
}

/* A row follows a row. */
static void test_throughput(void)
{
    const uint64_t rows = 20;
    Seen s;
    Ref *r = drive(ONE_DIE, &s);

    for (uint64_t i = 0; i < 2 * rows; i++) {
        ref_do(r, SSD_OP_WRITE, 4 * i * UNIT, 4 * UNIT, false);
    }
    ref_drain(r);
    ref_pass(r, 5 * MS);
    g_assert_cmpuint(s.n, ==, 2 * rows);
    g_assert_cmpuint(s.grouped, ==, 2 * rows);
    g_assert_cmpuint(s.end_ps - s.first_ps, ==, rows * ROW * PS_PER_NS);
    destroy(r);
}

/* Superpages of two dies: four pages at once, a command for each die. */
static void test_two_dies(void)
{
    Seen s;
    Ref *r = drive("nand.channels=2;nand.chips=1;nand.dies=1;nand.planes=2;"
                   "nand.multi_plane=on;ftl.op_percent=90%;superblock.row=4;",
                   &s);

    put(r, 0, 8);
    ref_pass(r, MS);
    g_assert_cmpuint(s.n, ==, 0);
    put(r, 8, 8);
    ref_pass(r, 2 * MS);
    g_assert_cmpuint(s.n, ==, 4);
    g_assert_cmpuint(s.grouped, ==, 4);
    g_assert_cmpuint(nand_stats(r->ssd->nand)->multi_plane, ==, 2);
    g_assert_cmpuint(s.end_ps - s.first_ps, ==, ROW * PS_PER_NS);
    destroy(r);
}

/* A unit goes alone when it has waited long enough; the rest of its row is open
 * for the next page, and the next row is a whole one. */
static void test_wait(void)
{
    Seen s;
    Ref *r = drive(ONE_DIE "superblock.row_wait=5ms", &s);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);

    ref_pass(r, c.complete_ns + 5 * MS - r->now_ns - 1);
    g_assert_cmpuint(s.n, ==, 0);
    ref_pass(r, MS);
    g_assert_cmpuint(s.n, ==, 1);
    g_assert_cmpuint(s.first_ps, <=, (c.complete_ns + 5 * MS) * PS_PER_NS);
    g_assert_cmpuint(s.end_ps - s.first_ps, ==, (C + X + TPROG) * PS_PER_NS);
    g_assert_cmpuint(r->ssd->buffer->n_dirty, ==, 0);
    put(r, 10, 4);
    ref_pass(r, MS);
    g_assert_cmpuint(s.n, ==, 2);
    g_assert_cmpuint(s.grouped, ==, 0);
    put(r, 20, 8);
    ref_pass(r, 2 * MS);
    g_assert_cmpuint(s.n, ==, 4);
    g_assert_cmpuint(s.grouped, ==, 2);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_timeouts, ==, 1);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_short, ==, 2);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_filled, ==, 1);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_wait_ns, >=, 5 * MS);
    destroy(r);
}

/* The wait begins with the first unit and does not restart. */
static void test_wait_once(void)
{
    Seen s;
    Ref *r = drive(ONE_DIE "superblock.row_wait=5ms", &s);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);

    ref_pass(r, 4 * MS);
    put(r, 1, 1);
    ref_pass(r, c.complete_ns + 6 * MS - r->now_ns);
    g_assert_cmpuint(s.n, ==, 1);
    g_assert_cmpuint(r->ssd->buffer->n_dirty, ==, 0);
    destroy(r);
}

/* A unit that is trimmed while it waits leaves no wait behind: the next one
 * waits as long. */
static void test_wait_trimmed(void)
{
    Seen s;
    Ref *r = drive(ONE_DIE "superblock.row_wait=5ms", &s);
    SsdCompletion c;

    put(r, 0, 1);
    ref_one(r, SSD_OP_TRIM, 0, UNIT, false);
    ref_pass(r, 20 * MS);
    g_assert_cmpuint(s.n, ==, 0);
    c = ref_one(r, SSD_OP_WRITE, 8 * UNIT, UNIT, false);
    ref_pass(r, c.complete_ns + 5 * MS - r->now_ns - 1);
    g_assert_cmpuint(s.n, ==, 0);
    ref_pass(r, MS);
    g_assert_cmpuint(s.n, ==, 1);
    g_assert_cmpuint(r->ssd->inspect.count.rows_host_timeouts, ==, 1);
    destroy(r);
}

/* A flush and FUA do not wait. */
static void test_flush(void)
{
    Seen s;
    Ref *r = drive(ONE_DIE "superblock.row_wait=5s", &s);
    SsdCompletion c;

    put(r, 0, 1);
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(s.n, ==, 1);
    g_assert_cmpuint(c.complete_ns - c.submit_ns, <, MS);
    c = ref_one(r, SSD_OP_WRITE, 5 * UNIT, UNIT, true);
    g_assert_cmpuint(s.n, ==, 2);
    g_assert_cmpuint(c.complete_ns - c.submit_ns, <, MS);
    destroy(r);
}

/* N flushes after a unit each.  A program takes `units` units in each of
 * `planes` planes; without superblock.padding only the page with the unit is
 * padded.
 */
static void check_pads(const char *options, uint64_t units, uint64_t planes,
                       bool pads)
{
    const uint64_t n = 20;
    g_autofree char *all =
        g_strconcat(options, pads ? "superblock.padding=on" : "", NULL);
    uint64_t programs = pads ? planes : 1;
    Seen s;
    Ref *r = drive(all, &s);
    const SsdCounts *c = &r->ssd->inspect.count;
    SsdCounters counters;

    for (uint64_t i = 0; i < n; i++) {
        put(r, 3 * i, 1);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        ref_pass(r, 20 * MS);
    }
    g_assert_cmpuint(s.n, ==, n * programs);
    g_assert_cmpuint(c->padded_units, ==, n * (programs * units - 1));
    g_assert_cmpuint(c->rows_host_padded, ==, n * (programs - 1));
    g_assert_cmpuint(c->rows_host_filled, ==, pads ? n : 0);
    ssd_get_counters(r->ssd, &counters);
    g_assert_cmpfloat_with_epsilon(counters.waf, (double)(programs * units),
                                   1e-9);
    ref_power_cycle(r); /* every flushed unit is there */
    nand_watch(r->ssd->nand, NULL, NULL);
    ref_free(r);
}

static void test_flush_pad(void)
{
    static const char wait[] = "superblock.row_wait=5s;";
    g_autofree char *page = g_strconcat(ONE_DIE, wait, NULL);
    g_autofree char *line = g_strconcat(
        ONE_DIE, wait, "nand.cell=tlc;nand.one_shot=on;nand.pages=24;", NULL);

    check_pads(page, 4, 2, false);
    check_pads(page, 4, 2, true);
    check_pads(line, 12, 2, false);
    check_pads(line, 12, 2, true);
}

/* A program of padding that fails is not repeated; the block goes, and the data
 * of the others is there. */
static void test_pad_fails(void)
{
    g_autofree char *faults =
        ref_faults_file("on=program plane=1 nth=3 -> fail once\n");
    g_autofree char *options = g_strconcat(
        ONE_DIE "superblock.row_wait=5s;superblock.padding=on;faults=", faults,
        NULL);
    Seen s;
    Ref *r = drive(options, &s);

    r->faults = true;
    for (uint64_t i = 0; i < 10; i++) {
        put(r, 3 * i, 1);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        ref_pass(r, 20 * MS);
    }
    g_assert_cmpuint(r->ssd->media->n_grown_bad, ==, 1);
    nand_watch(r->ssd->nand, NULL, NULL);
    ref_power_cycle(r);
    ref_free(r);
    g_remove(faults);
}

/* A buffer that cannot hold a row sends what it has. */
static void test_small_buffer(void)
{
    Seen s;
    Ref *r = drive(ONE_DIE "superblock.row_wait=10s;buffer.size=20KiB", &s);

    for (uint64_t i = 0; i < 40; i++) {
        put(r, i, 1);
    }
    g_assert_cmpuint(r->now_ns, <, 100 * MS);
    destroy(r);
}

static void write_some(Ref *r, Prng *rng, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t unit = prng_below(rng, r->n_units);

        ref_do(r, SSD_OP_WRITE, unit * r->unit_blocks, r->unit_blocks, false);
    }
}

typedef struct Outcome {
    double joined; /* share of programs in multi-plane commands */
    double filled; /* share of GC's rows */
    double mb_s;
    double waf;
} Outcome;

/* Uniform random writes in the steady state. */
static Outcome measure(const char *more, uint32_t streams)
{
    g_autofree char *options = g_strconcat(EIGHT, more, NULL);
    Ref *r = ref_new(ref_config(options), true);
    uint64_t joined, begin_ns;
    SsdCounters c;
    Outcome o;
    Prng rng;

    r->n_streams = streams;
    prng_seed(&rng, 3, 3);
    write_some(r, &rng, 2 * r->n_units);
    ssd_reset_stats(r->ssd);
    joined = nand_stats(r->ssd->nand)->joined[NAND_PROGRAM];
    begin_ns = r->now_ns;
    write_some(r, &rng, 3 * r->n_units);
    ssd_get_counters(r->ssd, &c);
    o.waf = c.waf;
    o.joined =
        (double)(nand_stats(r->ssd->nand)->joined[NAND_PROGRAM] - joined) /
        (double)c.nand_programs;
    o.mb_s = 3.0 * (double)r->n_units * 4096e3 / (double)(r->now_ns - begin_ns);
    o.filled = (double)r->ssd->inspect.count.rows_gc_filled /
               (double)MAX(1, r->ssd->inspect.count.rows_gc_filled +
                                  r->ssd->inspect.count.rows_gc_short);
    g_test_message("%s: %.3f of the programs in multi-plane commands, %.3f of "
                   "GC's rows filled, WAF %.3f, %.1f MB/s",
                   more, o.joined, o.filled, o.waf, o.mb_s);
    g_test_message("host %" PRIu64 " filled, %" PRIu64 " short, %" PRIu64
                   " timeouts; GC %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                   r->ssd->inspect.count.rows_host_filled,
                   r->ssd->inspect.count.rows_host_short,
                   r->ssd->inspect.count.rows_host_timeouts,
                   r->ssd->inspect.count.rows_gc_filled,
                   r->ssd->inspect.count.rows_gc_short,
                   r->ssd->inspect.count.rows_gc_timeouts);
    ref_finish(r);
    ref_free(r);
    return o;
}

/* Host and GC program rows, with one stream, and with several. */
static void test_gc(void)
{
    static const struct {
        const char *options;
        uint32_t streams;
        double joined, filled; /* the least of each share */
    } rows[] = {
        {"superblock.row=die", 1, .97, .92},
        {"superblock.row=4", 1, .97, .92},
        {"superblock.row=die;superblock.width=die", 1, .97, .92},
        {"superblock.row=die;ftl.alloc=in-order;superblock.width=drive", 1, .97,
         .92},
        /* By planes, victims of one row are of different streams, and a plane
         * that is short of room takes no page of another one. */
        {"superblock.row=die;streams.max=2;ftl.op_percent=60%", 3, .75, .7},
        {"superblock.row=die;streams.max=2;ftl.op_percent=60%;superblock.width="
         "die",
         3, .92, .8},
        {"superblock.row=die;nand.cell=tlc;nand.pages=18;nand.one_shot=on", 1,
         .97, .92},
    };
    Outcome off = measure("", 1);

    g_assert_cmpfloat(off.joined, <, .8);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        Outcome o = measure(rows[i].options, rows[i].streams);

        g_assert_cmpfloat(o.joined, >, rows[i].joined);
        g_assert_cmpfloat(o.filled, >, rows[i].filled);
    }
}

/* Superblock GC has the throughput of GC by planes, and more than that without
 * rows. */
static void test_superblocks(void)
{
    Outcome off = measure("", 1);
    Outcome plane = measure("superblock.row=die", 1);
    Outcome all = measure("superblock.row=die;superblock.width=drive", 1);
    Outcome order = measure("superblock.row=die;ftl.alloc=in-order;"
                            "superblock.width=drive",
                            1);

    g_assert_cmpfloat(all.mb_s, >, off.mb_s);
    g_assert_cmpfloat(order.mb_s, >, off.mb_s);
    g_assert_cmpfloat(all.mb_s, >, .95 * plane.mb_s);
    g_assert_cmpfloat(order.mb_s, >, .9 * plane.mb_s);
}

/* No unit of the host waits for longer than the wait and its program, and no
 * page of copies, but for programs before it. */
static void test_nothing_waits(void)
{
    Ref *r = ref_new(ref_config(EIGHT "superblock.row=4;"
                                      "superblock.row_wait=3ms"),
                     true);
    uint32_t units = r->ssd->l.units_per_program;
    Prng rng;

    prng_seed(&rng, 5, 5);
    for (int i = 0; i < 300; i++) {
        write_some(r, &rng, 1 + prng_below(&rng, 60));
        ref_drain(r);
        ref_pass(r, 40 * MS);
        g_assert_cmpuint(r->ssd->buffer->n_dirty, ==, 0);
        for (uint32_t p = 0; p < r->ssd->l.n_planes; p++) {
            copies_drop_stale(r->ssd, p);
            if (r->ssd->gc->plane[p].n_staged >= units) {
                g_assert_true(copy_rows_wait(r->ssd, p));
                g_assert_cmpuint(r->ssd->gc->row_wait[p].until_ps + 5 * MS_PS,
                                 >, r->ssd->now_ps);
            }
        }
    }
    ref_pass(r, 1000 * MS);
    for (uint32_t p = 0; p < r->ssd->l.n_planes; p++) {
        copies_drop_stale(r->ssd, p);
        g_assert_cmpuint(r->ssd->gc->plane[p].n_staged, <, units);
    }
    ref_finish(r);
    ref_free(r);
}

/* A program fails: its plane is behind, takes a page alone, and is in step. */
static void test_failed_program(void)
{
    g_autofree char *file =
        ref_faults_file("on=program plane=1 nth=3 -> fail once\n");
    g_autofree char *options = g_strconcat(ONE_DIE "faults=", file, NULL);
    Seen s;
    Ref *r = drive(options, &s);

    for (uint64_t i = 0; i < 24; i++) {
        ref_do(r, SSD_OP_WRITE, 4 * i * UNIT, 4 * UNIT, false);
    }
    ref_drain(r);
    ref_pass(r, 100 * MS);
    g_assert_cmpuint(s.n, >, 24);
    g_assert_cmpuint(s.grouped, >=, s.n - 6);
    destroy(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rows/low-load", test_low_load);
    g_test_add_func("/rows/throughput", test_throughput);
    g_test_add_func("/rows/two-dies", test_two_dies);
    g_test_add_func("/rows/wait", test_wait);
    g_test_add_func("/rows/wait-once", test_wait_once);
    g_test_add_func("/rows/wait-trimmed", test_wait_trimmed);
    g_test_add_func("/rows/flush", test_flush);
    g_test_add_func("/rows/flush-pad", test_flush_pad);
    g_test_add_func("/rows/pad-fails", test_pad_fails);
    g_test_add_func("/rows/small-buffer", test_small_buffer);
    g_test_add_func("/rows/failed-program", test_failed_program);
    g_test_add_func("/rows/gc", test_gc);
    g_test_add_func("/rows/superblocks", test_superblocks);
    g_test_add_func("/rows/nothing-waits", test_nothing_waits);
    return g_test_run();
}
