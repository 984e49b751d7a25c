/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-features.c - each feature of the array against a closed form, worked
 * out by hand and exact to the nanosecond.
 *
 * Times are those of rig-features.h.  The order in which operations use dies
 * and channels is in nand-sharing.c.
 */
#include "rig-features.h"

/* ---- registers ----------------------------------------------------------- */

/* The page that the plane has read last takes no tR; a program, an erase or
 * another page in between takes its place. */
static void test_register_hits(void)
{
    Rig *r = rig_with("nand.register_hits=on");
    const uint64_t hit = C + X;
    const uint64_t miss = C + TR + X;
    uint64_t at = 0;
    static const struct {
        NandOpKind kind;
        uint32_t plane, block, page;
        bool hit;
    } op[] = {
        {NAND_READ, 0, 0, 0, false},    {NAND_READ, 0, 0, 0, true},
        {NAND_READ, 1, 0, 0, false},    {NAND_READ, 0, 0, 0, true},
        {NAND_READ, 0, 0, 1, false},    {NAND_READ, 0, 0, 0, false},
        {NAND_PROGRAM, 0, 1, 0, false}, {NAND_READ, 0, 0, 0, false},
        {NAND_ERASE, 0, 2, 0, false},   {NAND_READ, 0, 0, 0, false},
        {NAND_READ, 0, 0, 0, true},
    };

    rig_preload(r, 0, 0, 2);
    rig_preload(r, 1, 0, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(op); i++) {
        uint32_t page = rig_page(r, op[i].plane, op[i].block, op[i].page);

        rig_submit(r, at, op[i].kind, page, PAGE);
        rig_run_all(r);
        if (op[i].kind == NAND_READ) {
            g_assert_cmpuint(r->done_ps[i], ==,
                             (at + (op[i].hit ? hit : miss)) * PS_PER_NS);
            g_assert_cmpuint(r->done[i].in_register, ==, op[i].hit);
        }
        at = r->done_ps[i] / PS_PER_NS;
    }
    finish(r);
}

/* ---- interface cycles ---------------------------------------------------- */

/*
 * NV-DDR3 at 800 MT/s: tWC 25, tADL 150, tWB 100, tRR 20, bursts of 15 + 27 and
 * 16384 x 1.25 = 20480 ns.  Read: 7 tWC, tWB + tR, tRR + burst.  Program: 7 tWC +
 * tADL + burst, tWB + tPROG.  Erase: 5 tWC, tWB + tBERS.
 */
static void test_cycles(void)
{
    const uint64_t burst = 15 + 27 + 20480;
    Rig *r = rig_with("nand.interface=nv-ddr3");

    rig_preload(r, 0, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 4, 0, 0), 0);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0),
                7 * 25 + 100 + TR + 20 + burst);
    /* Plane 2 shares the channel: its command waits for the read's. */
    expect_done(r, NAND_PROGRAM, rig_page(r, 2, 0, 0),
                7 * 25 + 7 * 25 + 150 + burst + 100 + TPROG);
    expect_done(r, NAND_ERASE, rig_page(r, 4, 0, 0), 5 * 25 + 100 + TBERS);
    finish(r);
}

/* A status read: tWC + tWHR + burst ends + one transfer of 1.25 ns. */
static void test_status(void)
{
    const uint64_t status_ps = (25 + 80 + 15 + 27) * PS_PER_NS + 1250;
    Rig *r = rig_with("nand.interface=nv-ddr3;nand.status_poll=on");

    rig_submit(r, 0, NAND_ERASE, rig_page(r, 4, 0, 0), 0);
    rig_run_all(r);
    g_assert_cmpuint(done_ps(r, NAND_ERASE, rig_page(r, 4, 0, 0)), ==,
                     (5 * 25 + 100 + TBERS) * PS_PER_NS + status_ps);
    finish(r);
}

/* 16 bits at a time: half the data time. */
static void test_width(void)
{
    Rig *r = rig_with("nand.bus_width=16");

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), C + X / 2 + TPROG);
    finish(r);
}

/* Every interface preset, one read: faster interfaces are faster. */
static void test_interfaces(void)
{
    static const char *const names[] = {"sdr", "nv-ddr", "nv-ddr2", "nv-ddr3",
                                        "nv-lpddr4"};
    uint64_t last_ps = UINT64_MAX;

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *option = g_strdup_printf("nand.interface=%s",
                                                  names[i]);
        Rig *r = rig_with(option);

        rig_preload(r, 0, 0, 1);
        rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
        rig_run_all(r);
        g_assert_cmpuint(r->done_ps[0], <, last_ps);
        last_ps = r->done_ps[0];
        finish(r);
    }
}

/* ---- page types ---------------------------------------------------------- */

static void test_page_types(void)
{
    Rig *r = rig_with("nand.cell=tlc;nand.pages=6;nand.read_2=70us;"
                      "nand.read_3=90us;nand.program_3=900us");

    rig_preload(r, 0, 0, 6);
    for (uint32_t p = 0; p < 6; p++) {
        const uint64_t tr[] = {TR, 70000, 90000};
        uint32_t page = rig_page(r, 0, 0, p);
        uint64_t start_ns = p * 10000000ULL;

        rig_submit(r, start_ns, NAND_READ, page, PAGE);
        rig_run(r, start_ns + 9000000);
        expect_done(r, NAND_READ, page, start_ns + C + tr[p % 3] + X);
    }
    rig_preload(r, 1, 0, 2);
    rig_submit(r, 100000000, NAND_PROGRAM, rig_page(r, 1, 0, 2), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 1, 0, 2),
                100000000 + C + X + 900000);
    finish(r);
}

/* A TLC word line at once: three loads, one tPROG; the block's next page is 3. */
static void test_one_shot(void)
{
    Rig *r = rig_with("nand.cell=tlc;nand.one_shot=on;nand.pages=12");

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    g_assert_cmpuint(nand_next_page(r->nand, 0), ==, 3);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), 3 * (C + X) + TPROG);
    finish(r);
}

/* A block in SLC mode: a third of the pages, in times of its own. */
static void test_slc_mode(void)
{
    Rig *r = rig_with("nand.cell=tlc;nand.one_shot=on;nand.pages=12;"
                      "nand.slc_blocks=2;nand.slc_program=100us;"
                      "nand.slc_read=20us");
    const NandGeometry *g = nand_geometry(r->nand);

    g_assert_cmpuint(nand_block_pages(g, 1), ==, 4);
    g_assert_cmpuint(nand_block_pages(g, 2), ==, 12);
    for (uint32_t p = 0; p < 4; p++) {
        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 1, p), PAGE);
    }
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 1, 3), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 1, 3), 4 * (C + X + 100000));
    expect_done(r, NAND_READ, rig_page(r, 0, 1, 3),
                4 * (C + X + 100000) + C + 20000 + X);
    finish(r);
}

static void slc_page_too_many(void)
{
    Rig *r = rig_with("nand.cell=tlc;nand.pages=12;nand.slc_blocks=2");

    rig_preload(r, 0, 1, 4);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 1, 4), PAGE);
}

static void test_slc_pages(void)
{
    if (g_test_subprocess()) {
        slc_page_too_many();
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*in order*");
}

/* ---- multi-plane --------------------------------------------------------- */

/* Commands with tDBSY between, one tR, then the pages one after the other. */
static void test_multi_plane_read(void)
{
    Rig *r = rig_with("nand.multi_plane=on");
    uint64_t t0 = busy_die(r);
    uint64_t ready = t0 + C + TDBSY + C + TR;

    rig_preload(r, 0, 0, 1);
    rig_preload(r, 1, 3, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 1, 3, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), ready + X);
    expect_done(r, NAND_READ, rig_page(r, 1, 3, 0), ready + 2 * X);
    g_assert_cmpuint(nand_stats(r->nand)->multi_plane, ==, 1);
    finish(r);
}

/* Page 0 and page 1 share a command only if planes read independently. */
static void test_page_offset_rule(void)
{
    for (int independent = 0; independent <= 1; independent++) {
        Rig *r = rig_with(independent
                              ? "nand.multi_plane=on;nand.independent_reads=on"
                              : "nand.multi_plane=on");
        uint64_t t0 = busy_die(r);

        rig_preload(r, 0, 0, 1);
        rig_preload(r, 1, 3, 2);
        rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
        rig_submit(r, 0, NAND_READ, rig_page(r, 1, 3, 1), PAGE);
        rig_run_all(r);
        expect_done(r, NAND_READ, rig_page(r, 1, 3, 1),
                    independent ? t0 + C + TDBSY + C + TR + 2 * X
                                : t0 + 2 * (C + TR + X));
        finish(r);
    }
}

static void test_multi_plane_program(void)
{
    Rig *r = rig_with("nand.multi_plane=on");
    uint64_t end = busy_die(r) + 2 * (C + X) + TDBSY + TPROG;

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 1, 0, 0), end);
    finish(r);
}

static void test_multi_plane_erase(void)
{
    Rig *r = rig_with("nand.multi_plane=on");
    uint64_t end = busy_die(r) + 2 * C + TDBSY + TBERS;

    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 2, 0), 0);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 1, 5, 0), 0);
    rig_run_all(r);
    expect_done(r, NAND_ERASE, rig_page(r, 0, 2, 0), end);
    expect_done(r, NAND_ERASE, rig_page(r, 1, 5, 0), end);
    finish(r);
}

/* ---- cache operations, copyback ------------------------------------------ */

/* The second page loads while the first is programmed; tCBSY between. */
static void test_cache_program(void)
{
    Rig *r = rig_with("nand.cache_program=on");
    uint64_t first = C + X + TPROG;

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 1), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 2), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), first);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1), first + TCBSY + TPROG);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 2),
                first + 2 * (TCBSY + TPROG));
    g_assert_cmpuint(nand_stats(r->nand)->cached, ==, 2);
    finish(r);
}

/* A load that takes longer than tPROG: the array waits for the data. */
static void test_cache_program_slow_bus(void)
{
    Rig *r = rig_with("nand.cache_program=on;nand.program=10us");

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1), 2 * (C + X) + 10000);
    finish(r);
}

/*
 * The second command goes out before the first one's data, and the array reads
 * on (tCBSY, tR = 51000) while the data (X = 40960) leaves.
 */
static void test_cache_read(void)
{
    Rig *r = rig_with("nand.cache_read=on");

    rig_preload(r, 0, 0, 2);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), C + TR + C + X);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 1),
                C + TR + C + TCBSY + TR + X);
    finish(r);
}

/* Data that takes longer than tR: the bus never rests. */
static void test_cache_read_slow_bus(void)
{
    Rig *r = rig_with("nand.cache_read=on;nand.read=5us");
    uint64_t first = C + 5000 + C + X;

    rig_preload(r, 0, 0, 2);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), first);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 1), first + X);
    finish(r);
}

/* No data crosses the bus. */
static void test_copyback(void)
{
    Rig *r = rig_with("nand.copyback=on");

    rig_preload(r, 0, 0, 1);
    submit_as(r, 0, NAND_COPYBACK, NAND_CAUSE_GC, rig_page(r, 0, 4, 0),
              rig_page(r, 0, 0, 0));
    rig_run_all(r);
    expect_done(r, NAND_COPYBACK, rig_page(r, 0, 4, 0), C + TR + C + TPROG);
    g_assert_cmpuint(nand_next_page(r->nand, 4), ==, 1);
    finish(r);
}

/* ---- suspend ------------------------------------------------------------- */

#define SUSPEND "nand.suspend=both;nand.suspend_time=20us;" \
                "nand.resume_time=10us;nand.suspend_min_run=50us;"

/* The read waits tESPD; the erase ends later by all of that and tRESUME. */
static void test_suspend(void)
{
    Rig *r = rig_with(SUSPEND "nand.suspend_limit=1");
    const uint64_t t = 1000000;
    uint64_t read_end = t + 20000 + C + TR + X;
    uint64_t left = C + TBERS - t;

    rig_preload(r, 1, 0, 2);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 2, 0), 0);
    rig_run(r, t);
    rig_submit(r, t, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run(r, read_end + 60000);
    /* The limit is used up: the second read waits for the end. */
    rig_submit(r, read_end + 60000, NAND_READ, rig_page(r, 1, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), read_end);
    expect_done(r, NAND_ERASE, rig_page(r, 0, 2, 0), read_end + left + 10000);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 1),
                read_end + left + 10000 + C + TR + X);
    g_assert_cmpuint(nand_stats(r->nand)->suspends, ==, 1);
    finish(r);
}

/* A read that comes 10 us after the start waits until 50 us have passed. */
static void test_suspend_min_run(void)
{
    Rig *r = rig_with(SUSPEND "nand.suspend_limit=4");
    uint64_t start = C + X;

    rig_preload(r, 1, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run(r, start + 10000);
    rig_submit(r, start + 10000, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0),
                start + 50000 + 20000 + C + TR + X);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0),
                start + TPROG + 20000 + C + TR + X + 10000);
    finish(r);
}

/* What would be done before it could be suspended is not. */
static void test_suspend_not_worth(void)
{
    Rig *r = rig_with(SUSPEND "nand.suspend_limit=4");
    uint64_t end = C + X + TPROG;

    rig_preload(r, 1, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run(r, end - 20000);
    rig_submit(r, end - 20000, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), end);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), end + C + TR + X);
    finish(r);
}

/* nand.suspend=erase leaves programs alone. */
static void test_suspend_kind(void)
{
    Rig *r = rig_with("nand.suspend=erase;nand.suspend_min_run=0");

    rig_preload(r, 1, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run(r, 100000);
    rig_submit(r, 100000, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), C + X + TPROG);
    finish(r);
}

/* With the host first, a read of GC waits for the program. */
static void test_suspend_for_host(void)
{
    Rig *r = rig_with(SUSPEND "nand.schedule=host-first");

    rig_preload(r, 1, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run(r, 100000);
    submit_as(r, 100000, NAND_READ, NAND_CAUSE_GC, rig_page(r, 1, 0, 0), 0);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), C + X + TPROG);
    g_assert_cmpuint(nand_stats(r->nand)->suspends, ==, 0);
    finish(r);
}

/* A read of the block that is being programmed suspends the program, and goes
 * before another one that waits for the block. */
static void test_suspend_same_block(void)
{
    Rig *r = rig_with(SUSPEND "nand.suspend_limit=4");
    const uint64_t t = 200000;
    uint64_t read_end = t + 20000 + C + TR + X;
    uint64_t end = C + X + TPROG + (read_end - t) + 10000;

    r->check = true;
    rig_preload(r, 0, 0, 1);
    for (uint32_t i = 1; i < 3; i++) {
        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, i), PAGE);
    }
    rig_run(r, t);
    rig_submit(r, t, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), read_end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1), end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 2), end + C + X + TPROG);
    finish(r);
}

/* A read of the word line that is being programmed, or that is to be, waits. */
static void test_suspend_same_word_line(void)
{
    Rig *r = rig_with(SUSPEND "nand.suspend_limit=4;nand.cell=mlc;"
                              "nand.schedule=read-first");
    const uint64_t t = 200000;
    uint64_t end = C + X + TPROG;

    r->check = true;
    rig_preload(r, 0, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 1), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 2), PAGE);
    rig_run(r, t);
    rig_submit(r, t, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1), end);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), end + C + TR + X);
    rig_submit(r, r->now_ps / PS_PER_NS, NAND_PROGRAM, rig_page(r, 0, 0, 3),
               PAGE);
    rig_submit(r, r->now_ps / PS_PER_NS, NAND_READ, rig_page(r, 0, 0, 3), PAGE);
    rig_run_all(r);
    g_assert_cmpuint(done_ps(r, NAND_READ, rig_page(r, 0, 0, 3)), ==,
                     done_ps(r, NAND_PROGRAM, rig_page(r, 0, 0, 3)) +
                         (C + TR + X) * PS_PER_NS);
    g_assert_cmpuint(nand_stats(r->nand)->suspends, ==, 0);
    finish(r);
}

/* A read comes too late to suspend the program in the array; it suspends the
 * one that was loaded behind it. */
static void test_suspend_loaded(void)
{
    Rig *r = rig_with(SUSPEND "nand.cache_program=on");
    uint64_t end = C + X + TPROG;
    uint64_t read_end = end + 50000 + 20000 + C + TR + X;

    r->check = true;
    rig_preload(r, 1, 0, 1);
    for (uint32_t i = 0; i < 2; i++) {
        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, i), PAGE);
    }
    rig_run(r, end - 20000);
    rig_submit(r, end - 20000, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), end);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), read_end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1),
                read_end + TCBSY + TPROG - 50000 + 10000);
    g_assert_cmpuint(nand_stats(r->nand)->suspends, ==, 1);
    finish(r);
}

static bool may_after_first(void *opaque, uint64_t now_ps)
{
    (void)opaque;
    return now_ps > (C + TBERS) * PS_PER_NS;
}

/* A read that the owner does not allow to suspend waits for the end; another
 * operation may be suspended later. */
static void test_suspend_not_allowed(void)
{
    Rig *r = rig_with(SUSPEND "nand.suspend_limit=4");
    uint64_t end = C + TBERS;
    uint64_t second = end + C + TR + X;
    uint64_t t = second + C + 100000;

    rig_preload(r, 1, 0, 2);
    nand_on_suspend(r->nand, may_after_first);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 2, 0), 0);
    rig_run(r, 1000000);
    rig_submit(r, 1000000, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run(r, second);
    expect_done(r, NAND_ERASE, rig_page(r, 0, 2, 0), end);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), second);
    rig_submit(r, second, NAND_ERASE, rig_page(r, 0, 3, 0), 0);
    rig_run(r, t);
    rig_submit(r, t, NAND_READ, rig_page(r, 1, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 1), t + 20000 + C + TR + X);
    g_assert_cmpuint(nand_stats(r->nand)->suspends, ==, 1);
    finish(r);
}

/* Cache program: the one in the array stops for the read, the one that has been
 * loaded behind it stays in the die and follows. */
static void test_suspend_cache_program(void)
{
    Rig *r = rig_with(SUSPEND "nand.cache_program=on");
    const uint64_t t = 200000;
    uint64_t read_end = t + 20000 + C + TR + X;
    uint64_t end = read_end + (C + X + TPROG - t) + 10000;

    r->check = true;
    rig_preload(r, 1, 0, 1);
    for (uint32_t i = 0; i < 3; i++) {
        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, i), PAGE);
    }
    rig_run(r, t);
    rig_submit(r, t, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), read_end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1), end + TCBSY + TPROG);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 2),
                end + 2 * (TCBSY + TPROG));
    g_assert_cmpuint(nand_stats(r->nand)->suspends, ==, 1);
    finish(r);
}

/* The same while the second page crosses the bus: the read's command follows. */
static void test_suspend_while_loading(void)
{
    Rig *r = rig_with("nand.suspend=program;nand.suspend_time=20us;"
                      "nand.resume_time=10us;nand.suspend_min_run=0;"
                      "nand.cache_program=on");
    const uint64_t t = C + X + 5000;
    uint64_t read_end = 2 * (C + X) + C + TR + X;
    uint64_t end = read_end + (C + X + TPROG - t) + 10000;

    r->check = true;
    rig_preload(r, 1, 0, 1);
    for (uint32_t i = 0; i < 2; i++) {
        rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, i), PAGE);
    }
    rig_run(r, t);
    rig_submit(r, t, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), read_end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), end);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 1), end + TCBSY + TPROG);
    finish(r);
}

/* ---- ECC ----------------------------------------------------------------- */

/*
 * Codewords of 2 KiB cross the bus in 5120 ns.  A decoder that is faster adds
 * the last codeword; a slower one starts with the first and takes eight times
 * its time.
 */
static void test_ecc(void)
{
    const uint64_t out_end = C + TR + X;
    Rig *r = rig_with("nand.ecc_decode=1us");

    rig_preload(r, 0, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), out_end + 1000);
    finish(r);

    r = rig_with("nand.ecc_decode=10us");
    rig_preload(r, 0, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0),
                out_end - (X - 5120) + 8 * 10000);
    finish(r);
}

/* The decoder of a channel has the second page only when it is done with the
 * first, and the die is free meanwhile. */
static void test_ecc_shared(void)
{
    Rig *r = rig_with("nand.ecc_decode=20us");
    uint64_t first = C + TR + 5120 + 8 * 20000;

    rig_preload(r, 0, 0, 1);
    rig_preload(r, 2, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 2, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), first);
    expect_done(r, NAND_READ, rig_page(r, 2, 0, 0), first + 8 * 20000);
    g_assert_cmpuint(nand_die_busy_ps(r->nand, 0, r->now_ps), ==,
                     (C + TR + X) * PS_PER_NS);
    finish(r);
}

/* ---- options ------------------------------------------------------------- */

static void check_refused(const char *options, const char *name)
{
    g_auto(GStrv) parts = g_strsplit(options, ";", -1);
    GError *error = NULL;
    NandConfig cfg;
    bool ok = true;

    rig_config(&cfg);
    for (char **p = parts; *p && ok; p++) {
        g_auto(GStrv) kv = g_strsplit(*p, "=", 2);

        ok = opt_set(&cfg, opt_find(nand_options, nand_n_options, kv[0]), kv[1],
                     &error);
    }
    ok = ok && nand_config_check(&cfg, &error);
    g_assert_false(ok);
    g_assert_nonnull(strstr(error->message, name));
    g_error_free(error);
}

static void test_combinations(void)
{
    check_refused("nand.multi_plane=on;nand.planes=1", "nand.multi_plane");
    check_refused("nand.multi_plane=on;nand.lock=plane", "nand.multi_plane");
    check_refused("nand.independent_reads=on", "nand.independent_reads");
    check_refused("nand.async_reads=on;nand.lock=chip", "nand.async_reads");
    check_refused("nand.async_reads=on;nand.planes=1", "nand.async_reads");
    check_refused("nand.cache_program=on;nand.registers=1",
                  "nand.cache_program");
    check_refused("nand.cache_read=on;nand.registers=1", "nand.cache_read");
    check_refused("nand.suspend_limit=0", "nand.suspend_limit=0");
    check_refused("nand.slc_blocks=1", "nand.slc_blocks");
    check_refused("nand.slc_blocks=1;nand.cell=tlc", "nand.slc_blocks");
    check_refused("nand.slc_blocks=16;nand.cell=mlc;nand.pages=8",
                  "nand.slc_blocks");
    check_refused("nand.one_shot=on;nand.cell=tlc", "nand.one_shot");
    check_refused("nand.one_shot=on;nand.copyback=on", "nand.copyback");
    check_refused("nand.status_poll=on", "nand.status_poll");
    check_refused("nand.bus_width=12", "nand.bus_width");
    check_refused("nand.ecc_codeword=3000", "nand.ecc_codeword");
    check_refused("nand.ecc_codeword=16KiB;nand.page_size=4KiB",
                  "nand.ecc_codeword");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/features/cycles", test_cycles);
    g_test_add_func("/features/status", test_status);
    g_test_add_func("/features/width", test_width);
    g_test_add_func("/features/interfaces", test_interfaces);
    g_test_add_func("/features/page-types", test_page_types);
    g_test_add_func("/features/one-shot", test_one_shot);
    g_test_add_func("/features/slc-mode", test_slc_mode);
    g_test_add_func("/features/slc-mode/pages", test_slc_pages);
    g_test_add_func("/features/multi-plane/read", test_multi_plane_read);
    g_test_add_func("/features/multi-plane/page-offset", test_page_offset_rule);
    g_test_add_func("/features/multi-plane/program", test_multi_plane_program);
    g_test_add_func("/features/multi-plane/erase", test_multi_plane_erase);
    g_test_add_func("/features/cache/program", test_cache_program);
    g_test_add_func("/features/cache/program-slow-bus",
                    test_cache_program_slow_bus);
    g_test_add_func("/features/cache/read", test_cache_read);
    g_test_add_func("/features/cache/read-slow-bus", test_cache_read_slow_bus);
    g_test_add_func("/features/register-hits", test_register_hits);
    g_test_add_func("/features/copyback", test_copyback);
    g_test_add_func("/features/suspend", test_suspend);
    g_test_add_func("/features/suspend/min-run", test_suspend_min_run);
    g_test_add_func("/features/suspend/not-worth", test_suspend_not_worth);
    g_test_add_func("/features/suspend/kind", test_suspend_kind);
    g_test_add_func("/features/suspend/for-host", test_suspend_for_host);
    g_test_add_func("/features/suspend/same-block", test_suspend_same_block);
    g_test_add_func("/features/suspend/same-word-line",
                    test_suspend_same_word_line);
    g_test_add_func("/features/suspend/loaded", test_suspend_loaded);
    g_test_add_func("/features/suspend/not-allowed", test_suspend_not_allowed);
    g_test_add_func("/features/suspend/cache-program",
                    test_suspend_cache_program);
    g_test_add_func("/features/suspend/while-loading",
                    test_suspend_while_loading);
    g_test_add_func("/features/ecc", test_ecc);
    g_test_add_func("/features/ecc/shared", test_ecc_shared);
    g_test_add_func("/features/combinations", test_combinations);
    return g_test_run();
}
