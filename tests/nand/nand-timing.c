/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-timing.c - the array's timing, worked out by hand, exact to the ns.
 *
 * With the rig's options: command C = 200 ns; a byte takes 2.5 ns, so a page
 * X = 16384 * 2.5 = 40960 ns and a unit of 4 KiB U = 10240 ns;
 * tR = 50000, tPROG = 500000, tBERS = 3000000 ns.
 */
#include "nand-timing.h"
#include "rig.h"

#include "prng.h"

#define C     200ULL
#define X     40960ULL
#define U     10240ULL
#define TR    50000ULL
#define TPROG 500000ULL
#define TBERS 3000000ULL
#define PAGE  16384

static uint64_t transfer_ps(const NandConfig *cfg, uint32_t bytes)
{
    NandTiming t;

    nand_timing_init(&t, cfg);
    return nand_data_ps(&t, bytes);
}

/* Operation number i to complete: its time and the four parts of it, in ns. */
static void expect(const Rig *r, unsigned i, uint64_t done_ns,
                   uint64_t die_wait_ns, uint64_t bus_wait_ns, uint64_t bus_ns,
                   uint64_t cell_ns)
{
    const NandOp *op = &r->done[i];

    g_assert_cmpuint(i, <, r->n_done);
    g_assert_cmpuint(r->done_ps[i], ==, done_ns * PS_PER_NS);
    g_assert_cmpuint(op->time_ps[NAND_TIME_DIE_WAIT], ==, die_wait_ns * PS_PER_NS);
    g_assert_cmpuint(op->time_ps[NAND_TIME_BUS_WAIT], ==, bus_wait_ns * PS_PER_NS);
    g_assert_cmpuint(op->time_ps[NAND_TIME_BUS], ==, bus_ns * PS_PER_NS);
    g_assert_cmpuint(op->time_ps[NAND_TIME_CELL], ==, cell_ns * PS_PER_NS);
}

/* C + tR + X */
static void test_read(void)
{
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 1);
    rig_submit(r, 7, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    g_assert_cmpuint(r->n_done, ==, 1);
    expect(r, 0, 7 + C + TR + X, 0, 0, C + X, TR);
    rig_free(r);
}

/* C + tR + U: only what is asked for goes over the bus. */
static void test_read_part(void)
{
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), 4096);
    rig_run_all(r);
    expect(r, 0, C + TR + U, 0, 0, C + U, TR);
    rig_free(r);
}

/* C + X + tPROG */
static void test_program(void)
{
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, C + X + TPROG, 0, 0, C + X, TPROG);
    rig_free(r);
}

/* C + tBERS */
static void test_erase(void)
{
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, C + TBERS, 0, 0, C, TBERS);
    g_assert_cmpuint(nand_erase_count(r->nand, 0), ==, 1);
    rig_free(r);
}

/* The second waits for the die from 0 until the first is done. */
static void test_one_die(void)
{
    const uint64_t one = C + TR + X;
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 1);
    rig_preload(r, 1, 0, 1); /* the other plane of the same die */
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    g_assert_cmpuint(nand_die_load(r->nand, 1), ==, 2);
    rig_run_all(r);
    expect(r, 0, one, 0, 0, C + X, TR);
    expect(r, 1, 2 * one, one, 0, C + X, TR);
    g_assert_cmpuint(nand_die_load(r->nand, 0), ==, 0);
    rig_free(r);
}

/*
 * Two dies, one channel: commands one after the other (0..C, C..2C); both
 * cells work at once; the second transfer waits for the first, which ends at
 * C + tR + X, while its own data is ready at 2C + tR.
 */
static void test_two_dies(void)
{
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 1);
    rig_preload(r, 2, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 2, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, C + TR + X, 0, 0, C + X, TR);
    expect(r, 1, C + TR + 2 * X, 0, C + (C + TR + X) - (2 * C + TR), C + X, TR);
    rig_free(r);
}

/* Two channels know nothing of each other. */
static void test_two_channels(void)
{
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 1);
    rig_preload(r, 4, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 4, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, C + TR + X, 0, 0, C + X, TR);
    expect(r, 1, C + TR + X, 0, 0, C + X, TR);
    rig_free(r);
}

/* Programs of two dies: the data goes in one after the other, the cells
 * overlap. */
static void test_two_programs(void)
{
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, C + X + TPROG, 0, 0, C + X, TPROG);
    expect(r, 1, 2 * (C + X) + TPROG, 0, C + X, C + X, TPROG);
    rig_free(r);
}

/*
 * A read whose cell is done at C + tR = 50200 finds the channel taken by a
 * program of the other die, which holds it from 30000 to 30000 + C + X = 71160.
 */
static void test_read_behind_program(void)
{
    const uint64_t start = 30000;
    Rig *r = rig_new(NULL);

    rig_preload(r, 0, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run(r, start);
    rig_submit(r, start, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, start + C + X + X, 0, start + C + X - (C + TR), C + X, TR);
    expect(r, 1, start + C + X + TPROG, 0, 0, C + X, TPROG);
    rig_free(r);
}

/* While a die erases, its channel is free for the other die. */
static void test_erase_frees_bus(void)
{
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 0, 0), 0);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
    rig_run_all(r);
    expect(r, 0, C + C + X + TPROG, 0, C, C + X, TPROG);
    expect(r, 1, C + TBERS, 0, 0, C, TBERS);
    rig_free(r);
}

/* Operations of one die keep their order, whatever their kind. */
static void test_order(void)
{
    Rig *r = rig_new(NULL);

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), 4096);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 1), PAGE);
    rig_run_all(r);
    expect(r, 0, C + X + TPROG, 0, 0, C + X, TPROG);
    expect(r, 1, (C + X + TPROG) + C + TR + U, C + X + TPROG, 0, C + U, TR);
    g_assert_cmpuint(r->done[2].ppa.page, ==, rig_page(r, 0, 0, 1));
    rig_free(r);
}

/* Rounded up once per transfer: 100 bytes at 333 MT/s are 300300.3 ps. */
static void test_transfer(void)
{
    NandConfig cfg;

    rig_config(&cfg);
    rig_set(&cfg, "nand.bus_mt_s", "333");
    g_assert_cmpuint(transfer_ps(&cfg, 100), ==, 300301);
    g_assert_cmpuint(transfer_ps(&cfg, 0), ==, 0);
    rig_set(&cfg, "nand.bus_mt_s", "1");
    g_assert_cmpuint(transfer_ps(&cfg, 262144), ==, 262144000000);
    rig_set(&cfg, "nand.bus_ns_per_byte", "1.25");
    g_assert_cmpuint(cfg.bus_mt_s, ==, 0);
    g_assert_cmpuint(transfer_ps(&cfg, 3), ==, 3750);
    rig_set(&cfg, "nand.bus_mt_s", "800");
    g_assert_cmpuint(cfg.bus_ps_per_byte, ==, 0);
    g_assert_cmpuint(transfer_ps(&cfg, 16384), ==, 20480000);
}

/* Cycles of a command, its address and its confirmation (ONFI 5.1, Command
 * Definition): a read, a program and a change of column have five address
 * cycles, an erase has three. */
static void test_cycles(void)
{
    const uint64_t wc_ps = 25000; /* NV-DDR3, timing mode 0 to 12 */
    NandConfig cfg;
    NandTiming t;

    rig_config(&cfg);
    rig_set(&cfg, "nand.interface", "nv-ddr3");
    nand_timing_init(&t, &cfg);
    g_assert_cmpuint(t.read_cmd_ps, ==, (1 + 5 + 1) * wc_ps);
    g_assert_cmpuint(t.change_ps, ==, (1 + 5 + 1) * wc_ps + 300000); /* tCCS */
    g_assert_cmpuint(t.program_cmd_ps, ==, (1 + 5 + 1) * wc_ps + 150000);
    g_assert_cmpuint(t.erase_cmd_ps, ==, (1 + 3 + 1) * wc_ps);
}

/* A drive whose every time is 0 finishes where it started. */
static void test_zero(void)
{
    NandConfig cfg;
    Rig *r;

    rig_config(&cfg);
    rig_set_all(&cfg, "nand.read=0;nand.program=0;nand.erase=0;nand.command=0;"
                      "nand.bus_ns_per_byte=0");
    r = rig_new(&cfg);
    rig_submit(r, 5, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 5, NAND_READ, rig_page(r, 0, 0, 0), PAGE);
    rig_run_all(r);
    g_assert_cmpuint(r->n_done, ==, 2);
    expect(r, 0, 5, 0, 0, 0, 0);
    expect(r, 1, 5, 0, 0, 0, 0);
    rig_free(r);
}

static void test_stats(void)
{
    Rig *r = rig_new(NULL);
    const NandStats *s = nand_stats(r->nand);
    NandOp gc = {.kind = NAND_ERASE,
                 .cause = NAND_CAUSE_GC,
                 .ppa = {rig_page(r, 4, 3, 0)}};

    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 0, 0, 0), 4096);
    nand_submit(r->nand, &gc, 0);
    rig_run_all(r);
    g_assert_cmpuint(s->ops[NAND_PROGRAM][NAND_CAUSE_HOST], ==, 1);
    g_assert_cmpuint(s->ops[NAND_READ][NAND_CAUSE_HOST], ==, 1);
    g_assert_cmpuint(s->ops[NAND_ERASE][NAND_CAUSE_GC], ==, 1);
    g_assert_cmpuint(s->ops[NAND_ERASE][NAND_CAUSE_HOST], ==, 0);
    g_assert_cmpuint(rig_bus_busy_ps(r), ==,
                     ((C + X) + (C + U) + C) * PS_PER_NS);
    g_assert_cmpuint(rig_die_busy_ps(r), ==,
                     ((C + X + TPROG) + (C + TR + U) + (C + TBERS)) *
                         PS_PER_NS);
    rig_free(r);
}

/* ---- random runs --------------------------------------------------------- */

/*
 * A random legal run: programs in order, reads of what is programmed, erases of
 * full blocks with nothing in flight.
 */
static void random_run(Rig *r, uint64_t seed, unsigned n)
{
    uint32_t n_blocks = nand_geometry(r->nand)->n_blocks;
    uint64_t now_ns = 0;
    Prng rng;

    prng_seed(&rng, seed, 1);
    for (unsigned i = 0; i < n; i++) {
        uint32_t b = (uint32_t)prng_below(&rng, n_blocks);
        uint32_t next = nand_next_page(r->nand, b);

        if (next == r->cfg.pages) {
            rig_run_all(r);
            now_ns = sim_ceil_ns(r->now_ps);
            rig_submit(r, now_ns, NAND_ERASE, b * r->cfg.pages, 0);
        } else if (next > 0 && prng_below(&rng, 2)) {
            rig_submit(r, now_ns, NAND_READ,
                       b * r->cfg.pages + (uint32_t)prng_below(&rng, next),
                       4096U << prng_below(&rng, 3));
        } else {
            rig_submit(r, now_ns, NAND_PROGRAM, b * r->cfg.pages + next, PAGE);
        }
    }
    rig_run_all(r);
    g_assert_cmpuint(r->n_done, ==, n);
}

/* done - submit = die_wait + bus_wait + bus + cell, never below the uncontended
 * sum; a channel is never busy longer than time goes. */
static void test_parts(void)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        Rig *r = rig_new(NULL);
        uint64_t last_ps = 0;

        r->check = true;
        random_run(r, seed, 400);
        for (unsigned i = 0; i < r->n_done; i++) {
            const NandOp *op = &r->done[i];

            g_assert_cmpuint(r->done_ps[i] - op->submit_ps, ==,
                             op->time_ps[NAND_TIME_DIE_WAIT] + op->time_ps[NAND_TIME_BUS_WAIT] + op->time_ps[NAND_TIME_BUS] +
                                 op->time_ps[NAND_TIME_CELL]);
            g_assert_cmpuint(op->time_ps[NAND_TIME_CELL], ==,
                             (op->kind == NAND_READ      ? TR
                              : op->kind == NAND_PROGRAM ? TPROG
                                                         : TBERS) *
                                 PS_PER_NS);
            g_assert_cmpuint(op->time_ps[NAND_TIME_BUS], ==,
                             C * PS_PER_NS +
                                 transfer_ps(&r->cfg, op->bytes));
            last_ps = MAX(last_ps, r->done_ps[i]);
        }
        g_assert_cmpuint(rig_bus_busy_ps(r), <=, 2 * last_ps);
        g_assert_cmpuint(rig_die_busy_ps(r), <=, 4 * last_ps);
        rig_free(r);
    }
}

/* Twice as slow in every part is twice as slow as a whole, exactly. */
static void test_doubling(void)
{
    NandConfig slow;
    Rig *a, *b;

    rig_config(&slow);
    rig_set_all(&slow, "nand.read=100us;nand.program=1ms;nand.erase=6ms;"
                       "nand.command=400ns;nand.bus_mt_s=200");
    a = rig_new(NULL);
    b = rig_new(&slow);
    random_run(a, 3, 2000);
    random_run(b, 3, 2000);
    for (unsigned i = 0; i < a->n_done; i++) {
        g_assert_cmpuint(2 * a->done_ps[i], ==, b->done_ps[i]);
        g_assert_cmpuint(a->done[i].ppa.page, ==, b->done[i].ppa.page);
    }
    rig_free(a);
    rig_free(b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nand/timing/read", test_read);
    g_test_add_func("/nand/timing/read-part", test_read_part);
    g_test_add_func("/nand/timing/program", test_program);
    g_test_add_func("/nand/timing/erase", test_erase);
    g_test_add_func("/nand/timing/one-die", test_one_die);
    g_test_add_func("/nand/timing/two-dies", test_two_dies);
    g_test_add_func("/nand/timing/two-channels", test_two_channels);
    g_test_add_func("/nand/timing/two-programs", test_two_programs);
    g_test_add_func("/nand/timing/read-behind-program",
                    test_read_behind_program);
    g_test_add_func("/nand/timing/erase-frees-bus", test_erase_frees_bus);
    g_test_add_func("/nand/timing/order", test_order);
    g_test_add_func("/nand/timing/transfer", test_transfer);
    g_test_add_func("/nand/timing/cycles", test_cycles);
    g_test_add_func("/nand/timing/zero", test_zero);
    g_test_add_func("/nand/timing/stats", test_stats);
    g_test_add_func("/nand/timing/parts", test_parts);
    g_test_add_func("/nand/timing/doubling", test_doubling);
    return g_test_run();
}
