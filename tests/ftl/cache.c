/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.c - a buffer that holds clean and dirty units: costs of a hit, a miss
 * and a dirty victim, worked out by hand; order of victims; early flush.
 *
 * Times are those of ref-times.h, with pages of one unit.
 */
#include "buffer/buffer-internal.h"
#include "buffer/buffer-policy.h"
#include "ref-times.h"
#include "simtime.h"
#include "ssd-internal.h"
#include "ssd-report.h"

/* One die, pages of one unit, a buffer of four. */
#define FOUR                                                                   \
    "nand.channels=1;nand.page_size=4KiB;buffer.size=16KiB;nand.pages=16;"

static SsdCompletion do_unit(Ref *r, SsdOp op, uint64_t lpn)
{
    return ref_one(r, op, lpn * UNIT, UNIT, false);
}

static uint64_t read_unit(Ref *r, uint64_t lpn)
{
    SsdCompletion c = do_unit(r, SSD_OP_READ, lpn);

    return latency(&c);
}

static uint64_t write_unit(Ref *r, uint64_t lpn)
{
    SsdCompletion c = do_unit(r, SSD_OP_WRITE, lpn);

    return latency(&c);
}

static uint64_t programs(const Ref *r)
{
    SsdCounters c;

    ssd_get_counters(r->ssd, &c);
    return c.nand_programs;
}

#define READ_MISS  (F + C + TR + U + B + L)
#define READ_HIT   (F + B + L)
#define WRITE_HIT  (F + L + B)

/* Data that was read is there the next time; a miss goes through DRAM. */
static void test_read(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru"), true);
    SsdCompletion c = do_unit(r, SSD_OP_READ, 7);

    g_assert_cmpuint(latency(&c), ==, READ_MISS);
    g_assert_cmpuint(c.cost.cell_ns, ==, TR);
    g_assert_cmpuint(c.cost.buffer_ns, ==, B);
    g_assert_cmpuint(read_unit(r, 7), ==, READ_HIT);
    g_assert_cmpuint(r->ssd->buffer->stats.read_hits, ==, 1);
    g_assert_cmpuint(r->ssd->buffer->stats.read_misses, ==, 1);
    ref_finish(r);
    ref_free(r);
}

/* Two reads of one unit at once: one operation, the second waits for it. */
static void test_read_twice(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru"), true);
    SsdCounters c;

    ref_submit(r, SSD_OP_READ, 7 * UNIT, UNIT, false);
    ref_submit(r, SSD_OP_READ, 7 * UNIT, UNIT, false);
    ref_drain(r);
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(c.nand_reads, ==, 1);
    g_assert_cmpuint(ssd_latency(r->ssd, SSD_OP_READ)->max, >=,
                     F + C + TR + U + L);
    ref_finish(r);
    ref_free(r);
}

/* A clean victim costs nothing, a dirty one its program, then the read. */
static void test_victims(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru"), true);
    SsdCompletion c;

    for (uint64_t lpn = 0; lpn < 6; lpn++) {
        g_assert_cmpuint(read_unit(r, lpn), ==, READ_MISS);
    }
    for (uint64_t lpn = 10; lpn < 14; lpn++) {
        g_assert_cmpuint(write_unit(r, lpn), ==, WRITE_HIT);
    }
    g_assert_cmpuint(programs(r), ==, 0);
    g_assert_cmpuint(write_unit(r, 11), ==, WRITE_HIT);
    g_assert_cmpuint(write_unit(r, 20), ==, WRITE_HIT + C + U + TPROG);
    c = do_unit(r, SSD_OP_READ, 21);
    g_assert_cmpuint(latency(&c), ==, READ_MISS + C + U + TPROG);
    g_assert_cmpuint(c.cost.buffer_ns, ==, B + C + U + TPROG);
    g_assert_cmpuint(programs(r), ==, 2); /* units 10 and 12 */
    g_assert_cmpuint(read_unit(r, 11), ==, READ_HIT);
    g_assert_cmpuint(r->ssd->buffer->stats.dirty_evictions, ==, 2);
    g_assert_cmpuint(r->ssd->buffer->stats.clean_evictions, ==, 6);
    ref_finish(r);
    ref_free(r);
}

/* Its room is free when its data has crossed the bus. */
static void test_free_at_data_in(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru;"
                                     "buffer.free_at=data-in"), true);

    for (uint64_t lpn = 10; lpn < 14; lpn++) {
        g_assert_cmpuint(write_unit(r, lpn), ==, WRITE_HIT);
    }
    g_assert_cmpuint(write_unit(r, 20), ==, WRITE_HIT + C + U);
    ref_verify(r);
    ref_pass(r, 10 * NS_PER_MS);
    ref_power_cycle(r);
    g_assert_true(r->in_nand[10] > 0 && r->in_nand[11] == 0);
    ref_free(r);
}

/* Dirty units stay while there are clean ones. */
static void test_clean_first(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=cflru"), true);

    write_unit(r, 1);
    write_unit(r, 2);
    for (uint64_t lpn = 10; lpn < 50; lpn++) {
        g_assert_cmpuint(read_unit(r, lpn), ==, READ_MISS);
    }
    g_assert_cmpuint(programs(r), ==, 0);
    g_assert_cmpuint(read_unit(r, 1), ==, READ_HIT);
    ref_finish(r);
    ref_free(r);
}

/* A flush writes dirty units once, and leaves them in the buffer. */
static void test_flush(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru"), true);

    write_unit(r, 1);
    write_unit(r, 2);
    read_unit(r, 3);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(programs(r), ==, 2);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 0);
    g_assert_cmpuint(read_unit(r, 1), ==, READ_HIT);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    g_assert_cmpuint(programs(r), ==, 2);
    /* FUA: that unit and no other; it stays, too. */
    write_unit(r, 1);
    ref_one(r, SSD_OP_WRITE, 2 * UNIT, UNIT, true);
    g_assert_cmpuint(programs(r), ==, 3);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 1);
    g_assert_cmpuint(read_unit(r, 2), ==, READ_HIT);
    ref_finish(r);
    ref_free(r);
}

/* A drive whose pages take one unit each, with one of the policies. */
static Ref *drive_with(const VssdPolicy *policy, const char *more)
{
    g_autofree char *options = g_strconcat(
        "nand.channels=1;nand.page_size=4KiB;nand.pages=16;buffer.size=64KiB;"
        "buffer.policy=", policy->name, ";", more, NULL);

    return ref_new(ref_config(options), true);
}

/* Earlier writes are in NAND when it completes; it does not wait for writes
 * that come while it runs. */
static void drain(const VssdPolicy *policy, SsdOp op)
{
    Ref *r = drive_with(policy, "");
    uint64_t before;

    for (uint64_t lpn = 1; lpn <= 5; lpn++) {
        write_unit(r, lpn);
    }
    before = programs(r);
    g_assert_true(!policy->buffer->victim || before == 0);
    ref_submit(r, op, 0, 0, false);
    r->now_ns += 10000; /* it has begun */
    ref_collect(r);
    g_assert_true(!policy->buffer->victim || r->n_flying == 1);
    ref_submit(r, SSD_OP_WRITE, 6 * UNIT, UNIT, false);
    ref_submit(r, SSD_OP_WRITE, 1 * UNIT, UNIT, false);
    ref_drain(r);
    for (uint64_t lpn = 1; lpn <= 5; lpn++) {
        g_assert_cmpuint(r->in_nand[lpn], >, 0);
    }
    if (policy->buffer->victim) {
        g_assert_cmpuint(programs(r), ==, 5);
        g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 2);
        ref_one(r, op, 0, 0, false);
        g_assert_cmpuint(programs(r), ==, 7);
    }
    ref_one(r, op, 0, 0, false);
    before = programs(r);
    g_assert_cmpuint(ref_one(r, op, 0, 0, false).cost.flush_ns, ==, 0);
    g_assert_cmpuint(programs(r), ==, before);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* FUA: in NAND when it completes, and no other unit for its sake. */
static void drain_fua(const VssdPolicy *policy)
{
    Ref *r = drive_with(policy, "");

    for (uint64_t lpn = 1; lpn <= 3; lpn++) {
        write_unit(r, lpn);
    }
    ref_one(r, SSD_OP_WRITE, 2 * UNIT, UNIT, true);
    g_assert_cmpuint(r->in_nand[2], >, 0);
    if (policy->buffer->victim) {
        g_assert_cmpuint(programs(r), ==, 1);
        g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 2);
    }
    ref_finish(r);
    ref_free(r);
}

/* With power-loss protection flush and FUA have nothing to wait for; a shutdown
 * empties the buffer all the same. */
static void drain_protected(const VssdPolicy *policy)
{
    Ref *r = drive_with(policy, "buffer.plp=on");

    if (policy->buffer->victim) {
        write_unit(r, 1);
        ref_one(r, SSD_OP_FLUSH, 0, 0, false);
        ref_one(r, SSD_OP_WRITE, 2 * UNIT, UNIT, true);
        g_assert_cmpuint(programs(r), ==, 0);
        g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 2);
        ref_one(r, SSD_OP_SHUTDOWN, 0, 0, false);
        g_assert_cmpuint(programs(r), ==, 2);
        g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 0);
    }
    ref_finish(r);
    ref_free(r);
}

static void test_drain(void)
{
    for (int i = 0; buffer_policies[i]; i++) {
        drain(buffer_policies[i], SSD_OP_FLUSH);
        drain(buffer_policies[i], SSD_OP_SHUTDOWN);
        drain_fua(buffer_policies[i]);
        drain_protected(buffer_policies[i]);
    }
}

/* The periodic flush does the same, and rests when there is nothing dirty. */
static void test_tick(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=cflru;"
                                     "buffer.flush_interval=30ms"), true);

    write_unit(r, 1);
    ref_pass(r, 20 * NS_PER_MS);
    g_assert_cmpuint(programs(r), ==, 0);
    ref_pass(r, 20 * NS_PER_MS);
    g_assert_cmpuint(programs(r), ==, 1);
    g_assert_cmpuint(read_unit(r, 1), ==, READ_HIT);
    ref_pass(r, 200 * NS_PER_MS);
    g_assert_cmpuint(programs(r), ==, 1);
    ref_finish(r);
    ref_free(r);
}

/* Write through: no completion before the program. */
static void test_none(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=none"), true);

    g_assert_cmpuint(write_unit(r, 1), ==, WRITE_HIT + C + U + TPROG);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 0);
    g_assert_cmpuint(read_unit(r, 1), ==, F + C + TR + U + L);
    ref_finish(r);
    ref_free(r);
}

/* DRAM: access + words + bytes at the rate. */
static void test_dram(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru;buffer.word=8;"
                                     "buffer.word_time=15ns;buffer.mb_s=1024"),
                     true);

    g_assert_cmpuint(write_unit(r, 1), ==, F + L + 500 + 512 * 15 + 4000);
    ref_finish(r);
    ref_free(r);
}

#define R 4000ULL /* a unit at 1024 MB/s */

/* The n-th of those that have completed. */
static uint64_t logged(const Ref *r, unsigned n)
{
    return latency(&g_array_index(r->log, SsdCompletion, n));
}

/* Two at once share the rate, whichever way the data goes; an access of its own
 * each has at the same time. */
static void test_dram_shared(void)
{
    Ref *r = ref_new(ref_config(FOUR "buffer.policy=lru;buffer.mb_s=1024"),
                     true);

    write_unit(r, 1);
    write_unit(r, 2);
    g_assert_cmpuint(read_unit(r, 1), ==, F + B + R + L);
    r->log = g_array_new(false, false, sizeof(SsdCompletion));
    ref_submit(r, SSD_OP_READ, 1 * UNIT, UNIT, false);
    ref_submit(r, SSD_OP_READ, 2 * UNIT, UNIT, false);
    ref_drain(r);
    g_assert_cmpuint(logged(r, 0), ==, F + B + R + L);
    g_assert_cmpuint(logged(r, 1), ==, F + B + 2 * R + L);
    ref_submit(r, SSD_OP_READ, 1 * UNIT, UNIT, false);
    ref_submit(r, SSD_OP_WRITE, 2 * UNIT, UNIT, false); /* at F + L */
    ref_drain(r);
    g_assert_cmpuint(logged(r, 2), ==, F + B + R + L);
    g_assert_cmpuint(logged(r, 3), ==, F + B + 2 * R);
    g_assert_cmpuint(read_unit(r, 7), ==, READ_MISS + R);
    ref_finish(r);
    ref_free(r);
}

/* Data that a write buffer does not keep goes through DRAM, too. */
static void test_dram_passes(void)
{
    Ref *r = ref_new(ref_config("buffer.mb_s=1024"), true);
    SsdCompletion c = ref_one(r, SSD_OP_READ, 4 * UNIT, 4 * UNIT, false);

    g_assert_cmpuint(latency(&c), ==,
                     F + C + TR + 4 * U + 4 * R + 4 * L);
    g_assert_cmpuint(c.cost.buffer_ns, ==, 4 * R);
    g_assert_cmpuint(c.cost.cell_ns, ==, TR);
    ref_finish(r);
    ref_free(r);
}

/* Reads, writes and both, from NAND and from the buffer: never more than the
 * rate, and it is reached where it is the limit. */
static void test_dram_rate(void)
{
    static const char *const policy[] = {"fifo", "lru"};

    for (unsigned i = 0; i < 3 * G_N_ELEMENTS(policy); i++) {
        g_autofree char *options = g_strdup_printf(
            "nand.channels=8;nand.chips=4;nand.read=10us;nand.program=10us;"
            "nand.bus_mt_s=10000;host.link_mb_s=100000;buffer.size=4MiB;"
            "buffer.policy=%s;buffer.mb_s=100", policy[i / 3]);
        Ref *r = ref_new(ref_config(options), true);
        uint64_t bytes = 0;
        double mb_s;
        Prng rng;

        prng_seed(&rng, i, 1);
        for (unsigned n = 0; n < 3000; n++) {
            bool write = i % 3 == 0 || (i % 3 == 1 && n % 2);

            ref_do(r, write ? SSD_OP_WRITE : SSD_OP_READ,
                   prng_below(&rng, i / 3 ? 64 : r->n_units) * UNIT, UNIT,
                   false);
            bytes += 4096;
        }
        ref_drain(r);
        mb_s = (double)bytes * 1e3 / (double)r->last_complete_ns;
        g_assert_cmpfloat(mb_s, <=, 100);
        g_assert_cmpfloat(mb_s, >, 95);
        ref_finish(r);
        ref_free(r);
    }
}

/* 1 GiB of 8 KiB pages: 131072 of them, and with 4 bytes each 64 fewer
 * (shin2023, section 4.1). */
static void test_overhead(void)
{
    static const char drive[] =
        "nand.blocks=911;nand.pages=64;nand.page_size=8KiB;ftl.unit=8KiB;"
        "buffer.size=1GiB;";
    g_autofree char *sc = g_strconcat(drive, "buffer.policy=cflru-ef-sc", NULL);
    g_autofree char *ef = g_strconcat(drive, "buffer.policy=cflru-ef", NULL);
    Ref *a = ref_new(ref_config(ef), false);
    Ref *b = ref_new(ref_config(sc), false);

    g_assert_cmpuint(a->ssd->l.n_slots, ==, 131072);
    g_assert_cmpuint(b->ssd->l.n_slots, ==, 131072 - 64);
    ref_free(a);
    ref_free(b);
}

/* ---- the policies of whole blocks, and of cold ones ---------------------- */

/* Room for four units and their records; blocks of two units. */
#define BLOCKS                                                                 \
    "nand.channels=1;nand.page_size=4KiB;buffer.size=17KiB;nand.pages=16;"     \
    "buffer.block=8KiB;"

/* All of the block leaves, though room for one unit would do. */
static void test_fab(void)
{
    Ref *r = ref_new(ref_config(BLOCKS "buffer.policy=fab"), true);

    g_assert_cmpuint(r->ssd->l.n_slots, ==, 4);
    write_unit(r, 4);
    write_unit(r, 0);
    write_unit(r, 1);
    write_unit(r, 6);
    g_assert_cmpuint(write_unit(r, 8), ==, WRITE_HIT + C + U + TPROG);
    ref_pass(r, 10 * NS_PER_MS);
    g_assert_cmpuint(programs(r), ==, 2);
    g_assert_true(r->in_nand[0] && r->in_nand[1] && !r->in_nand[4]);
    g_assert_cmpuint(r->ssd->buffer->n_free_slots, ==, 1);
    g_assert_cmpuint(read_unit(r, 4), ==, READ_HIT);
    g_assert_cmpuint(read_unit(r, 0), ==, READ_MISS);
    ref_finish(r);
    ref_free(r);
}

/* Data that is read is not kept, and does not pass through DRAM; a block
 * written in order goes first. */
static void test_bplru(void)
{
    Ref *r = ref_new(ref_config(BLOCKS "buffer.policy=bplru"), true);

    write_unit(r, 0);
    write_unit(r, 4);
    g_assert_cmpuint(read_unit(r, 7), ==, F + C + TR + U + L);
    g_assert_cmpuint(read_unit(r, 7), ==, F + C + TR + U + L);
    g_assert_cmpuint(r->ssd->buffer->n_free_slots, ==, 2);
    g_assert_cmpuint(read_unit(r, 0), ==, READ_HIT);
    write_unit(r, 2);
    write_unit(r, 3);
    write_unit(r, 8);
    ref_pass(r, 10 * NS_PER_MS);
    g_assert_true(r->in_nand[2] && r->in_nand[3] && !r->in_nand[0]);
    write_unit(r, 4);
    write_unit(r, 9); /* 8 and 9 are in order, too */
    write_unit(r, 12);
    ref_pass(r, 10 * NS_PER_MS);
    g_assert_true(r->in_nand[8] && r->in_nand[9] && !r->in_nand[0]);
    write_unit(r, 14);
    write_unit(r, 16);
    ref_pass(r, 10 * NS_PER_MS);
    g_assert_true(r->in_nand[0] && !r->in_nand[4]);
    ref_finish(r);
    ref_free(r);
}

/* Read once: goes first.  Read twice: stays, longer than written units. */
static void test_ccf_lru(void)
{
    Ref *r = ref_new(ref_config(BLOCKS "buffer.policy=ccf-lru"), true);

    read_unit(r, 1);
    read_unit(r, 1);
    read_unit(r, 2);
    write_unit(r, 10);
    for (uint64_t lpn = 20; lpn < 40; lpn++) {
        g_assert_cmpuint(read_unit(r, lpn), ==, READ_MISS);
    }
    g_assert_cmpuint(programs(r), ==, 0);
    g_assert_cmpuint(read_unit(r, 1), ==, READ_HIT);
    g_assert_cmpuint(read_unit(r, 10), ==, READ_HIT);
    g_assert_cmpuint(read_unit(r, 2), ==, READ_MISS);
    ref_finish(r);
    ref_free(r);
}

/* ---- early flush --------------------------------------------------------- */

/* Ten slots on a chip of two dies; more than half may not be dirty. */
#define TEN                                                                    \
    "nand.channels=1;nand.dies=2;nand.page_size=4KiB;nand.pages=16;"           \
    "buffer.size=40KiB;buffer.early_threshold=50%;buffer.early_adapt=0;"       \
    "buffer.policy=cflru-ef"

static void test_early(void)
{
    Ref *r = ref_new(ref_config(TEN), true);

    for (uint64_t lpn = 0; lpn < 5; lpn++) {
        write_unit(r, lpn);
    }
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_cmpuint(programs(r), ==, 0); /* half: not more */
    write_unit(r, 5);
    write_unit(r, 6);
    write_unit(r, 7);
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_cmpuint(programs(r), ==, 3);
    g_assert_cmpuint(r->ssd->buffer->stats.early_flushes, ==, 3);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 5);
    g_assert_true(r->in_nand[0] && r->in_nand[1] && r->in_nand[2] &&
                  !r->in_nand[3]);
    g_assert_cmpuint(read_unit(r, 0), ==, READ_HIT);
    /* Written again: for that the flush was in vain. */
    write_unit(r, 1);
    g_assert_cmpuint(r->ssd->buffer->stats.rewrites_after_flush, ==, 1);
    write_unit(r, 1);
    g_assert_cmpuint(r->ssd->buffer->stats.rewrites_after_flush, ==, 1);
    ref_finish(r);
    ref_free(r);
}

/* As many at once as a chip has dies; none is begun while a command runs. */
static void test_early_idle(void)
{
    Ref *r = ref_new(ref_config(TEN), true);

    for (uint64_t lpn = 0; lpn < 9; lpn++) {
        ref_submit(r, SSD_OP_WRITE, lpn * UNIT, UNIT, false);
    }
    ref_submit(r, SSD_OP_READ, 50 * UNIT, UNIT, false);
    r->now_ns = 40000; /* the writes are done, the read is in the array */
    ref_collect(r);
    g_assert_cmpuint(r->n_flying, ==, 1);
    g_assert_cmpuint(r->ssd->buffer->early.busy, ==, 0);
    ref_drain(r);
    g_assert_cmpuint(r->ssd->buffer->early.busy, ==, 2);
    g_assert_cmpuint(r->ssd->buffer->n_must, ==, 0);
    /* A read finds both dies busy, and no more than that in its way. */
    ref_submit(r, SSD_OP_READ, 60 * UNIT, UNIT, false);
    ref_drain(r);
    g_assert_cmpuint(r->ssd->buffer->stats.early_flushes, <=, 4);
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 5);
    ref_finish(r);
    ref_free(r);
}

/* Every dirty unit was written twice and gets its second chance at once.  The
 * lists are balanced, and the units that were written first are flushed: an
 * idle drive keeps no more dirty units than the threshold (shin2023,
 * section 3.3). */
static void test_early_spared(void)
{
    Ref *r = ref_new(ref_config("nand.channels=1;nand.dies=2;"
                                "nand.page_size=4KiB;nand.pages=16;"
                                "buffer.size=41KiB;buffer.early_threshold=50%;"
                                "buffer.early_adapt=0;"
                                "buffer.policy=cflru-ef-sc"),
                     true);

    g_assert_cmpuint(r->ssd->l.n_slots, ==, 10);
    for (uint64_t i = 0; i < 16; i++) {
        ref_submit(r, SSD_OP_WRITE, i % 8 * UNIT, UNIT, false);
    }
    ref_drain(r);
    g_assert_cmpuint(r->ssd->buffer->early.busy, ==, 2);
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 5);
    g_assert_cmpuint(r->ssd->buffer->stats.early_flushes, ==, 3);
    g_assert_true(r->in_nand[0] && r->in_nand[1] && r->in_nand[2] &&
                  !r->in_nand[3]);
    ref_finish(r);
    ref_free(r);
}

/* Pages of four units go full: of 24 dirty units 16 may stay. */
static void test_early_pages(void)
{
    Ref *r = ref_new(ref_config("nand.channels=1;nand.dies=2;nand.pages=16;"
                                "nand.page_size=16KiB;buffer.size=128KiB;"
                                "buffer.early_threshold=50%;"
                                "buffer.early_adapt=0;buffer.policy=cflru-ef"),
                     true);

    for (uint64_t lpn = 0; lpn < 24; lpn++) {
        write_unit(r, lpn);
    }
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_cmpuint(r->ssd->buffer->n_unsafe, ==, 16);
    g_assert_cmpuint(programs(r), ==, 2);
    ref_finish(r);
    ref_free(r);
}

/* Nine slots (units need four bytes more), of which four may be dirty.  With 4,
 * units 0 to 3 get a second chance, and 4 is flushed; then 0 and 1 go back, as
 * the list of second chances must not be the longer one.  With 5, 0 is next. */
static void test_second_chances(void)
{
    static const uint64_t units[] = {0, 1, 2, 3, 0, 1, 2, 3, 4, 5};
    Ref *r = ref_new(ref_config(TEN "-sc"), true);

    g_assert_cmpuint(r->ssd->buffer->early.limit, ==, 4);
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
        write_unit(r, units[i]);
        ref_pass(r, 50 * NS_PER_MS);
    }
    g_assert_cmpuint(programs(r), ==, 2);
    g_assert_true(r->in_nand[4] && r->in_nand[0] && !r->in_nand[5]);
    ref_finish(r);
    ref_free(r);
}

/* The second chance: a unit that was written twice stays dirty longer. */
static void test_second_chance(void)
{
    Ref *r = ref_new(ref_config(TEN "-sc"), true);

    g_assert_cmpuint(r->ssd->l.n_slots, ==, 9); /* limit: 4 */
    for (uint64_t lpn = 0; lpn < 4; lpn++) {
        write_unit(r, lpn);
    }
    write_unit(r, 0);
    write_unit(r, 1);
    write_unit(r, 2); /* oldest first: 3, 0, 1, 2 */
    write_unit(r, 4);
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_true(r->in_nand[3] && !r->in_nand[0]);
    write_unit(r, 5);
    ref_pass(r, 50 * NS_PER_MS);
    g_assert_true(r->in_nand[4] && !r->in_nand[0] && !r->in_nand[1]);
    ref_finish(r);
    ref_free(r);
}

/* Counters over time: in order, never more than at the end, from a reset on. */
static void test_series(void)
{
    Ref *r = ref_new(ref_config(TEN), true);
    const Series *s = &r->ssd->inspect.buffer_series;
    uint64_t most_dirty = 0;

    for (uint64_t i = 0; i < 300; i++) {
        write_unit(r, i % 12);
        ref_pass(r, NS_PER_MS);
    }
    g_assert_cmpuint(s->n, >, SERIES_POINTS / 2);
    g_assert_cmpuint(s->interval_ps, >, NS_PER_MS * PS_PER_NS);
    for (uint32_t i = 1; i < s->n; i++) {
        g_assert_cmpuint(s->point[i - 1].at_ns, <, s->point[i].at_ns);
        for (int k = 2; k < SERIES_VALUES; k++) {
            g_assert_cmpuint(s->point[i - 1].value[k], <=,
                             s->point[i].value[k]);
        }
        most_dirty = MAX(most_dirty, s->point[i].value[0]);
    }
    g_assert_cmpuint(most_dirty, >=, 5);
    g_assert_cmpuint(most_dirty, <=, 10);
    g_assert_cmpuint(s->point[s->n - 1].value[1], ==, 500000);
    g_assert_cmpuint(s->point[s->n - 1].value[6], >, 0);
    g_assert_cmpuint(s->point[s->n - 1].value[6], <=,
                     r->ssd->buffer->stats.early_flushes);
    ssd_reset_stats(r->ssd);
    g_assert_cmpuint(s->n, ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* Down when more dirty units had to leave, up when more was in vain. */
static void test_threshold(void)
{
    Ref *r = ref_new(ref_config("nand.channels=1;nand.page_size=4KiB;"
                                "nand.pages=16;nand.blocks=40;buffer.size=400KiB;"
                                "buffer.early_adapt=100;"
                                "buffer.policy=cflru-ef"), true);
    uint32_t low;

    g_assert_cmpuint(r->ssd->buffer->early.threshold_ppm, ==, 800000);
    for (uint64_t i = 0; i < 400; i++) { /* without a pause: dirty victims */
        ref_do(r, SSD_OP_WRITE, i % 150 * UNIT, UNIT, false);
    }
    ref_drain(r);
    low = r->ssd->buffer->early.threshold_ppm;
    g_assert_cmpuint(low, <, 800000);
    for (uint64_t i = 0; i < 400; i++) { /* with pauses: flushes in vain */
        write_unit(r, 150 + i % 95);
        ref_pass(r, NS_PER_MS);
    }
    g_assert_cmpuint(r->ssd->buffer->early.threshold_ppm, >, low);
    ref_finish(r);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cache/read", test_read);
    g_test_add_func("/cache/read-twice", test_read_twice);
    g_test_add_func("/cache/victims", test_victims);
    g_test_add_func("/cache/free-at-data-in", test_free_at_data_in);
    g_test_add_func("/cache/clean-first", test_clean_first);
    g_test_add_func("/cache/flush", test_flush);
    g_test_add_func("/cache/drain", test_drain);
    g_test_add_func("/cache/tick", test_tick);
    g_test_add_func("/cache/none", test_none);
    g_test_add_func("/cache/dram", test_dram);
    g_test_add_func("/cache/dram-shared", test_dram_shared);
    g_test_add_func("/cache/dram-passes", test_dram_passes);
    g_test_add_func("/cache/dram-rate", test_dram_rate);
    g_test_add_func("/cache/overhead", test_overhead);
    g_test_add_func("/cache/fab", test_fab);
    g_test_add_func("/cache/bplru", test_bplru);
    g_test_add_func("/cache/ccf-lru", test_ccf_lru);
    g_test_add_func("/cache/early", test_early);
    g_test_add_func("/cache/early-idle", test_early_idle);
    g_test_add_func("/cache/early-spared", test_early_spared);
    g_test_add_func("/cache/early-pages", test_early_pages);
    g_test_add_func("/cache/second-chances", test_second_chances);
    g_test_add_func("/cache/second-chance", test_second_chance);
    g_test_add_func("/cache/series", test_series);
    g_test_add_func("/cache/threshold", test_threshold);
    return g_test_run();
}
