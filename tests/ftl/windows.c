/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows.c - windows of predictable latency (gc/hold.c): what the drive holds
 * back, for how many pages of the host, and what it does between two windows.
 */
#include <string.h>

#include "gc/gc-internal.h"
#include "media/media.h"
#include "media/parity.h"
#include "ref.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "ssd-window.h"

#define SECOND 1000000000ULL
/* 4 planes of 100 blocks with 16 pages; 10 of them are free before a window. */
#define WINDOWS                                                                \
    "nand.blocks=100;nand.pages=16;nand.page_size=16KiB;ftl.unit=4KiB;"        \
    "nand.channels=2;nand.chips=1;nand.dies=2;nand.planes=1;nand.program="     \
    "500us;"                                                                   \
    "nand.read=50us;nand.erase=3ms;ftl.op_percent=40%;buffer.size=256KiB;"     \
    "latency.window=10s;latency.free=10%;"
#define PAGES 16
#define FREE  10

static uint64_t copies(const Ref *r)
{
    const NandStats *n = nand_stats(r->ssd->nand);

    return n->ops[NAND_PROGRAM][NAND_CAUSE_GC] +
           n->ops[NAND_PROGRAM][NAND_CAUSE_WEAR] +
           n->ops[NAND_PROGRAM][NAND_CAUSE_REFRESH];
}

/* Pages that have been taken, whether their programs have ended or not. */
static uint64_t host_programs(const Ref *r)
{
    uint64_t n = nand_stats(r->ssd->nand)->ops[NAND_PROGRAM][NAND_CAUSE_HOST];

    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        n += r->ssd->media->plane[i].host_programs;
    }
    return n - r->ssd->inspect.count.parity_pages;
}

/* Of the pages of a block from that one on, those for data. */
static uint64_t data_pages(const Ref *r, uint32_t plane, uint32_t page)
{
    uint64_t n = 0;

    for (; page < PAGES; page++) {
        n +=
            !parity_is_on(r->ssd) || parity_plane(r->ssd, plane, page) != plane;
    }
    return n;
}

static SsdWindowState state(const Ref *r)
{
    SsdWindowState s;

    ssd_window_state(r->ssd, &s);
    return s;
}

static void set(Ref *r, SsdWindow window)
{
    ssd_set_window(r->ssd, r->now_ns, window);
}

static void write_page(Ref *r, uint64_t page)
{
    uint32_t n = r->info->page_bytes / r->info->block_bytes;

    ref_one(r, SSD_OP_WRITE, page * n % r->info->nblocks, n, false);
}

/* A full drive of which a part has been written again, at random. */
static Ref *used(const char *options)
{
    g_autofree char *all = g_strconcat(WINDOWS, options, NULL);
    Ref *r = ref_new(ref_config(all), true);
    uint64_t pages =
        r->info->nblocks * r->info->block_bytes / r->info->page_bytes;
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (uint64_t i = 0; i < pages; i++) {
        write_page(r, prng_below(&rng, pages));
    }
    ref_pass(r, SECOND);
    return r;
}

static bool rests(const Ref *r)
{
    return nand_load(r->ssd->nand) == 0;
}

/* Between windows every plane gets its free blocks, although the host is
 * never idle for ftl.idle. */
static void test_prepare(void)
{
    Ref *r = used("ftl.idle=1h");

    g_assert_cmpuint(r->ssd->media->plane[0].free.n, <, FREE);
    set(r, SSD_WINDOW_PREPARE);
    for (int i = 0; i < 4000; i++) {
        ref_one(r, SSD_OP_READ, 0, 1, false);
        ref_pass(r, 500000);
    }
    for (uint32_t i = 0; i < r->ssd->l.n_planes; i++) {
        g_assert_cmpuint(r->ssd->media->plane[i].free.n, >=, FREE);
    }
    g_assert_true(rests(r));
    ref_finish(r);
    ref_free(r);
}

/*
 * The closed form of hold.c.  A drive of one plane takes exactly as many pages
 * before the one that ends the hold, and `ahead` that are taken before that
 * one's predecessor is programmed.  With four planes, which skip each other
 * when they are busy, up to two pages of each more or fewer.
 */
static void check_room(const char *options, uint32_t ahead)
{
    Ref *r = used(options);
    uint32_t planes = r->ssd->l.n_planes;
    uint64_t least = UINT64_MAX, began, programs;
    SsdWindowPlan plan;

    set(r, SSD_WINDOW_PREPARE);
    ref_pass(r, 5 * SECOND);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ref_pass(r, SECOND);
    set(r, SSD_WINDOW_HOLD);
    g_assert_true(rests(r));
    began = copies(r);
    programs = host_programs(r);
    for (uint32_t i = 0; i < planes; i++) {
        const Plane *p = &r->ssd->media->plane[i];
        uint64_t left = p->open[0].block == UINT32_MAX
                            ? 0
                            : data_pages(r, i, p->open[0].next_page);

        least = MIN(least, left + (p->free.n - 1 - 1) * data_pages(r, i, 0));
    }
    g_assert_cmpuint(state(r).room_bytes, ==,
                     least * planes * r->info->page_bytes);
    ssd_window_plan(r->ssd, &plan);
    g_assert_cmpuint(plan.write_bytes, ==,
                     (FREE - 1 - 1) * data_pages(r, 0, 0) * planes *
                         r->info->page_bytes);
    g_assert_cmpuint(plan.window_ns, ==, 10 * SECOND);
    for (uint64_t i = 0; state(r).now == SSD_WINDOW_HOLD; i++) {
        g_assert_cmpuint(copies(r), ==, began);
        write_page(r, 3 * i);
        g_assert_cmpuint(i, <, 100000);
    }
    programs = host_programs(r) - programs;
    g_test_message("%" PRIu64 " pages, the closed form says %" PRIu64, programs,
                   least * planes);
    if (planes == 1) {
        g_assert_cmpuint(programs, ==, least + ahead);
    }
    g_assert_cmpuint(programs, >=, least * planes - 2 * (planes - 1));
    g_assert_cmpuint(programs, <=, least * planes + 2 * planes);
    g_assert_cmpint(state(r).end, ==, SSD_WINDOW_END_ROOM);
    g_assert_cmpint(state(r).now, ==, SSD_WINDOW_PREPARE);
    ref_pass(r, 5 * SECOND);
    g_assert_cmpuint(copies(r), >, began);
    ref_finish(r);
    ref_free(r);
}

static void test_room(void)
{
    check_room("nand.channels=1;nand.dies=1;", 1);
    check_room("", 0);
    check_room("superblock.row=4;", 0);
    check_room("superblock.row=2;superblock.width=drive;", 0);
    check_room("superblock.row=4;superblock.width=4;superblock.parity=on;", 0);
}

/* The slowest read beside writes: in a window no copy is before it. */
static uint64_t slowest_ns(Ref *r)
{
    uint64_t pages =
        r->info->nblocks * r->info->block_bytes / r->info->page_bytes;
    uint32_t n = r->info->page_bytes / r->info->block_bytes;
    uint64_t worst = 0;
    Prng rng;

    prng_seed(&rng, 2, 2);
    for (int i = 0; i < 400; i++) {
        SsdCompletion c;

        write_page(r, prng_below(&rng, pages));
        c = ref_one(r, SSD_OP_READ, prng_below(&rng, pages) * n, 1, false);
        worst = MAX(worst, c.complete_ns - c.submit_ns);
        ref_pass(r, 700000);
    }
    return worst;
}

static void test_latency(void)
{
    Ref *r = used("nand.lock=die");
    uint64_t held, prepared;

    set(r, SSD_WINDOW_PREPARE);
    ref_pass(r, 5 * SECOND);
    set(r, SSD_WINDOW_HOLD);
    held = slowest_ns(r);
    g_assert_cmpint(state(r).now, ==, SSD_WINDOW_HOLD);
    set(r, SSD_WINDOW_PREPARE);
    prepared = slowest_ns(r);
    g_test_message("slowest read: %" PRIu64 " us in a window, %" PRIu64
                   " us between windows",
                   held / 1000, prepared / 1000);
    /* At most two programs of the host in the die; outside, an erase, too. */
    g_assert_cmpuint(held, <, 1300000);
    g_assert_cmpuint(prepared, >, 3000000);
    ref_finish(r);
    ref_free(r);
}

/* Copies under way end; the rest waits, and goes on afterwards. */
static void under_way(const char *options)
{
    Ref *r = used(options);
    uint64_t before;

    set(r, SSD_WINDOW_PREPARE);
    ref_pass(r, 20000000);
    g_assert_false(rests(r));
    set(r, SSD_WINDOW_HOLD);
    ref_pass(r, 20000000); /* more than a program and an erase */
    g_assert_true(rests(r));
    before = copies(r);
    ref_pass(r, 5 * SECOND);
    g_assert_cmpuint(copies(r), ==, before);
    ref_verify(r);
    set(r, SSD_WINDOW_NONE);
    ref_pass(r, SECOND);
    set(r, SSD_WINDOW_PREPARE);
    ref_pass(r, SECOND);
    g_assert_cmpuint(copies(r), >, before);
    ref_finish(r);
    ref_free(r);
}

static void test_under_way(void)
{
    under_way("");
    under_way("superblock.row=4;superblock.width=drive;");
}

/* Periodic flushes, rows, refresh and wear levelling wait, too. */
static void others(const char *more)
{
    g_autofree char *options =
        g_strconcat("media.errors=on;ftl.refresh_reads=1;ftl.scan_interval=1s;"
                    "ftl.wear=static;ftl.wear_spread=1;",
                    more, NULL);
    Ref *r = used(options);
    uint64_t before, programs;

    set(r, SSD_WINDOW_PREPARE);
    ref_pass(r, 5 * SECOND);
    set(r, SSD_WINDOW_HOLD);
    ref_pass(r, SECOND);
    before = copies(r);
    programs = host_programs(r);
    for (int i = 0; i < 3000; i++) {
        ref_one(r, SSD_OP_READ, 0, 1, false);
    }
    ref_one(r, SSD_OP_WRITE, 0, 1, false);
    ref_pass(r, 3 * SECOND);
    g_assert_cmpuint(copies(r), ==, before);
    g_assert_cmpuint(host_programs(r), ==, programs);
    g_assert_cmpint(state(r).now, ==, SSD_WINDOW_HOLD);
    set(r, SSD_WINDOW_PREPARE);
    ref_pass(r, 3 * SECOND);
    g_assert_cmpuint(host_programs(r), ==, programs + 1);
    ref_finish(r);
    ref_free(r);
}

static void test_others(void)
{
    others("buffer.flush_interval=10ms");
    others("superblock.row=4;superblock.row_wait=5ms");
}

/* A power cut ends the window; a saved drive goes on with it. */
static void test_power(void)
{
    Ref *r = used("");

    set(r, SSD_WINDOW_HOLD);
    r->replace_permille = 1000;
    for (int i = 0; i < 20; i++) {
        ref_one(r, SSD_OP_READ, 0, 1, false);
        ref_pass(r, 10000000);
    }
    g_assert_cmpuint(r->n_cloned + r->n_loaded, >, 0);
    g_assert_cmpint(state(r).now, ==, SSD_WINDOW_HOLD);
    ref_power_cycle(r);
    g_assert_cmpint(state(r).now, ==, SSD_WINDOW_NONE);
    ref_finish(r);
    ref_free(r);
}

static void refused(const char *options, const char *why)
{
    g_autoptr(GError) error = NULL;
    SsdConfig *cfg = ref_config(options);

    g_assert_null(ssd_create(cfg, NULL, NULL, &error));
    g_assert_cmpstr(error->message, ==, why);
    ssd_config_free(cfg);
}

static void test_refused(void)
{
    refused(WINDOWS "ftl.map=fast", "latency.window: needs ftl.map=page or "
                                    "dftl");
    refused(WINDOWS "latency.window=10us",
            "latency.window=10000ns: allowed 0 or 1ms..1h");
    refused(WINDOWS "latency.free=3%",
            "latency.free=3%: 3 free blocks per plane, a window needs at least "
            "4");
    refused(WINDOWS "latency.free=60%",
            "latency.free: 60 free blocks per plane, at most 13 can be kept "
            "free with ftl.op_percent=40");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/windows/prepare", test_prepare);
    g_test_add_func("/windows/room", test_room);
    g_test_add_func("/windows/latency", test_latency);
    g_test_add_func("/windows/under-way", test_under_way);
    g_test_add_func("/windows/others", test_others);
    g_test_add_func("/windows/power", test_power);
    g_test_add_func("/windows/refused", test_refused);
    return g_test_run();
}
