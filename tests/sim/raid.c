/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raid.c - arrays with redundancy: cost of commands, failures, rebuild.
 *
 * The drives are those of array.c: firmware 3000 ns, link 1000 ns for 4 KiB,
 * DRAM 500 ns for each unit, reads from NAND 200 + 50000 + 10240 ns; one die.
 * A chunk is a unit of 4 KiB, 8 blocks, unless a test says otherwise.
 */
#include "raid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <glib.h>

#include "array.h"
#include "one-die.h"
#include "prng.h"
#include "simtime.h"
#include "ssd-report.h"
#include "ssd-setup.h"

#define F     3000ULL
#define L     1000ULL
#define D     500ULL
#define NAND  (200ULL + 50000 + 10240)
#define READ  (F + NAND + L)
#define WRITE (F + L + D)
#define CHUNK 8

static const char drive[] = ONE_DIE "host.queue_depth=16;";

typedef struct Fixture {
    Ssd *ssd[RAID_MAX_DRIVES];
    unsigned n;
    Array *array;
    const RaidLayout *layout;
    uint64_t now_ns;
} Fixture;

/* first: further options of drive 0. */
static Fixture set_up_all(const char *level, unsigned n, unsigned spares,
                          const char *options, const char *first,
                          const RaidConfig *cfg, uint32_t chunk)
{
    SsdConfig *ssd = ssd_config_new();
    RaidLayout *layout;
    Fixture f = {.now_ns = 0};

    g_assert_true(ssd_config_set(ssd, drive, NULL));
    g_assert_true(ssd_config_set(ssd, options, NULL));
    f.ssd[1] = ssd_create(ssd, NULL, NULL, NULL);
    g_assert_true(ssd_config_set(ssd, first, NULL));
    f.ssd[0] = ssd_create(ssd, NULL, NULL, NULL);
    g_assert_true(ssd_config_set(ssd, "faults=", NULL));
    layout = raid_layout_new(level, n, spares, ssd_info(f.ssd[0])->nblocks,
                             chunk, NULL);
    g_assert_nonnull(layout);
    f.n = layout->n_drives;
    for (unsigned i = 2; i < f.n; i++) {
        f.ssd[i] = ssd_create(ssd, NULL, NULL, NULL);
    }
    f.layout = layout;
    f.array = array_new_raid(f.ssd, layout, cfg);
    ssd_config_free(ssd);
    return f;
}

static Fixture set_up_chunk(const char *level, unsigned n, unsigned spares,
                            const char *options, const RaidConfig *cfg,
                            uint32_t chunk)
{
    return set_up_all(level, n, spares, options, "", cfg, chunk);
}

static Fixture set_up(const char *level, unsigned n, unsigned spares,
                      const RaidConfig *cfg)
{
    return set_up_chunk(level, n, spares, "", cfg, CHUNK);
}

static void tear_down(Fixture *f)
{
    array_free(f->array);
    for (unsigned i = 0; i < f->n; i++) {
        ssd_destroy(f->ssd[i]);
    }
}

static RaidStats stats(const Fixture *f)
{
    return raid_stats(array_raid(f->array));
}

/* One command by itself; its completion. */
static SsdCompletion one(Fixture *f, SsdCmd cmd)
{
    SsdCompletion done;
    size_t n = 0;

    g_assert_cmpint(array_submit(f->array, f->now_ns, &cmd), ==, 0);
    while (n == 0) {
        f->now_ns = MAX(array_wait(f->array, SSD_TIME_NEVER), f->now_ns);
        n = array_advance(f->array, f->now_ns, &done, 1);
    }
    g_assert_cmpuint(done.tag, ==, cmd.tag);
    return done;
}

static uint64_t cost(Fixture *f, SsdOp op, uint64_t lba, uint32_t nblocks)
{
    SsdCompletion c =
        one(f, (SsdCmd){.op = op, .lba = lba, .nblocks = nblocks});
    uint64_t sum = 0;

#define SUM_COST(name, help) sum += c.cost.name##_ns;
    SSD_COSTS(SUM_COST)
#undef SUM_COST
    g_assert_cmpint(c.status, ==, SSD_STATUS_OK);
    g_assert_cmpuint(sum, ==, c.complete_ns - c.submit_ns);
    return c.complete_ns - c.submit_ns;
}

/* Let everything end that needs no command. */
static void settle(Fixture *f)
{
    SsdCompletion done;

    while (array_rebuilding(f->array)) {
        f->now_ns = MAX(array_wait(f->array, SSD_TIME_NEVER), f->now_ns);
        g_assert_cmpuint(array_advance(f->array, f->now_ns, &done, 1), ==, 0);
    }
}

/* ---- cost ---------------------------------------------------------------- */

/* A small write of RAID 5 reads, then writes two drives at the same time; a
 * whole stripe is written at once; a mirror writes both. */
static void test_cost(void)
{
    RaidConfig cfg = {.rebuild_depth = 1};
    Fixture f = set_up("5", 5, 0, &cfg);

    array_preload(f.array);
    array_begin(f.array, 0);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), ==, READ);
    g_assert_cmpuint(cost(&f, SSD_OP_WRITE, 3 * CHUNK, CHUNK), ==,
                     READ + WRITE);
    g_assert_cmpuint(cost(&f, SSD_OP_WRITE, 0, 4 * CHUNK), ==, WRITE);
    g_assert_cmpuint(stats(&f).updates[RAID_UPDATE_MODIFY], ==, 1);
    g_assert_cmpuint(stats(&f).updates[RAID_UPDATE_FULL], ==, 1);
    g_assert_cmpuint(stats(&f).parts_read, ==, 1 + 2);
    g_assert_cmpuint(stats(&f).parts_written, ==, 2 + 5);
    tear_down(&f);

    f = set_up("1", 2, 0, &cfg);
    array_preload(f.array);
    array_begin(f.array, 0);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), ==, READ);
    g_assert_cmpuint(cost(&f, SSD_OP_WRITE, 0, CHUNK), ==, WRITE);
    g_assert_cmpuint(stats(&f).parts_written, ==, 2);
    tear_down(&f);
}

/* Without its drive a chunk is computed from all others, which are read at the
 * same time; each is on a drive of its own, so it takes no longer. */
static void test_degraded(void)
{
    RaidFault fault = {.drive = 0, .at_ns = 0};
    RaidConfig cfg = {.rebuild_depth = 1, .fault = &fault, .n_faults = 1};
    Fixture f = set_up("5", 5, 0, &cfg);
    SsdCounters before, after;

    array_preload(f.array);
    array_begin(f.array, 0);
    ssd_get_counters(f.ssd[0], &before);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), ==, READ);
    g_assert_cmpuint(stats(&f).parts_read, ==, 4);
    g_assert_cmpuint(stats(&f).rebuilt_reads, ==, 1);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, CHUNK, CHUNK), ==, READ);
    g_assert_cmpuint(stats(&f).parts_read, ==, 5);
    /* The lost chunk is written: the other data is read. */
    g_assert_cmpuint(cost(&f, SSD_OP_WRITE, 0, CHUNK), ==, READ + WRITE);
    g_assert_cmpuint(stats(&f).updates[RAID_UPDATE_RECONSTRUCT], ==, 1);
    g_assert_cmpuint(stats(&f).parts_read, ==, 5 + 3);
    g_assert_cmpuint(stats(&f).parts_written, ==, 1);
    ssd_get_counters(f.ssd[0], &after);
    g_assert_cmpuint(after.nand_reads, ==, before.nand_reads);
    g_assert_cmpuint(stats(&f).unspared_chunks, ==, f.layout->n_rows);
    tear_down(&f);
}

/* A write of a stripe waits until the one before it has ended. */
static void test_lock(void)
{
    RaidConfig cfg = {.rebuild_depth = 1};
    Fixture f = set_up("5", 5, 0, &cfg);
    SsdCmd cmd = {.op = SSD_OP_WRITE, .lba = 0, .nblocks = CHUNK};
    SsdCompletion done[2];

    array_preload(f.array);
    array_begin(f.array, 0);
    g_assert_cmpint(array_submit(f.array, 0, &cmd), ==, 0);
    cmd.tag = 1;
    cmd.lba = CHUNK;
    g_assert_cmpint(array_submit(f.array, 0, &cmd), ==, 0);
    g_assert_cmpuint(array_advance(f.array, NS_PER_S, done, 2), ==, 2);
    g_assert_cmpuint(done[0].tag, ==, 0);
    g_assert_cmpuint(done[0].complete_ns, ==, READ + WRITE);
    /* Its own old chunk is read from NAND, the parity from the buffer. */
    g_assert_cmpuint(done[1].complete_ns, ==, 2 * (READ + WRITE));
    g_assert_cmpuint(stats(&f).lock_waits, ==, 1);
    tear_down(&f);
}

/* ---- failures ------------------------------------------------------------ */

static bool mapped(const Fixture *f, uint32_t i, uint64_t row)
{
    return ssd_mapped(f->ssd[i], row * f->layout->chunk_blocks, NULL);
}

/* After the rebuild each chunk is on a drive that works; the failed one was not
 * read.  Of a row one chunk was rebuilt, unless its spare chunk was lost. */
static void check_rebuilt(const Fixture *f, const RaidFailure *failure,
                          unsigned n)
{
    const RaidLayout *l = f->layout;

    for (uint64_t row = 0; row < l->n_rows; row++) {
        for (uint32_t i = 0; i < l->n_groups * l->width; i++) {
            uint32_t at = raid_layout_place(l, failure, n, row, i / l->width,
                                            i % l->width);

            g_assert_cmpuint(at, !=, RAID_NO_DRIVE);
            g_assert_true(mapped(f, at, row));
        }
    }
}

static void test_rebuild(void)
{
    static const struct {
        const char *level;
        unsigned n, spares;
        uint32_t depth;
    } arrays[] = {{"1", 2, 1, 1},
                  {"10", 4, 1, 3},
                  {"5", 4, 1, 8},
                  {"6", 6, 2, 4},
                  {"declustered:2+1", 7, 1, 2},
                  {"declustered:3+2", 12, 2, 64}};

    for (unsigned i = 0; i < G_N_ELEMENTS(arrays); i++) {
        RaidFault fault[2] = {{1, 0}, {2, 5000000}};
        RaidConfig cfg = {.rebuild_depth = arrays[i].depth,
                          .fault = fault,
                          .n_faults = arrays[i].spares};
        Fixture f =
            set_up(arrays[i].level, arrays[i].n, arrays[i].spares, &cfg);
        RaidFailure failure[2] = {{1, f.layout->n_rows}, {2, f.layout->n_rows}};
        uint64_t bytes = (uint64_t)CHUNK * 512;

        array_preload(f.array);
        array_begin(f.array, 0);
        cost(&f, SSD_OP_READ, 0, 1); /* the failures happen */
        f.now_ns = MAX(f.now_ns, 5000000);
        cost(&f, SSD_OP_READ, 0, 1);
        settle(&f);
        g_assert_cmpuint(stats(&f).n_failed, ==, arrays[i].spares);
        g_assert_cmpuint(stats(&f).lost_chunks, ==, 0);
        g_assert_cmpuint(stats(&f).unspared_chunks, ==, 0);
        g_assert_cmpuint(stats(&f).rebuilt_bytes, <=,
                         arrays[i].spares * f.layout->n_rows * bytes);
        check_rebuilt(&f, failure, arrays[i].spares);
        tear_down(&f);
    }
}

/* During a rebuild: a lost chunk is computed as long as its row was not
 * reached, a chunk whose rebuild is under way is waited for, a rebuilt one is
 * read. */
static void test_during_rebuild(void)
{
    RaidFault fault = {.drive = 0, .at_ns = 0};
    RaidConfig cfg = {.rebuild_depth = 1,
                      .rebuild_bytes_s = 4096,
                      .fault = &fault,
                      .n_faults = 1}; /* a row each second */
    Fixture f = set_up("5", 5, 1, &cfg);
    uint64_t row = 4 * CHUNK; /* of data; left-symmetric: drive 0 has role 0 */

    array_preload(f.array);
    array_begin(f.array, 0);
    f.now_ns = 1000; /* row 0 is being read */
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), ==,
                     READ + WRITE - 1000 + F + D + L);
    g_assert_cmpuint(stats(&f).lock_waits, ==, 1);
    g_assert_cmpuint(stats(&f).rebuilt_reads, ==, 0);
    g_assert_cmpuint(stats(&f).parts_read, ==, 1);
    /* Row 1 has role 1 on drive 0. */
    g_assert_cmpuint(cost(&f, SSD_OP_READ, row + CHUNK, CHUNK), ==, READ);
    g_assert_cmpuint(stats(&f).rebuilt_reads, ==, 1);
    f.now_ns = NS_PER_S + NS_PER_S / 2;
    cost(&f, SSD_OP_READ, row + CHUNK, CHUNK);
    g_assert_cmpuint(stats(&f).rebuilt_reads, ==, 1);
    tear_down(&f);
}

/* A read that is under way on the drive when it fails begins again. */
static void test_cut_off(void)
{
    RaidFault fault = {.drive = 0, .at_ns = 10000};
    RaidConfig cfg = {.rebuild_depth = 1, .fault = &fault, .n_faults = 1};
    Fixture f = set_up("5", 5, 0, &cfg);

    array_preload(f.array);
    array_begin(f.array, 0);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), ==, 10000 + READ);
    g_assert_cmpuint(stats(&f).rebuilt_reads, ==, 1);
    tear_down(&f);
}

/* One row at a time, one chunk in each step: the rebuild of a mirror takes a
 * read and a write for each row, until the spare's buffer is full. */
static void test_rebuild_time(void)
{
    RaidFault fault = {.drive = 0, .at_ns = 0};
    RaidConfig cfg = {.rebuild_depth = 1, .fault = &fault, .n_faults = 1};
    uint32_t chunk = 128; /* 64 KiB: half a buffer */
    Fixture f = set_up_chunk("1", 2, 1, "buffer.size=4MiB", &cfg, chunk);
    uint64_t rows = f.layout->n_rows;
    /* 16 units in 4 pages of one plane, which are read one after the other;
     * the last page crosses the link after the others. */
    uint64_t read = F + 4 * (200 + 50000 + 4 * 10240) + 4 * L;
    uint64_t write = F + 16 * (L + D);
    uint64_t took;

    array_preload(f.array);
    array_begin(f.array, 0);
    cost(&f, SSD_OP_READ, 0, CHUNK);
    settle(&f);
    took = stats(&f).rebuild_ns;
    g_assert_cmpuint(stats(&f).rebuilt_bytes, ==, rows * chunk * 512);
    g_test_message("rebuild of %" G_GUINT64_FORMAT " rows: %" G_GUINT64_FORMAT
                   " ns, bounds %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT,
                   rows, took, rows * (read + write) * 95 / 100,
                   rows * (read + write) * 105 / 100);
    g_assert_cmpuint(took, >, rows * (read + write) * 95 / 100);
    g_assert_cmpuint(took, <, rows * (read + write) * 105 / 100);
    tear_down(&f);

    cfg.rebuild_bytes_s = 1000000; /* a row in 65.536 ms, one chunk in each */
    f = set_up_chunk("1", 2, 1, "", &cfg, chunk);
    array_preload(f.array);
    array_begin(f.array, 0);
    cost(&f, SSD_OP_READ, 0, CHUNK);
    settle(&f);
    g_assert_cmpuint(stats(&f).rebuild_ns, >=, (rows - 1) * 65536000);
    g_assert_cmpuint(stats(&f).rebuild_ns, <, rows * 65536000 + 10000000);
    tear_down(&f);
}

/* A declustered array reads a rebuild's chunks from all drives: with 5 of 16
 * drives in a stripe it is faster than RAID 5 of 5 drives, for drives that are
 * the bottleneck. */
static void test_declustered_is_faster(void)
{
    RaidFault fault = {.drive = 0, .at_ns = 0};
    RaidConfig cfg = {.rebuild_depth = 32, .fault = &fault, .n_faults = 1};
    const char *const level[] = {"5", "declustered:4+1"};
    uint64_t ns[2];

    for (unsigned i = 0; i < 2; i++) {
        Fixture f = set_up(level[i], i ? 16 : 5, 1, &cfg);

        array_preload(f.array);
        array_begin(f.array, 0);
        cost(&f, SSD_OP_READ, 0, CHUNK);
        settle(&f);
        ns[i] = stats(&f).rebuild_ns;
        tear_down(&f);
    }
    g_test_message("rebuild: RAID 5 %" G_GUINT64_FORMAT
                   " ns, declustered %" G_GUINT64_FORMAT " ns",
                   ns[0], ns[1]);
    g_assert_cmpuint(ns[1] * 2, <, ns[0]);
}

/* More failures than parity: reads and writes of lost stripes end with an
 * error, others do not, and nothing waits for ever. */
static void test_lost(void)
{
    RaidFault fault[2] = {{0, 0}, {1, 0}};
    RaidConfig cfg = {.rebuild_depth = 1, .fault = fault, .n_faults = 2};
    Fixture f = set_up("5", 4, 0, &cfg);
    SsdCompletion c;

    array_preload(f.array);
    array_begin(f.array, 0);
    c = one(&f, (SsdCmd){.op = SSD_OP_READ, .lba = 0, .nblocks = CHUNK});
    g_assert_cmpint(c.status, ==, SSD_STATUS_UNRECOVERED_READ);
    g_assert_cmpuint(c.bad_lba, ==, 0);
    c = one(&f, (SsdCmd){.op = SSD_OP_WRITE, .lba = 0, .nblocks = 3 * CHUNK});
    g_assert_cmpint(c.status, ==, SSD_STATUS_WRITE_FAULT);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 2 * CHUNK, CHUNK), ==, READ);
    g_assert_cmpuint(stats(&f).lost, ==, 2);
    cost(&f, SSD_OP_FLUSH, 0, 0);
    tear_down(&f);
}

/* A chunk that its drive cannot read comes from the others, and is written
 * again: the next read finds it. */
static void test_repair(void)
{
    g_autofree char *path = g_strdup_printf("raid-faults-%d.txt", getpid());
    g_autofree char *options = g_strdup_printf("faults=%s", path);
    RaidConfig cfg = {.rebuild_depth = 1};
    Fixture f;

    g_assert_true(g_file_set_contents(
        path, "on=read lba=0..7 cause=host -> uncorrectable\n", -1, NULL));
    f = set_up_all("5", 3, 0, "", options, &cfg, CHUNK);
    remove(path);
    array_preload(f.array);
    array_begin(f.array, 0);
    /* Read, the others at the same time, then the write. */
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), ==, READ + READ + WRITE);
    g_assert_cmpuint(stats(&f).repaired, ==, 1);
    g_assert_cmpuint(stats(&f).rebuilt_reads, ==, 1);
    g_assert_cmpuint(cost(&f, SSD_OP_READ, 0, CHUNK), <, READ); /* buffered */
    g_assert_cmpuint(stats(&f).repaired, ==, 1);
    g_assert_cmpuint(stats(&f).n_failed, ==, 0);
    tear_down(&f);
}

/* ---- polling ------------------------------------------------------------- */

typedef struct Log {
    GArray *done; /* SsdCompletion */
    RaidStats stats;
} Log;

/* A random host; poll: at each event, or only when a command is submitted. */
static Log play(uint64_t seed, bool poll)
{
    static const struct {
        const char *level;
        unsigned n;
    } arrays[] = {
        {"1", 2}, {"10", 4}, {"5", 4}, {"6", 6}, {"declustered:2+1", 7}};
    RaidFault fault[2];
    RaidConfig cfg = {.fault = fault, .n_faults = 2};
    Log log = {g_array_new(FALSE, FALSE, sizeof(SsdCompletion)), {.lost = 0}};
    uint64_t used = 0, at_ns = 0;
    unsigned pick;
    Fixture f;
    Prng prng;

    prng_seed(&prng, seed, 1);
    pick = (unsigned)prng_below(&prng, G_N_ELEMENTS(arrays));
    fault[0] = (RaidFault){(uint32_t)prng_below(&prng, 2),
                           prng_below(&prng, 20000000)};
    fault[1] = (RaidFault){2, prng_below(&prng, 40000000)};
    cfg.rebuild_depth = 1 + (uint32_t)prng_below(&prng, 6);
    cfg.rebuild_bytes_s = prng_below(&prng, 2) ? 2000000 : 0;
    f = set_up(arrays[pick].level, arrays[pick].n, 1, &cfg);
    array_preload(f.array);
    array_begin(f.array, 0);
    for (unsigned i = 0; i < 400 || used; i++) {
        SsdCompletion done[16];
        SsdCmd cmd = {.op = SSD_OP_READ};
        uint64_t n, next_ns;

        at_ns += i < 400 ? prng_below(&prng, 200000) : 10000000;
        while (poll && (next_ns = array_wait(f.array, at_ns)) < at_ns) {
            n = array_advance(f.array, next_ns, done, 16);
            g_array_append_vals(log.done, done, (guint)n);
            for (unsigned k = 0; k < n; k++) {
                used &= ~(1ULL << done[k].tag);
            }
        }
        n = array_advance(f.array, at_ns, done, 16);
        g_array_append_vals(log.done, done, (guint)n);
        for (unsigned k = 0; k < n; k++) {
            used &= ~(1ULL << done[k].tag);
        }
        cmd.op = prng_below(&prng, 2)    ? SSD_OP_READ
                 : prng_below(&prng, 12) ? SSD_OP_WRITE
                 : prng_below(&prng, 2)  ? SSD_OP_TRIM
                                         : SSD_OP_FLUSH;
        cmd.nblocks = 1 + (uint32_t)prng_below(&prng, 60);
        cmd.lba = prng_below(&prng, 400);
        cmd.fua = prng_below(&prng, 8) == 0;
        if (i < 400 && used != 0xffff) {
            cmd.tag = (uint64_t)__builtin_ctzll(~used);
            used |= 1ULL << cmd.tag;
            g_assert_cmpint(array_submit(f.array, at_ns, &cmd), ==, 0);
        }
        g_assert_cmpuint(i, <, 10000); /* every command ends */
    }
    f.now_ns = at_ns;
    settle(&f);
    log.stats = stats(&f);
    for (unsigned i = 0; i < f.n; i++) {
        g_assert_true(ssd_check(f.ssd[i], NULL));
    }
    tear_down(&f);
    return log;
}

static void test_polling(void)
{
    uint64_t waits = 0, computed = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        Log a = play(seed, true), b = play(seed, false);

        g_assert_cmpuint(a.done->len, ==, b.done->len);
        g_assert_cmpmem(a.done->data, a.done->len * sizeof(SsdCompletion),
                        b.done->data, b.done->len * sizeof(SsdCompletion));
        g_assert_cmpmem(&a.stats, sizeof(a.stats), &b.stats, sizeof(b.stats));
        waits += a.stats.lock_waits;
        computed += a.stats.rebuilt_reads;
        g_array_unref(a.done);
        g_array_unref(b.done);
    }
    g_assert_cmpuint(waits, >, 100);
    g_assert_cmpuint(computed, >, 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/raid/cost", test_cost);
    g_test_add_func("/raid/degraded", test_degraded);
    g_test_add_func("/raid/lock", test_lock);
    g_test_add_func("/raid/rebuild", test_rebuild);
    g_test_add_func("/raid/during-rebuild", test_during_rebuild);
    g_test_add_func("/raid/cut-off", test_cut_off);
    g_test_add_func("/raid/rebuild-time", test_rebuild_time);
    g_test_add_func("/raid/declustered-is-faster", test_declustered_is_faster);
    g_test_add_func("/raid/lost", test_lost);
    g_test_add_func("/raid/repair", test_repair);
    g_test_add_func("/raid/polling", test_polling);
    return g_test_run();
}
