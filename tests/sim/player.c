/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * player.c - the player's loop: closed and open, exact to the ns.
 *
 * The drive: firmware 3000 ns, link 1000 ns for 4 KiB, DRAM 500 ns; reads from
 * NAND take 200 + 50000 + 10240 ns more; one die.
 */
#include "player.h"

#include <string.h>

#include <glib/gstdio.h>

#include "one-die.h"
#include "ssd-report.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "workload.h"

#define F    3000ULL
#define L    1000ULL
#define B    500ULL
#define NAND (200ULL + 50000 + 10240)

static const char drive[] = ONE_DIE "host.queue_depth=4;";

typedef struct Fixture {
    Ssd *ssd;
    Player *player;
} Fixture;

static Fixture set_up_blocks(const char *options, bool wrap, uint32_t bytes)
{
    SsdConfig *cfg = ssd_config_new();
    PlayerConfig pc = {.wrap = wrap};
    Fixture f;

    g_assert_true(ssd_config_set(cfg, drive, NULL));
    g_assert_true(ssd_config_set(cfg, options, NULL));
    g_assert_true(ssd_config_set_block_bytes(cfg, bytes, NULL));
    f.ssd = ssd_create(cfg, NULL, NULL, NULL);
    f.player = player_new(f.ssd, &pc);
    ssd_config_free(cfg);
    return f;
}

static Fixture set_up(const char *options, bool wrap)
{
    return set_up_blocks(options, wrap, 512);
}

static void tear_down(Fixture *f)
{
    player_free(f->player);
    ssd_destroy(f->ssd);
}

static char *rules_file(const char *rules)
{
    char *path = NULL;
    int fd = g_file_open_tmp("vssd-faults-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, rules, -1, NULL));
    return path;
}

static const PlayerResult *play(Fixture *f, const char *text)
{
    const SsdInfo *info = ssd_info(f->ssd);
    GError *error = NULL;
    Workload *w = workload_new(text, info->nblocks * info->block_bytes,
                               info->block_bytes, 1, &error);
    RequestSource s;

    g_assert_no_error(error);
    s = workload_source(w);
    player_run(f->player, &s, &error);
    g_assert_no_error(error);
    workload_free(w);
    return player_result(f->player);
}

/* One at a time, each at the instant at which the one before completes. */
static void test_closed_one(void)
{
    Fixture f = set_up("", false);
    const PlayerResult *r;

    player_fill(f.player, PLAYER_FILL_PRELOAD, 1, NULL);
    r = play(&f, "rw=randread number_ios=100");
    g_assert_cmpuint(r->n_requests, ==, 100);
    g_assert_cmpuint(r->sim_ns, ==, 100 * (F + NAND + L));
    g_assert_cmpuint(r->latency[SSD_OP_READ].min, ==, F + NAND + L);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, ==, F + NAND + L);
    g_assert_cmpuint(r->bytes[SSD_OP_READ], ==, 100 * 4096);
    g_assert_cmpuint(r->n_waited, ==, 0);
    tear_down(&f);
}

/* One die serves them one after the other, whatever the depth: the n-th read
 * ends at F + n NAND + L. */
static void test_closed_deep(void)
{
    Fixture f = set_up("", false);
    const PlayerResult *r;

    player_fill(f.player, PLAYER_FILL_PRELOAD, 1, NULL);
    r = play(&f, "rw=randread number_ios=100 iodepth=3");
    g_assert_cmpuint(r->sim_ns, ==, F + 100 * NAND + L);
    g_assert_cmpuint(r->latency[SSD_OP_READ].min, ==, F + NAND + L);
    tear_down(&f);
}

/* Deeper than the drive's queue: the rest waits at the host, and it counts. */
static void test_closed_beyond_queue(void)
{
    Fixture f = set_up("", false);
    const PlayerResult *r;

    player_fill(f.player, PLAYER_FILL_PRELOAD, 1, NULL);
    r = play(&f, "rw=randread number_ios=8 iodepth=8");
    /* Four find a place.  When the first completes, at F + NAND + L, the fifth
     * gets it, and so on; the die is never idle. */
    g_assert_cmpuint(r->n_requests, ==, 8);
    g_assert_cmpuint(r->sim_ns, ==, F + 8 * NAND + L);
    g_assert_cmpuint(r->n_waited, ==, 4);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, ==, F + 8 * NAND + L);
    tear_down(&f);
}

static void test_runtime(void)
{
    Fixture f = set_up("", false);
    const PlayerResult *r;

    player_fill(f.player, PLAYER_FILL_PRELOAD, 1, NULL);
    r = play(&f, "rw=randread runtime=1ms");
    /* Requests start at multiples of F + NAND + L = 64440 ns, below 1 ms. */
    g_assert_cmpuint(r->n_requests, ==, 1000000 / (F + NAND + L) + 1);
    tear_down(&f);
}

/* ---- open loop ---------------------------------------------------------- */

typedef struct List {
    const Request *req;
    size_t n;
    size_t next;
} List;

static RequestNext list_next(void *opaque, Request *req, GError **error)
{
    List *l = opaque;

    if (l->next == l->n) {
        return REQUEST_END;
    }
    *req = l->req[l->next++];
    return REQUEST_OK;
}

static char *list_where(void *opaque)
{
    return g_strdup_printf("list:%zu", ((List *)opaque)->next);
}

static bool play_list(Fixture *f, const Request *req, size_t n, GError **error)
{
    List l = {req, n, 0};
    RequestSource s = {.next = list_next, .where = list_where, .opaque = &l};

    return player_run(f->player, &s, error);
}

/* Far apart, each has its own latency, and sim_ns is that of the last. */
static void test_open(void)
{
    Fixture f = set_up("", false);
    static const Request req[] = {
        {0, 0, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},
        {1000000, 0, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        {2000000, 40960, 4096, SSD_OP_READ, false, 0, 0, 0,
         0}, /* never written */
        {9000000, 0, 4096, SSD_OP_TRIM, false, 0, 0, 0, 0},
    };
    const PlayerResult *r = player_result(f.player);

    g_assert_true(play_list(&f, req, 4, NULL));
    g_assert_cmpuint(r->n_requests, ==, 4);
    g_assert_cmpuint(r->latency[SSD_OP_WRITE].max, ==, F + L + B);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, ==, F + B + L);
    g_assert_cmpuint(r->latency[SSD_OP_READ].min, ==, F + L);
    g_assert_cmpuint(r->latency[SSD_OP_TRIM].max, ==, F);
    g_assert_cmpuint(r->sim_ns, ==, 9000000 + F);
    tear_down(&f);
}

#define DAY_NS   (24ULL * 3600 * 1000000000)
#define N_SPARSE 1000

/* Writes, reads and flushes at intervals; the mean latency of all. */
static double play_sparse(Fixture *f, uint64_t interval_ns)
{
    static const SsdOp ops[] = {SSD_OP_WRITE, SSD_OP_READ, SSD_OP_FLUSH};
    const PlayerResult *r = player_result(f->player);
    GError *error = NULL;
    Request req[N_SPARSE];

    for (uint64_t i = 0; i < N_SPARSE; i++) {
        SsdOp op = ops[i % 3];

        req[i] = (Request){
            .at_ns = i / 5 * 5 * interval_ns, /* five at once: four places */
            .offset = i * 7919 % 100 * 4096,
            .nbytes = op == SSD_OP_FLUSH ? 0 : 4096,
            .op = op,
        };
    }
    play_list(f, req, N_SPARSE, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(r->n_requests, ==, N_SPARSE);
    g_assert_cmpuint(r->n_waited, ==, N_SPARSE / 5);
    g_assert_cmpuint(r->sim_ns, >, (N_SPARSE - 5) * interval_ns);
    g_assert_cmpuint(r->sim_ns, <, (N_SPARSE - 5) * interval_ns + 1000000000);
    return hist_mean(&r->latency[SSD_OP_WRITE]) +
           hist_mean(&r->latency[SSD_OP_READ]) +
           hist_mean(&r->latency[SSD_OP_FLUSH]);
}

/* Three years are as three thousand seconds: the drive's clock, which ends
 * after 213 days, is set back on the way.  After ten years a run ends. */
static void test_years(void)
{
    Fixture f = set_up("buffer.flush_interval=7ms", false);
    Fixture g = set_up("buffer.flush_interval=7ms", false);
    Request late = {3650 * DAY_NS, 0, 4096, SSD_OP_READ, false, 0, 0, 0, 0};
    GError *error = NULL;

    g_assert_cmpfloat(play_sparse(&f, DAY_NS), ==, play_sparse(&g, 1000000000));
    g_assert_cmpuint(ssd_now_ns(f.ssd), <, 101 * DAY_NS);
    g_assert_false(play_list(&f, &late, 1, &error));
    g_assert_nonnull(strstr(error->message, "ends after 10 years"));
    g_error_free(error);
    tear_down(&f);
    tear_down(&g);
}

/* The clock is set back between two requests of a busy drive. */
static void test_set_back_busy(void)
{
    Fixture f[2] = {set_up("", false), set_up("", false)};
    uint64_t before_ns = 100 * DAY_NS - 20000000;
    const PlayerResult *r[2];

    ssd_advance(f[1].ssd, before_ns, NULL, 0);
    player_free(f[1].player);
    f[1].player = player_new(f[1].ssd, &(PlayerConfig){.wrap = false});
    for (int i = 0; i < 2; i++) {
        r[i] = play(&f[i], "rw=randrw number_ios=1000 iodepth=8");
    }
    g_assert_cmpuint(ssd_now_ns(f[1].ssd), <, DAY_NS);
    g_assert_cmpuint(r[1]->sim_ns, >, 2 * 20000000);
    g_assert_cmpuint(r[0]->sim_ns, ==, r[1]->sim_ns);
    for (int op = 0; op < SSD_N_OPS; op++) {
        g_assert_cmpmem(&r[0]->latency[op], sizeof(Hist), &r[1]->latency[op],
                        sizeof(Hist));
    }
    tear_down(&f[0]);
    tear_down(&f[1]);
}

/* While a log has its instants, it cannot be. */
static void test_years_with_log(void)
{
    Fixture f = set_up("", false);
    Request late = {201 * DAY_NS, 0, 4096, SSD_OP_READ, false, 0, 0, 0, 0};
    GError *error = NULL;

    g_assert_true(ssd_oplog_open(f.ssd, "/dev/null", &error));
    g_assert_false(play_list(&f, &late, 1, &error));
    g_assert_nonnull(strstr(error->message, "200 days with --oplog"));
    g_error_free(error);
    tear_down(&f);
}

/* Six at once on a drive with four places: two wait at the host. */
static void test_open_waits(void)
{
    Fixture f = set_up("", false);
    Request req[6];
    const PlayerResult *r = player_result(f.player);

    player_fill(f.player, PLAYER_FILL_PRELOAD, 1, NULL);
    for (int i = 0; i < 6; i++) {
        req[i] = (Request){
            500, (uint64_t)i * 4096 * 4, 4096, SSD_OP_READ, false, 0, 0, 0, 0};
    }
    g_assert_true(play_list(&f, req, 6, NULL));
    g_assert_cmpuint(r->n_waited, ==, 2);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, ==, F + 6 * NAND + L);
    g_assert_cmpuint(r->sim_ns, ==, 500 + F + 6 * NAND + L);
    tear_down(&f);
}

/* A second run has its own start. */
static void test_again(void)
{
    Fixture f = set_up("", false);
    static const Request req = {700, 0, 4096, SSD_OP_READ, false, 0, 0, 0, 0};
    const PlayerResult *r = player_result(f.player);

    for (int i = 0; i < 3; i++) {
        g_assert_true(play_list(&f, &req, 1, NULL));
        g_assert_cmpuint(r->n_requests, ==, 1);
        g_assert_cmpuint(r->sim_ns, ==, 700 + F + L);
    }
    tear_down(&f);
}

/* Parts of blocks are rounded outward; bytes are those asked for. */
static void test_rounding(void)
{
    Fixture f = set_up("", false);
    static const Request req = {0, 511, 514, SSD_OP_WRITE, false, 0,
                                0, 0,   0}; /* blocks 0..2 */
    SsdCounters c;

    g_assert_true(play_list(&f, &req, 1, NULL));
    ssd_get_counters(f.ssd, &c);
    g_assert_cmpuint(c.host_bytes_written, ==, 3 * 512);
    g_assert_cmpuint(player_result(f.player)->bytes[SSD_OP_WRITE], ==, 514);
    tear_down(&f);
}

static void test_beyond(void)
{
    Fixture f = set_up("", false);
    uint64_t end = ssd_info(f.ssd)->nblocks * 512;
    const Request bad[] = {
        {0, end, 512, SSD_OP_READ, false, 0, 0, 0, 0},
        {0, end - 512, 513, SSD_OP_READ, false, 0, 0, 0, 0},
        {0, UINT64_MAX - 100, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        {0, 0, end + 1, SSD_OP_READ, false, 0, 0, 0, 0},
    };
    const Request good = {0, end - 512, 512, SSD_OP_READ, false, 0, 0, 0, 0};

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_false(play_list(&f, &bad[i], 1, &error));
        g_assert_error(error, SIM_ERROR, SIM_ERROR_RANGE);
        g_assert_true(g_str_has_prefix(error->message, "list:1: "));
        g_assert_nonnull(strstr(error->message, "--wrap"));
    }
    g_assert_true(play_list(&f, &good, 1, NULL));
    tear_down(&f);
}

/* A TRIM drops the blocks that are wholly inside it. */
static void test_trim_parts(void)
{
    static const struct {
        uint64_t offset, nbytes;
        uint32_t dropped; /* of the blocks 0..7, as bits */
        uint64_t kept;    /* bytes */
    } t[] = {
        {512, 512, 0, 512},     {0, 512, 0, 512},     {3584, 512, 0, 512},
        {0, 4096, 1, 0},        {512, 4096, 0, 4096}, {512, 7680, 2, 3584},
        {0, 8191, 1, 4095},     {4095, 8194, 6, 2},   {4095, 8193, 6, 1},
        {8192, 12288, 0x1c, 0},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(t); i++) {
        Fixture f = set_up_blocks("", false, 4096);
        const Request req[] = {
            {0, t[i].offset, t[i].nbytes, SSD_OP_TRIM, false, 0, 0, 0, 0},
            {50000, 0, 4096, SSD_OP_READ, false, 0, 0, 0, 0},
        };
        const PlayerResult *r = player_result(f.player);

        player_fill(f.player, PLAYER_FILL_PRELOAD, 1, NULL);
        g_assert_true(play_list(&f, req, 2, NULL));
        for (unsigned b = 0; b < 8; b++) {
            g_assert_cmpint(ssd_mapped(f.ssd, b, NULL), !=,
                            t[i].dropped >> b & 1);
        }
        g_assert_cmpuint(r->n_requests, ==, 2);
        g_assert_cmpuint(r->bytes[SSD_OP_TRIM], ==, t[i].nbytes);
        g_assert_cmpuint(r->latency[SSD_OP_TRIM].n, ==, 1);
        g_assert_cmpuint(r->latency[SSD_OP_TRIM].min, >, 0);
        g_assert_cmpuint(r->kept_trim_bytes, ==, t[i].kept);
        g_assert_cmpuint(r->latency[SSD_OP_READ].max, >=,
                         t[i].dropped & 1 ? 0 : NAND);
        tear_down(&f);
    }
}

/* One that drops nothing takes time, keeps its place, and must be inside the
 * drive, as any other. */
static void test_trim_of_nothing(void)
{
    Fixture f = set_up_blocks("", false, 4096);
    const PlayerResult *r = player_result(f.player);
    uint64_t end = ssd_info(f.ssd)->nblocks * 4096;
    GError *error = NULL;
    Request req[100];
    List l = {req, 100, 0};
    RequestSource s = {
        .next = list_next, .where = list_where, .opaque = &l, .iodepth = 2};

    for (unsigned i = 0; i < 100; i++) {
        req[i] = (Request){.offset = 512, .nbytes = 3584, .op = SSD_OP_TRIM};
    }
    g_assert_true(player_run(f.player, &s, NULL));
    g_assert_cmpuint(r->n_requests, ==, 100);
    g_assert_cmpuint(r->n_errors, ==, 0);
    g_assert_cmpuint(r->sim_ns, ==, 50 * r->latency[SSD_OP_TRIM].max);
    req[0] = (Request){.offset = end, .nbytes = 512, .op = SSD_OP_TRIM};
    g_assert_false(play_list(&f, req, 1, &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_RANGE);
    g_error_free(error);
    tear_down(&f);
}

static void test_wrap(void)
{
    Fixture f = set_up("", true);
    uint64_t end = ssd_info(f.ssd)->nblocks * 512;
    const Request req[] = {
        {0, end, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0},       /* to 0 */
        {0, end - 512, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0}, /* to the end */
        {0, 5 * end + 8192, 512, SSD_OP_WRITE, false, 0, 0, 0, 0}, /* to 8192 */
        {0, 16384, 4096, SSD_OP_WRITE, false, 0, 0, 0, 0}, /* as it is */
    };
    const Request huge = {0, 0, end + 1, SSD_OP_WRITE, false, 0, 0, 0, 0};

    g_assert_true(play_list(&f, req, G_N_ELEMENTS(req), NULL));
    g_assert_cmpuint(player_result(f.player)->n_wrapped, ==, 3);
    g_assert_true(ssd_mapped(f.ssd, 0, NULL));
    g_assert_true(ssd_mapped(f.ssd, end / 512 - 1, NULL));
    g_assert_true(ssd_mapped(f.ssd, 16, NULL));
    g_assert_true(ssd_mapped(f.ssd, 32, NULL));
    g_assert_false(ssd_mapped(f.ssd, 8, NULL));
    g_assert_false(play_list(&f, &huge, 1, NULL));
    tear_down(&f);
}

/* ---- fills --------------------------------------------------------------- */

static void test_fills(void)
{
    for (PlayerFill fill = 0; fill < PLAYER_FILL_TRACE; fill++) {
        Fixture f = set_up("", false);
        uint64_t n = ssd_info(f.ssd)->nblocks;
        GError *error = NULL;
        SsdCounters c;

        g_assert_nonnull(player_fill_name(fill));
        player_fill(f.player, fill, 1, &error);
        g_assert_no_error(error);
        for (uint64_t lba = 0; lba < n; lba++) {
            g_assert_cmpint(ssd_mapped(f.ssd, lba, NULL), ==,
                            fill != PLAYER_FILL_NONE);
        }
        ssd_get_counters(f.ssd, &c);
        g_assert_true(fill == PLAYER_FILL_RANDOM || c.max_erase_count == 0);
        g_assert_true(fill != PLAYER_FILL_RANDOM || c.mean_erase_count > 0.5);
        play(&f, "rw=randread number_ios=10");
        ssd_get_counters(f.ssd, &c);
        g_assert_cmpuint(c.commands[SSD_OP_READ], ==, 10);
        g_assert_cmpuint(c.host_bytes_written, ==, 0);
        tear_down(&f);
    }
    g_assert_null(player_fill_name(PLAYER_N_FILLS));
}

/* A drive that wakes up by itself for ever does not keep the player. */
static void test_tick(void)
{
    Fixture f = set_up("buffer.flush_interval=10us", false);
    const PlayerResult *r = play(&f, "rw=randwrite number_ios=1000 iodepth=4");

    g_assert_cmpuint(r->n_requests, ==, 1000);
    tear_down(&f);
}

/* The power goes at a command, at an operation and by the clock: each time the
 * requests in flight fail, and the run goes on to its end. */
static void test_power_cuts(void)
{
    g_autofree char *path = rules_file("cmd=50 -> cut power\n"
                                       "op=100 -> cut power\n"
                                       "time=20ms -> cut power\n");
    g_autofree char *set = g_strconcat("faults=", path, NULL);
    Fixture f = set_up(set, false);
    const PlayerResult *r;
    GError *error = NULL;

    r = play(&f, "rw=randwrite number_ios=2000 iodepth=3");
    g_assert_cmpuint(r->n_requests, ==, 2000);
    g_assert_cmpuint(r->n_power_cuts, ==, 3);
    g_assert_cmpuint(r->n_errors, >=, 3);
    g_assert_cmpuint(r->n_errors, <=, 9);
    g_assert_true(ssd_powered(f.ssd));
    g_assert_true(ssd_check(f.ssd, &error));
    g_assert_no_error(error);
    tear_down(&f);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/player/closed-one", test_closed_one);
    g_test_add_func("/player/closed-deep", test_closed_deep);
    g_test_add_func("/player/closed-beyond-queue", test_closed_beyond_queue);
    g_test_add_func("/player/runtime", test_runtime);
    g_test_add_func("/player/open", test_open);
    g_test_add_func("/player/open-waits", test_open_waits);
    g_test_add_func("/player/years", test_years);
    g_test_add_func("/player/years-with-log", test_years_with_log);
    g_test_add_func("/player/set-back-busy", test_set_back_busy);
    g_test_add_func("/player/again", test_again);
    g_test_add_func("/player/rounding", test_rounding);
    g_test_add_func("/player/beyond", test_beyond);
    g_test_add_func("/player/trim-parts", test_trim_parts);
    g_test_add_func("/player/trim-of-nothing", test_trim_of_nothing);
    g_test_add_func("/player/wrap", test_wrap);
    g_test_add_func("/player/fills", test_fills);
    g_test_add_func("/player/tick", test_tick);
    g_test_add_func("/player/power-cuts", test_power_cuts);
    return g_test_run();
}
