/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency.c - latencies of single host commands, worked out by hand, exact to
 * the ns and part by part; and those of a drive that is twice as slow.
 *
 * Times are those of ref-times.h.
 */
#include <string.h>

#include "ref-times.h"
#include "simtime.h"

/* Never written: F, then zeroes over the link. */
static void test_read_unmapped(void)
{
    Ref *r = ref_new(ref_config(""), false);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 0, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + L);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F, .link_ns = L});
    ref_free(r);
}

/* F + C + tR + U + L */
static void test_read_unit(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 5 * UNIT, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + C + TR + U + L);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F,
                                 .bus_ns = C + U,
                                 .cell_ns = TR,
                                 .link_ns = L});
    ref_free(r);
}

/* One block reads its whole unit from NAND, and sends 512 bytes: L / 8. */
static void test_read_block(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 5 * UNIT + 3, 1, false);

    g_assert_cmpuint(latency(&c), ==, F + C + TR + U + L / 8);
    ref_free(r);
}

/* The four units of a page: one read. */
static void test_read_page(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 4 * UNIT, 4 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + C + TR + X + 4 * L);
    ref_free(r);
}

/* Two pages on two channels: both at once. */
static void test_read_two_pages(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 4 * UNIT, 8 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + C + TR + X + 8 * L);
    ref_free(r);
}

/* The same on one channel and die: one after the other. */
static void test_read_one_die(void)
{
    Ref *r = ref_new(ref_config("nand.channels=1"), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 4 * UNIT, 8 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + 2 * (C + TR + X) + 8 * L);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F,
                                 .die_wait_ns = C + TR + X,
                                 .bus_ns = C + X,
                                 .cell_ns = TR,
                                 .link_ns = 8 * L});
    ref_free(r);
}

/* Into the buffer: F + L + B; read back from there: F + B + L. */
static void test_write_buffered(void)
{
    Ref *r = ref_new(ref_config(""), false);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + L + B);
    same_cost(&c,
              (SsdBreakdown){.firmware_ns = F, .link_ns = L, .buffer_ns = B});
    c = ref_one(r, SSD_OP_READ, 0, UNIT, false);
    g_assert_cmpuint(latency(&c), ==, F + B + L);
    same_cost(&c,
              (SsdBreakdown){.firmware_ns = F, .link_ns = L, .buffer_ns = B});
    ref_free(r);
}

/*
 * Two writes of four units at once, DRAM slower than the link (2000 for a
 * unit).  The second is over the link at F + 8 L, and waits for DRAM until the
 * first is done there, at F + 4 L + 8000.
 */
static void test_write_two(void)
{
    Ref *r = ref_new(ref_config("buffer.access=2us"), false);
    const SsdCompletion *c;

    r->log = g_array_new(false, false, sizeof(SsdCompletion));
    ref_do(r, SSD_OP_WRITE, 0, 4 * UNIT, false);
    ref_do(r, SSD_OP_WRITE, 2 * UNIT, 4 * UNIT, false);
    ref_drain(r);
    c = &g_array_index(r->log, SsdCompletion, 0);
    same_cost(c, (SsdBreakdown){
                     .firmware_ns = F, .link_ns = 4 * L, .buffer_ns = 8000});
    c = &g_array_index(r->log, SsdCompletion, 1);
    same_cost(c, (SsdBreakdown){.firmware_ns = F,
                                .link_ns = 8 * L,
                                .buffer_ns = (4 * L + 8000 - 8 * L) + 8000});
    ref_free(r);
}

/* FUA: then a padded page to NAND, C + X + tPROG. */
static void test_write_fua(void)
{
    Ref *r = ref_new(ref_config(""), false);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, true);

    g_assert_cmpuint(latency(&c), ==, F + L + B + C + X + TPROG);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F,
                                 .link_ns = L,
                                 .buffer_ns = B,
                                 .flush_ns = C + X + TPROG});
    ref_free(r);
}

/* host.complete_at=program makes every write wait like that. */
static void test_complete_at_program(void)
{
    Ref *r = ref_new(ref_config("host.complete_at=program"), false);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 0, UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F + L + B + C + X + TPROG);
    ref_free(r);
}

/* Data that stays in the drive needs no link, and all else. */
static void test_inside(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c;

    r->inside = true;
    c = ref_one(r, SSD_OP_READ, 4 * UNIT, 4 * UNIT, false);
    same_cost(&c,
              (SsdBreakdown){.firmware_ns = F, .bus_ns = C + X, .cell_ns = TR});
    c = ref_one(r, SSD_OP_WRITE, 0, UNIT, true);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F,
                                 .buffer_ns = B,
                                 .flush_ns = C + X + TPROG});
    ref_free(r);
}

/* Behind a write whose data is still on the link: the drive's version of the
 * unit is the later one's, as the host's. */
static void test_inside_in_order(void)
{
    Ref *r = ref_new(ref_config(""), false);

    r->log = g_array_new(false, false, sizeof(SsdCompletion));
    ref_do(r, SSD_OP_WRITE, 0, 4 * UNIT, false);
    r->inside = true;
    ref_do(r, SSD_OP_WRITE, 0, UNIT, false);
    ref_drain(r);
    same_cost(
        &g_array_index(r->log, SsdCompletion, 0),
        (SsdBreakdown){.firmware_ns = F, .link_ns = 4 * L, .buffer_ns = 4 * B});
    same_cost(
        &g_array_index(r->log, SsdCompletion, 1),
        (SsdBreakdown){.firmware_ns = F, .link_ns = 4 * L, .buffer_ns = 5 * B});
    ref_free(r);
}

/* A flush with nothing to do: F; with one dirty unit: F + C + X + tPROG. */
static void test_flush(void)
{
    Ref *r = ref_new(ref_config(""), false);
    SsdCompletion c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);

    g_assert_cmpuint(latency(&c), ==, F);
    ref_one(r, SSD_OP_WRITE, 0, UNIT, false);
    c = ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(latency(&c), ==, F + C + X + TPROG);
    same_cost(&c, (SsdBreakdown){.firmware_ns = F, .flush_ns = C + X + TPROG});
    c = ref_one(r, SSD_OP_SHUTDOWN, 0, 0, false);
    g_assert_cmpuint(latency(&c), ==, F);
    ref_free(r);
}

static void test_trim(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_TRIM, 0, 100 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==, F);
    ref_free(r);
}

/* A part of a unit whose rest is in NAND, durable: C + tR + U first. */
static void test_write_part(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 5 * UNIT, 1, true);

    g_assert_cmpuint(latency(&c), ==,
                     F + L / 8 + B + (C + TR + U) + (C + X + TPROG));
    ref_free(r);
}

/* Without FUA the host does not wait for that read. */
static void test_write_part_buffered(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCompletion c = ref_one(r, SSD_OP_WRITE, 5 * UNIT, 1, false);

    g_assert_cmpuint(latency(&c), ==, F + L / 8 + B);
    ref_free(r);
}

/* A read on the die that is programming waits until it is done. */
static void test_read_behind_program(void)
{
    Ref *r = ref_new(ref_config("nand.channels=1"), true);
    const uint64_t programming_ns = F + 4 * L + 4 * B; /* starts then */
    const SsdCompletion *c;

    r->log = g_array_new(false, false, sizeof(SsdCompletion));
    ref_do(r, SSD_OP_WRITE, 0, 4 * UNIT, false);
    ref_pass(r, programming_ns + 1000 - F);
    ref_do(r, SSD_OP_READ, 40 * UNIT, UNIT, false);
    ref_drain(r);
    c = &g_array_index(r->log, SsdCompletion, 1);
    same_cost(c, (SsdBreakdown){.firmware_ns = F,
                                .die_wait_ns = C + X + TPROG - 1000,
                                .bus_ns = C + U,
                                .cell_ns = TR,
                                .link_ns = L});
    ref_free(r);
}

/* ---- a NAND-bound run, twice as slow ------------------------------------- */

static uint64_t run_ns(const char *options)
{
    Ref *r = ref_new(ref_config(options), true);
    Prng rng;
    uint64_t ns;

    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 4000; i++) {
        ref_do(r, i % 4 == 3 ? SSD_OP_READ : SSD_OP_WRITE,
               prng_below(&rng, r->n_units) * UNIT, UNIT, false);
    }
    ref_finish(r);
    ns = r->last_complete_ns;
    ref_free(r);
    return ns;
}

#define NOTHING_BUT_NAND "host.firmware=0;host.link_mb_s=0;buffer.access=0;"

/* With no time outside the array, exactly twice. */
static void test_doubling(void)
{
    uint64_t once = run_ns(NOTHING_BUT_NAND);
    uint64_t twice = run_ns(NOTHING_BUT_NAND
                            "nand.read=100us;nand.program=1ms;nand.erase=6ms;"
                            "nand.command=400ns;nand.bus_mt_s=200");

    g_assert_cmpuint(once, >, 100 * NS_PER_MS);
    g_assert_cmpuint(2 * once, ==, twice);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/latency/read-unmapped", test_read_unmapped);
    g_test_add_func("/latency/read-unit", test_read_unit);
    g_test_add_func("/latency/read-block", test_read_block);
    g_test_add_func("/latency/read-page", test_read_page);
    g_test_add_func("/latency/read-two-pages", test_read_two_pages);
    g_test_add_func("/latency/read-one-die", test_read_one_die);
    g_test_add_func("/latency/write-buffered", test_write_buffered);
    g_test_add_func("/latency/write-two", test_write_two);
    g_test_add_func("/latency/write-fua", test_write_fua);
    g_test_add_func("/latency/complete-at-program", test_complete_at_program);
    g_test_add_func("/latency/inside", test_inside);
    g_test_add_func("/latency/inside-in-order", test_inside_in_order);
    g_test_add_func("/latency/flush", test_flush);
    g_test_add_func("/latency/trim", test_trim);
    g_test_add_func("/latency/write-part", test_write_part);
    g_test_add_func("/latency/write-part-buffered", test_write_part_buffered);
    g_test_add_func("/latency/read-behind-program", test_read_behind_program);
    g_test_add_func("/latency/doubling", test_doubling);
    return g_test_run();
}
