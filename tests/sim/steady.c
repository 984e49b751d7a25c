/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steady.c - the criterion of the steady state, and rounds of a run. */
#include "steady.h"

#include <math.h>

#include <glib.h>

#include "player.h"
#include "one-die.h"
#include "simtime.h"
#include "ssd-save.h"
#include "ssd-setup.h"
#include "workload.h"

/* Rounds of 100 requests, one for each write amplification. */
static Rounds of_wafs(const double *waf, unsigned n)
{
    SteadyMark now = {0};
    Rounds r;

    rounds_begin(&r, 100, UINT64_MAX, &now);
    for (unsigned i = 0; i < n; i++) {
        now.n_requests += 100;
        now.sim_ns += NS_PER_S;
        now.host_bytes += 1000;
        now.nand_bytes += (uint64_t)(1000 * waf[i]);
        g_assert_true(rounds_due(&r, now.n_requests, 0));
        rounds_end(&r, &now);
    }
    return r;
}

static void check_waf(const double *waf, double range, double slope)
{
    Rounds r = of_wafs(waf, STEADY_ROUNDS);
    Steadiness s = rounds_steadiness(&r);

    g_assert_true(s.known);
    g_assert_cmpfloat_with_epsilon(s.range[STEADY_WAF], range, 1e-9);
    g_assert_cmpfloat_with_epsilon(s.slope[STEADY_WAF], slope, 1e-9);
    g_assert_cmpfloat(s.range[STEADY_IOPS], ==, 0);
    g_assert_cmpfloat(s.mean_requests, ==, 100);
}

/* A line has its own rise; a single outlier moves the line little. */
static void test_values(void)
{
    check_waf((double[]){2, 2, 2, 2, 2}, 0, 0);
    check_waf((double[]){1.8, 1.9, 2.0, 2.1, 2.2}, 0.2, 0.2);
    check_waf((double[]){2.2, 2.1, 2.0, 1.9, 1.8}, 0.2, 0.2);
    check_waf((double[]){1.9, 1.9, 2.4, 1.9, 1.9}, 0.25, 0);
    check_waf((double[]){1.9, 2.1, 2.0, 1.9, 2.1}, 0.1, 0.04);
}

static void test_limits(void)
{
    Steadiness s = {.known = true};

    s.range[STEADY_WAF] = 0.2;
    s.slope[STEADY_WAF] = 0.1;
    g_assert_true(steady_in(&s, STEADY_WAF, 0.2, 0.1));
    g_assert_false(steady_in(&s, STEADY_WAF, 0.19, 0.1));
    g_assert_false(steady_in(&s, STEADY_WAF, 0.2, 0.09));
    s.range[STEADY_WAF] = NAN;
    g_assert_true(steady_in(&s, STEADY_WAF, 0, 0));
}

/* Only the last five count, if each is looked at; else as many as fill groups
 * of one size. */
static void test_last(void)
{
    const double waf[] = {9, 9, 1, 1, 1, 1, 1};
    Rounds r = of_wafs(waf, 4);

    g_assert_false(rounds_steadiness(&r).known);
    g_assert_false(rounds_last_five(&r).known);
    r = of_wafs(waf, 7);
    g_assert_cmpfloat(rounds_last_five(&r).range[STEADY_WAF], ==, 0);
    g_assert_cmpfloat(rounds_waf(&r), ==, 1);
    r = of_wafs(waf, 6);
    g_assert_cmpfloat(rounds_last_five(&r).range[STEADY_WAF], >, 2);
}

/* However long a run is, there are 20 to 40 rounds of one length, and the five
 * cover four fifths of it. */
static void test_long(void)
{
    SteadyMark now = {0};
    Rounds r;

    rounds_begin(&r, 64, UINT64_MAX, &now);
    for (now.n_requests = 1; now.n_requests <= 1000000; now.n_requests++) {
        if (rounds_due(&r, now.n_requests, 0)) {
            now.sim_ns = now.n_requests;
            rounds_end(&r, &now);
        }
    }
    g_assert_cmpuint(r.n, >=, 20);
    g_assert_cmpuint(r.n, <, STEADY_MOST_MARKS);
    for (unsigned i = 0; i <= r.n; i++) {
        g_assert_cmpuint(r.mark[i].n_requests, ==, i * r.requests);
    }
    g_assert_cmpfloat(rounds_steadiness(&r).mean_requests * 5, >=, 800000);
    g_assert_true(isnan(rounds_steadiness(&r).range[STEADY_WAF]));
}

/* ---- before a run -------------------------------------------------------- */

static bool settle(const char *text, const PlayerSettle *how, Rounds *rounds,
                   PlayerResult *result)
{
    SsdConfig *cfg = ssd_config_new();
    PlayerConfig pc = {.wrap = false};
    bool reached;
    Workload *w;
    Workload *before;
    RequestSource s;
    Player *p;
    Ssd *ssd;

    g_assert_true(ssd_config_set(cfg, ONE_DIE, NULL));
    ssd = ssd_create(cfg, NULL, NULL, NULL);
    p = player_new(ssd, &pc);
    w = workload_new(text, ssd_info(ssd)->nblocks * 512, 512, 1, NULL);
    g_assert_true(player_fill(p, PLAYER_FILL_PRELOAD, 1, NULL));
    before = workload_before(w, WORKLOAD_SETTLES);
    s = workload_source(before);
    g_assert_true(player_settle(p, &s, how, &reached, NULL));
    *rounds = *player_settled(p);
    s = workload_source(w);
    g_assert_true(player_run(p, &s, NULL));
    *result = *player_result(p);
    g_assert_cmpuint(result->n_warm_up, ==, 0);
    workload_free(before);
    workload_free(w);
    player_free(p);
    ssd_destroy(ssd);
    ssd_config_free(cfg);
    return reached;
}

/* Reads one at a time take equal times: five rounds are enough.  The run has
 * the requests that it would have without them. */
static void test_settle(void)
{
    PlayerSettle how = {30, UINT64_MAX, 25, STEADY_LATENCY, 0, 0};
    PlayerResult r;
    Rounds rounds;

    g_assert_true(settle("rw=randread number_ios=7", &how, &rounds, &r));
    g_assert_cmpuint(rounds.n, ==, 5);
    g_assert_cmpuint(rounds.mark[5].n_requests, ==, 150);
    g_assert_cmpuint(rounds.mark[5].sim_ns, ==,
                     150 * r.latency[SSD_OP_READ].min);
    g_assert_cmpuint(r.n_requests, ==, 7);
    g_assert_cmpuint(r.sim_ns, ==, 7 * r.latency[SSD_OP_READ].min);
}

/* Bytes end a round, too; and it ends without having been reached. */
static void test_settle_not_reached(void)
{
    PlayerSettle how = {UINT64_MAX, 40960, 8, STEADY_LATENCY, -1, -1};
    PlayerResult r;
    Rounds rounds;

    g_assert_false(
        settle("rw=randwrite bs=4k number_ios=7", &how, &rounds, &r));
    g_assert_cmpuint(rounds.n, ==, 8);
    g_assert_cmpuint(rounds.mark[8].n_requests, ==, 80);
    g_assert_cmpuint(rounds.mark[8].written_bytes, ==, 8 * 40960);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/steady/values", test_values);
    g_test_add_func("/steady/limits", test_limits);
    g_test_add_func("/steady/last", test_last);
    g_test_add_func("/steady/long", test_long);
    g_test_add_func("/steady/settle", test_settle);
    g_test_add_func("/steady/settle-not-reached", test_settle_not_reached);
    return g_test_run();
}
