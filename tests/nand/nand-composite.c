/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand-composite.c - composite commands against closed forms, worked out by
 * hand and exact to the nanosecond.
 *
 * Times are those of rig-features.h.  A chip has two dies: planes 0 and 1, and
 * planes 2 and 3.
 */
#include "rig-features.h"

#define CHIP "nand.dies=2;nand.lock=chip;"

/* A program each on both dies, at different pages of their blocks. */
static uint64_t two_dies(const char *options)
{
    Rig *r = rig_with(options);
    uint64_t end, begin = busy_die(r);

    rig_preload(r, 2, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 2, 0, 1), PAGE);
    rig_run_all(r);
    end = done_ps(r, NAND_PROGRAM, rig_page(r, 2, 0, 1)) / PS_PER_NS - begin;
    finish(r);
    return end;
}

static void test_dies(void)
{
    g_assert_cmpuint(two_dies(CHIP "nand.composite=off"), ==,
                     2 * (C + X + TPROG));
    g_assert_cmpuint(two_dies(CHIP "nand.composite=on"), ==,
                     2 * (C + X) + TDBSY + TPROG);
    /* Pages of two dies need not match, with multi-plane either. */
    g_assert_cmpuint(two_dies(CHIP "nand.composite=on;nand.multi_plane=on"), ==,
                     2 * (C + X) + TDBSY + TPROG);
}

/* Without multi-plane a die takes part with one page, the first. */
static void test_planes(void)
{
    static const struct {
        const char *options;
        bool together;
    } kind[] = {
        {CHIP "nand.composite=on", false},
        {CHIP "nand.composite=on;nand.multi_plane=on", true},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(kind); i++) {
        Rig *r = rig_with(kind[i].options);
        uint64_t begin = busy_die(r);
        unsigned n = kind[i].together ? 4 : 2;
        uint64_t first = begin + n * (C + X) + (n - 1) * TDBSY + TPROG;
        uint64_t last =
            kind[i].together ? first : first + 2 * (C + X) + TDBSY + TPROG;

        for (uint32_t p = 0; p < 4; p++) {
            rig_submit(r, 0, NAND_PROGRAM, rig_page(r, p, 0, 0), PAGE);
        }
        rig_run_all(r);
        expect_done(r, NAND_PROGRAM, rig_page(r, 0, 0, 0), first);
        expect_done(r, NAND_PROGRAM, rig_page(r, 2, 0, 0), first);
        expect_done(r, NAND_PROGRAM, rig_page(r, 1, 0, 0), last);
        expect_done(r, NAND_PROGRAM, rig_page(r, 3, 0, 0), last);
        finish(r);
    }
}

/* Planes of one die at different pages do not join; no page is wasted. */
static void test_selective(void)
{
    Rig *r = rig_with(CHIP "nand.composite=on;nand.multi_plane=on");
    uint64_t begin = busy_die(r);
    uint64_t first = begin + 2 * (C + X) + TDBSY + TPROG;

    rig_preload(r, 3, 0, 1);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 0, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 2, 0, 0), PAGE);
    rig_submit(r, 0, NAND_PROGRAM, rig_page(r, 3, 0, 1), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_PROGRAM, rig_page(r, 2, 0, 0), first);
    expect_done(r, NAND_PROGRAM, rig_page(r, 3, 0, 1), first + C + X + TPROG);
    finish(r);
}

static void test_erase(void)
{
    Rig *r = rig_with(CHIP "nand.composite=on;nand.multi_plane=on");
    uint64_t end = busy_die(r) + 3 * C + 2 * TDBSY + TBERS;

    rig_submit(r, 0, NAND_ERASE, rig_page(r, 0, 2, 0), 0);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 2, 3, 0), 0);
    rig_submit(r, 0, NAND_ERASE, rig_page(r, 3, 5, 0), 0);
    rig_run_all(r);
    expect_done(r, NAND_ERASE, rig_page(r, 0, 2, 0), end);
    expect_done(r, NAND_ERASE, rig_page(r, 3, 5, 0), end);
    finish(r);
}

/* SSDSim issues no composite reads. */
static void test_reads_stay_apart(void)
{
    Rig *r = rig_with(CHIP "nand.composite=on");
    uint64_t begin = busy_die(r);

    rig_preload(r, 1, 0, 1);
    rig_preload(r, 2, 0, 1);
    rig_submit(r, 0, NAND_READ, rig_page(r, 1, 0, 0), PAGE);
    rig_submit(r, 0, NAND_READ, rig_page(r, 2, 0, 0), PAGE);
    rig_run_all(r);
    expect_done(r, NAND_READ, rig_page(r, 1, 0, 0), begin + C + TR + X);
    expect_done(r, NAND_READ, rig_page(r, 2, 0, 0), begin + 2 * (C + TR + X));
    finish(r);
}

static void test_refused(void)
{
    rig_refused("nand.composite=on", "nand.lock=chip");
    rig_refused("nand.composite=on;nand.lock=chip;nand.dies=64", "64 planes");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/composite/dies", test_dies);
    g_test_add_func("/composite/planes", test_planes);
    g_test_add_func("/composite/selective", test_selective);
    g_test_add_func("/composite/erase", test_erase);
    g_test_add_func("/composite/reads", test_reads_stay_apart);
    g_test_add_func("/composite/refused", test_refused);
    return g_test_run();
}
