/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-rules.c - rules about commands in the player, exact to the nanosecond;
 * each rule that it cannot follow is refused in one line.
 *
 * The drive's reads from NAND take READ, one after the other: there is one die.
 */
#include "host-rules.h"

#include <string.h>

#include <glib/gstdio.h>

#include "one-die.h"
#include "player.h"
#include "ssd-report.h"
#include "ssd-setup.h"
#include "workload.h"

#define READ (3000ULL + 200 + 50000 + 10240 + 1000)
#define MS   1000000ULL

static const char drive[] = ONE_DIE "host.queue_depth=4;";

typedef struct Fixture {
    SsdConfig *cfg;
    char *path;
    Ssd *ssd;
    Player *player;
    uint64_t n_done, last_ns; /* of PlayerConfig.done */
} Fixture;

static void done(void *opaque, const PlayerDone *d)
{
    Fixture *f = opaque;

    g_assert_cmpuint(d->completion->complete_ns, >=, f->last_ns);
    g_assert_cmpuint(d->completion->complete_ns, >=, d->start_ns);
    f->last_ns = d->completion->complete_ns;
    f->n_done++;
}

static Fixture *set_up(const char *rules)
{
    Fixture *f = g_new0(Fixture, 1);
    PlayerConfig pc = {.done = done, .done_opaque = f};
    g_autofree char *set = NULL;
    int fd = g_file_open_tmp("vssd-rules-XXXXXX", &f->path, NULL);

    g_assert_cmpint(fd, >=, 0);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(f->path, rules, -1, NULL));
    set = g_strconcat("faults=", f->path, NULL);
    f->cfg = ssd_config_new();
    g_assert_true(ssd_config_set(f->cfg, drive, NULL));
    g_assert_true(ssd_config_set(f->cfg, set, NULL));
    f->ssd = ssd_create(f->cfg, NULL, NULL, NULL);
    g_assert_nonnull(f->ssd);
    pc.drive = f->cfg;
    f->player = player_new(f->ssd, &pc);
    player_fill(f->player, PLAYER_FILL_PRELOAD, 1, NULL);
    return f;
}

static void tear_down(Fixture *f)
{
    player_free(f->player);
    ssd_destroy(f->ssd);
    ssd_config_free(f->cfg);
    g_unlink(f->path);
    g_free(f->path);
    g_free(f);
}

static bool try_play(Fixture *f, const char *text, GError **error)
{
    const SsdInfo *info = ssd_info(f->ssd);
    Workload *w = workload_new(text, info->nblocks * info->block_bytes,
                               info->block_bytes, 1, error);
    RequestSource s;
    bool ok;

    g_assert_no_error(*error);
    s = workload_source(w);
    ok = player_run(f->player, &s, error);
    workload_free(w);
    return ok;
}

static const PlayerResult *play(Fixture *f, const char *text)
{
    GError *error = NULL;

    g_assert_true(try_play(f, text, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(f->n_done, ==, player_result(f->player)->n_requests);
    return player_result(f->player);
}

static uint64_t fired(const Fixture *f, unsigned i)
{
    return host_rules_rule(player_rules(f->player), i)->n_fired;
}

static uint64_t commands(const Fixture *f, SsdOp op)
{
    SsdCounters c;

    ssd_get_counters(f->ssd, &c);
    return c.commands[op];
}

/* The drive does not see them; 0/0 is no error. */
static void test_status(void)
{
    Fixture *f = set_up("cmd=read nth=3 -> status 2/81 dnr 2 times\n"
                        "cmd=read nth=8 -> status 0/0\n");
    const PlayerResult *r = play(f, "rw=randread number_ios=10");

    g_assert_cmpuint(r->n_requests, ==, 10);
    g_assert_cmpuint(r->n_errors, ==, 2);
    g_assert_cmpuint(r->n_status[PLAYER_STATUS_RULE], ==, 2);
    g_assert_cmpuint(r->sim_ns, ==, 7 * READ + 3 * 1000);
    g_assert_cmpuint(r->latency[SSD_OP_READ].min, ==, 1000);
    g_assert_cmpuint(commands(f, SSD_OP_READ), ==, 7);
    g_assert_cmpuint(fired(f, 0), ==, 2);
    g_assert_cmpuint(fired(f, 1), ==, 1);
    tear_down(f);
}

/* Time passes, so that a run that nothing but a time ends has an end. */
static void test_status_always(void)
{
    Fixture *f = set_up("cmd=any -> status 0/6\n");
    const PlayerResult *r = play(f, "rw=randread runtime=0.001 iodepth=2");

    g_assert_cmpuint(r->n_errors, ==, 2 * 1000);
    g_assert_cmpuint(r->n_errors, ==, r->n_requests);
    tear_down(f);
}

/* The second read waits; the others have the die for themselves. */
static void test_delay(void)
{
    Fixture *f = set_up("cmd=read nth=2 -> delay 20ms\n");
    const PlayerResult *r = play(f, "rw=randread number_ios=10");

    g_assert_cmpuint(r->n_requests, ==, 10);
    g_assert_cmpuint(r->n_errors, ==, 0);
    g_assert_cmpuint(r->sim_ns, ==, 10 * READ + 20 * MS);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, ==, READ + 20 * MS);
    g_assert_cmpuint(commands(f, SSD_OP_READ), ==, 10);
    tear_down(f);
    f = set_up("cmd=read nth=2 -> delay 20ms\n");
    r = play(f, "rw=randread number_ios=10 iodepth=2");
    g_assert_cmpuint(r->sim_ns, ==, 20 * MS + READ);
    tear_down(f);
}

/* Delayed writes reach the drive after younger ones, in any number, also when
 * its queue is full. */
static void test_many_delays(void)
{
    Fixture *f = set_up("cmd=any prob=0.5 -> delay 1ms\n"
                        "cmd=read prob=0.2 -> status 2/81\n");
    const PlayerResult *r = play(f, "rw=randrw number_ios=4000 iodepth=64");
    GError *error = NULL;

    g_assert_cmpuint(r->n_requests, ==, 4000);
    g_assert_cmpuint(r->n_errors, ==, fired(f, 1));
    g_assert_cmpuint(r->n_errors, >, 100);
    g_assert_cmpuint(r->n_waited, >, 0);
    g_assert_cmpuint(fired(f, 0), >, 1800);
    g_assert_cmpuint(fired(f, 0), <, 2200);
    g_assert_cmpuint(host_rules_rule(player_rules(f->player), 0)->n_matched, ==,
                     4000);
    g_assert_true(ssd_check(f->ssd, &error));
    g_assert_no_error(error);
    tear_down(f);
}

/* Of 2000 requests that come at once, CMD_RULES_DELAYED wait. */
static void test_most_delays(void)
{
    Fixture *f = set_up("cmd=any -> delay 1s\n");
    const PlayerResult *r = play(f, "rw=randread number_ios=2000 iodepth=2000");

    g_assert_cmpuint(r->n_requests, ==, 2000);
    g_assert_cmpuint(fired(f, 0), ==, CMD_RULES_DELAYED);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, >, 1000 * MS);
    tear_down(f);
}

/* A dropped request is not executed, a dropped completion is; neither ends, and
 * both keep their places. */
static void test_drop(void)
{
    Fixture *f = set_up("cmd=read nth=2 -> drop\n"
                        "cmd=read nth=5 -> drop-completion\n");
    const PlayerResult *r = play(f, "rw=randread number_ios=10 iodepth=3");

    g_assert_cmpuint(r->n_requests, ==, 8);
    g_assert_cmpuint(r->n_dropped, ==, 2);
    g_assert_cmpuint(r->n_errors, ==, 0);
    g_assert_cmpuint(commands(f, SSD_OP_READ), ==, 9);
    g_assert_cmpuint(r->latency[SSD_OP_READ].n, ==, 8);
    tear_down(f);
}

/* A run whose places are all taken ends with an error, but not if there was no
 * further request. */
static void test_all_dropped(void)
{
    Fixture *f = set_up("cmd=read -> drop\n");
    GError *error = NULL;

    g_assert_false(try_play(f, "rw=randread number_ios=10 iodepth=3", &error));
    g_assert_error(error, SIM_ERROR, SIM_ERROR_DRIVE);
    g_assert_nonnull(strstr(error->message, "dropped all 3 that may be in "
                                            "flight"));
    g_clear_error(&error);
    g_assert_true(try_play(f, "rw=randread number_ios=3 iodepth=3", &error));
    g_assert_cmpuint(player_result(f->player)->n_dropped, ==, 3);
    g_assert_true(try_play(f, "rw=randwrite number_ios=10 iodepth=3", &error));
    g_assert_no_error(error);
    tear_down(f);
}

/* Requests that come by the clock go on. */
static void test_open(void)
{
    Fixture *f = set_up("cmd=write nth=2 -> drop\n"
                        "cmd=write nth=3 -> delay 1500us\n"
                        "cmd=write after=4ms -> status 2/80\n");
    const PlayerResult *r =
        play(f, "rw=randwrite number_ios=10 rate_iops=1000");

    g_assert_cmpuint(r->n_requests, ==, 9);
    g_assert_cmpuint(r->n_dropped, ==, 1);
    g_assert_cmpuint(r->latency[SSD_OP_WRITE].max, >=, 1500000);
    g_assert_cmpuint(r->latency[SSD_OP_WRITE].max, <, 1600000);
    g_assert_cmpuint(fired(f, 2), ==, r->n_errors);
    g_assert_cmpuint(r->n_errors, >=, 5);
    g_assert_cmpuint(r->n_errors, <=, 6);
    tear_down(f);
}

/* Selectors; a fill is not the run; each run counts from 0. */
static void test_selectors(void)
{
    Fixture *f = set_up("cmd=write lba=8..17 -> status 2/80\n"
                        "cmd=io:02 nsid=1 -> status 2/81\n"
                        "cmd=flush -> status 0/6\n"
                        "on=read nth=1000000 -> uncorrectable\n");
    const PlayerResult *r;

    g_assert_true(player_fill(f->player, PLAYER_FILL_SEQ, 1, NULL));
    f->n_done = 0;
    r = play(f, "rw=write bs=4k number_ios=5 fsync=4");
    g_assert_cmpuint(host_rules_n(player_rules(f->player)), ==, 3);
    g_assert_cmpuint(r->n_requests, ==, 5);
    g_assert_cmpuint(r->n_errors, ==, 3);
    g_assert_cmpuint(fired(f, 0), ==, 2);
    g_assert_cmpuint(fired(f, 1), ==, 0);
    g_assert_cmpuint(fired(f, 2), ==, 1);
    f->n_done = 0;
    r = play(f, "rw=read number_ios=4");
    g_assert_cmpuint(r->n_errors, ==, 4);
    g_assert_cmpuint(fired(f, 0), ==, 0);
    tear_down(f);
}

/* The power goes: what waits for the drive ends, too. */
static void test_power(void)
{
    Fixture *f = set_up("cmd=read nth=2 -> delay 1s\n"
                        "time=10ms -> cut power\n");
    const PlayerResult *r = play(f, "rw=randread number_ios=1000 iodepth=2");

    g_assert_cmpuint(r->n_power_cuts, ==, 1);
    g_assert_cmpuint(r->n_requests, ==, 1000);
    g_assert_cmpuint(r->n_errors, ==, 2);
    g_assert_cmpuint(r->n_status[SSD_STATUS_POWER_LOSS], ==, 2);
    g_assert_cmpuint(r->latency[SSD_OP_READ].max, <, 20 * MS);
    tear_down(f);
}

static const struct {
    const char *rule, *reason;
} refused[] = {
    {"cmd=read -> duplicate", "duplicate: needs QEMU"},
    {"cmd=read -> wrong-cid", "wrong-cid: needs QEMU"},
    {"cmd=read -> wrong-sqhd", "wrong-sqhd: needs QEMU"},
    {"cmd=read -> bad-phase", "bad-phase: needs QEMU"},
    {"cmd=write -> ignore-fua", "ignore-fua: needs QEMU"},
    {"cmd=write -> ignore-flush", "ignore-flush: needs cmd=flush"},
    {"cmd=any -> ignore-flush", "ignore-flush: needs cmd=flush"},
    {"cmd=read -> ignore-fua", "ignore-fua: needs cmd=write, write-zeroes"},
    {"irq -> drop", "irq: needs QEMU"},
    {"ctrl -> cfs", "ctrl, aer, temperature: needs QEMU"},
    {"ctrl -> surprise-remove", "ctrl, aer, temperature: needs QEMU"},
    {"aer 0/3", "ctrl, aer, temperature: needs QEMU"},
    {"temperature 90", "ctrl, aer, temperature: needs QEMU"},
    {"cmd=admin:identify -> drop", "cmd=admin:: needs QEMU"},
    {"cmd=read sqid=1 -> drop", "sqid=: needs QEMU"},
    {"cmd=read ctrl=0 -> drop", "ctrl=: needs QEMU"},
    {"cmd=io:05 -> drop", "cmd=io:05: vssd-sim has no such command"},
    {"cmd=compare -> drop", "cmd=compare: allowed any"},
    {"cmd=read nsid=2 -> drop", "nsid=2: allowed 1..1"},
    {"cmd=read lba=1000000 -> drop", "lba=1000000: allowed 0.."},
    {"cmd=flush lba=0 -> drop", "has no range of blocks"},
    {"cmd=read -> delay", "delay: a time must follow"},
    {"cmd=read -> pord", "no such action"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *text =
            g_strconcat("# none\n\n", refused[i].rule, NULL);
        Fixture *f = set_up(text);
        g_autofree char *where = g_strconcat(f->path, ":3: ", NULL);
        GError *error = NULL;

        g_assert_false(try_play(f, "rw=randread number_ios=1", &error));
        g_assert_nonnull(error);
        if (!strstr(error->message, refused[i].reason) ||
            !g_str_has_prefix(error->message, where)) {
            g_error("%s: %s", refused[i].rule, error->message);
        }
        g_assert_null(strchr(error->message, '\n'));
        g_assert_null(player_rules(f->player));
        g_clear_error(&error);
        tear_down(f);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host-rules/status", test_status);
    g_test_add_func("/host-rules/status-always", test_status_always);
    g_test_add_func("/host-rules/delay", test_delay);
    g_test_add_func("/host-rules/many-delays", test_many_delays);
    g_test_add_func("/host-rules/most-delays", test_most_delays);
    g_test_add_func("/host-rules/drop", test_drop);
    g_test_add_func("/host-rules/all-dropped", test_all_dropped);
    g_test_add_func("/host-rules/open", test_open);
    g_test_add_func("/host-rules/selectors", test_selectors);
    g_test_add_func("/host-rules/power", test_power);
    g_test_add_func("/host-rules/refused", test_refused);
    return g_test_run();
}
