/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live.c - pictures of a drive at known instants: what dies and channels do,
 * slow commands, power, a clock that is set back; and when a picture is made.
 *
 * tests/sim/test_live.py compares all numbers with the statistics.  Times are
 * those of ref-times.h.  With -m perf, /live/cost measures.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "inspect/live-file.h"
#include "media/blocks.h"
#include "media/superblock.h"
#include "ref-times.h"
#include "ssd-internal.h"
#include "ssd-live.h"
#include "ssd-report.h"
#include "ssd-save.h"

#define MS NS_PER_MS

typedef struct Fixture {
    Ssd *ssd;
    SsdLiveHost host;
    uint64_t now_ns;  /* of the drive */
    uint64_t host_ns; /* of the host */
    char *path;
    char *file; /* its bytes, when last read */
} Fixture;

static void programmed(void *opaque, uint64_t lpn, uint64_t version)
{
}

static const SsdHostOps host_ops = {.programmed = programmed,
                                    .superseded = programmed};

/* Filled with old data. */
static void set_up(Fixture *f, gconstpointer data)
{
    int fd = g_file_open_tmp("live-XXXXXX", &f->path, NULL);
    SsdConfig *cfg = ref_config(data ? data : "ftl.op_percent=200%");

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_remove(f->path);
    f->host_ns = 1000 * MS;
    f->ssd = ssd_create(cfg, &host_ops, NULL, NULL);
    ssd_config_free(cfg);
    g_assert_nonnull(f->ssd);
    ssd_preload(f->ssd, 0, ssd_info(f->ssd)->nblocks);
    g_assert_true(ssd_live_open(f->ssd, f->path, &f->host, f->host_ns, NULL));
}

static void tear_down(Fixture *f, gconstpointer data)
{
    if (f->ssd) {
        ssd_destroy(f->ssd);
    }
    g_remove(f->path);
    g_free(f->path);
    g_free(f->file);
}

/* ---- a reader ------------------------------------------------------------ */

static const LiveHeader *header(Fixture *f)
{
    g_clear_pointer(&f->file, g_free);
    g_assert_true(g_file_get_contents(f->path, &f->file, NULL, NULL));
    return (const LiveHeader *)(const void *)f->file;
}

static void want(Fixture *f, uint64_t until_ns)
{
    int fd = g_open(f->path, O_RDWR, 0);

    g_assert_cmpint(pwrite(fd, &until_ns, sizeof(until_ns), 72), ==, 8);
    g_close(fd, NULL);
}

/* A number of the layout: the first of that name behind `after`. */
static uint64_t layout(Fixture *f, const char *after, const char *name)
{
    g_autofree char *key = g_strdup_printf("\"%s\":", name);
    const LiveHeader *h = header(f);
    const char *at =
        g_strstr_len(f->file + h->layout_at, (gssize)h->layout_bytes, after);

    g_assert_nonnull(at);
    at = strstr(at, key);
    g_assert_nonnull(at);
    return g_ascii_strtoull(at + strlen(key), NULL, 10);
}

static const void *section(Fixture *f, const char *name)
{
    g_autofree char *after = g_strdup_printf("\"name\":\"%s\",\"type\"", name);
    uint64_t at = layout(f, after, "offset");
    const LiveHeader *h = header(f);

    return f->file + h->picture_at + at;
}

static uint8_t u8_at(Fixture *f, const char *name, unsigned i)
{
    return ((const uint8_t *)section(f, name))[i];
}

static uint16_t u16_at(Fixture *f, const char *name, unsigned i)
{
    return ((const uint16_t *)section(f, name))[i];
}

static uint32_t u32_at(Fixture *f, const char *name, unsigned i)
{
    return ((const uint32_t *)section(f, name))[i];
}

static uint64_t u64_at(Fixture *f, const char *name, unsigned i)
{
    return ((const uint64_t *)section(f, name))[i];
}

/* A word of a section, as the layout has it. */
static char *word(Fixture *f, const char *name, unsigned i)
{
    g_autofree char *after = g_strdup_printf("\"name\":\"%s\",\"type\"", name);
    const LiveHeader *h = header(f);
    const char *at = strstr(f->file + h->layout_at, after);
    g_auto(GStrv) words = NULL;

    at = strstr(at, "\"words\":[\"");
    g_assert_nonnull(at);
    at += strlen("\"words\":[\"");
    words = g_strsplit(at, "\"", (int)(2 * i + 2));
    return g_strdup(words[2 * i]);
}

static void is_word(Fixture *f, const char *name, unsigned i, const char *text)
{
    g_autofree char *found = word(f, name, u8_at(f, name, i));

    g_assert_cmpstr(found, ==, text);
}

/* ---- a drive ------------------------------------------------------------- */

static unsigned advance(Fixture *f, uint64_t now_ns)
{
    SsdCompletion done[16];

    f->now_ns = now_ns;
    return (unsigned)ssd_advance(f->ssd, now_ns, done, G_N_ELEMENTS(done));
}

static void submit_units(Fixture *f, SsdOp op, uint64_t unit, uint32_t n,
                         uint64_t tag)
{
    SsdCmd cmd = {.op = op,
                  .lba = unit * UNIT,
                  .nblocks = n * UNIT,
                  .tag = tag,
                  .version = tag};

    g_assert_cmpint(ssd_submit(f->ssd, f->now_ns, &cmd), ==, 0);
}

static void submit(Fixture *f, SsdOp op, uint64_t unit, uint64_t tag)
{
    submit_units(f, op, unit, 1, tag);
}

/* A picture now, whatever the last one's time. */
static void picture(Fixture *f)
{
    f->host_ns += 250 * MS;
    want(f, f->host_ns + 1);
    g_assert_cmpuint(ssd_live_update(f->ssd, f->host_ns), ==,
                     f->host_ns + 50 * MS);
    g_assert_cmpuint(header(f)->written_ns, ==, f->host_ns);
}

/* ---- tests --------------------------------------------------------------- */

/* One read, from its command to its data: exactly one die, one channel. */
static void test_array(Fixture *f, gconstpointer data)
{
    static const struct {
        uint64_t at_ns;
        const char *die, *channel;
    } instant[] = {
        {F - 1, "idle", "idle"},
        {F + C - 1, "read", "in"},
        {F + C + TR - 1, "read", "idle"},
        {F + C + TR + U - 1, "read", "out"},
        {F + C + TR + U + 1, "idle", "idle"},
    };
    unsigned die = 0;

    submit(f, SSD_OP_READ, 0, 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(instant); i++) {
        advance(f, instant[i].at_ns);
        picture(f);
        is_word(f, "die.state", die, instant[i].die);
        is_word(f, "channel.state", 0, instant[i].channel);
        is_word(f, "die.cause", die, "host");
        g_assert_cmpuint(u16_at(f, "die.waiting", die), ==, 0);
        g_assert_cmpuint(u16_at(f, "queue.depth", 0), ==, 1);
        g_assert_cmpuint(u64_at(f, "sim_ns", 0), ==, instant[i].at_ns);
        for (unsigned j = 1; j < layout(f, "\"drive\"", "dies"); j++) {
            is_word(f, "die.state", j, "idle");
        }
    }
    g_assert_cmpuint(advance(f, 10 * MS), ==, 1);
    picture(f);
    g_assert_cmpuint(u16_at(f, "queue.depth", 0), ==, 0);
    g_assert_cmpuint(u64_at(f, "die.busy_ns", die), ==, C + TR + U);
    g_assert_cmpuint(u64_at(f, "channel.busy_ns", 0), ==, C + U);
}

/* Reads of two dies of each channel: the second one holds its die, and waits
 * for the channel. */
static void test_bus(Fixture *f, gconstpointer data)
{
    for (unsigned i = 0; i < 4; i++) {
        submit(f, SSD_OP_READ, 4 * i, 1 + i);
    }
    advance(f, F + C - 1);
    picture(f);
    for (unsigned die = 0; die < 4; die++) {
        is_word(f, "die.state", die, "read");
        g_assert_cmpuint(u16_at(f, "die.waiting", die), ==, 0);
    }
    is_word(f, "channel.state", 0, "in");
    is_word(f, "channel.state", 1, "in");
}

/* Reads of one page wait for each other; the last one is the slow one. */
static void test_slow(Fixture *f, gconstpointer data)
{
    uint64_t took = 2 * (C + TR + U);

    picture(f); /* from here on commands are noted */
    advance(f, 5 * MS);
    for (unsigned i = 1; i <= 3; i++) {
        submit(f, SSD_OP_READ, 0, i);
    }
    advance(f, 5 * MS + F + C + 1);
    picture(f);
    g_assert_cmpuint(u16_at(f, "die.waiting", 0), ==, 2);
    g_assert_cmpuint(u64_at(f, "slow.count", 0), ==, 0);
    g_assert_cmpuint(advance(f, 10 * MS), ==, 3);
    picture(f);
    g_assert_cmpuint(u64_at(f, "slow.count", 0), ==, 1);
    g_assert_cmpuint(u64_at(f, "slow.start_ns", 0), ==, 5 * MS);
    g_assert_cmpuint(u64_at(f, "slow.latency_ns", 0), ==,
                     F + took + C + TR + U + L);
    g_assert_cmpuint(u64_at(f, "slow.unit", 0), ==, 0);
    g_assert_cmpuint(u32_at(f, "slow.bytes", 0), ==, 4096);
    g_assert_cmpuint(u32_at(f, "slow.cost", COST_die_wait), ==, took);
    g_assert_cmpuint(u32_at(f, "slow.cost", COST_cell), ==, TR);
    g_assert_cmpuint(u16_at(f, "slow.die", 0), ==, 0);
    is_word(f, "slow.op", 0, "read");
    is_word(f, "slow.waited_for", 0, "host read");
    picture(f); /* nothing has ended since */
    g_assert_cmpuint(u64_at(f, "slow.count", 0), ==, 1);

    submit(f, SSD_OP_READ, 0, 4);
    advance(f, 20 * MS);
    picture(f);
    g_assert_cmpuint(u64_at(f, "slow.count", 0), ==, 2);
    is_word(f, "slow.waited_for", 1, "");
    g_assert_cmpuint(u32_at(f, "slow.cost", N_COSTS + COST_die_wait), ==, 0);
}

/* Of a read of two dies, one of which is busy, that one shows. */
static void test_parts(Fixture *f, gconstpointer data)
{
    picture(f);
    submit(f, SSD_OP_READ, 4, 1); /* four units to a page: die 1 */
    submit_units(f, SSD_OP_READ, 3, 2, 2);
    advance(f, 10 * MS);
    picture(f);
    g_assert_cmpuint(u64_at(f, "slow.count", 0), ==, 1);
    g_assert_cmpuint(u32_at(f, "slow.bytes", 0), ==, 8192);
    g_assert_cmpuint(u64_at(f, "slow.unit", 0), ==, 3);
    g_assert_cmpuint(u16_at(f, "slow.die", 0), ==, 1);
    is_word(f, "slow.waited_for", 0, "host read");
}

/* The first die in that state, or the number of dies. */
static unsigned die_in(Fixture *f, const char *state)
{
    unsigned n = (unsigned)layout(f, "\"drive\"", "dies");
    unsigned die = 0;

    for (; die < n; die++) {
        g_autofree char *now = word(f, "die.state", u8_at(f, "die.state", die));

        if (g_str_equal(now, state)) {
            break;
        }
    }
    return die;
}

/* A program is under way in each die; a read of any suspends one, and waits for
 * that. */
static void test_suspend(Fixture *f, gconstpointer data)
{
    unsigned n = (unsigned)layout(f, "\"drive\"", "dies");
    unsigned die;

    picture(f);
    for (unsigned unit = 0; unit < 4 * n; unit++) {
        submit(f, SSD_OP_WRITE, unit, 1 + unit);
    }
    submit(f, SSD_OP_FLUSH, 0, 100);
    advance(f, TPROG / 2);
    picture(f);
    die = die_in(f, "program");
    g_assert_cmpuint(die, <, n);
    is_word(f, "die.cause", die, "host");
    for (unsigned i = 0; i < n; i++) {
        submit(f, SSD_OP_READ, 100 + 4 * i, 200 + i);
    }
    advance(f, f->now_ns + F + C + TR / 2);
    picture(f);
    die = die_in(f, "suspended");
    g_assert_cmpuint(die, <, n);
    is_word(f, "die.cause", die, "host");
    advance(f, f->now_ns + 4 * (TR + U));
    picture(f);
    g_assert_cmpuint(u64_at(f, "slow.count", 0), ==, 2); /* a write, a read */
    is_word(f, "slow.op", 1, "read");
    is_word(f, "slow.waited_for", 1, "suspend");
    g_assert_cmpuint(die_in(f, "suspended"), ==, n);
    advance(f, 10 * MS);
    picture(f);
    g_assert_cmpuint(die_in(f, "idle"), ==, 0);
}

static void test_power(Fixture *f, gconstpointer data)
{
    uint64_t sequence;

    picture(f);
    is_word(f, "drive.state", 0, "ready");
    submit(f, SSD_OP_READ, 0, 1);
    advance(f, F + C + TR / 2);
    ssd_power_cut(f->ssd, f->now_ns);
    picture(f);
    is_word(f, "drive.state", 0, "off");
    is_word(f, "die.state", 0, "idle");
    g_assert_cmpuint(u16_at(f, "queue.depth", 0), ==, 0);
    sequence = header(f)->sequence;
    advance(f, MS);
    ssd_power_on(f->ssd, f->now_ns);
    picture(f);
    is_word(f, "drive.state", 0, "recovering");
    advance(f, 1000 * MS);
    picture(f);
    is_word(f, "drive.state", 0, "ready");
    g_assert_cmpuint(header(f)->sequence, ==, sequence + 4);
}

/* A clock that is set back does not show. */
static void test_rebase(Fixture *f, gconstpointer data)
{
    picture(f);
    advance(f, 100 * MS);
    g_assert_true(ssd_rebase(f->ssd, 40 * MS));
    f->now_ns -= 40 * MS;
    advance(f, f->now_ns + MS);
    submit(f, SSD_OP_READ, 0, 1);
    advance(f, f->now_ns + MS);
    picture(f);
    g_assert_cmpuint(u64_at(f, "sim_ns", 0), ==, 102 * MS);
    g_assert_cmpuint(u64_at(f, "slow.start_ns", 0), ==, 101 * MS);
}

/* When a picture is made: the first one at once; then while one is wanted. */
static void test_pace(Fixture *f, gconstpointer data)
{
    uint64_t at_ns = f->host_ns;

    g_assert_cmpuint(header(f)->pictures, ==, 1);
    g_assert_cmpuint(header(f)->state, ==, LIVE_RUNS);
    g_assert_cmpuint(header(f)->process, ==, (uint64_t)getpid());
    g_assert_cmpuint(ssd_live_update(f->ssd, at_ns), ==, at_ns + 250 * MS);
    want(f, at_ns + 300 * MS);
    g_assert_cmpuint(ssd_live_update(f->ssd, at_ns + 249 * MS), ==,
                     at_ns + 250 * MS);
    g_assert_cmpuint(header(f)->pictures, ==, 1);
    g_assert_cmpuint(ssd_live_update(f->ssd, at_ns + 250 * MS), ==,
                     at_ns + 300 * MS);
    g_assert_cmpuint(header(f)->pictures, ==, 2);
    g_assert_cmpuint(ssd_live_update(f->ssd, at_ns + 299 * MS), ==,
                     at_ns + 300 * MS);
    g_assert_cmpuint(header(f)->pictures, ==, 2);
    g_assert_cmpuint(ssd_live_update(f->ssd, at_ns + 300 * MS), ==,
                     at_ns + 550 * MS); /* the wish has ended */
    g_assert_cmpuint(header(f)->pictures, ==, 2);
    g_assert_cmpuint(header(f)->sequence, ==, 4);
    g_assert_cmpuint(header(f)->written_ns, ==, at_ns + 250 * MS);
    g_assert_null(f->ssd->inspect.slow);
}

/* A wish for ever is one for ten seconds. */
static void test_far_ahead(Fixture *f, gconstpointer data)
{
    uint64_t at_ns = f->host_ns;
    uint64_t end_ns = at_ns + 10000 * MS;

    want(f, UINT64_MAX);
    ssd_live_update(f->ssd, at_ns);
    g_assert_cmpuint(header(f)->pictures, ==, 2);
    g_assert_cmpuint(header(f)->wanted_ns, ==, end_ns);
    ssd_live_update(f->ssd, end_ns - 1);
    g_assert_cmpuint(header(f)->pictures, ==, 3);
    ssd_live_update(f->ssd, end_ns + 50 * MS);
    g_assert_cmpuint(header(f)->pictures, ==, 3);
}

static void test_end(Fixture *f, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *lock = g_strconcat(f->path, ".vssd-lock", NULL);

    g_assert_true(g_file_test(lock, G_FILE_TEST_EXISTS));
    advance(f, MS);
    g_assert_true(ssd_live_close(f->ssd, f->host_ns + MS, &error));
    g_assert_cmpuint(header(f)->state, ==, LIVE_HAS_ENDED);
    g_assert_cmpuint(header(f)->pictures, ==, 2);
    g_assert_cmpuint(u64_at(f, "sim_ns", 0), ==, MS);
    g_assert_cmpuint(ssd_live_update(f->ssd, f->host_ns + 500 * MS), ==,
                     SSD_TIME_NEVER);
    g_assert_true(ssd_live_close(f->ssd, f->host_ns, &error));
    g_assert_false(g_file_test(lock, G_FILE_TEST_EXISTS));
    /* It may be replaced now, and a drive that just goes leaves it. */
    g_assert_true(ssd_live_open(f->ssd, f->path, &f->host, f->host_ns, &error));
    g_clear_pointer(&f->ssd, ssd_destroy);
    g_assert_cmpuint(header(f)->state, ==, LIVE_RUNS);
    g_assert_false(g_file_test(lock, G_FILE_TEST_EXISTS));
}

/* Each cell is looked at once in so many pictures, and then shows its block. */
static void test_cells(Fixture *f, gconstpointer data)
{
    uint64_t rounds = layout(f, "superblock.state", "refresh_pictures");
    uint64_t cells = layout(f, "superblock.state", "count");
    uint64_t per_cell = layout(f, "\"drive\"", "superblocks_per_cell");
    unsigned n_changed = 0;

    g_assert_cmpuint(rounds, >, 2);
    g_assert_cmpuint(cells * per_cell, >=, f->ssd->geo->n_blocks);
    for (unsigned i = 1; i <= 400; i++) {
        submit(f, SSD_OP_WRITE, i % 300, i);
        advance(f, f->now_ns + MS);
    }
    for (uint64_t i = 0; i < rounds; i++) {
        picture(f);
    }
    for (uint32_t b = 0; b < f->ssd->geo->n_blocks; b += (uint32_t)per_cell) {
        uint32_t valid = 0, units = 0, open = 0;

        for (uint32_t i = b; i < b + per_cell; i++) {
            valid += block_valid(f->ssd, i);
            units += f->ssd->l.units_per_block;
            open += block_state(f->ssd, i) == BLOCK_OPEN;
        }
        n_changed += valid != units && valid != 0;
        g_assert_cmpuint(u8_at(f, "superblock.valid", b / (uint32_t)per_cell),
                         ==, valid * 255 / units);
        if (open == per_cell) {
            is_word(f, "superblock.state", b / (uint32_t)per_cell, "open");
        }
    }
    g_assert_cmpuint(n_changed, >, 0);
}

/* ---- the cost ------------------------------------------------------------ */

/* 256 dies of 4 planes, 204,800 blocks. */
#define LARGE                                                                  \
    "ftl.op_percent=200%;nand.channels=16;nand.chips=4;nand.dies=4;"           \
    "nand.planes=4;nand.blocks=200;host.queue_depth=512"
#define N_PICTURES 200
#define IN_FLIGHT  512

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Half reads, half writes, so many in flight, up to that instant. */
static void load(Fixture *f, Prng *rng, uint64_t *tag, uint64_t until_ns)
{
    uint64_t units = ssd_info(f->ssd)->nblocks / UNIT;
    static uint64_t in_flight;

    while (f->now_ns < until_ns) {
        for (; in_flight < IN_FLIGHT; in_flight++) {
            ++*tag;
            submit(f, *tag % 2 ? SSD_OP_READ : SSD_OP_WRITE,
                   prng_below(rng, units), *tag);
        }
        in_flight -= advance(f, f->now_ns + 10000);
    }
}

static gint by_ns(gconstpointer a, gconstpointer b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* CPU time of a picture, of the thread that makes it: the median.  Its caches
 * have what the load left there. */
static void test_cost(Fixture *f, gconstpointer data)
{
    g_autoptr(GArray) cost = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint64_t tag = 0;
    double us;
    Prng rng;

    prng_seed(&rng, 43, 43);
    for (unsigned i = 0; i < N_PICTURES; i++) {
        uint32_t ns;

        load(f, &rng, &tag, f->now_ns + 2 * MS);
        f->host_ns += 250 * MS;
        want(f, f->host_ns + 1);
        us = cpu_us();
        ssd_live_update(f->ssd, f->host_ns);
        ns = (uint32_t)((cpu_us() - us) * 1000);
        g_array_append_val(cost, ns);
    }
    g_array_sort(cost, by_ns);
    us = g_array_index(cost, uint32_t, N_PICTURES / 2) / 1000.0;
    g_assert_cmpuint(header(f)->pictures, ==, N_PICTURES + 1);
    g_test_minimized_result(
        us,
        "%.0f us a picture of %" PRIu64 " bytes, "
        "0.95 quantile %.0f us",
        us, header(f)->picture_bytes,
        g_array_index(cost, uint32_t, N_PICTURES * 95 / 100) / 1000.0);
}

/* A cell shows all blocks of its superblock. */
static void test_superblocks(Fixture *f, gconstpointer data)
{
    const NandGeometry *g = f->ssd->geo;
    unsigned n_unlike = 0;

    g_assert_cmpuint(f->ssd->l.set_planes, ==, 2);
    g_assert_cmpuint(layout(f, "superblock.state", "count"), ==,
                     g->blocks_per_plane);
    for (unsigned i = 1; i <= 300; i++) {
        submit(f, SSD_OP_WRITE, i * 7 % 100, i);
        advance(f, f->now_ns + MS);
    }
    picture(f);
    for (uint32_t b = 0; b < g->blocks_per_plane; b++) {
        uint32_t other = superblock_next(f->ssd, b);
        uint32_t n = other == b ? 1 : 2;
        uint32_t valid =
            block_valid(f->ssd, b) + (n == 2 ? block_valid(f->ssd, other) : 0);

        g_assert_cmpuint(u8_at(f, "superblock.valid", b), ==,
                         valid * 255 / (n * f->ssd->l.units_per_block));
        n_unlike += valid != n * block_valid(f->ssd, b);
    }
    g_assert_cmpuint(n_unlike, >, 0);
}

#define CASE(name, options, test)                                              \
    g_test_add("/live/" name, Fixture, options, set_up, test, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    CASE("array", NULL, test_array);
    CASE("bus", "ftl.op_percent=200%;nand.dies=2", test_bus);
    CASE("slow", NULL, test_slow);
    CASE("parts", NULL, test_parts);
    CASE("suspend", "ftl.op_percent=200%;nand.suspend=both", test_suspend);
    CASE("power", "ftl.op_percent=200%;ftl.recovery=scan", test_power);
    CASE("rebase", NULL, test_rebase);
    CASE("pace", NULL, test_pace);
    CASE("far-ahead", NULL, test_far_ahead);
    CASE("end", NULL, test_end);
    CASE("cells", "ftl.op_percent=200%;nand.blocks=20000", test_cells);
    CASE("superblocks", "ftl.op_percent=200%;superblock.width=2",
         test_superblocks);
    if (g_test_perf()) {
        CASE("cost", LARGE, test_cost);
    }
    return g_test_run();
}
