/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-faults.c - scripted faults in the array: every selector, every action,
 * and what the parser refuses.  Rules with lba=, and the power, are in
 * tests/ftl/failures.c.
 */
#include <string.h>

#include "nand-faults.h"
#include "prng.h"
#include "rig.h"

#define C     200ULL
#define X     40960ULL
#define TR    50000ULL
#define TPROG 500000ULL

/* The rig: planes 0 and 1 are die 0. */
static const FaultLimits limits = {
    .n_channels = 2,
    .n_dies = 4,
    .planes_per_die = 2,
    .blocks_per_plane = 16,
    .pages_per_block = 4,
    .n_lbas = 1000,
};

static bool cut;

static void on_cut(void *opaque)
{
    (void)opaque;
    cut = true;
}

static Faults *parse(const char *text)
{
    GError *error = NULL;
    Faults *f = faults_parse(text, strlen(text), "f", &limits, &error);

    g_assert_no_error(error);
    return f;
}

typedef struct FaultRig {
    Rig *r;
    Faults *f;
} FaultRig;

static FaultRig fault_rig(const char *text)
{
    FaultRig x = {.r = rig_new(NULL), .f = parse(text)};

    cut = false;
    nand_set_faults(x.r->nand, x.f, on_cut);
    return x;
}

static void fault_rig_free(FaultRig *x)
{
    rig_free(x->r);
    faults_free(x->f);
}

/* Program all four pages of a block, read them and erase it: the statuses, as
 * "pppprrrre" with capitals where it failed. */
static char *life(FaultRig *x, uint32_t plane, uint32_t block)
{
    Rig *r = x->r;
    GString *s = g_string_new(NULL);
    unsigned from = r->n_done;

    for (uint32_t i = 0; i < 9; i++) {
        NandOpKind kind = i < 4 ? NAND_PROGRAM : i < 8 ? NAND_READ : NAND_ERASE;

        rig_submit(r, r->now_ps / PS_PER_NS + 1, kind,
                   rig_page(r, plane, block, i % 4), 16384);
        rig_run_all(r);
    }
    for (unsigned i = from; i < r->n_done; i++) {
        char c = "rpe"[r->done[i].kind];

        g_string_append_c(s, r->done[i].status ? g_ascii_toupper(c) : c);
    }
    return g_string_free(s, FALSE);
}

static void lives(FaultRig *x, uint32_t plane, uint32_t block, const char *want)
{
    g_autofree char *s = life(x, plane, block);

    g_assert_cmpstr(s, ==, want);
}

static void test_place(void)
{
    FaultRig x = fault_rig("on=program die=1 block=7 nth=2 -> fail once\n"
                           "on=read plane=1 page=1..2 -> uncorrectable\n"
                           "on=erase channel=1 -> fail always # comment\n"
                           "\r\n  \t\n"
                           "cause=gc -> fail");

    lives(&x, 2, 7, "pPpprrrre");
    lives(&x, 2, 7, "pppprrrre"); /* once */
    lives(&x, 2, 6, "pppprrrre"); /* another block */
    lives(&x, 0, 7, "pppprrrre"); /* another die */
    lives(&x, 3, 0, "pppprRRre");
    lives(&x, 3, 0, "pppprRRre"); /* always, without nth= */
    lives(&x, 4, 0, "pppprrrrE");
    lives(&x, 5, 0, "pppprRRrE");
    fault_rig_free(&x);
}

static void test_counts(void)
{
    FaultRig x = fault_rig("on=program nth=2 -> fail 2 times\n"
                           "op=7 -> uncorrectable\n"
                           "op=9 -> fail\n");

    lives(&x, 0, 0, "pPPprrRrE");
    lives(&x, 0, 1, "pppprrrre");
    fault_rig_free(&x);
}

static void test_time(void)
{
    FaultRig x = fault_rig("time=2.5ms on=program -> fail");

    lives(&x, 0, 0, "pppprrrre"); /* the fourth is submitted at 1.6 ms */
    lives(&x, 0, 1, "PPPPrrrre");
    fault_rig_free(&x);
}

static uint64_t latency_ns(const Rig *r, unsigned i)
{
    return (r->done_ps[i] - r->done[i].submit_ps) / PS_PER_NS;
}

static void test_latency(void)
{
    FaultRig x = fault_rig("on=read nth=2 -> latency x10\n"
                           "on=program page=0 -> latency x0.5\n");

    lives(&x, 0, 0, "pppprrrre");
    g_assert_cmpuint(latency_ns(x.r, 0), ==, C + X + TPROG / 2);
    g_assert_cmpuint(latency_ns(x.r, 1), ==, C + X + TPROG);
    g_assert_cmpuint(latency_ns(x.r, 4), ==, C + TR + X);
    g_assert_cmpuint(latency_ns(x.r, 5), ==, C + 10 * TR + X);
    g_assert_cmpuint(latency_ns(x.r, 6), ==, C + TR + X);
    fault_rig_free(&x);
}

/* From the clock, and from an operation on. */
static void test_latency_window(void)
{
    FaultRig x = fault_rig("time=1ms -> latency x3 for 1ms\n"
                           "on=read page=1 nth=1 -> latency x2 for 1us\n");
    unsigned slow = 0;

    lives(&x, 0, 0, "pppprrrre");
    for (unsigned i = 0; i < 4; i++) {
        uint64_t starts_ns = x.r->done[i].submit_ps / PS_PER_NS + C + X;
        bool inside = starts_ns >= 1000000 && starts_ns < 2000000;

        g_assert_cmpuint(latency_ns(x.r, i), ==,
                         C + X + TPROG * (inside ? 3 : 1));
        slow += inside;
    }
    g_assert_cmpuint(slow, ==, 1);
    g_assert_cmpuint(latency_ns(x.r, 4), ==, C + TR + X);
    g_assert_cmpuint(latency_ns(x.r, 5), ==, C + 2 * TR + X);
    fault_rig_free(&x);
}

/* At the instant at which the array takes it up. */
static void test_cut(void)
{
    FaultRig x = fault_rig("op=2 -> cut power");

    for (uint32_t i = 0; i < 2; i++) {
        rig_submit(x.r, 0, NAND_PROGRAM, i, 16384);
    }
    rig_run(x.r, C + X + TPROG + C + X - 1);
    g_assert_false(cut);
    rig_run(x.r, C + X + TPROG + C + X);
    g_assert_true(cut);
    nand_power_cut(x.r->nand, x.r->now_ps);
    g_assert_cmpuint(nand_next_page(x.r->nand, 0), ==, 2); /* torn */
    fault_rig_free(&x);
}

static void test_next_cut(void)
{
    Faults *f = parse("time=5ms -> cut power\ntime=2ms -> cut power\n"
                      "time=1ms on=read -> cut power\ncmd=3 -> cut power\n");

    g_assert_cmpuint(faults_next_cut_ps(f, 0), ==, 2 * NS_PER_MS * PS_PER_NS);
    g_assert_cmpuint(faults_next_cut_ps(f, 2 * NS_PER_MS * PS_PER_NS), ==,
                     5 * NS_PER_MS * PS_PER_NS);
    g_assert_cmpuint(faults_next_cut_ps(f, 6 * NS_PER_MS * PS_PER_NS), ==,
                     SIM_NEVER);
    g_assert_false(faults_cmd(f, 0));
    g_assert_false(faults_cmd(f, 0));
    g_assert_true(faults_cmd(f, 0));
    g_assert_false(faults_cmd(f, 0));
    faults_free(f);
}

/* ---- what is refused ----------------------------------------------------- */

static void test_refused(void)
{
    static const char *const bad[][2] = {
        {"on=program", "f:1: not of the form 'selectors -> action'"},
        {"\n\n-> fail", "f:3: a selector must come before '->'"},
        {"on=progra -> fail", "f:1: on=progra: allowed read, program"},
        {"cause=me -> fail", "f:1: cause=me: allowed host, gc"},
        {"die=4 -> fail", "f:1: die=4: allowed 0..3"},
        {"channel=2 -> fail", "f:1: channel=2: allowed 0..1"},
        {"plane=2 -> fail", "f:1: plane=2: allowed 0..1"},
        {"block=16 -> fail", "f:1: block=16: allowed 0..15"},
        {"page=4 -> fail", "f:1: page=4: allowed 0..3"},
        {"lba=1000 -> fail", "f:1: lba=1000: allowed 0..999"},
        {"lba=9..5 -> fail", "f:1: lba=9..5: the range ends before"},
        {"lba=..5 -> fail", "f:1: lba=: allowed"},
        {"lba= -> fail", "f:1: lba=: a number is missing"},
        {"nth=0 -> fail", "f:1: nth=0: allowed 1.."},
        {"op=x -> fail", "f:1: op=x: allowed 1.."},
        {"time=soon -> cut power", "f:1: time=soon: allowed"},
        {"when=5 -> fail", "f:1: when: no such selector"},
        {"read -> fail", "f:1: 'read': not of the form key=value"},
        {"on=read ->", "f:1: an action must follow"},
        {"on=read -> explode", "f:1: explode: no such action"},
        {"on=read -> fail", "f:1: fail: reads do not fail"},
        {"on=erase -> uncorrectable", "f:1: uncorrectable: only reads"},
        {"on=erase lba=5 -> fail", "f:1: lba: an erase has none"},
        {"on=erase page=1 -> fail", "f:1: page: an erase has none"},
        {"on=program -> fail twice", "f:1: 'twice': allowed once, always"},
        {"on=program -> fail 0 times", "f:1: times=0: allowed 1.."},
        {"on=program -> fail once more", "f:1: 'more': nothing may follow"},
        {"on=read -> latency", "f:1: latency: a factor must follow"},
        {"on=read -> latency 10", "f:1: latency: a factor must follow"},
        {"on=read -> latency xx", "f:1: latency x=x: allowed"},
        {"on=read -> latency x0", "f:1: latency x0: allowed x0.001"},
        {"on=read -> latency x2 for", "f:1: for: a time must follow"},
        {"on=read -> latency x2 for ever", "f:1: for=ever: allowed"},
        {"op=3 -> cut", "f:1: cut: allowed 'cut power'"},
        {"cmd=3 on=read -> cut power", "f:1: cmd: goes with no other"},
        {"cmd=3 -> fail", "f:1: cmd: goes with 'cut power'"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        Faults *f = faults_parse(bad[i][0], strlen(bad[i][0]), "f", &limits,
                                 &error);

        if (f || !g_str_has_prefix(error->message, bad[i][1])) {
            g_error("'%s': says '%s', should say '%s'", bad[i][0],
                    f ? "fine" : error->message, bad[i][1]);
        }
    }
}

static void test_limits(void)
{
    g_autoptr(GString) s = g_string_new(NULL);
    g_autoptr(GError) error = NULL;

    for (int i = 0; i <= FAULTS_MAX_RULES; i++) {
        g_string_append(s, "op=1 -> fail\n");
    }
    g_assert_null(faults_parse(s->str, s->len, "f", &limits, &error));
    g_assert_cmpstr(error->message, ==, "f:4097: more than 4096 rules");
    g_clear_error(&error);
    g_assert_null(faults_parse("a\0b", 3, "f", &limits, &error));
    g_clear_error(&error);
    g_assert_null(faults_load("/nonexistent/f", &limits, &error));
    g_assert_true(g_str_has_prefix(error->message, "faults=/nonexistent/f: "));
}

/* Any bytes are taken or refused, in one line. */
static void test_damaged(void)
{
    static const char good[] =
        "on=program die=3 block=7 nth=2 -> fail once\n"
        "on=read lba=100..107 -> uncorrectable 3 times\n"
        "time=2s cause=gc -> latency x10.5 for 5ms # slow\r\n"
        "op=12345 -> cut power\ncmd=9 -> cut power\n";
    unsigned taken = 0;
    Prng rng;

    prng_seed(&rng, 1, 1);
    for (int i = 0; i < 20000; i++) {
        g_autofree char *s = g_memdup2(good, sizeof(good));
        g_autoptr(GError) error = NULL;
        size_t len = sizeof(good) - 1;
        Faults *f;

        for (uint64_t k = prng_below(&rng, 3) + 1; k > 0; k--) {
            size_t at = prng_below(&rng, len);

            if (prng_below(&rng, 2)) {
                s[at] = (char)prng_below(&rng, 256);
            } else {
                s[at] = good[prng_below(&rng, len)];
            }
        }
        len -= prng_below(&rng, 4) ? 0 : prng_below(&rng, len);
        f = faults_parse(s, len, "f", &limits, &error);
        g_assert_true((f != NULL) == (error == NULL));
        if (error) {
            g_assert_null(strchr(error->message, '\n'));
        }
        taken += f != NULL;
        faults_free(f);
    }
    g_assert_cmpuint(taken, >, 300);
    g_assert_cmpuint(taken, <, 19000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/faults/place", test_place);
    g_test_add_func("/faults/counts", test_counts);
    g_test_add_func("/faults/time", test_time);
    g_test_add_func("/faults/latency", test_latency);
    g_test_add_func("/faults/latency-window", test_latency_window);
    g_test_add_func("/faults/cut", test_cut);
    g_test_add_func("/faults/next-cut", test_next_cut);
    g_test_add_func("/faults/refused", test_refused);
    g_test_add_func("/faults/limits", test_limits);
    g_test_add_func("/faults/damaged", test_damaged);
    return g_test_run();
}
