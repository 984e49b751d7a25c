/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive.c - requirements of a drive with any policies: every test runs over
 * each listed policy in turn.
 */
#include <errno.h>
#include <string.h>

#include "buffer/buffer-policy.h"
#include "gc/gc-policy.h"
#include "map/map-policy.h"
#include "placement/alloc-policy.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"
#include "ssd-setup.h"

#define UNIT 8 /* blocks of 512 bytes */

/* 7 % over-provisioning with the fewest blocks that allow it. */
#define TIGHT                                                                  \
    "nand.channels=2;nand.blocks=140;nand.pages=4;ftl.op_percent=7%;"          \
    "buffer.size=64KiB;"

typedef void PolicyTest(const char *policies);

static char *with(const char *options, const char *policies)
{
    return g_strconcat(options, ";", policies, NULL);
}

/* f for each policy of each kind, the others at their defaults. */
static void each_policy(PolicyTest *f)
{
    for (int i = 0; gc_policies[i]; i++) {
        g_autofree char *s = g_strconcat("ftl.gc=", gc_policies[i]->name, NULL);

        f(s);
    }
    for (int i = 0; alloc_policies[i]; i++) {
        g_autofree char *s = g_strconcat(
            "ftl.random_blocks=1;ftl.alloc=", alloc_policies[i]->name, NULL);

        f(s);
    }
    for (int i = 0; buffer_policies[i]; i++) {
        g_autofree char *s =
            g_strconcat("buffer.policy=", buffer_policies[i]->name, NULL);

        f(s);
    }
    for (int i = 0; map_policies[i]; i++) {
        g_autofree char *s = g_strconcat("ftl.map=", map_policies[i]->name,
                                         NULL);

        if (map_policies[i]->own_blocks) { /* dftl: its own test */
            f(s);
        }
    }
}

/*
 * Pages programmed are those of the host and those of GC and nothing
 * else; the host's hold the units reported as programmed, and padding.
 */
static void check_accounts(Ref *r)
{
    const NandStats *s = nand_stats(r->ssd->nand);
    uint64_t host = s->ops[NAND_PROGRAM][NAND_CAUSE_HOST];
    uint64_t all = 0;
    SsdCounters c;

    for (int i = 0; i < NAND_N_CAUSES; i++) {
        all += s->ops[NAND_PROGRAM][i];
    }
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(c.nand_programs, ==, all);
    g_assert_cmpuint(all, ==,
                     host + s->ops[NAND_PROGRAM][NAND_CAUSE_GC] +
                         s->ops[NAND_PROGRAM][NAND_CAUSE_META] +
                         s->ops[NAND_PROGRAM][NAND_CAUSE_MERGE]);
    g_assert_cmpuint(host * r->ssd->l.units_per_page, ==,
                     r->n_programmed + r->ssd->inspect.count.padded_units);
    g_assert_cmpuint(c.nand_bytes_written, ==, all * r->info->page_bytes);
    g_assert_cmpuint((s->ops[NAND_PROGRAM][NAND_CAUSE_GC] +
                      s->ops[NAND_PROGRAM][NAND_CAUSE_MERGE]) *
                         r->ssd->l.units_per_page,
                     >=, r->ssd->inspect.count.gc_copied_units);
}

/* A full drive, overwritten eleven times at random, one unit at a time. */
static void overwrite(const char *policies)
{
    g_autofree char *options = with(TIGHT, policies);
    Ref *r = ref_new(ref_config(options), true);
    uint64_t n = 11 * r->n_units;
    SsdCounters c;
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (uint64_t i = 0; i < n; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
               false);
        if (i % 1000 == 0) {
            ref_verify(r);
        }
    }
    ref_finish(r);
    check_accounts(r);
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(c.host_units_written, ==, n);
    g_assert_cmpuint(c.host_bytes_written, ==, n * r->info->unit_bytes);
    g_assert_cmpuint(r->n_programmed + r->n_superseded, ==, n);
    g_assert_true(c.waf > 1 && c.waf < 30);
    ref_free(r);
}

static void test_overwrite(void)
{
    each_policy(overwrite);
}

/* In order, GC finds only empty blocks: nothing is copied. */
static void sequential(const char *policies)
{
    g_autofree char *options = with(TIGHT, policies);
    Ref *r = ref_new(ref_config(options), true);
    SsdCounters c;

    for (int round = 0; round < 10; round++) {
        for (uint64_t lpn = 0; lpn + 4 <= r->n_units; lpn += 4) {
            ref_do(r, SSD_OP_WRITE, lpn * UNIT, 4 * UNIT, false);
        }
    }
    ref_finish(r);
    check_accounts(r);
    ssd_get_counters(r->ssd, &c);
    g_assert_true(c.waf < 1.1);
    ref_free(r);
}

static void test_sequential(void)
{
    each_policy(sequential);
}

/* Writes, trims and flushes of parts of units, overlapping, on a full drive. */
static void mixed(const char *policies)
{
    g_autofree char *options = with(TIGHT "ftl.unit=16KiB", policies);
    Ref *r = ref_new(ref_config(options), true);
    uint64_t nblocks = r->info->nblocks;
    Prng rng;

    prng_seed(&rng, 2, 2);
    for (int i = 0; i < 20000; i++) {
        uint32_t n = 1 + (uint32_t)prng_below(&rng, 70);
        uint64_t lba = prng_below(&rng, nblocks - n);
        uint64_t kind = prng_below(&rng, 10);

        ref_do(r,
               kind < 7   ? SSD_OP_WRITE
               : kind < 9 ? SSD_OP_TRIM
                          : SSD_OP_READ,
               lba, n, kind == 0);
        if (i % 500 == 0) {
            ref_do(r, SSD_OP_FLUSH, 0, 0, false);
            ref_verify(r);
        }
    }
    ref_finish(r);
    check_accounts(r);
    ref_free(r);
}

static void test_mixed(void)
{
    each_policy(mixed);
}

/* Trimmed whole, a drive is as good as new: a fill copies nothing. */
static void trim_all(const char *policies)
{
    g_autofree char *options = with(TIGHT, policies);
    Ref *r = ref_new(ref_config(options), true);
    uint64_t copied;
    Prng rng;

    prng_seed(&rng, 3, 3);
    for (uint64_t i = 0; i < r->n_units; i++) {
        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->n_units) * UNIT, UNIT,
               false);
    }
    ref_finish(r);
    ref_one(r, SSD_OP_TRIM, 0, (uint32_t)r->info->nblocks, false);
    for (uint64_t lpn = 0; lpn < r->n_units; lpn++) {
        g_assert_false(ssd_mapped(r->ssd, lpn * UNIT, NULL));
    }
    ref_pass(r, 1 * NS_PER_S);
    copied = r->ssd->inspect.count.gc_copied_units;
    for (uint64_t lpn = 0; lpn + 4 <= r->n_units; lpn += 4) {
        ref_do(r, SSD_OP_WRITE, lpn * UNIT, 4 * UNIT, false);
    }
    ref_finish(r);
    g_assert_cmpuint(r->ssd->inspect.count.gc_copied_units, ==, copied);
    ref_free(r);
}

static void test_trim_all(void)
{
    each_policy(trim_all);
}

/* One command over the whole drive, far larger than the buffer. */
static void huge(const char *policies)
{
    g_autofree char *options = with(TIGHT, policies);
    Ref *r = ref_new(ref_config(options), false);

    for (int i = 0; i < 4; i++) {
        ref_one(r, SSD_OP_WRITE, 0, (uint32_t)r->info->nblocks, i % 2);
        ref_one(r, SSD_OP_READ, 0, (uint32_t)r->info->nblocks, false);
        ref_verify(r);
    }
    /* Two of them at once, and an odd piece of them. */
    ref_do(r, SSD_OP_WRITE, 0, (uint32_t)r->info->nblocks, false);
    ref_do(r, SSD_OP_WRITE, 3, (uint32_t)r->info->nblocks - 5, true);
    ref_do(r, SSD_OP_FLUSH, 0, 0, false);
    ref_finish(r);
    ref_free(r);
}

static void test_huge(void)
{
    each_policy(huge);
}

/* The smallest buffer, one page, with every kind of write. */
static void test_small_buffer(void)
{
    Ref *r = ref_new(ref_config("buffer.size=16KiB;host.queue_depth=7"), true);
    Prng rng;

    prng_seed(&rng, 4, 4);
    for (int i = 0; i < 10000; i++) {
        uint32_t n = 1 + (uint32_t)prng_below(&rng, 100);

        ref_do(r, SSD_OP_WRITE, prng_below(&rng, r->info->nblocks - n), n,
               i % 11 == 0);
    }
    ref_finish(r);
    ref_free(r);
}

/* ---- errors -------------------------------------------------------------- */

static void test_bad_range(void)
{
    Ref *r = ref_new(ref_config(""), false);
    uint64_t n = r->info->nblocks;
    static const SsdOp ops[] = {SSD_OP_READ, SSD_OP_WRITE, SSD_OP_TRIM};

    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++) {
        g_assert_cmpint(ref_submit(r, ops[i], 0, 0, false), ==, -EINVAL);
        g_assert_cmpint(ref_submit(r, ops[i], n, 1, false), ==, -EINVAL);
        g_assert_cmpint(ref_submit(r, ops[i], n - 1, 2, false), ==, -EINVAL);
        g_assert_cmpint(ref_submit(r, ops[i], 1, UINT32_MAX, false), ==,
                        -EINVAL);
        g_assert_cmpint(ref_submit(r, ops[i], UINT64_MAX, 1, false), ==,
                        -EINVAL);
        g_assert_cmpint(ref_submit(r, ops[i], UINT64_MAX, UINT32_MAX, false),
                        ==, -EINVAL);
        ref_do(r, ops[i], n - 1, 1, false);
        ref_do(r, ops[i], 0, (uint32_t)n, false);
    }
    g_assert_cmpint(ref_submit(r, SSD_OP_FLUSH, n, 0, false), ==, 0);
    ref_finish(r);
    ref_free(r);
}

static void test_bad_stream(void)
{
    Ref *r = ref_new(ref_config(""), false);
    SsdCmd c = {.op = SSD_OP_WRITE, .nblocks = 1, .version = 1};

    c.stream = (uint16_t)r->info->host_streams;
    g_assert_cmpint(ssd_submit(r->ssd, 0, &c), ==, -EINVAL);
    c.stream = UINT16_MAX;
    g_assert_cmpint(ssd_submit(r->ssd, 0, &c), ==, -EINVAL);
    ref_free(r);
}

/* host.queue_depth commands, then -EBUSY until one has completed. */
static void test_busy(void)
{
    Ref *r = ref_new(ref_config("host.queue_depth=5"), true);
    SsdCmd c = {.op = SSD_OP_READ, .nblocks = 1, .tag = 99};

    g_assert_cmpuint(r->info->queue_depth, ==, 5);
    for (int i = 0; i < 5; i++) {
        g_assert_cmpint(
            ref_submit(r, SSD_OP_READ, (uint64_t)i * UNIT, UNIT, false), ==, 0);
    }
    g_assert_cmpint(ssd_submit(r->ssd, 0, &c), ==, -EBUSY);
    g_assert_cmpint(ssd_submit(r->ssd, 1000, &c), ==, -EBUSY);
    r->now_ns = 1000;
    ref_drain(r);
    g_assert_cmpint(ref_submit(r, SSD_OP_READ, 0, UNIT, false), ==, 0);
    ref_finish(r);
    ref_free(r);
}

/* Aborted in time, a command has no effect; too late, it has all of it. */
static void test_abort(void)
{
    SsdConfig *cfg = ref_config("host.firmware=10us");
    Ssd *ssd = ssd_create(cfg, NULL, NULL, NULL);
    SsdCompletion done;
    SsdCmd c = {.op = SSD_OP_WRITE, .nblocks = UNIT, .version = 1, .tag = 7};

    g_assert_false(ssd_abort(ssd, 0, 7));
    g_assert_cmpint(ssd_submit(ssd, 0, &c), ==, 0);
    g_assert_false(ssd_abort(ssd, 0, 8));
    g_assert_true(ssd_abort(ssd, 5000, 7));
    g_assert_cmpuint(ssd_advance(ssd, 1000000, &done, 1), ==, 1);
    g_assert_cmpint(done.status, ==, SSD_STATUS_ABORTED);
    g_assert_cmpuint(done.tag, ==, 7);
    g_assert_false(ssd_mapped(ssd, 0, NULL));

    c.version = 2;
    g_assert_cmpint(ssd_submit(ssd, 1000000, &c), ==, 0);
    g_assert_cmpuint(ssd_advance(ssd, 2000000, NULL, 0), ==, 0);
    g_assert_false(ssd_abort(ssd, 2000000, 7)); /* done, not yet fetched */
    g_assert_cmpuint(ssd_advance(ssd, 2000000, &done, 1), ==, 1);
    g_assert_cmpint(done.status, ==, SSD_STATUS_OK);
    g_assert_true(ssd_mapped(ssd, 0, NULL));
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

/*
 * Who waits for a command is woken for it; who waits for nothing is not woken
 * for each page that the drive programs by itself.
 */
static void test_wakeups(void)
{
    Ref *r = ref_new(ref_config(""), false);
    uint64_t next_ns;

    g_assert_cmpuint(ssd_next_event_ns(r->ssd), ==, SSD_TIME_NEVER);
    ref_do(r, SSD_OP_WRITE, 0, 4 * UNIT, false);
    next_ns = ssd_next_event_ns(r->ssd);
    g_assert_cmpuint(next_ns, <, 100000);
    ref_drain(r);
    next_ns = ssd_next_event_ns(r->ssd); /* its page is being programmed */
    g_assert_cmpuint(next_ns, >=, r->now_ns + NS_PER_MS);
    g_assert_cmpuint(next_ns, !=, SSD_TIME_NEVER);
    ref_pass(r, 10 * NS_PER_MS);
    g_assert_cmpuint(ssd_next_event_ns(r->ssd), ==, SSD_TIME_NEVER);

    /* A completion that nobody has fetched is due. */
    ref_do(r, SSD_OP_TRIM, 0, UNIT, false);
    r->now_ns += 100000;
    g_assert_cmpuint(ssd_advance(r->ssd, r->now_ns, NULL, 0), ==, 0);
    g_assert_cmpuint(ssd_next_event_ns(r->ssd), <, r->now_ns);
    ref_drain(r);
    ref_free(r);
}

/* ---- preload ------------------------------------------------------------- */

static void test_preload(void)
{
    SsdConfig *cfg = ref_config("");
    Ssd *ssd = ssd_create(cfg, NULL, NULL, NULL);
    uint64_t n = ssd_info(ssd)->nblocks;
    GError *error = NULL;
    uint64_t version = 9;

    g_assert_cmpint(ssd_preload(ssd, 0, 0), ==, -EINVAL);
    g_assert_cmpint(ssd_preload(ssd, n, 1), ==, -EINVAL);
    g_assert_cmpint(ssd_preload(ssd, 1, n), ==, -EINVAL);
    g_assert_cmpint(ssd_preload(ssd, 20, 1), ==, 0); /* unit 2 */
    g_assert_cmpint(ssd_preload(ssd, 31, 2), ==, 0); /* units 3 and 4 */
    g_assert_cmpint(ssd_preload(ssd, 31, 2), ==, 0); /* again: nothing */
    for (uint64_t lpn = 0; lpn < 8; lpn++) {
        g_assert_cmpint(ssd_mapped(ssd, lpn * UNIT + 7, &version), ==,
                        lpn >= 2 && lpn <= 4);
        g_assert_cmpuint(version, ==, 0);
    }
    g_assert_cmpint(ssd_preload(ssd, 0, n), ==, 0);
    g_assert_true(ssd_mapped(ssd, n - 1, NULL));
    ssd_check(ssd, &error);
    g_assert_no_error(error);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
}

/* ---- statistics ---------------------------------------------------------- */

static void test_counters(void)
{
    Ref *r = ref_new(ref_config(""), true);
    SsdCounters c;

    ref_one(r, SSD_OP_WRITE, 4, 8, true); /* halves of two units */
    ref_one(r, SSD_OP_READ, 0, 3, false);
    ref_one(r, SSD_OP_TRIM, 0, 64, false);
    ref_one(r, SSD_OP_FLUSH, 0, 0, false);
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(c.commands[SSD_OP_WRITE], ==, 1);
    g_assert_cmpuint(c.commands[SSD_OP_READ], ==, 1);
    g_assert_cmpuint(c.commands[SSD_OP_TRIM], ==, 1);
    g_assert_cmpuint(c.commands[SSD_OP_FLUSH], ==, 1);
    g_assert_cmpuint(c.host_units_written, ==, 2);
    g_assert_cmpuint(c.host_bytes_written, ==, 4096);
    g_assert_cmpuint(c.host_units_read, ==, 1);
    g_assert_cmpuint(c.host_bytes_read, ==, 1536);
    g_assert_cmpuint(c.nand_programs, ==, 2); /* as each half arrives */
    g_assert_cmpuint(c.nand_reads, ==, 3); /* the halves, and the host */
    g_assert_cmpuint(ssd_latency(r->ssd, SSD_OP_READ)->n, ==, 1);

    ssd_reset_stats(r->ssd);
    ssd_get_counters(r->ssd, &c);
    g_assert_cmpuint(c.commands[SSD_OP_WRITE], ==, 0);
    g_assert_cmpuint(c.host_bytes_written, ==, 0);
    g_assert_cmpuint(c.nand_programs, ==, 0);
    g_assert_cmpuint(ssd_latency(r->ssd, SSD_OP_READ)->n, ==, 0);
    g_assert_true(c.waf == 0);
    ref_free(r);
}

/* The seed, configuration and calls determine everything: two equal runs. */
static char *stats_of_run(void)
{
    Ref *r = ref_new(ref_config(TIGHT), true);
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};
    Prng rng;

    prng_seed(&rng, 9, 9);
    for (int i = 0; i < 5000; i++) {
        ref_do(r, i % 3 ? SSD_OP_WRITE : SSD_OP_READ,
               prng_below(&rng, r->n_units) * UNIT, UNIT, false);
    }
    ref_finish(r);
    ssd_stats_json(r->ssd, &w, NULL);
    ref_free(r);
    return g_string_free(s, FALSE);
}

static void test_same_again(void)
{
    g_autofree char *a = stats_of_run();
    g_autofree char *b = stats_of_run();

    g_assert_cmpstr(a, ==, b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/drive/overwrite", test_overwrite);
    g_test_add_func("/drive/sequential", test_sequential);
    g_test_add_func("/drive/mixed", test_mixed);
    g_test_add_func("/drive/trim-all", test_trim_all);
    g_test_add_func("/drive/huge", test_huge);
    g_test_add_func("/drive/small-buffer", test_small_buffer);
    g_test_add_func("/drive/bad-range", test_bad_range);
    g_test_add_func("/drive/bad-stream", test_bad_stream);
    g_test_add_func("/drive/busy", test_busy);
    g_test_add_func("/drive/abort", test_abort);
    g_test_add_func("/drive/wakeups", test_wakeups);
    g_test_add_func("/drive/preload", test_preload);
    g_test_add_func("/drive/counters", test_counters);
    g_test_add_func("/drive/same-again", test_same_again);
    return g_test_run();
}
