/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statistics.c - a reset of the statistics changes each row as its kind
 * requires; and counts add up: those of two parts of a run are those of the
 * run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"
#include "inspect/inspect-internal.h"
#include "map/map-policy.h"
#include "map/map.h"
#include "media/victims.h"
#include "media/media.h"
#include "ref.h"
#include "ssd-internal.h"
#include "ssd-report.h"

static const char *const drives[] = {
    "nand.multi_plane=on;nand.planes=2",
    "ftl.map=dftl;ftl.op_percent=200%;ftl.map_cache=1KiB",
    "ftl.map=bast;ftl.op_percent=200%",
    "ftl.recovery=scan;ftl.op_percent=200%",
    "streams.max=2;streams.gc=merge;ftl.op_percent=200%;media.errors=on",
    ("ftl.idle=1ms;ftl.op_percent=200%;ftl.gc_soft=20%;"
     "buffer.policy=cflru-ef;nand.energy_read=1;nand.energy_program=2"),
    ("ftl.op_percent=200%;thermal.resistance=5;thermal.capacitance=0.001;"
     "power.active=8000;power.idle=1000;thermal.warning=30;thermal.critical=31;"
     "thermal.throttle_1=30;thermal.throttle_2=40;nand.energy_read=100;"
     "power.states=8000:0:0/100:10:50:idle;power.idle_after=100us"),
    ("nand.channels=4;nand.dies=1;nand.planes=2;nand.blocks=60;nand.pages=16;"
     "nand.multi_plane=on;superblock.width=4;superblock.row=4;"
     "superblock.row_wait=10us;superblock.parity=on;ftl.op_percent=100%;"
     "media.errors=on;media.base=7.5e-3;media.retry_limit=1;"
     "media.retry_factor=0.97"),
    ("nand.cell=tlc;nand.slc_blocks=4;nand.pages=12;ftl.op_percent=200%;"
     "ftl.slc_fold_at=80%;nand.register_hits=on;nand.suspend=both;"
     "host.read_ahead=64KiB"),
    ("ftl.op_percent=200%;ftl.wear=static;ftl.wear_spread=1;media.errors=on;"
     "ftl.gc_preempt=on"),
    ("ftl.hot_cold=on;ftl.op_percent=300%;buffer.policy=lru;"
     "buffer.flush_interval=1ms;nand.copyback=on"),
    "ftl.map=fast;ftl.op_percent=200%",
    "ftl.recovery=checkpoint;ftl.op_percent=200%;ftl.checkpoint_interval=100",
};

/* The JSON of a row alone. */
static char *text_of(const StatTable *t, size_t row, const void *ctx)
{
    StatTable one = {&t->row[row], 1, t->set, t->n_sets};
    GString *s = g_string_new(NULL);
    JsonWriter w = {.out = s};

    stats_write(&one, ctx, &w);
    return g_string_free(s, FALSE);
}

static GPtrArray *texts_of(const StatTable *t, const void *ctx)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);

    for (size_t i = 0; i < t->n_rows; i++) {
        g_ptr_array_add(all, text_of(t, i, ctx));
    }
    return all;
}

/* Whether there is a number other than 0 outside of names. */
static bool counted(const char *json)
{
    bool in_name = false;

    for (; *json; json++) {
        in_name ^= *json == '"';
        if (!in_name && *json >= '1' && *json <= '9') {
            return true;
        }
    }
    return false;
}

static bool since_reset(const StatRow *r)
{
    return r->reset == STAT_RESET || r->reset == STAT_PEAK ||
           r->reset == STAT_COURSE || r->reset == STAT_PER_BYTE;
}

/* How many rows were reset that had counted. */
static unsigned compare(const StatTable *t, const GPtrArray *before,
                        const GPtrArray *after)
{
    unsigned n = 0;

    for (size_t i = 0; i < t->n_rows; i++) {
        const StatRow *r = &t->row[i];
        const char *was = before->pdata[i];
        const char *is = after->pdata[i];

        if (r->type == STAT_PART) {
            continue;
        }
        if (!since_reset(r)) {
            g_assert_cmpstr(is, ==, was);
        } else if (counted(is) && strcmp(r->path, "most_stale_pages") != 0) {
            g_error("%s: %s after a reset", r->path, is);
        }
        n += since_reset(r) && counted(was);
    }
    return n;
}

/* Values of all rows, of the drive and of its map. */
static void look(const Ssd *ssd, GPtrArray *found[3])
{
    const StatTable *map = ssd->map->policy->stats;
    DriveStats v;

    drive_stats_init(&v, ssd);
    found[0] = texts_of(&ssd_stats, &v);
    found[1] = texts_of(&ssd_head_stats, &v);
    found[2] = map ? texts_of(map, ssd) : NULL;
    drive_stats_clear(&v);
}

static void forget(GPtrArray *found[3])
{
    for (unsigned i = 0; i < 3; i++) {
        g_clear_pointer(&found[i], g_ptr_array_unref);
    }
}

static void work(Ref *r, uint64_t seed)
{
    Prng rng;

    prng_seed(&rng, seed, 1);
    for (int i = 0; i < 6000; i++) {
        uint64_t lba = prng_below(&rng, r->info->nblocks / 8) * 8;

        ref_do(r, i % 5 == 4 ? SSD_OP_READ : SSD_OP_WRITE, lba, 8, false);
    }
    ref_drain(r);
}

static Ref *used(const char *options)
{
    Ref *r = ref_new(ref_config(options), true);

    r->faults = true;
    work(r, 1);
    return r;
}

static void test_kinds(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        Ref *r = used(drives[i]);
        GPtrArray *before[3];
        GPtrArray *after[3];
        unsigned n;

        look(r->ssd, before);
        ssd_reset_stats(r->ssd);
        look(r->ssd, after);
        n = compare(&ssd_stats, before[0], after[0]) +
            compare(&ssd_head_stats, before[1], after[1]);
        if (before[2]) {
            n += compare(r->ssd->map->policy->stats, before[2], after[2]);
        }
        g_test_message("%s: %u rows", drives[i], n);
        g_assert_cmpuint(n, >, 40);
        forget(before);
        forget(after);
        ref_free(r);
    }
}

/* ---- counts add up ------------------------------------------------------- */

/* The numbers outside of names. */
static GArray *numbers_in(const char *json)
{
    GArray *all = g_array_new(false, false, sizeof(uint64_t));
    bool in_name = false;

    while (*json) {
        in_name ^= *json == '"';
        if (!in_name && g_ascii_isdigit(*json)) {
            char *end;
            uint64_t n = g_ascii_strtoull(json, &end, 10);

            g_array_append_val(all, n);
            json = end;
        } else {
            json++;
        }
    }
    return all;
}

/* Rows that count: no samples, no maxima. */
static bool is_sum(const StatRow *r)
{
    return r->path && r->reset == STAT_RESET && r->type != STAT_DOUBLE &&
           r->type != STAT_HIST && r->type != STAT_PART &&
           r->type != STAT_BOOL && r->type != STAT_STRING &&
           !strstr(r->path, "over_time") && !strstr(r->path, "max") &&
           !strstr(r->path, "most") && !strstr(r->path, "peak");
}

/* Paths of rows that have counted in both parts of a run go into `seen`. */
static void compare_sums(const StatTable *t, const GPtrArray *first,
                         const GPtrArray *second, const GPtrArray *both,
                         GHashTable *seen)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        g_autoptr(GArray) a = numbers_in(first->pdata[i]);
        g_autoptr(GArray) b = numbers_in(second->pdata[i]);
        g_autoptr(GArray) c = numbers_in(both->pdata[i]);

        for (unsigned k = 0; is_sum(&t->row[i]) && k < c->len; k++) {
            uint64_t sum =
                g_array_index(a, uint64_t, k) + g_array_index(b, uint64_t, k);
            uint64_t is = g_array_index(c, uint64_t, k);

            if (is - sum > 1) { /* times are cut off to whole ns */
                g_error("%s: number %u is %" PRIu64 ", its parts' sum %" PRIu64,
                        t->row[i].path, k, is, sum);
            }
            if (is > g_array_index(b, uint64_t, k)) {
                g_hash_table_add(seen, (void *)t->row[i].path);
            }
        }
    }
}

/* Counters that no row shows. */
static void compare_counts(const SsdCounts *a, const SsdCounts *b,
                           const SsdCounts *both)
{
#define COMPARE(id, ...)     g_assert_cmpuint(a->id + b->id, ==, both->id);
#define COMPARE_SUM(id, ...) g_assert_true(a->id + b->id == both->id);
#define NONE_TO_COMPARE(...)
    SSD_STATS(COMPARE, COMPARE_SUM, NONE_TO_COMPARE, NONE_TO_COMPARE)
}

static void check_sums(const char *options, GHashTable *seen)
{
    Ref *whole = used(options);
    Ref *part = used(options);
    const StatTable *map = whole->ssd->map->policy->stats;
    SsdCounts count = whole->ssd->inspect.count;
    GPtrArray *first[3];
    GPtrArray *second[3];
    GPtrArray *both[3];

    look(whole->ssd, first);
    ssd_reset_stats(part->ssd);
    work(whole, 2);
    work(part, 2);
    look(whole->ssd, both);
    look(part->ssd, second);
    compare_counts(&count, &part->ssd->inspect.count,
                   &whole->ssd->inspect.count);
    compare_sums(&ssd_stats, first[0], second[0], both[0], seen);
    compare_sums(&ssd_head_stats, first[1], second[1], both[1], seen);
    if (map) {
        compare_sums(map, first[2], second[2], both[2], seen);
    }
    forget(first);
    forget(second);
    forget(both);
    ref_free(whole);
    ref_free(part);
}

/* Two drives do the same in two parts; one is reset between them. */
static void test_sums(void)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (size_t i = 0; i < G_N_ELEMENTS(drives); i++) {
        check_sums(drives[i], seen);
    }
    g_test_message("%u of the rows have counted", g_hash_table_size(seen));
    g_assert_cmpuint(g_hash_table_size(seen), >=, 80);
}

/* ---- blocks, counted again ----------------------------------------------- */

static unsigned valid_tenth(const Ssd *ssd, uint32_t block)
{
    uint64_t units =
        (uint64_t)nand_block_pages(ssd->geo, block) * ssd->l.units_per_page;
    uint64_t first =
        (uint64_t)block * ssd->geo->pages_per_block * ssd->l.units_per_page;
    uint64_t valid = 0;

    for (uint64_t i = 0; i < units; i++) {
        valid += unit_is_valid(ssd, first + i);
    }
    return (unsigned)(valid * 10 / units);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* In two passes, where the rows use one. */
static double deviation(const uint32_t *wear, uint32_t n)
{
    double mean = 0;
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        mean += (double)wear[i] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        sum += (wear[i] - mean) * (wear[i] - mean) / n;
    }
    return sqrt(sum);
}

static void test_blocks(void)
{
    Ref *r = used("ftl.op_percent=200%;nand.blocks=85");
    const Ssd *ssd = r->ssd;
    uint32_t n = ssd->geo->n_blocks;
    g_autofree uint32_t *wear = g_new(uint32_t, n);
    uint64_t tenths[NUMBERS_TENTHS] = {0};
    DriveStats v;

    for (uint32_t b = 0; b < n; b++) {
        wear[b] = nand_erase_count(ssd->nand, b);
        if (ssd->media->block[b].state == BLOCK_FULL) {
            tenths[valid_tenth(ssd, b)]++;
        }
    }
    qsort(wear, n, sizeof(*wear), by_number);
    drive_stats_init(&v, ssd);
    g_assert_cmpmem(v.full_by_valid, sizeof(v.full_by_valid), tenths,
                    sizeof(tenths));
    g_assert_cmpuint(v.n_wear, ==, n);
    g_assert_cmpmem(v.wear, n * sizeof(*wear), wear, n * sizeof(*wear));
    g_assert_cmpuint(wear[0], ==, 0);
    g_assert_cmpuint(wear[n - 1], >, 0);
    g_assert_cmpfloat_with_epsilon(numbers_deviation(v.wear, n),
                                   deviation(wear, n), 1e-9);
    drive_stats_clear(&v);
    ref_free(r);
}

/* Energy follows from the array's counts, a copyback as a read and a program;
 * the shares of the causes of work add up to 1. */
static void test_energy(void)
{
    Ref *r = ref_new(ref_config("ftl.op_percent=50%;nand.copyback=on;"
                                "nand.energy_read=3;nand.energy_program=50;"
                                "nand.energy_erase=700;nand.energy_bus=9000"),
                     true);
    const NandStats *n = nand_stats(r->ssd->nand);
    uint32_t page = r->ssd->geo->page_bytes / r->info->block_bytes;
    uint64_t ops[NAND_N_KINDS] = {0};
    uint64_t bytes = 0;
    double work = 0;
    DriveStats v;
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (unsigned i = 0; i < 3000; i++) {
        ref_do(r, SSD_OP_WRITE,
               prng_below(&rng, r->info->nblocks / page) * page, page, false);
    }
    ref_drain(r);
    for (unsigned c = 0; c < NAND_N_CAUSES; c++) {
        for (unsigned k = 0; k < NAND_N_KINDS; k++) {
            ops[k] += n->ops[k][c];
        }
        bytes += n->bus_bytes[c];
    }
    g_assert_cmpuint(ops[NAND_COPYBACK], >, 0);
    drive_stats_init(&v, r->ssd);
    g_assert_cmpfloat(v.energy_sum.read, ==,
                      3.0 * (double)(ops[NAND_READ] + ops[NAND_COPYBACK]));
    g_assert_cmpfloat(v.energy_sum.program, ==,
                      50.0 * (double)(ops[NAND_PROGRAM] + ops[NAND_COPYBACK]));
    g_assert_cmpfloat(v.energy_sum.erase, ==, 700.0 * (double)ops[NAND_ERASE]);
    g_assert_cmpfloat_with_epsilon(v.energy_sum.bus, 9.0 * (double)bytes, 1);
    for (unsigned c = 0; c < NAND_N_CAUSES; c++) {
        work += v.explain.work[c];
    }
    g_assert_cmpfloat_with_epsilon(work, 1, 1e-9);
    drive_stats_clear(&v);
    ref_free(r);
}

/* That of the plane that has least: 100 of a new drive, 0 of one that cannot
 * lose a block; each block that is lost is one that has grown bad. */
static void test_spare(void)
{
    Ref *r = ref_new(ref_config("ftl.op_percent=200%"), true);
    uint32_t least = r->ssd->l.min_spare_blocks;
    uint32_t most = r->ssd->media->plane[0].spare_blocks - least;
    SsdCounters c;

    r->ssd->media->may_fail = true;
    g_assert_cmpuint(most, >, 1);
    for (uint32_t lost = 0; lost <= most; lost++) {
        ssd_get_counters(r->ssd, &c);
        g_assert_cmpuint(c.spare_percent, ==, (most - lost) * 100 / most);
        g_assert_cmpuint(c.grown_bad_blocks, ==, lost);
        g_assert_false(c.read_only);
        r->ssd->media->block[lost].bad = true; /* of the first plane */
        bad_lose_block(r->ssd, lost);
    }
    ssd_get_counters(r->ssd, &c);
    g_assert_true(c.read_only);
    ref_free(r);
}

/* Commands, units and bytes of the host, and their latencies. */
static void test_host(void)
{
    Ref *r = ref_new(ref_config("host.link_mb_s=3000"), true);
    uint64_t count[2] = {0}, units[2] = {0}, blocks[2] = {0};
    unsigned __int128 ns[2] = {0};
    const Hist *all;
    DriveStats v;

    for (uint64_t i = 0; i < 60; i++) {
        bool write = i % 3 != 2;
        uint64_t lba = i * 5;
        uint32_t n = (uint32_t)(1 + i % 19);
        SsdCompletion c =
            ref_one(r, write ? SSD_OP_WRITE : SSD_OP_READ, lba, n, false);

        count[write]++;
        blocks[write] += n;
        units[write] +=
            (lba + n - 1) / r->unit_blocks - lba / r->unit_blocks + 1;
        ns[write] += c.complete_ns - c.submit_ns;
    }
    drive_stats_init(&v, r->ssd);
    g_assert_cmpuint(v.c.host_units_read, ==, units[0]);
    g_assert_cmpuint(v.c.host_units_written, ==, units[1]);
    g_assert_cmpuint(v.c.host_bytes_read, ==, blocks[0] * r->info->block_bytes);
    g_assert_cmpuint(v.c.host_bytes_written, ==,
                     blocks[1] * r->info->block_bytes);
    for (unsigned i = 0; i < 2; i++) {
        const Hist *h = ssd_latency(r->ssd, i ? SSD_OP_WRITE : SSD_OP_READ);

        g_assert_cmpuint(h->n, ==, count[i]);
        g_assert_true(h->sum == ns[i]);
    }
    all = ssd_latency(r->ssd, SSD_N_OPS);
    g_assert_cmpuint(all->n, ==, count[0] + count[1]);
    g_assert_true(all->sum == ns[0] + ns[1]);
    drive_stats_clear(&v);
    ref_finish(r);
    ref_free(r);
}

/* When the table of points is full, every other one goes, and from then on they
 * come half as often. */
static void test_series(void)
{
    Ref *r = ref_new(ref_config(""), true);
    const Series *s = &r->ssd->inspect.series;
    uint64_t interval_ps;

    ssd_reset_stats(r->ssd);
    interval_ps = s->interval_ps;
    for (unsigned i = 0; i <= SERIES_POINTS; i++) {
        numbers_sample(r->ssd);
        ref_pass(r, 1000000);
    }
    g_assert_cmpuint(s->n, ==, SERIES_POINTS / 2 + 1);
    g_assert_cmpuint(s->interval_ps, ==, 2 * interval_ps);
    for (unsigned i = 1; i < s->n; i++) {
        g_assert_cmpuint(s->point[i].at_ns - s->point[i - 1].at_ns, ==,
                         2 * 1000000);
    }
    ref_finish(r);
    ref_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/statistics/kinds", test_kinds);
    g_test_add_func("/statistics/sums", test_sums);
    g_test_add_func("/statistics/blocks", test_blocks);
    g_test_add_func("/statistics/energy", test_energy);
    g_test_add_func("/statistics/spare", test_spare);
    g_test_add_func("/statistics/host", test_host);
    g_test_add_func("/statistics/series", test_series);
    return g_test_run();
}
