/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-sharing.c - operations that need the same die or channel: which is
 * first, and when each ends, worked out by hand and exact to the nanosecond.
 *
 * Times are those of rig-features.h.
 */
#include "rig-features.h"

/* ---- arbitration of a channel -------------------------------------------- */

/* Submit; with more, another plane of the same command follows. */
static void submit_more(Rig *r, uint32_t page, bool more)
{
    NandOp op = {
        .kind = NAND_READ,
        .cause = NAND_CAUSE_HOST,
        .ppa = {page},
        .bytes = PAGE,
        .more = more,
    };

    nand_submit(r->nand, &op, 0);
}

/*
 * Two dies of a channel, two planes each, all reads waiting.  A command is K =
 * 2 C + tDBSY, and its data 2 X.  With nand.arbitration=group the channel rests
 * only during the first tR, and there while the second die's command is sent: n
 * commands end at n (K + 2 X) + tR - K, and the channel works for n (K + 2 X).
 */
static void test_arbitration(void)
{
    const uint64_t n = 8;
    const uint64_t k = 2 * C + TDBSY;
    Rig *r = rig_with("nand.multi_plane=on;nand.arbitration=group;"
                      "nand.independent_reads=on");
    Rig *phase = rig_with("nand.multi_plane=on;nand.independent_reads=on");

    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t plane = i % 4;

        if (i < 4) {
            rig_preload(r, plane, 0, 4);
            rig_preload(phase, plane, 0, 4);
        }
        submit_more(r, rig_page(r, plane, 0, i / 4), plane % 2 == 0);
        submit_more(phase, rig_page(phase, plane, 0, i / 4), plane % 2 == 0);
    }
    rig_run_all(r);
    rig_run_all(phase);
    g_assert_cmpuint(nand_stats(r->nand)->multi_plane, ==, n);
    g_assert_cmpuint(r->now_ps, ==, (n * (k + 2 * X) + TR - k) * PS_PER_NS);
    g_assert_cmpuint(rig_bus_busy_ps(r), ==, n * (k + 2 * X) * PS_PER_NS);
    /* Phase by phase, the dies end together and then read together. */
    g_assert_cmpuint(phase->now_ps, >,
                     (n * 2 * X + n / 2 * (TR - k)) * PS_PER_NS);
    finish(r);
    finish(phase);
}

/*
 * A program of one die and the data of a read of another wait for the channel:
 * the policy says which is first, whichever came first.
 */
static void test_channel_classes(void)
{
    static const struct {
        const char *schedule;
        uint64_t read, program; /* after the channel is free */
    } rows[] = {
        {"fifo", C + X + X, C + X + TPROG},
        {"read-first", X, X + C + X + TPROG},
        {"host-first", X, X + C + X + TPROG},
    };
    const uint64_t free = C + TR + X;

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *options =
            g_strdup_printf("nand.chips=4;nand.schedule=%s", rows[i].schedule);
        Rig *r = rig_with(options);

        rig_preload(r, 0, 0, 1);
        rig_preload(r, 4, 0, 1);
        rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
        rig_run(r, 300);
        rig_submit(r, 300, NAND_READ, rig_page(r, 4, 0, 0), PAGE);
        rig_run(r, C + TR + 100); /* the first read sends its data */
        rig_submit(r, C + TR + 100, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
        rig_run_all(r);
        expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), free);
        expect_done(r, NAND_READ, rig_page(r, 4, 0, 0), free + rows[i].read);
        expect_done(r, NAND_PROGRAM, rig_page(r, 2, 0, 0),
                    free + rows[i].program);
        finish(r);
    }
}

/* ---- asynchronous plane reads -------------------------------------------- */

/* Each plane reads when it is asked to; the bus is one. */
static void test_async_reads(void)
{
    Rig *r = rig_with("nand.async_reads=on");
    uint64_t first = C + TR + X;

    rig_preload(r, 0, 0, 2);
    rig_preload(r, 1, 3, 2);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 1), PAGE);
    rig_run(r, 10000);
    rig_submit(r, 10000, NAND_READ, rig_page(r, 1, 3, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), first);
    expect_done(r, NAND_READ, rig_page(r, 1, 3, 1), first + C + X);
    /* The plane's next read ran in the array meanwhile; its command went before
     * the other plane's data. */
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 1), first + C + TR + X);
    g_assert_cmpuint(nand_stats(r->nand)->multi_plane, ==, 0);
    finish(r);
}

/* The bus is the bottleneck of a die with k planes if tR + C is no longer than
 * the data of the other planes: a round of the planes takes k (C + X). */
static void test_async_reads_rate(void)
{
    Rig *r = rig_with("nand.async_reads=on;nand.read=20us");
    const uint64_t n = 16; /* reads of each plane */

    for (uint32_t plane = 0; plane < 2; plane++) {
        for (uint32_t block = 0; block < n / 4; block++) {
            rig_preload(r, plane, block, 4);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t plane = 0; plane < 2; plane++) {
            rig_submit(r, 0, NAND_READ, rig_page(r, plane, i / 4, i % 4), PAGE);
        }
    }
    rig_run_all(r);
    /* The bus rests only during the first tR, less the other command. */
    g_assert_cmpuint(r->now_ps, ==, (2 * n * (C + X) + 20000 - C) * PS_PER_NS);
    finish(r);
}

/* A program waits for the reads of all planes, and keeps all planes from
 * reading; programs of two planes are one command. */
static void test_async_reads_program(void)
{
    Rig *r = rig_with("nand.async_reads=on;nand.multi_plane=on");
    uint64_t left = C + TR + 2 * X;
    uint64_t ends = left + 2 * (C + X) + TDBSY + TPROG;

    rig_preload(r, 0, 0, 2);
    rig_preload(r, 1, 3, 2);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 1, 3, 1), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 7, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 1, 7, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 0), C + TR + X);
    expect_done(r, NAND_READ, rig_page(r, 1, 3, 1), left);
    expect_done(r, NAND_PROGRAM, rig_page(r, 0, 7, 0), ends);
    expect_done(r, NAND_PROGRAM, rig_page(r, 1, 7, 0), ends);
    expect_done(r, NAND_READ, rig_page(r, 0, 0, 1), ends + C + TR + X);
    finish(r);
}

/* ---- locks --------------------------------------------------------------- */

/* Two reads on the planes of a die, or on the dies of a chip. */
static void test_lock(void)
{
    const uint64_t one = C + TR + X;
    const struct {
        const char *options;
        uint32_t second_plane;
        uint64_t done_ns;
    } rows[] = {
        {"nand.lock=die", 1, 2 * one},
        {"nand.lock=plane", 1, one + X}, /* both cells at once, one bus */
        {"nand.lock=die;nand.dies=2", 2, one + X},
        {"nand.lock=chip;nand.dies=2", 2, 2 * one},
        {"nand.lock=chip;nand.dies=2", 4, one + X}, /* the other chip */
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        Rig *r = rig_with(rows[i].options);
        uint32_t second = rig_page(r, rows[i].second_plane, 0, 0);

        rig_preload(r, 0, 0, 1);
        rig_preload(r, rows[i].second_plane, 0, 1);
        rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
        rig_submit(r, 0, NAND_READ, second, PAGE);
        rig_run_all(r);
        expect_done(r, NAND_READ, second, rows[i].done_ns);
        finish(r);
    }
}

/* ---- scheduling ---------------------------------------------------------- */

/*
 * While the die is busy there come, in this order: a program of GC, a
 * program of the host, a read of GC, a read of the host.
 */
static void check_order_of(NandCause own, const char *options,
                           const char *order)
{
    Rig *r = rig_with(options);
    GString *seen = g_string_new(NULL);

    rig_preload(r, 1, 0, 1);
    rig_preload(r, 1, 1, 1);
    busy_die(r);
    submit_as(r, 0, NAND_PROGRAM, NAND_CAUSE_GC, rig_page(r, 0, 0, 0), 0);
    submit_as(r, 0, NAND_PROGRAM, own, rig_page(r, 0, 1, 0), 0);
    submit_as(r, 0, NAND_READ, NAND_CAUSE_GC, rig_page(r, 1, 0, 0), 0);
    submit_as(r, 0, NAND_READ, own, rig_page(r, 1, 1, 0), 0);
    rig_run_all(r);
    for (unsigned i = 1; i < r->n_done; i++) {
        bool host = r->done[i].cause == own;

        g_string_append_c(seen, r->done[i].kind == NAND_READ
                                    ? (host ? 'R' : 'r')
                                    : (host ? 'P' : 'p'));
    }
    g_assert_cmpstr(seen->str, ==, order);
    g_string_free(seen, TRUE);
    finish(r);
}

/* Translation pages rank with the host. */
static void check_order(const char *options, const char *order)
{
    check_order_of(NAND_CAUSE_HOST, options, order);
    check_order_of(NAND_CAUSE_MAP, options, order);
}

static void test_schedules(void)
{
    check_order("nand.schedule=fifo", "pPrR");
    check_order("nand.schedule=read-first", "rRpP");
    check_order("nand.schedule=host-first", "RPrp");
    /* Nothing waits 1 s; everything waits longer than nothing. */
    check_order("nand.schedule=read-first-deadline;nand.write_deadline=1s",
                "rRpP");
    check_order("nand.schedule=read-first-deadline;nand.write_deadline=0",
                "pPrR");
    /* After the first read (181.4 us) the programs have waited too long. */
    check_order("nand.schedule=read-first-deadline;nand.write_deadline=100us",
                "rpPR");
}

/* An erase that is overdue still does not overtake a read of its block. */
static void test_no_overtaking(void)
{
    Rig *r = rig_with("nand.schedule=read-first-deadline;"
                      "nand.write_deadline=0");

    rig_preload(r, 1, 0, 1);
    busy_die(r);
    rig_submit(r, 0, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 1, 0, 0), 0);
    rig_run_all(r);
    g_assert_cmpint(r->done[1].kind, ==, NAND_READ);
    g_assert_cmpint(r->done[2].kind, ==, NAND_ERASE);
    finish(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sharing/arbitration", test_arbitration);
    g_test_add_func("/sharing/channel-classes", test_channel_classes);
    g_test_add_func("/sharing/async-reads", test_async_reads);
    g_test_add_func("/sharing/async-reads/rate", test_async_reads_rate);
    g_test_add_func("/sharing/async-reads/program", test_async_reads_program);
    g_test_add_func("/sharing/lock", test_lock);
    g_test_add_func("/sharing/schedules", test_schedules);
    g_test_add_func("/sharing/no-overtaking", test_no_overtaking);
    return g_test_run();
}
